"""What the ledger asks: before it commits, does a change set hold together; when it opens, do the stores agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import personality as personalities
from .changes import ChangeSet, TextChange, dump_entry
from .cues import parse_cues, parse_judgments
from .entry import MemoryEntry, Tier
from .errors import Conflict, InvalidParameter
from .memory import Memory
from .settings import AgentSettings


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
        case _ if text.after is not None:
            personalities.parse(text.after)


Differences = tuple[list[MemoryEntry], dict[Tier, list[str]]]
"""Entries that a store lacks or holds otherwise, and the ids that a tier's store holds and should not."""


def differences(memories: Mapping[Tier, Memory], entries: Sequence[MemoryEntry]) -> Differences:
    """Where the stores do not hold what they should: these entries, each in its tier, and nothing else."""
    missing: list[MemoryEntry] = []
    surplus: dict[Tier, list[str]] = {}
    for tier, memory in memories.items():
        held = {entry.id: dump_entry(entry) for entry in memory.snapshot().entries}
        wanted = {entry.id: entry for entry in entries if entry.tier is tier}
        missing += [entry for key, entry in wanted.items() if held.get(key) != dump_entry(entry)]
        if gone := sorted(held.keys() - wanted.keys()):
            surplus[tier] = gone
    return missing, surplus
