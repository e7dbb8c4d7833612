"""Times of day."""

from __future__ import annotations

import pytest

from memory_system.core.times import hour_of_day


@pytest.mark.parametrize(
    ("hour", "half", "of_day"),
    [
        (12, "am", 0),
        (1, "a", 1),
        (11, "A.M.", 11),
        (12, "pm", 12),
        (1, "p.m.", 13),
        (9, "P", 21),
        (9, None, 9),
        (15, "", 15),
    ],
)
def test_an_hour_of_half_a_day_becomes_one_of_the_day(hour: int, half: str | None, of_day: int) -> None:
    assert hour_of_day(hour, half) == of_day
