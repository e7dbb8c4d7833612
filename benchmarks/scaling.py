"""What 10, 100 and 1,000 agents of 1,000 memories cost on one machine, in files or on servers.

    python -m benchmarks.scaling [--agents 10 100] [--memories 1000] [--where folder server journal]
                                 [--journals sqlite postgresql] [--awake 0] [--keep FOLDER]

Lives one agent through (real vectors, change sets), copies it under other names, and opens each once, so that the
servers contain them all. Then a separate process opens every agent and reports: how long that took, how much memory it
and the servers have, how many files it has open; what a question costs (cached cues, agents drawn at random), one
event, and a batch of 100; its memory then; and what another question costs for an agent that is awake, and for one that
rests. With ``journal`` as the place, nothing is stored besides the journals (``MEMORY_STORE=journal``). With
``--awake`` only so many stay open, and it reports what the first question costs for one that sleeps, including
another's going to sleep. CPU is that of all these processes together; other programs do not count in it. PostgreSQL
waits for its disk at each commit, as SQLite does.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from memory_system import Change, ChangeSet, MemoryEntry, Settings, Tier, World
from memory_system.core.settings import IN_JOURNAL
from tests.postgres_server import PostgresServer

NOW = datetime(2026, 3, 27, 18, 0, tzinfo=UTC)
CUES = ("Who has the brass key?", "smoke over the mill", "What did Tobias promise?", "bread for the guest", "the lamp")
MORE_CUES = ("Who promised bread?", "Who lit the lamp?")
_WHO = ("Tobias", "Ines", "Juno", "Edda", "Oswin")
_DID = ("borrowed the brass key", "saw smoke over the mill", "promised bread", "lit the lamp", "told nobody")
QUERIES, EVENTS, BATCHES = 300, 100, 10
_STARTS_WITHIN = 60.0
_POSTGRES = ("listen_addresses=", "max_connections=120")


def memories(count: int) -> list[MemoryEntry]:
    """Long-term memories of some weeks, no two alike."""
    return [
        MemoryEntry(
            f"{_WHO[n % 5]} {_DID[n // 5 % 5]} on the {n}. evening",
            id=f"m{n:05}",
            tier=Tier.LTM,
            rating=1 + n % 10,
            timestamp=NOW - timedelta(minutes=37 * n),
        )
        for n in range(count)
    ]


@dataclass(frozen=True)
class Servers:
    """Where stores and journals are, if not in files, the server processes, and the kind of stores."""

    chroma: str | None = None
    journals: str | None = None
    processes: tuple[int, ...] = ()
    store: str = "chroma"


def settings_of(folder: Path, servers: Servers, awake: int = 0) -> Settings:
    """A world in this folder, in which so many agents may be open."""
    places: dict[str, Any] = {"chroma_url": servers.chroma, "journal_url": servers.journals, "store": servers.store}
    places |= {"awake": awake} if awake else {"awake": 1_000_000, "awake_mb": 1_000_000}
    return Settings(database=folder / "database", personalities=folder / "people", llm="offline", **places)


def live(folder: Path, agents: int, count: int, servers: Servers) -> None:
    """Make the first agent and its copies, in files; what exists already is kept."""
    settings = settings_of(folder, servers)
    first = settings.database / settings.world / name(0)
    if not first.exists():
        with World(settings) as world:
            world.stand_at(NOW)
            agent = world.create_agent(name(0))
            changes = tuple(Change(None, entry, "lived") for entry in memories(count))
            agent.apply(ChangeSet("fill", "Live", changes, NOW, agent.stamp[0], agent=agent.name))
            for cue in CUES:
                agent.query_memory(cue, touch=False)
    for number in range(1, agents):
        if not (to := first.with_name(name(number))).exists():
            shutil.copytree(first, to)
            person = settings.personalities / f"{name(0)}.json"
            shutil.copyfile(person, person.with_name(f"{name(number)}.json"))


def name(number: int) -> str:
    """The name of an agent."""
    return f"a{number:04}"


# -- in a process of its own ---------------------------------------------------------------------------


@dataclass
class Cost:
    """The cost of acts, on the clock and in processor time, here and in the servers."""

    servers: tuple[int, ...]

    def of(self, act: Callable[[], object]) -> tuple[float, float]:
        """Seconds on the clock, and in processor time."""
        wall, cpu = time.perf_counter(), self._cpu()
        act()
        return time.perf_counter() - wall, self._cpu() - cpu

    def _cpu(self) -> float:
        return sum(_cpu_of(pid) for pid in (os.getpid(), *self.servers))


def _cpu_of(pid: int) -> float:
    """The processor time of a process and of its children, including those that have ended."""
    ticks = sum(map(int, _stat(pid)[11:15])) + sum(sum(map(int, _stat(child)[11:13])) for child in _children(pid))
    return ticks / float(os.sysconf("SC_CLK_TCK"))


def _stat(pid: int) -> list[str]:
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:  # it has ended since
        return ["0"] * 20
    return told.rpartition(")")[2].split()


def _children(pid: int) -> list[int]:
    processes = (int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit())
    return [one for one in processes if _stat(one)[1] == str(pid)]


def megabytes(pid: int) -> float:
    """The memory of a process and its children; shared memory counts once."""
    total = 0
    for one in (pid, *_children(pid)):
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii", errors="replace").splitlines()
        except OSError:  # it has ended since
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1000


def measure(folder: Path, servers: Servers, agents: int, awake: int, *, only_open: bool) -> dict[str, float]:
    """Open all agents and use them."""
    cost, drawn = Cost(servers.processes), random.Random(7)  # noqa: S311 - which agent is asked
    world = World(settings_of(folder, servers, awake))
    names = [name(number) for number in range(agents)]
    world.embedder.embed([*CUES, *MORE_CUES])
    before, before_server = megabytes(os.getpid()), sum(map(megabytes, servers.processes))
    wall, cpu = cost.of(lambda: [world.agent(one).name for one in names])
    told = {"open_s": wall, "open_cpu_s": cpu}
    if only_open:
        world.close()
        return told
    told["mb"] = megabytes(os.getpid()) - before
    told["mb_server"] = sum(map(megabytes, servers.processes))
    told["mb_server_before"] = before_server
    told["files"] = sum(1 for _ in Path("/proc/self/fd").iterdir())

    def ask() -> None:
        world.agent(drawn.choice(names)).query_memory(drawn.choice(CUES))

    def wake() -> None:
        opened = {agent.name for agent in world.opened()}
        asleep = drawn.choice([one for one in names if one not in opened])
        woken.append(cost.of(lambda: world.agent(asleep).query_memory(CUES[0])))

    def add(count: int) -> None:
        world.agent(drawn.choice(names)).add_short_term(
            [{"document": drawn.choice(CUES), "rating": 5} for _ in range(count)], rate=False
        )

    ask()  # loading at the first question does not count
    for what, act, times in (
        ("query", ask, QUERIES),
        ("event", lambda: add(1), EVENTS),
        ("batch", lambda: add(100), BATCHES),
    ):
        took = [cost.of(act) for _ in range(times)]
        walls = sorted(wall for wall, _ in took)
        told[f"{what}_ms"] = 1000 * statistics.median(walls)
        told[f"{what}_p95_ms"] = 1000 * walls[int(0.95 * len(walls))]
        told[f"{what}_cpu_ms"] = 1000 * sum(cpu for _, cpu in took) / times
    told["mb_used"] = megabytes(os.getpid()) - before
    rested: list[tuple[float, float]] = []
    lively: list[tuple[float, float]] = []
    for one in itertools.islice(world.opened(), EVENTS):
        one.query_memory(CUES[0])
        lively.append(cost.of(partial(one.query_memory, MORE_CUES[0])))
        one.contents.rest()
        rested.append(cost.of(partial(one.query_memory, MORE_CUES[1])))
    for what, took in (("lively", lively), ("rested", rested)):
        told[f"{what}_ms"] = 1000 * statistics.median(wall for wall, _ in took)
        told[f"{what}_cpu_ms"] = 1000 * statistics.fmean(cpu for _, cpu in took)
    if 0 < awake < agents:
        woken: list[tuple[float, float]] = []
        for _ in range(QUERIES):
            wake()
        told["wake_ms"], told["wake_p95_ms"] = 1000 * np.percentile([wall for wall, _ in woken], [50, 95])
        told["wake_cpu_ms"] = 1000 * statistics.fmean(cpu for _, cpu in woken)
    told["close_s"] = cost.of(world.close)[0]
    return told


# -- the parent ----------------------------------------------------------------------------------------


@contextmanager
def chroma(folder: Path) -> Iterator[tuple[str, int]]:
    """A Chroma server over this folder: its address and process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(
        [*command, "--path", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as run:
        try:
            url = f"http://127.0.0.1:{port}"
            until = time.monotonic() + _STARTS_WITHIN
            while not _answers(port) and time.monotonic() < until:
                time.sleep(0.1)
            yield url, run.pid
        finally:
            run.terminate()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def postgres(server: PostgresServer) -> Iterator[int]:
    """A freshly started PostgreSQL server: its process."""
    server.start()
    try:
        yield server.process
    finally:
        server.stop()


def _child(folder: Path, servers: Servers, agents: int, awake: int, *, only_open: bool) -> dict[str, float]:
    order = json.dumps([str(folder), dataclasses.astuple(servers), agents, awake, only_open])
    command = [sys.executable, "-m", "benchmarks.scaling", "--child", order]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def run(folder: Path, where: str, journals: str, agents: int, count: int, awake: int) -> None:
    """One row of the table."""
    place = folder / f"{where}-{journals}-{agents}"
    kept = IN_JOURNAL if where == "journal" else "chroma"
    live(place, agents, count, Servers(store=kept))
    if where == "server":
        for store in place.glob("database/*/*/chroma"):
            shutil.rmtree(store)
    row: dict[str, Any] = {"where": where, "journals": journals, "agents": agents}
    folders = [place]
    with ExitStack() as whole:
        server = whole.enter_context(PostgresServer(options=_POSTGRES)) if journals == "postgresql" else None
        address = server.new_database() if server is not None else None
        if server is not None:
            server.stop()
            folders.append(server.folder)
        for only_open in (True, False):  # moved to their place; then servers are restarted, as on a fresh machine
            with ExitStack() as started:
                url, processes = None, []
                if where == "server":
                    folders.append(store := place.with_name(f"{place.name}-chroma"))
                    url, pid = started.enter_context(chroma(store))
                    processes.append(pid)
                if server is not None:
                    processes.append(started.enter_context(postgres(server)))
                told = _child(place, Servers(url, address, tuple(processes), kept), agents, awake, only_open=only_open)
            row |= {"first": told} if only_open else told
        row["disk_mb"] = (
            sum(file.stat().st_size for one in set(folders) for file in one.glob("**/*") if file.is_file()) / 1e6
        )
    print(json.dumps(row), flush=True)


def main() -> None:
    """Print a line of JSON for each place and number of agents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--where", nargs="+", default=["folder", "server"], choices=["folder", "server", "journal"])
    parser.add_argument("--journals", nargs="+", default=["sqlite"], choices=["sqlite", "postgresql"])
    parser.add_argument("--awake", type=int, default=0, help="how many may be open at a time; 0 = all of them")
    parser.add_argument("--keep", type=Path, help="a folder to work in, and to leave")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        folder, (chroma_url, journal_url, processes, store), agents, awake, only_open = json.loads(asked.child)
        servers = Servers(chroma_url, journal_url, tuple(processes), store)
        print(json.dumps(measure(Path(folder), servers, agents, awake, only_open=only_open)))
        return
    with tempfile.TemporaryDirectory(prefix="scaling-") as scratch:
        folder = asked.keep or Path(scratch)
        for where, journals, agents in itertools.product(asked.where, asked.journals, asked.agents):
            run(folder, where, journals, agents, asked.memories, asked.awake)


if __name__ == "__main__":
    main()
