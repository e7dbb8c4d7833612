"""The process that may crash: ``python -m memory_system.probe_child <a copy of Chroma's folder>``; see ``probe``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from .chroma import ChromaStore
from .entry import MemoryEntry, Tier
from .errors import ForeignStore, MemorySystemError

_ROWS = 120
"""More than Chroma keeps in its log before it writes the index to disk."""


def look(folder: Path) -> None:
    """Read all, query, write and delete, in every tier.

    Raises:
        MemorySystemError: something is wrong.
    """
    store = ChromaStore.open(folder)
    for tier in Tier:
        memory = store.memory(tier)
        held = memory.snapshot()
        width = store.shape(tier.value)[0]
        if not width:
            continue
        probes = [MemoryEntry(f"probe {row}", id=f"memory-system-probe-{row}", tier=tier) for row in range(_ROWS)]
        vectors = np.random.default_rng(0).standard_normal((_ROWS, width)).astype(np.float32)
        cue = held.vectors[0] if len(held.vectors) else vectors[0]
        memory.nearest(cue, 10)
        memory.upsert(probes, vectors)
        memory.nearest(cue, 10)
        memory.delete([entry.id for entry in probes])
    store.close()


def main() -> None:
    """Print what was found as one line of JSON."""
    told: dict[str, str] = {}
    try:
        look(Path(sys.argv[1]))
    except ForeignStore as error:
        told["foreign"] = error.sentence
    except MemorySystemError as error:
        told["problem"] = error.sentence.replace(sys.argv[1], "its folder")
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
