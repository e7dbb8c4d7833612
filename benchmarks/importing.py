"""What importing the library costs, compared with importing the store that it keeps memories in.

    python -m benchmarks.importing [--rounds 5]

Each import is a process of its own that reports its processor time, without the interpreter's start; the rounds take
turns, so that a busy machine is busy for all of them. The last rows are the command line up to its help, and what was
imported at once before Chroma and HTTP were imported only when needed.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

IMPORTS = {
    "import chromadb": "import chromadb",
    "import memory_system": "import memory_system",
    "the command line": "import memory_system.__main__",
    "import memory_system, with Chroma and HTTP": "import memory_system, chromadb.api.fastapi, httpx",
}
NAMED = "import chromadb"


def spent(code: str) -> float:
    """Seconds of processor time that a fresh process needs for some code."""
    timed = f"import time; began = time.process_time()\n{code}\nprint(time.process_time() - began)"
    done = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Print a row for each import."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    for code in IMPORTS.values():
        spent(code)  # the first run reads from disk and compiles
    took: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(rounds):
        for name, code in IMPORTS.items():
            took[name].append(spent(code))
    named = statistics.median(took[NAMED])
    print(f"{'':44}{'processor':>10}   beside {NAMED!r}")
    for name, seconds in took.items():
        print(f"{name:44}{statistics.median(seconds):8.2f} s   {statistics.median(seconds) / named:.2f}")


if __name__ == "__main__":
    main()
