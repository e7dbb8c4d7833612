"""How far the history reaches back: what exceeds an agent's settings is dropped, a few changes at a time.

Dropped are change sets with their changes, accesses that later ones supersede, and the queries of that time; never a
memory, a text or a setting. Of older change sets these stay: the first, which identifies an agent and its copies,
what the character last did by itself, and everything about a memory that left or came back, changed its text, rests on
others or has others rest on it.

This happens in the background, in turns so short that other writers hardly wait.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any

import sqlalchemy as sa

from ...core.authors import BY_ITSELF
from ...core.settings import AgentSettings
from ...core.times import Clock, parse_time, stamp, utc
from ...errors import ChangeSetNotFound, MemorySystemError
from ..policy import Policy
from ..soon import Soon
from ..turns import Turns
from .evidence import Evidence
from .history import Connect, slices, written
from .statements import upsert
from .tables import ACCESSES, CHANGE_SETS, CHANGES, LET_GO, QUERIES, TEXTS
from .trash import RESTORABLE

REACHES_BACK_TO = "The history reaches back to revision"
_SETS, _ROWS = 50, 400
"""How many change sets, and about how many rows, one transaction drops."""
_PER_ROW = 150
"""About how many bytes a row uses in addition to its texts, in its table and in the indexes."""
_SLACK = 50
"""How many change sets beyond its limit a history may have before that is checked."""
_SOON, _NEXT = 0.2, 0.02
"""Seconds until the first turn, and from one to the next."""


@dataclass(frozen=True)
class Limits:
    """How much history is kept: whatever exceeds either limit is dropped.

    Args:
        changes: the number of newest change sets to keep; 0 = all.
        days: the number of last days of real time to keep; 0 = all.
    """

    changes: int = 0
    days: int = 0

    def __bool__(self) -> bool:
        """Whether there is a limit."""
        return bool(self.changes or self.days)


@dataclass(frozen=True)
class HistoryKept:
    """How far an agent's history reaches back, and its size.

    Args:
        changes: the change sets that can be inspected and undone.
        since: when the oldest of them was applied, in real time; ``None`` = there is none.
        bytes: about how much of the journal the history uses.
        leaving: how many change sets exceed the given limits.
        let_go: how many have been dropped so far.
        let_go_until: when the newest of those was applied; ``None`` = none was dropped.
    """

    changes: int
    since: datetime | None
    bytes: int
    leaving: int
    let_go: int
    let_go_until: datetime | None


@dataclass(frozen=True)
class _Floor:
    """The newest dropped change set, when it was applied, and how many were dropped; 0 = none."""

    revision: int = 0
    applied_at: str = ""
    changes: int = 0


FLOOR = sa.select(TEXTS.c.body).where(TEXTS.c.name == LET_GO)
"""Selects the journal's record of how far its history reaches back; ``let_go_of`` reads it."""


def _read(body: str | None) -> _Floor:
    return _Floor() if body is None else _Floor(**json.loads(body))


def let_go_of(body: str | None) -> int:
    """The newest revision that was dropped; 0 = none was."""
    return _read(body).revision


