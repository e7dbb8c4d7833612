"""A table of events as spreadsheets write it: its delimiter, what each column is used as, and its numbers.

Text that begins like a formula is marked as text in the cells, and read back as it was.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import Any

from ...core.kinds import FLAGS, MAX_EXTRAS, TYPED, Source
from ...errors import InvalidFile, Problem
from .dates import NOON, Order, Written, at_start, in_cell, order_of, said_of_zone

_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""Signs that make a spreadsheet treat a cell as a formula, which may call programs and send other cells away."""
MARK = "\u2060"
"""A word joiner: invisible, without width, and never the beginning of a formula."""
THOUSANDS = re.compile(r"[+-]?\d*[1-9]\d*,\d{3}")
"""A number whose value depends, by a factor of a thousand, on whether its comma is a decimal one."""


def as_cell(text: str) -> str:
    """A text as a cell that no spreadsheet treats as a formula."""
    return MARK + text if text.startswith(_BEGINNINGS) else text


def from_cell(cell: str) -> str:
    """The text that ``as_cell`` turned into a cell; any other without the quotation mark some put before it."""
    return cell[1:] if cell[:1] in (MARK, "'") and cell[1:].startswith(_BEGINNINGS) else cell


def number(cell: str) -> float:
    """The number in a cell, with a decimal point or a decimal comma.

    Raises:
        ValueError: it is not a number, or its comma may separate thousands.
    """
    if "_" in cell or THOUSANDS.fullmatch(cell):
        raise ValueError("no number as people write it, or one of two")
    return float(cell.replace(",", ".") if cell.count(",") == 1 and "." not in cell else cell)


DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "upright bars"}
_ANNOUNCED = re.compile(r'"?sep=([^"\r\n])"?[^\S\t\r\n]*(?:\r\n|\r|\n|$)', re.IGNORECASE)
"""The line in which Excel states what separates the cells."""
_BEGINNING = 1_000_000
"""Characters searched for a header and its first row, before it is known whether there is a table."""
_LOOKED_AT = 20
"""Rows used to find out what a column of unknown name holds."""
_NAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "document": (
        ("document", "text", "memory", "event"),
        ("page_content", "content", "observation", "description", "message", "note"),
    ),
    "timestamp": (
        ("timestamp", "time", "when"),
        ("datetime", "date_time", "date", "day", "created_at", "created", "happened_at", "happened", "occurred_at"),
    ),
    "rating": (
        ("rating", "importance_score", "importance"),
        ("importance_rating", "poignancy", "poignancy_score", "significance", "salience"),
    ),
    "kind": (("kind",), ()),
    "explanation": (("explanation",), ("reason",)),
    "tags": (("tags",), ("tag", "keywords", "labels")),
    "source": (("source",), ("how_it_became_known",)),
    "people": (("people",), ("persons", "who")),
    "place": (("place",), ("location", "where")),
    "id": (("id",), ()),
    **{flag: ((flag,), ()) for flag in FLAGS},
}
"""The possible names of a column: names of which only one may occur, and others used if none of those does."""
_DAYS, _HOURS = ("date", "day"), ("time", "hour")
"""Two columns that make one time together."""
_TRUE, _FALSE = ("true", "yes", "y", "1", "x"), ("false", "no", "n", "0")
_OWN = ("document", "metadata", "tier", *TYPED)
_MARKS = ("chroma:", "memory_system:", "$", "#")


def taken_for(names: Iterable[str], chosen: Mapping[str, str] | None = None) -> dict[str, str]:
    """For each field of a memory, by its name, which of the given names is used for it.

    Args:
        names: the names, such as those of columns or of an object's values.
        chosen: choices that replace guesses: for a field, by its name, one of the names, or empty for none.
    """
    by_key = {_key(name): name for name in reversed(list(names))}
    found = {taken: name for taken, name in (chosen or {}).items() if name in by_key.values()}
    for taken, groups in _NAMES.items():
        named = next((by_key[name] for group in groups for name in group if name in by_key), None)
        if taken not in (chosen or {}) and named is not None and named not in found.values():
            found[taken] = named
    return found


