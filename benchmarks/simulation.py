"""A world of 1,000 characters who live their day at 20 times real time, and what ends it first when it goes faster.

    python -m benchmarks.simulation [--agents 1000] [--memories 200] [--speed 20] [--hours 24] [--minutes 3]
                                    [--awake 1000] [--awake-mb 1024] [--threads 4] [--where folder] [--keep FOLDER]

A character's day is 60 events and 40 questions: Park et al. (2023) have an agent reflect at a sum of ratings of 150,
two or three times a day, which is 60 events of a mean rating of 5.5; and it asks its memory when it acts on what it
has just seen. So a day is 20 scenes of 3 events and 2 questions in turns, a minute of the world apart, by the hour's
share of the day: none at night, most in the evening. Everything is drawn with a fixed seed. One text in four is new and
has to be embedded, the others come from a pool; ratings are given. Short-term memory is full from the beginning, so
each event is followed by the migration of one memory, as with ``AgentSettings.auto_migrate``; it is called separately
here, to be measured separately. Agents are copies of one that was lived through, are requested by
``world.agent(name)`` for each act, and sleep and wake as a world makes them by itself.

The busiest minutes of the day are lived as they are due, whatever happened to earlier acts, by several threads, two
per core by default; more do no more, since they wait for Python's turn and use processor time to do so; then again
faster, or slower if that was too fast, for shorter slices. An act is late by the time between when it was due and when
it was done. A world falls behind if the last acts of a slice are more than a second late, or are not begun. With
``--where journal`` nothing is stored besides the journals (``MEMORY_STORE=journal``), else in Chroma's files.
"In the background" is the processor time that no act waited for: the store, accesses, the model's own threads.
Flushes of the disk are those of all programs.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import tempfile
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import scaling
from benchmarks.memory import texts
from memory_system import AgentMemory, Settings, Tier, World
from memory_system.core.settings import IN_JOURNAL
from memory_system.errors import StaleChange

BY_HOUR = (0, 0, 0, 0, 0, 0, 2, 5, 6, 5, 5, 5, 8, 6, 5, 5, 5, 7, 9, 9, 8, 6, 4, 0)
"""How many of a hundred scenes begin in each hour of the day."""
SCENES, EVENTS, QUESTIONS = 20, 3, 2
"""Scenes a day, and what happens in each."""
MINUTES_APART = 1.0
POOL, NEW = 1000, 0.25
"""Texts that are embedded already, and the share of those that are not."""
LATE, GRACE = 1.0, 2.0
"""Seconds: how late the last acts of a slice may be, and how long after its end one may still begin."""
SHORT = 1.0
"""The most minutes of a slice at any speed but the first."""
FASTEST, SLOWEST = 5120.0, 1.0
_FULL = 0.85
"""The share of all cores: more is rarely available."""
_ONE_AT_A_TIME = 0.005
"""Seconds that a thread waits for its turn: the time Python gives another before asking it to give way."""


class Act(NamedTuple):
    """What a character does, and when it is due: seconds of real time from the beginning of the slice."""

    due: float
    who: int
    is_event: bool


@dataclass(frozen=True)
class Day:
    """When each scene begins, in hours of the day: shape (agents, scenes)."""

    begins: NDArray[np.float64]

    @classmethod
    def drawn(cls, agents: int, seed: int = 1) -> Day:
        """A day of so many characters."""
        chance = np.random.default_rng(seed)
        hours = chance.choice(24, size=(agents, SCENES), p=np.array(BY_HOUR) / sum(BY_HOUR))
        return cls(hours + chance.random((agents, SCENES)))

    def busiest(self, hours: float) -> float:
        """The hour at which the busiest part of the day of this length begins."""
        begins = np.sort(self.begins, axis=None)
        starts = np.arange(0, max(24 - hours, 0) + 0.25, 0.25)
        found = np.searchsorted(begins, starts + hours) - np.searchsorted(begins, starts)
        return float(starts[np.argmax(found)])

    def acts(self, hours: float, speed: float) -> list[Act]:
        """What is due in the busiest part of the day of this length, at this speed, in order."""
        start, step = self.busiest(hours), MINUTES_APART / 60
        found = []
        for who, scene in np.argwhere(
            (self.begins < start + hours) & (self.begins > start - step * (EVENTS + QUESTIONS))
        ):
            for number in range(EVENTS + QUESTIONS):
                at = float(self.begins[who, scene]) + number * step - start
                if 0 <= at < hours:
                    asks = number % 2 == 1 and number // 2 < QUESTIONS
                    found.append(Act(at * 3600 / speed, int(who), is_event=not asks))
        return sorted(found)


@dataclass
class Spent:
    """The times of acts of one kind, in seconds: on the clock, and in processor time of their threads."""

    took: list[tuple[float, float]] = field(default_factory=list)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Measure one act."""
        wall, cpu = time.perf_counter(), time.thread_time()
        yield
        self.took.append((time.perf_counter() - wall, time.thread_time() - cpu))

    @property
    def wall(self) -> float:
        """The sum on the clock."""
        return sum(wall for wall, _ in self.took)

    @property
    def cpu(self) -> float:
        """The sum in processor time."""
        return sum(cpu for _, cpu in self.took)


