"""Edits by a person or a game: of one memory, of many, and several made one. Each plans, and writes nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ..core import personality as personalities
from ..core.change_set import Change, ChangeSet, Kept, TextChange, excerpt, so_many
from ..core.entry import SHELVED, MemoryEntry, MemoryIds, Tier, id_of, is_unrated
from ..core.kinds import MAX_PEOPLE, MAX_TAGS
from ..core.known import known_to
from ..core.settings import AgentSettings
from ..errors import Conflict, EntryNotFound, Immutable, InvalidEntry, InvalidParameter, Protected, did_you_mean, shown
from ..recall.cues import Judgment, SavedCue, dump_cues, dump_judgments, parse_cues, parse_judgments
from ..recall.verdicts import NAMES
from .context import Ground, bare
from .day import rewritten
from .importing.events import Outcome
from .rating import Rated, rate_all

Find = Callable[[str], MemoryEntry | None]
PROTECTED = "It is protected; unprotect it first."
"""The reason for leaving a memory as it is."""
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
    "source",
    "people",
    "place",
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
    """Plan to add events to STM; an existing id is overwritten or skipped, as requested.

    Each unrated event is rated. One that the model could not rate is added unrated, marked as still to be rated; if
    the server is down or ``cancelled`` says so, the model is not asked about the others.

    Raises:
        Immutable: an id belongs to static memory.
    """
    changes: list[Change] = []
    outcomes: list[Outcome] = []
    taken = [(event, entry := find(event.id), _refusal(event, entry, overwrite=overwrite)) for event in entries]
    unrated = [event for event, _, refusal in taken if rate and event.rating is None and not refusal]
    ratings = rate_all(ground, unrated, cancelled)
    for event, existing, refusal in taken:
        if existing is not None and refusal:
            outcomes.append(Outcome(event.id, "skipped", existing, existing.rating is not None, refusal))
            continue
        entry, why = ratings.of(event) if rate and event.rating is None else (event, "")
        if existing is None:
            changes.append(Change(None, entry, "A new event."))
            outcomes.append(Outcome(entry.id, "added", entry, entry.rating is not None, why))
        else:
            entry = entry.evolve(pinned=entry.pinned or existing.pinned)
            changes.append(Change(bare(existing), entry, "The same id was added again."))
            outcomes.append(Outcome(entry.id, "overwritten", entry, entry.rating is not None, why))
    whys = dict.fromkeys(
        outcome.why for outcome in outcomes if not outcome.rated and outcome.why and outcome.action != "skipped"
    )
    notes = tuple(f"Not rated: {why}" for why in whys)
    title = f"Remember {len(changes):,} events"
    if len(changes) == 1:
        title = f"Remember {_excerpt(changes[0])}"
    return ground.plan("add", title, changes, calls=ratings.calls, notes=notes), tuple(outcomes)


def _refusal(event: MemoryEntry, existing: MemoryEntry | None, *, overwrite: bool) -> str:
    """Why an event is skipped, in a sentence; empty if it is added.

    Raises:
        Immutable: its id belongs to static memory.
    """
    if existing is None:
        return ""
    if existing.tier is Tier.STATIC:
        raise Immutable(f"The id {event.id!r} belongs to the personality; events cannot overwrite it.")
    if not overwrite or existing.tier is not Tier.STM:
        return f"The id exists already in {NAMES[existing.tier]} memory."
    return PROTECTED if existing.protected else ""


def listed(ids: str | Sequence[str], what: str = "Ids") -> list[str]:
    """One id, or several, as a list without repeats.

    Raises:
        InvalidParameter: something else; the message says ``what`` must be one or the other.
    """
    items = [ids] if isinstance(ids, str) else ids
    if not isinstance(items, Sequence) or not all(isinstance(item, str) for item in items):
        raise InvalidParameter(f"{what} must be a text or a list of texts.")
    return list(dict.fromkeys(items))


def ids_of(memories: MemoryIds, what: str = "Ids") -> list[str]:
    """The ids of memories, or of one, given as memories or ids, without repeats.

    Raises:
        InvalidParameter: something else; the message says ``what`` must be one or the other.
    """
    several = [memories] if isinstance(memories, MemoryEntry) else memories
    is_list = isinstance(several, Sequence) and not isinstance(several, str | bytes)
    return listed([id_of(memory) for memory in several] if is_list else several, what)  # type: ignore[arg-type]  # it refuses


def _excerpt(change: Change) -> str:
    entry = change.after or change.before
    assert entry is not None, "a change has a before or an after"
    return excerpt(entry.document)


def lasting(entry: MemoryEntry) -> str | None:
    """Why a memory may not be forgotten, not even by hand, in a sentence; ``None`` if it may."""
    if entry.protected:
        return PROTECTED
    return "It is pinned; unpin it first." if entry.pinned else None


def writable(find: Find, entry_id: str) -> MemoryEntry:
    """The memory of this id, which is one of STM or LTM.

    Raises:
        InvalidParameter: the id is not a text.
        EntryNotFound, Immutable: there is no such memory, or it is a fact, a message or a passage.
    """
    if not isinstance(entry_id, str):
        raise InvalidParameter(f"The id of a memory is a text, not {shown(entry_id)}.")
    entry = find(entry_id)
    if entry is None:
        raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
    if (why := elsewhere(entry)) is not None:
        raise Immutable(why)
    return entry


def elsewhere(entry: MemoryEntry) -> str | None:
    """Why an entry cannot be changed on its own, in a sentence; ``None`` if it is a memory that can be."""
    match entry.tier:
        case Tier.STATIC if known_to(entry):
            return "This is a fact of the world: change it with “know”, or forget it with “unknow”."
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
        InvalidEntry: a value that cannot be accepted.
    """
    entry = writable(find, entry_id)
    if unknown := sorted(set(fields) - set(EDITABLE)):
        raise InvalidParameter(
            f"{unknown[0]!r} cannot be edited; {', '.join(EDITABLE)} can.{did_you_mean(unknown[0], EDITABLE)}"
        )
    settled = {"explanation": ""} if "rating" in fields and is_unrated(entry.explanation) else {}
    after = entry.evolve(**(settled | dict(fields)))
    if "metadata" not in fields:
        after = rewritten(entry, after)
    if entry.protected and set(fields) != {"protected"} and after != entry:
        raise Protected(f"The memory {excerpt(entry.document)} is protected; unprotect it first.")
    changes = [] if after == entry else [Change(bare(entry), bare(after), f"Edited: {', '.join(sorted(fields))}.")]
    return ground.plan("edit", f"Edit {_excerpt(changes[0])}" if changes else "Nothing to edit", changes)