@dataclass(frozen=True)
class Cells:
    """One row: its line (1-based), its text in one line, and its event or its problem."""

    line: int
    shown: str
    event: dict[str, Any] | str
    dated: bool = False


@dataclass(frozen=True)
class Table:
    """All rows, sentences on how they were read, and the order of the numbers in dates, if it was open."""

    rows: list[Cells]
    notes: tuple[str, ...]
    order: Order | None


def known(cells: Sequence[str]) -> set[str]:
    """The fields of a memory that these names of columns mean."""
    named = {_key(cell) for cell in cells}
    return {name for name, groups in _NAMES.items() if named & {*groups[0], *groups[1]}}


def begins_a_table(text: str) -> bool:
    """Whether a text begins with a header of two columns or more, one of them a memory's text, and a row as long.

    If no name is known, all rows must be as long as the header and one of their columns must hold text.
    """
    if _ANNOUNCED.match(text):
        return True
    delimiter = _delimiter(text)
    rows = _beginning(text, delimiter, _LOOKED_AT)
    header, first = [*rows, [], []][:2]
    if len(header) < 2 or len(_fitted(first, len(header))) != len(header):
        return False
    named = {_key(cell) for cell in header}
    if named & {"document", "text"} or ("document" in known(header) and len(known(header)) > 1):
        return True
    return _is_even(text, header, rows[1:])


def _is_even(text: str, header: list[str], rows: list[list[str]]) -> bool:
    """Whether all rows below a header of unknown names are as long as it is."""
    names = [name.strip() for name in header]
    first = text.lstrip().split("\n", 1)[0]
    if len(rows) < 2 or len({*names}) < len(names) or not all(map(_may_name, names)) or ", " in first[:_BEGINNING]:
        return False
    even = [cells for row in rows if len(cells := _fitted(row, len(names))) == len(names)]
    found = _by_content(names, even)
    return len(even) * 5 >= len(rows) * 4 and "document" in found and (len(names) > 2 or "timestamp" in found)


def _may_name(cell: str) -> bool:
    """Whether a cell of the first row may be the name of a column: a few words, not a date, number or sentence."""
    words = cell.split()
    return (
        1 <= len(words) <= 5
        and len(cell) <= 40
        and (cell[-1].isalnum() or cell[-1] in ")]?%")
        and any(map(str.isalpha, cell))
        and ": " not in cell
        and at_start(cell) is None
    )


def _by_content(names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, str]:
    """The columns of the time and of the text, judged by the content of the rows, if that is clear.

    The time is the only column with nothing but dates; the text is the one whose cells are longest, of more than a
    word and a half each.
    """
    columns = {name: [cell for row in rows if (cell := row[place].strip())] for place, name in enumerate(names)}
    dated = [name for name, cells in columns.items() if cells and sum(map(_is_date, cells)) * 5 >= len(cells) * 4]
    found = {"timestamp": dated[0]} if len(dated) == 1 else {}
    texts = {name: cells for name, cells in columns.items() if cells and name not in dated}
    longest = max(texts, key=lambda name: sum(map(len, texts[name])) / len(texts[name]), default=None)
    if longest is not None and sum(len(cell.split()) for cell in texts[longest]) * 2 > 3 * len(texts[longest]):
        found["document"] = longest
    return found


def _is_date(cell: str) -> bool:
    return not cell.isdecimal() and in_cell(cell).problem is None


@dataclass(frozen=True)
class Heading:
    """The header of a table: the names of its columns, and for each field, by its name, the column used for it."""

    names: tuple[str, ...]
    takes: Mapping[str, str]


def heading(text: str) -> Heading:
    """The header of a table, guessed; empty if there is no line."""
    announced = _ANNOUNCED.match(text)
    body = text[announced.end() :] if announced else text
    rows = _beginning(body, announced[1] if announced else _delimiter(text), _LOOKED_AT)
    header = rows[0] if rows else []
    names = tuple(name.strip() for name in header)
    try:
        takes = _Columns.of(header, 1, _chosen(header, rows[1:], {})).takes
    except InvalidFile:  # two columns for the same field; a person chooses
        takes = {}
    return Heading(names, {taken: names[place] for taken, place in takes.items()})


