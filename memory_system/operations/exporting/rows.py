"""Memories as JSON lines and as a table, which ``importing/forms/ours`` reads back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...core.change_set import entry_to_json
from ...core.entry import MemoryEntry
from ..importing.columns import MARK, as_cell
from ..importing.forms.ours import COLUMNS, LINES, LISTS
from .character import Character, Remembered, fields_of


def jsonl(character: Character) -> str:
    """A line for the agent, and then one for each fact and memory."""
    return "".join(f"{line}\n" for line in lines(character.about, _entries(character)))


def about(name: str, embedder: str, personality: str | None, read_only: str | None) -> dict[str, Any]:
    """What the first line says: whose memories follow, in which form, and that agent's personality."""
    header = {"agent": name, "format": LINES, "embedder": embedder, "personality": personality}
    return header | ({"read_only": read_only} if read_only else {})


def lines(
    about: dict[str, Any], entries: Iterable[MemoryEntry], more: Callable[[MemoryEntry], dict[str, Any]] | None = None
) -> Iterator[str]:
    """A first line about the agent, and then one for each memory, with what ``more`` adds to it."""
    yield json.dumps(about, ensure_ascii=False)
    for entry in entries:
        fields = entry_to_json(entry)
        if entry.last_access is not None:
            fields["last_access"] = entry.last_access.isoformat()
        yield json.dumps(fields | (more(entry) if more else {}), ensure_ascii=False)


def _entries(character: Character) -> Iterator[MemoryEntry]:
    yield from character.facts
    yield from (memory.entry for memory in character.memories)


def table(character: Character) -> str:
    """A table with a row per memory; no cell is a formula."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for memory in character.memories:
        fields = _row(memory)
        writer.writerow([_cell(name, fields.get(name)) for name in COLUMNS])
    return written.getvalue()


def _row(memory: Remembered) -> dict[str, Any]:
    said = {"author": memory.author, "verified": memory.verified, "stale": " ".join(memory.stale)}
    return {"document": memory.entry.document, **fields_of(memory.entry), **said}


def _cell(name: str, value: object) -> str:
    if value in (None, "", (), [], {}, False):
        return ""
    if value is True:
        return "yes"
    if isinstance(value, int | float):
        return json.dumps(value)
    if name in LISTS and isinstance(value, list):
        parted = any(";" in item or item != item.strip() or item.startswith("[") for item in value)
        value = json.dumps(value, ensure_ascii=False) if parted else "; ".join(value)
    elif isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    text = str(value)
    return MARK + text if text.startswith(MARK) else as_cell(text)
