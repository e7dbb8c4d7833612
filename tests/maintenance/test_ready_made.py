"""The sample world ships as its replay leaves it: it fits the stories, and is what a replay would make today."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_system import Settings, World
from memory_system.core.findings import State
from memory_system.core.times import real_clock
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import StoreDamaged
from memory_system.maintenance.doctor import examine, light
from memory_system.maintenance.samples import ARCHIVE, ReadyMade, fill_world, personality_text
from memory_system.store.chroma.files import TO_BE_MADE
from memory_system.store.journal.location import JOURNAL
from memory_system.store.journal.tables import MIGRATIONS
from memory_system.store.journal.vectors import unpacked
from tests.sample_world import SAMPLES

REMAKE = "Run 'python tools/replay_samples.py', which packs the sample world anew, and commit what it writes."
AGENTS = sorted(file.stem for file in SAMPLES.glob("*.jsonl"))


def world_in(folder: Path, embedder: CachedEmbedder) -> World:
    """A world without agents, whose folder of personalities is empty, too."""
    settings = Settings(database=folder / "worlds", personalities=folder / "people", llm="offline")
    return World(settings, embedder=embedder)


@pytest.fixture
def filled(tmp_path: Path, embedder: CachedEmbedder) -> Iterator[World]:
    """A world that was filled by the archive; no agent has been opened."""
    with world_in(tmp_path, embedder) as world:
        assert fill_world(world, SAMPLES)
        yield world


def rows(world: World, name: str, query: str) -> list[tuple[Any, ...]]:
    """What an agent's journal answers."""
    with closing(sqlite3.connect(world.folder / name / JOURNAL)) as journal:
        return journal.execute(query).fetchall()