def forget(ground: Ground, find: Find, ids: MemoryIds) -> ChangeSet:
    """Plan to take memories out of recall; they can be restored. Pinned and protected ones are left.

    Raises:
        EntryNotFound, Immutable: there is none, or it is static.
    """
    entries = [writable(find, entry_id) for entry_id in ids_of(ids)]
    kept = tuple(Kept(entry.id, why) for entry in entries if (why := lasting(entry)) is not None)
    changes = [Change(bare(entry), None, "Forgotten by hand.") for entry in entries if lasting(entry) is None]
    title = f"Forget {len(changes):,} memories" if len(changes) != 1 else f"Forget {_excerpt(changes[0])}"
    return ground.plan("forget", title, changes, kept=kept)


def restore(ground: Ground, find: Find, last_version: Find, ids: MemoryIds) -> ChangeSet:
    """Plan to bring forgotten memories back as they last were.

    Raises:
        EntryNotFound: the agent never had such a memory.
        Immutable: it was a fact of the personality.
    """
    changes: list[Change] = []
    kept: list[Kept] = []
    for entry_id in ids_of(ids):
        if find(entry_id) is not None:
            kept.append(Kept(entry_id, "It is not forgotten."))
            continue
        entry = last_version(entry_id) if entry_id.isprintable() else None
        if entry is None:
            raise EntryNotFound(f"There never was a memory {shown(entry_id)}.")
        if entry.tier is Tier.STATIC:
            raise Immutable("This was a fact of the personality; write it there again.")
        if entry.tier in SHELVED:
            raise Immutable("This was a message, or a passage of a document: undo the change that took it away.")
        changes.append(Change(None, entry, "Restored by hand."))
    return ground.plan(
        "restore",
        f"Restore {len(changes):,} memories" if len(changes) != 1 else f"Restore {_excerpt(changes[0])}",
        changes,
        kept=tuple(kept),
    )