class Horizon:
    """How far back the history of one journal reaches.

    Args:
        read: a connection to read by.
        write: a connection whose transaction is committed at the end.
        evidence: which memories rest on which.
        clock: the real time.
    """

    def __init__(self, read: Connect, write: Connect, evidence: Evidence, clock: Clock) -> None:
        self._read = read
        self._write = write
        self._evidence = evidence
        self._clock = clock

    @property
    def floor(self) -> int:
        """The newest revision that was dropped; 0 = none was."""
        with self._read() as db:
            return let_go_of(db.scalar(FLOOR))

    def refuse(self, db: sa.Connection, revision: int, *, itself: bool = False) -> None:
        """Do nothing if the history has all that came after a revision, and with ``itself`` that one too.

        Raises:
            ChangeSetNotFound: some of it was dropped.
        """
        floor = _read(db.scalar(FLOOR))
        if revision < floor.revision + itself:
            raise ChangeSetNotFound(
                f"{REACHES_BACK_TO} {floor.revision + 1} only: what was done up to "
                f"{stamp(parse_time(floor.applied_at))} was let go of, as its settings say."
            )

    def kept(self, limits: Limits) -> HistoryKept:
        """How far back it reaches, its size, and how many change sets exceed these limits."""
        sizes = [sa.func.coalesce(sa.func.length(column), 0) for column in (CHANGES.c.before, CHANGES.c.after)]
        rows = sa.select(sa.func.count(), sa.func.sum(sum(sizes, sa.func.length(CHANGES.c.reason))))
        heads = sa.select(
            sa.func.count(),
            sa.func.sum(sa.func.length(CHANGE_SETS.c.details) + sa.func.length(CHANGE_SETS.c.title)),
        ).select_from(CHANGE_SETS)
        with self._read() as db:
            floor = _read(db.scalar(FLOOR))
            counted = [row for query in (rows, heads) for row in db.execute(query)]
            since = CHANGE_SETS.c.revision > floor.revision
            kept, first, newest = db.execute(
                sa.select(
                    sa.func.count(), sa.func.min(CHANGE_SETS.c.revision), sa.func.max(CHANGE_SETS.c.revision)
                ).where(since)
            ).one()
            oldest = db.scalar(sa.select(CHANGE_SETS.c.applied_at).where(CHANGE_SETS.c.revision == first))
            past = [CHANGE_SETS.c.revision <= newest - limits.changes] if limits.changes and newest else []
            past += [CHANGE_SETS.c.applied_at < self._bound(limits)] if limits.days else []
            leaving = db.scalar(sa.select(sa.func.count()).where(since, sa.or_(*past))) if past else 0
        return HistoryKept(
            changes=kept,
            since=None if oldest is None else parse_time(oldest),
            bytes=sum(number * _PER_ROW + int(size or 0) for number, size in counted),
            leaving=int(leaving or 0),
            let_go=floor.changes,
            let_go_until=parse_time(floor.applied_at) if floor.changes else None,
        )

    def let_go(self, limits: Limits, slack: int = 0) -> bool:
        """Drop the oldest change sets that exceed the limits, some hundred at once; return whether more do.

        Nothing is done if no more than ``slack`` change sets exceed them. Whatever the store still lacks is kept.

        Raises:
            StoreError: the journal cannot be written. Nothing was changed.
        """
        if not limits or len(self._going(limits, slack + 1)) <= slack:
            return False
        concerned = self._evidence.concerned()
        with self._read() as db:
            acts = _acts(db)
        with self._write() as db:
            floor = _read(db.scalar(FLOOR))
            going = self._sized(db, self._oldest(db, floor, limits, _SETS))
            if not going:
                return False
            last = going[-1]
            if _outdated(db, floor.revision, last.revision):
                return True
            _drop(db, [row.revision for row in going], concerned)
            _drop_heads(db, floor.revision, last.revision, acts)
            db.execute(sa.delete(QUERIES).where(QUERIES.c.revision < last.revision))
            left = _Floor(last.revision, last.applied_at, floor.changes + len(going))
            upsert(db, TEXTS, [{"name": LET_GO, "body": json.dumps(left.__dict__)}])
        return bool(self._going(limits, 1))

    def _going(self, limits: Limits, most: int) -> Sequence[Any]:
        with self._read() as db:
            return self._oldest(db, _read(db.scalar(FLOOR)), limits, most)

    def _oldest(self, db: sa.Connection, floor: _Floor, limits: Limits, most: int) -> Sequence[Any]:
        """The oldest change sets that exceed the limits, up to the first that does not."""
        last = int(db.scalar(sa.select(sa.func.max(CHANGE_SETS.c.revision))) or 0) - limits.changes
        before = self._bound(limits)
        heads = sa.select(CHANGE_SETS.c.revision, CHANGE_SETS.c.applied_at, CHANGE_SETS.c.done)
        heads = heads.where(CHANGE_SETS.c.revision > floor.revision).order_by(CHANGE_SETS.c.revision).limit(most)
        return list(
            takewhile(
                lambda row: row.done and ((limits.changes and row.revision <= last) or row.applied_at < before),
                db.execute(heads),
            )
        )

    def _bound(self, limits: Limits) -> str:
        """The real time, in the journal's form, before which changes exceed the limits."""
        return utc(self._clock() - timedelta(days=limits.days)) if limits.days else ""

    @staticmethod
    def _sized(db: sa.Connection, going: Sequence[Any]) -> Sequence[Any]:
        """As many of them, at least one, as one turn may drop together, by their number of changes."""
        counts = sa.select(CHANGES.c.revision, sa.func.count()).group_by(CHANGES.c.revision)
        of = {row[0]: row[1] for row in db.execute(counts.where(CHANGES.c.revision.in_([row[0] for row in going])))}
        left = _ROWS
        for number, row in enumerate(going):
            left -= of.get(row.revision, 0)
            if left < 0:
                return going[: number or 1]
        return going


