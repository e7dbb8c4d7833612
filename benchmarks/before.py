"""Recall beside an earlier version of the project: the processor time of the same queries, in turns.

    git worktree add --detach ../before COMMIT
    python -m benchmarks.before ../before [--sizes 10000 100000] [--rounds 15]

A process for each checkout holds the same synthetic memories (``peers/corpus.py``) and is asked in turns, so that noise
hits both alike; processor time, since a busy machine stretches the clock. ``answer`` is ``rank.answer`` with the vector
given, ``query_memory`` all of it with its journal and touches, both by the classic score, which both versions have.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

KINDS = {"answer": "Recall", "query_memory": "Agent"}
CUES = 10
"""Asked a round."""
ROOT = Path(__file__).resolve().parents[1]


def serve(kind: str, size: int) -> None:
    """Hold memories, and answer each line with the processor time of a round, in milliseconds a query."""
    from benchmarks.peers import corpus, ours

    held = corpus.made(size, CUES + 1)
    with tempfile.TemporaryDirectory() as folder:
        peer = getattr(ours, KINDS[kind])(held, Path(folder), corpus.Budget(1e9))
        peer.ask(CUES)
        print("ready", flush=True)
        for _line in sys.stdin:
            started = time.process_time()
            for cue in range(CUES):
                peer.ask(cue)
            print(1000 * (time.process_time() - started) / CUES, flush=True)
        peer.close()


def started(checkout: Path, kind: str, size: int) -> subprocess.Popen[str]:
    """A process that serves the code of a checkout, ready to be asked."""
    command = [sys.executable, "-P", str(Path(__file__).resolve()), "--serve", kind, str(size)]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    serving = subprocess.Popen(
        command, cwd=checkout, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert serving.stdout is not None
    if serving.stdout.readline().strip() != "ready":
        sys.exit(f"{checkout} did not start.")
    return serving


def took(serving: subprocess.Popen[str]) -> float:
    """Milliseconds of processor time a query, of one round."""
    assert serving.stdin is not None
    assert serving.stdout is not None
    print(file=serving.stdin, flush=True)
    return float(serving.stdout.readline())


def ended(serving: subprocess.Popen[str]) -> None:
    """Let a process end by itself, which it does once nobody can ask any more."""
    assert serving.stdin is not None
    serving.stdin.close()
    serving.wait()


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout of the earlier version")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    print("| what | memories | before, ms | now, ms | ratio |\n|---|---:|---:|---:|---:|")
    for size in given.sizes:
        for kind in given.kinds:
            with ExitStack() as stack:
                both = [stack.enter_context(started(one, kind, size)) for one in (given.before.resolve(), ROOT)]
                rounds = [[took(one) for one in both] for _ in range(given.rounds)]
                for one in both:
                    ended(one)
            before, now = (statistics.median(times) for times in zip(*rounds, strict=True))
            print(f"| {kind} | {size:,} | {before:.2f} | {now:.2f} | {now / before:.2f} |", flush=True)


if __name__ == "__main__":
    main()
