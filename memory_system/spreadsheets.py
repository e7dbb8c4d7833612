"""Text in the cells of spreadsheets: what begins like a formula is made to be text, and is read back as it was."""

from __future__ import annotations

import re

_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""Signs with which a spreadsheet takes a cell for a formula, which may call programs and send other cells away."""
_MARK = "\u2060"
"""A word joiner: it is not seen, has no width, and is no beginning of a formula."""
THOUSANDS = re.compile(r"[+-]?\d*[1-9]\d*,\d{3}")
"""A number that is a thousand times another, by whether its comma is a decimal one."""


def as_cell(text: str) -> str:
    """A text for a cell, which no spreadsheet takes for a formula."""
    return _MARK + text if text.startswith(_BEGINNINGS) else text


def from_cell(cell: str) -> str:
    """The text that ``as_cell`` made a cell of; any other as it is, without the quotation mark that some put before."""
    return cell[1:] if cell[:1] in (_MARK, "'") and cell[1:].startswith(_BEGINNINGS) else cell


def number(cell: str) -> float:
    """The number in a cell, with a decimal point or a decimal comma.

    Raises:
        ValueError: it is none, or its comma may part thousands.
    """
    if "_" in cell or THOUSANDS.fullmatch(cell):
        raise ValueError("no number as people write it, or one of two")
    return float(cell.replace(",", ".") if cell.count(",") == 1 and "." not in cell else cell)