def rate_again(ground: Ground, find: Find, ids: MemoryIds) -> ChangeSet:
    """Plan to rate memories; those that the model cannot rate stay as they are, and so do protected ones.

    Raises:
        EntryNotFound, Immutable: there is none, or it is static.
    """
    return rate_entries(ground, [writable(find, entry_id) for entry_id in ids_of(ids)])[0]


def rate_entries(
    ground: Ground, entries: Sequence[MemoryEntry], cancelled: Callable[[], bool] = lambda: False
) -> tuple[ChangeSet, Rated]:
    """As ``rate_again``, for entries of STM or LTM; with the results."""
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
    title = f"Rate {len(changes):,} memories" if len(changes) != 1 else "Rate a memory"
    return ground.plan("rate", title, changes, calls=ratings.calls, kept=tuple(kept)), ratings


def reset(ground: Ground) -> ChangeSet:
    """Plan to empty STM and LTM; the personality stays, and so do pinned and protected memories."""
    entries = (*ground.stm, *ground.ltm)
    kept = tuple(Kept(entry.id, why) for entry in entries if (why := lasting(entry)) is not None)
    changes = [Change(bare(entry), None, "The memory was reset.") for entry in entries if lasting(entry) is None]
    return ground.plan(
        "reset",
        f"Reset: forget {'all ' if len(changes) > 1 else ''}{so_many(len(changes))}",
        changes,
        kept=kept,
    )


def configure(ground: Ground, held: str | None, after: AgentSettings) -> ChangeSet:
    """Plan to change the agent's settings."""
    text = after.to_json()
    changed = held != text and ground.settings != after
    texts = (TextChange("settings", held, text),) if changed else ()
    return ground.plan("settings", "Change settings", [], texts=texts)


def personality(
    plan: Callable[..., ChangeSet], held: str | None, text: str, static: Sequence[MemoryEntry], source: str
) -> ChangeSet:
    """Plan to use a personality text as the static memory; unchanged facts are not touched.

    Raises:
        InvalidPersonality: all that is wrong with the text, by line and field.
    """
    changes = personality_changes(text, static, source)
    texts = (TextChange("personality", held, text),) if text != held else ()
    facts = f"{len(changes):,} fact{'s' if len(changes) != 1 else ''}"
    return plan("personality", f"Change the personality: {facts}", changes, texts=texts)


def personality_changes(text: str, static: Sequence[MemoryEntry], source: str) -> list[Change]:
    """The changes that bring the static memory in line with a personality's text; unchanged facts are not touched.

    Raises:
        InvalidPersonality: all that is wrong with the text, by line and field.
    """
    entries = {entry.id: entry for entry in personalities.facts(personalities.parse(text, source))}
    before = {entry.id: bare(entry) for entry in static}
    changes = [
        Change(
            before.get(key),
            entry,
            "The personality says so." if key not in before else "The personality changed.",
        )
        for key, entry in entries.items()
        if before.get(key) != entry
    ]
    return changes + [
        Change(entry, None, "The personality no longer says so.") for key, entry in before.items() if key not in entries
    ]


