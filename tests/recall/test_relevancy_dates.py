"""The times that a text names, counted from a Wednesday afternoon."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

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
        ("tomorrow", "2023-10-19", "2023-10-19"),
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
    ("text", "begins", "ends"),
    [
        ("this morning", "18 04:00", "18 12:00"),
        ("this afternoon", "18 12:00", "18 18:00"),
        ("tonight", "18 17:00", "19 06:00"),
        ("last night", "17 18:00", "18 06:00"),
        ("last evening", "17 17:00", "18 00:00"),
        ("tomorrow morning", "19 04:00", "19 12:00"),
        ("yesterday evening", "17 17:00", "18 00:00"),
        ("on Monday night", "16 18:00", "17 06:00"),
        ("last Tuesday  afternoon", "17 12:00", "17 18:00"),
        ("on 3 October in the evening", "03 17:00", "04 00:00"),
        ("the evening of 3 October", "03 17:00", "04 00:00"),
        ("the morning of the 3rd of October", "03 04:00", "03 12:00"),
        ("2023-10-03, at night", "03 18:00", "04 06:00"),
        ("two days ago in the morning", "16 04:00", "16 12:00"),
        ("an hour ago", "18 14:00", "18 15:00"),
        ("half an hour ago", "18 14:30", "18 15:30"),
        ("two hours ago", "18 13:00", "18 14:00"),
        ("a few hours ago", "18 11:00", "18 14:00"),
        ("eight hours ago", "18 05:30", "18 09:30"),
        ("20 minutes ago", "18 15:00", "18 15:20"),
        ("in the last hour", "18 14:30", "18 15:31"),
        ("yesterday at 14:00", "17 13:30", "17 14:30"),
        ("at 3 pm yesterday", "17 14:30", "17 15:30"),
        ("around 14:00 on Monday", "16 13:30", "16 14:30"),
        ("in the evening yesterday", "17 17:00", "18 00:00"),
        ("this morning at 9:00", "18 08:30", "18 09:30"),
        ("last night at 11 pm", "17 22:30", "17 23:30"),
        ("last night at 1:30", "18 01:00", "18 02:00"),
        ("yesterday evening, at 9:00", "17 20:30", "17 21:30"),
        ("last night at 13:00", "17 18:00", "18 06:00"),
        ("at 8:15 this morning", "18 07:45", "18 08:45"),
        ("last Tuesday around 3 pm", "17 14:30", "17 15:30"),
        ("on 3 October at 9 o'clock", "03 08:30", "03 09:30"),
        ("3 October 2023, 16:45", "03 16:15", "03 17:15"),
        ("2023-10-03T16:45:00", "03 16:15", "03 17:15"),
        ("today from 9:00 to 11:30", "18 09:00", "18 11:30"),
        ("yesterday 10am-1pm", "17 10:00", "17 13:00"),
        ("Tuesday 23:00 to 1:00", "17 23:00", "18 01:00"),
        ("the past three hours", "18 12:30", "18 15:31"),
        ("0 hours ago", "18 15:00", "18 15:31"),
        ("yesterday around 3 p.m.", "17 14:30", "17 15:30"),
        ("on 3 October at 9 o’clock", "03 08:30", "03 09:30"),
        ("Tuesday 4-5 pm", "17 16:00", "17 17:00"),
        ("yesterday between 11 and 1 pm", "17 11:00", "17 13:00"),
        ("Tuesday 10 to 2 am", "17 22:00", "18 02:00"),
        ("twenty minutes ago", "18 15:00", "18 15:20"),
        ("thirty-five minutes ago", "18 14:37", "18 15:12"),
        ("an hour and a half ago", "18 13:30", "18 14:30"),
        ("one and a half hours ago", "18 13:30", "18 14:30"),
        ("in the last twenty-four hours", "17 15:30", "18 15:31"),
        ("yesterday at noon", "17 11:30", "17 12:30"),
        ("around midday on Monday", "16 11:30", "16 12:30"),
        ("last night around midnight", "17 23:30", "18 00:30"),
        ("yesterday from noon to 2 pm", "17 12:00", "17 14:00"),
        ("yesterday at half past nine", "17 09:00", "17 10:00"),
        ("yesterday at half past three", "17 15:00", "17 16:00"),
        ("last night at half past one", "18 01:00", "18 02:00"),
        ("a quarter to five pm yesterday", "17 00:00", "18 00:00"),
        ("yesterday at a quarter to five", "17 16:15", "17 17:15"),
        ("yesterday evening at quarter past 8", "17 19:45", "17 20:45"),
        ("yesterday at three o'clock", "17 14:30", "17 15:30"),
        ("yesterday at 20 o'clock", "17 19:30", "17 20:30"),
        ("this morning at 9?", "18 08:30", "18 09:30"),
        ("last night, at eleven.", "17 22:30", "17 23:30"),
        ("at 8 yesterday evening", "17 19:30", "17 20:30"),
        ("at eight this morning", "18 07:30", "18 08:30"),
        ("this morning at 9 houses", "18 04:00", "18 12:00"),
        ("this morning nine", "18 04:00", "18 12:00"),
        ("yesterday ten to twelve people came", "17 00:00", "18 00:00"),
    ],
)
def test_a_part_of_a_day_and_hours_before_now_are_read(text: str, begins: str, ends: str) -> None:
    (one,) = stretches(text, NOW + timedelta(seconds=40))  # the minute counts
    meant = one.narrowed
    assert [f"{datetime.fromtimestamp(at, UTC):%d %H:%M}" for at in (meant.start, meant.end)] == [begins, ends]
    assert one.start <= meant.start < meant.end <= one.end
    assert one.words == " ".join(text[slice(*one.place)].split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("last night", ["last night"]),
        ("yesterday evening at 8 pm", ["yesterday"]),
        ("on 3 October at 9:00", ["3 October"]),
        ("in the last hour", []),
        ("two hours ago and the past three minutes", []),
    ],
)
def test_where_only_days_are_asked_for_hours_are_left_out(text: str, words: list[str]) -> None:
    found = stretches(text, NOW, hours=False)
    assert [one.words for one in found] == words
    assert all(one.part is None and one.end - one.start == 24 * 3600 for one in found)


@pytest.mark.parametrize(
    ("text", "begins"), [("tonight", 17), ("this evening", 17), ("last night", 18), ("this Wednesday evening", 41)]
)
def test_in_the_small_hours_the_evening_is_the_one_just_over(text: str, begins: int) -> None:
    (one,) = stretches(text, datetime(2023, 10, 18, 1, 30, tzinfo=UTC))
    day_before = datetime(2023, 10, 17, tzinfo=UTC)
    assert one.narrowed.start == (day_before + timedelta(hours=begins)).timestamp()


@pytest.mark.parametrize(
    "text", ["yesterday 12 people came", "yesterday at 99:99", "yesterday at 3", "yesterday, 3:4", "yesterday 25:00"]
)
def test_other_numbers_after_a_day_are_no_time_on_the_clock(text: str) -> None:
    assert stretches(text, NOW)[0].words == "yesterday"
    assert stretches(text, NOW)[0].part is None


def test_another_number_after_a_time_on_the_clock_leaves_it_as_it_is() -> None:
    (one,) = stretches("yesterday at 3 pm and 2 dogs came", NOW)
    assert one.words == "yesterday at 3 pm"


@pytest.mark.parametrize(
    "text", ["at the last minute", "the last minutes", "the last hour of the siege", "in the evening", "a night out"]
)
def test_a_part_of_no_day_in_particular_is_no_time(text: str) -> None:
    assert stretches(f"Now and then, this or last, {text}", NOW) == ()


def test_a_whole_day_does_not_count_as_of_its_evening_and_an_hour_does() -> None:
    (evening,) = (one.narrowed for one in stretches("yesterday evening", NOW))
    for text, counts in (
        ("yesterday", False),
        ("yesterday at 20:00", True),
        ("last week", False),
        ("last night", True),
    ):
        (other,) = stretches(text, NOW)
        assert evening.covers(other.narrowed) is counts
        assert other.covers(other)
    (hour,) = (one.narrowed for one in stretches("an hour ago", NOW))
    (afternoon,) = (one.narrowed for one in stretches("this afternoon", NOW))
    assert not hour.covers(afternoon)
    assert afternoon.covers(hour)
    (day,) = stretches("yesterday", NOW)
    assert day.covers(evening)


@pytest.mark.parametrize(
    ("cue", "said"),
    [("tomorrow", "tonight"), ("tomorrow morning", "tonight"), ("today", "yesterday evening"), ("tonight", "today")],
)
def test_what_ends_in_a_time_but_is_mostly_before_it_is_not_of_it(cue: str, said: str) -> None:
    asked, mentioned = (stretches(text, NOW)[0].narrowed for text in (cue, said))
    assert not asked.covers(mentioned)


def test_a_time_that_the_clocks_left_out_is_its_whole_day() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    for text in ("yesterday at 2:30", "yesterday from 2:45 to 3:15"):
        (one,) = stretches(text, datetime(2026, 3, 30, 9, 0, tzinfo=berlin))
        assert one.part is None
        assert one.end - one.start == 23 * 3600


def test_a_night_keeps_the_clock_of_its_zone_when_the_clocks_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    (night,) = stretches("last night", datetime(2026, 10, 25, 9, 0, tzinfo=berlin))  # an hour more
    assert night.narrowed.end - night.narrowed.start == 13 * 3600


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
        ("What was stolen two hours ago?", {"stolen", "two", "hours", "ago"}),
        ("What was stolen yesterday evening?", {"stolen"}),
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
    for one in stretches(text + " three years ago, next month, last winter, a few hours ago, last night", now):
        assert one.start < one.end
