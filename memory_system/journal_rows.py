"""A change set as the journal's row and back, without its changes, which are rows of their own."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from .changes import Change, ChangeSet, Kept, ModelCall, TextChange


def head_of(change_set: ChangeSet, applied_at: datetime) -> dict[str, Any]:
    """The row of ``CHANGE_SETS`` for a change set that is applied now, not yet marked done."""
    details = {
        "base_revision": change_set.base_revision,
        "agent": change_set.agent,
        "kept": [dataclasses.asdict(kept) for kept in change_set.kept],
        "notes": list(change_set.notes),
        "calls": [dataclasses.asdict(call) for call in change_set.calls],
        "texts": [dataclasses.asdict(text) for text in change_set.texts],
    }
    return {
        "id": change_set.id,
        "operation": change_set.operation,
        "title": change_set.title,
        "author": change_set.author,
        "reason": change_set.reason,
        "planned_at": change_set.planned_at.isoformat(),
        "applied_at": applied_at.isoformat(),
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
        id=head.id,
        revision=head.revision,
    )