FIELDS = ("kind", "rating", "explanation", "tags", "pinned", "authored", "protected")
"""What can be set for many memories at once."""
_VERBS = {
    "pinned": ("unpin", "pin"),
    "protected": ("unprotect", "protect"),
    "authored": ("take the mark “by a person” off", "mark “by a person”"),
}
_BY_HAND = "Rated by hand."


def unchangeable(entry: MemoryEntry, fields: Collection[str]) -> str | None:
    """Why these fields of a memory may not be changed, in a sentence; ``None`` if they may."""
    if (why := elsewhere(entry)) is not None:
        return why
    return PROTECTED if entry.protected and set(fields) != {"protected"} else None


def changes(
    find: Find,
    ids: MemoryIds,
    add_tags: str | Sequence[str],
    remove_tags: str | Sequence[str],
    fields: Mapping[str, Any],
) -> tuple[list[Change], list[Kept], str]:
    """The change of each memory, those that are left alone and why, and a title.

    Raises:
        EntryNotFound: an id has no memory.
        InvalidParameter: a field that cannot be set for many, or the same tag is to be added and removed.
        InvalidEntry: a value that cannot be accepted; the message says for which memory.
    """
    adding, removing = _tags("add_tags", add_tags), _tags("remove_tags", remove_tags)
    if both := sorted(set(adding) & set(removing)):
        raise InvalidParameter(f"The tag {shown(both[0])} cannot be added and removed at once.")
    if unknown := sorted(set(fields) - set(FIELDS)):
        raise InvalidParameter(
            f"{unknown[0]!r} cannot be set for many memories; add_tags, remove_tags, {', '.join(FIELDS)} can."
            f"{did_you_mean(unknown[0], ('add_tags', 'remove_tags', *FIELDS))}"
        )
    done: list[Change] = []
    kept: list[Kept] = []
    words = _words(adding, removing, fields)
    field_names = {*fields, *(("tags",) if adding or removing else ())}
    for entry_id in ids_of(ids):
        entry = find(entry_id)
        if entry is None:
            raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
        if (why := unchangeable(entry, field_names)) is not None:
            kept.append(Kept(entry_id, why))
            continue
        before = bare(entry)
        after = _changed(before, adding, removing, fields)
        if after == before:
            kept.append(Kept(entry_id, "It is so already."))
        else:
            done.append(Change(before, after, f"Changed together with others: {words}."))
    return done, kept, words


def _tags(name: str, texts: str | Sequence[str]) -> list[str]:
    try:
        tags = [tag.strip() for tag in listed(texts)]
    except InvalidParameter as error:
        raise InvalidParameter(f"'{name}' must be a text or a list of texts.") from error
    if not all(tags):
        raise InvalidParameter(f"'{name}' holds an empty tag.")
    return list(dict.fromkeys(tags))


def _changed(
    before: MemoryEntry, adding: Sequence[str], removing: Sequence[str], fields: Mapping[str, Any]
) -> MemoryEntry:
    values = dict(fields)
    rating = values.get("rating", before.rating)
    if "explanation" not in values and not getattr(rating, "shape", ()) and rating != before.rating:
        values["explanation"] = "" if rating is None else _BY_HAND
    if adding or removing:
        # a list of anything else is refused by the entry itself
        tags = values.get("tags", before.tags)
        if isinstance(tags, list | tuple):
            values["tags"] = (
                *(tag for tag in tags if tag not in removing),
                *(tag for tag in adding if tag not in tags),
            )
    try:
        return before.evolve(**values)
    except InvalidEntry as error:
        raise InvalidEntry(f"{excerpt(before.document)} cannot be changed so. {error.sentence}") from error


