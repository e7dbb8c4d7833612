"""The journal's history: change sets with their changes, all of them or those that match a search.

It also converts a change set to the journal's row and back, without its changes, which are rows of their own.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from ...core.change_set import Change, ChangeSet, Kept, ModelCall, TextChange, is_text, load_entry
from ...core.times import moment_given, utc
from ...errors import InvalidParameter, shown
from .postgres import lower_case
from .statements import Rows
from .tables import CHANGE_SETS, CHANGES


def head_of(change_set: ChangeSet, applied_at: datetime, *, done: bool) -> dict[str, Any]:
    """The row of ``CHANGE_SETS`` for a change set that is applied now; unless ``done``, further steps may follow."""
    details = {
        "base_revision": change_set.base_revision,
        "agent": change_set.agent,
        "kept": [dataclasses.asdict(kept) for kept in change_set.kept],
        "notes": list(change_set.notes),
        "calls": [dataclasses.asdict(call) for call in change_set.calls],
        "texts": [dataclasses.asdict(text) for text in change_set.texts],
        "purges": list(change_set.purges),
    }
    return {
        "id": change_set.id,
        "operation": change_set.operation,
        "title": change_set.title,
        "author": change_set.author,
        "reason": change_set.reason,
        "planned_at": change_set.planned_at.isoformat(),
        "applied_at": utc(applied_at),
        "undoes": change_set.undoes,
        "done": done,
        "details": json.dumps(details, ensure_ascii=False),
    }


def written(name: str) -> str:
    """How ``head_of`` writes the change of a text; readers have to filter out other matches."""
    return f'{{"name": "{name}", "before": '


def change_set_of(head: Any, changes: Iterable[Change]) -> ChangeSet:
    """The change set in a row that ``head_of`` made."""
    details = json.loads(head.details)
    return ChangeSet(
        operation=head.operation,
        title=head.title,
        changes=tuple(changes),
        planned_at=datetime.fromisoformat(head.planned_at),
        base_revision=details["base_revision"],
        author=head.author,
        reason=head.reason,
        texts=tuple(TextChange(**text) for text in details["texts"]),
        kept=tuple(Kept(**kept) for kept in details["kept"]),
        notes=tuple(details["notes"]),
        calls=tuple(ModelCall(**call) for call in details["calls"]),
        undoes=head.undoes,
        agent=details.get("agent", ""),
        purges=tuple(details.get("purges", ())),
        id=head.id,
        revision=head.revision,
    )


_MANY = 500
"""Ids per statement: SQLite accepts 32,766 values, PostgreSQL plans long lists slowly."""


def slices(items: Sequence[Any]) -> Iterator[list[Any]]:
    """The items, as many at a time as fit in one statement."""
    for start in range(0, len(items), _MANY):
        yield list(items[start : start + _MANY])


def standing_undos(db: sa.Connection, revisions: list[int], until: int | None = None) -> dict[int, int]:
    """Which of these revisions are undone, and by which; an undo that was itself undone does not count.

    With ``until``, as of the time when that was the newest revision.
    """
    query = sa.select(CHANGE_SETS.c.revision, CHANGE_SETS.c.undoes).where(CHANGE_SETS.c.undoes.in_(revisions))
    if until is not None:
        query = query.where(CHANGE_SETS.c.revision <= until)
    undos = {row.undoes: row.revision for row in db.execute(query.order_by(CHANGE_SETS.c.revision))}
    if not undos:
        return {}
    fallen = standing_undos(db, list(undos.values()), until)
    return {revision: undo for revision, undo in undos.items() if undo not in fallen}


Connect = Callable[[], AbstractContextManager[sa.Connection]]
Ask = Callable[..., Rows]

_JSON = sa.JSON().with_variant(sa.Text(), "sqlite")
_MOST_WORDS = 32_000


@dataclass(frozen=True)
class Applied:
    """A change set in the journal: when it was really applied, and whether it has been undone."""

    change_set: ChangeSet
    applied_at: datetime
    undone_by: int | None

    @property
    def revision(self) -> int:
        """Its number in the journal."""
        return self.change_set.number


@dataclass(frozen=True)
class Sought:
    """Which change sets to look for; all by default.

    Args:
        contains: words in the title, the reason, the author or the text of a memory before or after, in any case.
        author: exactly this one.
        operation: exactly this one, such as ``migrate``.
        entry_id: it changed this memory.
        since: it was applied at this real time or later.
        until: it was applied before this real time.
        text: it changed the text of this name; see ``is_text_name``.

    Raises:
        InvalidParameter: a value is not a text, or not a time with a zone.
    """

    contains: str = ""
    author: str = ""
    operation: str = ""
    entry_id: str = ""
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""

    def __post_init__(self) -> None:
        for name in ("contains", "author", "operation", "entry_id", "text"):
            value = getattr(self, name)
            if not is_text(value) or len(value) > _MOST_WORDS:
                raise InvalidParameter(
                    f"{name!r} must be a text of at most {_MOST_WORDS:,} characters, not {shown(value)}."
                )
        for name in ("since", "until"):
            if (at := getattr(self, name)) is not None:
                moment_given(repr(name), at)
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InvalidParameter("'since' must be earlier than 'until'.")

    def where(self) -> list[sa.ColumnElement[bool]]:
        """The conditions on ``CHANGE_SETS``."""
        conditions: list[sa.ColumnElement[bool]] = []
        if self.author:
            conditions.append(CHANGE_SETS.c.author == self.author)
        if self.operation:
            conditions.append(CHANGE_SETS.c.operation == self.operation)
        if self.since is not None:
            conditions.append(CHANGE_SETS.c.applied_at >= utc(self.since))
        if self.until is not None:
            conditions.append(CHANGE_SETS.c.applied_at < utc(self.until))
        if self.entry_id:
            conditions.append(CHANGE_SETS.c.revision.in_(_revisions(CHANGES.c.entry_id == self.entry_id)))
        if self.text:
            conditions.append(CHANGE_SETS.c.details.contains(json.dumps({"name": self.text})[:-1], autoescape=True))
        if words := self.contains.strip():
            heads = (holds(column, words) for column in _HEAD_TEXTS)
            ends = sa.or_(*(holds(document(end), words) for end in (CHANGES.c.before, CHANGES.c.after)))
            condition = sa.exists().where(CHANGES.c.revision == CHANGE_SETS.c.revision, ends)
            conditions.append(sa.or_(*heads, condition))
        return conditions


_HEAD_TEXTS = (CHANGE_SETS.c.title, CHANGE_SETS.c.reason, CHANGE_SETS.c.author)
ALL = Sought()


def _revisions(where: sa.ColumnElement[bool]) -> sa.Select[tuple[int]]:
    return sa.select(CHANGES.c.revision).where(where)


def holds(column: sa.ColumnElement[str], words: str) -> sa.ColumnElement[bool]:
    """Whether a text contains these words, in any case."""
    return lower_case(column).contains(words.lower(), autoescape=True)


def field(body: sa.ColumnElement[str], name: str) -> sa.ColumnElement[str]:
    """A field of a memory in the journal's JSON."""
    found: sa.ColumnElement[str] = sa.type_coerce(sa.cast(body, _JSON), sa.JSON)[name].as_string()
    return found


