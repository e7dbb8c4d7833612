"""A character made of a file of another program: who it is, what happened, and what it thought, in one change set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..agent import AgentMemory
from ..core import personality as static_memory
from ..core.entry import MemoryEntry
from ..operations.context import Progress, no_progress
from .world import World


def create_from_file(
    world: World,
    name: str,
    personality: str | Mapping[str, Any],
    lived: Sequence[MemoryEntry] = (),
    kept: Sequence[MemoryEntry] = (),
    card: str | None = None,
    *,
    author: str = "",
    progress: Progress = no_progress,
) -> AgentMemory:
    """A new agent with what ``agent_parts.preview_of`` found in a file, as one change set: its first.

    Args:
        world: where it lives.
        name: the agent's name.
        personality: JSON, or a dict of it.
        lived: what happened, for STM; what has no rating is rated.
        kept: memories that are stored as they are, such as thoughts for LTM.
        card: the character card that it is made from, as JSON; it is kept for when the character is exported.
        author: who is behind it, as the history tells it; the world's author if not given.
        progress: told how far it is.

    Raises:
        InvalidAgentName, InvalidParameter, InvalidPersonality, InvalidEntry: nothing was made.
        AlreadyExists: there is an agent of this name, or one that differs only in upper and lower case.
    """
    text = static_memory.as_text(personality)
    static_memory.parse(text, "the personality")
    with world.newborn(name) as agent:
        begun = agent.acting_as(author or world.author).curation
        begun.begin(text, list(lived), progress, kept=kept, card=card)
        return agent
