"""Events that are sent with an ``Idempotency-Key`` are remembered once: the history shows this even after a restart."""

from __future__ import annotations

import dataclasses
import json
import uuid
from collections.abc import Sequence
from typing import Any

from ...agent import AgentMemory
from ...core.change_set import Change
from ...errors import Conflict, EntryNotFound
from ...operations.context import Progress, no_progress, within
from ...operations.importing.events import Added, Outcome


def remembered(
    agent: AgentMemory,
    events: Sequence[Any],
    key: str | None,
    *,
    preview: bool = False,
    progress: Progress = no_progress,
    **how: Any,
) -> Added:
    """Like ``AgentMemory.add_short_term``, but once per key, whatever has become of the memories since.

    Args:
        agent: who remembers.
        events: as they were sent; one without an id gets one derived from the key.
        key: the key of their request; ``None`` = it has none.
        preview: whether to plan only.
        progress: called with the progress so far.
        how: the other arguments of ``AgentMemory.add_short_term``.

    Raises:
        Conflict: one of these memories was purged, or the key was used for other events.
        MemorySystemError: they cannot be accepted. Nothing was changed.
    """
    if key is None or preview:
        return agent.add_short_term(events, preview=preview, progress=progress, **how)
    with_ids = [_keyed(event, _id_of(agent.name, key, number)) for number, event in enumerate(events)]
    _refuse_purged(agent, with_ids)
    write = _id_of(agent.name, key, json.dumps(events, sort_keys=True, default=str))
    if (before := agent.contents.done(write)) is not None:
        made = {change.entry_id: change for change in before.changes if change.after is not None}
        return Added(tuple(_again(agent, event["id"], made.get(event["id"])) for event in with_ids), before)
    _refuse_used(agent, [event["id"] for event, sent in zip(with_ids, events, strict=True) if event is not sent])
    planned = agent.add_short_term(with_ids, preview=True, progress=within(progress, 0.0, 0.5), **how)
    plan = dataclasses.replace(planned.change_set, id=write)
    agent.embed_ahead(plan, progress=within(progress, 0.5, 1.0))
    return Added(planned.outcomes, agent.apply(plan))


def _id_of(name: str, key: str, what: object) -> str:
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{name}\n{key}\n{what}").hex


def _keyed(event: Any, made: str) -> Any:
    return event | {"id": made} if isinstance(event, dict) and event.get("id") is None else event


def _again(agent: AgentMemory, entry_id: str, made: Change | None) -> Outcome:
    """What became of an event when it was first sent, from the change made then; ``None`` = nothing was."""
    if made is not None and made.after is not None:
        action = "added" if made.before is None else "overwritten"
        return Outcome(entry_id, action, made.after, made.after.rating is not None, "")
    entry = agent.last_version(entry_id)
    return Outcome(entry_id, "skipped", entry, entry.rating is not None, "It was skipped when it was first sent.")


def _refuse_purged(agent: AgentMemory, events: Sequence[Any]) -> None:
    """Prevent a write repeated with its key from bringing anything back: the ids are derived from the key."""
    ids = [event["id"] for event in events if isinstance(event, dict) and isinstance(event.get("id"), str)]
    if ids and agent.contents.lost(ids):
        raise Conflict(
            "This was remembered before, and has since been purged for good. To remember it again, send it with "
            "another Idempotency-Key."
        )


def _refuse_used(agent: AgentMemory, made: Sequence[str]) -> None:
    """Prevent other events with the same key from overwriting any: all of a request were stored, or none."""
    if not made:
        return
    try:
        agent.last_version(made[0])
    except EntryNotFound:
        return
    raise Conflict(
        "This Idempotency-Key was used before, for other events or so long ago that the history no longer shows it; "
        "choose a new key for each write."
    )
