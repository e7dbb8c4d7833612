"""Messages and passages are kept as memories are, and nothing that is about memories ever sees them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from memory_system import AgentMemory, Change, ChangeSet, Facets, Kind, MemoryEntry, Settings, Tier, World
from memory_system.core import DECAYING
from memory_system.core.change_set import TextChange, is_text_name
from memory_system.core.entry import LIVED, SHELVED
from memory_system.core.findings import State
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import Conflict, EntryNotFound, Immutable, InvalidParameter
from memory_system.maintenance import export as exports
from memory_system.maintenance.backup import make
from memory_system.maintenance.backup_reading import check
from memory_system.maintenance.doctor import examine_agent
from memory_system.store.chroma.store import ChromaStore
from tests.conftest import NOW

Remember = Callable[..., str]

SAID = "My mother Brenda baked a chocolate lava cake."
STATE, CORE = "conversation:c1", "core:c1"


def message(number: int, text: str = SAID) -> MemoryEntry:
    extras = {"conversation": "c1", "number": number, "role": "user"}
    at = NOW + timedelta(minutes=number)
    return MemoryEntry(text, extras, f"c1-{number:08}", tier=Tier.RECALL, kind=Kind.CONVERSATION, timestamp=at)


def passage(number: int, text: str = "The lava cake of Brenda is served warm.") -> MemoryEntry:
    return MemoryEntry(text, {"source": "cakes"}, f"d1-{number:06}", tier=Tier.ARCHIVE, kind=Kind.FACT)


def say(agent: AgentMemory, number: int, text: str = SAID, *entries: MemoryEntry) -> ChangeSet:
    """One step of a conversation, as the engine applies it."""
    added = [Change(None, entry, "It was said.") for entry in (message(number, text), *entries)]
    held = agent.texts().get(STATE)
    texts = (TextChange(STATE, held, json.dumps({"next": number + 1})),)
    revision = agent.stamp[0]
    return agent.apply(
        ChangeSet("talk", f"Talk: “{text}”", tuple(added), agent.now, revision, texts=texts, agent=agent.name)
    )


@pytest.fixture
def talked(agent: AgentMemory, remember: Remember) -> AgentMemory:
    """An agent with two memories, three messages and a passage."""
    remember("Brenda's oven is cold today.", rating=6)
    moved = remember("Brenda brought cake to the mill.", rating=8)
    agent.migrate_stm2ltm(ids=moved)
    for number in range(3):
        say(agent, number, f"{SAID} ({number})", *([passage(0)] if not number else []))
    return agent


def of_shelf(agent: AgentMemory) -> list[list[MemoryEntry]]:
    return [agent.entries(tier) for tier in SHELVED]


def collections(world: World) -> set[str]:
    with closing(sqlite3.connect(world.folder / "mira" / "chroma" / "chroma.sqlite3")) as db:
        return {row[0] for row in db.execute("SELECT name FROM collections")}


# -- they never enter what is about memories -------------------------------------------------------------


def test_recall_and_its_explanation_never_see_a_message_or_a_passage(talked: AgentMemory) -> None:
    found = talked.query_memory(SAID, top_k=50, threshold=0, static_threshold=0)
    told = talked.explain(SAID, top_k=50, threshold=0, static_threshold=0)
    assert {hit.entry.tier for hit in found} <= set(LIVED)
    assert {one.entry.tier for one in told.candidates} == set(LIVED)
    held = sum(len(talked.entries(tier)) for tier in LIVED)
    assert (found.considered, len(told.candidates)) == (held, held)


def test_no_operation_touches_them(talked: AgentMemory) -> None:
    before = of_shelf(talked)
    talked.migrate_stm2ltm(0.1)
    talked.reflect_from_recent_memory()
    talked.plan_from_memory()
    talked.summarize_and_forget(2)
    talked.suspicions(threshold=0.7)
    talked.reset_memory()
    assert of_shelf(talked) == before
    assert [len(talked.entries(tier)) for tier in DECAYING] == [0, 0]


def test_an_export_counts_and_the_bin_leave_them_out(talked: AgentMemory) -> None:
    undone = say(talked, 3)
    talked.undo(undone)
    assert {json.loads(line).get("tier") for line in list(exports.lines(talked))[1:]} == {"static", "stm", "ltm"}
    stats = talked.get_stats()
    assert (stats["stm"], stats["ltm"], stats["unrated"]) == (1, 1, 0)
    assert (talked.forgotten(), talked.count_forgotten()) == ([], 0)
    assert SAID not in talked.cues.judgments_jsonl(memories=True)


@pytest.mark.parametrize("entry_id", ["c1-00000000", "d1-000000"])
def test_a_message_or_passage_is_not_changed_by_itself(talked: AgentMemory, entry_id: str) -> None:
    before, revision = of_shelf(talked), talked.stamp
    for attempt in (
        lambda: talked.edit(entry_id, document="He said otherwise."),
        lambda: talked.forget(entry_id),
        lambda: talked.rate_again(entry_id),
    ):
        with pytest.raises(Immutable, match=r"conversation|document"):
            attempt()
    with pytest.raises(EntryNotFound, match="in short-term memory"):
        talked.migrate_stm2ltm(ids=entry_id)
    kept = talked.edit_many(entry_id, add_tags="x").kept
    assert [one.entry_id for one in kept] == [entry_id]
    assert (of_shelf(talked), talked.stamp) == (before, revision)
    assert talked.add_short_term({"document": "Another", "id": entry_id}).outcomes[0].action == "skipped"


def test_memories_can_be_muted_by_their_id(talked: AgentMemory) -> None:
    everyone = talked.query_memory(SAID, top_k=50, threshold=0, static_threshold=0).hits
    muted = tuple(hit.entry.id for hit in everyone[:2])
    left = talked.query_memory(
        SAID, top_k=50, threshold=0, static_threshold=0, facets=Facets(without=muted), touch=False
    )
    assert {hit.entry.id for hit in left} == {hit.entry.id for hit in everyone} - set(muted)
    assert talked.queries(1)[0].query.facets.without == muted
    with pytest.raises(InvalidParameter, match="'without' must be a list of at most 10,000 texts"):
        Facets(without=("x",) * 10_001)


# -- they are kept as memories are -----------------------------------------------------------------------


def test_they_are_there_again_when_the_agent_is_opened_again(world: World, talked: AgentMemory) -> None:
    before = of_shelf(talked)
    assert [len(entries) for entries in before] == [3, 1]
    world.close()
    again = world.agent("mira")
    assert (of_shelf(again), again.messages) == (before, ())
    assert again.texts()[STATE] == '{"next": 3}'


def test_they_are_rebuilt_from_the_journal_when_the_store_has_lost_them(world: World, talked: AgentMemory) -> None:
    before = of_shelf(talked)
    world.close()
    store = ChromaStore.open(world.folder / "mira" / "chroma")
    for tier in SHELVED:
        store.memory(tier).clear()
    store.close()
    again = world.agent("mira")
    assert again.messages == ("4 memories written and 0 removed to match the journal.",)
    assert of_shelf(again) == before


def test_undoing_a_step_takes_its_messages_and_its_texts_back(talked: AgentMemory) -> None:
    before, state = of_shelf(talked), talked.texts()[STATE]
    done = say(talked, 3, "And one more thing.", passage(1))
    assert talked.texts()[STATE] != state
    talked.undo(done)
    assert (of_shelf(talked), talked.texts()[STATE]) == (before, state)
    talked.redo(done)
    assert talked.find("c1-00000003") is not None


def test_going_back_takes_whole_conversations_along(talked: AgentMemory) -> None:
    begun = next(one for one in talked.history() if one.change_set.operation == "migrate").revision
    talked.undo_back_to(begun)
    assert of_shelf(talked) == [[], []]
    assert STATE not in talked.texts()
    talked.undo(talked.stamp[0])
    assert [len(entries) for entries in of_shelf(talked)] == [3, 1]
    assert talked.texts()[STATE] == '{"next": 3}'


def test_the_past_shows_what_had_been_said_by_then(talked: AgentMemory) -> None:
    first = min(one.revision for one in talked.history() if one.change_set.operation == "talk")
    for revision, said, state in ((first - 1, 0, None), (first, 1, '{"next": 1}'), (first + 1, 2, '{"next": 2}')):
        then = talked.as_of(revision=revision)
        assert len(then.entries(Tier.RECALL)) == said
        assert then.texts().get(STATE) == state
        assert {one.entry.tier for one in then.explain(SAID).candidates} == set(LIVED)


def test_what_was_said_leaves_every_file_when_it_is_purged(world: World, talked: AgentMemory) -> None:
    secret = "Zanzibar hides the “purple” ledger"
    core = json.dumps({"human": secret}, ensure_ascii=False)
    done = talked.apply(
        ChangeSet(
            "talk",
            f"Talk: “{secret}”",
            (Change(None, message(3, secret), "It was said."),),
            NOW,
            talked.stamp[0],
            texts=(TextChange(CORE, None, core),),
            agent="mira",
        )
    )
    with pytest.raises(Conflict, match="still remembered"):
        talked.purge("c1-00000003")
    talked.undo(done)
    talked.purge("c1-00000003")
    assert talked.messages == ()
    world.close()
    left = [path.name for path in world.folder.rglob("*") if path.is_file() and b"Zanzibar" in path.read_bytes()]
    assert left == []
    assert world.agent("mira").messages == ()


def test_a_backup_and_the_doctor_take_them_for_whole(
    world: World, talked: AgentMemory, tmp_path: Path, settings: Settings, embedder: CachedEmbedder
) -> None:
    made = make(world, tmp_path / "one.zip")
    assert made is not None
    told = check(made.path)
    (of_mira,) = told.agents
    assert (of_mira.memories["recall"], of_mira.memories["archive"], of_mira.lived) == (3, 1, 2)
    world.close()
    findings = examine_agent(world.folder / "mira", settings.personalities / "mira.json", embedder)
    assert {one.state for one in findings} <= {State.RIGHT, State.NOTE}
    assert any("memories, as the journal says" in one.sentence for one in findings)


def test_a_rehearsal_has_them_and_offers_what_was_said_as_a_change_only(world: World, talked: AgentMemory) -> None:
    branch = world.branch("mira")
    assert [len(entries) for entries in of_shelf(branch)] == [3, 1]
    done = say(branch, 3, "Said in the rehearsal only.")
    apart = world.compare(branch.name)
    assert (apart.memories, apart.texts) == ((), ())
    world.keep(branch.name, revisions=[done.revision])
    original = world.agent("mira")
    assert original.entries(Tier.RECALL)[-1].document == "Said in the rehearsal only."
    assert original.texts()[STATE] == '{"next": 4}'


# -- who never talks has none ----------------------------------------------------------------------------


def test_an_agent_that_never_talks_has_no_files_for_it(world: World, agent: AgentMemory, remember: Remember) -> None:
    remember("Bread for Tobias")
    assert of_shelf(agent) == [[], []]
    world.close()
    note = json.loads((world.folder / "mira" / "closed.json").read_text(encoding="utf-8"))
    assert set(note["counts"]) == {"static", "stm", "ltm"}
    assert world.agent("mira").messages == ()
    world.close()
    assert collections(world) == {"static", "stm", "ltm"}
    say(world.agent("mira"), 0)
    world.close()
    assert collections(world) == {"static", "stm", "ltm", "recall"}


# -- the texts of a conversation -------------------------------------------------------------------------


def test_the_names_of_texts_are_checked() -> None:
    assert all(map(is_text_name, ("settings", STATE, CORE, "conversation:" + "a" * 64)))
    wrong = ("", "conversation:", "core:a b", "core:../x", "conversation:" + "a" * 65, "diary", "core:a\n", None)
    assert not any(map(is_text_name, wrong))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("diary", "{}", "there is no text 'diary'"),
        (STATE, "[]", "must be a JSON object"),
        (STATE, "{", "must be a JSON object"),
        (CORE, '{"human": "' + "x" * 500_000 + '"}', "at most 500,000 are allowed"),
    ],
)
def test_a_text_that_is_no_state_is_refused_in_words(agent: AgentMemory, name: str, text: str, told: str) -> None:
    before = agent.stamp
    with pytest.raises(InvalidParameter, match=told):
        agent.apply(ChangeSet("talk", "Talk", (), NOW, agent.stamp[0], texts=(TextChange(name, None, text),)))
    assert agent.stamp == before


# -- when things go wrong, and when there is much --------------------------------------------------------


def test_they_are_still_shown_when_the_journal_is_damaged(world: World, talked: AgentMemory) -> None:
    before = of_shelf(talked)
    world.close()
    journal = world.folder / "mira" / "journal.sqlite3"
    journal.write_bytes(b"no journal" * (journal.stat().st_size // 10))
    again = world.agent("mira")
    assert again.read_only is not None
    assert of_shelf(again) == before
    assert {one.entry.tier for one in again.explain(SAID).candidates} == set(LIVED)


def test_many_messages_are_opened_from_a_table_of_their_own(world: World, agent: AgentMemory) -> None:
    many = tuple(Change(None, message(number, SAID), "It was said.") for number in range(2100))
    agent.apply(ChangeSet("talk", "Talk", many, NOW, agent.stamp[0], agent=agent.name))
    world.close()
    assert (world.folder / "mira" / "recall.table").exists()
    again = world.agent("mira")
    with again.contents.shelf(Tier.RECALL) as table:
        assert len(table) == 2100
        assert isinstance(table.entries.slots[7], int)  # read only when somebody asks for it
        assert table.get("c1-00000007") == message(7, SAID)
        assert set(table.folded) == {SAID.casefold()}
        say(again, 2100, "One more.")
        assert table.folded[-1] == "one more."
    again.undo(again.stamp[0])
    with again.contents.shelf(Tier.RECALL) as table:
        assert len(table.folded) == 2100
    assert again.messages == ()