def _words(adding: Sequence[str], removing: Sequence[str], fields: Mapping[str, Any]) -> str:
    parts = [f"add tag {excerpt(tag)}" for tag in adding]
    parts += [f"remove tag {excerpt(tag)}" for tag in removing]
    for name, value in fields.items():
        if name in _VERBS and isinstance(value, bool):
            parts.append(_VERBS[name][value])
        elif name == "rating":
            parts.append("take the rating off" if value is None else f"importance {shown(value)} of 10")
        else:
            parts.append(f"set the {name}")
    return ", ".join(parts) or "nothing"


MOST_MERGED = 1_000


def merged(
    find: Find, ids: Sequence[str], keep: str | None, text: str | None, all_entries: Iterable[MemoryEntry]
) -> tuple[list[Change], list[Kept], list[str]]:
    """The changes that merge several memories into one, what is left alone and why, and what could not be kept.

    Raises:
        EntryNotFound, Immutable: an id has no memory, or it is protected or a fact of the personality.
        InvalidParameter: fewer than two memories, more than 1,000, or the one to keep is not among them.
        InvalidEntry: the text cannot be a memory.
        Conflict: one that would be forgotten is pinned.
    """
    entries = _chosen(find, ids)
    keep_id = ids[0] if keep is None else keep
    kept = next((entry for entry in entries if entry.id == keep_id), None)
    if kept is None:
        raise InvalidParameter(f"The memory to keep, {shown(keep_id)}, is not among those to merge.")
    going = [entry for entry in entries if entry is not kept]
    if pinned := [entry for entry in going if entry.pinned]:
        raise Conflict(
            f"{excerpt(pinned[0].document)} is pinned, and a pinned memory is never forgotten: "
            "keep that one, or unpin it first."
        )
    gone = {entry.id for entry in going}
    others = [entry for entry in all_entries if entry.id not in gone | {kept.id}]
    after = _united(kept, going, text, _resting_on(gone | {kept.id}, others))
    notes = [f"It has {MAX_TAGS} tags; no more are allowed."] if _tags_left(entries, after) else []
    count = f"{len(going)} other{'s' if len(going) != 1 else ''}"
    changes = [Change(kept, after, f"Merged with {count}.")] if after != kept else []
    changes += [Change(entry, None, f"Merged into {excerpt(after.document)}; it can be restored.") for entry in going]
    left: list[Kept] = []
    for entry in others:
        if gone.isdisjoint(entry.evidence):
            continue
        if (why := unchangeable(entry, ("evidence",))) is not None:
            left.append(Kept(entry.id, why))
        else:
            moved = _moved(bare(entry), gone, kept.id)
            changes.append(Change(bare(entry), moved, "What it rests on was merged into one memory."))
    return changes, left, notes


def _chosen(find: Find, ids: Sequence[str]) -> list[MemoryEntry]:
    if len(ids) < 2:
        raise InvalidParameter("It takes two memories or more to merge.")
    if len(ids) > MOST_MERGED:
        raise InvalidParameter(f"{len(ids):,} memories are too many to merge at once; at most {MOST_MERGED:,} are.")
    entries = []
    for entry_id in ids:
        entry = find(entry_id)
        if entry is None:
            raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
        if (why := unchangeable(entry, ("document",))) is not None:
            raise Immutable(f"{excerpt(entry.document)} cannot be merged. {why}")
        entries.append(bare(entry))
    return entries


def _united(kept: MemoryEntry, going: Sequence[MemoryEntry], text: str | None, resting: set[str]) -> MemoryEntry:
    """The one that stays, with the tags and evidence of all, and the importance of the most important."""
    every = (kept, *going)
    highest = max(every, key=lambda entry: entry.rating or 0)
    tags = tuple(dict.fromkeys(tag for entry in every for tag in entry.tags))[:MAX_TAGS]
    # what rests on one of these cannot be their evidence
    sources = [source for entry in every for source in entry.evidence if source not in resting]
    evidence = tuple(dict.fromkeys(sources))
    times = _times(every) if "evidence_times" in kept.extras else {}
    extras = kept.extras
    if times:
        extras = extras | {"evidence_times": " ".join(times.get(source, "-") for source in evidence)}
    raised = highest is not kept and highest.rating != kept.rating
    return kept.evolve(
        document=kept.document if text is None else text,
        metadata=extras,
        tags=tags,
        people=tuple(dict.fromkeys(person for entry in every for person in entry.people))[:MAX_PEOPLE],
        evidence=evidence,
        rating=highest.rating,
        explanation=highest.explanation if raised else kept.explanation,
        authored=any(entry.authored for entry in every),
        depth=max(entry.depth for entry in every),
    )


