"""The journal's notes of recalls: which memories were recalled, and what was asked. Written in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import sqlalchemy as sa

from .accesses import Access, Noted
from .journal_tables import ACCESSES, QUERIES, TEXTS
from .logged import Asked, LoggedQuery, body_of, logged_of
from .settings import AgentSettings
from .times import utc


def write_notes(db: sa.Connection, notes: Sequence[Noted]) -> int:
    """Record notes in their order, and drop the queries that there is no room for; answers the newest access number.

    A query saw the accesses that stand before it, and what it says itself that it saw.
    """
    accesses = [Access(*one) for one in notes if not isinstance(one, Asked)]
    if accesses:
        db.execute(sa.insert(ACCESSES), _access_rows(accesses))
    newest = int(db.scalar(sa.select(sa.func.max(ACCESSES.c.number))) or 0)
    room = AgentSettings.from_json(db.scalar(sa.select(TEXTS.c.body).where(TEXTS.c.name == "settings"))).query_log
    first = newest - len(accesses) + 1  # whoever writes is alone, so that the numbers follow each other
    before, queries = 0, []
    for one in notes:
        if isinstance(one, Asked):
            queries.append(_query_row(one, max(one.access, first + before - 1) if before else one.access))
        else:
            before += 1
    if room and queries:
        db.execute(sa.insert(QUERIES), queries[-room:])
    last = db.scalar(sa.select(sa.func.max(QUERIES.c.number)))
    if last is not None:
        db.execute(sa.delete(QUERIES).where(QUERIES.c.number <= last - room))
    return newest


def _access_rows(accesses: Sequence[Access]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    written: dict[int, str | None] = {}  # the memories of one answer share their times, which take longest to write
    for one in accesses:
        for moment in (one.at, one.noted_at):
            if id(moment) not in written:
                written[id(moment)] = None if moment is None else utc(moment)
        at, noted_at = written[id(one.at)], written[id(one.noted_at)]
        rows.append({"entry_id": one.entry_id, "at": at, "revision": one.revision, "noted_at": noted_at})
    return rows


def _query_row(asked: Asked, access: int) -> dict[str, Any]:
    assert asked.asked_at is not None, "what waits has been noted"
    return {
        "cue": asked.query.cue,
        "at": asked.query.now.isoformat(),
        "noted_at": utc(asked.asked_at),
        "author": asked.author,
        "revision": asked.revision,
        "access": access,
        "body": body_of(asked),
    }


class QueryLog:
    """What was asked, as the journal keeps it.

    Args:
        read: a connection to read by.
    """

    def __init__(self, read: Callable[[], AbstractContextManager[sa.Connection]]) -> None:
        self._read = read

    def newest(self, limit: int, before: int | None, contains: str) -> list[LoggedQuery]:
        """The newest first, at most ``limit``; those before a number, and whose cue contains a text, in any case."""
        query = sa.select(QUERIES).order_by(QUERIES.c.number.desc())
        if before is not None:
            query = query.where(QUERIES.c.number < before)
        if not contains:
            query = query.limit(limit)
        sought, found = contains.casefold(), []
        with self._read() as db:
            for row in db.execute(query.execution_options(yield_per=200)):
                if sought in row.cue.casefold():
                    found.append(logged_of(row))
                    if len(found) == limit:
                        break
        return found

    def get(self, number: int) -> LoggedQuery | None:
        """One query; ``None`` if it was never logged, or has been dropped."""
        with self._read() as db:
            row = db.execute(sa.select(QUERIES).where(QUERIES.c.number == number)).first()
        return None if row is None else logged_of(row)
