"""Text that people paste or upload: the good lines are taken, each bad one is refused with its reason."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memory_system import MemoryEntry
from memory_system.core.kinds import Source
from memory_system.errors import InvalidFile
from memory_system.operations.importing.dates import READ_AS_UTC, Order
from memory_system.operations.importing.events import MAX_BATCH, MAX_FILE
from memory_system.operations.importing.text import Form, Row, decoded, guess, read_rows, read_text
from tests.conftest import NOW


def read(text: str, form: Form) -> list[Row]:
    return read_rows(text, form, NOW)


def taken(rows: list[Row]) -> list[MemoryEntry]:
    """The entries of rows of which each is an entry or a problem, and never both."""
    assert all((row.entry is None) == (row.problem is not None) for row in rows)
    return [row.entry for row in rows if row.entry is not None]


def refused(rows: list[Row]) -> dict[int, str]:
    return {row.line: row.problem for row in rows if row.problem is not None}


@pytest.mark.parametrize(
    ("text", "name", "form"),
    [
        ("Saw smoke.\nIt rained.", "", Form.LINES),
        ("", "", Form.LINES),
        ("  \n", "", Form.LINES),
        ("document", "", Form.LINES),
        ("The document, which I read, was wet.", "", Form.LINES),
        ('  [{"document": "a"}]', "", Form.JSON),
        ('{"documents": ["a"]}', "", Form.JSON),
        ('{"document": "a"}', "", Form.JSON),
        ('{\n "documents": [\n "a"]\n}', "", Form.JSON),
        ('{"document": "a"}\n\n{"document": "b"}\n', "", Form.JSONL),
        ("document,rating\na,5", "", Form.CSV),
        ('id, "Text" ,rating\na,b,5', "", Form.CSV),
        ("anything", "events.JSON", Form.JSON),
        ("anything", "my.events.jsonl", Form.JSONL),
        ("[anything", "events.csv", Form.CSV),
        ("a,b", "events.txt", Form.LINES),
        ("anything", "events.tsv", Form.CSV),
        ("document;rating\na;5", "", Form.CSV),
        ("Text\tImportance\na\t5", "", Form.CSV),
        ("when|memory\n2026-03-27|a", "", Form.CSV),
        ("sep=;\nanything;else", "", Form.CSV),
        ("\ufeffdocument,rating\na,5", "", Form.CSV),
        ("[2026-03-27] Saw smoke", "", Form.LINES),
        ("\n[27.03.2026 18:00] Saw smoke", "", Form.LINES),
        ("Note, this is a message; read it", "", Form.LINES),
        ("text, he said, is an event\nIt rained", "", Form.LINES),
        ("text, he said, is an event\nIt rained, and then it snowed", "", Form.LINES),
        ("text, he said, is an event", "", Form.LINES),
        ("document;rating\n\na;5;;", "", Form.CSV),
    ],
)
def test_the_form_is_guessed_from_the_ending_and_the_beginning(text: str, name: str, form: Form) -> None:
    assert guess(text, name) is form


# -- files ---------------------------------------------------------------------------------------------


def test_a_byte_order_mark_is_dropped() -> None:
    assert decoded(b"\xef\xbb\xbfdocument,rating\na,5", "a.csv") == "document,rating\na,5"
    assert decoded("Mühle".encode(), "a.txt") == "Mühle"


@pytest.mark.parametrize("code", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_by_its_byte_order_mark(code: str) -> None:
    mark = "" if code == "utf-16" else "\ufeff"
    assert decoded(f"{mark}document;rating\nMühle;5".encode(code), "a.csv") == "document;rating\nMühle;5"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"caf\xe9", r"In a\.txt: byte 3 is not UTF-8; save it as a UTF-8 text file"),
        (b"\x89PNG\r\n\x1a\n", "byte 0 is not UTF-8"),
        (b"PK\x03\x04\x00\x00", "it contains binary data; expected a text file"),
        (b"\xff\xfeS\x00a", "is not UTF-16; save it as a UTF-8 text file"),
        (b"x" * (MAX_FILE + 1), r"50,000,001 bytes; at most 50,000,000"),
    ],
    ids=["latin-1", "a picture", "an archive", "half of UTF-16", "huge"],
)
def test_what_is_no_text_is_refused_as_a_whole(raw: bytes, message: str) -> None:
    with pytest.raises(InvalidFile, match=message):
        decoded(raw, "a.txt")


# -- lines, JSON, JSONL --------------------------------------------------------------------------------


def test_each_line_is_an_event_and_empty_ones_are_passed_over() -> None:
    rows = read("Saw smoke. \r\n\r\n  It rained.\n" + "x" * 32_001, Form.LINES)
    assert [(row.line, entry.document, entry.timestamp) for row, entry in zip(rows, taken(rows), strict=False)] == [
        (1, "Saw smoke.", NOW),
        (3, "It rained.", NOW),
    ]
    assert "at most 32,000" in refused(rows)[4]


def test_a_list_of_events_is_taken_but_for_the_bad_ones() -> None:
    events: list[Any] = [
        {"document": "Saw smoke", "id": "a", "rating": 6, "metadata": {"weather": "clear"}},
        {"text": "wrong name"},
        "Saw fire",
        {"document": "", "id": "b"},
        {"document": "It rained", "timestamp": "in the morning"},
        {"document": "Again", "id": "a"},
        {"document": "A fact", "id": "static:facts:x"},
        {"document": "A plan", "kind": "plan"},
        {"document": "Good", "id": "c", "timestamp": "2026-03-27T06:00Z"},
    ]
    rows = read(json.dumps(events), Form.JSON)
    first, last = taken(rows)
    assert (first.id, first.rating, first.extras) == ("a", 6, {"weather": "clear"})
    assert (last.id, last.timestamp) == ("c", NOW.replace(hour=6))
    problems = refused(rows)
    assert list(problems) == [2, 3, 4, 5, 6, 7, 8]
    for number, words in (
        (2, "no document"),
        (3, "not an object with a document"),
        (4, "its text (document) is empty"),
        (5, "timestamp is 'in the morning'; write it like"),
        (6, "The id 'a' stands in line 1 already"),
        (7, "reserved for facts of the personality"),
        (8, "a plan is made by its operation"),
    ):
        assert words in problems[number]


@pytest.mark.parametrize("form", [Form.JSON, Form.JSONL])
def test_a_time_without_a_zone_in_json_is_in_the_worlds_as_it_is_for_a_program(form: Form) -> None:
    events = [{"document": "It rained", "timestamp": "2026-03-27T06:00"}, {"document": "It snowed"}]
    text = json.dumps(events) if form is Form.JSON else "\n".join(map(json.dumps, events))
    east = NOW.astimezone(timezone(timedelta(hours=2)))
    reading = read_text(text, form, east)
    assert [row.entry.timestamp for row in reading.rows if row.entry] == [NOW.replace(hour=4, minute=0), NOW]
    assert reading.notes == ("A time has no zone, and was read in the world's, UTC+02:00.",)


def test_columns_and_a_single_event_are_json_too() -> None:
    columns = {"documents": ["a", "b"], "ids": ["1", None], "metadatas": [{"importance_score": 0.5}, None]}
    one, other = taken(read(json.dumps(columns), Form.JSON))
    assert (one.id, one.rating, other.document) == ("1", 5, "b")
    assert [entry.document for entry in taken(read('{"document": "a"}', Form.JSON))] == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: this is not JSON"),
        ("[1, 2", "this is not JSON"),
        ("7", "it must be a list of events, or an object with 'documents'"),
        ('"a"', "it must be a list of events"),
        ('{"documents": ["a"], "ids": ["a", "b"]}', "'ids' must be a list as long as"),
        ('{"documents": ["a"], "embeddings": []}', "unknown key 'embeddings'"),
        ('{"documents": "a"}', "'documents' must be a list"),
        ("[" * 100_000, "nested more than 100 deep"),
        ('[{"document": "\\ud800"}]', "half of a surrogate pair"),
    ],
)
def test_json_that_is_none_is_refused_as_a_whole(text: str, message: str) -> None:
    with pytest.raises(InvalidFile, match=message):
        read(text, Form.JSON)


def test_each_line_of_jsonl_is_judged_by_itself() -> None:
    lines = [
        '{"document": "a", "id": "a"}',
        "{broken",
        "",
        "[1]",
        '{"document": "b", "document": "c"}',
        '{"rating": 5}',
    ]
    rows = read("\r\n".join([*lines, '{"document": "It said\u2028 two lines", "id": "z"}']), Form.JSONL)
    assert [entry.id for entry in taken(rows)] == ["a", "z"]
    problems = refused(rows)
    assert list(problems) == [2, 4, 5, 6]
    assert "This is not JSON" in problems[2]
    assert "not an object with a document" in problems[4]
    assert "The key 'document' appears twice" in problems[5]
    assert "no document" in problems[6]


# -- CSV -----------------------------------------------------------------------------------------------


def test_a_table_is_read_by_its_header_whatever_its_order_and_case() -> None:
    text = (
        "Id, TAGS ,Event,when,Rating,Weather,pinned,kind,explanation\n"
        'a,"mill; key, ,brass","Saw ""smoke"", and fire",2026-03-27T06:00Z,6.5,clear,Yes,conversation,why not\n'
        "b,,It rained,,,,,,\n"
    )
    one, other = taken(read(text, Form.CSV))
    assert (one.id, one.document, one.timestamp) == ("a", 'Saw "smoke", and fire', NOW.replace(hour=6))
    assert (one.tags, one.rating, one.pinned, one.kind) == (("mill", "key", "brass"), 6.5, True, "conversation")
    assert (one.extras, one.explanation) == ({"weather": "clear"}, "why not")
    assert (other.id, other.timestamp, other.rating, other.pinned) == ("b", NOW, None, False)
    assert (other.tags, other.extras) == ((), {})


@pytest.mark.parametrize("name", ["document", "text", "Memory", "event"])
def test_the_text_column_goes_by_several_names(name: str) -> None:
    assert [entry.document for entry in taken(read(f"{name}\nSaw smoke", Form.CSV))] == ["Saw smoke"]


def test_a_cell_over_several_lines_is_one_memory() -> None:
    rows = read('document,rating\n"two\nlines",5\n\n ,\nnext,6', Form.CSV)
    assert [(row.line, entry.document) for row, entry in zip(rows, taken(rows), strict=True)] == [
        (3, "two\nlines"),
        (6, "next"),
    ]


def test_bad_rows_of_a_table_are_refused_each_with_its_reason() -> None:
    rows = read(
        "id,document,rating\n"
        "a,good,5\nb,no number,high\nc,too much,11\nd,nan\ne,one,2,3\na,twin,5\nf,,5\ng,good too,1\nh,not finite,nan",
        Form.CSV,
    )
    assert [entry.id for entry in taken(rows)] == ["a", "g"]
    problems = refused(rows)
    assert problems[3] == "rating is 'high', which is not a number."
    assert "rating is 11" in problems[4]
    assert problems[5] == "It has 2 cells; the header has 3."
    assert problems[6] == "It has 4 cells; the header has 3."
    assert problems[7] == "The id 'a' stands in line 2 already."
    assert "its text (document) is empty" in problems[8]
    assert "rating is nan" in problems[10]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the first line must name the columns, one of them 'document'"),
        ("a,b\n1,2", "it names: a, b"),
        ("document,rating,Rating\na,5,5", "line 1: the column 'rating' appears twice"),
        ("text,document\na,b", "the column 'document' appears twice"),
        ('document\n"never closed', "this is not CSV"),
        ('document\n"closed" too early', "this is not CSV"),
    ],
)
def test_a_table_that_is_none_is_refused_as_a_whole(text: str, message: str) -> None:
    with pytest.raises(InvalidFile, match=message):
        read(text, Form.CSV)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("announced", ["", "sep={}\n", '"SEP={}"\r\n'])
def test_a_table_is_read_by_whatever_separates_its_columns(delimiter: str, announced: str) -> None:
    lines = [["document", "rating", "weather"], [f'"one{delimiter} ""two"""', "6", "mill"], ["three", "7", ""]]
    text = announced.format(delimiter) + "\n".join(delimiter.join(line) for line in lines)
    first = 2 if announced else 1
    rows = read(text, Form.CSV)
    one, other = taken(rows)
    assert (one.document, one.rating, one.extras) == (f'one{delimiter} "two"', 6, {"weather": "mill"})
    assert (other.document, other.rating, other.extras) == ("three", 7, {})
    assert [row.line for row in rows] == [first + 1, first + 2]


