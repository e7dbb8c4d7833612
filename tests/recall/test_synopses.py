"""A conversation's synopsis and its turns are one answer: the synopsis takes no seat while a turn stands higher."""

from __future__ import annotations

import numpy as np
import pytest

from memory_system import Facets, MemoryEntry, Query, Recall, Scoring, Seats, Tier, Verdict, Weights
from memory_system.recall.rank import FEW, answer
from memory_system.recall.table import Table
from tests.conftest import NOW

CUE = np.array([1, 0, 0], np.float32)
FULL, HALF, THIRD = [1, 0, 0], [0, 0, 0], [0, 1, 0]
RANKING = Scoring(Weights(0, 0, 1), seats=Seats.RANKING)


def tables_of(*rows: tuple[Tier, str, list[int], tuple[str, ...]]) -> dict[Tier, Table]:
    """Tables of (tier, id, vector, turns): a synopsis where there are turns."""
    tables = {tier: Table() for tier in Tier}
    for tier, name, vector, turns in rows:
        tags = ("synopsis",) if turns else ()
        tables[tier].put(MemoryEntry("y", id=name, tier=tier, tags=tags, evidence=turns), np.array(vector, np.float32))
    return tables


def ask(tables: dict[Tier, Table], scoring: Scoring = RANKING, **parameters: object) -> Recall:
    """The whole answer; the quick one is the same."""
    query = Query("cue", NOW, threshold=0.1, scoring=scoring, **parameters)  # type: ignore[arg-type]
    quick, whole = (answer(query, CUE, tables, "Mira", explain=explain) for explain in (False, True))
    assert quick.hits == whole.hits
    return whole


def ids(recall: Recall) -> list[str]:
    return [hit.entry.id for hit in recall]


def test_a_synopsis_leaves_its_seat_to_others_where_a_turn_stands_higher() -> None:
    told = tables_of(
        (Tier.LTM, "turn", FULL, ()), (Tier.STM, "sum", HALF, ("turn", "gone")), (Tier.LTM, "other", THIRD, ())
    )
    found = ask(told, top_k=2)
    assert ids(found) == ["turn", "other"]
    one = next(one for one in found.candidates if one.entry.id == "sum")
    assert (one.verdict, one.because) == (
        Verdict.BEHIND_TURNS,
        "It is a synopsis, and a turn of its conversation stands higher: the two do not compete for seats.",
    )
    assert ids(ask(told, top_k=5)) == ["turn", "other"]  # nor is a seat that is free for what is told already
    assert ids(ask(told, top_k=5, requery=2)) == ["turn", "other"]


def test_a_synopsis_that_stands_highest_or_whose_turns_cannot_be_found_has_its_seat() -> None:
    rows = (Tier.LTM, "sum", FULL, ("turn",)), (Tier.STM, "turn", HALF, ())
    assert ids(ask(tables_of(*rows))) == ["sum", "turn"]
    below = tables_of((Tier.LTM, "sum", HALF, ("turn",)), (Tier.STM, "turn", FULL, ()))
    assert ids(ask(below)) == ["turn"]
    assert ids(ask(below, facets=Facets(without=("turn",)))) == ["sum"]
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
            "y", id=name, tier=tier, tags=("synopsis",) if name in turns else (), evidence=turns.get(name, ())
        )
        tables[tier].put(entry, vector / np.linalg.norm(vector))
    found = ask(tables, top_k=top_k)
    scores = {one.entry.id: one.score.total for one in found.candidates}
    order = sorted(scores, key=lambda name: (-scores[name], name))
    places = {name: place for place, name in enumerate(order)}
    able = [name for name in order if all(places[name] < places[turn] for turn in turns.get(name, ()))]
    assert ids(found) == able[:top_k]
    assert {one.entry.id for one in found.candidates if one.verdict is Verdict.BEHIND_TURNS} == set(order) - set(able)
