"""Purging: what a forgotten memory said leaves every file of the agent, and the history still hangs together."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memory_system import AgentMemory, Change, ChangeSet, Tier, World
from memory_system.core.change_set import Kept, ModelCall, dump_entry, short
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import Conflict, EntryNotFound, Immutable, InvalidParameter, ReadOnly, StaleChange
from memory_system.store import copying
from memory_system.store.journal.journal import Journal
from memory_system.store.journal.trash import PURGED_TEXT, Scrubber
from memory_system.store.ledger import Ledger
from memory_system.store.projection import Stores
from tests import programs
from tests.conftest import NOW

Remember = Callable[..., str]

SECRET = 'Zanzibar hides the "purple" ledger beneath\nthe third floorboard, näher am Kamin'
TRACES = ("Zanzibar", "purple", "floorboard", "näher am Kamin", "n\\u00e4her")


def traces(folder: Path) -> list[str]:
    """Which files still hold a piece of the secret."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            found += [f"{path.name}: {trace}" for trace in TRACES if trace.encode() in data]
            found += [f"{path.name}: {trace}" for trace in TRACES if trace.encode("utf-16-le") in data]
    return found


def spare(folder: Path) -> dict[Path, bytes]:
    """What lies in each of Chroma's files of elements behind the last one."""
    found = {}
    for header in folder.rglob("header.bin"):
        held, each = struct.unpack_from("<QQ", header.read_bytes(), 20)
        file = header.with_name("data_level0.bin")
        found[file] = file.read_bytes()[held * each :]
    return found


@pytest.fixture
def secret(agent: AgentMemory, remember: Remember) -> str:
    """A memory with a past: rated by the model, edited, moved, recalled, reflected on, and forgotten."""
    for number in range(6):
        remember(f"An ordinary thing, number {number}", rating=4, hours_ago=number)
    (added,) = agent.add_short_term({"document": SECRET, "tags": ["x"], "metadata": {"note": "Zanzibar"}}).outcomes
    agent.edit(added.id, explanation="Because of Zanzibar")
    agent.edit(added.id, document=f"{SECRET}!")
    agent.migrate_stm2ltm(ids=added.id)
    agent.query_memory("An ordinary thing")
    agent.query_memory(f"{SECRET}!")
    agent.reflect_from_recent_memory()
    agent.undo(agent.edit(added.id, rating=9))
    agent.forget(added.id)
    return added.id


def others(agent: AgentMemory) -> dict[str, object]:
    return {entry.id: dump_entry(entry) for tier in Tier for entry in agent.entries(tier)}


# -- every byte ------------------------------------------------------------------------------------------


def test_no_byte_of_what_was_purged_is_left_in_any_file(world: World, agent: AgentMemory, secret: str) -> None:
    for derived in agent.built_on(secret):  # what rests on it may quote it, and is purged by itself
        agent.forget(derived.id)
        agent.purge(derived.id)
    before = others(agent)
    assert traces(world.folder)
    done = agent.purge(secret)
    assert others(agent) == before
    assert traces(world.folder) == []
    assert done.purges == (secret,)
    world.close()
    assert traces(world.folder) == []
    again = world.agent("mira")
    assert again.messages == ()
    assert others(again) == before


def test_the_history_tells_of_a_purge_without_the_text_and_hangs_together(agent: AgentMemory, secret: str) -> None:
    told_before = [one.revision for one in agent.history()]
    done = agent.purge(secret)
    told = agent.history()
    assert [one.revision for one in told] == [done.revision, *told_before]
    assert (told[0].change_set.operation, told[0].change_set.purges) == ("purge", (secret,))
    assert not any(trace in str(one.change_set) + str(one.change_set.calls) for one in told for trace in TRACES)
    added = next(
        one for one in reversed(told) if one.change_set.changes and one.change_set.changes[0].entry_id == secret
    )
    assert added.change_set.title == f"Remember “{PURGED_TEXT}”"
    assert added.change_set.of("add")[0].after.document == PURGED_TEXT  # type: ignore[union-attr]
    assert agent.last_version(secret).document == PURGED_TEXT
    assert secret not in {one.entry.id for one in agent.forgotten()}
    assert agent.history(contains="Zanzibar") == []
    assert [one.query.cue for one in agent.queries()] == ["An ordinary thing"]
    then = agent.as_of(revision=told_before[0] - 1)
    assert then.last_version(secret).document == PURGED_TEXT
    assert all(hit.entry.document != SECRET for hit in then.query_memory("the ledger", top_k=20, threshold=0))


