"""One scale of type and one grid of distances: every style that is ours keeps to both."""

from __future__ import annotations

import re

import pytest

from dashboard.data.type_scale import SIZES, declared
from tests.sample_world import ROOT

_PROPERTY = re.compile(
    r"(?<![\w-])(font|font-size|line-height|(?:[a-z]+-)?gap|(?:padding|margin)[a-z-]*)\s*:\s*([^;{}\"'`]+)"
)
_LENGTH = re.compile(r"(?<![\w.#-])(\d*\.?\d+)(px|rem|em)(?![\w.])")
_PRESENTED = "clamp(16px,.75rem + .6vw,24px)"
"""What a presenter's page calls its own size, of which all others are parts."""
_WITHIN = re.compile(r"\"\s*\n\s*f?\"")
"""Where a style goes on in the next line of a Python file."""
STYLED = ("<style>", "style='", "_STYLE")


def strays(text: str) -> list[str]:
    """What keeps neither to the sizes of type nor to the grid: of a style, or of the styles within Python."""
    return [
        f"{name}: {value.strip()}" for name, value in _PROPERTY.findall(_WITHIN.sub("", text)) if stray(name, value)
    ]


def stray(name: str, value: str) -> bool:
    """Whether the value of a property is a size, a line or a distance of its own."""
    if value.startswith(("inherit", _PRESENTED)):
        return False
    if name in ("font", "font-size") and "var(--type-" not in value:
        return True
    if name == "line-height" and "var(" not in value and not _LENGTH.search(value):
        return True
    return not all(number == "0" or on_grid(float(number), unit) for number, unit in _LENGTH.findall(value))


def on_grid(number: float, unit: str) -> bool:
    """Whether a length is of two pixels, or of whole fours."""
    pixels = number * {"px": 1, "rem": 16, "em": float("nan")}[unit]
    return pixels == 2 or pixels % 4 == 0


def test_no_style_has_a_size_or_a_distance_of_its_own() -> None:
    found = {
        str(file.relative_to(ROOT)): strays(text)
        for kind in ("css", "py")
        for file in (ROOT / "dashboard").rglob(f"*.{kind}")
        if any(mark in (text := file.read_text(encoding="utf-8")) for mark in STYLED) or kind == "css"
    }
    assert len(found) > 15, "they are found"
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    "style",
    [
        "font-size: 13px",
        "font: 14px/20px serif",
        "padding: 8px 9px",
        "gap: .3rem",
        "line-height: 1.4",
        "margin: 0 .5em",
    ],
)
def test_a_stray_size_is_noticed(style: str) -> None:
    assert strays(f"a {{ {style}; color: red }}") == [style]


def test_few_sizes_are_declared_with_lines_on_the_grid() -> None:
    assert len(SIZES) <= 5
    assert all(line % 4 == 0 and 1.2 < line / size <= 1.5 for size, line in SIZES.values())
    for fixed, one in ((True, "14px"), (False, "0.875rem")):
        assert f"--type-text:{one};" in declared(":root", fixed=fixed)
