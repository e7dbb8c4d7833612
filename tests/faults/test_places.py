"""Folders as people have them: odd names, moved and copied, read-only, forbidden; and clocks that jump."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.core.change_set import dump_entry
from memory_system.core.findings import State
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import ReadOnly
from memory_system.maintenance import Worlds
from memory_system.maintenance.doctor import examine_agent
from memory_system.store.journal.moving import Journals
from memory_system.store.read_only import open_ledger
from tests.conftest import NOW, PERSONALITY
from tests.faults.conftest import Counted
from tests.faults.survivor import HAPPENED, Survivor, go, settings_of, start, told_by

# -- names ---------------------------------------------------------------------------------------------

NAMES = {
    "spaces": "my  memories of old",
    "emoji and accents": "Erinnerungen 🦀 naïve 記憶",
    "200 characters": "long " * 40,
    "what means something in an address": "100%41 sure? #1 & a=b;c'd\"e",
    "what means something to a shell": "$(touch x) `y` *[z] \\n",
    "a dash before it": "-rf",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_folder_of_any_name_holds_a_world(
    prepared: Path, before: Survivor, tmp_path: Path, embedder: CachedEmbedder, counted: Counted, name: str
) -> None:
    root = tmp_path / name.strip()
    shutil.copytree(prepared, root)
    with World(settings_of(root), embedder=embedder) as world:
        agent = world.agent("mira")
        assert agent.messages == ()
        revision = agent.add_short_term([{"document": f"late {n}", "id": f"late-{n}"} for n in range(120)]).change_set
        agent.save_personality(json.dumps(PERSONALITY | {"facts": ["A fact of this place."]}))
    shutil.rmtree(root / "database/mem_test/mira/chroma")  # it is probed and rebuilt where it lies
    after = Survivor(root, embedder)
    counted("a folder of an odd name", acknowledged=2, **after.counts)
    assert after.missing([revision.revision]) == set()
    assert len(after.tiers[Tier.STM]) == len(before.tiers[Tier.STM]) + 120
    assert [path.name for path in tmp_path.iterdir()] == [root.name], "nothing was written elsewhere"


# -- moved and copied ----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["moved", "copied", "copied without its times"])
def test_a_world_that_was_moved_or_copied_while_closed_is_the_same(
    root: Path, before: Survivor, tmp_path: Path, embedder: CachedEmbedder, counted: Counted,
    request: pytest.FixtureRequest, how: str,
) -> None:  # fmt: skip
    if how != "moved":
        request.getfixturevalue("journals_in_files")  # on a server a copy by hand is refused while the original exists
    target = tmp_path / "elsewhere" / "world"
    target.parent.mkdir()
    if how == "moved":
        root.rename(target)
    else:
        shutil.copytree(root, target, copy_function=shutil.copy2 if how == "copied" else shutil.copyfile)
    after = Survivor(target, embedder)
    counted("a folder moved or copied while closed", **after.counts)
    assert after.messages == ()
    assert (after.tiers, after.history) == (before.tiers, before.history)
    with World(settings_of(target), embedder=embedder) as world:
        world.agent("mira").forget(["m5"])
    assert "m5" not in Survivor(target, embedder).ids
    if how != "moved":
        assert Survivor(root, embedder).history == before.history, "the copy is another agent"


def test_a_folder_copied_beside_itself_is_an_agent_of_its_own(
    root: Path, before: Survivor, embedder: CachedEmbedder
) -> None:
    folder = root / "database/mem_test"
    shutil.copytree(folder / "mira", folder / "ana")
    with World(settings_of(root), embedder=embedder) as world:
        ana, mira = world.agent("ana"), world.agent("mira")
        assert (ana.messages, mira.messages) == ((), ())
        ana.forget(["m5"])
        assert (ana.find("m5"), mira.find("m5") is not None) == (None, True)


# -- what may not be written ---------------------------------------------------------------------------

AS_NOBODY_SPECIAL = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner")
"""Runs a process of root as one that permissions hold for."""


@pytest.fixture
def bound() -> tuple[str, ...]:
    """What to put before a command so that permissions hold for it."""
    if os.getuid():
        return ()
    if shutil.which(AS_NOBODY_SPECIAL[0]) is None:
        pytest.skip("The tests run as root, whom no permission stops, and there is no setpriv.")
    return AS_NOBODY_SPECIAL


@pytest.fixture
def forbid(root: Path) -> Iterator[Callable[[str, int], None]]:
    """Takes permissions from a folder and all in it; they are given back at the end."""

    def take(name: str, mask: int) -> None:
        for path in sorted((root / name).rglob("*"), reverse=True):
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~mask)
        (root / name).chmod(stat.S_IMODE((root / name).stat().st_mode) & ~mask)

    yield take
    for folder, _, _ in os.walk(root):
        _allow(Path(folder))


def _allow(folder: Path) -> None:
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o755 if path.is_dir() else 0o644)


def _given_back(root: Path) -> None:
    for folder, _, _ in os.walk(root):
        _allow(Path(folder))


MASKS = {"read-only": 0o222, "forbidden": 0o777}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_an_agent_in_a_folder_that_cannot_be_used_is_told_and_left(
    root: Path, before: Survivor, embedder: CachedEmbedder, bound: tuple[str, ...], forbid: Callable[[str, int], None],
    counted: Counted, mask: int,
) -> None:  # fmt: skip
    forbid("database/mem_test/mira", mask)
    child = start(root, prefix=bound, operation="add")
    out, problems = child.communicate()
    assert (child.returncode, out) == (1, "")
    assert "Error" in problems.splitlines()[-1] or "Store" in problems.splitlines()[-1]
    assert "ermission denied" in problems.splitlines()[-1], problems
    _given_back(root)
    after = Survivor(root, embedder)
    counted("a folder that is read-only or forbidden", **after.counts)
    assert (after.tiers, after.history, after.messages) == (before.tiers, before.history, ())


@pytest.mark.parametrize("name", ["database/mem_test/mira", "personalities", ""], ids=["agent", "personality", "world"])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_a_folder_that_is_taken_away_under_an_open_agent_loses_nothing(
    root: Path, before: Survivor, embedder: CachedEmbedder, bound: tuple[str, ...], forbid: Callable[[str, int], None],
    counted: Counted, name: str, mask: int,
) -> None:  # fmt: skip
    child = start(root, prefix=bound, operation="try")
    assert told_by(child) == {"open": True}
    told = []
    for taken in (False, True, True, False):
        forbid(name, mask) if taken else _given_back(root)
        go(child)
        told.append(told_by(child))
    out, problems = child.communicate("done\n")
    assert (child.returncode, out) == (0, ""), problems
    assert all(one["recalled"] or name == "" for one in told), "it is recalled from all the same"
    assert [("revision" in one) for one in told][0::3] == [True, True]
    assert all("revision" in one or one["sentence"] for one in told)
    after = Survivor(root, embedder)
    acknowledged = [one["revision"] for one in told if "revision" in one]
    counted("a folder taken away while it is used", acknowledged=len(acknowledged), **after.counts)
    assert after.missing(acknowledged) == set()


def test_a_personality_that_cannot_be_written_is_told_and_the_agent_still_opens(
    root: Path, before: Survivor, embedder: CachedEmbedder, bound: tuple[str, ...], forbid: Callable[[str, int], None]
) -> None:
    forbid("personalities", 0o222)
    text = json.dumps(PERSONALITY | {"facts": ["The heron is a rumour."]})
    for _ in range(2):
        child = start(root, prefix=bound, operation="personality", text=text)
        out, problems = child.communicate()
        assert json.loads(out.splitlines()[0]) == {"open": True}, problems
        assert child.returncode == 1
        assert "ermission denied" in problems.splitlines()[-1], problems
    _given_back(root)
    after = Survivor(root, embedder)
    assert (after.history, after.personality) == (before.history, before.file)


@pytest.fixture
def mounted(tmp_path: Path, root: Path) -> Iterator[Path]:
    """The world, on a file system that is mounted read-only."""
    place = tmp_path / "mounted"
    place.mkdir()
    done = subprocess.run(["mount", "--bind", root, place], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("Nothing can be mounted here.")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True, capture_output=True)
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def test_a_world_on_a_read_only_disk_is_looked_at_and_left(
    mounted: Path, root: Path, before: Survivor, embedder: CachedEmbedder, counted: Counted,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    request.getfixturevalue("journals_in_files")  # one on a server could not be told of what is written elsewhere
    with World(settings_of(mounted), embedder=embedder) as world:
        agent = world.agent("mira")
        assert any("Read-only file system" in message for message in agent.messages)
        assert not agent.contents.is_damaged
        assert {tier: {e.id: dump_entry(e) for e in agent.entries(tier)} for tier in Tier} == before.tiers
        assert agent.query_memory(HAPPENED[0], static_threshold=1).considered
        assert [one.change_set for one in reversed(agent.history(10_000))] == before.history
        with pytest.raises(ReadOnly, match=r"'mira' can only be read\. .* Make it writable"):
            agent.add_short_term({"document": HAPPENED[0]})
        with World(settings_of(root), embedder=embedder) as elsewhere:
            elsewhere.agent("mira").add_short_term({"document": HAPPENED[1], "id": "elsewhere", "rating": 5})
            assert "elsewhere" in {entry.id for entry in world.agent("mira").entries(Tier.STM)}, "it is read anew"
    after = Survivor(root, embedder)
    counted("a folder that is read-only or forbidden", **after.counts)
    assert (len(after.history), after.messages) == (len(before.history) + 1, ())


def test_the_doctor_and_the_list_of_worlds_look_at_a_read_only_disk(
    mounted: Path, before: Survivor, embedder: CachedEmbedder, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("journals_in_files")
    folder, file = mounted / "database/mem_test/mira", mounted / "personalities/mira.json"
    found = examine_agent(folder, file, embedder)
    assert {one.state for one in found} == {State.RIGHT}, found
    (listed,) = Worlds(settings_of(mounted)).all()
    assert (listed.memories, listed.problem) == (sum(len(before.tiers[tier]) for tier in (Tier.STM, Tier.LTM)), "")


# -- clocks --------------------------------------------------------------------------------------------


def test_a_clock_that_jumps_back_changes_neither_the_order_of_changes_nor_what_is_held(
    root: Path, before: Survivor, embedder: CachedEmbedder, counted: Counted
) -> None:
    jumps = iter([timedelta(0), timedelta(days=-400), timedelta(hours=3), timedelta(days=-9000)])
    times = [NOW + jump for jump in jumps]
    folder, file = root / "database/mem_test/mira", root / "personalities/mira.json"
    acknowledged = []
    with World(settings_of(root), embedder=embedder) as world:
        agent = world.agent("mira")
        for number, at in enumerate(times):
            world.stand_at(at)
            added = agent.add_short_term({"document": HAPPENED[number], "id": f"j{number}", "rating": 5})
            acknowledged.append(added.change_set.revision)
            found = agent.query_memory(HAPPENED[number], static_threshold=1)
            assert f"j{number}" in {hit.entry.id for hit in found}
            assert all(0 <= hit.score.recency <= 1 for hit in found)
        agent.undo(int(acknowledged[-1] or 0))
        acknowledged.append(agent.history(1)[0].revision)
        world.stand_at(NOW)
    for jump in (times[1], times[3]):  # the clock at the desk
        with closing(Journals(settings_of(root).journal_url)) as journals:
            ledger = open_ledger(folder, file, embedder, lambda jump=jump: jump, journals=journals)  # type: ignore[misc]
            assert ledger.messages == []
            ledger.close()
    future = (datetime.now().timestamp() + 86400 * 400,) * 2
    for path in root.rglob("*"):
        os.utime(path, future)
    after = Survivor(root, embedder)
    counted("a clock that jumps back", 4, acknowledged=len(acknowledged), **after.counts)
    assert after.messages == ()
    assert after.missing(acknowledged) == set()
    assert after.ids - before.ids == {"j0", "j1", "j2"}


def test_a_personality_edited_under_an_earlier_time_is_noticed(root: Path, embedder: CachedEmbedder) -> None:
    file = root / "personalities/mira.json"
    with World(settings_of(root), embedder=embedder) as world:
        agent: AgentMemory = world.agent("mira")
        file.write_text(file.read_text(encoding="utf-8").replace("34", "35"), encoding="utf-8")
        os.utime(file, (1, 1))
        agent.query_memory("How old is Mira?")
        assert "35" in str(agent.personality_text)
