"""A rehearsal beside its original as words and tables. Imports no streamlit, so that each can be tested by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import pandas as pd

from memory_system import Change, ChangeSet, MemoryEntry, Tier
from memory_system.core import ago, stamp, text_words
from memory_system.store.journal import Applied
from memory_system.world.branches import Apart, Fit, MemoryApart

from .. import words
from . import tables

VERBS = {"add": "Added", "forget": "Forgotten", "move": "Moved", "update": "Changed"}
"""What became of a memory in a rehearsal."""
TEXTS = {
    "personality": "Personality",
    "settings": "Settings",
    "cues": words.SAVED_CUES,
    "judgments": "Judgments",
    "dismissed": "Dismissed suspicions",
    "later": "Decisions put off",
    "interviews": "Kept interviews",
    "portrait": "Portrait",
}
_FIELDS = (
    *("tier", "kind", "timestamp", "rating", "explanation", "tags", "source", "people", "place"),
    *("pinned", "authored", "evidence", "metadata"),
)
_MOST = 160
"""Characters of a value in a line that tells what it was and is."""


def called(name: str) -> str:
    """What a text is called on a page."""
    return TEXTS.get(name, text_words(name))


def label(name: str, purpose: str | None) -> str:
    """What an agent is called where agents are chosen; ``purpose`` is a rehearsal's, ``None`` = it is none."""
    if purpose is None:
        return name
    return f"{name} (rehearsal{f': {tables.short(purpose, 40)}' if purpose else ''})"


def fields(before: MemoryEntry, after: MemoryEntry) -> list[str]:
    """What differs between two versions of a memory besides its text, a line a field: "pinned: no → yes"."""
    lines = []
    for name in _FIELDS:
        old, new = _field(before, name), _field(after, name)
        if old != new:
            lines.append(f"{name}: {tables.short(old, _MOST)} → {tables.short(new, _MOST)}")
    return lines


def _field(entry: MemoryEntry, name: str) -> str:
    value = entry.extras if name == "metadata" else getattr(entry, name)
    if name == "tier":
        return tables.TIERS[entry.tier]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return stamp(value)
    if name == "evidence":
        return tables.counted(len(value), "memory", "memories")
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={one}" for key, one in value.items()) or "none"
    if name == "rating" and value is not None:
        return f"{value:g}"
    return str(value) if value not in (None, "") else "none"


def line(what: str, before: str, after: str) -> str:
    """One difference of a text on one line: "top k: 5 → 9"; what is only there or gone has a sign."""
    if before == "nothing":
        return f"{what}: + {tables.short(after, 2 * _MOST)}"
    if after == "nothing":
        return f"{what}: − {tables.short(before, 2 * _MOST)}"
    return f"{what}: {tables.short(before, _MOST)} → {tables.short(after, _MOST)}"


def summary(apart: Apart, original: str) -> str:
    """How much differs, in a sentence."""
    parts = [tables.counted(len(apart.memories), "memory", "memories")] if apart.memories else []
    parts += [f"the {called(one.name).lower()}" for one in apart.texts]
    words = f"{', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}"
    one = len(apart.memories) + len(apart.texts) == 1 and apart.memories
    clashing = sum(each.clash for each in apart.memories) + sum(each.clash for each in apart.texts)
    told = f"Differs from {original}: {words}."
    if not clashing:
        return told
    which = "It clashes" if one else f"{clashing} of them {'clashes' if clashing == 1 else 'clash'}"
    return f"{told} {which}: the original was changed too."


def outcome(planned: ChangeSet, original: str) -> str:
    """What keeping does to the original, in numbers."""
    lived = [one for one in planned.changes if not _is_fact(one)]
    parts = [
        f"{tables.counted(number, 'memory', 'memories')} {words}"
        for verb, words in (("add", "more"), ("update", "changed"), ("move", "moved"), ("forget", "forgotten"))
        if (number := sum(one.verb == verb for one in lived))
    ]
    names = [called(text.name) for text in planned.texts]
    parts += [f"the {name.lower()} changed" for name in names]
    return f"{original} would have: {', '.join(parts)}." if parts else f"Nothing would change in {original}."


def _is_fact(change: Change) -> bool:
    return any(end.tier is Tier.STATIC for end in (change.before, change.after) if end is not None)


def apart_table(some: Sequence[MemoryApart]) -> pd.DataFrame:
    """The memories that differ, a row each, with a box to tick; those that clash say how."""
    rows = [
        {
            "id": one.entry_id,
            "keep": False,
            "what": VERBS[one.change.verb],
            "memory": tables.visible(document(one)),
            "by": tables.visible(one.steps[-1].title),
            "clash": tables.visible(one.sentence),
        }
        for one in some
    ]
    return pd.DataFrame(rows, columns=["id", "keep", "what", "memory", "by", "clash"])


def document(one: MemoryApart) -> str:
    """The text of a memory that differs, the rehearsal's where it has one."""
    entry = one.mine or one.theirs
    assert entry is not None, "what is on neither side does not differ"
    return entry.document


def changes_table(told: Sequence[Applied], fits: Mapping[int, Fit], now: datetime) -> pd.DataFrame:
    """The changes of a rehearsal, as they come, with a box to tick and how each stands to the original."""
    rows = [
        {
            "revision": one.revision,
            "keep": False,
            "what": tables.visible(one.change_set.title),
            "who": tables.visible(one.change_set.author),
            "applied": ago(one.applied_at, now),
            "state": _state(one, fits[one.revision]),
        }
        for one in told
    ]
    return pd.DataFrame(rows, columns=["revision", "keep", "what", "who", "applied", "state"])


def _state(one: Applied, fit: Fit) -> str:
    if one.undone_by is not None:
        return "undone here"
    if fit.there:
        return "in the original"
    return tables.visible(fit.problem) or "can be kept"
