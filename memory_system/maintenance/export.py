"""An agent's memories as JSON lines, with vectors on request; an export is imported again as one change."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..agent import AgentMemory
from ..core.change_set import Change, ChangeSet
from ..core.entry import DECAYING, LIVED, MemoryEntry
from ..core.files import as_store_errors
from ..core.json_source import parse_strict
from ..errors import InvalidEntry, InvalidFile, Problem, shown
from ..operations.context import bare
from ..operations.edit import PROTECTED
from ..operations.exporting import rows
from ..operations.importing.events import MAX_BATCH, MAX_FILE, Added, Outcome
from ..operations.importing.forms import ours
from ..operations.importing.text import Row

FORMAT = ours.LINES
"""What the first line says of the lines after it."""


def lines(agent: AgentMemory, *, vectors: bool = False) -> Iterator[str]:
    """A first line about the agent, and then a line for each memory, tier by tier and by id.

    This also works for a read-only agent. A vector is a list of numbers that give back its float32 exactly, ``null``
    if there is none.
    """
    about = rows.about(agent.name, agent.embedder.identity, agent.personality_text, agent.read_only)

    def beside(entry: MemoryEntry) -> dict[str, Any]:
        vector = agent.contents.vector(entry.id)
        return {"vector": None if vector is None else [float(number) for number in vector]}

    entries = (entry for tier in LIVED for entry in agent.entries(tier))
    yield from rows.lines(about, entries, beside if vectors else None)


def export(agent: AgentMemory, path: str | Path, *, vectors: bool = False) -> int:
    """Write an agent's memories to a file, completely or not at all; returns how many.

    Raises:
        StoreError: the file cannot be written.
    """
    count = -1  # the first line is not a memory
    with as_store_errors(f"The export of {agent.name!r}"), whole(Path(path)) as file:
        for line in lines(agent, vectors=vectors):
            file.write(f"{line}\n".encode())
            count += 1
    return count


@contextmanager
def whole(target: Path) -> Iterator[IO[bytes]]:
    """A file that appears complete once it is written, or not at all.

    Raises:
        OSError: it cannot be written.
    """
    beside = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            yield file
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def is_export(text: str) -> bool:
    """Whether a text begins like an export: with a line about an agent and its format, or as a table of ours."""
    try:
        return ours.is_table(text) or ours.is_head(json.loads(text.split("\n", 1)[0]))
    except (ValueError, RecursionError):
        return False


def read_rows(text: str) -> list[Row]:
    """What each line after the first becomes: a memory with its tier, or the problem that keeps it from being one.

    Raises:
        InvalidFile: it is of another format, or has more than 50,000 memories.
    """
    rows: list[Row] = []
    seen: dict[str, int] = {}
    for row in _rows_of_table(text) if ours.is_table(text) else _rows_of_lines(text):
        if row.entry is not None and (first := seen.setdefault(row.entry.id, row.line)) != row.line:
            rows.append(Row(row.line, row.text, None, f"The id {row.entry.id!r} stands in line {first} already."))
        else:
            rows.append(row)
        if len(rows) > MAX_BATCH:
            raise InvalidFile((Problem("", f"it has more than {MAX_BATCH:,} memories; split it"),), "the export")
    return rows


def _rows_of_lines(text: str) -> Iterator[Row]:
    about, *lines = text.split("\n")
    form = json.loads(about).get("format")
    if form != FORMAT:
        raise InvalidFile((Problem("format", f"it is {shown(form)}; this program reads {FORMAT!r}", 1),), "the export")
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        try:
            value, _ = parse_strict(line, "this line", MAX_FILE, InvalidFile)
        except InvalidFile as error:
            yield Row(number, line[:200], None, error.sentence)
        else:
            plain = value if isinstance(value, dict) else "This is not an object with a document."
            yield _row(number, line, plain)


def _rows_of_table(text: str) -> Iterator[Row]:
    for number, fields in ours.rows_of_table(text):
        yield _row(number, str(fields), fields)


def take_in(agent: AgentMemory, entries: Sequence[MemoryEntry], *, overwrite: bool, preview: bool = False) -> Added:
    """Give an agent the memories of an export, in the tiers in which they were.

    Facts of a personality are skipped, since they belong to the personality file. So are memories that the agent has in
    the same words, protected ones and, without ``overwrite``, every id that it has.

    Raises:
        StaleChange: somebody else changed one at the same moment. Nothing was changed.
        EmbedderError, StoreError: nothing was changed.
    """
    base, now = agent.stamp[0], agent.now
    outcomes = [_outcome(entry, agent.find(entry.id), overwrite=overwrite) for entry in entries]
    changes = tuple(_changes(agent, outcomes))
    title = f"Import {len(changes):,} memories" if len(changes) != 1 else "Import a memory"
    plan = ChangeSet("import", title, changes, now, base, author=agent.author, agent=agent.name)
    return Added(tuple(outcomes), plan if preview else agent.apply(plan))


def _row(number: int, line: str, fields: dict[str, Any] | str) -> Row:
    if isinstance(fields, str):
        return Row(number, line[:200], None, fields)
    try:
        entry = MemoryEntry.from_dict(ours.fields_of(fields))
    except InvalidEntry as error:
        return Row(number, line[:200], None, error.sentence)
    return Row(number, str(fields.get("document", ""))[:200], entry)


def _outcome(entry: MemoryEntry, existing: MemoryEntry | None, *, overwrite: bool) -> Outcome:
    def outcome(action: str, why: str = "") -> Outcome:
        return Outcome(entry.id, action, entry, entry.rating is not None, why)

    if entry.tier not in DECAYING:
        return outcome("skipped", "It is a fact of the personality; that is a file of its own.")
    if existing is None:
        return outcome("added")
    if existing.tier not in DECAYING:
        return outcome("skipped", "The id belongs to something that is not a memory of its own.")
    if bare(existing) == entry:
        return outcome("skipped", "It is already here, unchanged.")
    if existing.protected:
        return outcome("skipped", PROTECTED)
    return outcome("overwritten") if overwrite else outcome("skipped", "The id exists already.")


def _changes(agent: AgentMemory, outcomes: Sequence[Outcome]) -> Iterator[Change]:
    for outcome in outcomes:
        entry = agent.find(outcome.id) if outcome.action == "overwritten" else None
        if outcome.action != "skipped":
            yield Change(None if entry is None else bare(entry), outcome.entry, "An export was imported.")
