"""Words from right to left in the midst of English sentences: they turn nothing that stands beside them."""

import pytest

from dashboard.components import widgets
from dashboard.data import tables

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


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"{LAYLA} met me at the mill", f"{BEGUN}{LAYLA}{ENDED} met me at the mill"),
        (f"“{NOA} asked  me”", f"“{BEGUN}{NOA}{ENDED} asked me”"),
        (f"رأيت Tobias مع {LAYLA} عند 7", f"رأيت Tobias مع {LAYLA} عند 7"),
        (f"{LAYLA}, {NOA}", f"{LAYLA}, {NOA}"),
    ],
)
def test_a_sentence_that_begins_with_a_name_from_right_to_left_is_not_turned(written: str, shown: str) -> None:
    assert tables.reading(written) == shown
