"""The sample world: every event arrives by the ordinary way, and is still known to the history at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_system import AgentMemory, Kind, MemoryEntry, Settings, Tier, World
from memory_system.embedding import CachedEmbedder
from memory_system.errors import StoreDamaged
from memory_system.samples import fill_world
from memory_system.times import parse_time
from tests.conftest import ROOT

SAMPLES = ROOT / "database/samples/harrow_quay"
AGENTS = ["ines", "mira", "tobias"]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[World]:
    settings = Settings(
        database=tmp_path_factory.mktemp("samples"), personalities=ROOT / "agent_personalities", llm="offline"
    )
    with World(settings, embedder=embedder) as world:
        said: list[str] = []
        assert fill_world(world, SAMPLES, said.append)
        assert len(said) == 3
        yield world


def _story(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def _of(agent: AgentMemory, kind: Kind) -> list[MemoryEntry]:
    return [entry for entry in agent.entries(Tier.LTM) if entry.kind is kind]


@pytest.mark.parametrize("name", AGENTS)
def test_every_event_is_held_or_in_the_history(filled: World, name: str) -> None:
    agent = filled.agent(name)
    story = _story(name)
    assert len(story) == 30
    for event in story:
        known = agent.last_version(str(event["id"]))
        assert known.document == event["document"]
        assert known.rating == event["rating"]
        assert known.timestamp == parse_time(event["timestamp"])


@pytest.mark.parametrize("name", AGENTS)
def test_each_tier_has_its_share(filled: World, name: str) -> None:
    agent = filled.agent(name)
    stm, ltm = agent.entries(Tier.STM), agent.entries(Tier.LTM)
    events = {event["id"] for event in _story(name)}
    assert 0 < len(stm) <= 12
    assert len(events & {entry.id for entry in ltm}) > 5
    assert agent.entries(Tier.STATIC)
    assert all(entry.rating is not None for entry in (*stm, *ltm))
    operations = {told.change_set.operation for told in agent.history(1000)}
    assert {"add", "migrate", "reflect", "plan"} <= operations


@pytest.mark.parametrize("name", AGENTS)
def test_reflections_rest_on_memories_that_were_there(filled: World, name: str) -> None:
    agent = filled.agent(name)
    reflections = _of(agent, Kind.REFLECTION)
    assert reflections
    for reflection in reflections:
        assert reflection.evidence
        for entry_id in reflection.evidence:
            source = agent.last_version(entry_id)
            assert source.timestamp is None or source.timestamp <= (reflection.timestamp or source.timestamp)


def test_each_has_a_plan_and_one_keeps_a_promise(filled: World) -> None:
    plans = {name: _of(filled.agent(name), Kind.PLAN) for name in AGENTS}
    for name, actions in plans.items():
        assert actions, name
        assert {action.extras["plan_day"] for action in actions} == {"2026-03-27"}
        assert all(str(action.extras["start"]) > "18:00" for action in actions)
    kept = [(name, action) for name, actions in plans.items() for action in actions if action.evidence]
    assert kept
    for name, action in kept:
        assert filled.agent(name).last_version(action.evidence[0]).document


def test_the_clock_stands_at_the_end_of_the_story(filled: World) -> None:
    end = parse_time(json.loads((SAMPLES / "world.json").read_text(encoding="utf-8"))["clock"])
    assert filled.standing == end
    for name in AGENTS:
        assert filled.agent(name).now == end
        assert max(parse_time(event["timestamp"]) for event in _story(name)) <= end


def test_a_second_fill_changes_nothing(filled: World) -> None:
    before = [filled.agent(name).stamp for name in AGENTS]
    said: list[str] = []
    assert not fill_world(filled, SAMPLES, said.append)
    assert said == []
    assert [filled.agent(name).stamp for name in AGENTS] == before


def test_a_broken_sample_is_told_and_the_world_stays_empty(
    settings: Settings, embedder: CachedEmbedder, tmp_path: Path
) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    (samples / "world.json").write_text('{"clock": "2026-03-27T18:00:00+00:00"}')
    (samples / "mira.jsonl").write_text("{broken\n")
    with World(settings, embedder=embedder) as world:
        with pytest.raises(StoreDamaged, match="cannot be read"):
            fill_world(world, samples)
        assert not world.folder.exists()


def test_a_fill_that_is_cut_off_begins_again(embedder: CachedEmbedder, tmp_path: Path) -> None:
    settings = Settings(database=tmp_path, personalities=ROOT / "agent_personalities", llm="offline")
    samples = tmp_path / "samples"
    samples.mkdir()
    for name in ("ines", "mira"):
        event = {"id": f"{name}-1", "document": "event", "timestamp": "2026-03-27T06:00:00+00:00", "rating": 5}
        (samples / f"{name}.jsonl").write_text(json.dumps(event) + "\n")
    (samples / "world.json").write_text('{"clock": "2026-03-27T18:00:00+00:00"}')

    def cut_off_at_the_second(line: str) -> None:
        if "2 of 2" in line:
            raise KeyboardInterrupt

    with World(settings, embedder=embedder) as world:
        with pytest.raises(KeyboardInterrupt):
            fill_world(world, samples, cut_off_at_the_second)
        assert not world.folder.exists()
        assert fill_world(world, samples)
        assert [entry.id for name in ("ines", "mira") for entry in world.agent(name).entries(Tier.STM)] == [
            "ines-1",
            "mira-1",
        ]
