"""A change set as the journal's row and back, without its changes, which are rows of their own."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from .changes import Change, ChangeSet, Kept, ModelCall, TextChange
from .journal_tables import CHANGE_SETS
from .times import utc


def head_of(change_set: ChangeSet, applied_at: datetime) -> dict[str, Any]:
    """The row of ``CHANGE_SETS`` for a change set that is applied now, not yet marked done."""
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
        "done": False,
        "details": json.dumps(details, ensure_ascii=False),
    }


def change_set_of(head: Any, changes: Iterable[Change]) -> ChangeSet:
    """The change set of a row that ``head_of`` made."""
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
"""Ids a statement: SQLite takes 32,766 values, PostgreSQL plans long lists slowly."""


def slices(items: Sequence[Any]) -> Iterator[list[Any]]:
    """The items, as many at a time as one statement takes."""
    for start in range(0, len(items), _MANY):
        yield list(items[start : start + _MANY])


def standing_undos(db: sa.Connection, revisions: list[int], until: int | None = None) -> dict[int, int]:
    """Which of these revisions are undone, and by which; an undo that was itself undone does not stand.

    With ``until``, as things stood when that was the newest revision.
    """
    query = sa.select(CHANGE_SETS.c.revision, CHANGE_SETS.c.undoes).where(CHANGE_SETS.c.undoes.in_(revisions))
    if until is not None:
        query = query.where(CHANGE_SETS.c.revision <= until)
    undos = {row.undoes: row.revision for row in db.execute(query.order_by(CHANGE_SETS.c.revision))}
    if not undos:
        return {}
    fallen = standing_undos(db, list(undos.values()), until)
    return {revision: undo for revision, undo in undos.items() if undo not in fallen}
