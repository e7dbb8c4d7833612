"""The ledger: journal, Chroma and tables kept in step, over closing, damage, threads and second openings."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from memory_system import AgentMemory, ChromaMemory, MemoryEntry, Tier, World
from memory_system.core.change_set import dump_entry
from memory_system.core.memory import Vectors
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import ForeignStore, ReadOnly, StoreDamaged
from memory_system.store import ledger_checks
from tests.conftest import NOW
from tests.waiting import until

Remember = Callable[..., str]


@pytest.fixture
def reopened(world: World, agent: AgentMemory) -> Callable[[], AgentMemory]:
    """Closes the agent and opens it again."""

    def reopen() -> AgentMemory:
        world.close()
        return world.agent("mira")

    return reopen


@pytest.fixture
def folder(world: World, agent: AgentMemory) -> Path:
    return world.folder / "mira"


def _shown(agent: AgentMemory) -> dict[str, object]:
    return {entry.id: (dump_entry(entry), entry.last_access) for tier in Tier for entry in agent.entries(tier)}


def _stored(folder: Path) -> dict[Tier, dict[str, str | None]]:
    """What Chroma holds; the agent is closed."""
    held: dict[Tier, dict[str, str | None]] = {}
    for tier in Tier:
        memory = ChromaMemory.at(folder / "chroma", tier)
        held[tier] = {entry.id: dump_entry(entry) for entry in memory.snapshot().entries}
        memory.close()
    return held


def _agrees(world: World, agent: AgentMemory, folder: Path) -> bool:
    wanted = {tier: {entry.id: dump_entry(entry) for entry in agent.entries(tier)} for tier in Tier}
    world.close()
    return _stored(folder) == wanted


def test_opening_again_shows_the_same(
    agent: AgentMemory, remember: Remember, reopened: Callable[[], AgentMemory]
) -> None:
    ids = [remember(f"The mill, part {n}", rating=n + 1, hours_ago=n, tags=["mill"]) for n in range(6)]
    agent.migrate_stm2ltm(ids=ids[:2])
    agent.configure(stm_size=7, threshold=0.5)
    agent.query_memory("the mill", top_k=4)
    before, settings, stats = _shown(agent), agent.settings, agent.get_stats()
    again = reopened()
    assert _shown(again) == before
    assert any(access for _, access in before.values())  # type: ignore[misc]
    assert again.settings == settings
    assert again.get_stats() == stats
    assert again.messages == ()


def test_rows_that_left_chroma_are_written_again(
    world: World, agent: AgentMemory, remember: Remember, reopened: Callable[[], AgentMemory], folder: Path
) -> None:
    ids = [remember(f"event {n}") for n in range(4)]
    before = _shown(agent)
    world.close()
    memory = ChromaMemory.at(folder / "chroma")
    memory.delete(ids[:3])
    memory.close()
    again = reopened()
    assert again.messages == ("3 memories written and 0 removed to match the journal.",)
    assert _shown(again) == before
    assert _agrees(world, again, folder)


def test_rows_that_were_changed_or_added_in_chroma_are_put_right(
    world: World, agent: AgentMemory, remember: Remember, reopened: Callable[[], AgentMemory], folder: Path
) -> None:
    entry_id = remember("The key is brass.", rating=4)
    before = _shown(agent)
    world.close()
    memory = ChromaMemory.at(folder / "chroma")
    forged = [MemoryEntry("The key is gold.", id=entry_id, rating=9), MemoryEntry("Smuggled in.", id="smuggled")]
    memory.upsert(forged, np.eye(2, 384, dtype=np.float32))
    memory.close()
    again = reopened()
    assert again.messages == ("1 memory written and 1 removed to match the journal.",)
    assert _shown(again) == before
    assert _agrees(world, again, folder)


def test_a_chroma_folder_that_is_gone_is_rebuilt_without_a_model(
    world: World, agent: AgentMemory, remember: Remember, folder: Path
) -> None:
    class NoModel:
        identity = "all-MiniLM-L6-v2"

        def embed(self, texts: object) -> np.ndarray:
            raise AssertionError(f"embedded again: {texts}")

    for n in range(5):
        remember(f"event {n}")
    before = _shown(agent)
    world.close()
    shutil.rmtree(folder / "chroma")
    with AgentMemory(
        "mira",
        database=world.settings.database,
        personalities=world.settings.personalities,
        embedder=NoModel(),
        clock=world.clock,
    ) as again:
        assert _shown(again) == before
        assert "written and 0 removed to match the journal" in again.messages[0]
    assert sum(map(len, _stored(folder).values())) == len(before)


def test_a_damaged_chroma_is_set_aside_and_rebuilt(
    world: World, agent: AgentMemory, remember: Remember, reopened: Callable[[], AgentMemory], folder: Path
) -> None:
    remember("event")
    before = _shown(agent)
    world.close()
    (folder / "chroma" / "chroma.sqlite3").write_bytes(b"no database " * 1000)
    again = reopened()
    assert _shown(again) == before
    assert "set aside and rebuilt from the journal" in again.messages[0]
    assert len(list(folder.glob("chroma-damaged-*"))) == 1
    assert _agrees(world, again, folder)


@pytest.mark.parametrize("name", ["data_level0.bin", "index_metadata.pickle"])
def test_a_damaged_index_is_rebuilt(
    world: World, agent: AgentMemory, reopened: Callable[[], AgentMemory], folder: Path, name: str
) -> None:
    agent.add_short_term([{"document": f"event {n}", "rating": 3} for n in range(150)])  # more are on disk from 100 on
    before = _shown(agent)
    world.close()
    file = max((folder / "chroma").glob(f"*/{name}"), key=lambda path: path.stat().st_size)
    file.write_bytes(b"\xa5" * file.stat().st_size)
    again = reopened()
    assert _shown(again) == before
    assert "rebuilt from the journal" in again.messages[0]
    assert _agrees(world, again, folder)


def test_an_index_that_was_changed_since_closing_is_tried_in_another_process_first(
    world: World,
    agent: AgentMemory,
    remember: Remember,
    reopened: Callable[[], AgentMemory],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def crashes(of: Path) -> str:
        return f"{of.name} crashed it"

    monkeypatch.setattr(ledger_checks, "probe", crashes)
    remember("event")
    before = _shown(agent)
    assert reopened().messages == (), "nothing was changed, and nothing is tried"
    world.close()
    file = next((folder / "chroma").glob("*/header.bin"))
    file.write_bytes(file.read_bytes() + b"more")
    again = reopened()
    assert "Chroma's store is damaged: chroma crashed it." in again.messages[0]
    assert _shown(again) == before


def test_an_index_that_was_changed_since_closing_and_holds_what_it_should_is_told_of(
    world: World, remember: Remember, reopened: Callable[[], AgentMemory], folder: Path
) -> None:
    remember("event")
    for count, more in ((1, ""), (2, " and 1 more")):
        world.close()
        for file in sorted((folder / "chroma").glob("*/header.bin"))[:count]:
            file.write_bytes(file.read_bytes() + b"more")
        (said,) = reopened().messages
        assert f"header.bin{more} was changed since the agent was closed; what it holds is right." in said


@pytest.mark.parametrize("emptied", [False, True], ids=["missing", "emptied"])
def test_a_journal_that_is_gone_is_never_shown_as_an_empty_agent(
    world: World, agent: AgentMemory, remember: Remember, folder: Path, emptied: bool
) -> None:
    remember("dear to me")
    world.close()
    before = _stored(folder)
    journal = folder / "journal.sqlite3"
    kept = journal.read_bytes()
    for file in folder.glob("journal.sqlite3*"):
        file.unlink()
    if emptied:
        journal.touch()
    for _attempt in range(2):
        shown = world.agent("mira")
        assert re.search(
            r"is (missing|empty), and had 2 changes before.* Put journal\.sqlite3 back", str(shown.read_only)
        )
        (held,) = shown.entries(Tier.STM)
        assert held.document == "dear to me"
        with pytest.raises(ReadOnly):
            shown._context.held.apply(shown.forget(held.id, preview=True))
        world.close()
    assert _stored(folder) == before
    for file in folder.glob("journal.sqlite3*"):
        file.unlink()
    journal.write_bytes(kept)
    assert [entry.document for entry in world.agent("mira").entries(Tier.STM)] == ["dear to me"]


def test_a_damaged_chroma_without_a_journal_is_no_empty_agent_either(
    world: World, agent: AgentMemory, remember: Remember, folder: Path
) -> None:
    remember("dear to me")
    world.close()
    for file in folder.glob("journal.sqlite3*"):
        file.unlink()
    (folder / "chroma" / "chroma.sqlite3").write_bytes(b"no database " * 1000)
    with pytest.raises(StoreDamaged):
        world.agent("mira")
    assert list(folder.glob("chroma-damaged-*")) == []


def test_a_row_of_another_program_is_refused_and_left(
    world: World, agent: AgentMemory, folder: Path, tmp_path: Path
) -> None:
    world.close()
    memory = ChromaMemory.at(folder / "chroma")
    with memory._store.collection("stm") as collection:
        collection.upsert(ids=["x"], documents=["theirs"], embeddings=np.eye(1, 384, dtype=np.float32))
    memory.close()
    with pytest.raises(ForeignStore, match="not written by this system"):
        world.agent("mira")


def _second(world: World, embedder: CachedEmbedder) -> AgentMemory:
    return AgentMemory(
        "mira",
        database=world.settings.database,
        personalities=world.settings.personalities,
        embedder=embedder,
        clock=world.clock,
    )


def test_two_openings_in_one_process_see_each_others_writes(
    world: World, agent: AgentMemory, remember: Remember, embedder: CachedEmbedder, folder: Path
) -> None:
    with _second(world, embedder) as other:
        first = remember("The heron stands on the quay.")
        assert [hit.entry.id for hit in other.query_memory("heron", static_threshold=1)] == [first]
        until(lambda: [entry.last_access for entry in agent.entries(Tier.STM)] == [agent.now])  # in the background
        other.edit(first, rating=9)
        assert [entry.rating for entry in agent.entries(Tier.STM)] == [9]
        agent.forget([first])
        assert other.entries(Tier.STM) == []
        assert agent.stamp[0] == other.stamp[0]
    assert _agrees(world, agent, folder)


def test_closing_twice_takes_nothing_from_another_opening(
    world: World, agent: AgentMemory, remember: Remember, embedder: CachedEmbedder, folder: Path
) -> None:
    other = _second(world, embedder)
    other.close()
    other.close()
    remember("one")
    with _second(world, embedder) as third:
        third.add_short_term({"document": "two", "rating": 3})
        remember("three")
    assert len(agent.entries(Tier.STM)) == 3
    assert _agrees(world, agent, folder)


@pytest.mark.parametrize("openings", [1, 2])
def test_eight_threads_adding_lose_nothing(
    world: World, agent: AgentMemory, embedder: CachedEmbedder, folder: Path, openings: int
) -> None:
    agents = [agent, *(_second(world, embedder) for _ in range(openings - 1))]
    failures: list[BaseException] = []

    def add(thread: int) -> None:
        try:
            for number in range(6):
                one = agents[thread % openings]
                one.add_short_term(
                    {"document": f"Thread {thread}, event {number}", "rating": 3, "id": f"{thread}-{number}"}
                )
                one.query_memory(f"Thread {thread}")
        except BaseException as error:  # noqa: BLE001 - any failure of a thread fails the test
            failures.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    wanted = {f"{thread}-{number}" for thread in range(8) for number in range(6)}
    for one in agents:
        assert {entry.id for entry in one.entries(Tier.STM)} == wanted
    for one in agents[1:]:
        one.close()
    assert _agrees(world, agent, folder)


def test_an_event_told_anew_is_as_recent_as_it_says(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("Saw smoke", hours_ago=50, id="smoke")
    agent.query_memory("smoke", now=NOW - timedelta(hours=40))
    remember("Saw smoke again", hours_ago=1, id="smoke")
    found = next(one for one in agent.explain("smoke").candidates if one.entry.id == entry_id)
    assert found.score.recency == 1.0


def test_closing_twice_does_no_harm_to_another_who_holds_the_agent(world: World, agent: AgentMemory) -> None:
    other = AgentMemory("mira", database=world.settings.database, personalities=world.settings.personalities)
    other.close()
    other.close()
    agent.add_short_term({"document": "Still here", "rating": 5})
    assert len(agent.entries(Tier.STM)) == 1


def test_the_vector_of_what_only_moves_is_not_asked_of_the_journal(
    agent: AgentMemory, reopened: Callable[[], AgentMemory], remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = [remember(f"The miller paid {number} coins.") for number in range(3)]
    before = [agent.contents.vector(one) for one in moved]
    kept, asked = agent._context.owner().journal.kept, []
    read = kept.of

    def noted(hashes: Iterable[str], embedder: str) -> dict[str, Vectors]:
        hashes = list(hashes)
        asked.extend(hashes)
        return read(hashes, embedder)

    monkeypatch.setattr(kept, "of", noted)
    agent.migrate_stm2ltm(ids=moved)
    assert asked == []
    opened = reopened()
    assert {one.id for one in opened.entries(Tier.LTM)} == set(moved)
    assert np.array_equal([opened.contents.vector(one) for one in moved], before)
