"""Many events from a text that a person pastes or uploads, line by line, with what each line becomes or why not.

Unlike ``events.read``, which accepts a whole batch or nothing, this is for people: they see which lines are
refused and why, and may go on with the others. A line may begin with its date; ``dates`` reads it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from enum import StrEnum
from itertools import islice
from typing import Any, TypeGuard

from ...core.entry import MemoryEntry
from ...core.json_source import parse_strict
from ...core.registry import Registry
from ...core.times import stamp
from ...errors import FROM_ELSEWHERE, InvalidEntry, InvalidFile, Problem, shown, words_of
from . import columns as intake_columns
from . import partial as partial_dates
from .columns import Heading
from .dates import NOON, Order, Written, at_start, order_of, said_of_zone
from .events import MAX_BATCH, MAX_FILE, columns, event_entry, zoned


class Form(StrEnum):
    """How the text is written."""

    LINES = "lines"
    """One event per line, its text alone or after its date."""
    JSON = "json"
    """A list of events, or the column form ``{"documents": [...], ...}``."""
    JSONL = "jsonl"
    """One JSON object per line."""
    CSV = "csv"
    """A header line with a column ``document`` (or ``text``), and one event per row; also with semicolons or tabs."""


IMPORTERS: Registry[Callable[[str], Iterable[Mapping[str, Any]]]] = Registry(
    "memory_system.importers", "form", {form.value: f"{__name__}:read_text" for form in Form}
)
"""How a text can be written. A package adds functions from a text to its events, each as ``{"document": ...}``."""
_ENDINGS = {"json": Form.JSON, "jsonl": Form.JSONL, "csv": Form.CSV, "tsv": Form.CSV}
_LINE_END = re.compile(r"\r\n|\r|\n")
"""Unlike ``splitlines``, which also splits at U+2028 and the like; JSON may hold those within a text."""
NOW, ABOVE, PARTLY = "now", "the line above", "the date in part"
"""Where an event's time comes from if it has none of its own, or one that leaves something out."""


@dataclass(frozen=True)
class Row:
    """What one line (1-based) becomes: an entry, or the problem with it.

    ``time_from`` says where its time comes from: empty for its own, ``NOW``, ``ABOVE`` or ``PARTLY``.
    """

    line: int
    text: str
    entry: MemoryEntry | None
    problem: str | None = None
    time_from: str = ""


@dataclass(frozen=True)
class Reading:
    """What each line of a text becomes.

    Args:
        rows: one per event.
        notes: sentences on how the text was read: its columns, its scale, its dates.
        order: how dates such as 03/04/2026 were read; ``None`` = no date could mean two days.
        day_one: the day from which "Day 2" was counted; ``None`` = no day is counted.
    """

    rows: list[Row]
    notes: tuple[str, ...] = ()
    order: Order | None = None
    day_one: date | None = None


def _imported(text: str, name: str) -> str:
    """The events that an importer from another package reads from a text, as JSON.

    Raises:
        InvalidParameter: there is no importer of this name.
        InvalidFile: it cannot read the text.
    """
    read = IMPORTERS.get(name)
    try:
        return json.dumps(list(islice(read(text), MAX_BATCH + 1)), ensure_ascii=False)
    except FROM_ELSEWHERE as error:
        raise InvalidFile(
            (Problem("", f"the importer {shown(name)} cannot read it: {words_of(error)}"),), "the text"
        ) from error


def guess(text: str, file_name: str = "") -> Form:
    """The form a text seems to be in, judging by its file's ending and its beginning."""
    ending = file_name.rpartition(".")[2].lower()
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    text = text.removeprefix("\ufeff")
    begins = text.lstrip()[:1]
    if begins == "[" and at_start(_LINE_END.split(text.lstrip(), maxsplit=1)[0]) is None:
        return Form.JSON
    if begins == "{":
        lines = [line for line in text.splitlines() if line.strip()]
        return Form.JSONL if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines) else Form.JSON
    return Form.CSV if intake_columns.begins_a_table(text) else Form.LINES


def decoded(raw: bytes, file_name: str) -> str:
    """The text of an uploaded file, in UTF-8, or in UTF-16 with a byte order mark, as spreadsheets write it.

    Raises:
        InvalidFile: it is too large, or not such text.
    """
    if len(raw) > MAX_FILE:
        raise InvalidFile((Problem("", f"it has {len(raw):,} bytes; at most {MAX_FILE:,} are allowed"),), file_name)
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Problem(
            "", f"byte {error.start} is not {'UTF-16' if wide else 'UTF-8'}; save it as a UTF-8 text file"
        )
        raise InvalidFile((problem,), file_name) from error
    if "\x00" in text:
        raise InvalidFile((Problem("", "it contains binary data; expected a text file"),), file_name)
    return text


