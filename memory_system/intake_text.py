"""Many events from a text that a person pastes or uploads, line by line, with what each line becomes or why not.

Unlike ``intake.read``, which takes a batch whole or not at all, this is for people: they see which lines are
refused and why, and may go on with the others.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from .entry import MemoryEntry
from .errors import InvalidEntry, InvalidFile, Problem
from .intake import MAX_BATCH, MAX_FILE, columns, event_entry
from .json_source import parse_strict
from .kinds import FLAGS
from .spreadsheets import from_cell


class Form(StrEnum):
    """How the text is written."""

    LINES = "lines"
    """One event a line, its text alone."""
    JSON = "json"
    """A list of events, or the column form ``{"documents": [...], ...}``."""
    JSONL = "jsonl"
    """One JSON object a line."""
    CSV = "csv"
    """A header line with a column ``document`` (or ``text``), and one event a row."""


_ALIASES = {"text": "document", "memory": "document", "event": "document", "time": "timestamp", "when": "timestamp"}
_LINE_END = re.compile(r"\r\n|\r|\n")
"""Unlike ``splitlines``, which also splits at U+2028 and the like; JSON may hold those within a text."""
_COLUMNS = ("document", "timestamp", "kind", "rating", "importance_score", "explanation", "tags", "id", *FLAGS)


@dataclass(frozen=True)
class Row:
    """What one line (1-based) becomes: an entry, or the problem that keeps it from being one."""

    line: int
    text: str
    entry: MemoryEntry | None
    problem: str | None = None


def guess(text: str, file_name: str = "") -> Form:
    """The form a text seems to be in, by its file's ending and its beginning."""
    ending = file_name.rpartition(".")[2].lower()
    if ending in ("json", "jsonl", "csv"):
        return Form(ending)
    begins = text.lstrip()[:1]
    if begins == "[":
        return Form.JSON
    if begins == "{":
        lines = [line for line in text.splitlines() if line.strip()]
        return Form.JSONL if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines) else Form.JSON
    header = (text.splitlines() or [""])[0].lower().split(",")
    return Form.CSV if len(header) > 1 and {"document", "text"} & {cell.strip(' "') for cell in header} else Form.LINES


def decoded(raw: bytes, file_name: str) -> str:
    """The text of an uploaded file; a byte order mark, as spreadsheets write it, is dropped.

    Raises:
        InvalidFile: it is too large, or no UTF-8 text.
    """
    if len(raw) > MAX_FILE:
        raise InvalidFile((Problem("", f"it has {len(raw):,} bytes; at most {MAX_FILE:,} are taken"),), file_name)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Problem("", f"byte {error.start} is not UTF-8; save it as a UTF-8 text file")
        raise InvalidFile((problem,), file_name) from error
    if "\x00" in text:
        raise InvalidFile((Problem("", "it holds binary data; a text file is wanted"),), file_name)
    return text


def read_rows(text: str, form: Form, now: datetime) -> list[Row]:
    """What each line of the text becomes; an event without a time happened now.

    Raises:
        InvalidFile: the text as a whole is not in this form, or has more than 50,000 lines.
    """
    readers = {Form.LINES: _lines, Form.JSON: _json, Form.JSONL: _jsonl, Form.CSV: _csv}
    rows: list[Row] = []
    seen: dict[str, int] = {}
    for line, shown, event in readers[form](text):
        if len(rows) >= MAX_BATCH:
            raise InvalidFile((Problem("", f"it has more than {MAX_BATCH:,} events; split it"),), "the text")
        row = _row(line, shown, event, now)
        if row.entry is not None and row.entry.id in seen:
            row = replace(
                row, entry=None, problem=f"The id {row.entry.id!r} stands in line {seen[row.entry.id]} already."
            )
        elif row.entry is not None:
            seen[row.entry.id] = line
        rows.append(row)
    return rows


_Event = Mapping[str, Any] | str
"""An event, or the problem that kept it from being read."""


def _row(line: int, shown: str, event: _Event, now: datetime) -> Row:
    if isinstance(event, str):
        return Row(line, shown, None, event)
    try:
        return Row(line, shown, event_entry(event, now))
    except InvalidEntry as error:
        return Row(line, shown, None, error.sentence)


def _lines(text: str) -> Iterator[tuple[int, str, _Event]]:
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if line.strip():
            yield number, line, {"document": line.strip()}


def _json(text: str) -> Iterator[tuple[int, str, _Event]]:
    value, _ = parse_strict(text, "the text", MAX_FILE, InvalidFile)
    if isinstance(value, dict):
        try:
            value = columns(value, "the text") if "documents" in value else [value]
        except InvalidEntry as error:
            raise InvalidFile((Problem("", error.sentence),), "the text") from error
    if not isinstance(value, list):
        raise InvalidFile((Problem("", "it must be a list of events, or an object with 'documents'", 1),), "the text")
    for number, event in enumerate(value, start=1):
        shown = str(event.get("document", "")) if isinstance(event, dict) else json.dumps(event)[:200]
        yield number, shown, event if isinstance(event, dict) else "This is no object with a document."


def _jsonl(text: str) -> Iterator[tuple[int, str, _Event]]:
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if not line.strip():
            continue
        try:
            value, _ = parse_strict(line, "this line", MAX_FILE, InvalidFile)
        except InvalidFile as error:
            yield number, line, f"{error.problems[0].message[:1].upper()}{error.problems[0].message[1:]}."
            continue
        shown = str(value.get("document", line)) if isinstance(value, dict) else line
        yield number, shown, value if isinstance(value, dict) else "This is no object with a document."


def _csv(text: str) -> Iterator[tuple[int, str, _Event]]:
    csv.field_size_limit(MAX_FILE)
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = [_ALIASES.get(name.strip().lower(), name.strip().lower()) for name in next(reader, [])]
        _refuse_header(header)
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, ", ".join(cells)[:200], _from_cells(header, cells)
    except csv.Error as error:
        raise InvalidFile((Problem("", f"this is not CSV: {error}", reader.line_num),), "the text") from error


def _refuse_header(header: list[str]) -> None:
    if "document" not in header:
        problem = f"the first line must name the columns, one of them 'document'; it names: {', '.join(header)[:200]}"
        raise InvalidFile((Problem("", problem, 1),), "the text")
    if twins := sorted({name for name in header if header.count(name) > 1}):
        raise InvalidFile((Problem("", f"the column {twins[0]!r} stands twice", 1),), "the text")


def _from_cells(header: list[str], cells: list[str]) -> _Event:
    if len(cells) != len(header):
        return f"It has {len(cells)} cells; the header has {len(header)}."
    event: dict[str, Any] = {}
    extras: dict[str, Any] = {}
    for name, raw in zip(header, cells, strict=True):
        cell = from_cell(raw.strip())
        if not cell and name != "document":
            continue
        if name in ("rating", "importance_score"):
            try:
                event[name] = float(cell)
            except ValueError:
                return f"{name} is {cell[:40]!r}, which is no number."
        elif name == "tags":
            event[name] = [tag.strip() for tag in cell.replace(";", ",").split(",") if tag.strip()]
        elif name in FLAGS:
            event[name] = cell.lower() in ("true", "yes", "1")
        elif name in _COLUMNS:
            event[name] = cell
        elif name:
            extras[name] = cell
    return {**event, "metadata": extras} if extras else event
