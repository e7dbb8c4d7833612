"""What only recall needs is read when somebody recalls, and laid aside: the answers are the same to the last digit."""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system import AgentMemory, Scoring, Tier, World
from memory_system.core.entry import MemoryEntry
from memory_system.core.memory import Vectors
from memory_system.errors import Exhausted
from memory_system.recall.kept_tables import Place, load, save
from memory_system.recall.table import WIDE, Table
from tests.conftest import NOW

pytestmark = pytest.mark.usefixtures("small_tables_are_kept")

CUE = "Where is the grey heron?"
EVENTS = [
    {"document": f"The heron was at the {place} for the {n}. time.", "id": f"{place}-{n}", "rating": 1 + n}
    for place in ("quay", "mill")
    for n in range(9)
]
D = 6


@pytest.fixture
def opened(world: World, agent: AgentMemory) -> AgentMemory:
    """An agent of 18 long-term memories, opened again."""
    agent.add_short_term(EVENTS)
    agent.migrate_stm2ltm(ids=[str(event["id"]) for event in EVENTS])
    agent.query_memory(CUE, touch=False)
    world.close()
    return world.agent("mira")


def ltm(agent: AgentMemory) -> Table:
    table: Table = agent.contents.context.ledger.tables[Tier.LTM]
    return table


def told(agent: AgentMemory) -> list[tuple[str, object, str]]:
    """All long-term memories that are found, with each part of their scores, by vectors alone and by words as well."""
    by_words, by_vectors = agent.explain(CUE, top_k=5), agent.explain(CUE, top_k=5, scoring=Scoring())
    assert not ltm(agent).columns.laid_aside
    return [
        (one.entry.id, one.score, one.entry.document)
        for one in (*by_words.candidates, *by_vectors.candidates)
        if one.entry.tier is Tier.LTM
    ]


def test_an_event_needs_none_of_it_and_a_question_does(opened: AgentMemory) -> None:
    assert ltm(opened).columns.laid_aside
    opened.add_short_term({"document": "The lamp is lit.", "rating": 5})
    opened.edit(opened.entries(Tier.STM)[0].id, rating=7)
    assert len(opened.entries(Tier.LTM)) == len(EVENTS)
    assert ltm(opened).columns.laid_aside
    opened.query_memory(CUE, touch=False)
    assert not ltm(opened).columns.laid_aside


def test_one_that_rests_takes_less_and_answers_the_same(opened: AgentMemory) -> None:
    before, size = told(opened), opened.contents.size
    for _ in range(3):
        opened.contents.rest()
        assert ltm(opened).columns.laid_aside
        assert opened.contents.size < size
        assert told(opened) == before
    assert not ltm(opened).columns.changed


def test_texts_that_an_explanation_keeps_folded_count_and_are_let_go_of(opened: AgentMemory) -> None:
    opened.query_memory(CUE, touch=False)
    opened.contents.rest()
    resting = ltm(opened).size
    opened.query_memory(CUE, touch=False)
    before = ltm(opened).size
    assert [text.casefold() for text in ltm(opened).folded] == list(ltm(opened).folded)
    kept = sum(sys.getsizeof(text) for text in ltm(opened).folded)
    assert kept <= ltm(opened).size - before <= 4 * kept
    opened.contents.rest()
    assert ltm(opened).size == resting


@pytest.mark.parametrize("damage", ["gone", "cut", "a vector is another", "a folder", "another table"])
def test_whatever_became_of_the_file_the_journal_has_it(world: World, opened: AgentMemory, damage: str) -> None:
    before, file = told(opened), world.folder / "mira" / "ltm.table"
    opened.contents.rest()
    content = bytearray(file.read_bytes())
    if damage == "cut":
        os.truncate(file, 5000)
    elif damage == "a vector is another":
        vector = ltm(opened).vectors[3].tobytes()
        content[content.index(vector) + 9] ^= 1
        file.write_bytes(content)
        opened.contents.rest()
    else:
        file.unlink()
        if damage == "a folder":
            file.mkdir()
        elif damage == "another table":
            other = Table()
            for number in range(18):
                other.put(MemoryEntry(f"other {number}", id=f"o{number}"), np.ones(384, np.float32))
            save(file, other, Place(1, "another", 0, "another"))
    assert told(opened) == before


def test_what_changed_meanwhile_is_what_is_read_again(world: World, opened: AgentMemory) -> None:
    told(opened)
    opened.contents.rest()
    opened.forget(["quay-3"])
    opened.edit("quay-4", document="The grey heron flew away.", rating=10)
    opened.contents.rest()
    opened.add_short_term({"document": "A grey heron sleeps.", "id": "new", "rating": 9})
    opened.migrate_stm2ltm(ids=["new"])
    opened.query_memory(CUE, static_threshold=1, now=NOW + timedelta(hours=5))
    opened.contents.rest()
    found = told(opened)
    assert {"new", "quay-4"} <= {entry_id for entry_id, *_ in found}
    assert "quay-3" not in {entry_id for entry_id, *_ in found}
    world.close()
    (world.folder / "mira" / "ltm.table").unlink()
    assert told(world.agent("mira")) == found


