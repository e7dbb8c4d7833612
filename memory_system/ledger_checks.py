"""What the ledger asks: before it commits, does a change set hold together; when it opens, do the stores agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from . import personality as personalities
from .changes import Change, ChangeSet, TextChange, dump_entry
from .cues import parse_cues, parse_judgments
from .dismissed import parse_dismissed
from .entry import MemoryEntry, Tier
from .errors import Conflict, InvalidParameter, Protected
from .journal import content_hash
from .memory import Memory, Vectors
from .settings import AgentSettings

_ROUNDING = 1e-5
"""How far a number of a stored vector may be from what was handed in."""


def refuse_broken(change_set: ChangeSet, agent: str) -> None:
    """What could not be carried out, or not be opened again, never gets past the commit."""
    if not isinstance(change_set, ChangeSet):
        raise InvalidParameter(f"What is applied must be a change set, not a {type(change_set).__name__}.")
    if (problem := change_set.problem()) is not None:
        raise InvalidParameter(f"This change set cannot be applied: {problem}.")
    if change_set.agent and change_set.agent != agent:
        raise Conflict(f"This was planned for {change_set.agent!r}, not for {agent!r}.")
    for text in change_set.texts:
        _refuse_unreadable(text)
    if change_set.undoes is None:  # taking back says by itself what a person wants
        for change in change_set.changes:
            _refuse_protected(change)


def _refuse_protected(change: Change) -> None:
    """Whoever planned it, and however: a protected memory may only be unprotected."""
    before, after = change.before, change.after
    if before is None or not before.protected:
        return
    if after is None or after.evolve(protected=True) != before:
        raise Protected(
            f"The memory “{before.document[:60]}” is protected; unprotect it first, or leave it out. "
            "Nothing was changed."
        )


def _refuse_unreadable(text: TextChange) -> None:
    match text.name:
        case "settings":
            try:
                AgentSettings.from_json(text.after)
            except InvalidParameter as error:
                raise InvalidParameter(f"This change set cannot be applied: its settings are none. {error}") from error
        case "cues":
            parse_cues(text.after)
        case "judgments":
            parse_judgments(text.after)
        case "dismissed":
            parse_dismissed(text.after)
        case _ if text.after is not None:
            personalities.parse(text.after)


@dataclass(frozen=True)
class Differences:
    """Where stores do not hold what they should.

    Args:
        missing: entries that a store lacks or holds otherwise.
        surplus: ids that a tier's store holds and should not.
        torn: ids of entries that are stored as they should be, but with another vector.
    """

    missing: list[MemoryEntry]
    surplus: dict[Tier, list[str]]
    torn: list[str]

    def __bool__(self) -> bool:
        return bool(self.missing or self.surplus or self.torn)


def differences(
    memories: Mapping[Tier, Memory], entries: Sequence[MemoryEntry], vectors: Mapping[str, Vectors]
) -> Differences:
    """Where the stores do not hold what they should: these entries, each in its tier, and nothing else.

    Args:
        memories: the store of each tier.
        entries: what they should hold.
        vectors: the vectors of their texts, by content hash; one without is stored with zeros.
    """
    missing: list[MemoryEntry] = []
    surplus: dict[Tier, list[str]] = {}
    torn: list[str] = []
    for tier, memory in memories.items():
        stored = memory.snapshot()
        held = {entry.id: (dump_entry(entry), row) for row, entry in enumerate(stored.entries)}
        wanted = {entry.id: entry for entry in entries if entry.tier is tier}
        for key, entry in wanted.items():
            body, row = held.get(key, (None, 0))
            if body != dump_entry(entry):
                missing.append(entry)
            elif not _near(stored.vectors[row], vectors.get(content_hash(entry.document))):
                torn.append(key)
        if gone := sorted(held.keys() - wanted.keys()):
            surplus[tier] = gone
    return Differences(missing, surplus, torn)


def _near(stored: Vectors, wanted: Vectors | None) -> bool:
    """Whether a store gives back what it was handed; one that ranks by cosine divides by a length of nearly 1."""
    if wanted is None:
        return not stored.any()
    return stored.shape == wanted.shape and bool(np.abs(stored - wanted).max(initial=0.0) < _ROUNDING)
