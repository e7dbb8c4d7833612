"""Words from right to left in the midst of English sentences: they turn nothing that stands beside them."""

import pytest

from dashboard.components import widgets

BEGUN, ENDED = "\u2067", "\u2069"
LAYLA, NOA = "ليلى حداد", "נועה לוי"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Edda Marsh and 2 more", "Edda Marsh and 2 more"),
        (LAYLA, f"{BEGUN}{LAYLA}{ENDED}"),
        (f"Heard by {LAYLA}, {NOA} and 2 more", f"Heard by {BEGUN}{LAYLA}{ENDED}, {BEGUN}{NOA}{ENDED} and 2 more"),
        (f"رأيت Tobias مع {LAYLA} عند 7", f"{BEGUN}رأيت Tobias مع {LAYLA} عند 7{ENDED}"),
        ("Asked for בית-ספר by name", f"Asked for {BEGUN}בית\\-ספר{ENDED} by name"),
        (f"{ENDED}Asked {LAYLA}", f"Asked {BEGUN}{LAYLA}{ENDED}"),
    ],
)
def test_words_from_right_to_left_turn_nothing_beside_them(written: str, shown: str) -> None:
    assert widgets.plain(written) == shown