def test_what_was_purged_while_it_rested_is_read_from_nowhere(world: World, opened: AgentMemory) -> None:
    opened.contents.rest()
    opened.forget(["quay-3"])
    opened.purge(["quay-3"])
    opened.contents.rest()
    found = told(opened)
    assert len(found) == 2 * (len(EVENTS) - 1)
    world.close()
    assert told(world.agent("mira")) == found


def test_what_does_not_fit_beside_it_finds_room_though_the_file_is_gone(world: World, opened: AgentMemory) -> None:
    told(opened)
    room = ltm(opened).columns.room
    new = [{"document": f"Boat {n} came in.", "id": f"b{n}", "rating": 5} for n in range(room - len(EVENTS) + 1)]
    opened.add_short_term(new)
    opened.migrate_stm2ltm(ids=[str(one["id"]) for one in new[:-1]])
    opened.contents.rest()
    (world.folder / "mira" / "ltm.table").unlink()
    assert len(ltm(opened)) == room
    opened.migrate_stm2ltm(ids=[str(new[-1]["id"])])
    assert len(told(opened)) == 2 * (room + 1)


def test_no_memory_to_read_it_again_is_told_as_such(opened: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_given: object, **_named: object) -> None:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    with monkeypatch.context() as patched:
        patched.setattr("memory_system.recall.kept_tables.mmap.mmap", refused)
        with pytest.raises(Exhausted, match="no memory left"):
            opened.query_memory(CUE)
    assert told(opened)


def test_a_vector_that_is_nowhere_any_more_is_told_as_missing(world: World, opened: AgentMemory) -> None:
    told(opened)
    assert opened.contents.waiting_for_vectors == 0
    opened.contents.rest()
    (world.folder / "mira" / "ltm.table").unlink()
    with closing(sqlite3.connect(world.folder / "mira" / "journal.sqlite3")) as db, db:
        db.execute("DELETE FROM vectors WHERE hash = (SELECT hash FROM entries WHERE id = 'quay-3')")
    told(opened)
    assert opened.contents.waiting_for_vectors == 1
    world.close()
    assert any("were made for " in line for line in world.agent("mira").messages)
    assert world.agent("mira").contents.waiting_for_vectors == 0


# -- any order of acts ---------------------------------------------------------------------------------

ACTS = st.lists(st.tuples(st.sampled_from(("put", "drop", "rest", "look", "code")), st.integers(0, 11)), max_size=30)


def vector(text: str) -> Vectors:
    drawn = np.random.default_rng(sum(map(ord, text)))
    return drawn.standard_normal(D).astype(np.float32)


def entry(number: int, version: int = 0) -> MemoryEntry:
    return MemoryEntry(f"event {number}, {version}", id=f"m{number}")


@settings(deadline=None)
@given(kept=st.integers(1, 8), acts=ACTS, lost=st.booleans())
def test_a_table_that_rests_holds_what_one_holds_that_never_does(
    tmp_path_factory: pytest.TempPathFactory, kept: int, acts: list[tuple[str, int]], lost: bool
) -> None:
    path = tmp_path_factory.mktemp("kept") / "ltm.table"
    plain = Table()
    for number in range(kept):
        plain.put(entry(number), vector(entry(number).document))
    save(path, plain, Place(1, "first", 0, "minilm"))
    found = load(path, lambda texts, _embedder: [vector(text) for text in texts])
    assert found is not None
    resting = found[0]
    assert resting.columns.laid_aside
    if lost:
        path.unlink()
    for turn, (act, number) in enumerate(acts):
        if act == "put":
            new = entry(number, turn)
            for table in (plain, resting):
                table.put(new, vector(new.document))
        elif act == "drop":
            for table in (plain, resting):
                table.drop(f"m{number}")
        elif act == "rest":
            resting.rest()
            assert resting.columns.laid_aside
        elif act == "look":
            assert np.array_equal(resting.vectors, plain.vectors)
        else:
            for table in (plain, resting):
                table.columns.code(len(table))
    assert resting.ids == plain.ids
    for table in (plain, resting):
        table.columns.code(len(table))
    of_plain, of_resting = (table.columns.used(len(table)) for table in (plain, resting))
    for name in (*WIDE, "squares", "squares32", "scales", "residuals"):
        assert np.array_equal(of_plain[name], of_resting[name]), name


def test_a_table_without_any_vector_is_kept_too(tmp_path: Path) -> None:
    table = Table()
    table.put(entry(1), None)
    save(tmp_path / "ltm.table", table, Place(1, "first", 0, "minilm"))
    found = load(tmp_path / "ltm.table", lambda texts, _embedder: [None] * len(texts))
    assert found is not None
    found[0].rest()
    found[0].put(entry(2), vector("now it has one"))
    assert found[0].rows_without_vector() == [0]
    assert np.array_equal(found[0].vectors[1], vector("now it has one"))
