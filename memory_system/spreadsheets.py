"""Text in the cells of spreadsheets: what begins like a formula is made to be text, and is read back as it was."""

from __future__ import annotations

_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""Signs with which a spreadsheet takes a cell for a formula, which may call programs and send other cells away."""
_MARK = "\u2060"
"""A word joiner: it is not seen, has no width, and is no beginning of a formula."""


def as_cell(text: str) -> str:
    """A text for a cell, which no spreadsheet takes for a formula."""
    return _MARK + text if text.startswith(_BEGINNINGS) else text


def from_cell(cell: str) -> str:
    """The text that ``as_cell`` made a cell of; any other as it is, without the quotation mark that some put before."""
    return cell[1:] if cell[:1] in (_MARK, "'") and cell[1:].startswith(_BEGINNINGS) else cell
