"""What all tests share: real embeddings, worlds in temporary folders, and no network beyond this machine."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import shutil
import signal
import socket
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import hypothesis
import pytest

from memory_system import AgentMemory, Settings, World
from memory_system.core.settings import IN_JOURNAL
from memory_system.core.settings import Settings as _Settings
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.recall import kept_tables
from memory_system.store.chroma import probe
from memory_system.world.world import TOKENS
from tests import remembered, tiers
from tests.chroma_server import ChromaServer
from tests.fake_server import FakeServer
from tests.postgres_server import MISSING, PostgresServer, programs
from tests.programs import Program
from tests.sample_world import made_once, shared_folder
from tests.served import served_api
from tests.waiting import LAST_RESORT, PATIENCE

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
NOW = datetime(2026, 3, 27, 18, 0, tzinfo=UTC)
_LOCAL = ("127.0.0.1", "::1", "localhost")
hypothesis.settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy machine")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reaches out fails at once, instead of passing on machines that happen to have a network."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in _LOCAL:
            raise AssertionError(f"A test tried to reach {address[0]}.")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", local_only)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the machine that runs the tests do not matter, except where the embedding model is cached."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "MEMORY_")) and name != "MEMORY_CACHE_DIR":
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody gives up waiting for a lock because the machine is busy; a test of giving up sets the time."""
    for owner, name in PATIENCE:
        monkeypatch.setattr(owner, name, LAST_RESORT)


START_PROBE = probe._started


@pytest.fixture(autouse=True)
def quick_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store is probed by the same code in a separate process, but one that need not import everything first."""

    def started(folder: Path) -> Program:
        return Program("-m", "memory_system.store.chroma.probe_child", str(folder))

    monkeypatch.setattr(probe, "_started", started)


@pytest.fixture
def small_tables_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is kept from ten rows on."""
    monkeypatch.setattr(kept_tables, "FROM_ROWS", 10)


