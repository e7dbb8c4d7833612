"""The HTTP API under load: queries and writes per second, and how long one takes, against the same calls in-process.

    python -m benchmarks.api [--memories 10000] [--seconds 5] [--alone] [--workers 2] [--waiting 20]

A server in a process of its own, with the dashboard open in a real browser unless ``--alone`` (or if there is no
Chromium), is asked through 1, 8 and 64 connections that are kept open. Cues are cached: twenty, each asked once before.
A write is durable when it is answered. "Of in-process" is the rate relative to that of one thread that calls
``AgentMemory`` in this process, on the same agent before the server starts. The client is Python too, and shares the
machine's cores.

Connections that ask again as soon as they are answered show the capacity; the last table shows the times at the
rates to reach: 500 queries a second, sent when they are due whatever happens to earlier ones, and timed from when they
were due; alone, and while 200 events a second arrive.

``--waiting 20`` measures something else instead: how long an event takes while eight others wait for a language
model that needs 20 seconds to rate each, compared with how long it takes when nobody waits.
"""

from __future__ import annotations

import argparse
import http.client
import http.server
import json
import math
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks.memory import texts
from memory_system import Settings, Tier, World
from tests.browser.conftest import ARGUMENTS

AGENT, CUES, BATCH = "bench", 20, 50
CONNECTIONS = (1, 8, 64)
OFFERED_QUERIES, OFFERED_EVENTS = 500, 200
"""The load per second that must be possible."""
SENDERS = 64
WAITING, MEASURED = 8, 40
"""How many events wait for the model, and how many are timed meanwhile."""
Body = Callable[[], bytes]


def fill(settings: Settings, memories: int) -> None:
    """An agent with this many memories, all but twenty of them long-term."""
    with World(settings) as world:
        agent = world.create_agent(AGENT)
        now = world.clock()
        events = [
            {"document": text, "rating": 1 + number % 10, "timestamp": now - timedelta(minutes=25 * number)}
            for number, text in enumerate(texts(memories))
        ]
        for start in range(0, memories, 1000):
            agent.add_short_term(events[start : start + 1000], rate=False)
        agent.migrate_stm2ltm(ids=[entry.id for entry in agent.entries(Tier.STM)[20:]])


def in_process(settings: Settings, seconds: float) -> dict[str, float]:
    """Rates of one thread that calls Python."""
    with World(settings) as world:
        agent = world.agent(AGENT)
        cues = texts(CUES)
        for cue in cues:
            agent.query_memory(cue)
        numbers = count()
        event: Callable[[], dict[str, Any]] = lambda: {"document": f"In {next(numbers)}.", "rating": 3}  # noqa: E731
        return {
            "query": _rate(lambda: agent.query_memory(cues[next(numbers) % CUES]), seconds),
            "write": _rate(lambda: agent.add_short_term(event(), rate=False), seconds),
            f"writes in batches of {BATCH}": BATCH
            * _rate(lambda: agent.add_short_term([event() for _ in range(BATCH)], rate=False), seconds),
        }


def _rate(act: Callable[[], object], seconds: float) -> float:
    done, started = 0, time.perf_counter()
    while (took := time.perf_counter() - started) < seconds:
        act()
        done += 1
    return done / took


@dataclass(frozen=True)
class Server:
    """The port and the process of a server."""

    port: int
    process: int

    def seconds(self) -> float:
        """The processor time that it and its workers have used; NaN if the system does not report it."""
        try:
            return sum(map(_seconds, _with_children(self.process)))
        except OSError:
            return math.nan


def _with_children(process: int) -> Iterator[int]:
    yield process
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        yield from _with_children(int(child))


