"""Exports of this program, read back: JSON lines, a table, a folder of Markdown. Ids, tiers and evidence stay."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....core.kinds import FLAGS
from ....errors import shown
from ...front_matter import read as read_page
from ..columns import MARK, number
from ..events import MAX_FILE
from .containers import Archive
from .material import Gathering, refusal
from .tables import read_personality

COLUMNS = (
    *("id", "tier", "kind", "timestamp", "document", "rating", "explanation", "tags", "people", "place", "source"),
    *(*FLAGS, "evidence", "depth", "metadata", "author", "verified", "stale"),
)
"""The header of a table. The last three are written but not read back: they come from the history."""
LISTS = ("tags", "people", "evidence")
"""Columns with several words; separated by semicolons, or as JSON if one of them contains a semicolon."""
ABOUT, PERSONALITY, MEMORIES = "memory-system.json", "personality.json", "memories"
"""What is in a folder: what it is, who the character is, and the folder of the memories."""
LINES, PAGES = "memory-system/1", "memory-system-markdown/1"
"""The names of the form in JSON lines and in a folder."""
_TOLD = ("author", "verified", "stale", "vector", "last_access")
"""What is written next to a memory but is not part of it."""


def is_head(value: object) -> bool:
    """Whether a JSON value is the first line of exported lines, which names the agent and the form."""
    return isinstance(value, dict) and "format" in value and "agent" in value


def is_table(text: str) -> bool:
    """Whether a text begins with the header of an exported table."""
    first = text.removeprefix("\ufeff").split("\n", 1)[0].strip()
    return tuple(first.split(",")) == COLUMNS


def rows_of_table(text: str) -> Iterator[tuple[int, Any]]:
    """The memories of an exported table, each with its line: its fields, or a sentence if its fields are wrong.

    Raises:
        InvalidFile: it is not CSV.
    """
    csv.field_size_limit(MAX_FILE)
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        next(reader)
        for cells in reader:
            if len(cells) != len(COLUMNS):
                yield reader.line_num, f"It has {len(cells)} cells; the header has {len(COLUMNS)}."
            else:
                try:
                    yield reader.line_num, dict(_filled(cells))
                except (ValueError, RecursionError) as error:
                    yield reader.line_num, f"It cannot be read: {error!s:.100}."
    except csv.Error as error:
        raise refusal(f"this is not CSV: {error}", reader.line_num) from error


def _filled(cells: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(COLUMNS, cells, strict=True):
        text = cell.removeprefix(MARK)
        if not text or name in _TOLD:
            continue
        if name in LISTS:
            yield name, json.loads(text) if text.startswith("[") else [item.strip() for item in text.split(";")]
        elif name in FLAGS:
            yield name, text.lower() in ("yes", "true", "1")
        elif name == "metadata":
            yield name, json.loads(text)
        elif name in ("rating", "depth"):
            yield name, number(text) if name == "rating" else int(text)
        else:
            yield name, text


def read_table(text: str, into: Gathering) -> None:
    """Read an exported table.

    Raises:
        InvalidFile: it is not CSV.
    """
    for line, fields in rows_of_table(text):
        if isinstance(fields, str):
            into.drop(f"line {line}", "", fields)
        else:
            into.restore(f"line {line}", fields)


def read_lines(rows: Sequence[tuple[int, Any]], into: Gathering) -> None:
    """Read exported JSON lines, the first of which is about the agent.

    Raises:
        InvalidFile: their form is not known.
        InvalidPersonality: the personality cannot be read.
    """
    (_, about), *rest = rows
    _refuse_other(about.get("format"), LINES)
    if isinstance(text := about.get("personality"), str):
        read_personality(text, into)
    for line, row in rest:
        if not isinstance(row, Mapping):
            into.drop(f"line {line}", row, "It is not an object with a text.")
        elif row.get("tier") != "static":  # that is the personality
            into.restore(f"line {line}", fields_of(row))


def fields_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a memory that an exported line or page holds."""
    fields = {name: value for name, value in row.items() if name not in _TOLD}
    if "extras" in fields:
        fields["metadata"] = fields.pop("extras")
    return fields


def is_folder(archive: Archive) -> bool:
    """Whether an archive holds an exported folder."""
    return bool(archive.named(ABOUT))


def read_folder(archive: Archive, into: Gathering) -> None:
    """Read an exported folder, also one inside another.

    Raises:
        InvalidFile: its form is not known, or cannot be unpacked.
        InvalidPersonality: the personality cannot be read.
    """
    about = archive.named(ABOUT)[0]
    top = about.removesuffix(ABOUT)
    try:
        contents = json.loads(archive.read(about))
    except (ValueError, RecursionError) as error:
        raise refusal(f"{about[:100]} is not JSON: {error!s:.100}") from error
    _refuse_other(contents.get("format") if isinstance(contents, dict) else None, PAGES)
    if (name := f"{top}{PERSONALITY}") in archive.names:
        read_personality(_text(archive, name), into, name)
    for name in sorted(archive.names):
        if not name.startswith(f"{top}{MEMORIES}/") or not name.endswith(".md"):
            continue
        place = name.removeprefix(top)
        try:
            header, body = read_page(_text(archive, name))
        except ValueError as error:
            into.drop(place, "", f"{str(error)[:1].upper()}{str(error)[1:]}.")
        else:
            into.restore(place, fields_of({**header, "document": body}))


def _text(archive: Archive, name: str) -> str:
    try:
        return archive.read(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refusal(f"{name[:100]} in the archive is not UTF-8") from error


def _refuse_other(form: object, known: str) -> None:
    if form != known:
        raise refusal(f"it is an export of the form {shown(form)}; this program reads {known!r}")