@pytest.mark.parametrize(
    "name",
    ["importance", "IMPORTANCE", "Importance Score", "importance_score", "rating", "importance-rating", "Poignancy"],
)
def test_the_importance_goes_by_its_usual_names(name: str) -> None:
    assert [entry.rating for entry in taken(read(f"document,{name}\na,3\nb,8.5", Form.CSV))] == [3, 8.5]


@pytest.mark.parametrize(
    ("cells", "ratings", "scale"),
    [
        (["0.1", "1", "0.75"], [1, 10, 7.5], "0.1 to 1.0"),
        (["0,1", "1,0", "0,75"], [1, 10, 7.5], "0.1 to 1.0"),
        (["1", "10", "7,5"], [1, 10, 7.5], "1 to 10"),
        (["1", "1", ""], [1, 1, None], "1 to 10"),
    ],
)
@pytest.mark.parametrize("name", ["importance", "importance_score", "rating"])
def test_the_scale_is_found_from_the_whole_column_and_told(
    name: str, cells: list[str], ratings: list[float | None], scale: str
) -> None:
    text = "\n".join([f"document;{name}", *(f"event {number};{cell}" for number, cell in enumerate(cells))])
    reading = read_text(text, Form.CSV, NOW)
    assert [entry.rating for entry in taken(reading.rows)] == ratings
    assert f"The column {name!r} is read as the importance, on the scale {scale}." in reading.notes
    assert "The columns are separated by semicolons." in reading.notes


