"""A world for a viewer: everything can be read and nothing changed, even by a forged request."""

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
        "zone",
    }
)
"""What a viewer may read of a world; everything else, now or in future, is refused until it is named here."""
_TOLD_OF = {
    "life": frozenset({"state"}),
    "model": frozenset({"chat", "complete", "label", "name", "present", "prompts"}),
    "prompts": frozenset({"problem", "prompts", "versions"}),
    "rerater": frozenset({"state", "waits"}),
}
"""What a viewer may read of the parts of a world that could be changed on their own."""


class _Face:
    """Shows some attributes of a part of a world, and refuses the rest."""

    def __init__(self, part: Any, names: frozenset[str]) -> None:
        self._part, self._names = part, names

    def __getattr__(self, name: str) -> Any:
        """The part's attribute of this name.

        Raises:
            NotAllowed: a viewer may not use it.
            AttributeError: the part has no such attribute.
        """
        if name not in self._names and hasattr(self._part, name):
            raise NotAllowed(VIEWING)
        return getattr(self._part, name)


class OnlookersWorld:
    """Shows a world, and refuses to change it; its agents refuse too."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getattr__(self, name: str) -> Any:
        """The world's attribute of this name.

        Raises:
            NotAllowed: a viewer may not use it.
            AttributeError: a world has no such attribute.
        """
        if name in _TOLD_OF:
            return _Face(getattr(self._world, name), _TOLD_OF[name])
        if name not in _TOLD and hasattr(self._world, name):
            raise NotAllowed(VIEWING)
        return getattr(self._world, name)

    def agent(self, name: str) -> AgentMemory:
        """The memory of an agent, for reading; raises as ``World.agent`` does."""
        return self._world.agent(name).looked_at(VIEWING)

    def opened(self) -> list[AgentMemory]:
        """The agents that are open now, for reading."""
        return [agent.looked_at(VIEWING) for agent in self._world.opened()]

    def __iter__(self) -> Iterator[AgentMemory]:
        """The characters, one after the other."""
        return (self.agent(name) for name in self._world.characters())


def for_role(world: World, role: Role) -> World:
    """The world for somebody of this role."""
    return world if role is Role.CURATOR else cast("World", OnlookersWorld(world))
