"""The history and the bin as DataFrames, and what a change does in words. Imports no streamlit."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from memory_system import ChangeSet
from memory_system.interfaces.operations import history_labels
from memory_system.store.journal import Applied, Forgotten

from .tables import TIERS, counted, visible

_BESIDE = {
    "add": "Remember",
    "personality": "Personality",
    "reembed": "Embed again",
    "rescue": "Rescue",
    "take over": "Take over",
}
"""Other kinds of change in the history, which are not declared as operations."""
LABELS = history_labels() | _BESIDE


def operation(name: str) -> str:
    """The kind of a change in words; a script may use its own."""
    return LABELS.get(name, visible(name)[:1].upper() + visible(name)[1:])


def history(records: Sequence[Applied]) -> pd.DataFrame:
    """Applied change sets, in the given order (the newest first). Both times are in UTC, so that they sort."""
    rows = [
        {
            "revision": record.revision,
            "what": visible(record.change_set.title),
            "kind": operation(record.change_set.operation),
            "who": visible(record.change_set.author),
            "memories": len(record.change_set.changes),
            "world time": record.change_set.planned_at,
            "applied": record.applied_at,
            "state": "undone" if record.undone_by else "",
        }
        for record in records
    ]
    columns = ["revision", "what", "kind", "who", "memories", "world time", "applied", "state"]
    frame = pd.DataFrame(rows, columns=columns)
    for name in ("world time", "applied"):
        frame[name] = pd.to_datetime(frame[name], utc=True)
    return frame


def forgotten(found: Sequence[Forgotten]) -> pd.DataFrame:
    """The content of the bin, in the given order (the last forgotten first)."""
    rows = [
        {
            "id": memory.entry.id,
            "memory": visible(memory.entry.document),
            "kind": memory.entry.kind.value,
            "tier": TIERS[memory.entry.tier],
            "when": memory.applied_at,
            "who": visible(memory.author),
            "why": visible(f"{operation(memory.operation)}: {memory.reason}"),
        }
        for memory in found
    ]
    frame = pd.DataFrame(rows, columns=["id", "memory", "kind", "tier", "when", "who", "why"])
    frame["when"] = pd.to_datetime(frame["when"], utc=True)
    return frame


_PLURAL = re.compile(r"(?:\S+ )?\S+(?<!')s(?= put off|$)")
"""A text whose name is in the plural: "settings", "saved cues", "decisions put off", but not "core memory"."""


def did(planned: ChangeSet, *, would: bool = False) -> str:
    """What a change set does in numbers: "2 memories come back, 1 leaves, and the settings change"."""
    parts = []
    for verb, one, many in (
        ("add", "memory comes into recall", "memories come into recall"),
        ("forget", "memory leaves recall", "memories leave recall"),
        ("move", "memory moves", "memories move"),
        ("update", "memory changes", "memories change"),
    ):
        if number := len(planned.of(verb)):
            parts.append(counted(number, one, many))
    texts = dict.fromkeys(text.words for text in planned.texts)  # those of two talks have the same name
    parts += [f"the {words} {'change' if _PLURAL.match(words) else 'changes'}" for words in texts]
    if planned.purges:
        parts.append(counted(len(planned.purges), "memory is purged", "memories are purged"))
    if not parts:
        return "Nothing changes." if would else "Nothing changed."
    line = f"{', '.join(parts[:-1])}{' and ' if len(parts) > 1 else ''}{parts[-1]}."
    return line[:1].upper() + line[1:]