def test_what_does_not_fit_the_scale_of_its_column_is_refused_by_line_and_column() -> None:
    rows = read("document,Importance\na,7\nb,0.5\nc,a lot\nd,2", Form.CSV)
    assert [entry.document for entry in taken(rows)] == ["a", "d"]
    assert refused(rows) == {
        3: "Importance is 0.5; the column is read on the scale 1 to 10.",
        4: "Importance is 'a lot', which is not a number.",
    }


def test_a_long_first_row_does_not_hide_by_what_the_columns_are_separated() -> None:
    problems = refused(read(f"document;rating\n{'x' * 200_000};5\nb;6", Form.CSV))
    assert list(problems) == [2]
    assert "at most 32,000" in problems[2]


def test_a_number_that_people_do_not_write_so_or_that_may_be_a_thousand_is_refused() -> None:
    rows = read("document;rating\na;1,000\nb;1_0\nc;+10,000\nd;7,25\ne;6,5", Form.CSV)
    assert [entry.rating for entry in taken(rows)] == [7.25, 6.5]
    assert refused(rows) == {
        2: "rating is '1,000', whose comma may separate thousands; write it without a comma.",
        3: "rating is '1_0', which is not a number.",
        4: "rating is '+10,000', whose comma may separate thousands; write it without a comma.",
    }
    (one,) = taken(read("document;rating\na;0,125", Form.CSV))
    assert one.rating == 1.25


