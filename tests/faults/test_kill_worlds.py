"""Worlds that are copied, renamed, deleted or brought back by a program that is killed: all of them are whole."""

from __future__ import annotations

import json
import signal

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.maintenance import Worlds
from memory_system.maintenance.worlds import Saved
from tests import programs

ACT = """
import json, os, shutil, signal, sys
from pathlib import Path
from memory_system import Settings
from memory_system.maintenance import Worlds, worlds as slots
from memory_system.store import copying

order = json.loads(sys.argv[1])
calls = 0

def killing(real):
    def do(*arguments, **named):
        global calls
        calls += 1
        if calls == order["which"]:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    return do

step = order["step"]
if step == "rename":  # of folders: those of files are other steps
    rename = Path.rename
    counted = killing(rename)
    Path.rename = lambda self, target: (counted if self.is_dir() else rename)(self, target)
elif step == "copyfile":
    shutil.copyfile = killing(shutil.copyfile)
elif step == "copy":
    copying.copy = killing(copying.copy)
else:
    setattr(slots, step, killing(getattr(slots, step)))
held = Worlds(Settings(**order["settings"]))
if order["act"] == "restore":
    held.restore(held.deleted()[0])
else:
    getattr(held, order["act"])(*order["given"])
"""

STEPS = {
    "a copy, before its first agent": ("copy", ["other", "third"], "copy", 1),
    "a copy, between two agents": ("copy", ["other", "third"], "copy", 2),
    "a copy, before a personality": ("copy", ["other", "third"], "copyfile", 1),
    "a copy, before it is sealed": ("branch", ["other", "third"], "write_slot", 1),
    "a copy, before it is put in place": ("copy", ["other", "third"], "rename", 1),
    "a new world, before it is put in place": ("create", ["third"], "rename", 1),
    "another name, before it is taken": ("rename", ["other", "third"], "rename", 1),
    "deleting, before the world moves": ("delete", ["other"], "rename", 1),
    "deleting a world of before, while it becomes its own": ("delete", ["shared"], "write_slot", 1),
    "deleting a world of before, before it moves": ("delete", ["shared"], "rename", 1),
    "bringing back, before it moves": ("restore", [], "rename", 1),
}


@pytest.mark.parametrize(("act", "given", "step", "which"), STEPS.values(), ids=STEPS.keys())
def test_whatever_is_done_with_worlds_a_kill_leaves_each_of_them_whole(
    world: World, agent: AgentMemory, embedder: CachedEmbedder, act: str, given: list[str], step: str, which: int
) -> None:
    agent.add_short_term({"document": "in every world", "rating": 5})
    world.create_agent("ana")
    worlds = Worlds(world.settings, embedder=embedder)
    worlds.copy("mem_test", "other")
    worlds.copy("mem_test", "binned")
    with World(worlds.settings.model_copy(update={"world": "shared"}), embedder=embedder) as shared:
        shared.agent("mira").add_short_term({"document": "in every world", "rating": 5})
    worlds.delete("binned")
    before = {told.name: _known(told) for told in worlds.all()}
    world.close()
    places = {name: str(getattr(worlds.settings, name)) for name in ("database", "personalities", "world")}
    order = {"act": act, "given": given, "step": step, "which": which, "settings": places}
    killed = programs.run("-c", ACT, json.dumps(order))
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    assert {told.name: _known(told) for told in worlds.all()} == before
    assert [one.name for one in worlds.deleted()] == ["binned"]
    for name in before:
        with World(worlds.settings.model_copy(update={"world": name}), embedder=embedder) as opened:
            assert opened.agents() == ["ana", "mira"]
            assert [entry.document for entry in opened.agent("mira").entries(Tier.STM)] == ["in every world"]
            assert all(one.personality is not None for one in opened)
    assert not list(worlds.folder.glob(".world-making-*"))
    if act == "restore":
        worlds.restore(worlds.deleted()[0])
    else:
        getattr(worlds, act)(*given)


def _known(told: Saved) -> tuple[int, int]:
    return told.characters, told.memories
