"""Who knows what: how fast the judge is against a plain query of each character, and how right on a separate cast.

    python -m benchmarks.knows

The world has 100 characters, copies of the six of the sample world, so that 100 characters have some 9,000 memories.
``--cast`` reads the casts in ``tests/data``, whose labels were written after the rules and before the judge saw them.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from memory_system import Settings, World
from memory_system.maintenance.samples import fill_world, prepare_recall
from memory_system.world.knows import Sort, StoryTest, Verdict

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "database" / "samples" / "harrow_quay"
CASTS = tuple(ROOT / "tests" / "data" / f"knows_{which}_cast.yaml" for which in ("second", "third"))
FACTS = (
    "Juno stole the mill key from Tobias's coat.",
    "Harrow light was dark for eleven minutes on the night of the fog.",
    "Brandreth's elbow broke the blue jug.",
    "Edda dropped the mill key into the alms box.",
)
WORDS = {"knows": Verdict.KNOWS, "half": Verdict.HALF, "wrong": Verdict.WRONG, "unaware": Verdict.UNAWARE}
CHARACTERS, TESTS = 100, 200


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """Seconds of processor time, the median of a few runs after a warm-up."""
    work()
    taken = []
    for _ in range(times):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return statistics.median(taken)


def speed(folder: Path, characters: int) -> None:
    """Compare one fact asked of many characters with a query of each, and run 200 tests on the six."""
    shutil.copytree(ROOT / "agent_personalities", folder / "personalities")
    settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
    with World(settings) as world:
        fill_world(world, SAMPLES)
        prepare_recall(world)
        six = world.characters()
        tests = [
            StoryTest(f"{number}", Sort.KNOWS, FACTS[number % len(FACTS)], six[number % len(six)])
            for number in range(TESTS)
        ]
        took = seconds(lambda: world.run_tests(tests), 1)
        print(f"{TESTS} tests on {len(six)} characters: {took:.2f} s")
        for number in range(characters - len(six)):
            world.duplicate_agent(six[number % len(six)], f"copy{number:03}")
        for name in world.characters():
            world.agent(name)
        for fact in FACTS:
            ours = seconds(lambda fact=fact: world.who_knows(fact, ask_model=False))  # type: ignore[misc]
            theirs = seconds(lambda fact=fact: _queried(world, fact))  # type: ignore[misc]
            count = len(world.characters())
            beside = f"query_memory {theirs:.2f} s, ratio {ours / theirs:.2f}"
            print(f"{count} characters {ours:.2f} s; {beside}: {fact}")
        cast_together(world)


def cast_together(world: World) -> None:
    """Time other questions that the world's pages ask of all characters at once."""
    memories = len(world.chart().points)
    looks: dict[str, Callable[[], object]] = {
        "how a fact spread": lambda: world.spread(FACTS[0], ask_model=False),
        "who trusts whom": world.bonds,
        "who is where": world.whereabouts,
        f"a map of {memories:,} memories": world.chart,
    }
    for what, look in looks.items():
        print(f"{what}, {len(world.characters())} characters: {seconds(look, 1):.2f} s")


def _queried(world: World, fact: str) -> None:
    for name in world.characters():
        world.agent(name).query_memory(fact, touch=False)


def cast(folder: Path, file: Path) -> None:
    """Print how many labels of another cast the rules match."""
    told: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
    with World(settings) as world:
        world.stand_at(datetime.fromisoformat(str(told["now"])))
        for name, called in told["cast"].items():
            events = [
                {"id": one["id"], "document": one["text"], "timestamp": one["at"], "rating": 5}
                for one in told["memories"][name]
            ]
            world.create_agent(name, {"identity": {"name": called}}).add_short_term(events)
        right = said = there = exact = total = 0
        missed: Counter[str] = Counter()
        for one in told["facts"]:
            for cell in world.who_knows(one["fact"], list(one["cells"]), ask_model=False):
                wanted = WORDS[one["cells"][cell.agent]]
                hit = cell.verdict is wanted
                total, exact = total + 1, exact + hit
                right += hit and wanted is not Verdict.UNAWARE
                said += cell.verdict is not Verdict.UNAWARE
                there += wanted is not Verdict.UNAWARE
                if not hit:
                    missed[f"{wanted} as {cell.verdict}"] += 1
                    print(
                        f"  {cell.agent}: {wanted}, judged {cell.verdict} by {cell.memory or 'nothing'}: {one['fact']}"
                    )
        shares = f"precision {right / said:.2f}, recall {right / there:.2f}"
        print(f"{file.stem}: {exact} of {total} cells; {shares}; {dict(missed)}")


def main() -> None:
    """Run the requested parts."""
    parser = argparse.ArgumentParser(description="Who knows what: speed, and a second cast.")
    parser.add_argument("--cast", action="store_true", help="only the other casts")
    parser.add_argument("--characters", type=int, default=CHARACTERS, help="how many there are")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for file in CASTS:
            cast(Path(scratch) / file.stem, file)
        if not told.cast:
            speed(Path(scratch) / "speed", told.characters)


if __name__ == "__main__":
    main()