def test_no_column_is_dropped_without_a_word() -> None:
    header = "text,Weather,depth,,importance,description,$secret"
    reading = read_text(f"{header}\nSaw smoke,clear,3,stray,6,by the mill,x\nIt rained,,,,5,,", Form.CSV, NOW)
    one, other = taken(reading.rows)
    assert one.extras == {"weather": "clear", "description": "by the mill"}
    assert (other.extras, other.rating) == ({}, 5)
    assert "Kept as metadata: weather, description." in reading.notes
    assert "Not used: depth, column 4, which has no name, $secret." in reading.notes


def test_how_where_and_with_whom_are_columns_of_their_own_and_a_source_that_is_none_is_kept() -> None:
    table = "text,source,who,location\nA fox,Saw,Ana; Cy,Mill\nRain,http://a.invalid/1,,\n"
    fox, rain = (row.entry for row in read_text(table, Form.CSV, NOW).rows)
    assert fox is not None
    assert (fox.source, fox.people, fox.place) == (Source.SAW, ("Ana", "Cy"), "Mill")
    assert rain is not None
    assert (rain.source, rain.metadata["source"]) == (None, "http://a.invalid/1")


def test_two_columns_for_the_same_are_told_by_their_names() -> None:
    with pytest.raises(InvalidFile, match=r"line 1: the column 'rating' appears twice, as 'rating' and 'Importance'"):
        read("document,rating,Importance\na,5,0.5", Form.CSV)


