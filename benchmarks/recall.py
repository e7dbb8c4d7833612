"""Recall compared with other systems' retrieval, from 1,000 to 1,000,000 memories: medians, ratios, and who is right.

    python -m benchmarks.recall [--sizes 1000 10000 100000] [--peers langchain-faiss mem0] [--queries 50] [--json FILE]

All systems run in one process with one thread for matrices, on the same precomputed vectors (``peers/corpus.py``), and
are asked in turns of ``--run`` cues each, so that noise affects all alike and each is measured as in use: with the
processor's caches to itself, not as another system left them. (With ``--run 1`` every query finds them cold.) The peers
are installed into their own environment (``.venv-peers``) on first use. "Of the exact answer" is how much of the true
top 5 by the classic score, computed plainly in float64, each returns.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.peers import environment

LEAST = 3
"""How often a system is asked even if its budget for queries is spent."""
PACKAGES = (
    "numpy",
    "chromadb",
    "langchain-classic",
    "langchain-community",
    "langchain-chroma",
    "faiss-cpu",
    "mem0ai",
    "gdm-concordia",
    "pandas",
    "simsimd",
    "onnxruntime",
)


@dataclass
class Line:
    """The measurements of one system at one size; times in milliseconds."""

    system: str
    label: str
    ranks: str
    memories: int
    filled: float = 0.0
    """The time to fill it, in seconds."""
    times: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    """The share of the exact answer, 0 to 1, per query; empty if nothing is ranked."""
    target: float | None = None
    note: str = ""
    """Why it was not measured, in words."""

    @property
    def median(self) -> float:
        """The time that half of the queries stayed below."""
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        """The time that 19 of 20 queries did not exceed."""
        return sorted(self.times)[min(len(self.times) - 1, int(0.95 * len(self.times)))]

    def markdown(self, ours: float) -> str:
        """A row of the table; ``ours`` is the median to which ratios are given."""
        if self.note:
            return f"| {self.label} | {self.ranks} | | | | | {self.note} |"
        ratio = self.median / ours
        wanted = ""
        if self.target is not None:
            wanted = number(self.target) + (" (missed)" if ratio < self.target else "")
        right = f"{100 * statistics.mean(self.shares):.0f} %" if self.shares else ""
        times = f"{number(self.median)} | {number(self.p95)} | {number(ratio)} | {wanted}"
        return f"| {self.label} | {self.ranks} | {times} | {right} |"


HEAD = (
    "| system | ranks by | median ms | p95 ms | times ours | at least | of the exact answer |\n"
    "|---|---|---:|---:|---:|---:|---:|"
)


def number(value: float) -> str:
    """Three digits or more, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class Limits:
    """Seconds that a system may take: for filling, and for its queries."""

    filling: float
    asking: float


def compare(count: int, names: Sequence[str], queries: int, limits: Limits, folder: Path, run: int = 10) -> list[Line]:
    """Fill the systems one after the other, then ask them in turns, each ``run`` cues in a row."""
    from benchmarks.peers import base, corpus

    held = corpus.made(count, queries + 1)  # the last cue is for warming up
    right = corpus.exact(held)
    lines, peers = [], []
    for system in base.SYSTEMS:
        if system.name not in names:
            continue
        line = Line(system.name, system.label, system.ranks, count, target=dict(system.targets).get(count))
        lines.append(line)
        if system.most is not None and count > system.most[0]:
            line.note = f"skipped: {system.most[1]}"
            continue
        started = time.perf_counter()
        try:
            peer = system.made(held, folder / system.name, corpus.Budget(limits.filling))
        except corpus.TooSlow as late:
            line.note = str(late)
            continue
        line.filled = time.perf_counter() - started
        print(f"  {system.label}: {count:,} memories in {line.filled:.1f} s", file=sys.stderr, flush=True)
        peers.append((line, peer))
    warnings.simplefilter("ignore")  # warnings of the peers' libraries about each other; only now, since some undo it
    gc.collect()
    gc.freeze()  # else garbage collection would go through millions of the peers' objects during a query
    try:
        for _, peer in peers:
            peer.rows(queries, peer.ask(queries))
        for turn, start in enumerate(range(0, queries, run)):
            for line, peer in peers[turn % len(peers) :] + peers[: turn % len(peers)]:
                for cue in range(start, min(start + run, queries)):
                    if len(line.times) < LEAST or sum(line.times) < 1000 * limits.asking:
                        once(line, peer, cue, right[cue])
    finally:
        for _, peer in peers:
            peer.close()
        gc.unfreeze()
    return lines


def once(line: Line, peer: Any, turn: int, right: Sequence[int]) -> None:
    """Ask one system one cue."""
    from benchmarks.peers.corpus import share

    started = time.perf_counter()
    answer = peer.ask(turn)
    line.times.append((time.perf_counter() - started) * 1000)
    found = peer.rows(turn, answer)
    if found is not None:
        line.shares.append(share(found, right))


def versions() -> dict[str, str]:
    """The versions of what is compared, and of what it is based on."""
    known = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            known[name] = "absent"
    return known


def asked_for(arguments: Sequence[str]) -> argparse.Namespace:
    """The options; needs no package, so that ``--help`` installs nothing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=str(__doc__).splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000], help="numbers of memories")
    parser.add_argument("--peers", nargs="*", help="systems by name; all if not given, 'ours' always")
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--run", type=int, default=10, help="cues that a system is asked in a row before the next one")
    parser.add_argument("--fill", type=float, default=240.0, help="seconds that filling one system may take")
    parser.add_argument("--ask", type=float, default=60.0, help="seconds that one system's queries may take")
    parser.add_argument("--embeddings", type=int, default=20, help="rounds of the comparison of embedders; 0 = none")
    parser.add_argument("--json", type=Path, help="a file for all that was measured")
    return parser.parse_args(arguments)


def main() -> None:
    """Measure and print."""
    arguments = sys.argv[1:]
    asked = asked_for(arguments)
    if not environment.inside():
        environment.enter("benchmarks.recall", arguments)
    from benchmarks.peers import base, embedding

    known = [system.name for system in base.SYSTEMS]
    names = [base.OURS.name, *(known if asked.peers is None else asked.peers)]
    if unknown := sorted(set(names) - set(known)):
        sys.exit(f"There is no system {unknown[0]!r}; there are {', '.join(known)}.")
    measured: list[Line] = []
    took: dict[str, list[float]] = {}
    print(", ".join(f"{name} {number}" for name, number in versions().items()))
    with tempfile.TemporaryDirectory() as scratch:
        for count in asked.sizes:
            folder = Path(scratch) / str(count)
            lines = compare(count, names, asked.queries, Limits(asked.fill, asked.ask), folder, max(1, asked.run))
            ours = next(line.median for line in lines if line.system == base.OURS.name)
            print(f"\n## {count:,} memories\n\n{HEAD}", flush=True)
            for line in lines:
                print(line.markdown(ours), flush=True)
            measured += lines
            shutil.rmtree(folder, ignore_errors=True)
        if asked.embeddings:
            took = embedding.measured(Path(scratch) / "model", asked.embeddings)
            print("\n## Embedding\n\n" + "\n".join(embedding.table(took)))
    if asked.json:
        body = {"versions": versions(), "lines": [asdict(line) for line in measured], "embedding": took}
        asked.json.write_text(json.dumps(body, indent=1))


if __name__ == "__main__":
    main()