def read(
    text: str,
    most: int,
    limit: int,
    asked: Order | None,
    chosen: Mapping[str, str] | None = None,
    zone: tzinfo | None = None,
) -> Table:
    """The rows of a table.

    Args:
        text: the table, its header first.
        most: the most characters in a cell.
        limit: the most rows to read; if there are more, one more is returned.
        asked: the order of the numbers in dates; found out if not given.
        chosen: by the name of a field, the name of the column to use, empty for none; guessed for the others.
        zone: of times without one; UTC if not given.

    Raises:
        InvalidFile: it is not a table, or has no column for the text of a memory; the message names the line.
    """
    announced = _ANNOUNCED.match(text)
    delimiter = announced[1] if announced else _delimiter(text)
    skipped = 1 if announced else 0
    csv.field_size_limit(most)
    lines = io.StringIO(text[announced.end() :] if announced else text, newline="")  # a CR alone ends a line, too
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        header = next((cells for cells in reader if any(cell.strip() for cell in cells)), [])
        line = max(reader.line_num, 1) + skipped
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((reader.line_num + skipped, cells))
            if len(rows) > limit:
                break
    except csv.Error as error:
        raise InvalidFile((Problem("", f"this is not CSV: {error}", reader.line_num + skipped),), "the text") from error
    by_content = _chosen(header, [cells for _, cells in rows[:_LOOKED_AT]], chosen or {})
    columns = _Columns.of(header, line, by_content)
    if "document" not in columns.takes:
        named = ", ".join(columns.header)[:200]
        problem = f"the first line must name the columns, one of them 'document'; it names: {named}"
        raise InvalidFile((Problem("", problem, line),), "the text")
    return _Reading(columns, rows, delimiter, asked, zone, {*by_content} - {*(chosen or {})}).table()


def _chosen(header: Sequence[str], rows: Sequence[list[str]], chosen: Mapping[str, str]) -> dict[str, str]:
    """What is chosen, and what the rows show if no name in the header is known as the text of a memory."""
    names = [name.strip() for name in header]
    if "document" in {*known(header), *chosen} or len({*names}) < len(names):
        return dict(chosen)
    even = [cells for row in rows if len(cells := _fitted(row, len(names))) == len(names)]
    spoken_for = {*chosen.values(), *taken_for(names).values()}
    free = [names.index(name) for name in names if name not in spoken_for]
    found = _by_content([names[place] for place in free], [[cells[place] for place in free] for cells in even])
    if "timestamp" in known(header):
        found.pop("timestamp", None)
    return {**found, **chosen}


def _delimiter(text: str) -> str:
    """The delimiter that gives the first line the most known names, or the most cells."""

    def found(delimiter: str) -> tuple[int, int]:
        header = next(iter(_beginning(text, delimiter, 1)), [])
        return len(known(header)), len(header)

    return max(DELIMITERS, key=found)


def _beginning(text: str, delimiter: str, most: int) -> list[list[str]]:
    """The header and the first rows, as many as there are."""
    lines = io.StringIO(text[:_BEGINNING].lstrip("\r\n"), newline="")
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a row that cannot be read is ignored here; ``read`` says what is wrong
        for cells in csv.reader(lines, delimiter=delimiter, skipinitialspace=True):
            if any(cell.strip() for cell in cells):
                rows.append(cells)
            if len(rows) == most:
                break
    return rows


def _fitted(cells: list[str], most: int) -> list[str]:
    """A row without the empty cells that some programs write after the last column."""
    return cells[:most] if len(cells) > most and not any(cell.strip() for cell in cells[most:]) else cells


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


