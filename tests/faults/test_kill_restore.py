"""A restoring that is killed between two steps: the world is the former one or the restored one, whole, at one open."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.maintenance import backup, backup_reading, restore
from memory_system.world import swap
from tests import programs
from tests.conftest import NOW

SWAP = """
import json, os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from memory_system import Settings
from memory_system.store.journal.moving import Journals
from memory_system.world import swap as swapping

order = json.loads(sys.argv[1])
step, which, calls = order["step"], order["which"], 0

def killing(real):
    def do(*arguments, **named):
        global calls
        calls += 1
        if calls == which:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    return do

if step == "rename":  # of the folders: those of files are other steps
    rename = Path.rename
    counted = killing(rename)
    Path.rename = lambda self, target: (counted if self.is_dir() else rename)(self, target)
else:
    setattr(swapping, step, killing(getattr(swapping, step)))
spot = swapping.Spot(Path(order["folder"]), Path(order["personalities"]))
journals = Journals(Settings().journal_url)
for name in ("ana", "mira"):  # as ``restore`` does before it
    journals.of(spot.folder / name).leave_name()
swapping.swap(spot, spot.half, ["ana", "mira"], "it was tried", datetime.now(UTC))
"""

STEPS = {
    "before it is noted that worlds change places": ("_write_pointer", 1, True),
    "before the first personality is moved": ("pack", 1, True),
    "between two personalities": ("pack", 2, True),
    "before the world is set aside": ("rename", 1, True),
    "before the other takes its place": ("rename", 2, False),
    "before a personality is unpacked": ("unpack", 1, False),
    "between two unpacked": ("unpack", 2, False),
}


@pytest.mark.parametrize(("step", "which", "former"), STEPS.values(), ids=STEPS.keys())
def test_a_restoring_that_is_killed_leaves_one_of_both_worlds_whole(
    world: World, agent: AgentMemory, tmp_path: Path, embedder: CachedEmbedder, step: str, which: int, former: bool
) -> None:
    world.create_agent("ana")
    agent.add_short_term({"document": "in the backup", "rating": 5})
    made = backup.make(world, tmp_path / "made.zip")
    assert made is not None
    backup_reading.unpack(made.path, lambda name: restore.place(world.spot.half, name))
    agent.add_short_term({"document": "only in the present", "rating": 5})
    world.close()
    order = {"step": step, "which": which, "folder": str(world.folder), "personalities": str(world.spot.personalities)}
    killed = programs.run("-c", SWAP, json.dumps(order))
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    with World(world.settings, embedder=embedder) as opened:
        assert opened.agents() == ["ana", "mira"]
        assert _texts(opened) == ({"in the backup", "only in the present"} if former else {"in the backup"})
        for one in opened:
            assert one.personality_problem is None
            assert one.personality_text
        assert not list(world.settings.database.glob(".*json"))
        if not former:
            (aside,) = swap.of_world(opened.folder)
            restore.put_back(opened, aside, NOW)
            assert _texts(opened) == {"in the backup", "only in the present"}
            assert opened.agents() == ["ana", "mira"]


def _texts(world: World) -> set[str]:
    return {entry.document for entry in world.agent("mira").entries(Tier.STM)}


ANOTHER = """
import json, sys
from memory_system import AgentMemory
order = json.loads(sys.argv[1])
with AgentMemory("mira", **order) as agent:
    agent.configure(stm_size=11)
"""


def test_a_check_beside_another_program_costs_no_acknowledged_change(
    world: World, agent: AgentMemory, tmp_path: Path, embedder: CachedEmbedder
) -> None:
    """Reading SQLite's files by oneself loses the locks that SQLite holds, and then the next change is lost."""
    from memory_system.maintenance import doctor

    agent.add_short_term({"document": "before", "rating": 5})
    assert doctor.examine(world)
    assert backup.make(world, tmp_path / "made.zip")
    places = {"database": str(world.settings.database), "personalities": str(world.settings.personalities)}
    programs.run("-c", ANOTHER, json.dumps(places), check=True)
    agent.add_short_term({"document": "acknowledged", "rating": 5})
    with AgentMemory("mira", **places, embedder=embedder) as beside:  # type: ignore[arg-type]
        assert {entry.document for entry in beside.entries(Tier.STM)} == {"before", "acknowledged"}
        assert beside.settings.stm_size == 11
