"""JSON read strictly: whatever parsers disagree about is refused, with the line where it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system.core.json_source import LineIndex, parse_strict
from memory_system.errors import InvalidDocument, InvalidFile
from tests.waiting import ended

MANY_KEYS = "{" + ",".join(f'"{number}":0' for number in range(90_000)) + ',"89999":0}'


def parse(text: str | bytes, most: int = 1_000_000) -> Any:
    return parse_strict(text, "mira.json", most, InvalidFile)[0]


def refused(text: str | bytes, most: int = 1_000_000) -> tuple[int | None, str]:
    """The line and the message of the one problem."""
    with pytest.raises(InvalidFile, match=r"^In mira\.json: ") as caught:
        parse(text, most)
    (problem,) = caught.value.problems
    return problem.line, problem.message


def test_good_json_comes_back_as_it_is_also_from_bytes() -> None:
    value = {"a": [1, 2.5, -0.0, None, True, {"喜": "🔥"}], "b": {}, "": ""}
    text = json.dumps(value, ensure_ascii=False, indent=1)
    assert parse(text) == parse(text.encode()) == value
    assert parse_strict(text.encode(), "x", 1000, InvalidFile)[1] == text


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "this is not JSON"),
        ("   \n ", 2, "this is not JSON"),
        ('{\n "a": 1,\n "b": \n}', 4, "this is not JSON: expecting value (column 1)"),
        ('{\n "a": 1\n "b": 2}', 3, "this is not JSON: expecting ',' delimiter (column 2)"),
        ('{"a": 1,}', 1, "this is not JSON"),
        ('{"a": "x\ny"}', 1, "this is not JSON: invalid control character"),
        ("{'a': 1}", 1, "this is not JSON"),
        ('{"a": 1} {"b": 2}', 1, "this is not JSON: extra data"),
        ("[1, 2", 1, "this is not JSON"),
        ('"never ends', 1, "this is not JSON"),
        ("// a\n{}", 1, "this is not JSON"),
        ('\ufeff{"a": 1}', 1, "byte order mark"),
        ('{\n "a": NaN}', 2, "NaN is not a JSON number"),
        ('{\n "NaN": 1,\n "a": -Infinity}', 3, "-Infinity is not a JSON number"),
        ("[1,\n\n1e999]", 3, "the number 1e999 is too large"),
        ("[-1e999]", 1, "the number -1e999 is too large"),
        ('{"a": 1,\n "b": 2,\n "a": 3}', 3, "the key 'a' appears twice in one object"),
        ('{"x": {\n"ü": "ü",\n"ü": 3}}', 3, "the key 'ü' appears twice in one object"),
        ('{"x": {"a": 1},\n"a": 2,\n"a": 3}', 3, "the key 'a' appears twice in one object"),
        ('{"a": 1,\n"\\u0061": 3}', 2, "the key 'a' appears twice in one object"),
        ('{"a": "\\ud800"}', None, "half of a surrogate pair"),
        ('{"\\udfff": 1}', None, "half of a surrogate pair"),
        ("[" + "9" * 5000 + "]", None, "a number that cannot be read: a whole number of thousands of digits"),
        ("[\n" + "[" * 100 + "]" * 101, 2, "nested more than 100 deep"),
        ("[" * 10_000, 1, "nested more than 100 deep"),
        ('{"a":' * 10_000, 1, "nested more than 100 deep"),
    ],
    ids=lambda one: ascii(one)[:25],
)
def test_what_is_not_plain_json_is_refused_with_its_line(text: str, line: int | None, message: str) -> None:
    at, told = refused(text)
    assert (at, message in told) == (line, True), told


def test_a_key_that_stands_twice_elsewhere_does_not_mislead_the_line_of_twins() -> None:
    line, message = refused('{"first": {"a": 1},\n "second": {"a": 2},\n "third": {\n"a": 3,\n"a": 4}}')
    assert message == "the key 'a' appears twice in one object"
    assert line == 5


def test_a_surrogate_pair_is_text() -> None:
    assert parse('"\\ud83d\\udd25"') == "🔥"


def test_a_text_too_large_is_refused_before_it_is_parsed() -> None:
    assert refused('"' + "x" * 1_000_000)[1] == "it has 1,000,001 bytes; at most 1,000,000 are allowed"
    assert refused("喜" * 10, 20)[1] == "it has 30 bytes; at most 20 are allowed"
    assert parse('"' + "x" * 999_998 + '"')


def test_bytes_that_are_not_utf_8_are_refused_with_their_place() -> None:
    assert refused(b'{"a": "\xff"}')[1] == "byte 7 is not UTF-8"
    assert refused('{"a": "é"}'.encode("latin-1"))[1] == "byte 7 is not UTF-8"
    assert refused('{"a": 1}'.encode("utf-16"))[1] == "byte 0 is not UTF-8"


def test_brackets_inside_strings_are_not_nesting() -> None:
    assert parse('["' + "[" * 500 + '\\""]') == ["[" * 500 + '"']
    assert parse("[" * 100 + "]" * 100)
    assert parse("[" + "[{}]," * 500 + "0]")[-1] == 0  # many side by side are not deep


@pytest.mark.parametrize(
    "text", ['"' * 999_999, '"\\' * 400_000, "[" + '"a",' * 200_000, "\\" * 999_999, "{:,}" * 200_000, MANY_KEYS]
)
def test_a_hostile_megabyte_is_answered_though_the_square_of_it_would_never_end(text: str) -> None:
    with pytest.raises(InvalidDocument):
        ended(lambda: parse(text))


TEXT = """{
  "a": [1,
    {"b": "x, {", "c": [
      true]}],
  "d":
    null
}"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("a",), 2),
        (("a", 0), 2),
        (("a", 1), 3),
        (("a", 1, "b"), 3),
        (("a", 1, "c", 0), 4),
        (("d",), 6),
        (("missing",), 1),
        (("a", 1, "missing", "deeper"), 3),
        (("a", 7), 2),
    ],
)
def test_the_line_of_a_field_is_found_or_that_of_what_encloses_it(path: tuple[str | int, ...], line: int) -> None:
    assert LineIndex(TEXT).of(path) == line


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None)  # a busy machine is no failure
@given(_json, st.sampled_from([None, 0, 2]), st.booleans())
def test_everything_that_json_writes_is_read_and_each_top_field_is_found(
    value: Any, indent: int | None, ascii_: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
    assert parse(text) == value
    for key in value if isinstance(value, dict) else ():
        assert json.dumps(key, ensure_ascii=ascii_) in text.split("\n")[LineIndex(text).of((key,)) - 1]  # type: ignore[operator]
