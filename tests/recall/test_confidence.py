"""Confidence: what it is made of, and that it decides what passes and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memory_system import AgentMemory, Facets, Passing, Scoring, Tier, Verdict, Weights
from memory_system.core.presets import DEFAULT, PRESETS
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.evaluation.confidence import cue_data, fitted, regression
from memory_system.evaluation.threshold import read_pairs
from memory_system.recall.hybrid.confidence import (
    BY_CHANCE,
    FITTED,
    SUREST,
    Line,
    Odds,
    beyond_chance,
    confidences,
    standing,
    stands_out,
)
from tests.conftest import NOW

PAIRS = Path(__file__).parents[1] / "data" / "confidence.json"
CUE = "Who has the brass key to the tide mill?"


@pytest.fixture
def told_mira(agent: AgentMemory, remember: Callable[..., str]) -> AgentMemory:
    """Mira with four events."""
    remember("Lent Tobias the brass key to the tide mill", id="key", rating=8, hours_ago=30)
    remember("Baked forty loaves", id="loaves", rating=2, hours_ago=3)
    remember("Saw smoke over the north field", id="smoke", hours_ago=5)
    remember("It rained on the quay", id="rain", rating=None, hours_ago=2)
    return agent


def test_how_a_cue_stands_is_counted_with_five_usual_memories() -> None:
    highest, spread = standing(np.array([0.36, math.nan, 0.06]))
    mean = (0.36 + 0.06 + 5 * 0.06) / 7
    assert highest == pytest.approx(0.36 - mean)
    assert spread == pytest.approx(math.sqrt(((0.36 - mean) ** 2 + (0.06 - mean) ** 2 + 5 * 0.07**2) / 7))
    assert standing(np.array([math.nan])) == (0.0, 0.07)


def test_the_order_of_the_memories_plays_no_part() -> None:
    cosines = np.random.default_rng(7).random(1000)
    assert standing(cosines) == standing(cosines[::-1]) == standing(np.sort(cosines))


def test_the_best_has_the_odds_of_the_answer_and_the_others_lose_by_how_far_they_lie_behind() -> None:
    relevancies = np.array([1 - math.exp(-1.5), 1 - math.exp(-1.0), math.nan])
    best, other, lost = confidences(Odds((Line(0.5, FITTED.met),)), relevancies, relevancies[0])
    odds = 0.5 + FITTED.met * 1.5
    assert best == pytest.approx(1 / (1 + math.exp(-odds)))
    assert other == pytest.approx(1 / (1 + math.exp(-(odds - FITTED.behind * 0.5))))
    assert math.isnan(lost)
    sure = Odds((Line(99.0, FITTED.met),))
    assert confidences(sure, relevancies, relevancies[0])[0] == pytest.approx(1 / (1 + math.exp(-SUREST)))


def test_a_cue_about_nothing_that_is_remembered_has_low_odds() -> None:
    about_one = np.array([0.6, *[0.05] * 40])
    assert stands_out(standing(about_one)).start > stands_out(standing(np.full(41, 0.05))).start + 4


def test_the_lowest_line_tells_the_odds() -> None:
    relevancies = np.array([1 - math.exp(-1.5)])
    found = confidences(Odds((Line(2.0, 1.0), Line(-3.0, 2.0))), relevancies, relevancies[0])
    assert found[0] == pytest.approx(1 / (1 + math.exp(-(-3.0 + 2.0 * 1.5))))


def test_among_more_memories_the_best_has_to_meet_more_of_the_cue() -> None:
    few, many = beyond_chance(20), beyond_chance(1_000)
    assert few.start - many.start == pytest.approx(BY_CHANCE.among * math.log(50))
    assert beyond_chance(1_000_000) == beyond_chance(BY_CHANCE.most)
    assert beyond_chance(20, apart=0.3).start == pytest.approx(few.start - BY_CHANCE.met * 0.3)


def test_a_regression_finds_the_weights_that_made_its_data() -> None:
    random = np.random.default_rng(3)
    signs = random.normal(size=(20_000, 2))
    right = random.random(20_000) < 1 / (1 + np.exp(-(signs @ [1.5, -0.5] - 1)))
    assert regression(signs, right, np.ones(20_000)) == pytest.approx([1.5, -0.5], abs=0.1)


def test_the_shipped_weights_are_what_the_command_fits(embedder: CachedEmbedder) -> None:
    found = fitted(cue_data(read_pairs(PAIRS), embedder, lambda _line: None))
    for name, value in vars(FITTED).items():
        assert getattr(found, name) == pytest.approx(value, rel=0.02), name


def test_the_confidence_passes_the_threshold_and_the_score_ranks(told_mira: AgentMemory) -> None:
    everyone = told_mira.explain(CUE, 20, static_share=1).candidates
    for one in everyone:
        assert one.score.confidence is not None
        assert (one.score.confidence > DEFAULT.threshold) is one.recalled
    totals = [one.score.total for one in everyone if one.recalled]
    assert totals == sorted(totals, reverse=True)
    assert everyone[0].entry.id == "key"


def test_recency_and_importance_move_no_memory_over_the_threshold(told_mira: AgentMemory) -> None:
    heavy = replace(DEFAULT.scoring, weights=Weights(9, 9, 0.1), decay=0.9)
    light = told_mira.explain(CUE, 20).candidates
    for one in told_mira.explain(CUE, 20, scoring=heavy).candidates:
        before = light.of(one.entry.id)
        assert before is not None
        assert one.score.confidence == before.score.confidence


def test_a_cue_that_nothing_answers_is_answered_by_nothing_and_told_what_came_nearest(told_mira: AgentMemory) -> None:
    found = told_mira.query_memory("Which element has the atomic number 79?")
    assert not found.hits
    assert found.nearest is not None
    assert found.nearest.rank == 1
    assert found.nearest.score.confidence is not None
    assert found.nearest.score.confidence < DEFAULT.threshold
    assert f"{found.nearest.score.confidence:.2f}" in found.nearest.because
    assert "threshold of 0.40. It hardly stands out from the other memories" in found.nearest.because


def test_whichever_line_is_lower_says_why_there_is_no_answer(told_mira: AgentMemory) -> None:
    unlikely, likely = stands_out((0.0, 0.07)), Line(2.0, 1.0)
    by_chance = beyond_chance(500)
    assert "stands out" in Odds((unlikely, likely)).lacking(0.0)
    assert "by chance" in Odds((likely, by_chance)).lacking(0.0)
    assert Odds((likely, likely)).lacking(0.0) == ""
    sure = told_mira.query_memory(CUE, threshold=0.999, static_threshold=0.999)
    assert sure.nearest is not None, "it missed a threshold that hardly anything passes"
    assert sure.nearest.because.endswith("below the threshold of 1.00.")


def test_what_is_asked_of_somebody_is_not_answered_by_whatever_names_them(agent: AgentMemory) -> None:
    of_others = read_pairs(PAIRS.with_name("paraphrases.json")).memories
    of_tobias = (
        "mended the skiff",
        "walked home along the quay",
        "sang in the chapel",
        "slept until noon",
        "bought rye",
    )
    agent.add_short_term(
        [{"document": told, "rating": 5} for told in (*of_others, *(f"Tobias {did}" for did in of_tobias))]
    )
    for cue in ("Which medicine does Tobias take for the heart?", "Which football club does Tobias support?"):
        assert not agent.query_memory(cue).hits, cue
    for cue, answer in (
        ("What did Tobias mend?", "Tobias mended the skiff"),
        ("Who is Tobias?", "Tobias sang in the chapel"),
    ):
        (best, *_) = agent.query_memory(cue).hits
        assert best.entry.document == answer
        assert best.score.confidence is not None
        assert best.score.confidence > 0.9


def test_what_the_facets_leave_out_sets_no_measure_for_the_others(told_mira: AgentMemory) -> None:
    beside = told_mira.explain(CUE).candidates.of("smoke")
    without = told_mira.explain(CUE, facets=Facets(without=("key",))).candidates.of("smoke")
    assert beside is not None
    assert without is not None
    assert (without.score.confidence or 0) > (beside.score.confidence or 0)


def test_classic_paper_and_what_was_saved_before_compare_the_score(told_mira: AgentMemory) -> None:
    for name in ("classic", "paper"):
        assert PRESETS[name].scoring.passing is Passing.SCORE
    found = told_mira.query(CUE).by(PRESETS["classic"])
    for one in told_mira.explanation(found).candidates:
        assert one.score.confidence is None
        above = one.score.total > found.threshold_of(one.entry.tier)
        assert above is (one.verdict != Verdict.BELOW_THRESHOLD)


def test_by_similarity_the_score_is_compared_since_no_confidence_is_fitted_for_it(told_mira: AgentMemory) -> None:
    by_similarity = Scoring(passing=Passing.CONFIDENCE)
    assert {one.score.confidence for one in told_mira.explain(CUE, scoring=by_similarity).candidates} == {None}


def test_many_memories_pass_as_few_do(agent: AgentMemory) -> None:
    """Above some number of rows only those that may decide are scored; the answer is that of all."""
    told_of = (f"Counted {number} sacks of {('rye', 'oats', 'salt')[number % 3]} at the mill" for number in range(600))
    agent.add_short_term([{"document": text, "rating": 5} for text in told_of])
    cue = "How many sacks of salt were there?"
    for top_k, threshold in ((5, 0.4), (30, 0.9), (100, 0.05)):
        explained = agent.explain(cue, top_k, threshold)
        found = agent.query_memory(cue, top_k, threshold, touch=False)
        assert found.hits == explained.hits
        assert any(hit.entry.tier is not Tier.STATIC for hit in found)
    just = min(hit.score.confidence or 0 for hit in found)
    assert all((hit.score.confidence or 0) > just for hit in agent.query_memory(cue, 100, just)), "it has to exceed it"


@pytest.mark.parametrize(
    ("cue", "right"),
    [
        ("What happened on 10 June 2025?", {"mill", "hens"}),
        ("What did I do on 10 June 2025?", {"mill", "hens"}),
        ("Anything last week?", {"boat"}),
        ("What happened on 11 June 2025?", set()),
        ("Who fed the hens on 10 June 2025?", {"hens"}),
    ],
)
def test_a_cue_that_asks_for_a_time_alone_is_answered_by_all_that_happened_then(
    agent: AgentMemory, cue: str, right: set[str]
) -> None:
    for name, words, at in (
        ("mill", "Walked to the mill", datetime(2025, 6, 10, 10, tzinfo=UTC)),
        ("hens", "Sam fed the hens", datetime(2025, 6, 10, 18, tzinfo=UTC)),
        ("boat", "Cleaned the boat", NOW - timedelta(days=7)),
        ("goats", "Sold two goats", NOW - timedelta(days=30)),
    ):
        agent.add_short_term({"id": name, "document": words, "timestamp": at, "rating": 5})
    found = {hit.entry.id for hit in agent.query_memory(cue, touch=False)}
    assert found == right


@pytest.fixture
def of_a_week(agent: AgentMemory, remember: Callable[..., str]) -> AgentMemory:
    """An agent who lent a key nine days ago, and had four other days since."""
    remember("Lent Tobias the brass key to the tide mill", id="key", hours_ago=24 * 9)
    for hours, words in enumerate(("Baked forty loaves", "Sold two goats", "It rained on the quay"), start=1):
        remember(words, hours_ago=24 + hours)
    remember("A fox sat on the wall of Johnson Park", id="fox", hours_ago=1)
    return agent


@pytest.mark.parametrize(
    "cue",
    [
        "How did the young woodworker hurt his hand yesterday?",
        "What is the capital of Peru this week?",
        "Who borrowed something this week?",
    ],
)
def test_what_else_happened_at_a_time_answers_no_cue_that_names_it(of_a_week: AgentMemory, cue: str) -> None:
    explained = of_a_week.explain(cue)
    assert any(one.score.sub_parts["times"] for one in explained.candidates)
    assert not explained.hits


def test_what_a_cue_is_about_goes_before_what_happened_at_the_time_it_names(of_a_week: AgentMemory) -> None:
    """Who asks is more often wrong by some days than in what they ask for."""
    for cue in ("Who has the key this week?", "Who can open the mill yesterday?"):
        assert of_a_week.query_memory(cue, touch=False).hits[0].entry.id == "key"
    assert of_a_week.query_memory("Where did I see the fox today?", touch=False).hits[0].entry.id == "fox"