@pytest.fixture
def real_probe(quick_probe: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores are probed as outside the tests."""
    monkeypatch.setattr(probe, "_started", START_PROBE)


def pytest_configure() -> None:
    """Read each text once; switch off garbage collection while tests are collected, since imports stay.

    Handle Ctrl+C as usual, too, for programs that tests start: shells' background jobs do not.
    """
    remembered.read_once()
    gc.disable()
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what ``make test`` leaves out; put tests that wait or take long first, so that no worker ends with one."""
    tiers.mark(items)
    items.sort(key=lambda item: "package" not in item.path.parts and item.path.name not in tiers.FIRST)


def pytest_collection_finish() -> None:
    """Exclude imports, which stay, from garbage collection, and make it less frequent."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--journals=postgresql`` runs any test with journals on a server, ``--store=journal`` with nothing else."""
    parser.addoption("--journals", choices=("sqlite", "postgresql"), default="sqlite")
    parser.addoption("--store", choices=("chroma", "journal"), default="chroma")


@pytest.fixture(autouse=True)
def stored_in_the_round(request: pytest.FixtureRequest, own_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set where memories are stored, unless a test does so itself."""
    if request.config.getoption("--journals") == "postgresql":
        request.getfixturevalue("journal_server")
    if request.config.getoption("--store") == "journal":
        monkeypatch.setenv("MEMORY_STORE", "journal")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """This process's own PostgreSQL server."""
    if programs() is None or importlib.util.find_spec("psycopg") is None:
        pytest.skip(MISSING)
    with PostgresServer() as server:
        yield server


@pytest.fixture
def journal_server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Journals are in an empty database of PostgreSQL, including those of child processes; returns its address."""
    address: str = request.getfixturevalue("postgres").new_database()
    monkeypatch.setenv("MEMORY_JOURNAL_URL", address)
    return address


@pytest.fixture
def journals_in_files(request: pytest.FixtureRequest) -> None:
    """For tests about journal files by name; for ``usefixtures``."""
    if request.config.getoption("--journals") == "postgresql":
        pytest.skip("It is about SQLite's own files.")


@pytest.fixture(params=["sqlite", "postgresql"])
def each_journal(request: pytest.FixtureRequest) -> None:
    """Run once with journals in files and once with journals on a server; for ``usefixtures``."""
    if request.param == "postgresql":
        request.getfixturevalue("journal_server")


@pytest.fixture(scope="session")
def embedder() -> CachedEmbedder:
    """The real all-MiniLM-L6-v2."""
    return CachedEmbedder(MiniLM(_Settings().cache))


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """A Chroma server for all tests that need one; each has its own database there."""
    with ChromaServer(tmp_path_factory.mktemp("chroma-server")) as started:
        yield started


@pytest.fixture
def on_server(chroma_server: ChromaServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every agent of this test, including child processes, has its store on a Chroma server; returns the address."""
    address = f"{chroma_server.url}/test-{uuid.uuid4().hex}"
    monkeypatch.setenv("MEMORY_CHROMA_URL", address)
    return address


@pytest.fixture(params=["in a folder", "on a server"])
def store_place(request: pytest.FixtureRequest) -> str:
    """The place of this test's stores; the test runs for both."""
    if request.param == "on a server":
        request.getfixturevalue("on_server")
    return str(request.param)


def settings_in(folder: Path) -> Settings:
    """Settings of a world in a folder."""
    return Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a world in a temporary folder."""
    return settings_in(tmp_path)


def thrown_away(world: World) -> None:
    """Delete the files of a world before it is closed: it is not opened again, and its stores need not be completed."""
    if not world.settings.chroma and not world.settings.journal_url:
        shutil.rmtree(world.folder, ignore_errors=True)


@pytest.fixture
def world(settings: Settings, embedder: CachedEmbedder) -> Iterator[World]:
    """An empty world whose clock is stopped at ``NOW``."""
    with World(settings, embedder=embedder) as opened:
        opened.stand_at(NOW)
        yield opened
        thrown_away(opened)


PERSONALITY = {
    "identity": {"name": "Mira Holloway", "age": 34, "profession": "baker"},
    "traits": ["early riser"],
    "long_term_goals": ["Keep the tide mill in the hands of the village"],
    "relationships": [{"name": "Tobias Finch", "relation": "childhood friend", "trust": 0.5}],
    "societal_rules": ["A promise made over bread is binding."],
    "environment": [{"place": "Bakery", "description": "A warm room with an iron oven."}],
    "routine": [
        {"time": "04:30", "until": "08:00", "activity": "bakes the morning bread", "place": "Bakery"},
        {"time": "19:00", "until": "20:00", "activity": "eats at the inn", "place": "Three Herons"},
    ],
    "facts": ["There is only one true key to the tide mill."],
}


@pytest.fixture(scope="session")
def world_of_mira(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Path:
    """The world of ``agent``, closed, to be copied as files: it is made once per run."""

    def make(folder: Path) -> None:
        with World(settings_in(folder), embedder=embedder) as world:
            world.stand_at(NOW)
            world.create_agent("mira", json.dumps(PERSONALITY))

    return made_once(shared_folder(tmp_path_factory), "world-of-mira", make)


@pytest.fixture
def agent(request: pytest.FixtureRequest, world: World) -> AgentMemory:
    """An agent "mira" with a small personality and no memories."""
    if world.settings.journal_url or world.settings.chroma or world.settings.store == IN_JOURNAL:  # made in place
        return world.create_agent("mira", json.dumps(PERSONALITY))
    made = settings_in(request.getfixturevalue("world_of_mira"))
    folder = made.database / made.world
    shutil.copytree(folder / "mira", world.folder / "mira")
    if (folder / TOKENS).exists():  # there is none if this process had computed all of them before
        shutil.copy(folder / TOKENS, world.folder)
    shutil.copytree(made.personalities, world.settings.personalities, dirs_exist_ok=True)
    return world.agent("mira")


@pytest.fixture
def remember(agent: AgentMemory) -> Callable[..., str]:
    """Adds one rated event to ``agent`` and returns its id."""

    def add(document: str, *, rating: int | None = 5, hours_ago: float = 0, **fields: object) -> str:
        when = datetime.fromtimestamp(NOW.timestamp() - hours_ago * 3600, UTC)
        event = {"document": document, "rating": rating, "timestamp": when, **fields}
        return agent.add_short_term(event, rate=False).outcomes[0].id

    return add


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """An OpenAI-compatible server on this machine, to be given its answers."""
    with FakeServer() as started:
        yield started


@pytest.fixture
def api(world: World) -> Iterator[httpx.Client]:
    """A client of a server over ``world``."""
    with (
        served_api(world) as address,
        httpx.Client(base_url=address, timeout=LAST_RESORT, trust_env=False, verify=False) as client,
    ):  # no certificates are read, which takes longer than most requests
        yield client