def _drop(db: sa.Connection, revisions: Sequence[int], concerned: Collection[str]) -> None:
    """Delete the changes of these change sets, except those that are still needed.

    Those are the changes by which a memory left or came back, so that the bin is right at any later moment; changes of
    its text, so that a purge finds everything it ever said; and all changes of memories that rest on others, or others
    on them.
    """
    rows = db.execute(sa.select(CHANGES).where(CHANGES.c.revision.in_(revisions))).all()
    came = [row.entry_id for row in rows if row.before is None]
    earlier = _before(db, came, revisions[0])
    within: set[str] = set()
    going: dict[int, list[int]] = {}
    staying: set[int] = set()
    for row in sorted(rows, key=lambda row: (row.revision, row.position)):
        came_back = row.before is None and (row.entry_id in earlier or row.entry_id in within)
        within.add(row.entry_id)
        if row.entry_id in concerned or came_back or _went(row) or _says_something_else(row):
            staying.add(row.revision)
        else:
            going.setdefault(row.revision, []).append(row.position)
    whole = [revision for revision in going if revision not in staying]
    db.execute(sa.delete(CHANGES).where(CHANGES.c.revision.in_(whole)))
    some = [{"r": revision, "p": position} for revision in going.keys() & staying for position in going[revision]]
    if some:
        place = sa.and_(CHANGES.c.revision == sa.bindparam("r"), CHANGES.c.position == sa.bindparam("p"))
        db.execute(sa.delete(CHANGES).where(place), some)


def _before(db: sa.Connection, entry_ids: Sequence[str], revision: int) -> set[str]:
    """Those of these memories that were changed before a revision."""
    found: set[str] = set()
    for some in slices(entry_ids):
        earlier = sa.select(CHANGES.c.entry_id).where(CHANGES.c.entry_id.in_(some), CHANGES.c.revision < revision)
        found.update(db.scalars(earlier.distinct()))
    return found


def _went(row: Any) -> bool:
    """Whether a memory left that can be restored, or that was purged since."""
    return row.after is None and json.loads(row.before)["tier"] in RESTORABLE


def _says_something_else(row: Any) -> bool:
    """Whether this is the only record of a memory's former text, or of the reason for its rating."""
    if row.before is None or row.after is None:
        return False
    before, after = json.loads(row.before), json.loads(row.after)
    return any(before.get(name) and before[name] != after.get(name) for name in ("document", "explanation"))


def _drop_heads(db: sa.Connection, first: int, last: int, acts: Collection[int]) -> None:
    """Delete the heads between two revisions that are no longer needed, and the first one's.

    The last one's shows when the history begins; others belong to changes that are kept, to what the character
    last did by itself, or to the personality, which a machine with a file of its own updates from them.
    """
    telling = sa.exists().where(CHANGES.c.revision == CHANGE_SETS.c.revision)
    of_personality = CHANGE_SETS.c.details.contains(written("personality"), autoescape=True)
    within = sa.and_(CHANGE_SETS.c.revision >= first, CHANGE_SETS.c.revision < last)
    stay = CHANGE_SETS.c.revision.in_([1, *acts])
    db.execute(sa.delete(CHANGE_SETS).where(within, ~stay, ~telling, ~of_personality))


