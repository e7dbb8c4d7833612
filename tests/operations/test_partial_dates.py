"""Lines that begin with a date that leaves something out, as diaries have them, and columns that a person chooses."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_system.core.entry import Kind
from memory_system.errors import InvalidFile
from memory_system.operations.importing import Form, Reading, columns_of, read_text

NOW = datetime(2026, 3, 27, 18, tzinfo=UTC)
"""A Friday."""


def read(text: str, day_one: date | None = None) -> Reading:
    return read_text(text, Form.LINES, NOW, partial=True, day_one=day_one)


def taken(text: str, day_one: date | None = None) -> list[tuple[str, str]]:
    rows = read(text, day_one).rows
    return [(f"{one.entry.timestamp:%Y-%m-%d %H:%M}", one.entry.document) for one in rows if one.entry is not None]


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("2026-03-01 09:00 Saw smoke", "2026-03-01 09:00"),
        ("1 March: Saw smoke", "2026-03-01 12:00"),
        ("1 March, 09:00: Saw smoke", "2026-03-01 09:00"),
        ("March 1st - Saw smoke", "2026-03-01 12:00"),
        ("[28 March 9 am] Saw smoke", "2025-03-28 09:00"),
        ("Mon 9:00 - Saw smoke", "2026-03-23 09:00"),
        ("Friday 17:00 Saw smoke", "2026-03-27 17:00"),
        ("Friday 19:00 Saw smoke", "2026-03-20 19:00"),
        ("Sunday: Saw smoke", "2026-03-22 12:00"),
        ("Day 2, 14:00 Saw smoke", "2026-03-27 14:00"),
        ("day 3: Saw smoke", "2026-03-27 12:00"),
        ("Yesterday at 6:30 pm Saw smoke", "2026-03-26 18:30"),
        ("14:30 Saw smoke", "2026-03-27 14:30"),
        ("[23:30] Saw smoke", "2026-03-26 23:30"),
        ("Mon 9:00 UTC+2: Saw smoke", "2026-03-23 07:00"),
        ("29 February: Saw smoke", "2024-02-29 12:00"),
    ],
)
def test_what_a_date_leaves_out_is_completed_by_the_worlds_time(line: str, at: str) -> None:
    assert taken(line) == [(at, "Saw smoke")]


@pytest.mark.parametrize(
    "line",
    [
        "May 5 people come?", "Monday was awful", "Day 2 of the siege", "12 men came",
        "Sunrise: red", "Mon-Fri I bake", "Day 2-4: the siege", "Marching: all day", "3 days ago: rain",
    ],
)  # fmt: skip
def test_what_only_looks_like_one_is_a_text_alone(line: str) -> None:
    assert taken(line) == [("2026-03-27 18:00", line)]


def test_without_being_asked_none_is_read() -> None:
    (row,) = read_text("Mon 9:00 - Saw smoke", Form.LINES, NOW).rows
    assert row.entry is not None
    assert row.entry.document == "Mon 9:00 - Saw smoke"


def test_weekdays_lead_up_to_now_or_to_the_date_beneath_and_follow_the_date_above() -> None:
    days = [at[:10] for at, _ in taken("Wed: a\n14:00 b\nThu: c\nWed: d\n2026-03-20: e\nFri: f\nMon: g")]
    assert days == [f"2026-03-{day}" for day in ("11", "11", "12", "18", "20", "20", "23")]


def test_times_beneath_a_day_are_of_that_day() -> None:
    assert [at for at, _ in taken("1 March\n9:00 a\n14:30 b\nDay 1\n8:00 c", date(2026, 3, 5))] == [
        "2026-03-01 09:00", "2026-03-01 14:30", "2026-03-05 08:00",
    ]  # fmt: skip


def test_a_year_that_is_not_written_follows_the_date_above() -> None:
    assert [at[:10] for at, _ in taken("20 December 2024: a\n3 January: b\n28 December: c")] == [
        "2024-12-20", "2025-01-03", "2024-12-28",
    ]  # fmt: skip


def test_counted_days_end_today_unless_the_first_is_told() -> None:
    assert read("Day 1: a\nDay 12: b").day_one == date(2026, 3, 16)
    assert [at[:10] for at, _ in taken("Day 1: a\nDay 12: b", date(2026, 1, 1))] == ["2026-01-01", "2026-01-12"]
    assert read("1 March: a").day_one is None


def test_a_date_that_is_none_refuses_its_line_and_those_that_lean_on_it() -> None:
    rows = read("31 February: a\n9:00 b\nMon: c\nDay 1: d\nMon 25:00 e").rows
    assert [row.entry.document if row.entry else None for row in rows] == [None, None, None, "d", None]
    assert rows[0].problem == "It begins with a date that cannot be read: '31 February' is not a date."
    assert rows[1].problem == "Its day is unknown: the date in line 1 cannot be read."


_PIECES = st.sampled_from(
    ["Mon", "Day 2", "Day 9999", "1 March", "31 Feb", "9:00", "25:61", "pm", "[", "]", ":", " - ", "2026-03-01",
     "today",
     "0001-01-01", "9998-12-31", "UTC", "+02:00", "Saw smoke", "\n", "\r", "\t", " ", "٣", "é", "\u2028", "\x00"]
)  # fmt: skip


@given(st.lists(_PIECES | st.text(max_size=8), max_size=30).map("".join), st.none() | st.dates())
def test_whatever_is_pasted_no_line_is_lost_and_each_is_taken_or_told_why(text: str, day_one: date | None) -> None:
    rows = read(text, day_one).rows
    assert all((row.entry is None) != (row.problem is None) for row in rows)
    assert all(row.entry.timestamp.utcoffset() is not None for row in rows if row.entry and row.entry.timestamp)
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    written = {number for number, line in enumerate(lines, 1) if line.strip()}
    only_dates = [re.findall(r"are only a date.*: ([\d,]+)\.", note) for note in read(text, day_one).notes]
    assert {row.line for row in rows} <= written
    assert len(written) - len(rows) == sum(int(found.replace(",", "")) for one in only_dates for found in one)


SHEET = "Was;Wann;Wie wichtig;Sorte\nSaw smoke;1.3.2026 09:00;7;observation\nSold the mill;bad;3;fact\n"


def test_the_columns_of_a_sheet_can_be_chosen() -> None:
    assert columns_of(SHEET).names == ("Was", "Wann", "Wie wichtig", "Sorte")
    assert columns_of(SHEET).takes == {"document": "Was"}
    chosen = {"document": "Was", "timestamp": "Wann", "rating": "Wie wichtig", "kind": "Sorte"}
    first, second = read_text(SHEET, Form.CSV, NOW, columns=chosen).rows
    assert first.entry is not None
    assert (first.entry.document, first.entry.rating, first.entry.kind) == ("Saw smoke", 7, Kind.OBSERVATION)
    assert first.entry.timestamp == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert second.problem == "Wann: 'bad' is not a date; write it like 2026-03-27 18:00."
    with pytest.raises(InvalidFile, match="one of them 'document'"):
        read_text("Sorte;Anzahl\nfact;3\n", Form.CSV, NOW)


def test_a_guess_about_columns_can_be_corrected() -> None:
    sheet = "text,note,date\nwrong,right,2026-03-01\n"
    assert columns_of(sheet).takes == {"document": "text", "timestamp": "date"}
    (row,) = read_text(sheet, Form.CSV, NOW, columns={"document": "note", "timestamp": ""}).rows
    assert row.entry is not None
    assert row.entry.document == "right"
    assert row.entry.timestamp == NOW
    assert row.entry.extras["date"] == "2026-03-01"
