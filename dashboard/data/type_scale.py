"""The font sizes of everything of ours, with their line heights: five, defined only here.

A style names one as ``var(--type-small)`` and its line as ``var(--type-small-line)``. Distances are of 2 pixels or
multiples of four, lines are multiples of four; a test checks all styles for both. Imports no streamlit.
"""

from __future__ import annotations

SIZES = {"small": (12, 16), "text": (14, 20), "read": (16, 24), "lead": (20, 28), "title": (28, 36)}
"""A size's name, font size and line height in pixels: notes, lists, prose, headings of a part and of a page."""
_ROOT = 16


def declared(where: str, *, fixed: bool = False) -> str:
    """A rule that declares the sizes as custom properties.

    Args:
        where: the selector that gets them.
        fixed: whether in pixels, as components draw themselves, or else relative to the browser's own size.
    """
    properties = (
        f"--type-{name}:{_length(size, fixed=fixed)};--type-{name}-line:{_length(line, fixed=fixed)}"
        for name, (size, line) in SIZES.items()
    )
    return f"{where}{{{';'.join(properties)}}}"


def _length(pixels: int, *, fixed: bool) -> str:
    return f"{pixels}px" if fixed else f"{pixels / _ROOT:g}rem"
