"""An import whose process is killed leaves nothing half, and the same file again goes on without doubling."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from memory_system import Settings, Tier, World
from tests.sample_world import ROOT

LINES, SEEN = 700, 256
SCRIPT = """
import os, signal, sys
from memory_system import World

def progress(done, doing):
    if doing.startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

world = World()
world.agent("rosa").import_material(open(sys.argv[1]).read(), rate=False, progress=progress)
"""


def test_a_killed_import_leaves_nothing_half_and_goes_on_from_its_vectors(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    told = [{"text": f"Carter {n} came with flour.", "importance": 1 + n % 10} for n in range(LINES)]
    file.write_text("\n".join(map(json.dumps, told)), encoding="utf-8")
    settings = Settings(database=tmp_path / "db", personalities=tmp_path / "people", llm="offline")
    with World(settings) as world:
        world.create_agent("rosa")
    where = {"MEMORY_DATABASE": str(settings.database), "MEMORY_PERSONALITIES": str(settings.personalities)}
    killed = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(file), f"Embedding {SEEN}"],
        cwd=ROOT, env={"PATH": "", "HOME": str(Path.home()), "MEMORY_LLM": "offline", **where}, check=False,
    )  # fmt: skip
    assert killed.returncode < 0
    with World(settings) as world:
        rosa = world.agent("rosa")
        assert rosa.entries(Tier.STM) == []
        embed, asked = rosa.embedder.embed, list[str]()
        rosa.embedder.embed = lambda texts: (asked.extend(texts), embed(texts))[1]  # type: ignore[method-assign]
        done = rosa.import_material(file.read_text(encoding="utf-8"), rate=False)
        assert len(asked) == LINES - SEEN
        assert len(rosa.entries(Tier.STM)) == LINES
        assert not rosa.import_material(file.read_text(encoding="utf-8"), rate=False)
        rosa.undo(done.revision or 0)
        assert rosa.entries(Tier.STM) == []