@pytest.mark.parametrize("name", AGENTS)
def test_what_ships_was_made_from_the_stories_that_ship(filled: World, name: str) -> None:
    packed = ReadyMade.beside(SAMPLES)
    assert packed is not None
    story = (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8")
    assert packed.has(name, story, personality_text(filled, name), filled.embedder.identity), REMAKE
    assert rows(filled, name, "SELECT max(number) FROM version") == [(len(MIGRATIONS),)], REMAKE


def test_a_world_that_is_new_is_not_told_to_have_been_repaired(filled: World) -> None:
    for name in AGENTS:
        assert filled.agent(name).messages == ()
        assert not (filled.folder / name / TO_BE_MADE).exists()
    assert light(filled)[0] is State.RIGHT
    filled.close()
    shutil.rmtree(filled.folder / AGENTS[0] / "chroma")
    assert "to match the journal" in filled.agent(AGENTS[0]).messages[0], "but a store that is lost later is told"


def test_the_doctor_finds_nothing_wrong_with_a_world_that_nobody_opened(filled: World) -> None:
    found = examine(filled)
    assert State.WRONG not in {one.state for one in found}, found
    assert {one.agent for one in found if one.what == "store" and one.state is State.NOTE} == set(AGENTS)


def test_what_ships_is_small() -> None:
    assert (SAMPLES / ARCHIVE).stat().st_size < 3_000_000


def test_nothing_is_embedded_or_opened_to_fill_a_world_with_it(tmp_path: Path, embedder: CachedEmbedder) -> None:
    class Unneeded:
        identity = embedder.identity

        def embed(self, texts: object) -> Any:
            raise AssertionError(f"embedded {texts}")

    settings = Settings(database=tmp_path / "worlds", personalities=tmp_path / "people", llm="offline")
    said: list[str] = []
    with World(settings, embedder=Unneeded()) as world:
        assert fill_world(world, SAMPLES, said.append)
        assert world.opened() == []
        assert sorted(path.name for path in world.folder.iterdir() if path.is_dir()) == AGENTS
    assert not any("memories" in line for line in said), "nobody is replayed"


def test_each_world_has_change_sets_of_its_own_that_were_applied_just_now(
    filled: World, tmp_path: Path, embedder: CachedEmbedder
) -> None:
    with world_in(tmp_path / "another", embedder) as other:
        fill_world(other, SAMPLES)
        ids = [{one for (one,) in rows(world, "mira", "SELECT id FROM change_sets")} for world in (filled, other)]
    assert not ids[0] & ids[1], "by these a server tells agents apart"
    assert len(ids[0]) > 50
    history = filled.agent("mira").history(1000)
    times = [told.applied_at for told in history]
    assert times == sorted(times, reverse=True)
    assert timedelta() <= real_clock() - times[0] < timedelta(hours=1)


def test_a_character_with_a_story_or_a_description_of_their_own_is_replayed(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    samples, people = tmp_path / "samples", tmp_path / "people"
    samples.mkdir()
    people.mkdir()
    for file in SAMPLES.iterdir():
        (samples / file.name).write_bytes(file.read_bytes())
    first = (SAMPLES / "ines.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[0]
    (samples / "ines.jsonl").write_text(first, encoding="utf-8")
    (samples / "mira.jsonl").write_text(first, encoding="utf-8")
    for name in ("edda", "ines"):
        text = (SAMPLES.parents[2] / "agent_personalities" / f"{name}.json").read_text(encoding="utf-8")
        (people / f"{name}.json").write_text(text, encoding="utf-8")
    (people / "mira.json").write_text('{"identity": {"name": "My own"}}', encoding="utf-8")
    said: list[str] = []
    with world_in(tmp_path, embedder) as world:
        fill_world(world, samples, said.append)
        assert [world.agent(name).display_name for name in ("edda", "mira")] == ["Edda Marsh", "My own"]
        assert len(world.agent("edda").history(1000)) > 50
    assert [line for line in said if " memor" in line] == [
        "Filling the world with its characters: ines (2 of 3, 1 memory).",
        "Filling the world with its characters: mira (3 of 3, 1 memory).",
    ]


def test_an_archive_that_is_damaged_is_told_and_the_world_stays_empty(tmp_path: Path, embedder: CachedEmbedder) -> None:
    whole = (SAMPLES / ARCHIVE).read_bytes()
    for number, damaged in enumerate((whole[:1000], b"", whole.replace(b"\x00", b"\x01"), whole[:-5000])):
        samples = tmp_path / f"samples-{number}"
        samples.mkdir()
        for file in SAMPLES.iterdir():
            (samples / file.name).write_bytes(file.read_bytes() if file.name != ARCHIVE else damaged)
        with world_in(tmp_path / str(number), embedder) as world:
            with pytest.raises(StoreDamaged, match="remove it to have the stories replayed"):
                fill_world(world, samples)
            assert not world.folder.exists()
        (samples / ARCHIVE).unlink()


@pytest.mark.full
def test_what_ships_is_what_a_replay_leaves(filled: World, tmp_path: Path, embedder: CachedEmbedder) -> None:
    with world_in(tmp_path / "replayed", embedder) as fresh:
        assert fill_world(fresh, SAMPLES, replay=True)
    assert fresh.about == filled.about
    assert fresh.standing == filled.standing
    for name in AGENTS:
        tables = {table for (table,) in rows(fresh, name, "SELECT name FROM sqlite_master WHERE type = 'table'")}
        heads = "revision, operation, title, author, reason, planned_at, undoes, done, details"
        assert rows(filled, name, f"SELECT {heads} FROM change_sets") == rows(
            fresh, name, f"SELECT {heads} FROM change_sets"
        ), REMAKE
        for table in sorted(tables - {"change_sets", "vectors", "sqlite_sequence"}):
            order = f"SELECT * FROM {table} ORDER BY 1, 2" if table != "version" else "SELECT * FROM version"
            assert rows(filled, name, order) == rows(fresh, name, order), f"{name}'s {table}. {REMAKE}"
        vectors = [
            unpacked((key, data) for key, _, data in rows(world, name, "SELECT hash, embedder, data FROM vectors"))
            for world in (filled, fresh)
        ]
        assert vectors[0].keys() == vectors[1].keys()
        for key, vector in vectors[0].items():
            assert vector @ vectors[1][key] > 0.999999, "processors round in their own way, and no further"
