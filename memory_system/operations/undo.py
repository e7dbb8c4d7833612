"""Undoing: what undoing one change set, or all since a moment, would do, and where later work is in its way.

Pure: it plans on values and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.change_set import Change, ChangeSet, Kept, TextChange, dump_entry, excerpt, in_quotes
from ..core.entry import MemoryEntry, Tier
from ..errors import Conflict, InvalidParameter, StaleChange, shown
from ..store.journal.as_of import Event
from ..store.journal.history import Applied
from .context import bare
from .edit import PROTECTED, personality_changes

UNDO, REDO, GO_BACK, PURGE = "undo", "redo", "go back", "purge"
_PERSONALITY = "personality"
AS_BEFORE = "It is again as it was before."
_WHYS = ("Undoes: ", "Undoes, over what came later: ", "Does again: ", "Does again, over what came later: ")


@dataclass(frozen=True)
class Present:
    """The present state of an agent, as far as undoing needs it.

    Args:
        find: the memory of an id, without its last access.
        text: the text of a name.
        static: the facts of the personality.
        purged: which of the given memories were purged, and at which revision.
    """

    find: Callable[[str], MemoryEntry | None]
    text: Callable[[str], str | None]
    static: Callable[[], Sequence[MemoryEntry]]
    purged: Mapping[str, int]


@dataclass(frozen=True)
class Clash:
    """A memory, or another text, where an undo would overwrite later work.

    Args:
        key: the memory's id, or the text's name: what ``undo`` accepts in ``keep`` and ``overwrite``.
        was: what the change set to be undone made of it; ``None`` = it was removed.
        now: what it is now.
        would_be: what the undo would make of it.
        later: what happened to it since, the oldest first.
        purged: nothing is left of what it was before, so that it can only be kept as it is.
    """

    key: str
    was: MemoryEntry | str | None
    now: MemoryEntry | str | None
    would_be: MemoryEntry | str | None
    later: tuple[Event, ...] = ()
    purged: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is the personality, the settings, or another text that is not a memory."""
        return any(isinstance(end, str) for end in (self.was, self.now, self.would_be))

    @property
    def sentence(self) -> str:
        """What it is, and what is in the way."""
        return str(self)

    def __str__(self) -> str:
        """In a sentence: what it is, and what is in the way."""
        end = next(end for end in (self.now, self.would_be, self.was) if end is not None)
        what = f"What is kept as {self.key}" if isinstance(end, str) else f"{excerpt(end.document)}"
        if self.purged:
            return f"{what} cannot be brought back: it was purged for good."
        if not self.later:
            return f"{what} has changed since."
        last = self.later[-1]
        return f"{what} was changed since by {excerpt(last.title)} (revision {last.revision}, {last.author})."


@dataclass
class Undoing:
    """What an undo would do, while it is being computed."""

    changes: list[Change] = field(default_factory=list)
    texts: list[TextChange] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)
    chosen: int = 0
    """How many are left as they are by choice."""


def refuse_undone(told: Applied) -> None:
    """Raise unless a change set can be undone at all.

    Raises:
        Conflict: it has been undone already, it is how the character came to be, or it purged something.
    """
    done = told.change_set
    if told.undone_by is not None:
        raise Conflict(f"{in_quotes(done.title)} has been undone already, by revision {told.undone_by}.")
    if done.purges:
        raise Conflict("What was purged is gone for good; there is nothing left to bring it back from.")
    if any(text.name == _PERSONALITY and text.before is None for text in done.texts):
        raise Conflict("This is how the character came to be; there is nothing before it to go back to.")


def undoing(told: Applied, now: Present, keep: Collection[str] = (), overwrite: Collection[str] = ()) -> Undoing:
    """What undoing a change set would do to each memory and text, given those to keep or to overwrite.

    Raises:
        InvalidParameter: something is to be kept or overwritten that it did not change, or both at once.
    """
    done = told.change_set
    keys = {change.entry_id for change in done.changes} | {text.name for text in done.texts}
    if strange := sorted({*keep, *overwrite} - keys):
        raise InvalidParameter(f"That change did nothing to {shown(strange[0])}, so there is nothing to choose for it.")
    if both := sorted({*keep} & {*overwrite}):
        raise InvalidParameter(f"{shown(both[0])} is to be kept and to be overwritten: choose one.")
    plan = Undoing()
    facts_of_text = any(text.name == _PERSONALITY for text in done.texts)
    for change in reversed(done.changes):
        ends = [end for end in (change.before, change.after) if end is not None]
        if not (facts_of_text and any(end.tier is Tier.STATIC for end in ends)):
            _undo_change(plan, change, told.revision, now, keep, overwrite)
    for text in done.texts:
        _undo_text(plan, text, now, keep, overwrite)
    return plan