def read_rows(text: str, form: Form, now: datetime) -> list[Row]:
    """What each line of the text becomes; see ``read_text``, which returns more."""
    return read_text(text, form, now).rows


def read_text(
    text: str,
    form: Form | str,
    now: datetime,
    *,
    order: Order | None = None,
    partial: bool = False,
    day_one: date | None = None,
    columns: Mapping[str, str] | None = None,
) -> Reading:
    """What each line of the text becomes, and how it was read; an event without a time happened now.

    Args:
        text: the whole text.
        form: how it is written, a ``Form`` or the name of an importer from a package.
        now: the world's time; times without a zone are in its zone.
        order: what comes first in dates such as 03/04/2026; found out from the others if not given.
        partial: whether lines may also begin with a date that leaves something out: "1 March:", "Mon 9:00", "Day 2:".
        day_one: the day that "Day 1" is; if not given, chosen so that the last counted day is today.
        columns: of CSV, by the name of a field (``document``, ``timestamp``, ``rating``, ``kind``, ``tags``), the
            header name of the column to use, empty for no column; guessed for fields not given.

    Raises:
        InvalidFile: the text as a whole is not in this form, or has more than 50,000 lines.
        InvalidParameter: there is no such form.
    """
    text = text.removeprefix("\ufeff")
    form = next((known for known in Form if known == form), form)
    notes: tuple[str, ...] = ()
    settled: Order | None = None
    counted_from: date | None = None
    events: Iterator[_Line]
    if form is Form.CSV:
        table = intake_columns.read(text, MAX_FILE, MAX_BATCH, order, columns or {}, now.tzinfo)
        notes, settled = table.notes, table.order
        events = (_Line(row.line, row.shown, row.event) for row in table.rows)
    elif form is Form.LINES:
        lines = _lines(text, order, now, day_one, partial=partial)
        notes, settled, counted_from = lines.notes, lines.order, lines.day_one
        events = iter(lines.lines)
    else:
        text = text if isinstance(form, Form) else _imported(text, form)
        lines_of_json = list(_jsonl(text) if form is Form.JSONL else _json(text))
        in_zone, notes = zoned([line.event for line in lines_of_json], lambda: now.tzinfo)
        events = (replace(line, event=event) for line, event in zip(lines_of_json, in_zone, strict=True))
    rows: list[Row] = []
    seen: dict[str, int] = {}
    for line in events:
        if len(rows) >= MAX_BATCH:
            raise InvalidFile((Problem("", f"it has more than {MAX_BATCH:,} events; split it"),), "the text")
        row = _row(line, now)
        if row.entry is not None and row.entry.id in seen:
            row = replace(
                row, entry=None, problem=f"The id {row.entry.id!r} stands in line {seen[row.entry.id]} already."
            )
        elif row.entry is not None:
            seen[row.entry.id] = row.line
        rows.append(row)
    taken = [row for row in rows if row.entry is not None]
    if form in (Form.LINES, Form.CSV) and (undated := sum(row.time_from == NOW for row in taken)):
        those = "Without a date, and so now" if undated < len(taken) else "None has a date, so all happen now"
        counted = f": {undated:,} of {len(taken):,}" if undated < len(taken) else ""
        notes = (*notes, f"{those} ({stamp(now)}){counted}.")
    return Reading(rows, notes, settled, counted_from)


def columns_of(text: str) -> Heading:
    """The columns of a table, and what each is used as, even if none of them holds the text of a memory."""
    return intake_columns.heading(text.removeprefix("\ufeff"))


@dataclass(frozen=True)
class _Line:
    """A line of the text as an event, or the problem that prevented it."""

    number: int
    shown: str
    event: Mapping[str, Any] | str
    time_from: str = ""


def _row(line: _Line, now: datetime) -> Row:
    if isinstance(line.event, str):
        return Row(line.number, line.shown, None, line.event)
    try:
        entry = event_entry(line.event, None)
    except InvalidEntry as error:
        return Row(line.number, line.shown, None, error.sentence)
    if entry.timestamp is None:
        return Row(line.number, line.shown, entry.evolve(timestamp=now), time_from=NOW)
    return Row(line.number, line.shown, entry, time_from=line.time_from)


@dataclass(frozen=True)
class _Lines:
    lines: list[_Line]
    notes: tuple[str, ...]
    order: Order | None
    day_one: date | None