def _acts(db: sa.Connection) -> set[int]:
    """The last change sets of each kind that the character made by itself, its last plan, and what undid them."""
    newest = sa.select(sa.func.max(CHANGE_SETS.c.revision))
    found = set(db.scalars(newest.where(CHANGE_SETS.c.author == BY_ITSELF).group_by(CHANGE_SETS.c.operation)))
    found |= {scalar for scalar in db.scalars(newest.where(CHANGE_SETS.c.operation == "plan")) if scalar is not None}
    new = found
    while new:
        new = set(db.scalars(sa.select(CHANGE_SETS.c.revision).where(CHANGE_SETS.c.undoes.in_(new)))) - found
        found |= new
    return found


def _outdated(db: sa.Connection, first: int, last: int) -> bool:
    """Delete some of the accesses before a revision that are superseded by then by a later one of the same memory.

    Returns whether there are more. Before the first revision all have been processed. The newest access of all stays:
    by its number readers know what they have seen.
    """
    later = ACCESSES.alias()
    newer = sa.or_(later.c.at > ACCESSES.c.at, sa.and_(later.c.at == ACCESSES.c.at, later.c.number > ACCESSES.c.number))
    outdates = sa.exists().where(later.c.entry_id == ACCESSES.c.entry_id, later.c.revision < last, newer)
    newest = sa.select(sa.func.max(ACCESSES.c.number)).scalar_subquery()
    these = sa.and_(ACCESSES.c.revision >= first, ACCESSES.c.revision < last)
    recent = sa.select(ACCESSES.c.entry_id).where(these)
    before = sa.and_(ACCESSES.c.revision < first, ACCESSES.c.entry_id.in_(recent))
    query = sa.select(ACCESSES.c.number).where(sa.or_(these, before), outdates, ACCESSES.c.number < newest)
    numbers = list(db.scalars(query.limit(_ROWS)))
    for some in slices(numbers):
        db.execute(sa.delete(ACCESSES).where(ACCESSES.c.number.in_(some)))
    return len(numbers) == _ROWS


def limits_of(settings: str | None) -> Limits:
    """The limits in an agent's settings."""
    agent_settings = AgentSettings.from_json(settings)
    return Limits(agent_settings.history_changes, agent_settings.history_days)


class LettingGo:
    """Drops what exceeds an agent's settings, in the background.

    Args:
        horizon: of the agent's journal as it is open now.
        text: returns the text of a name, such as the agent's settings.
        settle: makes the store write what it lacks, which is never dropped.
        policy: who may write.
        turns: who reads and who writes.
    """

    def __init__(
        self,
        horizon: Callable[[], Horizon],
        text: Callable[[str], str | None],
        settle: Callable[[], bool],
        policy: Policy,
        turns: Turns,
    ) -> None:
        self._horizon = horizon
        self._text = text
        self._settle = settle
        self._policy = policy
        self._turns = turns
        self._look_at = 0
        self._letting = False
        self._soon = Soon(self._turn)

    def look(self, revision: int, *, now: bool = False) -> None:
        """Start if ``now``, or if enough has been written since the last time; costs nothing otherwise."""
        if revision >= self._look_at or now:
            self._look_at = revision + _SLACK
            if limits_of(self._text("settings")):
                self._soon.begin(_SOON)

    def stop(self) -> None:
        """Start no more; the rest waits for the next change after the next opening."""
        self._soon.cancel()

    def _turn(self) -> None:
        with suppress(MemorySystemError), self._turns.writing():
            limits = limits_of(self._text("settings"))
            if self._policy.why is not None:
                return
            self._settle()
            with self._turns.others_reading():
                more = self._horizon().let_go(limits, 0 if self._letting else _SLACK)
            self._letting = more
            if more:
                self._soon.begin(_NEXT)