def test_a_mark_that_is_neither_yes_nor_no_is_refused() -> None:
    rows = read("document,pinned\na,maybe\nb,X\nc,no\nd,", Form.CSV)
    assert [entry.pinned for entry in taken(rows)] == [True, False, False]
    assert refused(rows) == {2: "pinned is 'maybe'; write yes or no."}


def test_empty_cells_behind_the_last_column_are_no_matter() -> None:
    assert [one.rating for one in taken(read("\ndocument;rating;;\na;5;;;;\nb;6;;", Form.CSV))] == [5, 6]


def test_times_without_a_zone_in_lines_and_tables_are_in_the_worlds_and_so_is_today() -> None:
    east = datetime(2026, 3, 28, 8, tzinfo=ZoneInfo("Pacific/Kiritimati"))  # still 27 March in UTC
    lines = "2026-03-27 09:00 One\n2026-03-27 09:00 UTC Two\nYesterday 10:00 - Three\n07:30 - Four"
    read = read_text(lines, Form.LINES, east, partial=True)
    day = east.replace(day=27, hour=9)
    assert [entry.timestamp for entry in taken(read.rows)[:3]] == [day, day.astimezone(UTC).replace(day=27, hour=9),
                                                                 day.replace(hour=10)]  # fmt: skip
    assert "Times without a zone are read in the world's, Pacific/Kiritimati." in read.notes
    table = read_text("when,document\n2026-03-27 09:00,One\n2026-03-27T09:00Z,Two", Form.CSV, east)
    assert [entry.timestamp for entry in taken(table.rows)] == [day, datetime(2026, 3, 27, 9, tzinfo=UTC)]
    for hour, on in ((7, 28), (9, 27)):  # the last day on which that time has passed
        alone = read_text(f"{hour:02}:00 - One", Form.LINES, east, partial=True)
        assert [entry.timestamp for entry in taken(alone.rows)] == [day.replace(day=on, hour=hour)]
    assert "(Sat 28 Mar 2026, 08:00" in " ".join(read_text("Without a date", Form.LINES, east).notes)


def test_days_and_times_of_a_table_may_stand_apart_and_without_a_zone() -> None:
    reading = read_text(
        "Date;Time;Event\n27.03.2026;06:30;a\n28.03.2026;;b\n;;c\n31.02.2026;;d\n29.03.2026;noon;e", Form.CSV, NOW
    )
    day = NOW.replace(day=27, hour=6, minute=30)
    assert [entry.timestamp for entry in taken(reading.rows)] == [day, day.replace(day=28, hour=12, minute=0), NOW]
    assert refused(reading.rows) == {
        5: "Date: '31.02.2026' is not a date.",
        6: "Date: '29.03.2026 noon' is not a date; write it like 2026-03-27 18:00.",
    }
    assert READ_AS_UTC in reading.notes
    assert "Days without a time are read as 12:00." in reading.notes
    assert "Without a date, and so now (Fri 27 Mar 2026, 18:00 UTC): 1 of 3." in reading.notes


