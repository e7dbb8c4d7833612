"""The sample world: every line of the stories arrives by the ordinary way, and is known to the history at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_system import Kind, Settings, Tier, World
from memory_system.core.times import parse_time
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import StoreDamaged
from memory_system.maintenance.samples import SETTINGS, fill_world
from tests import sample_world
from tests.conftest import ROOT

SAMPLES = ROOT / "database/samples/harrow_quay"
AGENTS = ["edda", "ines", "juno", "mira", "oswin", "tobias"]
MADE = {"reflection": Kind.REFLECTION, "summary": Kind.SUMMARY, "plan": Kind.PLAN}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[World]:
    """A copy of the sample world; nothing here changes it."""
    folder = tmp_path_factory.mktemp("samples") / "world"
    sample_world.copy(sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder), folder)
    settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
    with World(settings, embedder=embedder) as world:
        yield world


def _story(name: str, sort: str | None = None) -> list[dict[str, Any]]:
    """The lines of a character's file, or those of one sort: event, reflection, summary, plan."""
    lines = [json.loads(line) for line in (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if sort in (None, line.get("type", "event"))]


def test_the_world_has_these_characters_and_no_other(filled: World) -> None:
    assert filled.agents() == AGENTS
    assert sorted(file.stem for file in SAMPLES.glob("*.jsonl")) == AGENTS


@pytest.mark.parametrize("name", AGENTS)
def test_a_story_tells_six_weeks_in_about_195_lines_in_order(name: str) -> None:
    times = [parse_time(line["timestamp"]) for line in _story(name)]
    assert 190 <= len(times) <= 200
    assert times == sorted(times)
    assert 38 <= (times[-1] - times[0]).days <= 42
    assert {line.get("type", "event") for line in _story(name)} == {"event", *MADE}


@pytest.mark.parametrize("name", AGENTS)
def test_every_event_is_held_or_in_the_history(filled: World, name: str) -> None:
    agent = filled.agent(name)
    for event in _story(name, "event"):
        known = agent.last_version(event["id"])
        assert known.document == event["document"]
        assert known.rating == event["rating"]
        assert known.timestamp == parse_time(event["timestamp"])


@pytest.mark.parametrize("name", AGENTS)
def test_each_tier_has_its_share_and_all_is_rated(filled: World, name: str) -> None:
    agent = filled.agent(name)
    stm, ltm = agent.entries(Tier.STM), agent.entries(Tier.LTM)
    assert len(stm) + len(ltm) >= 150
    assert 0 < len(stm) <= SETTINGS.stm_size
    assert len({event["id"] for event in _story(name, "event")} & {entry.id for entry in ltm}) > 100
    assert agent.entries(Tier.STATIC)
    assert all(entry.rating is not None for entry in (*stm, *ltm))
    operations = {told.change_set.operation for told in agent.history(1000)}
    assert {"add", "migrate", "reflect", "summarise", "plan"} <= operations
    assert agent.settings == SETTINGS


@pytest.mark.parametrize("sort", ["reflection", "summary"])
@pytest.mark.parametrize("name", AGENTS)
def test_what_was_made_of_memories_rests_on_some_that_were_there(filled: World, name: str, sort: str) -> None:
    agent = filled.agent(name)
    lines = _story(name, sort)
    assert lines
    for line in lines:
        made = agent.last_version(line["id"])
        assert (made.kind, made.document) == (MADE[sort], line["document"])
        assert made.evidence
        assert set(made.evidence) <= set(line["evidence"])
        for entry_id in line["evidence"]:
            source = agent.last_version(entry_id)
            assert source.timestamp is not None
            assert source.timestamp <= parse_time(line["timestamp"])


@pytest.mark.parametrize("name", AGENTS)
def test_what_a_summary_stands_for_left_recall_with_it(filled: World, name: str) -> None:
    agent = filled.agent(name)
    for told in agent.history(1000):
        if told.change_set.operation == "summarise":
            (summary,) = told.change_set.of("add")
            forgotten = [change.entry_id for change in told.change_set.of("forget")]
            assert sorted(summary.after.evidence) == sorted(forgotten)  # type: ignore[union-attr]
            assert len(forgotten) >= 2
            assert all(agent.find(entry_id) is None for entry_id in forgotten)


@pytest.mark.parametrize("name", AGENTS)
def test_each_planned_action_is_a_memory_of_its_day(filled: World, name: str) -> None:
    agent = filled.agent(name)
    for line in _story(name, "plan"):
        for number, action in enumerate(line["actions"], start=1):
            held = agent.last_version(f"{line['id']}-{number}")
            assert held.kind is Kind.PLAN
            assert held.extras["plan_day"] == line["timestamp"][:10]
            assert {key: held.extras[key] for key in action if key != "because_of"} == {
                key: value for key, value in action.items() if key != "because_of"
            }


def test_the_clock_stands_at_the_end_of_the_story(filled: World) -> None:
    end = parse_time(json.loads((SAMPLES / "world.json").read_text(encoding="utf-8"))["clock"])
    assert filled.standing == end
    for name in AGENTS:
        assert filled.agent(name).now == end
        assert max(parse_time(line["timestamp"]) for line in _story(name)) <= end


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


def _short_story(folder: Path) -> Path:
    """A story of Ines and Mira in which next to nothing happens."""
    folder.mkdir()
    for name in ("ines", "mira"):
        event = {"id": f"{name}-1", "document": "event", "timestamp": "2026-03-27T06:00:00+00:00", "rating": 5}
        (folder / f"{name}.jsonl").write_text(json.dumps(event) + "\n")
    (folder / "world.json").write_text('{"clock": "2026-03-27T18:00:00+00:00"}')
    return folder


def test_where_nobody_is_described_the_characters_that_ship_come(embedder: CachedEmbedder, tmp_path: Path) -> None:
    settings = Settings(database=tmp_path / "worlds", personalities=tmp_path / "characters", llm="offline")
    with World(settings, embedder=embedder) as world:
        assert fill_world(world, _short_story(tmp_path / "samples"))
        assert world.agents() == ["ines", "mira"]
        assert world.agent("mira").display_name == "Mira Holloway"


@pytest.mark.parametrize(("own", "come"), [("ana", []), ("mira", ["mira"])])
def test_where_somebody_has_characters_of_their_own_no_others_come(
    embedder: CachedEmbedder, tmp_path: Path, own: str, come: list[str]
) -> None:
    personalities = tmp_path / "characters"
    personalities.mkdir()
    (personalities / f"{own}.json").write_text('{"identity": {"name": "My own"}}')
    settings = Settings(database=tmp_path / "worlds", personalities=personalities, llm="offline")
    with World(settings, embedder=embedder) as world:
        assert fill_world(world, _short_story(tmp_path / "samples")) is bool(come)
        assert world.agents() == [own]
        assert world.agent(own).display_name == "My own"
        assert [entry.id for entry in world.agent(own).entries(Tier.STM)] == [f"{name}-1" for name in come]
    assert [file.name for file in personalities.iterdir()] == [f"{own}.json"]


def test_a_fill_that_is_cut_off_begins_again(embedder: CachedEmbedder, tmp_path: Path) -> None:
    settings = Settings(database=tmp_path, personalities=ROOT / "agent_personalities", llm="offline")
    samples = _short_story(tmp_path / "samples")

    def cut_off_at_the_second(line: str) -> None:
        if "2 of 2" in line:
            raise KeyboardInterrupt

    with World(settings, embedder=embedder) as world:
        with pytest.raises(KeyboardInterrupt):
            fill_world(world, samples, cut_off_at_the_second)
        assert not world.folder.exists()
        said: list[str] = []
        assert fill_world(world, samples, said.append)
        assert [line.rpartition(": ")[2] for line in said] == [
            "ines (1 of 2, 1 memory).",
            "mira (2 of 2, 1 memory).",
        ]
        assert [entry.id for name in ("ines", "mira") for entry in world.agent(name).entries(Tier.STM)] == [
            "ines-1",
            "mira-1",
        ]
