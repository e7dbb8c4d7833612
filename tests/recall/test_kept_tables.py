"""Tables kept beside the store, and accesses that wait: faster, and nothing is lost or believed by mistake."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from memory_system import AgentMemory, Scoring, Tier, World
from memory_system.recall.hybrid import TextIndex
from memory_system.store.journal.journal import Journal
from tests.conftest import NOW, ROOT
from tests.waiting import LAST_RESORT, until

pytestmark = pytest.mark.usefixtures("small_tables_are_kept")

CUE = "Where is the grey heron?"
EVENTS = [
    {
        "document": f"The grey heron was seen at the {place} for the {number}. time.",
        "id": f"{place}-{number}",
        "rating": 1 + number % 10,
        "timestamp": NOW - timedelta(hours=7 * number),
        "tags": ["heron"] if number % 2 else [],
    }
    for place in ("quay", "mill", "weir")
    for number in range(9)
]

Told = tuple[list[tuple[str, float]], dict[str, object]]


@pytest.fixture
def kept(world: World, agent: AgentMemory) -> Path:
    """The kept table of an agent with 20 long-term memories, closed."""
    agent.add_short_term(EVENTS)
    agent.migrate_stm2ltm(ids=[str(event["id"]) for event in EVENTS[:20]])
    agent.query_memory(CUE, top_k=3, static_threshold=1)
    world.close()
    return world.folder / "mira" / "ltm.table"


def told(agent: AgentMemory) -> Told:
    """What the agent recalls and holds."""
    found = agent.explain(CUE, top_k=5, scoring=Scoring())
    held = {entry.id: entry for tier in Tier for entry in agent.entries(tier)}
    return [(one.entry.id, one.score.total) for one in found.candidates], dict(held)


def afresh(world: World, path: Path) -> Told:
    """The same, with everything read from the journal."""
    path.unlink(missing_ok=True)
    world.close()
    answer = told(world.agent("mira"))
    world.close()
    return answer


@pytest.fixture
def tiers_read(monkeypatch: pytest.MonkeyPatch) -> list[Tier]:
    """The tiers that were read from the journal entry by entry."""
    read: list[Tier] = []
    entries = Journal.entries_of

    def noted(self: Journal, tiers: Iterable[Tier], changed_since: int | None = None) -> object:
        wanted = list(tiers)
        read.extend(wanted)
        return entries(self, wanted, changed_since)

    monkeypatch.setattr(Journal, "entries_of", noted)
    return read


def test_a_kept_table_is_opened_instead_of_the_journal_and_says_the_same(
    world: World, kept: Path, tiers_read: list[Tier]
) -> None:
    answer = told(world.agent("mira"))
    assert tiers_read == [Tier.STM, Tier.RECALL, Tier.ARCHIVE]
    assert world.agent("mira").messages == ()
    world.close()
    assert answer == afresh(world, kept)
    assert Tier.LTM in tiers_read


def test_what_was_read_of_the_texts_is_kept_beside_the_table(
    world: World, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    enter = TextIndex._enter

    def noted(index: TextIndex, row: int) -> None:
        read.append(row)
        enter(index, row)

    monkeypatch.setattr(TextIndex, "_enter", noted)
    world.agent("mira").edit(EVENTS[0]["id"], document="The grey heron was gone.")  # before anything was asked
    assert len(read) <= 2  # the edited one, and one that takes its row
    asked = world.agent("mira").explain(CUE, top_k=5)
    world.close()
    kept.unlink()
    anew = world.agent("mira").explain(CUE, top_k=5)
    assert [(one.entry.id, one.score) for one in asked.candidates] == [
        (one.entry.id, one.score) for one in anew.candidates
    ]
    assert len(read) > len(EVENTS)


def test_what_was_written_since_it_was_kept_is_taken_in(world: World, kept: Path, tiers_read: list[Tier]) -> None:
    before = kept.read_bytes()
    with world.agent("mira") as agent:
        agent.forget(["quay-3"])
        agent.edit("quay-4", document="The grey heron flew away.", rating=10)
        agent.migrate_stm2ltm(ids=["weir-2"])
        agent.query_memory(CUE, static_threshold=1, now=NOW + timedelta(hours=5))
    kept.write_bytes(before)  # as if the process had been killed before it wrote the table again
    tiers_read.clear()
    world.take_over = False  # as a world is opened for which no embedder is given
    answer = told(world.agent("mira"))
    assert Tier.LTM not in tiers_read
    world.close()
    assert answer == afresh(world, kept)


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped"])
def test_a_damaged_one_is_made_anew(world: World, kept: Path, tiers_read: list[Tier], damage: str) -> None:
    whole = bytearray(kept.read_bytes())
    if damage == "flipped":
        whole[max(place for place, byte in enumerate(whole) if byte)] ^= 1
    kept.write_bytes({"cut": whole[:3000], "empty": b"", "flipped": whole}[damage])
    answer = told(world.agent("mira"))
    assert Tier.LTM in tiers_read
    world.close()
    assert answer == afresh(world, kept)


def test_one_of_another_history_is_not_believed(world: World, kept: Path, tiers_read: list[Tier]) -> None:
    folder, other = world.folder / "mira", world.folder.parent / "kept-aside"
    shutil.copytree(folder, other)
    with world.agent("mira") as agent:
        agent.forget(["quay-1"])
    table = kept.read_bytes()
    shutil.rmtree(folder)
    shutil.copytree(other, folder)
    with world.agent("mira") as agent:
        agent.forget(["quay-2"])
    kept.write_bytes(table)  # it shows a revision that this journal has too, with other content
    tiers_read.clear()
    held = {entry.id for entry in world.agent("mira").entries(Tier.LTM)}
    assert "quay-1" in held
    assert "quay-2" not in held


def test_a_store_that_lost_memories_is_seen_though_the_table_is_whole(world: World, kept: Path) -> None:
    shutil.rmtree(kept.parent / "chroma")
    agent = world.agent("mira")
    assert len(agent.entries(Tier.LTM)) == 20
    assert any("written" in message for message in agent.messages)


def test_a_lost_journal_is_told_though_the_table_is_whole(world: World, kept: Path) -> None:
    for file in kept.parent.glob("journal.sqlite3*"):
        file.unlink()
    agent = world.agent("mira")
    assert "is missing" in str(agent.read_only)
    assert len(agent.entries(Tier.LTM)) == 20


# -- accesses ------------------------------------------------------------------------------------------


def accesses(path: Path) -> dict[str, object]:
    """What a second opening of the journal knows of last accesses."""
    journal = Journal(f"sqlite:///{path / 'journal.sqlite3'}", lambda: NOW)
    try:
        return dict(journal.last_accesses()[0])
    finally:
        journal.close()


def test_a_query_is_not_kept_waiting_and_its_accesses_are_on_disk_soon(
    world: World, agent: AgentMemory, remember: Callable[[str], str]
) -> None:
    entry_id = remember("The heron stands on the quay.")
    before = agent.stamp
    agent.query_memory("heron", static_threshold=1)
    assert agent.stamp != before
    assert [entry.last_access for entry in agent.entries(Tier.STM)] == [NOW]
    until(lambda: accesses(world.folder / "mira") == {entry_id: NOW})
    assert agent.stamp != before


def test_closing_writes_what_waits(world: World, agent: AgentMemory, remember: Callable[[str], str]) -> None:
    entry_id = remember("The heron stands on the quay.")
    agent.query_memory("heron", static_threshold=1)
    world.close()
    assert accesses(world.folder / "mira") == {entry_id: NOW}


def test_a_program_that_ends_without_closing_loses_none(world: World, agent: AgentMemory) -> None:
    agent.add_short_term({"document": "The heron stands on the quay.", "id": "heron", "rating": 5})
    world.close()
    program = (
        "from memory_system import AgentMemory\n"
        f"mira = AgentMemory('mira', database={str(world.settings.database)!r}, "
        f"personalities={str(world.settings.personalities)!r})\n"
        "mira.query_memory('heron', static_threshold=1)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=LAST_RESORT)
    assert accesses(world.folder / "mira") == {"heron": NOW}


def test_an_access_at_an_earlier_time_takes_nothing_back(agent: AgentMemory, remember: Callable[[str], str]) -> None:
    remember("The heron stands on the quay.")
    for moment in (NOW + timedelta(days=2), NOW + timedelta(days=1)):
        agent.query_memory("heron", static_threshold=1, now=moment)
    assert [entry.last_access for entry in agent.entries(Tier.STM)] == [NOW + timedelta(days=2)]


def test_a_deleted_agent_takes_its_waiting_accesses_with_it(
    world: World, agent: AgentMemory, remember: Callable[[str], str]
) -> None:
    remember("The heron stands on the quay.")
    before = set(threading.enumerate())
    agent.query_memory("heron", static_threshold=1)
    waiting = set(threading.enumerate()) - before
    assert waiting, "when it was recalled is to be written by a timer"
    world.delete_agent("mira")
    for timer in waiting:
        timer.join(LAST_RESORT)
        assert not timer.is_alive()
    assert not (world.folder / "mira").exists()