def _undo_change(
    plan: Undoing, change: Change, revision: int, now: Present, keep: Collection[str], overwrite: Collection[str]
) -> None:
    entry, key = now.find(change.entry_id), change.entry_id
    stands, before = dump_entry(entry), dump_entry(change.before)
    if stands == before and change.before != change.after:  # one that says the same before and after is a note
        plan.kept.append(Kept(key, AS_BEFORE))
    elif key in keep:
        plan.chosen += 1
        plan.kept.append(Kept(key, "It is kept as it is now, since that was chosen."))
    elif change.before is not None and now.purged.get(key, 0) > revision:
        plan.clashes.append(Clash(key, change.after, entry, change.before, purged=True))
    elif stands == dump_entry(change.after):
        plan.changes.append(change.inverse(_why(change.reason)))
    elif key in overwrite and entry is not None and entry.protected:
        plan.kept.append(Kept(key, PROTECTED))
    elif key in overwrite:
        plan.changes.append(Change(entry, change.before, _why(change.reason, ", over what came later")))
    else:
        plan.clashes.append(Clash(key, change.after, entry, change.before))


def _why(reason: str, how: str = "") -> str:
    """The reason for undoing what had a reason; undoing an undo is a redo, however often."""
    begins = next((prefix for prefix in _WHYS if reason.startswith(prefix)), "")
    return f"{'Does again' if begins.startswith('Undoes') else 'Undoes'}{how}: {reason.removeprefix(begins)}"


def _undo_text(
    plan: Undoing, text: TextChange, now: Present, keep: Collection[str], overwrite: Collection[str]
) -> None:
    stands = now.text(text.name)
    if stands == text.before:
        return
    if text.name in keep:
        plan.chosen += 1
        plan.kept.append(Kept(text.name, f"What is kept as {text.name} stays as it is now, since that was chosen."))
    elif stands == text.after or text.name in overwrite:
        plan.texts.append(TextChange(text.name, stands, text.before))
        if text.name == _PERSONALITY and text.before is not None:
            plan.changes += personality_changes(text.before, now.static(), "the history")
    else:
        plan.clashes.append(Clash(text.name, text.after, stands, text.before))


def refuse_clashes(title: str, clashes: Sequence[Clash]) -> None:
    """Raise if later work is in the way.

    Raises:
        StaleChange: it is; the message says what, and what can be chosen.
    """
    if not clashes:
        return
    sentences = " ".join(str(clash) for clash in clashes[:3])
    more = f" The same applies to {len(clashes) - 3} more." if len(clashes) > 3 else ""
    raise StaleChange(
        f"{excerpt(title)} cannot be taken back as a whole. {sentences}{more} Choose for each whether to keep what is "
        "there now or to take it back all the same: on the History page, or with undo(revision, keep=[id], "
        "overwrite=[id])."
    )


def title_of(told: ChangeSet) -> str:
    """The title for undoing a change set; for an undo, a redo."""
    if told.operation == UNDO:
        return f"Redo: {told.title.removeprefix('Undo: ')}"
    return f"Undo: {told.title.removeprefix('Redo: ')}"


def going_back(
    revision: int, bodies: Mapping[str, MemoryEntry | None], texts: Mapping[str, str | None], now: Present
) -> Undoing:
    """The changes that bring memories and texts back to what they were.

    Args:
        revision: the revision right after which they were so.
        bodies: the former state of each memory that has changed since; ``None`` = it did not exist.
        texts: the former named texts.
        now: the present state of the agent.
    """
    plan, then = Undoing(), dict(texts)
    present_texts = {name: now.text(name) for name in then}
    if then.get(_PERSONALITY) is None and present_texts.get(_PERSONALITY) is not None:
        del then[_PERSONALITY]
        plan.kept.append(Kept(_PERSONALITY, "There was not a personality yet; the one in use stays."))
    facts_of_text = present_texts.get(_PERSONALITY) != texts.get(_PERSONALITY)
    plan.changes += _put_back(plan, revision, bodies, now, facts_of_text=facts_of_text)
    for name, text in then.items():
        if present_texts[name] != text:
            plan.texts.append(TextChange(name, present_texts[name], text))
            if name == _PERSONALITY and text is not None:
                plan.changes += personality_changes(text, now.static(), "the history")
    return plan


def _put_back(
    plan: Undoing,
    revision: int,
    bodies: Mapping[str, MemoryEntry | None],
    now: Present,
    *,
    facts_of_text: bool,
) -> Iterator[Change]:
    for key, was in bodies.items():
        entry = now.find(key)
        if dump_entry(entry) == dump_entry(was):
            continue
        if facts_of_text and any(end is not None and end.tier is Tier.STATIC for end in (entry, was)):
            continue
        if was is not None and now.purged.get(key, 0) > revision:
            plan.kept.append(Kept(key, "It was purged for good, and cannot come back."))
            continue
        if entry is not None and entry.protected and (was is None or was.evolve(protected=True) != bare(entry)):
            plan.kept.append(Kept(key, PROTECTED))
            continue
        yield Change(entry and bare(entry), was, "It is put back as it was then." if was else "It was not there then.")
