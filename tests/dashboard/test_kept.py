"""What is kept of an agent for all who look, as long as nothing of it changes."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from dashboard import session
from memory_system import AgentMemory, World
from memory_system.embedding.embedder import CachedEmbedder
from tests.conftest import NOW, settings_in


def test_it_is_made_once_until_something_changes_and_never_taken_for_another_worlds(
    tmp_path: Path, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = ("Mill", "Harbour")
    with ExitStack() as opened:
        worlds = [opened.enter_context(World(settings_in(tmp_path / one), embedder=embedder)) for one in places]
        agents = []
        for place, world in zip(places, worlds, strict=True):
            world.stand_at(NOW)
            agents.append(world.create_agent("ana"))
            agents[-1].add_short_term({"document": "Met a friend.", "place": place, "rating": 5})
        monkeypatch.setattr(AgentMemory, "stamp", property(lambda agent: (agent.contents.context.ledger.revision, 0)))
        assert agents[0].stamp == agents[1].stamp, "only the world tells them apart"
        for place, world, agent in zip(places, worlds, agents, strict=True):
            monkeypatch.setattr(session, "world", lambda world=world: world)
            assert session.scenes(agent) == ((), (place,))
            assert session.scenes(agent) is session.scenes(agent)
            agent.add_short_term({"document": "Met another.", "place": "Inn", "rating": 5})
            assert set(session.scenes(agent)[1]) == {place, "Inn"}
