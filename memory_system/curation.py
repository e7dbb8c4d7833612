"""Curation: what a person or a game changes by hand. Each function plans a change set and writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import personality as personalities
from .changes import Change, ChangeSet, Kept, TextChange, short
from .consolidation.ground import UNRATED, Ground, bare
from .consolidation.rating import Rated, rate_all
from .entry import SHELVED, MemoryEntry, Tier
from .errors import EntryNotFound, Immutable, InvalidParameter, Protected, shown
from .intake import Outcome
from .settings import AgentSettings
from .verdicts import NAMES

Find = Callable[[str], MemoryEntry | None]
PROTECTED = "It is protected; unprotect it first."
"""Why a memory is left as it is."""
EDITABLE = (
    "document",
    "timestamp",
    "kind",
    "rating",
    "explanation",
    "tags",
    "pinned",
    "authored",
    "protected",
    "metadata",
)


def add(
    ground: Ground,
    entries: Sequence[MemoryEntry],
    find: Find,
    *,
    overwrite: bool,
    rate: bool,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[ChangeSet, tuple[Outcome, ...]]:
    """Plan to add events to STM; an id that is held is overwritten or skipped, as asked.

    Each unrated event is rated. One that the model could not rate is added unrated, marked as still to be rated; where
    the server is down or ``cancelled`` says so, the model is not asked about the others.

    Raises:
        Immutable: an id belongs to static memory.
    """
    changes: list[Change] = []
    outcomes: list[Outcome] = []
    taken = [(event, held := find(event.id), _refusal(event, held, overwrite=overwrite)) for event in entries]
    unrated = [event for event, _, refusal in taken if rate and event.rating is None and not refusal]
    ratings = rate_all(ground, unrated, cancelled)
    for event, held, refusal in taken:
        if held is not None and refusal:
            outcomes.append(Outcome(event.id, "skipped", held, held.rating is not None, refusal))
            continue
        entry, why = ratings.of(event) if rate and event.rating is None else (event, "")
        if held is None:
            changes.append(Change(None, entry, "A new event."))
            outcomes.append(Outcome(entry.id, "added", entry, entry.rating is not None, why))
        else:
            entry = entry.evolve(pinned=entry.pinned or held.pinned)
            changes.append(Change(bare(held), entry, "The same id was added again."))
            outcomes.append(Outcome(entry.id, "overwritten", entry, entry.rating is not None, why))
    whys = dict.fromkeys(one.why for one in outcomes if not one.rated and one.why and one.action != "skipped")
    notes = tuple(f"Not rated: {why}" for why in whys)
    title = f"Remember {len(changes)} events"
    if len(changes) == 1:
        title = f"Remember “{_short(changes[0])}”"
    return ground.plan("add", title, changes, calls=ratings.calls, notes=notes), tuple(outcomes)


def _refusal(event: MemoryEntry, held: MemoryEntry | None, *, overwrite: bool) -> str:
    """Why an event is skipped, in a sentence; empty if it is taken.

    Raises:
        Immutable: its id belongs to static memory.
    """
    if held is None:
        return ""
    if held.tier is Tier.STATIC:
        raise Immutable(f"The id {event.id!r} belongs to the personality; events cannot overwrite it.")
    if not overwrite or held.tier is not Tier.STM:
        return f"The id is held in {NAMES[held.tier]} memory."
    return PROTECTED if held.protected else ""


def listed(ids: str | Sequence[str]) -> list[str]:
    """One id, or several, as a list without repeats.

    Raises:
        InvalidParameter: something else.
    """
    items = [ids] if isinstance(ids, str) else ids
    if not isinstance(items, Sequence) or not all(isinstance(item, str) for item in items):
        raise InvalidParameter("Ids must be a text or a list of texts.")
    return list(dict.fromkeys(items))


def _short(change: Change) -> str:
    held = change.after or change.before
    assert held is not None, "a change has a before or an after"
    return short(held.document)


def lasting(entry: MemoryEntry) -> str | None:
    """Why a memory may not be forgotten, not even by hand, in a sentence; ``None`` if it may."""
    if entry.protected:
        return PROTECTED
    return "It is pinned; unpin it first." if entry.pinned else None


def writable(find: Find, entry_id: str) -> MemoryEntry:
    """The memory of this id, which is one of STM or LTM.

    Raises:
        EntryNotFound, Immutable: there is none, or it is a fact, a message or a passage.
    """
    entry = find(entry_id)
    if entry is None:
        raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
    if (why := elsewhere(entry)) is not None:
        raise Immutable(why)
    return entry


def elsewhere(entry: MemoryEntry) -> str | None:
    """Why an entry is not changed by itself, in a sentence; ``None`` where it is a memory that can be."""
    match entry.tier:
        case Tier.STATIC:
            return "This is a fact of the personality; change it there."
        case Tier.RECALL:
            return "This is a message of a conversation: undo what was said, or remove the conversation."
        case Tier.ARCHIVE:
            return "This is a passage of a document: remove the document."
        case _:
            return None


def edit(ground: Ground, find: Find, entry_id: str, fields: Mapping[str, Any]) -> ChangeSet:
    """Plan to change fields of one memory.

    Raises:
        EntryNotFound, Immutable: there is none, or it is static.
        Protected: it is protected; unprotecting it is an edit of its own.
        InvalidParameter: a field that cannot be edited.
        InvalidEntry: a value that cannot be taken.
    """
    entry = writable(find, entry_id)
    if unknown := sorted(set(fields) - set(EDITABLE)):
        raise InvalidParameter(f"{unknown[0]!r} cannot be edited; {', '.join(EDITABLE)} can.")
    settled = {"explanation": ""} if "rating" in fields and entry.explanation == UNRATED else {}
    after = entry.evolve(**(settled | dict(fields)))
    if entry.protected and set(fields) != {"protected"} and after != entry:
        raise Protected(f"The memory “{short(entry.document)}” is protected; unprotect it first.")
    changes = [] if after == entry else [Change(bare(entry), bare(after), f"Edited: {', '.join(sorted(fields))}.")]
    return ground.plan("edit", f"Edit “{_short(changes[0])}”" if changes else "Nothing to edit", changes)


def forget(ground: Ground, find: Find, ids: str | Sequence[str]) -> ChangeSet:
    """Plan to take memories out of recall; they can be restored. Pinned and protected ones are left.

    Raises:
        EntryNotFound, Immutable: there is none, or it is static.
    """
    entries = [writable(find, entry_id) for entry_id in listed(ids)]
    kept = tuple(Kept(entry.id, why) for entry in entries if (why := lasting(entry)) is not None)
    changes = [Change(bare(entry), None, "Forgotten by hand.") for entry in entries if lasting(entry) is None]
    title = f"Forget {len(changes)} memories" if len(changes) != 1 else f"Forget “{_short(changes[0])}”"
    return ground.plan("forget", title, changes, kept=kept)


def restore(ground: Ground, find: Find, last_version: Find, ids: str | Sequence[str]) -> ChangeSet:
    """Plan to bring forgotten memories back as they last were.

    Raises:
        EntryNotFound: the agent never had such a memory.
        Immutable: it was a fact of the personality.
    """
    changes: list[Change] = []
    kept: list[Kept] = []
    for entry_id in listed(ids):
        if find(entry_id) is not None:
            kept.append(Kept(entry_id, "It is not forgotten."))
            continue
        entry = last_version(entry_id) if entry_id.isprintable() else None
        if entry is None:
            raise EntryNotFound(f"There never was a memory {entry_id!r}.")
        if entry.tier is Tier.STATIC:
            raise Immutable("This was a fact of the personality; write it there again.")
        if entry.tier in SHELVED:
            raise Immutable("This was a message, or a passage of a document: undo the change that took it away.")
        changes.append(Change(None, entry, "Restored by hand."))
    return ground.plan(
        "restore",
        f"Restore {len(changes)} memories" if len(changes) != 1 else f"Restore “{_short(changes[0])}”",
        changes,
        kept=tuple(kept),
    )


def rate_again(ground: Ground, find: Find, ids: str | Sequence[str]) -> ChangeSet:
    """Plan to rate memories; those that the model cannot rate stay as they are, and so do protected ones.

    Raises:
        EntryNotFound, Immutable: there is none, or it is static.
    """
    return rate_entries(ground, [writable(find, entry_id) for entry_id in listed(ids)])[0]


def rate_entries(
    ground: Ground, entries: Sequence[MemoryEntry], cancelled: Callable[[], bool] = lambda: False
) -> tuple[ChangeSet, Rated]:
    """As ``rate_again``, of entries of STM or LTM; with what came of asking."""
    kept = [Kept(entry.id, PROTECTED) for entry in entries if entry.protected]
    free = [entry for entry in entries if not entry.protected]
    ratings = rate_all(ground, free, cancelled)
    changes: list[Change] = []
    for entry in free:
        after, why = ratings.of(entry)
        if why:
            kept.append(Kept(entry.id, why))
        elif after != entry:
            changes.append(Change(bare(entry), bare(after), "Rated again."))
    title = f"Rate {len(changes)} memories" if len(changes) != 1 else "Rate a memory"
    return ground.plan("rate", title, changes, calls=ratings.calls, kept=tuple(kept)), ratings


def reset(ground: Ground) -> ChangeSet:
    """Plan to empty STM and LTM; the personality stays, and so do pinned and protected memories."""
    held = (*ground.stm, *ground.ltm)
    kept = tuple(Kept(entry.id, why) for entry in held if (why := lasting(entry)) is not None)
    changes = [Change(bare(entry), None, "The memory was reset.") for entry in held if lasting(entry) is None]
    return ground.plan("reset", f"Reset: forget all {len(changes)} memories", changes, kept=kept)


def configure(ground: Ground, held: str | None, after: AgentSettings) -> ChangeSet:
    """Plan to change the agent's settings."""
    text = after.to_json()
    changed = held != text and AgentSettings.from_json(held) != after
    texts = (TextChange("settings", held, text),) if changed else ()
    return ground.plan("settings", "Change settings", [], texts=texts)


