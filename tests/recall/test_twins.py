"""Memories in the same words are one answer: the one that scores highest has the seat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

import numpy as np
import pytest

from memory_system import AgentMemory, Facets, MemoryEntry, Query, Recall, Scoring, Seats, Tier, Verdict, Weights
from memory_system.recall import rank
from memory_system.recall.rank import FEW, answer
from memory_system.recall.seats import Place, WordingAt, in_the_same_words
from memory_system.recall.table import Table
from tests.conftest import NOW

from . import test_synopses
from .test_synopses import CUE, ids

RANKING = Scoring(Weights(1, 0, 1), seats=Seats.RANKING)
TOLD = "Another memory in the same words scores higher: the two do not compete for seats."


def tables_of(*rows: tuple[Tier, str, str, int]) -> dict[Tier, Table]:
    """Tables of (tier, id, words, hours ago); what begins with the same letter means the same."""
    tables = {tier: Table() for tier in Tier}
    for tier, name, words, hours in rows:
        vector = np.array([0.9 - ord(words[0].casefold()) / 1000, 0.4, 0], np.float32)
        entry = MemoryEntry(words, id=name, tier=tier, rating=5, timestamp=NOW - timedelta(hours=hours))
        tables[tier].put(entry, vector)
    return tables


def ask(tables: dict[Tier, Table], scoring: Scoring = RANKING, **parameters: object) -> Recall:
    return test_synopses.ask(tables, scoring, **parameters)


def test_the_same_words_take_one_seat_whatever_tier_they_are_in_and_whatever_their_case() -> None:
    told = tables_of(
        (Tier.LTM, "old", "a knock", 90),
        (Tier.STM, "new", "A KNOCK", 2),
        (Tier.LTM, "oldest", "a knock", 900),
        (Tier.STM, "other", "b", 5),
        (Tier.LTM, "third", "c", 6),
    )
    found = ask(told, top_k=3)
    assert ids(found) == ["new", "other", "third"]
    behind = {one.entry.id: one.because for one in found.candidates if one.verdict is Verdict.BEHIND_TWIN}
    assert behind == dict.fromkeys(["old", "oldest"], TOLD)
    assert ids(ask(told, top_k=9)) == ["new", "other", "third"]  # nor is a seat that is free for what is told already
    assert ids(ask(told, top_k=9, requery=3)) == ["new", "other", "third"]


def test_a_full_stop_or_a_space_makes_no_other_words_but_a_question_does() -> None:
    told = tables_of(
        (Tier.STM, "new", "a knock", 2),
        *(
            (Tier.LTM, f"old {number}", words, 90)
            for number, words in enumerate(("A knock.", " a  knock!", "a knock?"))
        ),
    )
    assert ids(ask(told, top_k=9)) == ["new", "old 2"]
    assert ids(answer(Query("cue", NOW, scoring=RANKING, threshold=0.1), CUE, told, "Mira", explain=False)) == [
        "new",
        "old 2",
    ]


def test_of_equal_scores_the_lowest_id_has_the_seat() -> None:
    assert ids(ask(tables_of((Tier.LTM, "2", "a", 5), (Tier.STM, "3", "a", 5), (Tier.STM, "1", "a", 5)))) == ["1"]


def test_a_memory_whose_twin_cannot_be_found_or_does_not_pass_has_its_seat() -> None:
    told = tables_of((Tier.LTM, "old", "a", 9000), (Tier.STM, "new", "a", 2))
    assert ids(ask(told, facets=Facets(without=("new",)))) == ["old"]
    fresh = ask(told).candidates[0].score.total
    assert ids(ask(told, threshold=fresh)) == []


def test_a_fact_of_the_personality_is_no_twin_and_the_cascade_is_to_the_letter_what_it_was() -> None:
    told = tables_of((Tier.STATIC, "fact", "a", 1), (Tier.STM, "new", "a", 2), (Tier.LTM, "old", "a", 90))
    assert sorted(ids(ask(told, static_threshold=0.1))) == ["fact", "new"]
    assert ids(ask(told, Scoring(Weights(1, 0, 1)), static_threshold=0.1)) == ["fact", "new", "old"]


@pytest.mark.parametrize("rows", [60, FEW + 400])
@pytest.mark.parametrize("top_k", [1, 5, 40])
def test_of_many_it_is_the_full_computation(rows: int, top_k: int) -> None:
    rng = np.random.default_rng(rows + top_k)
    tables = {tier: Table() for tier in Tier}
    words = {f"{number:04}": f"word {rng.integers(rows // 3)}" for number in range(rows)}
    for number, (name, text) in enumerate(words.items()):
        tier = (Tier.LTM, Tier.STM)[int(number % 9 == 0)]
        vector = rng.normal(size=3).astype(np.float32)
        tables[tier].put(MemoryEntry(text, id=name, tier=tier), vector / np.linalg.norm(vector))
    found = ask(tables, top_k=top_k, threshold=0.4)
    scores = {one.entry.id: one.score.total for one in found.candidates}
    best: dict[str, str] = {}
    for name in sorted(scores, key=lambda name: (-scores[name], name)):
        if scores[name] > 0.4:
            best.setdefault(words[name], name)
    assert ids(found) == list(best.values())[:top_k]
    passing = {name for name, score in scores.items() if score > 0.4}
    behind = {one.entry.id for one in found.candidates if one.verdict is Verdict.BEHIND_TWIN}
    assert behind == passing - set(best.values())


def test_thousands_of_the_same_words_are_left_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told = tables_of(
        *((Tier.LTM, f"{number:04}", "a bell", number) for number in range(3 * FEW)),
        *((Tier.STM, f"s{number}", "a bell", 5 + number) for number in range(30)),
        (Tier.STM, "other", "b", 9),
        (Tier.LTM, "third", "c", 9),
    )
    looked: list[object] = []

    def counted(wording_at: WordingAt, rows: Mapping[Tier, Iterable[int]]) -> dict[str, list[Place]]:
        looked.append(rows)
        return in_the_same_words(wording_at, rows)

    monkeypatch.setattr(rank, "in_the_same_words", counted)
    query = Query("cue", NOW, scoring=RANKING, threshold=0.1)
    assert ids(answer(query, CUE, told, "Mira", explain=False)) == ["0000", "other", "third"]
    assert len(looked) <= 3
    assert ids(ask(told)) == ["0000", "other", "third"]


@pytest.mark.parametrize("vectors", [2, 7, 1000])
def test_the_same_words_with_many_vectors_are_left_out_in_a_few_rounds(
    vectors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {tier: Table() for tier in Tier}
    for number in range(1200):
        vector = np.array([0.5 + (number % vectors) / 5000, 0.4, 0], np.float32)
        entry = MemoryEntry(f"a bell {number % 2}", id=f"{number:04}", tier=(Tier.LTM, Tier.STM)[int(number % 3 == 0)])
        tables[entry.tier].put(entry, vector)
    looked: list[object] = []

    def counted(wording_at: WordingAt, rows: Mapping[Tier, Iterable[int]]) -> dict[str, list[Place]]:
        looked.append(rows)
        return in_the_same_words(wording_at, rows)

    monkeypatch.setattr(rank, "in_the_same_words", counted)
    found = answer(Query("cue", NOW, scoring=RANKING, threshold=0.1), CUE, tables, "Mira", explain=False)
    assert sorted(hit.entry.document for hit in found) == ["a bell 0", "a bell 1"]
    assert len(looked) <= 5
    assert ids(ask(tables)) == ids(found)


def test_a_second_round_leads_to_nothing_in_the_words_of_a_hit_and_to_the_same_words_once() -> None:
    tables = {tier: Table() for tier in Tier}
    near, far = np.array([0.8, 0.6, 0], np.float32), np.array([0.5, 0.866, 0], np.float32)
    for name, words, hours, rating, vector in (
        ("hit", "a hit", 2, 5, near),
        ("same", "the same", 2, 9, far),
        ("twin", "the same", 2, 9, far),
        ("faded", "The same", 900, 1, far),
        ("led", "led to", 900, 1, far),
        ("once", "Led to", 900, 1, far),
    ):
        at = NOW - timedelta(hours=hours)
        tables[Tier.LTM].put(MemoryEntry(words, id=name, tier=Tier.LTM, rating=rating, timestamp=at), vector)
    scoring = Scoring(Weights(0.25, 0.25, 1), seats=Seats.RANKING)
    found = ask(tables, scoring, threshold=0.55, requery=2)
    assert ids(found) == ["hit", "same", "led"]
    assert [hit.via for hit in found] == ["", "", "hit"]


def test_a_forecast_and_a_query_lived_again_name_the_same_words(agent: AgentMemory) -> None:
    bell = {"document": "The bell rang.", "id": "old", "rating": 9, "timestamp": NOW - timedelta(days=9)}
    agent.add_short_term([bell])
    agent.configure(scoring=Scoring(Weights(1, 0.1, 1), seats=Seats.RANKING), threshold=0.1)
    agent.query_memory("When did the bell ring?", touch=False)
    agent.add_short_term([bell | {"id": "new", "document": "THE BELL RANG.", "timestamp": NOW}])
    lived = agent.relive(agent.queries()[0].number)
    words = [" ".join(str(one) for one in (difference, difference.because)) for difference in lived.differences]
    assert any("Another memory in the same words now scores higher" in one for one in words), words


def test_a_way_to_recall_a_memory_behind_the_same_words_is_one_that_recalls_it(agent: AgentMemory) -> None:
    for hours, rating in ((200, 9), (2, 3)):
        event = {"document": "The bell rang.", "id": f"{hours}", "rating": rating}
        agent.add_short_term([{**event, "timestamp": NOW - timedelta(hours=hours)}])
    found = agent.explain("When did the bell ring?", scoring=Scoring(Weights(1, 1, 1), seats=Seats.RANKING))
    assert ids(found) == ["2"]
    ways = agent.ways(found.query, "200")
    assert ways
    for way in ways:
        assert "200" in ids(agent.answer(way.query))
