"""What changed in a personality, part by part, as its form names the parts. No streamlit."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memory_system.core import TextChange

from . import tables
from .diffs import FieldChange

LABELS = {
    "traits": "Traits",
    "long_term_goals": "Long-term goals",
    "societal_rules": "Rules of society",
    "facts": "Other facts",
    "relationships": "Relationships",
    "environment": "Places",
    "routine": "Daily routine (HH:MM)",
}
"""The labels of the parts that are lists, by their stored names."""
_CALLED = {"relationships": "name", "environment": "place", "routine": "time"}
"""By what a row of a part is told from its other rows."""


def of_personality(change: TextChange) -> list[FieldChange]:
    """The parts that differ, before and after; empty for other texts, for one that is no JSON object, and for none."""
    if change.name != "personality":
        return []
    was, became = _read(change.before), _read(change.after)
    if was is None or became is None:
        return []
    return [
        FieldChange(*(tables.visible(text) for text in found))
        for part in dict.fromkeys([*was, *became])
        for found in _of_part(part, was.get(part), became.get(part))
    ]


def called(part: str) -> str:
    """The label of a part, or of a field of the identity."""
    return LABELS.get(part) or part.replace("_", " ").capitalize()


def _read(text: str | None) -> dict[str, Any] | None:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _of_part(part: str, was: Any, became: Any) -> Iterator[tuple[str, str, str]]:
    if was == became:
        return
    both = [end for end in (was, became) if end is not None]
    if part == "identity" and all(isinstance(end, dict) for end in both):
        yield from _of_fields("", was or {}, became or {})
    elif all(isinstance(end, list) for end in both):
        yield from _of_list(part, was or [], became or [])
    else:
        yield called(part), _shown(was), _shown(became)


def _of_fields(of: str, was: Mapping[str, Any], became: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The fields that differ, named after what they are ``of``."""
    for name in dict.fromkeys([*was, *became]):
        if was.get(name) != became.get(name):
            yield f"{of}, {name}" if of else called(name), _shown(was.get(name)), _shown(became.get(name))


def _of_list(part: str, was: Sequence[Any], became: Sequence[Any]) -> Iterator[tuple[str, str, str]]:
    """The items that differ, each with what takes its place; of a row that is still there, its fields."""
    by = _CALLED.get(part, "")
    before, after = _by_name(was, by), _by_name(became, by)
    kept = before.keys() & after.keys()
    for name in before:
        if name in kept:
            yield from _of_fields(f"{called(part)}, {name}", before[name], after[name])
    if sorted(map(_shown, was)) == sorted(map(_shown, became)):
        yield called(part), "in another order", "in this order"
        return
    left, right = ([item for item in end if not _is_kept(item, by, kept)] for end in (was, became))
    one, two = [*map(_shown, left)], [*map(_shown, right)]
    for what, i, j, k, m in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        for at in range(max(j - i, m - k) if what != "equal" else 0):
            yield called(part), one[i + at] if i + at < j else "", two[k + at] if k + at < m else ""


def _by_name(rows: Sequence[Any], by: str) -> dict[str, Mapping[str, Any]]:
    """The rows by their names; none where two have the same one."""
    named: dict[str, Mapping[str, Any]] = {str(row[by]): row for row in rows if isinstance(row, dict) and by in row}
    return named if len(named) == len(rows) else {}


def _is_kept(item: Any, by: str, kept: Any) -> bool:
    return isinstance(item, dict) and str(item.get(by)) in kept


def _shown(value: Any) -> str:
    """A value in words: of a row, its fields."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return ", ".join(_shown(inner) for inner in value.values())
    if isinstance(value, list):
        return "; ".join(map(_shown, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
