"""Replay the sample stories and pack the result, which ships: ``python tools/replay_samples.py``.

Run it whenever a story, a sample personality, the journal's tables or the embedder has changed; a test says so.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from memory_system import Settings, World  # noqa: E402
from memory_system.maintenance.samples import ARCHIVE, fill_world, pack, personality_text  # noqa: E402  # noqa: E402

SAMPLES = ROOT / "database" / "samples" / "harrow_quay"


def main() -> None:
    """Replay into a new world, and pack it."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = Settings(database=Path(scratch) / "worlds", personalities=Path(scratch) / "people", llm="offline")
        with World(settings) as world:
            fill_world(world, SAMPLES, print, replay=True)
            sources = {
                file.stem: (file.read_text(encoding="utf-8"), personality_text(world, file.stem))
                for file in SAMPLES.glob("*.jsonl")
            }
            folder, embedder = world.folder, world.embedder.identity
        pack(folder, sources, embedder, SAMPLES / ARCHIVE)
    print(f"{SAMPLES / ARCHIVE}: {(SAMPLES / ARCHIVE).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
