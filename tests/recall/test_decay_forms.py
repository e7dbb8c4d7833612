"""The forms of decay, as an agent lives with them: recalls strengthen, forecasts follow, and settings are kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memory_system import AgentMemory, AgentSettings, DecayForm, Scoring, Tier, Weights
from tests.conftest import NOW

SPACED = Scoring(Weights(1, 0, 0), decay=0.99, decay_form=DecayForm.SPACED)
LATER = NOW + timedelta(days=20)


@pytest.fixture
def told(agent: AgentMemory) -> AgentMemory:
    agent.configure(scoring=SPACED, threshold=0.5)
    events = [{"document": f"The {name} was lit", "id": name, "rating": 5} for name in ("lamp", "oven")]
    agent.add_short_term(events, now=NOW)
    return agent


def recency_of(agent: AgentMemory, entry_id: str) -> float | None:
    one = agent.explain("lit", now=LATER).candidates.of(entry_id)
    assert one is not None
    return one.score.recency


def test_by_spaced_repetition_a_recall_makes_forgetting_slower(told: AgentMemory) -> None:
    told.touch("lamp", now=NOW + timedelta(days=10))
    half_life = SPACED.curve.half_life
    assert recency_of(told, "oven") == pytest.approx(2 ** (-480 / half_life))
    assert recency_of(told, "lamp") == pytest.approx(2 ** (-240 / (half_life + 240)))


def test_many_recalls_at_once_strengthen_no_more_than_one(told: AgentMemory) -> None:
    told.touch("lamp", now=NOW + timedelta(days=10))
    once = recency_of(told, "lamp")
    for seconds in range(5):
        told.touch("lamp", now=NOW + timedelta(days=10, seconds=-seconds))
    assert recency_of(told, "lamp") == once


def test_what_was_learnt_is_that_of_the_moment_looked_at(told: AgentMemory) -> None:
    told.touch("lamp", now=NOW + timedelta(days=10))
    told.add_short_term({"document": "The bell rang"}, now=NOW + timedelta(days=11))
    then = told.as_of(revision=told.revision - 1, access=0)
    assert then.find("lamp") is not None
    assert recency_of(then, "lamp") == recency_of(told, "oven") != recency_of(told, "lamp")


@pytest.mark.parametrize("form", DecayForm)
def test_a_forecast_follows_the_form(told: AgentMemory, form: DecayForm) -> None:
    told.configure(scoring=replace(SPACED, decay_form=form))
    told.touch("lamp", now=NOW + timedelta(days=10))
    asked = NOW + timedelta(days=10)
    leaves = {one.entry_id: one.leaves for one in told.forecast(told.query("lit", now=asked))}
    left = leaves["lamp"]
    assert left is not None
    half_life = SPACED.curve.half_life + (240 if form is DecayForm.SPACED else 0)
    assert left - asked == pytest.approx(timedelta(hours=half_life), abs=timedelta(minutes=1))
    assert told.explain("lit", now=left).candidates.of("lamp").recalled is False  # type: ignore[union-attr]


def test_settings_that_were_saved_without_a_form_keep_the_exponential(agent: AgentMemory) -> None:
    saved = AgentSettings().to_json().replace('"decay_form": "exponential", ', "")
    assert "decay_form" not in saved
    assert AgentSettings.from_json(saved).scoring.decay_form is DecayForm.EXPONENTIAL
    agent.configure(scoring=SPACED)
    assert AgentSettings.from_json(agent.settings.to_json()).scoring == SPACED


def test_a_logged_query_tells_by_which_form_it_was_asked(told: AgentMemory) -> None:
    told.query_memory("lit", now=NOW)
    told.configure(scoring=replace(SPACED, decay_form=DecayForm.POWER))
    (logged,) = told.queries()
    assert logged.query.scoring.decay_form is DecayForm.SPACED
    assert any("spaced" in one and "power" in one for one in told.relive(logged.number).parameters)
    assert {entry.tier for entry in told.entries(Tier.STM)} == {Tier.STM}
