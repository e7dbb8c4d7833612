"""What the original takes from a rehearsal, planned memory by memory or change by change; writes nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ...agent import AgentMemory
from ...core.change_set import Change, ChangeSet, ModelCall, counted, dump_entry, excerpt, in_quotes
from ...core.entry import MemoryEntry, Tier
from ...errors import ChangeSetNotFound, EntryNotFound, InvalidParameter, StaleChange, shown
from ...store.journal.as_of import Event
from ...store.journal.journal import Applied
from ...store.rehearsal import Rehearsal
from .diff import Apart, MemoryApart, bare_memory, told_meanwhile, versions
from .texts import merge

_TOLD = 3
"""How many clashes an error names; it counts the rest."""


# -- memory by memory ----------------------------------------------------------------------------------


def by_memory(
    apart: Apart,
    branch: AgentMemory,
    original: AgentMemory,
    ids: Sequence[str] | None,
    texts: Sequence[str] | None,
    overwrite: Collection[str],
) -> ChangeSet:
    """Plan to bring memories and texts of the original to what they are in the rehearsal.

    Args:
        apart: what differs.
        branch: the rehearsal.
        original: its original.
        ids: the memories; all that differ if neither these nor texts are given.
        texts: the texts, by name.
        overwrite: ids and names of those to take although the original also changed them.

    Raises:
        EntryNotFound: a memory does not differ.
        InvalidParameter: a text does not differ.
        StaleChange: the original also changed one; the message says which and how.
    """
    everything = ids is None and texts is None
    memories = _chosen(apart, None if everything else ids or ())
    kept_texts = [text for text in apart.texts if everything or text.name in (texts or ())]
    if unknown := sorted(set(texts or ()) - {text.name for text in apart.texts}):
        there_are = ", ".join(text.name for text in apart.texts) or "none"
        raise InvalidParameter(f"The text {shown(unknown[0])} does not differ from the original's; {there_are} do.")
    problems = [
        f"{excerpt(_document(memory.mine, memory.theirs))}: {memory.sentence}"
        for memory in memories
        if memory.clash and memory.entry_id not in overwrite
    ]
    problems += [
        f"the {text.called}: both changed {', '.join(text.clashes)}."
        for text in kept_texts
        if text.clash and text.name not in overwrite
    ]
    _refuse(problems)
    changes = [memory.change for memory in memories]
    revisions = {step.revision for memory in memories for step in memory.steps}
    change_sets = branch.timeline.told_since(apart.rehearsal.revision)
    calls = [call for change_set in change_sets if change_set.revision in revisions for call in change_set.calls]
    names = [text.called for text in kept_texts]
    return original.curation.plan_to_take(
        _title(changes, names),
        changes,
        {text.name: text.kept for text in kept_texts},
        reason=reason(apart.rehearsal),
        notes=_notes(changes, original),
        calls=calls,
    )


def _chosen(apart: Apart, ids: Sequence[str] | None) -> list[MemoryApart]:
    if ids is None:
        return list(apart.memories)
    known = {memory.entry_id for memory in apart.memories}
    if unknown := [entry_id for entry_id in ids if entry_id not in known]:
        raise EntryNotFound(f"The memory {shown(unknown[0])} is the same in the rehearsal as in the original.")
    return [memory for memory in apart.memories if memory.entry_id in set(ids)]


def _title(changes: Sequence[Change], texts: Sequence[str]) -> str:
    parts = [f"{len(changes):,} memories"] if len(changes) > 1 else []
    if len(changes) == 1:
        parts = [f"{excerpt(_document(changes[0].after, changes[0].before))}"]
    parts += [f"the {name}" for name in texts]
    if not parts:
        return "Nothing to keep"
    return f"Keep from a rehearsal: {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}"


def _notes(changes: Sequence[Change], original: AgentMemory) -> list[str]:
    """What a person who keeps only a part should know."""
    notes = []
    coming = {change.entry_id for change in changes if change.after is not None}
    for change in changes:
        if change.before is None and change.after is not None:
            left = [
                entry_id
                for entry_id in change.after.evidence
                if entry_id not in coming and not _known(original, entry_id)
            ]
            if left:
                what = "a memory" if len(left) == 1 else f"{len(left)} memories"
                notes.append(
                    f"{excerpt(change.after.document)} rests on {what} that only the rehearsal has. Keep "
                    f"{'it' if len(left) == 1 else 'them'} too, or it points at nothing."
                )
    return notes


def _known(agent: AgentMemory, entry_id: str) -> bool:
    try:
        agent.last_version(entry_id)
    except EntryNotFound:
        return False
    return True


def reason(rehearsal: Rehearsal) -> str:
    """Why the original changes, for its history."""
    return f"Tried out in the rehearsal “{rehearsal.name}”{f': {rehearsal.purpose}' if rehearsal.purpose else ''}."


# -- change by change ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sides:
    """A rehearsal and its original, with what happened in each to the memories in question."""

    original: AgentMemory
    texts: dict[str, str | None]
    steps: dict[str, list[Event]]
    meanwhile: dict[str, list[Event]]


def _sides(rehearsal: Rehearsal, branch: AgentMemory, original: AgentMemory, acts: Iterable[Applied]) -> _Sides:
    ids = list(dict.fromkeys(change.entry_id for act in acts for change in act.change_set.changes))
    begun = rehearsal.revision
    return _Sides(
        original, original.texts(), branch.timeline.events_since(begun, ids), original.timeline.events_since(begun, ids)
    )


class _Replay:
    """What the original would be after some change sets of the rehearsal, one after the other."""

    def __init__(self, sides: _Sides, chosen: Iterable[Applied], overwrite: Collection[str]) -> None:
        self._sides = sides
        self._overwrite = overwrite
        self._entries: dict[str, MemoryEntry | None] = {}
        self._reasons: dict[str, str] = {}
        self.texts: dict[str, str | None] = {}
        self.problems: list[str] = []
        self.notes: list[str] = []
        acts = list(chosen)
        self._chosen = {act.revision for act in acts}
        for act in acts:
            self._take_all(act.change_set)

    def changes(self) -> list[Change]:
        """What becomes of the original's memories."""
        return [
            Change(before, self._entries[entry_id], why)
            for entry_id, why in self._reasons.items()
            if dump_entry(before := bare_memory(self._sides.original, entry_id)) != dump_entry(self._entries[entry_id])
        ]

    def _take_all(self, change_set: ChangeSet) -> None:
        for change in change_set.changes:
            if not any(end.tier is Tier.STATIC for end in (change.before, change.after) if end is not None):
                self._take(change, change_set)
        for text in change_set.texts:
            now = self.texts.get(text.name, self._sides.texts.get(text.name))
            merged = merge(text.name, text.before, text.after, now)
            if merged.clashes and text.name not in self._overwrite:
                self.problems.append(f"the {text.name}: the original has another {', '.join(merged.clashes)}.")
            self.texts[text.name] = merged.text

    def _take(self, change: Change, change_set: ChangeSet) -> None:
        entry_id, revision = change.entry_id, change_set.revision or 0
        if entry_id not in self._entries:
            self._entries[entry_id] = bare_memory(self._sides.original, entry_id)
        now = dump_entry(self._entries[entry_id])
        later = versions(event for event in self._sides.steps.get(entry_id, ()) if event.revision > revision)
        if now == dump_entry(change.after) or (now in later and now != dump_entry(change.before)):
            named = excerpt(_document(change.after, change.before))
            self.notes.append(f"{named} already has this change, or a later one.")
        elif now == dump_entry(change.before) or entry_id in self._overwrite:
            self._entries[entry_id] = change.after
            self._reasons[entry_id] = f"In the rehearsal: {change_set.title}."
        else:
            self.problems.append(f"{excerpt(_document(change.before, change.after))}: {self._why(change, revision)}")

    def _why(self, change: Change, revision: int) -> str:
        earlier = [event for event in self._sides.steps.get(change.entry_id, ()) if event.revision < revision]
        missing = [event for event in earlier if event.revision not in self._chosen]
        if missing and dump_entry(self._entries[change.entry_id]) in versions(earlier):
            return f"this builds on {in_quotes(missing[-1].title)} of the rehearsal; keep that too."
        return told_meanwhile(self._entries[change.entry_id], self._sides.meanwhile.get(change.entry_id, ()))


