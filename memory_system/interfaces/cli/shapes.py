"""What ``--json`` prints: the one JSON form of each value, some parts with established names of the command line.

README.md in this folder documents the shapes, and a test checks that it does.
"""

from __future__ import annotations

from typing import Any

from ...core.change_set import ChangeSet
from ...core.entry import MemoryEntry
from ...recall.rank import Recall
from ...recall.verdicts import Candidate
from ...store.journal.history import Applied
from .. import serialize
from ..serialize import plain

VERBS = ("add", "update", "move", "forget")


def memory(entry: MemoryEntry) -> dict[str, Any]:
    """A memory."""
    fields: dict[str, Any] = _memory(plain(entry))
    return fields


def _memory(fields: Any) -> Any:
    return fields and {**fields, "extras": fields["metadata"]}


def candidate(one: Candidate) -> dict[str, Any]:
    """A memory with its score, parts and verdict; a missing number is ``null``."""
    fields: dict[str, Any] = plain(one)
    score = fields["score"]
    parts = {"score": score["total"], "parts": score["parts"], "relevancy_parts": score["sub_parts"]}
    return {"memory": _memory(fields.pop("entry")), **fields, **parts, "via": one.via or None}


def recalled(agent: str, found: Recall) -> dict[str, Any]:
    """An answer: the memories in order, and the text for a prompt."""
    return {
        "agent": agent,
        "query": plain(found.query),
        "considered": found.considered,
        "recalled": [candidate(hit) for hit in found.hits],
        "context": found.context,
        "nearest": found.nearest and candidate(found.nearest),
    }


def _counted(done: ChangeSet) -> dict[str, int]:
    return {verb: len(done.of(verb)) for verb in VERBS}


def change_set(agent: str, done: ChangeSet) -> dict[str, Any]:
    """A whole change set; ``applied`` is false for a dry run, and if there was nothing to do."""
    fields: dict[str, Any] = plain(done)
    changes = [
        {**change, "before": _memory(change["before"]), "after": _memory(change["after"])}
        for change in fields["changes"]
    ]
    del fields["expires_in"]  # nothing waits here
    return {
        **fields,
        "agent": agent,
        "applied": done.revision is not None,
        "counts": _counted(done),
        "changes": changes,
    }


def applied(told: Applied) -> dict[str, Any]:
    """A change set as the history lists it."""
    done = told.change_set
    when = {"applied_at": told.applied_at.isoformat(), "undone_by": told.undone_by}
    return {**serialize.head(done), "counts": _counted(done), **when}
