"""Killed with SIGKILL at every step of a change, and at random: nothing acknowledged is lost, nothing half or twice."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from memory_system import Tier, World
from memory_system.embedding.embedder import CachedEmbedder
from tests.conftest import PERSONALITY
from tests.faults.conftest import Counted
from tests.faults.survivor import (
    EDITED,
    STEPS,
    Survivor,
    kill,
    killed_at,
    lose_store,
    settings_of,
    start,
    told_by,
)

SHORT = {("add", 1), ("edit", 2), ("reflect", 3), ("summarise", 4), ("undo", 0), ("personality", 3)}
"""Beside all of migrate, the steps at which each operation is killed in the short round; in the long one at all."""
pytestmark = pytest.mark.usefixtures("each_journal")
SAVED = json.dumps(PERSONALITY | {"facts": ["The heron is a rumour."]})
ORDERS: dict[str, dict[str, Any]] = {
    "add": {},
    "edit": {"id": EDITED},
    "migrate": {},
    "reflect": {},
    "summarise": {"k": 5},
    "undo": {},
    "personality": {"text": SAVED},
}
CASES = [
    pytest.param(
        operation,
        step,
        id=f"{operation} {step}",
        marks=() if operation == "migrate" or (operation, number) in SHORT else pytest.mark.long,
    )
    for operation in ORDERS
    for number, step in enumerate(STEPS)
]


@pytest.mark.parametrize(("operation", "step"), CASES)
def test_a_change_killed_at_a_step_is_whole_or_not_at_all(
    root: Path, before: Survivor, embedder: CachedEmbedder, counted: Counted, operation: str, step: str
) -> None:
    told = killed_at(root, step, operation=operation, **ORDERS[operation])
    assert told == [{"open": True}], "nothing was acknowledged"
    after = Survivor(root, embedder)
    counted(f"kill -9 at a step of {operation}", **after.counts)
    if STEPS[step]:
        assert len(after.history) == len(before.history) + 1
        _check[operation](before, after)
    else:
        assert (after.tiers, after.history, after.file) == (before.tiers, before.history, before.file)
        assert after.messages == ()
    assert after.personality == after.file
    assert after.accesses.items() >= before.accesses.items() or operation in ("migrate", "edit")
    assert after.messages == (), "what was committed is finished, of which nothing needs to be said"
    assert Survivor(root, embedder).messages == (), "the second opening finds all in order"


def _added(before: Survivor, after: Survivor) -> None:
    assert after.ids - before.ids == {"late-0", "late-1", "late-2"}


def _edited(before: Survivor, after: Survivor) -> None:
    assert json.loads(str(after.tiers[Tier.STM][EDITED]))["document"] == "Edited."
    assert after.ids == before.ids


def _migrated(before: Survivor, after: Survivor) -> None:
    moved, forgotten = after.last.of("move"), after.last.of("forget")
    assert (len(before.tiers[Tier.STM]), len(after.tiers[Tier.STM]), len(moved) + len(forgotten)) == (30, 20, 10)
    assert len(after.tiers[Tier.LTM]) == len(before.tiers[Tier.LTM]) + len(moved)


def _reflected(before: Survivor, after: Survivor) -> None:
    made = after.last.of("add")
    assert made
    assert after.ids - before.ids == {change.entry_id for change in made}
    assert all(set(change.after.evidence) <= before.ids for change in made if change.after)


def _summarised(before: Survivor, after: Survivor) -> None:
    forgotten = {change.entry_id for change in after.last.of("forget")}
    (summary,) = after.last.of("add")
    assert (len(forgotten), before.ids - after.ids) == (5, forgotten)
    assert after.ids - before.ids == {summary.entry_id}


def _undone(before: Survivor, after: Survivor) -> None:
    assert after.ids - before.ids == {"m0", "m1", "m2"}


def _saved(_: Survivor, after: Survivor) -> None:
    assert after.personality == after.file == SAVED
    assert any("The heron is a rumour." in str(body) for body in after.tiers[Tier.STATIC].values())


_check = {
    "add": _added,
    "edit": _edited,
    "migrate": _migrated,
    "reflect": _reflected,
    "summarise": _summarised,
    "undo": _undone,
    "personality": _saved,
}


def test_a_save_killed_before_the_file_is_written_is_finished(
    root: Path, before: Survivor, embedder: CachedEmbedder, counted: Counted
) -> None:
    killed_at(root, "before the personality file is written", operation="personality", text=SAVED)
    after = Survivor(root, embedder)
    counted("kill -9 at a step of personality", **after.counts)
    _saved(before, after)


# -- at random -----------------------------------------------------------------------------------------

ROUNDS = [pytest.param(seed, 4 if not seed else 12, marks=pytest.mark.long if seed else ()) for seed in range(9)]


@pytest.mark.parametrize(("seed", "kills"), ROUNDS)
def test_kills_at_random_moments_lose_nothing_acknowledged(
    root: Path, embedder: CachedEmbedder, counted: Counted, seed: int, kills: int
) -> None:
    moments = random.Random(1729 + seed)
    acknowledged: list[dict[str, Any]] = []
    for number in range(kills):
        child = start(root, operation="endlessly", name=f"life-{seed}-{number}")
        try:
            assert told_by(child) == {"open": True}
            time.sleep(moments.uniform(0.02, 1.0))
        finally:
            told = kill(child)
        acknowledged += told
        survivor = Survivor(root, embedder)
        missing = survivor.missing(one.get("revision") for one in acknowledged)
        changes = sum(one.get("revision") is not None for one in told)
        counted("kill -9 at random", acknowledged=changes, **survivor.counts)
        assert missing == set()
        assert survivor.personality == survivor.file
    assert len({one.get("kind") for one in acknowledged}) > 1, "changes of more than one kind were under way"


@pytest.mark.parametrize("number", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 6))])
def test_kills_while_it_is_repaired_lose_nothing(
    root: Path, before: Survivor, embedder: CachedEmbedder, counted: Counted, number: int
) -> None:
    moments = random.Random(number)
    killed_at(root, "after the commit, before the upsert", operation="migrate")
    lose_store(root / "database/mem_test/mira/chroma")
    for _ in range(3):
        child = start(root, operation="ask", cue="key", **{"tell opening": True})
        try:
            assert told_by(child) == {"opening": True}
            time.sleep(moments.uniform(0.0, 0.4))
        finally:
            kill(child)
    after = Survivor(root, embedder)
    counted("kill -9 while it is opened and repaired", 3, **after.counts)
    _migrated(before, after)
    assert Survivor(root, embedder).messages == ()


@pytest.mark.parametrize("step", ["while vectors are made anew", "while the store is made anew"])
def test_reembedding_that_is_killed_goes_on_where_it_was(
    root: Path, before: Survivor, embedder: CachedEmbedder, counted: Counted, step: str
) -> None:
    with World(settings_of(root), embedder=embedder) as world:  # more than are changed over by themselves
        many = [{"document": f"A day like any other, the {n}.", "rating": 1, "id": f"d{n}"} for n in range(520)]
        world.agent("mira").add_short_term(many)
    killed_at(root, step, operation="reembed", **{"another model": True})
    child = start(root, operation="reembed", **{"another model": True})
    out, problems = child.communicate()
    assert child.returncode == 0, problems
    embedded = json.loads(out.splitlines()[-1])["embedded"]
    held = len(before.ids) + 520
    assert embedded < held - 40 if "vectors" in step else embedded == 0, "what was done stayed done"
    after = Survivor(root, embedder)
    counted("kill -9 while re-embedding", **after.counts)
    assert len(after.ids) == held
