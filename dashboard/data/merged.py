"""What two people have changed: the list with the changes of both, and where two texts differ. No streamlit."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import tables


@dataclass(frozen=True)
class _Edit:
    """A change of a list: the items from ``start`` to ``end`` become those of ``new``, which are JSON texts."""

    start: int
    end: int
    new: tuple[str, ...]

    def conflicts(self, other: _Edit) -> bool:
        """Whether both change the same items; two insertions at one place do not conflict."""
        return self != other and self.start < other.end and other.start < self.end


def lists(base: Sequence[Any], mine: Sequence[Any], theirs: Sequence[Any]) -> list[Any] | None:
    """The list with the changes of both; ``None`` if both have changed the same item.

    Args:
        base: the list before both.
        mine: the list as one has changed it.
        theirs: the list as the other has; of what both add at one place, theirs comes first.
    """
    keys = _keys(base)
    ours, others = _edits(keys, _keys(mine)), _edits(keys, _keys(theirs))
    if any(one.conflicts(other) for one in ours for other in others):
        return None
    added = {edit.start: edit.new for edit in others if edit.start == edit.end}
    merged, place = list[str](), 0
    # a stable sort: at one place theirs come first, and an insertion comes before a change of the item behind it
    for edit in sorted([*others, *(one for one in ours if one not in others)], key=lambda one: (one.start, one.end)):
        merged += keys[place : edit.start]
        theirs_here = () if edit in others or edit.start < edit.end else added.get(edit.start, ())
        merged += [key for key in edit.new if key not in theirs_here]
        place = edit.end
    return [json.loads(key) for key in merged + keys[place:]]


def _keys(items: Sequence[Any]) -> list[str]:
    return [json.dumps(item, ensure_ascii=False) for item in items]


def _edits(before: Sequence[str], after: Sequence[str]) -> list[_Edit]:
    codes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [_Edit(i, j, tuple(after[k:m])) for what, i, j, k, m in codes if what != "equal"]


def apart(one: str, other: str, most: int) -> tuple[str, str]:
    """Two texts on a line each, of at most ``most`` characters, cut so that the first difference is visible."""
    one, other = tables.visible(one), tables.visible(other)
    pairs = enumerate(zip(one, other, strict=False))
    same = next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
    start = same - most // 3 if max(len(one), len(other)) > most else 0
    if start <= 0:
        return tables.short(one, most), tables.short(other, most)
    start = one.find(" ", start, same) + 1 or start
    return f"…{tables.short(one[start:], most - 1)}", f"…{tables.short(other[start:], most - 1)}"
