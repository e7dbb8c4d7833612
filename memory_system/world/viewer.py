"""A world as a viewer is handed it: everything can be looked at, and nothing changed, whoever forges which request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ..agent import AgentMemory
from ..errors import NotAllowed
from .auth import Role
from .world import World

VIEWING = "You are here as a viewer: you can look at everything, but not change anything."
_TOLD = frozenset(
    {
        "about",
        "agents",
        "author",
        "beside",
        "bonds",
        "changes_of",
        "characters",
        "chart",
        "clock",
        "compare",
        "deleted_agents",
        "dropped",
        "due",
        "embedder",
        "embedder_decided",
        "embedder_name",
        "facts",
        "fits",
        "folder",
        "groups",
        "inbox",
        "knows",
        "labels",
        "lives",
        "name",
        "once",
        "places",
        "rehearsal",
        "rehearsals",
        "run_tests",
        "seen",
        "speed",
        "spread",
        "standing",
        "stored",
        "story_tests",
        "trail",
        "welcomed",
        "whereabouts",
        "who_knows",
        "with_author",
    }
)
"""What a world tells; whatever else it has, or gets one day, is refused until it is named here."""
_TOLD_OF = {
    "life": frozenset({"state"}),
    "model": frozenset({"chat", "complete", "label", "name", "present", "prompts"}),
    "prompts": frozenset({"problem", "prompts", "versions"}),
    "rerater": frozenset({"state", "waits"}),
}
"""What is told of those parts of a world that could be changed by themselves."""


class _Face:
    """Tells some of what a part of a world tells, and refuses the rest."""

    def __init__(self, held: Any, told: frozenset[str]) -> None:
        self._held, self._told = held, told

    def __getattr__(self, name: str) -> Any:
        """What the part tells under this name.

        Raises:
            NotAllowed: it is nothing to look at.
            AttributeError: it is none of the part's names at all.
        """
        if name not in self._told and hasattr(self._held, name):
            raise NotAllowed(VIEWING)
        return getattr(self._held, name)


class OnlookersWorld:
    """Tells what a world tells, and refuses to change it; its agents refuse too."""

    def __init__(self, world: World) -> None:
        self._held = world

    def __getattr__(self, name: str) -> Any:
        """What the world tells under this name.

        Raises:
            NotAllowed: it is nothing to look at.
            AttributeError: it is none of a world's names at all.
        """
        if name in _TOLD_OF:
            return _Face(getattr(self._held, name), _TOLD_OF[name])
        if name not in _TOLD and hasattr(self._held, name):
            raise NotAllowed(VIEWING)
        return getattr(self._held, name)

    def agent(self, name: str) -> AgentMemory:
        """The memory of an agent, to be looked at; errors as ``World.agent``."""
        return self._held.agent(name).looked_at(VIEWING)

    def opened(self) -> list[AgentMemory]:
        """The agents that are open now, to be looked at."""
        return [agent.looked_at(VIEWING) for agent in self._held.opened()]

    def __iter__(self) -> Iterator[AgentMemory]:
        """The characters, one after the other."""
        return (self.agent(name) for name in self._held.characters())


def for_role(world: World, role: Role) -> World:
    """The world as somebody of this role is handed it."""
    return world if role is Role.CURATOR else cast("World", OnlookersWorld(world))