def by_change(
    rehearsal: Rehearsal,
    branch: AgentMemory,
    original: AgentMemory,
    revisions: Sequence[int],
    overwrite: Collection[str],
) -> ChangeSet:
    """Plan to do in the original what these change sets of the rehearsal did, in their order.

    Raises:
        ChangeSetNotFound: one does not exist, or is older than the rehearsal.
        StaleChange: it does not fit the original; the message says which memory and why.
    """
    acts = {act.revision: act for act in branch.timeline.changes_since(rehearsal.revision)}
    if strange := [revision for revision in revisions if revision not in acts]:
        raise ChangeSetNotFound(f"The rehearsal has no change {strange[0]} of its own.")
    chosen = [acts[number] for number in sorted(set(revisions))]
    replay = _Replay(_sides(rehearsal, branch, original, chosen), chosen, overwrite)
    _refuse(replay.problems)
    changes = replay.changes()
    title = f"Keep {counted(len(chosen), 'change')} from a rehearsal"
    if len(chosen) == 1:
        title = f"Keep from a rehearsal: {chosen[0].change_set.title}"
    calls: list[ModelCall] = [call for act in chosen for call in act.change_set.calls]
    notes = [note for act in chosen for note in act.change_set.notes]
    plan = original.curation.plan_to_take(
        title,
        changes,
        replay.texts,
        reason=reason(rehearsal),
        notes=list(dict.fromkeys([*notes, *replay.notes, *_notes(changes, original)])),
        calls=calls,
    )
    return plan or dataclasses.replace(plan, title="Nothing to keep")


@dataclass(frozen=True)
class Fit:
    """Whether a change of a rehearsal fits the original.

    Args:
        there: whether the original has all of it, or a later result of it.
        problem: why the original cannot take it on its own, in a sentence; empty if it can.
    """

    there: bool
    problem: str


def fits(rehearsal: Rehearsal, branch: AgentMemory, original: AgentMemory, told: Sequence[Applied]) -> dict[int, Fit]:
    """For each of these change sets of a rehearsal, by its revision, whether it fits the original on its own."""
    sides = _sides(rehearsal, branch, original, told)
    found = {}
    for act in told:
        replay = _Replay(sides, [act], ())
        changes = replay.changes() or any(sides.texts.get(name) != text for name, text in replay.texts.items())
        found[act.revision] = Fit(not changes and not replay.problems, " ".join(replay.problems[:1]))
    return found


def _document(first: MemoryEntry | None, second: MemoryEntry | None) -> str:
    entry = first or second
    assert entry is not None, "a change has a before or an after"
    return entry.document


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        more = f" And {len(problems) - _TOLD} more." if len(problems) > _TOLD else ""
        raise StaleChange(
            f"The original has moved on: {' '.join(problems[:_TOLD])}{more} Leave out what clashes, or choose the "
            "rehearsal's version. Nothing was changed."
        )