def personality(ground: Ground, held: str | None, text: str, static: Sequence[MemoryEntry], source: str) -> ChangeSet:
    """Plan to take a personality text as the static memory; facts that stay as they are are not touched.

    Raises:
        InvalidPersonality: all that is wrong with the text, by line and field.
    """
    changes = personality_changes(text, static, source)
    texts = (TextChange("personality", held, text),) if text != held else ()
    facts = f"{len(changes)} fact{'s' if len(changes) != 1 else ''}"
    return ground.plan("personality", f"Change the personality: {facts}", changes, texts=texts)


def personality_changes(text: str, static: Sequence[MemoryEntry], source: str) -> list[Change]:
    """What makes the static memory say what a personality's text says; facts that stay as they are are not touched.

    Raises:
        InvalidPersonality: all that is wrong with the text, by line and field.
    """
    wanted = {entry.id: entry for entry in personalities.facts(personalities.parse(text, source))}
    before = {entry.id: bare(entry) for entry in static}
    changes = [
        Change(
            before.get(key),
            entry,
            "The personality says so." if key not in before else "The personality changed.",
        )
        for key, entry in wanted.items()
        if before.get(key) != entry
    ]
    return changes + [
        Change(entry, None, "The personality no longer says so.") for key, entry in before.items() if key not in wanted
    ]
