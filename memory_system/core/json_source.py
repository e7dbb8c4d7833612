"""JSON read strictly: one result for every text, and the line of each field."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidDocument, Problem

MAX_DEPTH = 100

# a string that never ends matches the rest of the text, so that no text is scanned twice
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


def parse_strict(text: str | bytes, source: str, max_bytes: int, refusal: type[InvalidDocument]) -> tuple[Any, str]:
    """The value of a JSON text, and the text decoded.

    It refuses what parsers disagree about or what hides a mistake: a byte order mark, a key that appears twice in one
    object, NaN and Infinity, numbers too large for a float, and nesting over 100 deep.

    Raises:
        InvalidDocument: of the type ``refusal``, with the line if known.
    """

    def fail(message: str, line: int | None = None) -> InvalidDocument:
        return refusal((Problem("", message, line),), source)

    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise fail(f"it has {size:,} bytes; at most {max_bytes:,} are allowed")
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise fail(f"byte {error.start} is not UTF-8") from error
    if text.startswith("\ufeff"):
        raise fail("it begins with a byte order mark; save it as UTF-8 without one", 1)
    if (deep := _too_deep(text)) is not None:
        raise fail(f"it is nested more than {MAX_DEPTH} deep", deep)
    try:
        value = json.loads(text, object_pairs_hook=no_twins, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        why = error.msg.removesuffix(" at").removesuffix(" starting")
        raise fail(f"this is not JSON: {why[0].lower()}{why[1:]} (column {error.colno})", error.lineno) from error
    except Twin as error:
        raise fail(f"the key {error.key!r} appears twice in one object", _line_of_twin(text, error.key)) from error
    except _Refused as error:
        raise fail(error.message, _line_of_token(text, error.token)) from error
    except ValueError as error:  # a whole number of more than 4,300 digits
        raise fail("it contains a number that cannot be read: a whole number of thousands of digits") from error
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise fail("it contains half of a surrogate pair (\\ud800 to \\udfff), which is not text") from error
    return value, text


class _Refused(Exception):
    def __init__(self, message: str, token: str) -> None:
        super().__init__(message)
        self.message, self.token = message, token


class Twin(ValueError):
    """A key appears twice in one object.

    Args:
        key: the key.
    """

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from its pairs, for ``object_pairs_hook`` of ``json.loads``.

    Raises:
        Twin: a key appears twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise Twin(next(key for key, count in counts.items() if count > 1))
    return found


def _no_constant(token: str) -> float:
    raise _Refused(f"{token} is not a JSON number", token)


def _finite(token: str) -> float:
    value = float(token)
    if value in (float("inf"), float("-inf")):
        raise _Refused(f"the number {token[:40]} is too large", token)
    return value


def _line_of_token(text: str, token: str) -> int | None:
    return next((_line(text, match.start()) for match in _TOKEN.finditer(text) if match.group() == token), None)


def _line_of_twin(text: str, key: str) -> int | None:
    """The line on which a key appears for the second time in one object."""
    holds: list[bool] = []  # for each open object and list: whether it has had the key
    before: re.Match[str] | None = None
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "{[":
            holds.append(False)
        elif token in "}]":
            holds.pop()
        elif token == ":" and before is not None and json.loads(before.group()) == key:
            if holds[-1]:
                return _line(text, before.start())
            holds[-1] = True
        before = match
    return None


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _too_deep(text: str) -> int | None:
    depth = 0
    for match in _TOKEN.finditer(text):
        if match.group() in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                return _line(text, match.start())
        elif match.group() in "}]":
            depth -= 1
    return None


class LineIndex:
    """The line on which each value of a valid JSON text begins; the text is scanned once."""

    def __init__(self, text: str) -> None:
        self._starts = {path: position for position, path in reversed(list(_values(text)))}
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def of(self, path: tuple[str | int, ...]) -> int | None:
        """The 1-based line of the value at ``path`` (keys, 0-based indices), or of the nearest that encloses it."""
        for length in range(len(path), -1, -1):
            if (position := self._starts.get(path[:length])) is not None:
                return bisect_left(self._breaks, position) + 1
        return None


@dataclass
class _Open:
    """An object or list that is being read: the current key or index, and whether a key comes next."""

    part: str | int
    awaits_key: bool


def _values(text: str) -> Iterator[tuple[int, tuple[str | int, ...]]]:
    """The position and path of every value of a valid JSON text, in reading order."""
    stack: list[_Open] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == ",":
            top = stack[-1]
            if isinstance(top.part, int):
                top.part += 1
            else:
                top.awaits_key = True
        elif token in "}]":
            stack.pop()
        elif stack and stack[-1].awaits_key:
            stack[-1].part, stack[-1].awaits_key = json.loads(token), False
        elif token != ":":
            yield match.start(), tuple(opened.part for opened in stack)
            if token == "{":
                stack.append(_Open("", awaits_key=True))
            elif token == "[":
                stack.append(_Open(0, awaits_key=False))