@dataclass(frozen=True)
class _Columns:
    """What each column is used as."""

    header: list[str]
    takes: dict[str, int]
    """The place of the column of each field."""
    hours: int | None
    """The place of a column with times of day, next to one with days."""
    extras: dict[int, str]
    """The names under which other columns are kept as metadata."""
    left: list[str]
    """The columns that are not used."""

    @classmethod
    def of(cls, header: Sequence[str], line: int, chosen: Mapping[str, str]) -> _Columns:
        names = [name.strip() for name in header]
        spoken_for = {name for name in chosen.values() if name}
        keys = [_key(name) for name in names]
        takes: dict[str, int] = {}
        day = next((keys.index(name) for name in _DAYS if name in keys), None)
        hours = next((keys.index(name) for name in _HOURS if name in keys), None) if day is not None else None
        if day is None or hours is None or any(name in keys for name in ("timestamp", "when", "datetime", "date_time")):
            hours = None
        for taken, (first, others) in _NAMES.items():
            if taken in chosen:
                if chosen[taken] in names and chosen[taken]:
                    takes[taken] = names.index(chosen[taken])
                if taken == "timestamp" and takes.get(taken) != day:
                    hours = None
                continue
            if taken == "timestamp" and hours is not None and day is not None:
                takes[taken] = day
                continue
            places = [place for place, key in enumerate(keys) if key in first and names[place] not in spoken_for]
            if len(places) > 1:
                cls._refuse_twins([names[place] for place in places], taken, line)
            places += [
                keys.index(name) for name in others if name in keys and names[keys.index(name)] not in spoken_for
            ]
            if places:
                takes[taken] = places[0]
        used = {*takes.values(), *([hours] if hours is not None else [])}
        extras: dict[int, str] = {}
        left: list[str] = []
        for place, name in enumerate(names):
            if place in used:
                continue
            key = name.lower()
            fits = key and len(key) <= 100 and key.isprintable() and not key.startswith(_MARKS) and key not in _OWN
            if key and key in extras.values():
                cls._refuse_twins([name, name], key, line)
            if fits and len(extras) < MAX_EXTRAS:
                extras[place] = key
            else:
                left.append(name or f"column {place + 1}, which has no name")
        return cls(names, takes, hours, extras, left)

    @staticmethod
    def _refuse_twins(names: Sequence[str], taken: str, line: int) -> None:
        """Refuse two columns for the same field.

        Raises:
            InvalidFile: always.
        """
        problem = f"the column {taken!r} appears twice"
        if len({_key(name) for name in names}) > 1:
            problem += f", as {' and '.join(repr(name) for name in names)}; keep one of them"
        raise InvalidFile((Problem("", problem, line),), "the text")

    def cell(self, cells: Sequence[str], taken: str) -> str:
        place = self.takes.get(taken)
        return "" if place is None else from_cell(cells[place].strip())

    def name(self, taken: str) -> str:
        """What the column of a field is called in the header."""
        return self.header[self.takes[taken]]


