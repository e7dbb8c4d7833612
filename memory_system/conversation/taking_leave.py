"""Taking leave: what a talk leaves in memory when it ends, and how the whole of it is taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from ..agent import AgentMemory
from ..changes import Change, ChangeSet, short
from ..consolidation import synopsis
from ..consolidation.ground import Ground, Progress, bare, rated
from ..curation import lasting
from ..entry import LIVED, MAX_DOCUMENT, Kind, MemoryEntry, Tier
from ..errors import Conflict
from ..intake_turns import MAX_TURNS
from . import kept
from .messages import SCENE, Message
from .shelf import removal
from .shelf_entries import message_id
from .steps import planned
from .talk import Talk

SYNOPSIS = "synopsis"
"""The operation under which the history tells of a talk that was remembered."""
Slice = Callable[[int, int], tuple[Message, ...]]
"""Messages from a number on, at most so many."""


def synopsis_of(agent: AgentMemory, talk: Talk, messages: Slice, now: datetime, progress: Progress) -> ChangeSet:
    """What a talk shows since its last synopsis, as one memory that rests on its messages; see ``synopsis.entry``.

    Raises:
        Conflict: nothing was said since.
    """
    start = max(talk.remembered, talk.next_number - MAX_TURNS)
    said = [message for message in messages(start, MAX_TURNS) if message.said and message.speaker != SCENE]
    if not said:
        raise Conflict("Nothing was said in this talk that is not remembered yet.")
    turns = [_turn(talk, message) for message in said]
    speakers = list(dict.fromkeys(message.speaker for message in said))
    ground = Ground(
        agent.display_name,
        now,
        agent.stamp[0],
        agent.author,
        (),
        (),
        agent.settings,
        agent.model,
        lambda _cue, _top_k: [],
        progress,
        agent.name,
    )
    told = synopsis.read(ground, turns, speakers)
    after = replace(talk, remembered=talk.next_number)
    changes, calls = list[Change](), list(told.calls)
    if told.shown:
        entry, call = rated(synopsis.entry(told.shown, turns, speakers), agent.model)
        calls.append(call)
        entry = entry.evolve(id=f"synopsis-{talk.id}-{talk.next_number}")
        changes.append(Change(None, entry, f"What the talk shows, from {len(turns)} messages."))
    return planned(
        agent,
        f"Remember the talk “{short(talk.title)}”",
        now,
        tuple(changes),
        operation=SYNOPSIS,
        texts=kept.text_changes(agent, after) if changes else (),
        calls=tuple(calls),
        notes=told.notes,
    )


def removed(agent: AgentMemory, talk: Talk, now: datetime, *, events: bool) -> ChangeSet:
    """What takes a conversation out of memory; pinned and protected events stay."""
    plan = replace(removal(agent, talk.id, author=agent.author), planned_at=now)
    if not events:
        return plan
    lived = (entry for tier in LIVED if tier is not Tier.STATIC for entry in agent.entries(tier))
    stored = (one for one in lived if one.extras.get("conversation") == talk.id and lasting(one) is None)
    gone = tuple(Change(bare(entry), None, "It came of a conversation that was removed.") for entry in stored)
    return replace(plan, changes=(*plan.changes, *gone))


def _turn(talk: Talk, message: Message) -> MemoryEntry:
    """A message as synopses read turns."""
    return MemoryEntry(
        f"{message.speaker}: {message.said}"[:MAX_DOCUMENT],
        {"conversation": talk.id, "turn": message.number, "speaker": message.speaker},
        message_id(talk.id, message.number),
        kind=Kind.CONVERSATION,
        timestamp=message.at,
    )
