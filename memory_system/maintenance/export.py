"""An agent's memories as JSON lines, with vectors if wanted, and what was exported taken back in as one change."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..agent import AgentMemory
from ..core.change_set import Change, ChangeSet, entry_to_json
from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.files import as_store_errors
from ..core.json_source import parse_strict
from ..errors import InvalidEntry, InvalidFile, Problem
from ..operations.context import bare
from ..operations.edit import PROTECTED
from ..operations.importing.events import MAX_BATCH, MAX_FILE, Added, Outcome
from ..operations.importing.text import Row

FORMAT = "memory-system/1"
"""What the first line says of the lines after it."""


def lines(agent: AgentMemory, *, vectors: bool = False) -> Iterator[str]:
    """A first line about the agent, and then a line for each memory, tier by tier and by id.

    Works for an agent that can only be read. A vector is a list of numbers that give back its float32 exactly, ``null``
    where there is none.
    """
    about: dict[str, Any] = {
        "agent": agent.name,
        "format": FORMAT,
        "embedder": agent.get_stats()["embedder"],
        "personality": agent.personality_text,
    }
    if agent.read_only:
        about["read_only"] = agent.read_only
    yield json.dumps(about, ensure_ascii=False)
    for tier in LIVED:
        for entry in agent.entries(tier):
            told = entry_to_json(entry)
            if entry.last_access is not None:
                told["last_access"] = entry.last_access.isoformat()
            if vectors:
                vector = agent.contents.vector(entry.id)
                told["vector"] = None if vector is None else [float(number) for number in vector]
            yield json.dumps(told, ensure_ascii=False)


def export(agent: AgentMemory, path: str | Path, *, vectors: bool = False) -> int:
    """Write an agent's memories to a file, whole or not at all; answers how many.

    Raises:
        StoreError: the file cannot be written.
    """
    target, count = Path(path), -1  # the first line is no memory
    beside = target.with_name(f"{target.name}.{os.getpid()}.part")
    with as_store_errors(f"The export of {agent.name!r}"):
        try:
            with beside.open("w", encoding="utf-8") as file:
                for line in lines(agent, vectors=vectors):
                    file.write(line + "\n")
                    count += 1
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    return count


_BESIDE = ("vector", "last_access")
"""What a line tells beside the memory: a vector is made anew, and an access is no part of a change."""
_LIVED = (Tier.STM, Tier.LTM)


def is_export(text: str) -> bool:
    """Whether a text begins as an export does: with a line about an agent and its format."""
    try:
        about = json.loads(text.split("\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(about, dict) and "format" in about and "agent" in about


def read_rows(text: str) -> list[Row]:
    """What each line after the first becomes: a memory with its tier, or the problem that keeps it from being one.

    Raises:
        InvalidFile: it is of another format, or has more than 50,000 memories.
    """
    about, *lines = text.split("\n")
    form = json.loads(about).get("format")
    if form != FORMAT:
        raise InvalidFile((Problem("format", f"it is {form!r:.60}; this program reads {FORMAT!r}", 1),), "the export")
    if len(lines) > MAX_BATCH + 1:
        raise InvalidFile((Problem("", f"it has more than {MAX_BATCH:,} memories; split it"),), "the export")
    rows: list[Row] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        row = _row(number, line)
        if row.entry is not None and (first := seen.setdefault(row.entry.id, number)) != number:
            row = Row(number, row.text, None, f"The id {row.entry.id!r} stands in line {first} already.")
        rows.append(row)
    return rows


def take_in(agent: AgentMemory, entries: Sequence[MemoryEntry], *, overwrite: bool, preview: bool = False) -> Added:
    """Give an agent the memories of an export, in the tiers in which they were.

    Facts of a personality are skipped: they are the personality file's. So is what the agent holds in the same words,
    what is protected, and without ``overwrite`` every id that it holds.

    Raises:
        StaleChange: somebody else changed one at the same moment. Nothing was changed.
        EmbedderError, StoreError: nothing was changed.
    """
    base, now = agent.stamp[0], agent.now
    outcomes = [_outcome(entry, agent.find(entry.id), overwrite=overwrite) for entry in entries]
    changes = tuple(_changes(agent, outcomes))
    title = f"Import {len(changes)} memories" if len(changes) != 1 else "Import a memory"
    plan = ChangeSet("import", title, changes, now, base, author=agent.author, agent=agent.name)
    return Added(tuple(outcomes), plan if preview else agent.apply(plan))


def _row(number: int, line: str) -> Row:
    try:
        value, _ = parse_strict(line, "this line", MAX_FILE, InvalidFile)
        if not isinstance(value, dict):
            return Row(number, line[:200], None, "This is not an object with a document.")
        fields = {name: field for name, field in value.items() if name not in _BESIDE}
        if "extras" in fields:
            fields["metadata"] = fields.pop("extras")
        return Row(number, str(value.get("document", ""))[:200], MemoryEntry.from_dict(fields))
    except (InvalidEntry, InvalidFile) as error:
        return Row(number, line[:200], None, error.sentence)


def _outcome(entry: MemoryEntry, held: MemoryEntry | None, *, overwrite: bool) -> Outcome:
    def told(action: str, why: str = "") -> Outcome:
        return Outcome(entry.id, action, entry, entry.rating is not None, why)

    if entry.tier not in _LIVED:
        return told("skipped", "It is a fact of the personality; that is a file of its own.")
    if held is None:
        return told("added")
    if held.tier not in _LIVED:
        return told("skipped", "The id belongs to something that is not a memory of its own.")
    if bare(held) == entry:
        return told("skipped", "It is held as it is.")
    if held.protected:
        return told("skipped", PROTECTED)
    return told("overwritten") if overwrite else told("skipped", "The id is held.")


def _changes(agent: AgentMemory, outcomes: Sequence[Outcome]) -> Iterator[Change]:
    for one in outcomes:
        held = agent.find(one.id) if one.action == "overwritten" else None
        if one.action != "skipped":
            yield Change(None if held is None else bare(held), one.entry, "An export was taken in.")