@pytest.mark.parametrize(
    ("cell", "at"),
    [
        ("20260327", "2026-03-27T12:00+00:00"),
        ("2026-03-27", "2026-03-27T12:00+00:00"),
        ("20260327T180000Z", "2026-03-27T18:00+00:00"),
        ("20260327 1800", "2026-03-27T18:00+00:00"),
        ("20260327T00", "2026-03-27T00:00+00:00"),
        ("2026-03-27t18:00:00,5+02:00", "2026-03-27T16:00:00.5+00:00"),
        ("2026-03-27T1800-0500", "2026-03-27T23:00+00:00"),
    ],
)
def test_a_cell_may_hold_a_compact_date_which_is_at_noon_without_a_time(cell: str, at: str) -> None:
    reading = read_text(f"date;text\n{cell};Saw smoke", Form.CSV, NOW)
    (entry,) = taken(reading.rows)
    assert entry.timestamp == datetime.fromisoformat(at)
    assert ("Days without a time are read as 12:00." in reading.notes) is (len(cell) <= 10)


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("1712012341", "'1712012341' is a number, perhaps of seconds since 1970"),
        ("1712012341215", "'1712012341215' is a number, perhaps of seconds since 1970"),
        ("1712012341.25", "'1712012341.25' is a number, perhaps of seconds since 1970"),
        ("1" * 30_000, f"{'1' * 40!r} is not a date; write it like 2026-03-27 18:00"),
        ("202603271800", "is not a date"),
        ("20260327x1800", "is not a date"),
        ("2026-03-27x18:00", "is not a date"),
        ("2026-03-27/18:00", "is not a date"),
        ("20260230", "is not a date"),
        ("2026-W13", "is not a date"),
        ("2026W135T18:00", "is not a date"),
        ("00010101", "outside the years 2 to 9998"),
        ("99991231T23:00", "outside the years 2 to 9998"),
        ("20260327T18:00+19:00", "is not a time of day"),
    ],
)
def test_a_cell_that_only_looks_like_a_date_is_refused(cell: str, problem: str) -> None:
    assert problem in refused(read(f"date;text\n{cell};Saw smoke", Form.CSV))[2]


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
@pytest.mark.parametrize("announced", [True, False])
def test_a_table_is_read_by_whatever_ends_its_lines(end: str, announced: bool) -> None:
    lines = [*(["sep=;"] if announced else []), "text;rating", "Saw smoke;6", "", f'"two{end}lines";7', "It rained;12"]
    text = end.join([*lines, ""])
    assert guess(text) is Form.CSV
    rows = read(text, Form.CSV)
    assert [(one.document, one.rating) for one in taken(rows)] == [("Saw smoke", 6), (f"two{end}lines", 7)]
    assert [row.line - announced for row in rows] == [2, 5, 6]


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
@pytest.mark.parametrize("sign", ["", '"'])
def test_neither_the_end_of_a_line_nor_a_quotation_mark_separates_columns(end: str, sign: str) -> None:
    with pytest.raises(InvalidFile, match="line 1: the first line must name the columns"):
        read(f"sep={sign}{end}text{end}Saw smoke", Form.CSV)


# -- dates at the beginning of lines ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("2026-03-27 18:00 Saw smoke", "2026-03-27T18:00+00:00"),
        ("2026-03-27T18:00:30Z Saw smoke", "2026-03-27T18:00:30+00:00"),
        ("2026-03-27T18:00:30.1234567891Z Saw smoke", "2026-03-27T18:00:30.123456+00:00"),
        ("2026-03-27T18:00:00+02:00: Saw smoke", "2026-03-27T16:00+00:00"),
        ("2026-03-27T18:00-05:00 Saw smoke", "2026-03-27T23:00+00:00"),
        ("2026/03/27 18:00 UTC Saw smoke", "2026-03-27T18:00+00:00"),
        ("2026-03-27 18:00 UTC+2 Saw smoke", "2026-03-27T16:00+00:00"),
        ("[2026-03-27] Saw smoke", "2026-03-27T12:00+00:00"),
        ("[2026-03-27 18:00]Saw smoke", "2026-03-27T18:00+00:00"),
        ("27.03.2026: Saw smoke", "2026-03-27T12:00+00:00"),
        ("3.4.2026 – Saw smoke", "2026-04-03T12:00+00:00"),
        ("27.03.2026, 6:05 pm - Saw smoke", "2026-03-27T18:05+00:00"),
        ("27/03/2026 | Saw smoke", "2026-03-27T12:00+00:00"),
        ("03/27/2026\tSaw smoke", "2026-03-27T12:00+00:00"),
        ("27.03.26 Saw smoke", "2026-03-27T12:00+00:00"),
        ("[27.03.26, 18:05:30] Saw smoke", "2026-03-27T18:05:30+00:00"),
        ("3/27/26 6pm Saw smoke", "2026-03-27T18:00+00:00"),
        ("27/03/69: Saw smoke", "1969-03-27T12:00+00:00"),
        ("March 27, 2026 - Saw smoke", "2026-03-27T12:00+00:00"),
        ("Fri 27 Mar 2026, 18:00 UTC: Saw smoke", "2026-03-27T18:00+00:00"),
        ("  Friday, 27th of March 2026 at 12am — Saw smoke", "2026-03-27T00:00+00:00"),
    ],
)
def test_a_date_at_the_beginning_of_a_line_becomes_its_time(line: str, at: str) -> None:
    (entry,) = taken(read(line, Form.LINES))
    assert (entry.document, entry.timestamp) == ("Saw smoke", datetime.fromisoformat(at))


