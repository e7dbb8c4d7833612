"""Which form a file is in, judged by its contents, and its strictly read JSON with lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from ..core.files import read_at_most
from ..core.json_source import LineIndex, parse_strict
from ..core.times import parse_time
from ..errors import InvalidEntry, InvalidFile, InvalidInput, Problem
from ..recall.query import MAX_CUE
from .data import Form

MAX_FILE = 200_000_000
"""Bytes of one file."""

Made = TypeVar("Made")

EXPECTED = (
    'a LoCoMo conversation {"turns": [...], "qa": [...]}, or JSON lines: Smallville nodes {"id", "type", "created", '
    '"description", "evidence", ...}, or memories {"id", "document", ...} and cues {"cue", "right": [ids]}'
)


@dataclass(frozen=True)
class Line:
    """One object of a file of JSON lines, and its 1-based line."""

    number: int
    value: dict[str, Any]


@dataclass(frozen=True)
class Source:
    """One file, read: its form, and its contents.

    Args:
        path: where it is.
        form: its detected form.
        document: the conversation, if in the LoCoMo form.
        lines: the objects, if in one of the forms that are JSON lines.
        text: the whole text, for the line of a problem.
    """

    path: Path
    form: Form
    document: dict[str, Any]
    lines: tuple[Line, ...]
    text: str

    @property
    def name(self) -> str:
        """The name of a data set from this file."""
        return self.path.stem


class Problems:
    """Collects what is wrong with one file, so that everything is reported at once and nothing is used in part."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._found: list[Problem] = []
        self._index: LineIndex | None = None

    def __len__(self) -> int:
        return len(self._found)

    def add(self, message: str, *, line: int | None = None, field: str = "") -> None:
        """Note a problem of a line."""
        self._found.append(Problem(field, message, line))

    def at(self, path: tuple[str | int, ...], message: str) -> None:
        """Note a problem of a value within the document, by its path: keys and 0-based indices."""
        if self._index is None:
            self._index = LineIndex(self._source.text)
        self.add(message, line=self._index.of(path), field=".".join(str(part) for part in path))

    def attempt(self, line: int, make: Callable[[Any], Made], value: object) -> Made | None:
        """The result of ``make`` for a value of this line; ``None``, with a problem noted, if it is invalid."""
        try:
            return make(value)
        except InvalidInput as error:
            self.add(error.sentence, line=line)
            return None

    def refuse(self) -> None:
        """Raise if there are problems.

        Raises:
            InvalidFile: something is wrong; the first problems are in the message.
        """
        if self._found:
            raise InvalidFile(tuple(self._found), str(self._source.path))


def cue_text(value: object) -> str:
    """A valid cue.

    Raises:
        InvalidEntry: it is not a text, is blank, or is longer than a cue may be.
    """
    if not isinstance(value, str) or not value.strip():
        raise InvalidEntry("a cue must be a text that is not empty")
    if len(value) > MAX_CUE:
        raise InvalidEntry(f"it has {len(value):,} characters; a cue has at most {MAX_CUE:,}")
    return value


def field_of(item: object, name: str) -> Any:
    """The value of a required field.

    Raises:
        InvalidEntry: ``item`` is not an object, or has no such field.
    """
    if not isinstance(item, Mapping):
        raise InvalidEntry("it must be an object")
    if name not in item:
        raise InvalidEntry(f"there is no {name!r}")
    return item[name]


def ids_of(item: object, name: str) -> list[str]:
    """A field that is a list of ids.

    Raises:
        InvalidEntry: it is not.
    """
    value = field_of(item, name)
    if not isinstance(value, list) or not all(isinstance(entry_id, str) for entry_id in value):
        raise InvalidEntry(f"{name!r} must be a list of ids")
    return value


