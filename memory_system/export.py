"""An agent's memories as JSON lines, with their vectors if wanted: to be kept, or read by other programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .agent import AgentMemory
from .changes import entry_to_json
from .entry import LIVED
from .files import as_store_errors

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
                vector = agent.vector(entry.id)
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
