"""Many memories changed together: tags, importance, kind, pins. Plans, and writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from .changes import Change, Kept, short
from .consolidation.ground import bare
from .curation import PROTECTED, elsewhere, listed
from .entry import MemoryEntry
from .errors import EntryNotFound, InvalidEntry, InvalidParameter, shown

FIELDS = ("kind", "rating", "explanation", "tags", "pinned", "authored", "protected")
"""What can be set for many memories at once."""
_VERBS = {
    "pinned": ("unpin", "pin"),
    "protected": ("unprotect", "protect"),
    "authored": ("take the mark “by a person” off", "mark “by a person”"),
}
_BY_HAND = "Rated by hand."

Find = Callable[[str], MemoryEntry | None]


def unchangeable(entry: MemoryEntry, fields: Collection[str]) -> str | None:
    """Why these fields of a memory may not be changed, in a sentence; ``None`` if they may."""
    if (why := elsewhere(entry)) is not None:
        return why
    return PROTECTED if entry.protected and set(fields) != {"protected"} else None


def changes(
    find: Find,
    ids: str | Sequence[str],
    add_tags: str | Sequence[str],
    remove_tags: str | Sequence[str],
    fields: Mapping[str, Any],
) -> tuple[list[Change], list[Kept], str]:
    """The change of each memory, those that are left alone and why, and what is done, in words for a title.

    Raises:
        EntryNotFound: there is no memory of an id.
        InvalidParameter: a field that cannot be set for many, or the same tag is to be added and removed.
        InvalidEntry: a value that cannot be taken; the message says of which memory.
    """
    adding, removing = _tags("add_tags", add_tags), _tags("remove_tags", remove_tags)
    if both := sorted(set(adding) & set(removing)):
        raise InvalidParameter(f"The tag {shown(both[0])} cannot be added and removed at once.")
    if unknown := sorted(set(fields) - set(FIELDS)):
        raise InvalidParameter(
            f"{unknown[0]!r} cannot be set for many memories; add_tags, remove_tags, {', '.join(FIELDS)} can."
        )
    done: list[Change] = []
    kept: list[Kept] = []
    words = _words(adding, removing, fields)
    wanted = {*fields, *(("tags",) if adding or removing else ())}
    for entry_id in listed(ids):
        entry = find(entry_id)
        if entry is None:
            raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
        if (why := unchangeable(entry, wanted)) is not None:
            kept.append(Kept(entry_id, why))
            continue
        before = bare(entry)
        after = _changed(before, adding, removing, fields)
        if after == before:
            kept.append(Kept(entry_id, "It is so already."))
        else:
            done.append(Change(before, after, f"Changed together with others: {words}."))
    return done, kept, words


def _tags(name: str, given: str | Sequence[str]) -> list[str]:
    try:
        tags = [tag.strip() for tag in listed(given)]
    except InvalidParameter as error:
        raise InvalidParameter(f"'{name}' must be a text or a list of texts.") from error
    if not all(tags):
        raise InvalidParameter(f"'{name}' holds an empty tag.")
    return list(dict.fromkeys(tags))


def _changed(
    before: MemoryEntry, adding: Sequence[str], removing: Sequence[str], fields: Mapping[str, Any]
) -> MemoryEntry:
    wanted = dict(fields)
    if "rating" in wanted and "explanation" not in wanted and wanted["rating"] != before.rating:
        wanted["explanation"] = "" if wanted["rating"] is None else _BY_HAND
    if adding or removing:
        # a list of anything else is refused by the entry itself, in its words
        held = wanted.get("tags", before.tags)
        if isinstance(held, list | tuple):
            wanted["tags"] = (
                *(tag for tag in held if tag not in removing),
                *(tag for tag in adding if tag not in held),
            )
    try:
        return before.evolve(**wanted)
    except InvalidEntry as error:
        raise InvalidEntry(f"“{short(before.document)}” cannot be changed so. {error.sentence}") from error


def _words(adding: Sequence[str], removing: Sequence[str], fields: Mapping[str, Any]) -> str:
    parts = [f"add tag “{short(tag)}”" for tag in adding]
    parts += [f"remove tag “{short(tag)}”" for tag in removing]
    for name, value in fields.items():
        if name in _VERBS and isinstance(value, bool):
            parts.append(_VERBS[name][value])
        elif name == "rating":
            parts.append("take the rating off" if value is None else f"importance {shown(value)} of 10")
        else:
            parts.append(f"set the {name}")
    return ", ".join(parts) or "nothing"
