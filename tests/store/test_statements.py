"""Statements that SQLite is given as they are answer what they answer through SQLAlchemy."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from memory_system.core.entry import Tier
from memory_system.core.times import real_clock
from memory_system.errors import JournalDamaged, StoreDamaged
from memory_system.store.journal import history, journal, trash, vectors
from memory_system.store.journal.journal import Journal
from memory_system.store.journal.statements import Question, insert, insert_new, insert_numbered, upsert
from memory_system.store.journal.tables import ACCESSES, ENTRIES, VECTORS

QUESTIONS = {
    name: question
    for module in (history, journal, trash, vectors)
    for name, question in vars(module).items()
    if isinstance(question, Question)
}
TIMES = ("2026-05-08T05:15:00+00:00", "2026-05-09T05:15:00+00:00")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sa.Connection]:
    """A journal of forty memories, in a transaction."""
    made = Journal(f"sqlite:///{tmp_path / 'journal.sqlite3'}", real_clock)
    with made._write() as opened:
        upsert(opened, ENTRIES, [_entry(number) for number in range(40)])
        upsert(opened, VECTORS, [{"hash": f"h{number}", "embedder": "e", "data": b"\x00\xff"} for number in range(9)])
        insert(opened, ACCESSES, [{"entry_id": f"m{number % 3}", "at": TIMES[number % 2]} for number in range(7)])
        yield opened
    made.close()


def _entry(number: int, body: str = "{}") -> dict[str, Any]:
    return {"id": f"m{number}", "tier": ("stm", "ltm")[number % 2], "body": body, "hash": f"h{number}"}


def _values(question: Question, several: Sequence[str]) -> dict[str, Any]:
    alone = {"revision": 0, "embedder": "e", "after": 2}
    names = {one.key for one in sa.sql.visitors.iterate(question.asked) if isinstance(one, sa.BindParameter)}
    return {name: several if name in ("some", "names") else alone[name] for name in names & {"some", "names", *alone}}


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_every_question_is_answered_as_through_sqlalchemy(db: sa.Connection, name: str) -> None:
    question = QUESTIONS[name]
    for several in ([], ["m1"], ["stm", "m1", "h2", "settings"], ["ltm", *(f"m{number}" for number in range(400))]):
        values = _values(question, several)
        by_hand, through = question.of(db, values), db.execute(question.asked, values).all()
        assert [tuple(row) for row in by_hand] == [tuple(row) for row in through]


def test_columns_are_reached_by_name(db: sa.Connection) -> None:
    (row,) = vectors._KEPT.of(db, {"embedder": "e", "some": ["h4", "none"]})
    assert (row.hash, row.data) == ("h4", b"\x00\xff")


def test_rows_are_numbered_and_replaced(db: sa.Connection) -> None:
    numbers = [insert_numbered(db, ACCESSES, {"entry_id": "m1", "at": TIMES[0]}) for _ in range(2)]
    assert numbers == [8, 9]
    upsert(db, ENTRIES, [_entry(3, "new"), _entry(40)])
    assert db.scalar(sa.select(ENTRIES.c.body).where(ENTRIES.c.id == "m3")) == "new"
    assert db.scalar(sa.select(sa.func.count()).select_from(ENTRIES)) == 41


def test_what_is_kept_already_is_not_written_again(db: sa.Connection) -> None:
    insert_new(db, VECTORS, [{"hash": name, "embedder": "e", "data": b"new"} for name in ("h4", "h44")])
    rows = vectors._KEPT.of(db, {"embedder": "e", "some": ["h4", "h44"]})
    assert {row.hash: row.data for row in rows} == {"h4": b"\x00\xff", "h44": b"new"}


def test_what_goes_wrong_is_told_in_the_journals_own_words(tmp_path: Path) -> None:
    file = tmp_path / "journal.sqlite3"
    made = Journal(f"sqlite:///{file}", real_clock)
    with sqlite3.connect(file) as other:
        other.execute("DROP TABLE entries")
    with pytest.raises(StoreDamaged, match=r"cannot be read: no such table: entries\.$"):
        made.count([])
    with pytest.raises(StoreDamaged, match=r"cannot be written: no such table: entries\. Nothing was changed\.$"):
        _write_half(made)
    assert made.position() == (0, 0)
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE entries (id TEXT, tier TEXT, body TEXT, hash TEXT)")
        other.execute("INSERT INTO entries VALUES ('m1', 'stm', CAST(x'ff' AS TEXT), 'h1')")
    with pytest.raises(JournalDamaged, match="cannot be read: Could not decode"):
        made.entries(Tier.STM)
    other.close()
    made.close()


def _write_half(made: Journal) -> None:
    with made._write() as opened:
        insert(opened, ACCESSES, [{"entry_id": "m1", "at": TIMES[0]}])
        upsert(opened, ENTRIES, [_entry(1)])
