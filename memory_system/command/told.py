"""Change sets and memories in tables for people."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from ..changes import Change, ChangeSet
from ..entry import MemoryEntry
from ..times import ago
from ..verdicts import NAMES
from .shapes import change_set as as_shape
from .terminal import Column, one_line, say, show_json, show_table, stacked

NOT_CHANGED = "Nothing was changed: this is what it would do."
_CHANGES = (Column("what"), Column("memory", wide=True), Column("why", wide=True))
_MEMORIES = (
    Column("tier"),
    Column("when"),
    Column("rating", right=True),
    Column("memory", wide=True, drawn=True),
    Column("memory", plain=True),
    Column("id", plain=True),
)


def show_change_set(agent: str, done: ChangeSet, *, json: bool, dry_run: bool) -> None:
    """What an operation did, or would do; and how it is taken back."""
    if json:
        show_json(as_shape(agent, done))
        return
    show_changes(done)
    if not done:
        say("Nothing to do.")
    elif dry_run:
        say(NOT_CHANGED)
    else:
        say(taken_back(agent, done))


def show_changes(done: ChangeSet) -> None:
    """The title of a change set, its changes with their reasons, what it left as it is, and its notes."""
    say(one_line(done.title, 200))
    if done.changes:
        show_table(
            _CHANGES, [(_what(one), one_line(_held(one).document), one_line(one.reason)) for one in done.changes]
        )
    for text in done.texts:
        say(f"Changes the {text.name}.")
    for reason, count in Counter(kept.reason for kept in done.kept).items():
        say(f"Left as they are: {count}. {one_line(reason, 200)}")
    for note in done.notes:
        say(f"Note: {one_line(note, 400)}")


def show_memories(memories: Sequence[MemoryEntry], now: datetime) -> None:
    """Memories with how long before ``now`` they happened."""
    rows = []
    for entry in memories:
        rating = "" if entry.rating is None else f"{entry.rating:g}"
        text = one_line(entry.document)
        rows.append((NAMES[entry.tier], when(entry, now), rating, stacked(text, entry.id), text, entry.id))
    show_table(_MEMORIES, rows)


def when(entry: MemoryEntry, now: datetime) -> str:
    """How long ago a memory happened, in words; empty where it is timeless."""
    return "" if entry.timestamp is None else ago(entry.timestamp, now)


def taken_back(agent: str, done: ChangeSet) -> str:
    """How a change set that was applied can be taken back."""
    command = f"python -m memory_system undo {shlex.quote(agent)} {done.revision}"
    return f"Done, as revision {done.revision}. To take it back: {command}"


def _what(change: Change) -> str:
    return f"to {NAMES[_held(change).tier]}" if change.verb == "move" else change.verb


def _held(change: Change) -> MemoryEntry:
    held = change.after or change.before
    assert held is not None, "a change has a before or an after"
    return held