def test_a_past_that_was_looked_at_forgets_what_is_purged(agent: AgentMemory, secret: str) -> None:
    revision = agent.stamp[0] - 1
    seen = agent.as_of(revision=revision).find(secret)
    assert seen is not None
    assert "Zanzibar" in seen.document
    agent.purge(secret)
    after = agent.as_of(revision=revision).find(secret)
    assert after is not None
    assert after.document == PURGED_TEXT


def test_what_another_memory_says_in_the_same_words_stays(agent: AgentMemory, remember: Remember) -> None:
    one, twin = remember("The key hangs at the inn"), remember("The key hangs at the inn")
    agent.forget(one)
    agent.purge(one)
    assert agent.find(twin) is not None
    assert agent.contents.vector(twin) is not None
    assert [hit.entry.id for hit in agent.query_memory("Where does the key hang?", threshold=0)][:1]


def test_a_purged_id_can_be_remembered_anew(agent: AgentMemory, remember: Remember) -> None:
    remember("First words about the key", id="key")
    agent.forget("key")
    agent.purge("key")
    remember("Second words about the key", id="key")
    assert agent.last_version("key").document == "Second words about the key"
    agent.forget("key")
    assert [one.entry.document for one in agent.forgotten()] == ["Second words about the key"]
    agent.restore("key")
    agent.forget("key")
    agent.purge("key")
    with pytest.raises(EntryNotFound, match="purged"):
        agent.restore("key")


def test_room_that_chroma_has_left_over_holds_nothing_of_a_process_once_it_is_closed_or_copied(
    world: World, agent: AgentMemory, remember: Remember, tmp_path: Path
) -> None:
    remember("The key")
    world.close()
    assert spare(world.folder), "there is room left over"
    assert not any(map(any, spare(world.folder).values()))
    world.agent("mira")
    for path, room in spare(world.folder).items():
        with path.open("r+b") as file:
            file.seek(-len(room), 2)
            file.write(b"\xaa" * len(room))
    copying.copy(world.folder / "mira", tmp_path / "copy")
    assert not any(map(any, spare(tmp_path / "copy").values()))
    world.close()
    assert not any(map(any, spare(world.folder).values()))


# -- what would need it ------------------------------------------------------------------------------------


def test_what_would_need_a_purged_memory_says_so(agent: AgentMemory, remember: Remember) -> None:
    ids = [remember(f"Thing {number} of the mill") for number in range(3)]
    target = agent.history(1)[0].revision
    done = agent.forget(ids)
    purge = agent.purge(ids[0])
    with pytest.raises(EntryNotFound, match="purged for good"):
        agent.restore(ids[0])
    with pytest.raises(StaleChange, match="purged for good"):
        agent.undo(done)
    (clash,) = agent.conflicts(done)
    assert (clash.key, clash.purged) == (ids[0], True)
    with pytest.raises(StaleChange, match="purged for good"):
        agent.undo(done, overwrite=ids[0])
    with pytest.raises(Conflict, match="gone for good"):
        agent.undo(purge)
    back = agent.undo_back_to(target, preview=True)
    assert [kept.entry_id for kept in back.kept] == [ids[0]]
    agent.undo(done, keep=ids[0])
    assert {entry.id for entry in agent.entries(Tier.STM)} == set(ids[1:])


def test_what_was_planned_before_a_purge_brings_nothing_back_after_it(agent: AgentMemory, remember: Remember) -> None:
    remember("The first words about the key", id="key")
    target = agent.history(1)[0].revision
    done = agent.forget("key")
    plans = [agent.restore("key", preview=True), agent.undo(done, preview=True)]
    plans.append(agent.undo_back_to(target, preview=True))
    agent.purge("key")
    for plan in plans:
        with pytest.raises(StaleChange):
            agent.apply(plan)
    assert agent.find("key") is None
    assert not any("first words" in str(one.change_set) for one in agent.history())


def test_what_a_model_was_told_before_a_purge_is_not_kept_after_it(agent: AgentMemory, remember: Remember) -> None:
    for number in range(6):
        remember(f"Tobias lost the key of the mill, for the time number {number}", rating=8, hours_ago=number)
    gone = remember("The password of the mill is swordfish", hours_ago=3, rating=9)
    plan = agent.reflect_from_recent_memory(preview=True)
    assert any("swordfish" in call.prompt for call in plan.calls)
    agent.forget(gone)
    agent.purge(gone)
    with pytest.raises(StaleChange, match="the language model may have been told of it"):
        agent.apply(plan)
    assert agent.reflect_from_recent_memory().revision
    assert not any("swordfish" in str(one.change_set) for one in agent.history())


