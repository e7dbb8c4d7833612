"""What 10, 100 and 1,000 agents of 1,000 memories cost on one machine, stored in files or on a Chroma server.

    python -m benchmarks.scaling [--agents 10 100] [--memories 1000] [--where folder server] [--keep FOLDER]

Lives one agent through (real vectors, change sets), copies it under other names, and lets each open once, so that a
server holds them all. Then a process of its own opens every agent and tells: how long that took, how much memory it and
the server have, how many files it holds open; what a question costs (cached cues, agents drawn at random), one event,
and a batch of 100. CPU is that of both processes together; other programs do not count in it.
"""

from __future__ import annotations

import argparse
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
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_system import Change, ChangeSet, MemoryEntry, Settings, Tier, World

NOW = datetime(2026, 3, 27, 18, 0, tzinfo=UTC)
CUES = ("Who has the brass key?", "smoke over the mill", "What did Tobias promise?", "bread for the guest", "the lamp")
_WHO = ("Tobias", "Ines", "Juno", "Edda", "Oswin")
_DID = ("borrowed the brass key", "saw smoke over the mill", "promised bread", "lit the lamp", "told nobody")
QUERIES, EVENTS, BATCHES = 300, 100, 10
_STARTS_WITHIN = 60.0


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


def settings_of(folder: Path, url: str | None) -> Settings:
    """A world in this folder."""
    return Settings(
        database=folder / "database", personalities=folder / "people", llm="offline", chroma_url=url or None
    )


def live(folder: Path, agents: int, count: int) -> None:
    """Make the first agent and its copies, in files; what there is already is left."""
    settings = settings_of(folder, None)
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
    """Of an agent."""
    return f"a{number:04}"


# -- in a process of its own ---------------------------------------------------------------------------


@dataclass
class Cost:
    """What was done, on the clock and by processors, here and in the server."""

    server: int

    def of(self, act: Callable[[], object]) -> tuple[float, float]:
        """Seconds on the clock, and of processors."""
        wall, cpu = time.perf_counter(), self._cpu()
        act()
        return time.perf_counter() - wall, self._cpu() - cpu

    def _cpu(self) -> float:
        return sum(_cpu_of(pid) for pid in (os.getpid(), self.server) if pid)


def _cpu_of(pid: int) -> float:
    told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / float(os.sysconf("SC_CLK_TCK"))


def _megabytes(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    return 0.0


def measure(folder: Path, url: str | None, agents: int, server: int, *, only_open: bool) -> dict[str, float]:
    """Open all agents and use them."""
    cost, drawn = Cost(server), random.Random(7)  # noqa: S311 - which agent is asked
    world = World(settings_of(folder, url))
    names = [name(number) for number in range(agents)]
    world.embedder.embed(list(CUES))
    before, before_server = _megabytes(os.getpid()), _megabytes(server) if server else 0.0
    wall, cpu = cost.of(lambda: [world.agent(one) for one in names])
    told = {"open_s": wall, "open_cpu_s": cpu}
    if only_open:
        world.close()
        return told
    told["mb"] = _megabytes(os.getpid()) - before
    told["mb_server"] = _megabytes(server) if server else 0.0
    told["mb_server_before"] = before_server
    told["files"] = sum(1 for _ in Path("/proc/self/fd").iterdir())

    def ask() -> None:
        world.agent(drawn.choice(names)).query_memory(drawn.choice(CUES))

    def add(count: int) -> None:
        world.agent(drawn.choice(names)).add_short_term(
            [{"document": drawn.choice(CUES), "rating": 5} for _ in range(count)], rate=False
        )

    ask()  # what is loaded at the first question counts for nobody
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


def _child(folder: Path, url: str | None, agents: int, server: int, *, only_open: bool) -> dict[str, float]:
    order = json.dumps([str(folder), url, agents, server, only_open])
    command = [sys.executable, "-m", "benchmarks.scaling", "--child", order]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def run(folder: Path, where: str, agents: int, count: int) -> None:
    """One row of each table."""
    place = folder / where
    live(place, agents, count)
    if where == "folder":
        told = _child(place, None, agents, 0, only_open=False)
        first: dict[str, float] = {}
    else:
        for store in place.glob("database/*/*/chroma"):
            shutil.rmtree(store)
        with chroma(folder / "chroma-server") as (url, pid):
            first = _child(place, url, agents, pid, only_open=True)
        with chroma(folder / "chroma-server") as (url, pid):  # started anew, as a machine is
            told = _child(place, url, agents, pid, only_open=False)
    folders = [place] if where == "folder" else [place, folder / "chroma-server"]
    size = sum(file.stat().st_size for one in folders for file in one.glob("**/*") if file.is_file())
    print(json.dumps({"where": where, "agents": agents, "disk_mb": size / 1e6, "first": first, **told}), flush=True)


def main() -> None:
    """Print a line of JSON for each place and number of agents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--where", nargs="+", default=["folder", "server"], choices=["folder", "server"])
    parser.add_argument("--keep", type=Path, help="a folder to work in, and to leave")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        folder, url, agents, server, only_open = json.loads(asked.child)
        print(json.dumps(measure(Path(folder), url, agents, server, only_open=only_open)))
        return
    with tempfile.TemporaryDirectory(prefix="scaling-") as scratch:
        folder = asked.keep or Path(scratch)
        for where in asked.where:
            for agents in asked.agents:
                run(folder, where, agents, asked.memories)


if __name__ == "__main__":
    main()
