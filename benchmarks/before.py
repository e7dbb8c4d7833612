"""Recall and the API compared with an earlier version of the project: processor time of the same requests, in turns.

    git worktree add --detach ../before COMMIT
    python -m benchmarks.before ../before [--sizes 10000 100000] [--rounds 15] [--starts 5] [--filled FOLDER]

A process for each checkout holds the same synthetic memories (``peers/corpus.py``) and is asked in turns, so that noise
affects both alike; processor time, since a busy machine stretches the clock. Where a process's memory happens to be
changes its times by up to a fifth, so each is started several times, and the median counts.

``answer`` is ``rank.answer`` with the vector given, ``query_memory`` all of it with its journal and touches, both with
the classic score, which both versions have. ``HTTP query`` and ``HTTP event`` (one event per request) are the processor
time of a server (``serve``, offline) with its defaults; its data can be kept in a folder, which each start copies,
since filling 100,000 takes half an hour.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

KINDS = {"answer": "Recall", "query_memory": "Agent"}
OVER_HTTP = {"HTTP query": "query", "HTTP event": "events"}
CUES = 10
"""How many cues are asked per round."""
ROOT = Path(__file__).resolve().parents[1]


def serve(kind: str, size: int, filled: Path | None) -> None:
    """Hold memories, and answer each line with the processor time of a round, in milliseconds per request."""
    with over_http(kind, size, filled) if kind in OVER_HTTP else in_process(kind, size) as (ask, clock):
        for cue in range(CUES):
            ask(cue)
        print("ready", flush=True)
        for _line in sys.stdin:
            started = clock()
            for cue in range(CUES):
                ask(cue)
            print(1000 * (clock() - started) / CUES, flush=True)


@contextmanager
def in_process(kind: str, size: int) -> Iterator[tuple[Callable[[int], object], Callable[[], float]]]:
    """Functions that ask a cue in this process, and that return its processor time in seconds."""
    from benchmarks.peers import corpus, ours

    held = corpus.made(size, CUES)
    with tempfile.TemporaryDirectory() as folder:
        peer = getattr(ours, KINDS[kind])(held, Path(folder), corpus.Budget(1e9))
        yield peer.ask, time.process_time
        peer.close()


@contextmanager
def over_http(
    kind: str, size: int, filled: Path | None
) -> Iterator[tuple[Callable[[int], object], Callable[[], float]]]:
    """Functions that send a server a cue or an event, over one connection per round, and return its processor time."""
    from benchmarks import api
    from benchmarks.memory import texts

    with tempfile.TemporaryDirectory() as folder:
        if filled is None:
            fill(Path(folder), size)
        else:
            if not filled.exists():
                unfinished = filled.with_name(f"{filled.name}.part")
                shutil.rmtree(unfinished, ignore_errors=True)
                fill(unfinished, size)
                unfinished.rename(filled)
            shutil.copytree(filled, folder, dirs_exist_ok=True)
        places = {"MEMORY_DATABASE": f"{folder}/database", "MEMORY_PERSONALITIES": f"{folder}/people"}
        with api.server(places | {"MEMORY_LLM": "offline"}, ["memory_system", "serve"]) as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            cues, numbers = texts(CUES), count()
            bodies: dict[str, Callable[[int], Any]] = {
                "query": lambda cue: {"cue": cues[cue]},
                "events": lambda _: {"events": [{"document": f"Out {next(numbers)}.", "rating": 3}], "rate": False},
            }
            path, body = OVER_HTTP[kind], bodies[OVER_HTTP[kind]]

            def ask(cue: int) -> None:
                if cue == 0:  # a new one for each round: a server closes idle ones
                    connection.close()
                told = json.dumps(body(cue)).encode()
                connection.request("POST", f"/v1/agents/{api.AGENT}/{path}", told, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                read = answer.read()
                if answer.status != 200:
                    sys.exit(f"The server answered {answer.status}: {read[:200]!r}")

            clock = ~server.process << 3 | 2  # Linux: the number of a process's own clock (clock_getcpuclockid)
            yield ask, lambda: time.clock_gettime(clock)


def fill(folder: Path, size: int) -> None:
    """A world of one agent, made by the code of this process's checkout."""
    from benchmarks import api
    from memory_system import Settings

    api.fill(Settings(database=folder / "database", personalities=folder / "people", llm="offline"), size)


def started(checkout: Path, kind: str, size: int, filled: Path | None = None) -> subprocess.Popen[str]:
    """A process that serves the code of a checkout, ready to be asked."""
    command = [sys.executable, "-P", str(Path(__file__).resolve()), "--serve", kind, str(size)]
    if filled is not None:
        asked = ["git", "rev-parse", "--short", "HEAD"]
        commit = subprocess.check_output(asked, cwd=checkout, text=True).strip()
        command.append(str(filled.resolve() / f"{commit}-{size}"))
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    serving = subprocess.Popen(
        command, cwd=checkout, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert serving.stdout is not None
    if serving.stdout.readline().strip() != "ready":
        sys.exit(f"{checkout} did not start.")
    return serving


def took(serving: subprocess.Popen[str]) -> float:
    """Milliseconds of processor time per request in one round."""
    assert serving.stdin is not None
    assert serving.stdout is not None
    print(file=serving.stdin, flush=True)
    return float(serving.stdout.readline())


def ended(serving: subprocess.Popen[str]) -> None:
    """Let a process end by itself, as it does once its input is closed."""
    assert serving.stdin is not None
    serving.stdin.close()
    serving.wait()


def beside(before: Path, kind: str, size: int, rounds: int, filled: Path | None) -> tuple[float, float]:
    """Milliseconds of processor time per request before and now, of two processes asked in turns."""
    with ExitStack() as stack:
        both = [stack.enter_context(started(one, kind, size, filled)) for one in (before, ROOT)]
        times = [[took(one) for one in both] for _ in range(rounds)]
        for one in both:
            ended(one)
    earlier, now = (statistics.median(one) for one in zip(*times, strict=True))
    return earlier, now


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]) if sys.argv[4:] else None)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout of the earlier version")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS, *OVER_HTTP], default=list(KINDS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--filled", type=Path, help="where the databases of the servers are kept between runs")
    given = parser.parse_args()
    if given.filled is not None:
        given.filled.mkdir(parents=True, exist_ok=True)
    print("| what | memories | before, ms | now, ms | ratio |\n|---|---:|---:|---:|---:|")
    for size in given.sizes:
        for kind in given.kinds:
            middles = [
                beside(given.before.resolve(), kind, size, given.rounds, given.filled) for _ in range(given.starts)
            ]
            before, now = (statistics.median(times) for times in zip(*middles, strict=True))
            ratios = sorted(after / earlier for earlier, after in middles)
            print(
                f"| {kind} | {size:,} | {before:.2f} | {now:.2f} | {statistics.median(ratios):.2f} "
                f"({ratios[0]:.2f} to {ratios[-1]:.2f}) |",
                flush=True,
            )


if __name__ == "__main__":
    main()