@dataclass
class _Reading:
    """The rows of a table while they are turned into events."""

    columns: _Columns
    rows: list[tuple[int, list[str]]]
    delimiter: str
    asked: Order | None
    zone: tzinfo | None
    """The zone of times without one; ``None`` = UTC."""
    guessed: Collection[str] = ()
    """The fields whose columns were found by their content."""
    tenths: bool = False
    """Whether the importance is written as 0.1 to 1.0."""
    order: Order = Order.DAY_FIRST
    dates: dict[int, Written] = field(default_factory=dict)

    def table(self) -> Table:
        notes = [f"The columns are separated by {DELIMITERS.get(self.delimiter, repr(self.delimiter))}."]
        meanings = {"document": "the text", "timestamp": "the time"}
        notes += [
            f"The column {self.columns.name(key)!r} is read as {meanings[key]}, judging by its contents."
            for key in meanings
            if key in self.guessed and key in self.columns.takes
        ]
        whole = [(line, _fitted(cells, len(self.columns.header))) for line, cells in self.rows]
        fitting = [(line, cells) for line, cells in whole if len(cells) == len(self.columns.header)]
        notes += self._scale([self.columns.cell(cells, "rating") for _, cells in fitting])
        self.dates = {line: in_cell(when) for line, cells in fitting if (when := self._when(cells))}
        self.order, open_ = order_of(list(self.dates.values()), self.asked)
        notes += self._on_dates()
        self.dates = {line: replace(when, zone=when.zone or self.zone) for line, when in self.dates.items()}
        notes += [open_] if open_ else []
        if self.columns.extras:
            notes.append(f"Kept as metadata: {', '.join(self.columns.extras.values())}.")
        filled = [name for name in self.columns.left if not name.startswith("column ") or self._filled(name, fitting)]
        if filled:
            notes.append(f"Not used: {', '.join(filled)}.")
        rows = [
            Cells(line, ", ".join(cells)[:200], self._event(line, cells), line in self.dates) for line, cells in whole
        ]
        return Table(rows, tuple(notes), self.order if open_ else None)

    def _filled(self, nameless: str, rows: Sequence[tuple[int, Sequence[str]]]) -> bool:
        place = int(nameless.split()[1].rstrip(",")) - 1
        return any(cells[place].strip() for _, cells in rows)

    def _when(self, cells: Sequence[str]) -> str:
        when = self.columns.cell(cells, "timestamp")
        if self.columns.hours is None or not when:
            return when
        return f"{when} {from_cell(cells[self.columns.hours].strip())}".strip()

    def _scale(self, written: Sequence[str]) -> Iterator[str]:
        """Find out which scale the importance is on, from all its numbers; yields a sentence that says which."""
        if "rating" not in self.columns.takes:
            return
        numbers: list[float] = []
        for cell in filter(None, written):
            try:
                numbers.append(number(cell))
            except ValueError:
                continue  # its row says so
        numbers = [number for number in numbers if math.isfinite(number)]
        if not numbers:
            return
        self.tenths = max(numbers) <= 1 and min(numbers) < 1
        scale = "0.1 to 1.0" if self.tenths else "1 to 10"
        yield f"The column {self.columns.name('rating')!r} is read as the importance, on the scale {scale}."

    def _on_dates(self) -> Iterator[str]:
        good = [date for date in self.dates.values() if date.problem is None]
        if any(date.zone is None for date in good):
            yield said_of_zone(self.zone)
        if any(date.clock is None for date in good):
            yield f"Days without a time are read as {NOON:%H:%M}."

    def _event(self, line: int, cells: Sequence[str]) -> dict[str, Any] | str:
        columns = self.columns
        if len(cells) != len(columns.header):
            return f"It has {len(cells)} cells; the header has {len(columns.header)}."
        event: dict[str, Any] = {"document": columns.cell(cells, "document")}
        other: dict[str, Any] = {}
        for taken in columns.takes:
            cell = columns.cell(cells, taken)
            if not cell or taken == "document":
                continue
            if taken == "rating":
                rating = self._rating(cell)
                if isinstance(rating, str):
                    return rating
                event["rating"] = rating
            elif taken == "timestamp":
                when = self.dates[line]
                if when.problem is not None:
                    return f"{columns.name('timestamp')}: {when.problem}."
                event["timestamp"] = when.moment(self.order)
            elif taken in ("tags", "people"):
                event[taken] = [item.strip() for item in cell.replace(";", ",").split(",") if item.strip()]
            elif taken == "source" and cell.lower() not in set(Source):
                other["source"] = cell  # such as an address, which does not say how something became known
            elif taken in FLAGS:
                if cell.lower() not in (*_TRUE, *_FALSE):
                    return f"{columns.name(taken)} is {cell[:40]!r}; write yes or no."
                event[taken] = cell.lower() in _TRUE
            else:
                event[taken] = cell.lower() if taken == "source" else cell
        extras = other | {
            key: cell for place, key in columns.extras.items() if (cell := from_cell(cells[place].strip()))
        }
        return {**event, "metadata": extras} if extras else event

    def _rating(self, cell: str) -> float | str:
        name = self.columns.name("rating")
        try:
            value = number(cell)
        except ValueError:
            if THOUSANDS.fullmatch(cell):
                return f"{name} is {cell[:40]!r}, whose comma may separate thousands; write it without a comma."
            return f"{name} is {cell[:40]!r}, which is not a number."
        if self.tenths and not 0.1 <= value <= 1:
            return f"{name} is {value:g}; the column is read on the scale 0.1 to 1.0."
        if not self.tenths and not 1 <= value <= 10:
            return f"{name} is {value:g}; the column is read on the scale 1 to 10."
        return round(value * 10, 6) if self.tenths else value
