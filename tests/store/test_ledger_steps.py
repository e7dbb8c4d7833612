"""The ledger step by step: applied once, in step with the file on disk, told of each access, closed cleanly."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import AgentGone, StaleChange
from memory_system.store import access_buffer, ledger
from memory_system.store.chroma.location import InFolder
from memory_system.store.projection import Stores
from tests.conftest import NOW, PERSONALITY

Remember = Callable[..., str]


@pytest.fixture
def folder(world: World, agent: AgentMemory) -> Path:
    return world.folder / "mira"


def test_an_agent_is_made_in_a_folder_whose_parents_are_missing(tmp_path: Path, embedder: CachedEmbedder) -> None:
    (tmp_path / "mira.json").write_text(json.dumps(PERSONALITY), encoding="utf-8")
    agent = AgentMemory("mira", database=tmp_path / "not/yet", personalities=tmp_path, embedder=embedder)
    agent.add_short_term({"document": "Here from the start.", "rating": 5})
    assert [entry.document for entry in agent.entries(Tier.STM)] == ["Here from the start."]
    agent.close()


def test_a_change_set_that_is_applied_again_later_changes_nothing(agent: AgentMemory, remember: Remember) -> None:
    held = remember("The bell rang.", rating=2)
    plan = agent.edit(held, rating=7, preview=True)
    first = agent.apply(plan)
    agent.edit(held, rating=9)
    stamp = agent.stamp
    assert agent.apply(plan).revision == first.revision
    assert agent.stamp == stamp
    assert agent.find(held).rating == 9  # type: ignore[union-attr]


def test_a_personality_that_was_edited_on_disk_meanwhile_is_not_overwritten(world: World, agent: AgentMemory) -> None:
    file = world.settings.personalities / "mira.json"
    loaded = agent.personality_text
    plan = agent.save_personality(json.dumps(PERSONALITY | {"traits": ["late riser"]}), preview=True)
    by_hand = json.dumps(PERSONALITY | {"traits": ["light sleeper"]})
    file.write_text(by_hand, encoding="utf-8")
    with pytest.raises(StaleChange, match=r"mira\.json has been edited since you loaded it"):
        agent.apply(plan)
    assert file.read_text(encoding="utf-8") == by_hand
    file.write_text(loaded, encoding="utf-8")
    assert agent.apply(plan).revision is not None
    assert json.loads(file.read_text(encoding="utf-8"))["traits"] == ["late riser"]


def test_an_access_counts_at_once_and_changes_the_stamp(agent: AgentMemory, remember: Remember) -> None:
    held = remember("The bell rang.", hours_ago=30)
    before = agent.stamp
    agent.touch(held)
    assert agent.find(held).last_access == NOW  # type: ignore[union-attr]
    assert agent.stamp[0] == before[0]
    assert agent.stamp[1] == before[1] + 1


def test_a_program_that_ends_without_closing_writes_what_waits_and_one_that_closed_is_done(
    world: World, agent: AgentMemory, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = remember("The bell rang.", hours_ago=30)
    world.close()
    at_the_end: list[Callable[[], None]] = []
    monkeypatch.setattr(ledger, "atexit", SimpleNamespace(register=at_the_end.append, unregister=at_the_end.remove))
    monkeypatch.setattr(access_buffer, "DELAY_SECONDS", 1000.0)
    agent = world.agent("mira")
    agent.touch(held)
    assert agent._context.held.journal.last_access_of([held]) == {}
    (ends,) = at_the_end
    ends()
    assert agent._context.held.journal.last_access_of([held]) == {held: NOW}
    world.close()
    assert at_the_end == []


def test_reading_what_nobody_has_changed_asks_the_journal_for_nothing(
    agent: AgentMemory, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember("The bell rang.")
    agent.entries(Tier.STM)
    asked: list[str] = []
    journal = agent._context.held.journal
    position = journal.position
    monkeypatch.setattr(journal, "position", lambda: asked.append("position") or position())
    assert len(agent.entries(Tier.STM)) == 1
    assert asked == []
    remember("The bell rang again.")
    assert len(agent.entries(Tier.STM)) == 2


def test_a_store_is_compared_row_by_row_when_it_was_not_closed_and_never_for_a_change(
    world: World, agent: AgentMemory, remember: Remember, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[Path] = []
    reconcile = Stores.reconcile

    def counted(self: Stores, *given: object, **more: object) -> object:
        compared.append(self.folder)
        return reconcile(self, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Stores, "reconcile", counted)
    remember("The bell rang.")
    world.close()
    assert json.loads((folder / "closed.json").read_text(encoding="utf-8"))["revision"] == 2
    agent = world.agent("mira")
    agent.add_short_term({"document": "Once more.", "rating": 5})
    agent.add_short_term({"document": "And again.", "rating": 5})
    assert compared == []
    world.close()
    (folder / "closed.json").unlink()
    assert len(world.agent("mira").entries(Tier.STM)) == 3
    assert compared == [folder / "chroma"]


@pytest.mark.parametrize(
    "wrong",
    [{"counts": [1, 2]}, {"counts": None}, {"counts": {"stm": "1"}}, {"files": [1]}, {"files": {"chroma/x": 5}}],
    ids=str,
)
def test_a_note_that_makes_no_sense_is_passed_over(
    world: World, remember: Remember, folder: Path, wrong: dict[str, object]
) -> None:
    remember("The bell rang.")
    world.close()
    note = folder / "closed.json"
    note.write_text(json.dumps(json.loads(note.read_text(encoding="utf-8")) | wrong), encoding="utf-8")
    assert len(world.agent("mira").entries(Tier.STM)) == 1
    world.close()
    assert json.loads(note.read_text(encoding="utf-8"))["revision"] == 2


def test_an_agent_that_nobody_wrote_to_since_opens_without_chroma_and_writes_with_it(
    world: World, remember: Remember, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember("The bell rang.")
    world.close()
    opened: list[Path] = []
    client = InFolder.client
    monkeypatch.setattr(InFolder, "client", lambda self: opened.append(self.folder) or client(self))
    assert [hit.entry.document for hit in world.agent("mira").query_memory("bell", top_k=1)] == ["The bell rang."]
    world.close()
    assert opened == []
    world.agent("mira").add_short_term({"document": "And again.", "rating": 5})
    world.close()
    assert opened
    assert json.loads((folder / "closed.json").read_text(encoding="utf-8"))["counts"]["stm"] == 2


def test_zeros_in_the_place_of_what_made_the_vectors_say_nothing(
    world: World, remember: Remember, folder: Path
) -> None:
    remember("The bell rang.")
    world.close()
    made_with = next(folder.rglob("made_with.txt"))
    made_with.write_bytes(bytes(16))
    agent = world.agent("mira")
    agent.add_short_term({"document": "And again.", "rating": 5})
    assert len(agent.entries(Tier.STM)) == 2


def test_a_store_that_was_made_anew_still_knows_how_much_the_journal_told(
    world: World, agent: AgentMemory, remember: Remember, folder: Path
) -> None:
    remember("dear to me")
    world.close()
    shutil.rmtree(folder / "chroma")
    (folder / "generation").unlink()  # as where the journal alone was copied
    world.agent("mira")  # the store is filled from the journal, and nothing is changed
    world.close()
    for file in folder.glob("journal.sqlite3*"):
        file.unlink()
    shown = world.agent("mira")
    assert "had 2 changes before" in str(shown.read_only)
    assert [entry.document for entry in shown.entries(Tier.STM)] == ["dear to me"]


def test_an_agent_that_was_closed_or_whose_journal_was_replaced_is_read_and_written_no_more(
    world: World, agent: AgentMemory, remember: Remember, folder: Path
) -> None:
    remember("The bell rang.")
    journal = folder / "journal.sqlite3"
    kept = journal.read_bytes()
    journal.unlink()
    (folder / "another").write_bytes(kept)  # under an inode of its own, whatever was free
    (folder / "another").rename(journal)
    for attempt in (lambda: agent.entries(Tier.STM), lambda: remember("Once more.")):
        with pytest.raises(AgentGone, match="'mira' was closed, renamed, deleted or replaced"):
            attempt()
    world.close()
    again = world.agent("mira")
    world.close()
    with pytest.raises(AgentGone):
        again.add_short_term({"document": "Too late.", "rating": 5})
