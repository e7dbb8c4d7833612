"""The journal: change sets in and out, applied once, refused when stale, undone and redone; vectors and accesses."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr

from memory_system import AgentMemory, Change, ChangeSet, MemoryEntry, Tier
from memory_system.core import DECAYING
from memory_system.core.change_set import OF_A_CONVERSATION, Kept, ModelCall, TextChange, dump_entry
from memory_system.core.entry import Kind
from memory_system.errors import ChangeSetNotFound, Conflict, StaleChange, StoreDamaged
from memory_system.store.journal.history import Sought
from memory_system.store.journal.journal import Journal, content_hash
from memory_system.store.journal.postgres import Server
from tests.conftest import NOW

Remember = Callable[..., str]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


@pytest.fixture(params=["sqlite", "postgresql"])
def opening(request: pytest.FixtureRequest, file: Path) -> Iterator[Callable[[], Journal]]:
    """Opens the same journal, as often as it is called."""
    if request.param == "sqlite":
        yield lambda: Journal(f"sqlite:///{file}", lambda: NOW)
        return
    address = request.getfixturevalue("postgres").new_database()
    with closing(Server(SecretStr(address))) as server:
        with server.writing("test") as db:
            db.exec_driver_sql("CREATE SCHEMA memory_test")
        yield lambda: Journal(server.of_schema("memory_test"), lambda: NOW)


@pytest.fixture
def journal(opening: Callable[[], Journal]) -> Iterator[Journal]:
    with closing(opening()) as opened:
        yield opened


def _entry(number: int = 1, **fields: object) -> MemoryEntry:
    return MemoryEntry(f"Event {number}", id=f"m{number}", timestamp=NOW, **fields)  # type: ignore[arg-type]


def _plan(*changes: Change, **fields: object) -> ChangeSet:
    return ChangeSet("edit", "A title", changes, NOW, 0, **fields)  # type: ignore[arg-type]


def _add(number: int) -> ChangeSet:
    return _plan(Change(None, _entry(number), "new"))


def _commit(journal: Journal, change_set: ChangeSet) -> ChangeSet:
    return journal.commit(change_set, {}, "test")


def test_a_change_set_comes_back_as_it_was_committed(journal: Journal) -> None:
    full = MemoryEntry(
        "Ein “Satz” — 漢字 😀\nzweite Zeile",
        {"place": "Mühle", "count": 3, "ratio": 0.1, "true": True},
        "the id/with:signs",
        tier=Tier.LTM,
        kind=Kind.REFLECTION,
        timestamp=NOW - timedelta(days=400, microseconds=1),
        rating=6.5,
        explanation="because",
        tags=("a", "b"),
        pinned=True,
        authored=True,
        evidence=("x", "y"),
        depth=3,
    )
    plan = _plan(
        Change(None, full, "one"),
        Change(None, _entry(2), "two"),
        author="Ines",
        reason="for a test",
        texts=(TextChange("settings", None, "{}"),),
        kept=(Kept("m9", "It is pinned."),),
        notes=("a note", "another"),
        calls=(ModelCall("rate", "m", "prompt", "answer", 1.5, 7, None), ModelCall("rate", "m", "p", "", 0, error="e")),
    )
    done = _commit(journal, plan)
    told = journal.get(1)
    assert told.change_set == done == dataclasses.replace(plan, revision=1)
    assert told.change_set.changes[0].after == full
    assert (told.applied_at, told.undone_by) == (NOW, None)
    assert {key: entry for tier in Tier for key, (entry, _) in journal.entries(tier).items()} == {
        full.id: full,
        "m2": _entry(2),
    }
    assert journal.text("settings") == "{}"


def test_the_same_change_set_twice_is_one_revision(journal: Journal) -> None:
    plan = _add(1)
    assert _commit(journal, plan) == _commit(journal, plan)
    assert journal.revision == 1
    assert len(journal.history()) == 1


def test_revisions_count_up_and_survive_closing(opening: Callable[[], Journal], journal: Journal) -> None:
    assert journal.revision == 0
    assert [_commit(journal, _add(number)).revision for number in (1, 2, 3)] == [1, 2, 3]
    journal.close()
    with closing(opening()) as again:
        assert again.revision == 3
        assert [one.revision for one in again.since(1)] == [2, 3]


def test_what_is_stale_is_told_in_whole_words_and_to_whoever_planned_it(journal: Journal) -> None:
    long = dataclasses.replace(_entry(1), document="The lighthouse keeper " * 20)
    with pytest.raises(StaleChange, match=r"The lighthouse…” has .* Plan it again\.$"):
        _commit(journal, _plan(Change(long, None, "forgets what is not there")))


@pytest.mark.parametrize(
    "stale",
    [
        Change(None, _entry(1, rating=2), "adds what is there"),
        Change(_entry(1, rating=9), None, "forgets what was otherwise"),
        Change(_entry(1, rating=9), _entry(1, rating=2), "edits what was otherwise"),
        Change(_entry(7), None, "forgets what is not there"),
    ],
    ids=lambda change: change.reason,
)
def test_a_stale_change_is_refused_and_nothing_of_its_set_is_kept(journal: Journal, stale: Change) -> None:
    _commit(journal, _add(1))
    with pytest.raises(StaleChange, match=r"“Event \d” has changed since this was planned"):
        _commit(journal, _plan(Change(None, _entry(5), "fine"), stale))
    assert journal.revision == 1
    assert set(journal.entries(Tier.STM)) == {"m1"}


def test_a_stale_text_is_refused(journal: Journal) -> None:
    _commit(journal, _plan(texts=(TextChange("settings", None, "a"),)))
    with pytest.raises(StaleChange, match="settings has changed"):
        _commit(journal, _plan(texts=(TextChange("settings", "b", "c"),)))
    assert journal.text("settings") == "a"


def test_the_history_is_told_in_pages_newest_first(journal: Journal) -> None:
    for number in range(1, 8):
        _commit(journal, _add(number))
    assert [told.revision for told in journal.history(3)] == [7, 6, 5]
    assert [told.revision for told in journal.history(3, before=5)] == [4, 3, 2]
    assert [told.revision for told in journal.history(3, before=2)] == [1]
    assert journal.history(3, before=1) == []
    with pytest.raises(ChangeSetNotFound, match="no revision 8"):
        journal.get(8)


def test_what_is_not_marked_done_is_pending(journal: Journal) -> None:
    for number in (1, 2):
        _commit(journal, _add(number))
    journal.mark_done(1)
    assert [one.revision for one in journal.pending()] == [2]


def test_vectors_are_kept_by_text_and_embedder(journal: Journal) -> None:
    vector = np.array([0.1, -2.5, 3e-9], np.float32)
    key = content_hash("Event 1")
    journal.commit(_add(1), {key: vector}, "one")
    held = journal.vectors([key, content_hash("never embedded")], "one")
    assert list(held) == [key]
    assert held[key].tobytes() == vector.tobytes()
    assert journal.vectors([key], "another embedder") == {}
    _commit(journal, _plan(Change(_entry(1), None, "gone")))
    assert key in journal.vectors([key], "one"), "a forgotten text keeps its vector, to be restored with"


def test_the_newest_access_of_each_memory_counts(journal: Journal) -> None:
    assert journal.touch([]) == 0
    first = journal.touch([("a", NOW), ("b", NOW)])
    journal.touch([("b", NOW + timedelta(hours=1))])
    assert journal.last_accesses()[0] == {"a": NOW, "b": NOW + timedelta(hours=1)}
    newer, number = journal.last_accesses(first)
    assert newer == {"b": NOW + timedelta(hours=1)}
    assert journal.last_accesses(number) == ({}, number)


def test_the_newest_access_of_some_memories_is_told_of_those_alone(journal: Journal) -> None:
    journal.touch([("a", NOW), ("b", NOW + timedelta(hours=1)), ("c", NOW)])
    journal.touch([("b", NOW)])
    assert journal.last_access_of(["a", "b", "never"]) == {"a": NOW, "b": NOW + timedelta(hours=1)}
    assert journal.last_access_of([]) == {}


def test_the_past_is_rebuilt_from_the_end_that_fewer_changes_part_it_from(journal: Journal) -> None:
    edited = _entry(1, rating=3)
    for plan in (
        _plan(Change(None, _entry(1), "new"), Change(None, _entry(2), "new")),
        _plan(Change(_entry(1), edited, "edited")),
        _plan(Change(_entry(2), None, "gone")),
        _plan(Change(None, _entry(3), "new")),
    ):
        _commit(journal, plan)
    past = journal.past
    # two changes up to revision 1; one, two and three after it, up to revisions 2, 3 and 4
    assert [past.is_nearer_to_now(1, newest) for newest in (2, 3, 4)] == [True, True, False]
    assert (past.is_nearer_to_now(0, 1), past.is_nearer_to_now(0, 0)) == (False, True)
    assert past.back(1, 2) == {"m1": dump_entry(_entry(1))}
    assert past.back(1, 4) == {"m1": dump_entry(_entry(1)), "m2": dump_entry(_entry(2)), "m3": None}
    assert past.forth(1) == {"m1": dump_entry(_entry(1)), "m2": dump_entry(_entry(2))}
    assert past.forth(3) == {"m1": dump_entry(edited), "m2": None}


def test_the_first_change_is_nearer_to_what_came_of_it_than_to_nothing(journal: Journal) -> None:
    _commit(journal, _add(1))
    assert not journal.past.is_nearer_to_now(0, 1)
    assert journal.past.is_nearer_to_now(1, 1)


@pytest.mark.parametrize(("seconds", "follows"), [(300, True), (301, False)])
def test_a_world_within_five_minutes_of_the_real_time_follows_it(journal: Journal, seconds: int, follows: bool) -> None:
    planned, later = NOW - timedelta(seconds=seconds), NOW + timedelta(hours=1)
    _commit(journal, ChangeSet("edit", "A title", (Change(None, _entry(1), "new"),), planned, 0))
    assert journal.past.at_real_time(later).now == (later if follows else planned)


def test_what_became_of_a_text_is_told_and_nothing_of_other_texts(journal: Journal) -> None:
    texts = [
        ("settings", None, "{}"),
        ("settings", "{}", '{"a": 1}'),
        ("cues", None, "[]"),
        ("settings", '{"a": 1}', "{}"),
    ]
    for number, (name, before, after) in enumerate(texts, start=1):
        _commit(
            journal, ChangeSet("configure", f"Change {number}", (), NOW, 0, texts=(TextChange(name, before, after),))
        )
    assert journal.past.texts_since("cues", 3) == []
    both = (TextChange("settings", "{}", None), TextChange("cues", "[]", None))
    _commit(journal, ChangeSet("reset", "Both", (), NOW, 0, texts=both))
    assert [event.revision for event in journal.past.texts_since("settings", 1)] == [2, 4, 5]
    assert [event.title for event in journal.past.texts_since("cues", 0)] == ["Change 3", "Both"]
    assert [done.revision for done in journal.history(sought=Sought(text="cues"))] == [5, 3]
    assert journal.history(sought=Sought(text="cue")) == []


def test_what_was_said_in_a_conversation_is_told_as_it_was_then(journal: Journal) -> None:
    name, states = f"{OF_A_CONVERSATION[0]}inn", (None, "{}", '{"a": 1}', None)
    for before, after in pairwise(states):
        _commit(journal, _plan(texts=(TextChange(name, before, after),)))
    assert [journal.past.texts(revision, 3, {name: None})[name] for revision in range(4)] == list(states)


def test_the_heads_of_later_change_sets_are_told_without_their_memories(journal: Journal) -> None:
    for number in (1, 2, 3):
        _commit(journal, _add(number))
    heads = journal.past.heads_since(1)
    assert [(head.revision, head.title, head.changes) for head in heads] == [(2, "A title", ()), (3, "A title", ())]
    assert journal.past.heads_since(3) == []


def test_a_memory_is_told_as_it_last_was_though_it_is_gone(journal: Journal) -> None:
    edited = _entry(1, rating=3)
    for change in (Change(None, _entry(1), "new"), Change(_entry(1), edited, "edited"), Change(edited, None, "gone")):
        _commit(journal, _plan(change))
    assert journal.last_version("m1") == edited
    assert journal.last_version("m2") is None


def test_more_ids_than_one_statement_takes(journal: Journal) -> None:
    many = [Change(None, _entry(number), "new") for number in range(1200)]
    _commit(journal, _plan(*many))
    _commit(journal, _plan(*(change.inverse("gone") for change in many)))
    assert journal.entries(Tier.STM) == {}
    assert journal.get(1).change_set.changes == tuple(many)


# -- through an agent ----------------------------------------------------------------------------------


def _held(agent: AgentMemory) -> dict[str, object]:
    tiers = DECAYING
    return {entry.id: (dump_entry(entry), entry.last_access) for tier in tiers for entry in agent.entries(tier)}


def test_undo_and_the_undo_of_the_undo(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("The mill key", rating=4)
    before = _held(agent)
    edited = agent.edit(entry_id, document="The brass key", rating=9)
    after = _held(agent)
    undo = agent.undo(edited.revision or 0)
    assert _held(agent) == before
    assert agent.history(1)[0].change_set.undoes == edited.revision
    redo = agent.undo(undo.revision or 0)
    assert _held(agent) == after
    told = {one.revision: one.undone_by for one in agent.history()}
    assert (told[edited.revision or 0], told[undo.revision or 0]) == (None, redo.revision)
    agent.undo(edited.revision or 0)
    assert _held(agent) == before


def test_an_undo_is_refused_the_second_time(agent: AgentMemory, remember: Remember) -> None:
    done = agent.forget([remember("gone")])
    agent.undo(done.revision or 0)
    with pytest.raises(Conflict, match="undone already"):
        agent.undo(done.revision or 0)


def test_an_undo_is_refused_once_later_work_touched_the_same_memory(agent: AgentMemory, remember: Remember) -> None:
    one, other = remember("one"), remember("other")
    both = agent.apply(agent.migrate_stm2ltm(ids=[one, other], preview=True))
    agent.edit(one, rating=9)
    before = _held(agent)
    with pytest.raises(StaleChange):
        agent.undo(both.revision or 0)
    assert _held(agent) == before


def test_settings_are_undone_too(agent: AgentMemory) -> None:
    done = agent.configure(stm_size=7)
    agent.undo(done.revision or 0)
    assert agent.settings.stm_size == 20


def test_last_accesses_survive_forgetting_and_restoring(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("The key of the tide mill", hours_ago=30)
    agent.query_memory("the key of the tide mill")
    agent.forget([entry_id])
    assert agent.find(entry_id) is None
    agent.restore([entry_id])
    found = agent.find(entry_id)
    assert found is not None
    assert found.last_access == NOW


# -- files that are no journals ------------------------------------------------------------------------


@pytest.fixture
def in_a_file(file: Path) -> Iterator[Journal]:
    with closing(Journal(f"sqlite:///{file}", lambda: NOW)) as opened:
        yield opened


def test_a_journal_from_a_newer_version_is_refused_and_left_as_it_is(file: Path, in_a_file: Journal) -> None:
    _commit(in_a_file, _add(1))
    in_a_file.close()
    with sqlite3.connect(file) as db:
        db.execute("INSERT INTO version VALUES (99)")
    db.close()
    with pytest.raises(StoreDamaged, match=r"newer version of this program \(99; this one knows \d+\)"):
        Journal(f"sqlite:///{file}", lambda: NOW)


@pytest.mark.parametrize("content", [b"no database " * 500, b"SQLite format 3\x00" + b"\xff" * 4080])
def test_a_file_that_is_no_sqlite_is_refused_in_a_sentence(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(StoreDamaged, match=r"^The journal at .*journal\.sqlite3 cannot be opened: .+\.$"):
        Journal(f"sqlite:///{file}", lambda: NOW)
    assert file.read_bytes() == content


def test_a_damaged_page_is_told_when_it_is_met(file: Path, in_a_file: Journal) -> None:
    _commit(in_a_file, _plan(*(Change(None, _entry(n, explanation="e" * 500), "new") for n in range(100))))
    in_a_file.close()
    raw = bytearray(file.read_bytes())
    raw[8192:] = b"\x5a" * (len(raw) - 8192)
    file.write_bytes(raw)
    with pytest.raises(StoreDamaged, match=r"^The journal .+\.$"):
        Journal(f"sqlite:///{file}", lambda: NOW).entries(Tier.STM)
