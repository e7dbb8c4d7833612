"""The pytest plugin: ``def test_secret(world): assert not world.knows("tobias", "...")``.

``--memory-world`` or, in the ini file, ``memory_world`` names the world, ``memory_database`` and
``memory_personalities`` the folders; what is not given comes from the environment. Asking touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..world.world import World

_SAID = {
    "world": "the world that tests of a story are run against",
    "database": "the folder of all worlds",
    "personalities": "the folder of the personality files",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the world be named on the command line and in the ini file."""
    group = parser.getgroup("memory-system")
    for name, about in _SAID.items():
        group.addoption(f"--memory-{name}", default=None, help=f"memory-system: {about}.")
        parser.addini(f"memory_{name}", f"memory-system: {about}.", default="")


@pytest.fixture(scope="session")
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """The world that a story is tested against; only for asking, not for changing.

    Raises:
        WorldNotFound: it does not exist: in an empty one nobody knows anything, and every such test would pass.
    """
    from ..core.settings import MEMORY, Settings  # loaded only for tests of a story
    from ..errors import WorldNotFound
    from ..maintenance import Worlds
    from ..world.world import World
    from .cli.arguments import no_world_yet

    config = request.config
    said = {name: config.getoption(f"memory_{name}") or config.getini(f"memory_{name}") for name in _SAID}
    settings = Settings(**{name: value for name, value in said.items() if value})
    if missing := no_world_yet(settings):
        raise WorldNotFound(missing)
    if settings.store != MEMORY and not Worlds(settings).begun():  # programs begin the one of this name by themselves
        raise WorldNotFound(f"There is no world {settings.world!r} in {settings.database}; see --memory-database.")
    with World(settings) as opened:
        yield opened
