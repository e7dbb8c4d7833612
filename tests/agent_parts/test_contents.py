"""What an agent holds, looked at while nothing of it changes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from memory_system import AgentMemory, Tier
from tests.waiting import LAST_RESORT


def test_whoever_asks_several_things_sees_one_moment(agent: AgentMemory) -> None:
    with ThreadPoolExecutor(1) as pool:
        with agent.contents.still(["Who found the key?"]):
            event = {"document": "Found the key", "id": "key", "rating": 9}
            added = pool.submit(agent.add_short_term, event)
            revision = agent.revision
            found = agent.query_memory("Who found the key?", threshold=0, touch=False)
            assert "key" not in [hit.entry.id for hit in found]
            assert (agent.revision, agent.entries(Tier.STM)) == (revision, [])
            assert not added.done()
        added.result(LAST_RESORT)
    assert [one.id for one in agent.entries(Tier.STM)] == ["key"]
