"""Text that people paste or upload: the good lines are taken, each bad one is refused with its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory_system import MemoryEntry
from memory_system.errors import InvalidFile
from memory_system.intake import MAX_BATCH, MAX_FILE
from memory_system.intake_text import Form, Row, decoded, guess, read_rows
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
    ],
)
def test_the_form_is_guessed_from_the_ending_and_the_beginning(text: str, name: str, form: Form) -> None:
    assert guess(text, name) is form


# -- files ---------------------------------------------------------------------------------------------


def test_a_byte_order_mark_is_dropped() -> None:
    assert decoded(b"\xef\xbb\xbfdocument,rating\na,5", "a.csv") == "document,rating\na,5"
    assert decoded("Mühle".encode(), "a.txt") == "Mühle"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"caf\xe9", r"In a\.txt: byte 3 is not UTF-8; save it as a UTF-8 text file"),
        (b"\x89PNG\r\n\x1a\n", "byte 0 is not UTF-8"),
        (b"PK\x03\x04\x00\x00", "it holds binary data; a text file is wanted"),
        ("Saw smoke".encode("utf-16"), "byte 0 is not UTF-8"),
        (b"x" * (MAX_FILE + 1), r"50,000,001 bytes; at most 50,000,000"),
    ],
    ids=["latin-1", "a picture", "an archive", "UTF-16", "huge"],
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
        {"document": "It rained", "timestamp": "2026-03-27T06:00"},
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
        (3, "no object with a document"),
        (4, "document is empty"),
        (5, "has no zone"),
        (6, "The id 'a' stands in line 1 already"),
        (7, "kept for facts of the personality"),
        (8, "a plan is made by its operation"),
    ):
        assert words in problems[number]


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
    assert "no object with a document" in problems[4]
    assert "The key 'document' stands twice" in problems[5]
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
    assert problems[3] == "rating is 'high', which is no number."
    assert "rating is 11" in problems[4]
    assert problems[5] == "It has 2 cells; the header has 3."
    assert problems[6] == "It has 4 cells; the header has 3."
    assert problems[7] == "The id 'a' stands in line 2 already."
    assert "document is empty" in problems[8]
    assert "rating is nan" in problems[10]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the first line must name the columns, one of them 'document'"),
        ("a,b\n1,2", "it names: a, b"),
        ("document,rating,Rating\na,5,5", "line 1: the column 'rating' stands twice"),
        ("text,document\na,b", "the column 'document' stands twice"),
        ('document\n"never closed', "this is not CSV"),
        ('document\n"closed" too early', "this is not CSV"),
    ],
)
def test_a_table_that_is_none_is_refused_as_a_whole(text: str, message: str) -> None:
    with pytest.raises(InvalidFile, match=message):
        read(text, Form.CSV)


# -- all forms -----------------------------------------------------------------------------------------


def test_too_many_events_are_refused_as_a_whole() -> None:
    with pytest.raises(InvalidFile, match=r"more than 50,000 events; split it"):
        read("x\n" * (MAX_BATCH + 1), Form.LINES)


@pytest.mark.parametrize("form", [Form.LINES, Form.JSONL])
def test_an_empty_text_holds_nothing(form: Form) -> None:
    assert read("", form) == read(" \n\t\n", form) == []
