"""A conversation's synopsis and its turns are one answer: the synopsis takes no seat while a turn passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memory_system import Facets, MemoryEntry, Query, Recall, Scoring, Seats, Tier, Verdict, Weights
from memory_system.recall.rank import FEW, answer
from memory_system.recall.table import Table
from tests.conftest import NOW

CUE = np.array([1, 0, 0], np.float32)
FULL, HALF, THIRD = [1, 0, 0], [0, 0, 0], [0, 1, 0]
RANKING = Scoring(Weights(0, 0, 1), seats=Seats.RANKING)


def tables_of(*rows: tuple[Tier, str, list[int], tuple[str, ...]], **each: Any) -> dict[Tier, Table]:
    """Tables of (tier, id, vector, turns), and what each is besides: a synopsis where there are turns."""
    tables = {tier: Table() for tier in Tier}
    for tier, name, vector, turns in rows:
        tags = ("synopsis",) if turns else ()
        entry = MemoryEntry(f"y {name}", id=name, tier=tier, tags=tags, evidence=turns, **each)
        tables[tier].put(entry, np.array(vector, np.float32))
    return tables


def ask(tables: dict[Tier, Table], scoring: Scoring = RANKING, **parameters: object) -> Recall:
    """The whole answer; the quick one is the same."""
    query = Query("cue", NOW, scoring=scoring, **{"threshold": 0.1, **parameters})  # type: ignore[arg-type]
    quick, whole = (answer(query, CUE, tables, "Mira", explain=explain) for explain in (False, True))
    assert quick.hits == whole.hits
    return whole


def ids(recall: Recall) -> list[str]:
    return [hit.entry.id for hit in recall]


def test_a_synopsis_takes_no_seat_where_a_turn_of_it_passes() -> None:
    told = tables_of(
        (Tier.LTM, "turn", HALF, ()), (Tier.STM, "sum", FULL, ("turn", "gone")), (Tier.LTM, "other", THIRD, ())
    )
    found = ask(told, top_k=2)
    assert ids(found) == ["turn", "other"]
    one = next(one for one in found.candidates if one.entry.id == "sum")
    assert (one.verdict, one.because) == (
        Verdict.BEHIND_TURNS,
        "It is a synopsis, and a turn of its talk passes too: the two do not compete for seats.",
    )
    assert ids(ask(told, top_k=5)) == ["turn", "other"]  # nor is a seat that is free for what is told already
    assert ids(ask(told, top_k=5, requery=2)) == ["turn", "other"]


def test_a_synopsis_of_which_no_turn_can_be_found_or_passes_has_its_seat() -> None:
    told = tables_of((Tier.LTM, "sum", HALF, ("turn",)), (Tier.STM, "turn", THIRD, ()))
    assert ids(ask(told)) == ["turn"]
    assert ids(ask(told, threshold=0.4)) == ["sum"]
    assert ids(ask(told, facets=Facets(without=("turn",)))) == ["sum"]
    assert ids(ask(tables_of((Tier.LTM, "sum", HALF, ("turn",))))) == ["sum"]


def test_the_cascade_is_to_the_letter_what_it_was() -> None:
    told = tables_of((Tier.LTM, "turn", FULL, ()), (Tier.STM, "sum", HALF, ("turn",)))
    assert ids(ask(told, Scoring(Weights(0, 0, 1)))) == ["sum", "turn"]


@pytest.mark.parametrize("rows", [60, FEW + 400])
@pytest.mark.parametrize("top_k", [1, 5, 40])
def test_of_many_it_is_the_full_computation(rows: int, top_k: int) -> None:
    rng = np.random.default_rng(rows + top_k)
    tables = {tier: Table() for tier in Tier}
    turns: dict[str, tuple[str, ...]] = {}
    for number in range(rows):
        name, tier = f"{number:04}", (Tier.LTM, Tier.STM)[int(number % 9 == 0)]
        if number % 5 == 4:
            turns[name] = tuple(f"{number - back:04}" for back in (1, 2, 3))
        vector = rng.normal(size=3).astype(np.float32)
        entry = MemoryEntry(
            f"y {name}", id=name, tier=tier, tags=("synopsis",) if name in turns else (), evidence=turns.get(name, ())
        )
        tables[tier].put(entry, vector / np.linalg.norm(vector))
    found = ask(tables, top_k=top_k, threshold=0.4)
    scores = {one.entry.id: one.score.total for one in found.candidates}
    order = sorted(scores, key=lambda name: (-scores[name], name))
    passing = {name for name in order if scores[name] > 0.4}
    behind = {name for name in passing if not passing.isdisjoint(turns.get(name, ()))}
    assert behind
    assert ids(found) == [name for name in order if name in passing - behind][:top_k]
    assert {one.entry.id for one in found.candidates if one.verdict is Verdict.BEHIND_TURNS} == behind


def test_whether_a_turn_passes_is_judged_on_the_scale_of_all_tiers() -> None:
    told = tables_of(
        (Tier.STM, "sum", FULL, ("turn",)),
        (Tier.STM, "worst", [-1, 0, 0], ()),
        (Tier.LTM, "turn", HALF, ()),
        (Tier.LTM, "third", [-1, 0, 0], ()),
        rating=5,
        timestamp=NOW,
    )
    scaled = Scoring(Weights(0, 0, 1), seats=Seats.RANKING, normalise=True)
    assert ids(ask(told, scaled, threshold=0.3)) == ["turn"]
    assert ids(ask(told, scaled, threshold=0.5)) == ["sum"]