@pytest.mark.parametrize(
    "line",
    [
        "12 men came", "In 2026 it rained", "2026-03-271 sacks", "May came on 3 April 2026", "18:00 Saw smoke",
        "Saw smoke on 2026-03-27", "2026-03-27] Saw smoke", "1.2.34 came out", "27-03-26 sacks", "10.11.12.13 answered",
    ],
)  # fmt: skip
def test_a_line_that_begins_with_no_date_is_a_text_alone(line: str) -> None:
    assert [(one.document, one.timestamp) for one in taken(read(line, Form.LINES))] == [(line, NOW)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("31.02.2026: Saw smoke", "'31.02.2026' is not a date"),
        ("2026-13-01 Saw smoke", "'2026-13-01' is not a date"),
        ("2026-03-27 25:00 Saw smoke", "'2026-03-27 25:00' is not a time of day"),
        ("2026-03-27 13pm Saw smoke", "'2026-03-27 13pm' is not a time of day"),
        ("2026-03-27 18:00 CET Saw smoke", "its zone is 'CET', which may mean several; write it as +01:00"),
        ("2026-03-27 18:00 Europe/Berlin x", "its zone is 'Europe/Berlin'; write it in hours, as +01:00"),
        ("[2026-03-27 6 pm America/Argentina/Salta] x", "its zone is 'America/Argentina/Salta'; write it in hours"),
        ("2026-03-27 18:00 Etc/GMT+1 x", "its zone is 'Etc/GMT+1'; write it in hours"),
        ("2026-03-27 10:00-12:00 Market", "may be a span of time or hold a zone"),
        ("2026-03-27T18:00+19:00 Saw smoke", "is not a time of day"),
        ("0001-01-01 Saw smoke", "outside the years 2 to 9998"),
    ],
)
def test_a_date_that_cannot_be_read_refuses_its_line_in_words(line: str, problem: str) -> None:
    told = refused(read(line, Form.LINES))[1]
    assert told.startswith("It begins with a date that cannot be read: ")
    assert problem in told


def test_a_line_without_a_date_takes_that_of_the_line_above_and_says_so() -> None:
    reading = read_text("Before all\n2026-03-20 06:00 One\nTwo\n\n2026-03-21\nThree\nFour", Form.LINES, NOW)
    first, second = NOW.replace(day=20, hour=6), NOW.replace(day=21, hour=12)
    assert [(row.line, row.time_from) for row in reading.rows] == [
        (1, "now"), (2, ""), (3, "the line above"), (6, "the line above"), (7, "the line above"),
    ]  # fmt: skip
    assert [entry.timestamp for entry in taken(reading.rows)] == [NOW, first, first, second, second]
    assert reading.notes == (
        "Lines that begin with a date, which becomes their time: 1.",
        "Lines that are only a date, which becomes the time of those beneath: 1.",
        "Lines without a date, which take that of the line above: 3.",
        READ_AS_UTC,
        "Days without a time are read as 12:00.",
        "Without a date, and so now (Fri 27 Mar 2026, 18:00 UTC): 1 of 5.",
    )