def test_a_fact_of_the_personality_is_not_told_to_be_forgotten_first(agent: AgentMemory) -> None:
    with pytest.raises(Immutable, match="a fact of the personality"):
        agent.purge(agent.entries(Tier.STATIC)[0].id)


@pytest.mark.parametrize("wrong", [["nobody"], "nobody", ["a\x00b"], [3], 3, None])
def test_a_purge_of_nothing_that_was_forgotten_is_refused(agent: AgentMemory, wrong: object) -> None:
    before = agent.stamp
    with pytest.raises((EntryNotFound, InvalidParameter)):
        agent.purge(wrong)  # type: ignore[arg-type]
    assert agent.stamp == before


def test_what_is_remembered_is_not_purged(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("The key")
    with pytest.raises(Conflict, match="still remembered"):
        agent.purge(entry_id)
    agent.forget(entry_id)
    plan = agent.purge(entry_id, preview=True)
    agent.restore(entry_id)
    with pytest.raises(StaleChange, match="is remembered"):
        agent.apply(plan)
    assert agent.last_version(entry_id).document == "The key"


def test_a_preview_of_a_purge_says_what_it_means_and_changes_nothing(
    world: World, agent: AgentMemory, secret: str
) -> None:
    before = agent.stamp
    plan = agent.purge(secret, preview=True)
    assert agent.stamp == before
    assert plan.purges == (secret,)
    assert "Copies that were made before" in plan.notes[-1]
    assert traces(world.folder)
    assert not agent.purge([], preview=True)


def test_a_preview_of_a_purge_names_what_was_set_aside(world: World, agent: AgentMemory, secret: str) -> None:
    (world.folder / "mira" / "chroma-damaged-1").mkdir()
    assert agent.purge(secret, preview=True).notes[-1] == (
        "So do files of the agent that were set aside, until you delete them: chroma-damaged-1."
    )


def test_a_made_up_purge_is_refused(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("The key")
    held = agent.find(entry_id)
    plan = ChangeSet("purge", "x", (), NOW, 0, purges=(entry_id,))
    with pytest.raises(StaleChange):
        agent.apply(plan)
    both = ChangeSet("purge", "x", (Change(held, None, "y"),), NOW, 0, purges=(entry_id,))
    with pytest.raises(InvalidParameter, match="purges"):
        agent.apply(both)


# -- killed in the middle ----------------------------------------------------------------------------------

CHILD = """
import os, signal, sys
from memory_system import AgentMemory
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.store.journal.journal import Journal
from memory_system.store.ledger import Ledger
from memory_system.core.settings import Settings
from memory_system.store.projection import Stores
database, personalities, entry_id, where = sys.argv[1:]
embedder = CachedEmbedder(MiniLM(Settings().cache))
agent = AgentMemory("mira", database=database, personalities=personalities, embedder=embedder)
owner, name = {
    "the erasing": (Ledger, "_erase"), "the journal": (Journal, "compact"), "the store": (Stores, "set_aside"),
    "the rows": (Stores, "upsert"), "the mark": (Journal, "mark_done"),
}[where]
setattr(owner, name, lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL))
agent.purge(entry_id)
"""


@pytest.mark.parametrize("where", ["the erasing", "the journal", "the store", "the rows", "the mark"])
def test_a_purge_that_was_killed_is_finished_by_opening(
    world: World, agent: AgentMemory, embedder: CachedEmbedder, remember: Remember, where: str
) -> None:
    remember("An ordinary thing", rating=4)
    secret = remember(SECRET)
    agent.forget(secret)
    before = others(agent)
    world.close()
    arguments = [str(world.settings.database), str(world.settings.personalities), secret, where]
    killed = programs.run("-c", CHILD, *arguments)
    assert killed.returncode == -9, killed.stderr
    again = world.agent("mira")
    assert others(again) == before
    assert again.last_version(secret).document == PURGED_TEXT
    assert traces(world.folder) == []
    assert not list(world.folder.glob("mira/chroma-*"))
    world.close()
    assert world.agent("mira").messages == ()


def test_a_purge_waits_where_somebody_reads_and_is_finished_later(
    world: World, agent: AgentMemory, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = remember(SECRET)
    agent.forget(secret)
    monkeypatch.setattr(Journal, "compact", lambda _self: "Another program is reading the journal.")
    agent.purge(secret)
    assert "may still lie in its files" in agent.messages[-1]
    assert agent.last_version(secret).document == PURGED_TEXT
    monkeypatch.undo()
    remember("Something else")
    world.close()  # until then Chroma may fill new room in its files with what lies in this process's memory
    assert traces(world.folder) == []


def test_a_reader_keeps_the_file_from_being_cut_and_is_told(
    world: World, agent: AgentMemory, remember: Remember
) -> None:
    remember("An ordinary thing")
    journal = agent._context.held.journal
    with closing(sqlite3.connect(world.folder / "mira" / "journal.sqlite3", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchone()
        remember("Another one")
        with journal._connections._engine.connect() as db:
            db.exec_driver_sql("PRAGMA busy_timeout=50")
        assert journal.compact() == "Another program is reading the journal."
    assert journal.compact() is None
    assert Ledger._erase(agent._context.held)
    assert isinstance(agent._context.held._stores, Stores)


def test_an_agent_that_can_only_be_read_purges_nothing(
    world: World, agent: AgentMemory, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = remember(SECRET)
    agent.forget(secret)
    world.close()
    (world.folder / "mira" / "generation").write_text("x 99", encoding="ascii")  # as if the journal had lost changes
    damaged = world.agent("mira")
    assert damaged.read_only
    made_of_texts: list[object] = []
    monkeypatch.setattr(damaged.contents.tokens, "forget", made_of_texts.append)
    with pytest.raises(ReadOnly):
        damaged.purge(secret)
    assert made_of_texts == [], "what was made of its text is kept as well"


# -- the words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ("Edit “The mill key hangs at the inn”", f"Edit “{PURGED_TEXT}”"),
        ("Because The mill key hangs at the inn, and more", f"Because {PURGED_TEXT}, and more"),
        ("Say “yes” to it", f"Say “{PURGED_TEXT}” to it"),
        ('{"text": "yes"}', f'{{"text": "{PURGED_TEXT}"}}'),
        ("yesterday, yes", "yesterday, yes"),
        ("The mill key hangs", "The mill key hangs"),
        ("", ""),
    ],
)
def test_texts_are_taken_out_of_what_is_told(told: str, left: str) -> None:
    assert Scrubber(["The mill key hangs at the inn", "yes"]).clean(told) == left


def test_a_long_text_is_found_where_it_was_cut() -> None:
    long = "A very long memory about the mill and the key and the inn, told by nobody in particular"
    scrubber = Scrubber([long])
    for cut in (short(long), f"{long[:59].rstrip()}…"):  # as it is cut now, and as an earlier version cut it
        assert scrubber.clean(f"Forget “{cut}”") == f"Forget “{PURGED_TEXT}”"
    assert Scrubber([]).clean("anything at all") == "anything at all"


def test_what_a_model_was_told_of_it_goes_and_the_rest_stays(agent: AgentMemory, remember: Remember) -> None:
    secret = remember(SECRET)
    calls = (
        ModelCall("reflect", "m", f'[{{"memory": "The cat sleeps"}}, {{"memory": "{SECRET}"}}]', "About cats", 1.0),
        ModelCall("reflect", "m", "Only about cats", "Cats", 1.0),
    )
    noted = ChangeSet(
        "note",
        "About “The cat”",
        (
            Change(
                None, agent.find(secret).evolve(id="cat", document="The cat sleeps", last_access=None), f"Of {SECRET}"
            ),
        ),  # type: ignore[union-attr]
        NOW,
        0,
        kept=(Kept("x", f"Not “{' '.join(SECRET.split())}”"),),
        notes=(f"It is near to “{' '.join(SECRET.split())[:59].rstrip()}…”",),
        calls=calls,
    )
    done = agent.apply(noted)
    agent.forget(secret)
    agent.purge(secret)
    told = agent.change(done.revision or 0).change_set
    assert told.calls[0].prompt == f'[{{"memory": "The cat sleeps"}}, {{"memory": "{PURGED_TEXT}"}}]'
    assert told.calls[1] == calls[1]
    assert told.changes[0].reason == f"Of {PURGED_TEXT}"
    assert told.kept[0].reason == f"Not “{PURGED_TEXT}”"
    assert told.notes == (f"It is near to “{PURGED_TEXT}”",)
    assert agent.find("cat") is not None