def document(body: sa.ColumnElement[str]) -> sa.ColumnElement[str]:
    """The text of a memory in the journal."""
    return field(body, "document")


@dataclass(frozen=True)
class HistoryKinds:
    """The authors and operations of changes, each with their number; the most frequent first."""

    authors: Mapping[str, int]
    operations: Mapping[str, int]


class Teller:
    """Reads change sets.

    Args:
        read: a connection to read by.
    """

    def __init__(self, read: Callable[[], AbstractContextManager[sa.Connection]]) -> None:
        self._read = read

    def of(
        self,
        *where: sa.ColumnElement[bool],
        newest: int | None = None,
        unless: Callable[[sa.Connection], None] = lambda _db: None,
    ) -> list[Applied]:
        """Those that meet the conditions: the oldest first, or the newest first and at most so many.

        ``unless`` raises an error instead if it applies, as of the same moment.
        """
        query = sa.select(CHANGE_SETS).where(*where)
        order = CHANGE_SETS.c.revision.desc() if newest is not None else CHANGE_SETS.c.revision
        query = query.order_by(order)
        if newest is not None:
            query = query.limit(newest)
        with self._read() as db:
            unless(db)
            heads = db.execute(query).all()
            revisions = [head.revision for head in heads]
            changes: dict[int, list[Change]] = {revision: [] for revision in revisions}
            undone: dict[int, int] = {}
            for some in slices(revisions):
                rows = db.execute(
                    sa.select(CHANGES)
                    .where(CHANGES.c.revision.in_(some))
                    .order_by(CHANGES.c.revision, CHANGES.c.position)
                )
                for row in rows:
                    changes[row.revision].append(Change(load_entry(row.before), load_entry(row.after), row.reason))
                undone |= standing_undos(db, some)
        return [
            Applied(
                change_set_of(head, changes[head.revision]),
                datetime.fromisoformat(head.applied_at),
                undone.get(head.revision),
            )
            for head in heads
        ]

    def kinds(self, after: int = 0, until: int | None = None) -> HistoryKinds:
        """The authors and operations in the history after a revision, up to another."""
        with self._read() as db:
            counts = []
            for column in (CHANGE_SETS.c.author, CHANGE_SETS.c.operation):
                query = sa.select(column, sa.func.count().label("times")).group_by(column)
                query = query.where(CHANGE_SETS.c.revision > after)
                if until is not None:
                    query = query.where(CHANGE_SETS.c.revision <= until)
                rows = db.execute(query.order_by(sa.desc("times"), column))
                counts.append({str(row[0]): int(row[1]) for row in rows})
        return HistoryKinds(*counts)
