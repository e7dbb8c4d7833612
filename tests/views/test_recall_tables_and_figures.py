"""What the tables and figures of the Recall page say of an answer, without a page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from dashboard.data import figures, tables
from memory_system import PRESETS, AgentMemory, Measure, Query, Score, Scoring, Weights
from memory_system.agent_parts.cues import OWN_SETTINGS, Precision
from memory_system.core import stamp
from memory_system.recall.hybrid import DateMatch, Evidence, TokenPair, WordMatch

from ..conftest import NOW

CUE = "Who has the brass key?"


@pytest.fixture
def filled(agent: AgentMemory, remember: Callable[..., str]) -> AgentMemory:
    remember("Lent Tobias the brass key", rating=6, hours_ago=30)
    remember("Juno asked who has the key", rating=4, hours_ago=20)
    remember("Swept the floor", rating=1, hours_ago=2)
    remember("Nobody has rated the brass lamp", rating=None, hours_ago=1)
    return agent


def asked(preset: str, **how: object) -> Query:
    chosen = PRESETS[preset]
    return Query(
        CUE,
        NOW,
        **{
            "top_k": 5,
            "threshold": chosen.threshold,
            "static_threshold": chosen.static_threshold,
            "scoring": chosen.scoring,
        }
        | how,
    )


def steps(score: Score) -> tuple[dict[str, float], str]:
    """The bars of the waterfall by name, and what is written at the end of the last."""
    (drawn,) = figures.waterfall(score, 0.35).data
    assert list(drawn.measure) == ["relative"] * (len(drawn.y) - 1) + ["total"]
    return dict(zip(drawn.y[:-1], drawn.x[:-1], strict=True)), drawn.text[-1]


# -- compared --------------------------------------------------------------------------------------------


def test_two_answers_compared_say_who_enters_leaves_moves_and_stays(filled: AgentMemory) -> None:
    first = filled.answer(asked("classic")).hits
    stays, moves, leaves, *_ = first
    enters = next(one for one in filled.explanation(asked("classic")).candidates if not one.recalled)
    frame = tables.compared(first[:3], [stays, enters, moves]).set_index("id")
    assert list(frame.index) == [one.entry.id for one in (stays, enters, moves, leaves)]
    assert list(frame["change"]) == ["stays", "enters", "moves", "leaves"]
    assert frame.loc[moves.entry.id, ["first", "second"]].tolist() == [2, 3]
    assert frame["first"].isna().tolist() == [False, True, False, False]
    assert frame["second"].isna().tolist() == [False, False, False, True]
    assert frame.loc[leaves.entry.id, "first score"] == leaves.score.total


def test_an_answer_compared_with_itself_only_stays(filled: AgentMemory) -> None:
    hits = filled.answer(asked("balanced")).hits
    assert hits
    assert set(tables.compared(hits, hits)["change"]) == {"stays"}
    assert tables.compared([], []).empty


# -- precisions and evidence -----------------------------------------------------------------------------


def test_precision_is_of_what_was_judged_and_missing_where_nothing_was() -> None:
    frame = tables.precisions({"classic": Precision(3, 1, 1, 5), OWN_SETTINGS: Precision(0, 0, 5, 5)})
    assert frame["preset"].tolist() == ["classic", "this character's"]
    assert frame["precision"].iloc[0] == 0.75
    assert frame["precision"].isna().tolist() == [False, True]
    assert frame[["right", "wrong", "not judged"]].iloc[0].tolist() == [3, 1, 1]


def test_every_sort_of_evidence_has_its_line() -> None:
    found = Evidence(
        words=(WordMatch("keys", "key", 0.6), WordMatch("\u202emill", "mill", 0.4)),
        pairs=(TokenPair("brass", "copper", 0.714, 0.5),),
        names=("Tobias",),
        dates=(DateMatch("in May", "yesterday"), DateMatch("2023", "")),
        tells_when=True,
        neighbour="id",
        asks=True,
    )
    assert tables.evidence(found) == [
        "words: keys (60% of the cue), mill (40% of the cue)",
        "tokens nearest in meaning: brass ~ copper 0.71",
        "named in the cue: Tobias",
        "time: in May ~ yesterday",
        "time: 2023 ~ when it happened",
        "the cue asks when, and it names a time",
        "helped by its neighbour in the conversation",
        "it ends with a question, so each part counts a little less",
    ]
    assert tables.evidence(Evidence()) == []


def test_a_word_that_both_hold_is_evidence(filled: AgentMemory) -> None:
    hit = next(one for one in filled.answer(asked("balanced")) if "Lent Tobias" in one.entry.document)
    found = filled.retrieval.evidence(asked("balanced"), hit.entry.id)
    assert found
    assert any(line.startswith("words: ") and "brass" in line for line in tables.evidence(found))


# -- waterfall -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaled", [False, True], ids=["as it is", "scaled"])
@pytest.mark.parametrize("preset", PRESETS)
def test_the_steps_of_the_waterfall_add_up_to_the_score(filled: AgentMemory, preset: str, scaled: bool) -> None:
    scoring = PRESETS[preset].scoring
    query = asked(preset, scoring=Scoring(scoring.weights, scoring.decay, scoring.measure, scaled))
    candidates = filled.explanation(query).candidates
    assert len(candidates) > 6
    for one in candidates:
        drawn, end = steps(one.score)
        assert sum(drawn.values()) == pytest.approx(one.score.total, abs=0.005)
        assert end == f"{one.score.total:.2f}"


def test_hybrid_relevancy_is_drawn_by_its_own_parts(filled: AgentMemory) -> None:
    hit = next(one for one in filled.answer(asked("balanced")) if "Lent Tobias" in one.entry.document)
    drawn, _ = steps(hit.score)
    assert {"recency", "importance", "relevancy: similarity", "relevancy: words"} <= set(drawn)
    assert "relevancy" not in drawn
    classic, _ = steps(next(iter(filled.answer(asked("classic")))).score)
    assert not any(name.startswith("relevancy:") for name in classic)


def test_what_scaling_takes_away_is_a_step_of_its_own() -> None:
    made_of = {"similarity": 0.3, "words": 0.2}
    drawn, _ = steps(Score(0.1, 1.0, 0.5, Weights(1, 1, 2), made_of))
    assert drawn == pytest.approx(
        {
            "recency": 1,
            "importance": 0.5,
            "relevancy: similarity": 0.6,
            "relevancy: words": 0.4,
            "relevancy: scaling": -0.8,
        }
    )
    alone, _ = steps(Score(0.5, weights=Weights(1, 1, 2), sub_parts=made_of))  # by relevancy alone, unweighted
    assert alone == pytest.approx({"relevancy: similarity": 0.3, "relevancy: words": 0.2})


def test_a_score_of_nothing_still_has_a_step() -> None:
    assert steps(Score(0.0, 0.0, 0.1, Weights(0, 0, 0))) == ({"relevancy": 0.0}, "0.00")


# -- forecast --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", Measure)
def test_the_forecast_is_drawn_from_now_on_with_a_cross_where_it_leaves(filled: AgentMemory, measure: Measure) -> None:
    query = asked("classic", threshold=0.5, scoring=Scoring(Weights(1, 0.1, 0.1), 0.99, measure))
    told = [one for one in filled.forecast(query, timedelta(days=365)) if one.leaves]
    assert told
    figure = figures.forecast(told)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    crosses = [trace for trace in figure.data if trace.mode == "markers"]
    assert len(lines) == len(crosses) == len(told)
    for one, line, cross in zip(told, lines, crosses, strict=True):
        assert line.x[0] == NOW
        assert list(line.y) == [score for _, score in one.curve]
        assert list(line.customdata) == [stamp(at) for at, _ in one.curve]
        assert list(cross.x) == [one.leaves]
        assert stamp(one.leaves) in cross.hovertemplate
        assert cross.y[0] == next(score for at, score in reversed(one.curve) if at <= one.leaves)
    assert {shape.y0 for shape in figure.layout.shapes} == {one.threshold for one in told}


def test_what_stays_has_a_line_and_no_cross(filled: AgentMemory) -> None:
    told = filled.forecast(asked("classic", threshold=0.0, top_k=100), timedelta(hours=2))
    assert told
    assert not any(one.leaves for one in told)
    assert {trace.mode for trace in figures.forecast(told).data} == {"lines"}
