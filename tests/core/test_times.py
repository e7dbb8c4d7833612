"""Times of day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from memory_system.core.times import hour_of_day, in_zone, stamp


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


def test_a_time_beside_another_is_shown_in_the_zone_of_that() -> None:
    eastern, western = (datetime(2026, 3, 28, 9, tzinfo=timezone(timedelta(hours=far))) for far in (12, -12))
    evening = datetime(2026, 3, 27, 18, tzinfo=UTC)
    assert stamp(evening) == "Fri 27 Mar 2026, 18:00 UTC"
    assert stamp(evening, eastern) == "Sat 28 Mar 2026, 06:00 UTC+12:00"
    assert stamp(evening, western) == "Fri 27 Mar 2026, 06:00 UTC-12:00"
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)
    assert (in_zone(first, western.tzinfo), in_zone(last, eastern.tzinfo)) == (first, last)


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        (UTC, "UTC"),
        (timezone(timedelta(hours=-3, minutes=-30)), "UTC-03:30"),
        (ZoneInfo("Europe/Berlin"), "CET"),
        (ZoneInfo("America/Argentina/Buenos_Aires"), "UTC-03:00"),
        (ZoneInfo("Asia/Kathmandu"), "UTC+05:45"),
    ],
)
def test_a_zone_without_letters_is_shown_by_its_distance(zone: tzinfo, shown: str) -> None:
    assert stamp(datetime(2026, 1, 5, 9, tzinfo=zone)) == f"Mon 5 Jan 2026, 09:00 {shown}"