def _seconds(process: int) -> float:
    told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(places: dict[str, str], module: list[str]) -> Iterator[Server]:
    """A server in a process of its own."""
    ports = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            ports.append(probe.getsockname()[1])
    environment = {**os.environ, **places, "MEMORY_API_PORT": str(ports[0]), "MEMORY_DASHBOARD_PORT": str(ports[1])}
    running = subprocess.Popen([sys.executable, "-m", *module], env=environment, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until and running.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", ports[0])) == 0:
                    break
            time.sleep(0.2)
        places["dashboard"] = f"http://127.0.0.1:{ports[1]}"
        yield Server(ports[0], running.pid)
    finally:
        running.terminate()
        running.wait(30)


@contextmanager
def looked_at(address: str) -> Iterator[None]:
    """The dashboard, open in a browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=list(ARGUMENTS))
        page = browser.new_page()
        page.goto(f"{address}/?agent={AGENT}")
        page.get_by_role("heading", level=1).first.wait_for(timeout=60_000)
        yield
        browser.close()


def _chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), "")


def load(port: int, path: str, body: Body, connections: int, seconds: float) -> tuple[float, list[float]]:
    """Requests per second, and the milliseconds of each.

    Raises:
        SystemExit: an answer was not 200.
    """
    took: list[float] = []
    wrong: list[str] = []
    started = time.perf_counter()

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while time.perf_counter() - started < seconds and not wrong:
            sent = body()
            begun = time.perf_counter()
            wrong.extend(refusals(connection, path, sent))
            took.append((time.perf_counter() - begun) * 1000)
        connection.close()

    side_by_side(ask, connections, wrong)
    return len(took) / (time.perf_counter() - started), took


def offer(port: int, path: str, body: Body, rate: float, seconds: float) -> list[float]:
    """Send so many requests a second, whatever happens to them; returns the milliseconds of each, from when it was due.

    Raises:
        SystemExit: an answer was not 200.
    """
    due = count()
    took: list[float] = []
    wrong: list[str] = []
    started = time.perf_counter()

    def send() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while (at := next(due) / rate) < seconds and not wrong:
            time.sleep(max(0.0, started + at - time.perf_counter()))
            wrong.extend(refusals(connection, path, body()))
            took.append((time.perf_counter() - started - at) * 1000)
        connection.close()

    side_by_side(send, SENDERS, wrong)
    return took


def refusals(connection: http.client.HTTPConnection, path: str, body: bytes) -> list[str]:
    """Send one request and read its answer; returns any answer other than 200."""
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    told = answer.read()
    return [] if answer.status == 200 else [f"{answer.status}: {told[:200]!r}"]


def side_by_side(work: Callable[[], None], count: int, wrong: list[str]) -> None:
    """Do it in so many threads, and end the benchmark if the server answered wrongly.

    Raises:
        SystemExit: ``wrong`` is not empty.
    """
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        sys.exit(f"The server answered {wrong[0]}")


def shares(took: list[float]) -> str:
    """The milliseconds that 50, 95 and 99 % did not exceed, as cells."""
    at = statistics.quantiles(took, n=100) if len(took) > 1 else took * 99
    return " | ".join(f"{at[share - 1]:.1f} ms" for share in (50, 95, 99))


def measure(server: Server, seconds: float, here: dict[str, float]) -> None:
    """Print a line for each kind of request and number of connections, and then for the rates to reach."""
    of, cues, numbers = f"/v1/agents/{AGENT}", texts(CUES), count()

    def query() -> bytes:
        return json.dumps({"cue": cues[next(numbers) % CUES]}).encode()

    def events(size: int) -> Body:
        def made() -> bytes:
            some = [{"document": f"Out {next(numbers)}.", "rating": 3} for _ in range(size)]
            return json.dumps({"events": some, "rate": False}).encode()

        return made

    kinds: list[tuple[str, str, Body, int]] = [
        ("query", f"{of}/query", query, 1),
        ("write", f"{of}/events", events(1), 1),
        (f"writes in batches of {BATCH}", f"{of}/events", events(BATCH), BATCH),
    ]
    load(server.port, f"{of}/query", query, 8, 2 + seconds / 2)  # opens the agent in each worker, and asks every cue
    offered(server, seconds, (f"{of}/query", query), (f"{of}/events", events(BATCH)))
    print("\n| what | connections | a second | 50 % | 95 % | 99 % | of in-process | server's CPU each |")
    print("|---|---|---|---|---|---|---|---|")
    for name, path, body, size in kinds:
        for connections in CONNECTIONS:
            before = server.seconds()
            rate, took = load(server.port, path, body, connections, seconds)
            each = (server.seconds() - before) * 1000 / len(took)
            print(
                f"| {name} | {connections} | {rate * size:,.0f} | {shares(took)} | {rate * size / here[name]:.2f} "
                f"| {each:.2f} ms |",
                flush=True,
            )


def offered(server: Server, seconds: float, query: tuple[str, Body], batch: tuple[str, Body]) -> None:
    """Print a line for the queries by themselves, and one for each kind while both come in."""
    print("| offered a second | 50 % | 95 % | 99 % | server's CPU |\n|---|---|---|---|---|")
    asked = partial(offer, server.port, *query, OFFERED_QUERIES, seconds)
    before, started = server.seconds(), time.perf_counter()
    took = asked()
    busy = (server.seconds() - before) / (time.perf_counter() - started)
    print(f"| {OFFERED_QUERIES} queries | {shares(took)} | {busy:.0%} of a core |", flush=True)
    before, started = server.seconds(), time.perf_counter()
    with ThreadPoolExecutor(2) as both:
        writes = both.submit(offer, server.port, *batch, OFFERED_EVENTS / BATCH, seconds)
        reads = both.submit(asked)
    busy = (server.seconds() - before) / (time.perf_counter() - started)
    print(f"| {OFFERED_QUERIES} queries, while events come in | {shares(reads.result())} | {busy:.0%} of a core |")
    print(f"| {OFFERED_EVENTS} events in batches of {BATCH}, meanwhile | {shares(writes.result())} | |", flush=True)


@contextmanager
def slow_model(seconds: float) -> Iterator[tuple[str, threading.Semaphore]]:
    """The address of a language model that takes this long per answer; and a semaphore it releases when asked."""
    asked, rating = threading.Semaphore(0), json.dumps({"explanation": "So so.", "rating": 5})
    message = {"role": "assistant", "content": rating}
    told = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}).encode()

    class Slow(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.release()
            time.sleep(seconds)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_told: object) -> None:
            """Say nothing."""

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    listening.daemon_threads = True
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.server_address[1]}/v1", asked
    finally:
        listening.shutdown()


def beside_waiting(port: int, asked: threading.Semaphore) -> None:
    """Print how long an event takes when nobody waits, while eight wait for the model, and how these compare."""
    path, numbers = f"/v1/agents/{AGENT}/events", count()

    def event(**more: Any) -> bytes:
        return json.dumps({"events": [{"document": f"It is event {next(numbers)}."}], **more}).encode()

    def timed() -> list[float]:
        connection, took = http.client.HTTPConnection("127.0.0.1", port, timeout=60), []
        for _ in range(MEASURED):
            begun, wrong = time.perf_counter(), refusals(connection, path, event())
            took.append((time.perf_counter() - begun) * 1000)
            if wrong:
                sys.exit(f"The server answered {wrong[0]}")
        return took

    timed()
    idle = timed()
    with ThreadPoolExecutor(WAITING) as pool:
        begun = time.perf_counter()
        send = lambda: refusals(http.client.HTTPConnection("127.0.0.1", port), path, event(wait=True))  # noqa: E731
        waiting = [pool.submit(send) for _ in range(WAITING)]
        for _ in range(WAITING):
            asked.acquire()
        beside = timed()
        if any(one.done() for one in waiting):
            sys.exit("The model answered before all was measured; let it take longer.")
        wrong = [refusal for one in waiting for refusal in one.result()]
        took = time.perf_counter() - begun
    if wrong:
        sys.exit(f"The server answered {wrong[0]}")
    print("| an event | 50 % | 95 % | 99 % |\n|---|---|---|---|")
    print(f"| while nobody waits | {shares(idle)} |\n| beside {WAITING} that wait {took:.0f} s | {shares(beside)} |")
    print(f"Ratio of the medians: {statistics.median(beside) / statistics.median(idle):.2f}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--alone", action="store_true", help="without the dashboard")
    parser.add_argument("--workers", type=int, default=1, help="processes of the server; with more than one, --alone")
    parser.add_argument("--waiting", type=float, metavar="SECONDS", help="beside events that wait for a slow model")
    asked = parser.parse_args()
    alone = asked.alone or asked.workers > 1 or not _chromium()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        settings = Settings(database=root / "database", personalities=root / "personalities", llm="offline")
        fill(settings, asked.memories)
        places = {
            "MEMORY_DATABASE": str(settings.database),
            "MEMORY_PERSONALITIES": str(settings.personalities),
            "MEMORY_LLM": "offline",
        }
        if asked.waiting:
            with slow_model(asked.waiting) as (model, calls):
                places |= {"MEMORY_LLM": "openai", "OPENAI_BASE_URL": model, "MEMORY_LLM_DEADLINE": "600"}
                with server(places, ["memory_system", "serve"]) as started:
                    beside_waiting(started.port, calls)
            return
        here = in_process(settings, asked.seconds)
        print(f"{asked.memories:,} memories; the dashboard is {'not ' if alone else ''}open; {os.cpu_count()} cores")
        print("In-process, one thread: " + ", ".join(f"{name} {rate:,.0f} a second" for name, rate in here.items()))
        several = ["--workers", str(asked.workers)] if asked.workers > 1 else []
        module = ["memory_system", "serve", *several] if alone else ["dashboard.serve"]
        with server(places, module) as started, nullcontext() if alone else looked_at(places["dashboard"]):
            measure(started, asked.seconds, here)


if __name__ == "__main__":
    main()