def _lines(text: str, asked: Order | None, now: datetime, day_one: date | None, *, partial: bool) -> _Lines:
    """Lines with their dates: a line without one has that of the line above; a date alone applies to those beneath.

    Beneath a date that cannot be read, the day is unknown until the next readable date.
    """
    split = [(number, line) for number, line in enumerate(_LINE_END.split(text), start=1) if line.strip()]
    dates = {number: found for number, line in split if (found := _date_of(line, partial)) is not None}
    notes = [*_on_dates([when for when in dates.values() if when.problem is None], now.tzinfo)]
    dates = {number: replace(when, zone=when.zone or now.tzinfo) for number, when in dates.items()}
    whole = [when for when in dates.values() if isinstance(when, Written)]
    order, open_ = order_of(whole, asked)
    if not partial:
        moments = {number: when.moment(order) for number, when in dates.items() if _is_good(when)}
    else:
        day_one = (day_one or partial_dates.first_day(dates, now)) if _counts(dates) else None
        moments = partial_dates.settle(dates, order, now, day_one)
    lines: list[_Line] = []
    moment: datetime | None = None
    unread = 0
    headings = inherited = 0
    for number, line in split:
        found = dates.get(number)
        leans = isinstance(found, partial_dates.Partly) and found.leans
        if unread and (found is None or (leans and found.problem is None)):
            lines.append(_Line(number, line, f"Its day is unknown: the date in line {unread} cannot be read."))
        elif found is None:
            inherited += moment is not None
            event: dict[str, Any] = {"document": line.strip()}
            lines.append(_Line(number, line, event if moment is None else {**event, "timestamp": moment}, ABOVE))
        elif number not in moments:
            unread = number
            why = found.problem or f"{found.text!r} is outside the years 2 to 9998"
            lines.append(_Line(number, line, f"It begins with a date that cannot be read: {why}."))
        else:
            moment, unread = moments[number], 0
            whence = PARTLY if isinstance(found, partial_dates.Partly) else ""
            if found.rest.strip():
                lines.append(_Line(number, line, {"document": found.rest.strip(), "timestamp": moment}, whence))
            else:
                headings += 1
    dated = sum(when.problem is None for when in dates.values()) - headings
    notes = [*_on_lines(dated, headings, inherited), *notes]
    completed = [(when, moments[number]) for number, when in dates.items() if number in moments and when not in whole]
    if completed:
        first, at = completed[0]
        notes.append(
            f"Dates that leave something out are completed by the world's time: “{first.text}” is {stamp(at)}."
        )
    return _Lines(lines, (*notes, open_) if open_ else tuple(notes), order if open_ else None, day_one)


def _date_of(line: str, partial: bool) -> Written | partial_dates.Partly | None:
    found = at_start(line)
    return partial_dates.at_start(line) if found is None and partial else found


def _is_good(when: Written | partial_dates.Partly) -> TypeGuard[Written]:
    return isinstance(when, Written) and when.problem is None


def _counts(dates: Mapping[int, Written | partial_dates.Partly]) -> bool:
    return any(getattr(when, "leaves", None) is partial_dates.Leaves.COUNT for when in dates.values())


def _on_lines(dated: int, headings: int, inherited: int) -> Iterator[str]:
    """Sentences on how the lines with and without dates were read."""
    if dated:
        yield f"Lines that begin with a date, which becomes their time: {dated:,}."
    if headings:
        yield f"Lines that are only a date, which becomes the time of those beneath: {headings:,}."
    if inherited:
        yield f"Lines without a date, which take that of the line above: {inherited:,}."


def _on_dates(dates: Sequence[Written | partial_dates.Partly], zone: tzinfo | None) -> Iterator[str]:
    """Sentences on what dates without a zone or a time are read as."""
    if any(when.zone is None for when in dates):
        yield said_of_zone(zone)
    if any(when.clock is None for when in dates):
        yield f"Days without a time are read as {NOON:%H:%M}."


def _json(text: str) -> Iterator[_Line]:
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
        yield _Line(number, shown, event if isinstance(event, dict) else "This is not an object with a document.")


def _jsonl(text: str) -> Iterator[_Line]:
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if not line.strip():
            continue
        try:
            value, _ = parse_strict(line, "this line", MAX_FILE, InvalidFile)
        except InvalidFile as error:
            yield _Line(number, line, f"{error.problems[0].message[:1].upper()}{error.problems[0].message[1:]}.")
            continue
        shown = str(value.get("document", line)) if isinstance(value, dict) else line
        yield _Line(number, shown, value if isinstance(value, dict) else "This is not an object with a document.")