@dataclass(frozen=True)
class Machine:
    """What the whole machine has done since it was started, in seconds, and how often its disk was flushed."""

    busy: float
    idle: float
    iowait: float
    flushes: float

    @classmethod
    def now(cls, folder: Path) -> Machine:
        """The present values; the disk is that of a folder."""
        told = [int(one) for one in Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]]
        ticks = float(os.sysconf("SC_CLK_TCK"))
        busy = sum(told) - told[3] - told[4]
        return cls(busy / ticks, told[3] / ticks, told[4] / ticks, _flushes(folder))

    def since(self, before: Machine) -> Machine:
        """What was done since then."""
        return Machine(*(getattr(self, name) - getattr(before, name) for name in ("busy", "idle", "iowait", "flushes")))


def _flushes(folder: Path) -> float:
    """The flushes of the disk of a folder; NaN if the system does not report them."""
    device = folder.stat().st_dev
    for line in Path("/proc/diskstats").read_text(encoding="ascii").splitlines():
        told = line.split()
        if (int(told[0]), int(told[1])) == (os.major(device), os.minor(device)) and len(told) > 18:
            return float(told[18])
    return float("nan")


@dataclass
class Slice:
    """The results of some minutes of the day."""

    speed: float
    seconds: float
    acts: Sequence[Act]
    late: dict[int, float] = field(default_factory=dict)
    """How late each act that was begun was done, in seconds, by its number."""
    kinds: dict[str, Spent] = field(default_factory=lambda: defaultdict(Spent))
    pulse: list[float] = field(default_factory=list)
    """The delays of a thread that wakes fifty times a second and does nothing."""
    took: float = 0.0
    cpu: float = 0.0
    machine: Machine = field(default_factory=lambda: Machine(0, 0, 0, 0))
    megabytes: float = 0.0
    free: float = 1.0
    """The share of the machine's memory that is left."""
    files: int = 0
    awake: int = 0

    @property
    def behind(self) -> bool:
        """Whether more was due than was done."""
        if len(self.late) < len(self.acts):
            return True
        last = [self.late[number] for number in range(len(self.acts) * 9 // 10, len(self.acts))]
        return bool(last) and float(np.median(last)) > LATE

    @property
    def background(self) -> float:
        """Seconds of the processor that no act waited for."""
        return max(0.0, self.cpu - sum(spent.cpu for spent in self.kinds.values()))

    @property
    def cores(self) -> float:
        """How many cores it kept busy."""
        return self.cpu / self.took

    @property
    def turn(self) -> float:
        """How long a thread waits for its turn, in seconds."""
        return float(np.mean(self.pulse)) if self.pulse else 0.0

    def done(self, *, events: bool) -> tuple[float, float]:
        """Events, or questions, per second: offered and done."""
        offered = [number for number, act in enumerate(self.acts) if act.is_event == events]
        return len(offered) / self.seconds, sum(number in self.late for number in offered) / self.took

    def limit(self, most_awake: int) -> str:
        """Which resource is closest to its limit, in words."""
        all_cores = os.cpu_count() or 1
        shares = {name: spent.cpu for name, spent in self.kinds.items()} | {"background": self.background}
        most = sorted(shares, key=lambda name: -shares[name])
        told = ", ".join(f"{_WORDS[name]} {shares[name] / max(self.cpu, 1e-9):.0%}" for name in most[:4])
        waking = shares.get("waking", 0.0) / max(self.cpu, 1e-9)
        if self.free < 0.05:
            return f"memory: {self.megabytes:,.0f} MB here, {self.free:.0%} of the machine's is left"
        whole = self.machine.busy + self.machine.idle + self.machine.iowait
        idle = (self.machine.idle + self.machine.iowait) / whole if whole else 0.0
        if self.cores >= _FULL * all_cores or idle < 0.1:
            others = "" if self.cores >= _FULL * all_cores else f" (other programs had {1 - idle:.0%} of it with this)"
            why = f"the processor: {self.cores:.2f} of {all_cores} cores{others}, {told}"
        elif self.turn > _ONE_AT_A_TIME or self.cores > _FULL:
            why = (
                f"Python, which runs one thread at a time: {self.cores:.2f} of {all_cores} cores, "
                f"and a thread waits {1000 * self.turn:.0f} ms for its turn; {told}"
            )
        else:
            waits = {name: spent.wall - spent.cpu for name, spent in self.kinds.items()}
            longest = max(waits, key=lambda name: waits[name], default="reaching")
            why = f"waiting, for the disk or for each other, most of it in {_WORDS[longest]}: {self.cores:.2f} cores"
        if waking > 0.3:
            bound = "MEMORY_AWAKE" if self.awake >= most_awake else "MEMORY_AWAKE_MB"
            why += f". With a higher {bound} fewer would have to be woken"
        return why


_WORDS = {
    "embedding": "embedding",
    "waking": "waking",
    "reaching": "finding who is awake",
    "event": "events",
    "migration": "migrations",
    "question": "questions",
    "background": "in the background",
}


class Life:
    """The characters of an open world, and the threads that make them act.

    Args:
        world: which world.
        agents: how many characters it has.
        threads: how many may act at a time.
    """

    def __init__(self, world: World, agents: int, threads: int) -> None:
        self.world, self.threads = world, threads
        self.day = Day.drawn(agents)
        self._pool = texts(POOL)
        self._new = itertools.count()
        self._days = itertools.count(1)
        self._lock = threading.Lock()
        self._known: weakref.WeakValueDictionary[str, AgentMemory] = weakref.WeakValueDictionary()

    def prepare(self, agents: int, most_awake: int) -> None:
        """Embed the pool, and wake as many as stay awake, as in a game that has run for a while."""
        self.world.embedder.embed(self._pool)
        for number in range(min(agents, most_awake)):
            self._known[scaling.name(number)] = self.world.agent(scaling.name(number))
        kinds: dict[str, Spent] = defaultdict(Spent)  # loading at the first acts does not count
        for is_event in (True, False):
            self._do(Act(0.0, 0, is_event), kinds, random.Random(0))  # noqa: S311 - which text
        self.world.agent(scaling.name(0)).contents.flush()

    def live(self, speed: float, minutes: float, hours: float) -> Slice:
        """Live through the busiest minutes of the day, at most so many hours of it."""
        length = min(hours, minutes * speed / 60)
        found = Slice(speed, length * 3600 / speed, self.day.acts(length, speed))
        begins = timedelta(days=next(self._days), hours=self.day.busiest(length))
        self.world.stand_at(scaling.NOW.replace(hour=0) + begins)
        self.world.play(speed)
        turn, over = itertools.count(), threading.Event()
        before, cpu, started = Machine.now(self.world.folder), time.process_time(), time.perf_counter()
        with ThreadPoolExecutor(self.threads + 1) as pool:
            pulse = pool.submit(_pulse, found.pulse, over)
            working = [pool.submit(self._work, found, turn, started) for _ in range(self.threads)]
            try:
                for one in working:
                    one.result()
            finally:
                over.set()
            pulse.result()
        found.took = max(found.seconds, time.perf_counter() - started)
        found.cpu = time.process_time() - cpu
        found.machine = Machine.now(self.world.folder).since(before)
        found.megabytes, found.free = scaling.megabytes(os.getpid()), _free()
        found.files = sum(1 for _ in Path("/proc/self/fd").iterdir())
        found.awake = len(self.world.opened())
        return found

    def _work(self, found: Slice, turn: Iterator[int], started: float) -> None:
        chance = random.Random()  # noqa: S311 - which text
        while (number := next(turn)) < len(found.acts):
            act = found.acts[number]
            time.sleep(max(0.0, started + act.due - time.perf_counter()))
            if time.perf_counter() - started > found.seconds + GRACE:
                return
            chance.seed(f"{found.speed} {number}")
            self._do(act, found.kinds, chance)
            found.late[number] = time.perf_counter() - started - act.due

    def _do(self, act: Act, kinds: dict[str, Spent], chance: random.Random) -> None:
        text = chance.choice(self._pool)
        if chance.random() < NEW:
            text = f"{text} Nobody had said so {next(self._new)} times."
            with kinds["embedding"].one():
                self.world.embedder.embed([text])
        agent = self._reached(scaling.name(act.who), kinds)
        if not act.is_event:
            with kinds["question"].one():
                agent.query_memory(text)
            return
        with kinds["event"].one():
            agent.add_short_term({"document": text, "rating": chance.randint(1, 10)})
        with kinds["migration"].one(), suppress(StaleChange):  # another thread makes room at the same moment
            agent.migrate_stm2ltm()

    def _reached(self, name: str, kinds: dict[str, Spent]) -> AgentMemory:
        spent = Spent()
        with spent.one():
            agent = self.world.agent(name)
        with self._lock:
            woken = self._known.get(name) is not agent
            self._known[name] = agent
        kinds["waking" if woken else "reaching"].took += spent.took
        return agent


def _pulse(late: list[float], over: threading.Event) -> None:
    while not over.is_set():
        due = time.perf_counter() + 0.02
        time.sleep(0.02)
        late.append(time.perf_counter() - due)


def _free() -> float:
    told = dict(line.split(":") for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    return int(told["MemAvailable"].split()[0]) / int(told["MemTotal"].split()[0])


# -- what is shown --------------------------------------------------------------------------------------


def header() -> None:
    """Print the head of the table."""
    print(
        "\n| speed | events a second, done of offered | questions | late 50 % | 95 % | 99 % | cores | awake "
        "| wakes a minute | open files | memory | flushes a second |"
    )
    print(f"|---:{'|---:' * 11}|")


def row(found: Slice) -> None:
    """Print a slice as a row of the table."""
    cells = [f"{found.speed:g}{', behind' if found.behind else ''}"]
    for events in (True, False):
        offered, done = found.done(events=events)
        cells.append(f"{done:.1f} of {offered:.1f}")
    late = np.percentile(list(found.late.values()) or [float("nan")], [50, 95, 99])
    cells += [f"{1000 * one:,.0f} ms" for one in late]
    woken = len(found.kinds["waking"].took) * 60 / found.took
    cells += [f"{found.cores:.2f}", f"{found.awake:,}", f"{woken:,.0f}", f"{found.files:,}"]
    cells += [f"{found.megabytes:,.0f} MB", f"{found.machine.flushes / found.took:,.0f}"]
    print(f"| {' | '.join(cells)} |", flush=True)


def by_kind(found: Slice) -> None:
    """Print the times of each kind as a table."""
    print(f"\nAt {found.speed:g} times real time, by kind:\n")
    print("| what | how many | processor, each | by the clock, each | 95 % | share of the processor |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in ("event", "migration", "question", "waking", "reaching", "embedding"):
        took = found.kinds[name].took
        if not took:
            continue
        walls, share = [wall for wall, _ in took], found.kinds[name].cpu / found.cpu
        cells = [f"{len(took):,}", f"{1000 * found.kinds[name].cpu / len(took):.1f} ms"]
        cells += [f"{1000 * np.mean(walls):.1f} ms", f"{1000 * np.percentile(walls, 95):.1f} ms", f"{share:.0%}"]
        print(f"| {_WORDS[name]} | {' | '.join(cells)} |")
    print(f"| {_WORDS['background']} | | | | | {found.background / found.cpu:.0%} |", flush=True)


def faster(life: Life, speed: float, minutes: float, hours: float) -> list[Slice]:
    """Live at this speed, and then faster until it falls behind; or slower until it does not."""
    found = [life.live(speed, minutes, hours)]
    row(found[0])
    step = 0.5 if found[0].behind else 2.0
    while found[-1].behind == found[0].behind and SLOWEST <= speed * step <= FASTEST:
        speed *= step
        found.append(life.live(speed, min(minutes, SHORT), hours))
        row(found[-1])
    return found


def sentence(agents: int, slices: Sequence[Slice], most_awake: int) -> str:
    """The conclusion, in a sentence."""
    held = [one.speed for one in slices if not one.behind]
    kept = f"at {max(held):g} times real time" if held else f"at less than {min(one.speed for one in slices):g} times"
    failed = min((one for one in slices if one.behind), key=lambda one: one.speed, default=None)
    if failed is None:
        return f"{agents:,} characters live {kept}; nothing ended it at the fastest speed that was tried."
    done = len(failed.late) / max(len(failed.acts), 1)
    what = failed.limit(most_awake)
    return (
        f"{agents:,} characters live {kept}; what ends it first is {what} (at {failed.speed:g} times, where {done:.0%} "
        "of what was due was done)."
    )


def make(folder: Path, agents: int, memories: int, servers: scaling.Servers) -> None:
    """The characters in files, short-term memory full; existing ones are kept."""
    there = (scaling.settings_of(folder, servers).database).exists()
    scaling.live(folder, 1, memories, servers)
    if not there:
        with World(scaling.settings_of(folder, servers)) as world:
            agent = world.agent(scaling.name(0))
            some = [{"document": text, "rating": 1 + n % 10} for n, text in enumerate(texts(agent.settings.stm_size))]
            agent.add_short_term(some, rate=False)
            assert len(agent.entries(Tier.STM)) == agent.settings.stm_size
    scaling.live(folder, agents, memories, servers)


def main() -> None:
    """Make the characters, let them live, and print the tables and the sentence."""
    usual = Settings.model_fields
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--memories", type=int, default=200)
    parser.add_argument("--speed", type=float, default=20.0)
    parser.add_argument("--hours", type=float, default=24.0, help="of the world's day, at most; the busiest ones")
    parser.add_argument("--minutes", type=float, default=3.0, help="of real time, at the first speed")
    parser.add_argument("--awake", type=int, default=usual["awake"].default, help="how many may be open")
    parser.add_argument("--awake-mb", type=int, default=usual["awake_mb"].default)
    parser.add_argument("--threads", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--where", default="folder", choices=["folder", "journal"])
    parser.add_argument("--keep", type=Path, help="a folder to work in, and to leave")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="simulation-") as scratch:
        folder = asked.keep or Path(scratch)
        servers = scaling.Servers(store=IN_JOURNAL if asked.where == "journal" else "chroma")
        make(folder, asked.agents, asked.memories, servers)
        settings = scaling.settings_of(folder, servers)
        settings = settings.model_copy(update={"awake": asked.awake, "awake_mb": asked.awake_mb})
        with World(settings) as world:
            life = Life(world, asked.agents, asked.threads)
            life.prepare(asked.agents, asked.awake)
            print(
                f"{asked.agents:,} characters of {asked.memories:,} memories, {asked.awake:,} or {asked.awake_mb:,} MB "
                f"of them awake; {asked.threads} threads, {os.cpu_count()} cores; stores: {asked.where}",
                flush=True,
            )
            header()
            slices = faster(life, asked.speed, asked.minutes, asked.hours)
            for one in {one.speed: one for one in (slices[0], slices[-1])}.values():
                by_kind(one)
        print(f"\n{sentence(asked.agents, slices, asked.awake)}")


if __name__ == "__main__":
    main()
