"""A world that another process serves: who opens it is told so, and by what it is reached."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.store.server_notice import ServedElsewhere, served, server_of
from tests.ports import free_port
from tests.programs import Program

ADDRESS = "http://127.0.0.1:5000"


@contextmanager
def another_process(world: Path) -> Iterator[Program]:
    """A process that says it serves a world, until it is told to end."""
    program = (
        "import sys; from pathlib import Path; from memory_system.store.server_notice import served\n"
        f"with served(Path(sys.argv[1]), {ADDRESS!r}) as noted: print(noted, flush=True); sys.stdin.readline()"
    )
    with Program("-c", program, str(world)) as process:
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


def opened_quietly(settings: Settings, embedder: CachedEmbedder) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ServedElsewhere)
        World(settings, embedder=embedder).close()


def test_who_opens_a_served_world_is_told_and_can_use_it(settings: Settings, embedder: CachedEmbedder) -> None:
    with World(settings, embedder=embedder) as world:
        world.create_agent("mira")
        folder = world.folder
    with another_process(folder):
        with pytest.warns(ServedElsewhere, match=ADDRESS) as told, World(settings, embedder=embedder) as world:
            world.agent("mira").add_short_term({"document": "Rang the bell.", "rating": 2})
        assert [one.filename for one in told] == [__file__], "it is the opening that is pointed at, once"
        assert "RemoteWorld" in str(told[0].message)
        with (
            pytest.warns(ServedElsewhere),
            AgentMemory(
                "mira", database=settings.database, personalities=settings.personalities, embedder=embedder
            ) as agent,
        ):
            assert len(agent.entries(Tier.STM)) == 1


def test_a_server_that_was_killed_is_not_there_any_more(settings: Settings, embedder: CachedEmbedder) -> None:
    folder = settings.database / settings.world
    with another_process(folder) as process:
        assert server_of(folder) == ADDRESS
        process.kill()
        process.wait()
    assert folder.with_name(f".{folder.name}-served.json").exists(), "it was left lying"
    assert server_of(folder) is None
    opened_quietly(settings, embedder)


def test_a_server_that_ends_takes_its_note_along(settings: Settings, embedder: CachedEmbedder) -> None:
    folder = settings.database / settings.world
    with another_process(folder) as process:
        process.communicate("\n")
    assert list(settings.database.glob("*.json")) == []
    opened_quietly(settings, embedder)


def test_the_process_that_serves_is_not_told_of_itself(settings: Settings, embedder: CachedEmbedder) -> None:
    with served(settings.database / settings.world, ADDRESS) as noted:
        assert noted
        opened_quietly(settings, embedder)


def test_the_first_of_two_servers_is_named(tmp_path: Path) -> None:
    with another_process(tmp_path / "world"), served(tmp_path / "world", "http://127.0.0.1:5001") as noted:
        assert not noted
        assert server_of(tmp_path / "world") == ADDRESS
    assert server_of(tmp_path / "world") is None


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b'{"address": 5}', b'{"address": "x", "process": "y"}', b"\xff"])
def test_a_note_that_says_nothing_is_passed_over(tmp_path: Path, note: bytes) -> None:
    (tmp_path / ".world-served.json").write_bytes(note)
    assert server_of(tmp_path / "world") is None


def test_where_no_note_can_be_made_serving_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with served(tmp_path / "file" / "world", ADDRESS) as noted:
        assert not noted


@pytest.mark.parametrize("ended", [signal.SIGINT, signal.SIGTERM])
def test_serve_is_found_by_those_beside_it(settings: Settings, embedder: CachedEmbedder, ended: signal.Signals) -> None:
    with World(settings, embedder=embedder) as world:
        world.create_agent("mira")
    port = str(free_port())
    places = {"MEMORY_DATABASE": str(settings.database), "MEMORY_PERSONALITIES": str(settings.personalities)}
    with Program("-m", "memory_system", "serve", "--port", port, environment={**os.environ, **places}) as process:
        try:
            assert "Serving" in process.stdout.readline()
            with pytest.warns(ServedElsewhere, match=port):
                World(settings, embedder=embedder).close()
        finally:
            process.send_signal(ended)
            process.wait()
    assert list(settings.database.glob("*.json")) == []
    assert server_of(settings.database / settings.world) is None
    opened_quietly(settings, embedder)


def test_a_note_that_is_none_keeps_nobody_from_opening_a_world(settings: Settings, embedder: CachedEmbedder) -> None:
    settings.database.mkdir()
    for told in ("", "[]", '{"address": 5}', '{"address": "x", "process": 1e999}', "[" * 100_000, "\xff"):
        (settings.database / f".{settings.world}-served.json").write_text(told, encoding="latin-1")
        opened_quietly(settings, embedder)
