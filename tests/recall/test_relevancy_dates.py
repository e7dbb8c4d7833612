"""The times that a text names, counted from a Wednesday afternoon."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_system.recall.hybrid import Cue
from memory_system.recall.hybrid.dates import MOST_READ, mentions_time, stretches

NOW = datetime(2023, 10, 18, 15, 30, tzinfo=UTC)


def days(text: str, now: datetime = NOW) -> list[tuple[str, str]]:
    """The first and the last day of every stretch."""
    return [
        (
            datetime.fromtimestamp(one.start, now.tzinfo).date().isoformat(),
            (datetime.fromtimestamp(one.end, now.tzinfo) - timedelta(days=1)).date().isoformat(),
        )
        for one in stretches(text, now)
    ]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("yesterday", "2023-10-17", "2023-10-17"),
        ("the day before yesterday", "2023-10-16", "2023-10-16"),
        ("What happened today?", "2023-10-18", "2023-10-18"),
        ("tonight", "2023-10-18", "2023-10-18"),
        ("tomorrow", "2023-10-19", "2023-10-19"),
        ("last night", "2023-10-17", "2023-10-17"),
        ("this morning", "2023-10-18", "2023-10-18"),
        ("last Tuesday", "2023-10-17", "2023-10-17"),
        ("last Wednesday", "2023-10-11", "2023-10-11"),
        ("on Sunday", "2023-10-15", "2023-10-15"),
        ("this Friday", "2023-10-20", "2023-10-20"),
        ("next Wednesday", "2023-10-25", "2023-10-25"),
        ("last week", "2023-10-09", "2023-10-15"),
        ("this week", "2023-10-16", "2023-10-22"),
        ("next week", "2023-10-23", "2023-10-29"),
        ("last weekend", "2023-10-13", "2023-10-15"),
        ("last month", "2023-09-01", "2023-09-30"),
        ("next month", "2023-11-01", "2023-11-30"),
        ("this year", "2023-01-01", "2023-12-31"),
        ("last year", "2022-01-01", "2022-12-31"),
        ("last summer", "2023-06-01", "2023-08-31"),
        ("last winter", "2022-12-01", "2023-02-28"),
        ("last autumn", "2022-09-01", "2022-11-30"),
        ("summer of 2022", "2022-06-01", "2022-08-31"),
        ("winter 2022", "2022-12-01", "2023-02-28"),
        ("in May 2023", "2023-05-01", "2023-05-31"),
        ("December 2022", "2022-12-01", "2022-12-31"),
        ("in May", "2023-05-01", "2023-05-31"),
        ("in November", "2022-11-01", "2022-11-30"),
        ("last December", "2022-12-01", "2022-12-31"),
        ("in March", "2023-03-01", "2023-03-31"),
        ("on May 3, 2023", "2023-05-03", "2023-05-03"),
        ("on 3 May 2023", "2023-05-03", "2023-05-03"),
        ("the 3rd of May", "2023-05-03", "2023-05-03"),
        ("Aug 15th", "2023-08-15", "2023-08-15"),
        ("on December 24", "2022-12-24", "2022-12-24"),
        ("2023-05-03", "2023-05-03", "2023-05-03"),
        ("2023-05", "2023-05-01", "2023-05-31"),
        ("in 2019", "2019-01-01", "2019-12-31"),
        ("three days ago", "2023-10-15", "2023-10-15"),
        ("a few days ago", "2023-10-15", "2023-10-15"),
        ("two weeks ago", "2023-10-01", "2023-10-07"),
        ("a couple of months ago", "2023-08-01", "2023-08-31"),
        ("3 years ago", "2020-01-01", "2020-12-31"),
        ("in the last three days", "2023-10-15", "2023-10-18"),
    ],
)
def test_words_for_a_time_become_their_days(text: str, first: str, last: str) -> None:
    assert days(text) == [(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I may go",
        "They march on",
        "31 April 2023",
        "2023-13-01",
        "Jan said so",
        "a 2x4",
        "No 12345",
        "\u200fx",
        "5000 years ago",
    ],
)
def test_what_is_no_time_becomes_none(text: str) -> None:
    assert days(text) == []


@pytest.mark.parametrize(
    ("cue", "counting"),
    [
        ("Who broke her leg one year ago?", {"broke", "leg", "one", "year", "ago"}),
        ("What was stolen last week?", {"stolen", "last", "week"}),
        ("What was stolen in May 2023?", {"stolen"}),
        ("What was stolen on 7 May?", {"stolen"}),
    ],
)
def test_a_time_that_counts_from_now_keeps_its_words_and_a_calendar_date_does_not(cue: str, counting: set[str]) -> None:
    read = Cue.read(cue, NOW)
    assert len(read.asked) == 1
    assert {word.written for word in read.words} == counting


def test_several_times_stand_in_the_order_of_the_text() -> None:
    found = stretches("Yesterday, and in May 2022, and on 1 June 2021", NOW)
    assert [one.words for one in found] == ["Yesterday", "May 2022", "1 June 2021"]


def test_days_begin_at_the_midnight_of_the_zone_of_now() -> None:
    east = timezone(timedelta(hours=9))
    late = datetime(2023, 10, 18, 20, 0, tzinfo=UTC).astimezone(east)  # already the 19th there
    assert days("yesterday", late) == [("2023-10-18", "2023-10-18")]


def test_only_the_head_of_a_long_text_is_read() -> None:
    assert stretches("x " * MOST_READ + "yesterday", NOW) == ()


def test_stretches_that_only_touch_do_not_overlap() -> None:
    day, day_before, week = stretches("yesterday, the day before yesterday, this week", NOW)
    assert day.overlaps(week)
    assert week.overlaps(day)
    assert not day.overlaps(day_before)
    assert not day_before.overlaps(day)


@pytest.mark.parametrize("text", ["I went last week", "on Friday", "back in 2019", "recently"])
def test_a_text_that_says_when_is_known(text: str) -> None:
    assert mentions_time(text)


@pytest.mark.parametrize("text", ["I may fall", "they march", "nothing", "it cost 3000"])
def test_a_text_that_does_not_say_when_is_known(text: str) -> None:
    assert not mentions_time(text)


@given(st.text(max_size=200), st.datetimes(timezones=st.just(UTC)))
def test_any_text_at_any_time_is_read_without_failing(text: str, now: datetime) -> None:
    for one in stretches(text + " three years ago, next month, last winter", now):
        assert one.start < one.end