@pytest.mark.parametrize("bad", ["2026-02-30", "2026-02-30 Bad", "2026-03-27 18:00 CET Bad"])
def test_beneath_a_date_that_cannot_be_read_no_line_takes_an_earlier_day(bad: str) -> None:
    reading = read_text(f"2026-03-20\nOne\n{bad}\nTwo\n\nThree\n2026-03-22\nFour", Form.LINES, NOW)
    assert [(entry.document, entry.timestamp) for entry in taken(reading.rows)] == [
        ("One", NOW.replace(day=20, hour=12)),
        ("Four", NOW.replace(day=22, hour=12)),
    ]
    problems = refused(reading.rows)
    assert problems.pop(3).startswith("It begins with a date that cannot be read: ")
    assert problems == dict.fromkeys((4, 6), "Its day is unknown: the date in line 3 cannot be read.")
    assert "Lines without a date, which take that of the line above: 2." in reading.notes


@pytest.mark.parametrize(
    ("others", "asked", "month", "told"),
    [
        ([], None, 4, "“03/04/2026” is read as 3 April 2026, the day first; nothing in the text shows which is meant."),
        (["27/03/2026 x"], None, 4, "“03/04/2026” is read as 3 April 2026, the day first, as in “27/03/2026”."),
        (["03/27/2026 x"], None, 3, "“03/04/2026” is read as 4 March 2026, the month first, as in “03/27/2026”."),
        (
            ["27/03/2026 x", "03/27/2026 x", "28/03/2026 x"], None, 4,
            (
                "“03/04/2026” is read as 3 April 2026, the day first; the text shows both, the day first in "
                "“27/03/2026” and the month in “03/27/2026”."
            ),
        ),
        (
            ["03/27/2026 x", "27/03/2026 x"], Order.MONTH_FIRST, 3,
            (
                "“03/04/2026” is read as 4 March 2026, the month first, as chosen; the text shows both, the day first "
                "in “27/03/2026” and the month in “03/27/2026”."
            ),
        ),
        (["27/03/2026 x"], Order.MONTH_FIRST, 3, "“03/04/2026” is read as 4 March 2026, the month first, as chosen."),
    ],
)  # fmt: skip
def test_a_date_that_may_mean_two_days_is_never_guessed_without_a_word(
    others: list[str], asked: Order | None, month: int, told: str
) -> None:
    for form, text in (
        (Form.LINES, "\n".join(["03/04/2026 Saw smoke", *others])),
        (Form.CSV, "\n".join(["date|text", "03/04/2026|Saw smoke", *(line.replace(" ", "|") for line in others)])),
    ):
        reading = read_text(text, form, NOW, order=asked)
        at = taken(reading.rows)[0].timestamp
        assert at is not None
        assert (at.month, reading.order) == (month, Order.DAY_FIRST if month == 4 else Order.MONTH_FIRST)
        assert told in reading.notes


def test_no_order_is_asked_for_where_no_date_may_mean_two_days() -> None:
    assert read_text("05/05/2026 x\n27/03/2026 y\n3.4.2026 z", Form.LINES, NOW).order is None


def test_a_line_of_white_space_takes_no_longer_the_longer_it_is() -> None:
    assert [one.document for one in taken(read(f"27{' ' * 31_000}x", Form.LINES))] == [f"27{' ' * 31_000}x"]
    assert [one.document for one in taken(read(f"[{' ' * 31_000}x", Form.LINES))] == [f"[{' ' * 31_000}x"]


# -- all forms -----------------------------------------------------------------------------------------


def test_too_many_events_are_refused_as_a_whole() -> None:
    with pytest.raises(InvalidFile, match=r"more than 50,000 events; split it"):
        read("x\n" * (MAX_BATCH + 1), Form.LINES)


@pytest.mark.parametrize("form", [Form.LINES, Form.JSONL])
def test_an_empty_text_holds_nothing(form: Form) -> None:
    assert read("", form) == read(" \n\t\n", form) == []
