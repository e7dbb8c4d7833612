"""Merging: several memories become one, and what rested on the others rests on it. Plans, and writes nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from .bulk import Find, unchangeable
from .changes import Change, Kept, TextChange, short
from .consolidation.ground import bare
from .cues import Judgment, SavedCue, dump_cues, dump_judgments, parse_cues, parse_judgments
from .entry import MemoryEntry
from .errors import Conflict, EntryNotFound, Immutable, InvalidParameter, shown
from .kinds import MAX_TAGS

MOST_MERGED = 1_000


def merged(
    find: Find, ids: Sequence[str], keep: str | None, text: str | None, all_entries: Iterable[MemoryEntry]
) -> tuple[list[Change], list[Kept], list[str]]:
    """The changes that make one memory of several, what is left alone and why, and what could not be kept.

    Raises:
        EntryNotFound, Immutable: there is no memory of an id, or it is protected or a fact of the personality.
        InvalidParameter: fewer than two memories, more than 1,000, or the one to keep is not among them.
        InvalidEntry: the text cannot be one.
        Conflict: one that would go is pinned.
    """
    entries = _chosen(find, ids)
    wanted = ids[0] if keep is None else keep
    kept = next((entry for entry in entries if entry.id == wanted), None)
    if kept is None:
        raise InvalidParameter(f"The memory to keep, {shown(wanted)}, is not among those to merge.")
    going = [entry for entry in entries if entry is not kept]
    if pinned := [entry for entry in going if entry.pinned]:
        raise Conflict(
            f"“{short(pinned[0].document)}” is pinned, and a pinned memory is never forgotten: "
            "keep that one, or unpin it first."
        )
    gone = {entry.id for entry in going}
    others = [entry for entry in all_entries if entry.id not in gone | {kept.id}]
    after = _united(kept, going, text, _resting_on(gone | {kept.id}, others))
    notes = [f"It has {MAX_TAGS} tags; no more are taken."] if _tags_left(entries, after) else []
    count = f"{len(going)} other{'s' if len(going) != 1 else ''}"
    changes = [Change(kept, after, f"Merged with {count}.")] if after != kept else []
    changes += [Change(entry, None, f"Merged into “{short(after.document)}”; it can be restored.") for entry in going]
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
            raise Immutable(f"“{short(entry.document)}” cannot be merged. {why}")
        entries.append(bare(entry))
    return entries


def _united(kept: MemoryEntry, going: Sequence[MemoryEntry], text: str | None, resting: set[str]) -> MemoryEntry:
    """The one that stays, with the tags and evidence of all, and the importance of the most important."""
    every = (kept, *going)
    highest = max(every, key=lambda entry: entry.rating or 0)
    tags = tuple(dict.fromkeys(tag for entry in every for tag in entry.tags))[:MAX_TAGS]
    # nothing that rests on one of these can be what they rest on
    sources = [one for entry in every for one in entry.evidence if one not in resting]
    evidence = tuple(dict.fromkeys(sources))
    times = _times(every) if "evidence_times" in kept.extras else {}
    extras = kept.extras
    if times:
        extras = extras | {"evidence_times": " ".join(times.get(one, "-") for one in evidence)}
    raised = highest is not kept and highest.rating != kept.rating
    return kept.evolve(
        document=kept.document if text is None else text,
        metadata=extras,
        tags=tags,
        evidence=evidence,
        rating=highest.rating,
        explanation=highest.explanation if raised else kept.explanation,
        authored=any(entry.authored for entry in every),
        depth=max(entry.depth for entry in every),
    )


def _times(entries: Iterable[MemoryEntry]) -> dict[str, str]:
    """When each piece of evidence happened, as summaries keep it beside their list of evidence."""
    found: dict[str, str] = {}
    for entry in entries:
        written = str(entry.extras.get("evidence_times", "")).split()
        if len(written) == len(entry.evidence):
            found |= zip(entry.evidence, written, strict=True)
    return found


def _tags_left(entries: Sequence[MemoryEntry], after: MemoryEntry) -> bool:
    return len({tag for entry in entries for tag in entry.tags}) > len(after.tags)


def _resting_on(ids: set[str], others: Sequence[MemoryEntry]) -> set[str]:
    """These, and all that rests on one of them, through however many."""
    above: dict[str, list[str]] = {}
    for entry in others:
        for source in entry.evidence:
            above.setdefault(source, []).append(entry.id)
    found, waiting = set(ids), list(ids)
    while waiting:
        fresh = [one for one in above.get(waiting.pop(), []) if one not in found]
        found.update(fresh)
        waiting += fresh
    return found


def _moved(entry: MemoryEntry, gone: set[str], to: str) -> MemoryEntry:
    """A memory that rested on one that goes, resting on the one that stays."""
    evidence = _renamed(entry.evidence, gone, to)
    times = _times([entry])
    extras = entry.extras
    if times:
        known = {to if one in gone and to not in times else one: at for one, at in times.items()}
        extras = extras | {"evidence_times": " ".join(known.get(one, "-") for one in evidence)}
    return entry.evolve(evidence=evidence, metadata=extras)


def _renamed(ids: Iterable[str], gone: set[str], to: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(to if one in gone else one for one in ids))


# -- saved cues and judgments --------------------------------------------------------------------------


def renamed_texts(text_of: Callable[[str], str | None], gone: set[str], to: str) -> tuple[TextChange, ...]:
    """Saved cues and judgments that name a memory which goes, naming the one that stays."""
    held, judged = text_of("cues"), text_of("judgments")
    cues = parse_cues(held)
    judgments = parse_judgments(judged)
    after_cues = tuple(_cue(one, gone, to) for one in cues)
    after_judgments = tuple(_judgment(one, gone, to) for one in judgments)
    changes = []
    if after_cues != cues:
        changes.append(TextChange("cues", held, dump_cues(after_cues)))
    if after_judgments != judgments:
        changes.append(TextChange("judgments", judged, dump_judgments(after_judgments)))
    return tuple(changes)


def _cue(saved: SavedCue, gone: set[str], to: str) -> SavedCue:
    must = _renamed(saved.must, gone, to)
    must_not = tuple(one for one in _renamed(saved.must_not, gone, to) if one not in must)
    return dataclasses.replace(saved, must=must, must_not=must_not)


def _judgment(judgment: Judgment, gone: set[str], to: str) -> Judgment:
    right, wrong = _renamed(judgment.right, gone, to), _renamed(judgment.wrong, gone, to)
    if to in right and to in wrong:  # what was said of the one that stays holds; else that it is a right answer
        if to in judgment.wrong:
            right = tuple(one for one in right if one != to)
        else:
            wrong = tuple(one for one in wrong if one != to)
    return dataclasses.replace(judgment, right=right, wrong=wrong)