def _times(entries: Iterable[MemoryEntry]) -> dict[str, str]:
    """When each piece of evidence happened, as summaries store it with their list of evidence."""
    found: dict[str, str] = {}
    for entry in entries:
        written = str(entry.extras.get("evidence_times", "")).split()
        if len(written) == len(entry.evidence):
            found |= zip(entry.evidence, written, strict=True)
    return found


def _tags_left(entries: Sequence[MemoryEntry], after: MemoryEntry) -> bool:
    return len({tag for entry in entries for tag in entry.tags}) > len(after.tags)


def _resting_on(ids: set[str], others: Sequence[MemoryEntry]) -> set[str]:
    """These, and everything that rests on one of them, directly or not."""
    above: dict[str, list[str]] = {}
    for entry in others:
        for source in entry.evidence:
            above.setdefault(source, []).append(entry.id)
    found, waiting = set(ids), list(ids)
    while waiting:
        fresh = [entry_id for entry_id in above.get(waiting.pop(), []) if entry_id not in found]
        found.update(fresh)
        waiting += fresh
    return found


def _moved(entry: MemoryEntry, gone: set[str], to: str) -> MemoryEntry:
    """A memory that rested on one that goes, resting on the one that stays."""
    evidence = _renamed(entry.evidence, gone, to)
    times = _times([entry])
    extras = entry.extras
    if times:
        known = {to if source in gone and to not in times else source: at for source, at in times.items()}
        extras = extras | {"evidence_times": " ".join(known.get(source, "-") for source in evidence)}
    return entry.evolve(evidence=evidence, metadata=extras)


def _renamed(ids: Iterable[str], gone: set[str], to: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(to if entry_id in gone else entry_id for entry_id in ids))


# -- saved cues and judgments --------------------------------------------------------------------------


def renamed_texts(text_of: Callable[[str], str | None], gone: set[str], to: str) -> tuple[TextChange, ...]:
    """Saved cues and judgments with the memory that stays in place of one that goes."""
    cues_text, judged = text_of("cues"), text_of("judgments")
    cues = parse_cues(cues_text)
    judgments = parse_judgments(judged)
    after_cues = tuple(_cue(cue, gone, to) for cue in cues)
    after_judgments = tuple(_judgment(judgment, gone, to) for judgment in judgments)
    changes = []
    if after_cues != cues:
        changes.append(TextChange("cues", cues_text, dump_cues(after_cues)))
    if after_judgments != judgments:
        changes.append(TextChange("judgments", judged, dump_judgments(after_judgments)))
    return tuple(changes)


def _cue(saved: SavedCue, gone: set[str], to: str) -> SavedCue:
    must = _renamed(saved.must, gone, to)
    must_not = tuple(entry_id for entry_id in _renamed(saved.must_not, gone, to) if entry_id not in must)
    return dataclasses.replace(saved, must=must, must_not=must_not)


def _judgment(judgment: Judgment, gone: set[str], to: str) -> Judgment:
    right, wrong = _renamed(judgment.right, gone, to), _renamed(judgment.wrong, gone, to)
    if to in right and to in wrong:  # the judgment on the one that stays counts; else a right answer wins
        if to in judgment.wrong:
            right = tuple(entry_id for entry_id in right if entry_id != to)
        else:
            wrong = tuple(entry_id for entry_id in wrong if entry_id != to)
    return dataclasses.replace(judgment, right=right, wrong=wrong)
