"""The sizes of letters of all that is ours, with the heights of their lines: five, which stand here alone.

A style names one as ``var(--type-small)`` and its line as ``var(--type-small-line)``. Distances are of 2 pixels or
whole fours, lines of whole fours; a test reads all styles for both. Imports no streamlit.
"""

from __future__ import annotations

SIZES = {"small": (12, 16), "text": (14, 20), "read": (16, 24), "lead": (20, 28), "title": (28, 36)}
"""What a size is called, its letters and its lines in pixels: notes, lists, prose, headings of a part and of a page."""
_ROOT = 16


def declared(where: str, *, fixed: bool = False) -> str:
    """A rule that declares the sizes as custom properties.

    Args:
        where: the selector that has them.
        fixed: whether in pixels, as a component draws itself, or else as parts of what a browser calls its own size.
    """
    told = (
        f"--type-{name}:{_length(size, fixed=fixed)};--type-{name}-line:{_length(line, fixed=fixed)}"
        for name, (size, line) in SIZES.items()
    )
    return f"{where}{{{';'.join(told)}}}"


def _length(pixels: int, *, fixed: bool) -> str:
    return f"{pixels}px" if fixed else f"{pixels / _ROOT:g}rem"
