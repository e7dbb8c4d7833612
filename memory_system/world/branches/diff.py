"""How a rehearsal and its original differ: memory by memory and text by text, and where they clash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...agent import AgentMemory
from ...core.change_set import PERSON, TEXTS, Change, ChangeSet, dump_entry, in_quotes
from ...core.entry import MemoryEntry, Tier
from ...operations.context import bare
from ...store.journal.as_of import Event
from ...store.rehearsal import Rehearsal
from .texts import differing, merge


@dataclass(frozen=True)
class MemoryApart:
    """One memory that differs between the rehearsal and the original.

    Args:
        entry_id: the memory's id.
        base: as it was when the rehearsal was begun; ``None`` = there was none, as for the next two.
        mine: as the rehearsal has it.
        theirs: as the original has it.
        steps: what happened to it in the rehearsal, the oldest first.
        meanwhile: what happened to it in the original, the oldest first.
        clash: whether the original also changed it, so that keeping the rehearsal's version would overwrite that.
    """

    entry_id: str
    base: MemoryEntry | None
    mine: MemoryEntry | None
    theirs: MemoryEntry | None
    steps: tuple[Event, ...]
    meanwhile: tuple[Event, ...]
    clash: bool

    @property
    def change(self) -> Change:
        """What keeping it does to the original, and which change of the rehearsal is the reason."""
        return Change(self.theirs, self.mine, f"In the rehearsal: {self.steps[-1].title}.")

    @property
    def sentence(self) -> str:
        """What the original did with it meanwhile, as a sentence; empty if they do not clash."""
        return told_meanwhile(self.theirs, self.meanwhile) if self.clash else ""


@dataclass(frozen=True)
class TextApart:
    """The settings, the personality, the saved cues or the judgments, if they differ in the rehearsal.

    Args:
        name: one of ``changes.TEXTS``, or that of a record of a person.
        base: as it was when the rehearsal was begun.
        mine: as the rehearsal has it.
        theirs: as the original has it.
        kept: as the original would have it: with the changes of both and, where they clash, the rehearsal's version.
        clashes: what both changed differently, in words; empty if they do not clash.
    """

    name: str
    base: str | None
    mine: str | None
    theirs: str | None
    kept: str | None
    clashes: tuple[str, ...]

    @property
    def called(self) -> str:
        """What it is called in a sentence."""
        person = self.name.removeprefix(PERSON)
        return self.name if person == self.name else f"record of {person.rpartition('-')[0] or person}"

    @property
    def clash(self) -> bool:
        """Whether keeping it would overwrite what the original changed."""
        return bool(self.clashes)

    @property
    def lines(self) -> list[tuple[str, str, str]]:
        """What keeping it changes in the original: what it is, what it was, and what it would be."""
        return differing(self.name, self.theirs, self.kept)


@dataclass(frozen=True)
class Apart:
    """Everything in which a rehearsal differs from its original.

    Args:
        rehearsal: the rehearsal, and its original.
        memories: those in short- and long-term memory, in the order in which the rehearsal last changed them.
        texts: settings, personality and the like.
        moved_on: how many changes were applied to the original meanwhile, by keeping the rehearsal's or otherwise.
    """

    rehearsal: Rehearsal
    memories: tuple[MemoryApart, ...]
    texts: tuple[TextApart, ...]
    moved_on: int

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.memories or self.texts)


def told_meanwhile(theirs: MemoryEntry | None, meanwhile: Sequence[Event]) -> str:
    """What happened to a memory in the original, in a sentence."""
    last = meanwhile[-1] if meanwhile else None
    by = f" by {in_quotes(last.title)} ({last.author})" if last else ""
    return f"The original has {'forgotten' if theirs is None else 'changed'} it meanwhile{by}."


def compare(rehearsal: Rehearsal, branch: AgentMemory, original: AgentMemory) -> Apart:
    """Everything in which a rehearsal differs from its original, unless the original has been the same meanwhile.

    What only the original changed is not listed. It is no clash if the original is as the rehearsal was at some
    moment: then it has no change of its own, for example after an earlier ``keep``.
    """
    steps = branch.timeline.events_since(rehearsal.revision)
    meanwhile = original.timeline.events_since(rehearsal.revision, list(steps))
    memories = [
        apart
        for entry_id, own in steps.items()
        if (apart := _memory(entry_id, own, meanwhile[entry_id], branch, original)) is not None
    ]
    memories.sort(key=lambda memory: (memory.steps[-1].revision, memory.entry_id))
    since = original.timeline.told_since(rehearsal.revision)
    return Apart(rehearsal, tuple(memories), tuple(_texts(rehearsal, branch, original, since)), len(since))


def _memory(
    entry_id: str, steps: Sequence[Event], meanwhile: Sequence[Event], branch: AgentMemory, original: AgentMemory
) -> MemoryApart | None:
    mine, theirs = bare_memory(branch, entry_id), bare_memory(original, entry_id)
    tiers = {end.tier for end in (mine, steps[0].before) if end is not None}
    if mine == theirs or not tiers <= {Tier.STM, Tier.LTM}:
        return None  # a fact comes with its personality, a message with its conversation
    behind = theirs == steps[0].before or dump_entry(theirs) in versions(steps)
    if not behind and dump_entry(mine) in versions(meanwhile):
        return None  # the original had it so, and went on from there
    return MemoryApart(entry_id, steps[0].before, mine, theirs, tuple(steps), tuple(meanwhile), not behind)


def bare_memory(agent: AgentMemory, entry_id: str) -> MemoryEntry | None:
    """A memory as change sets have it; ``None`` if there is none."""
    entry = agent.find(entry_id)
    return None if entry is None else bare(entry)


def versions(events: Iterable[Event]) -> set[str | None]:
    """All versions of a memory in the journal, before these events and after each."""
    return {dump_entry(end) for event in events for end in (event.before, event.after)}


def _texts(
    rehearsal: Rehearsal, branch: AgentMemory, original: AgentMemory, since: Sequence[ChangeSet]
) -> Iterable[TextApart]:
    bases, mine, theirs = branch.timeline.texts_at(rehearsal.revision), branch.texts(), original.texts()
    change_sets = branch.timeline.told_since(rehearsal.revision)
    for name in (*TEXTS, *sorted(name for name in mine if name.startswith(PERSON))):
        own, ours, others = text_versions(name, change_sets), mine[name], theirs.get(name)
        if ours == others or not own:
            continue
        behind = others in own
        if not behind and ours in text_versions(name, since):
            continue
        root = bases.get(name)
        merged = merge(name, others if behind else root, ours, others)
        same = merged.text == others or (name != "personality" and not differing(name, others, merged.text))
        if not same:
            yield TextApart(name, root, ours, others, merged.text, merged.clashes)


def text_versions(name: str, told: Iterable[ChangeSet]) -> set[str | None]:
    """All versions of a text, before these change sets and after each; empty if none of them changed it."""
    texts = [text for change_set in told for text in change_set.texts if text.name == name]
    return {end for text in texts for end in (text.before, text.after)}