def time_of(item: object, name: str) -> datetime:
    """A field that is a time; one without a zone, as in published data, is UTC.

    Raises:
        InvalidEntry: it is not a time.
    """
    value = field_of(item, name)
    try:
        if isinstance(value, str) and (moment := datetime.fromisoformat(value.strip())).tzinfo is None:
            return moment.replace(tzinfo=UTC)
    except ValueError:
        value = value.strip()  # not ISO 8601, as the message says
    try:
        return parse_time(value)
    except ValueError as error:
        raise InvalidEntry(f"{name!r} {error}") from error


def read(path: Path) -> Source:
    """Read one file and detect its form; the contents of its objects are not checked yet.

    Raises:
        InvalidFile: it cannot be read, is not JSON, or is in none of the forms.
    """
    text = _text(path)
    head = next((number for number, line in enumerate(text.split("\n"), start=1) if line.strip()), None)
    if head is None:
        raise _refusal(path, "it is empty")
    if _is_one_document(path, text, head):
        document, _ = parse_strict(text, str(path), MAX_FILE, InvalidFile)
        if not isinstance(document, dict) or not {"turns", "qa"} <= set(document):
            raise _refusal(path, f"{_what(document)} is not in a known form. Known forms are {EXPECTED}", head)
        return Source(path, Form.LOCOMO, document, (), text)
    lines = tuple(_lines(path, text))
    return Source(path, _form(path, lines), {}, lines, text)


def _text(path: Path) -> str:
    try:
        raw = read_at_most(path, MAX_FILE + 1)
    except OSError as error:
        raise _refusal(path, f"it cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        wrong = "it has a null byte" if "\0" in str(path) else error
        raise _refusal(path, f"that is not the path of a file: {wrong}") from error
    if len(raw) > MAX_FILE:
        raise _refusal(path, f"it has more than {MAX_FILE:,} bytes, which is the limit")
    if b"\x00" in raw:
        raise _refusal(path, "it contains binary data; expected JSON text")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _refusal(path, f"byte {error.start} is not UTF-8; expected JSON text", line) from error


def _is_one_document(path: Path, text: str, head: int) -> bool:
    """Whether the file is one JSON value, not one per line: a conversation, or JSON over several lines."""
    first = text.split("\n")[head - 1]
    by_lines = path.suffix.lower() == ".jsonl"
    try:
        value, _ = parse_strict(first, str(path), MAX_FILE, InvalidFile)
    except InvalidFile:
        return not by_lines
    if isinstance(value, dict):
        return "turns" in value or "qa" in value
    return not by_lines


def _lines(path: Path, text: str) -> list[Line]:
    lines, problems = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value, _ = parse_strict(line, str(path), MAX_FILE, InvalidFile)
        except InvalidFile as error:
            problems += [Problem(problem.field, problem.message, number) for problem in error.problems]
            continue
        if isinstance(value, dict):
            lines.append(Line(number, value))
        else:
            problems.append(Problem("", f"{_what(value)} appears where an object is expected", number))
    if problems:
        raise InvalidFile(tuple(problems), str(path))
    return lines


def _form(path: Path, lines: tuple[Line, ...]) -> Form:
    first = lines[0]
    if {"type", "description"} <= set(first.value):
        return Form.SMALLVILLE
    if {"document", "cue"} & set(first.value):
        return Form.PLAIN
    if "previous_dialogs" in first.value:
        return Form.CHATS
    if {"question", "ctxs"} <= set(first.value):
        return Form.PASSAGES
    raise _refusal(path, f"{_what(first.value)} is not in a known form. Known forms are {EXPECTED}", first.number)


def _what(value: object) -> str:
    if isinstance(value, dict):
        keys = ", ".join(str(key)[:40] for key in list(value)[:8])
        return f"an object with the keys {keys}" if keys else "an object without keys"
    return "a list" if isinstance(value, list) else "a bare value"


def _refusal(path: Path, message: str, line: int | None = None) -> InvalidFile:
    return InvalidFile((Problem("", message, line),), str(path))
