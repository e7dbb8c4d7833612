"""Logged queries as tables, and a recall of then beside now as a figure."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from dashboard.views.relive import relive_figures, relive_tables
from memory_system import AgentMemory, Facets, Kind, Scoring
from memory_system.agent_parts.replay import Relived
from tests.conftest import NOW

CUE = "Who has the key to the mill?"


@pytest.fixture
def relived(agent: AgentMemory, remember: Callable[..., str]) -> Relived:
    """Three were recalled; then one was forgotten, one was edited, and one came."""
    agent.configure(scoring=Scoring(), threshold=0.7, static_threshold=1)
    remember("A key was seen at the mill.", id="key", hours_ago=3)
    remember("The mill stands at the quay.", id="quay", hours_ago=2)
    remember("Tobias has the key to the mill.", id="tobias", hours_ago=1)
    agent.acting_as("game").query_memory(CUE, 5)
    agent.forget("key")
    agent.edit("quay", document="Nothing was seen at all, nowhere.")
    remember("Mira has <b>the key</b> to the mill.", id="new", rating=10)
    agent.configure(threshold=0.9)
    return agent.relive(1)


def test_a_logged_query_is_a_row_with_who_and_when(agent: AgentMemory, relived: Relived) -> None:
    logged = agent.queries()
    (row,) = relive_tables.queries(logged).to_dict("records")
    assert row == {
        "number": 1,
        "cue": CUE,
        "recalled": 3,
        "who": "game",
        "world time": NOW,
        "asked": logged[0].asked_at,
    }
    told = relive_tables.circumstances(relived.logged)
    assert told.startswith("asked by game · in the story Fri 27 Mar 2026, 18:00 UTC · at the desk ")
    assert told.endswith("3 memories recalled · which renewed their recency · the caller named top-k")


def test_no_queries_are_an_empty_table() -> None:
    assert list(relive_tables.queries([]).columns)[:2] == ["number", "cue"]


def test_those_that_differ_come_first_with_their_scores(relived: Relived) -> None:
    frame = relive_tables.shifted(relived, 10).set_index("id")
    assert dict(frame["shift"]) == {"key": "left", "quay": "left", "new": "came in", "tobias": "stayed"} | {
        one.entry_id: relive_tables.WORDS[one.shift] for one in relived.differences
    }
    assert pd.isna(frame.loc["key", "now"])
    assert pd.isna(frame.loc["new", "then"])
    assert frame.loc["tobias", "then"] == relived.then.candidates.of("tobias").score.total  # type: ignore[union-attr]
    assert tuple(frame.loc["quay", ["recalled then", "recalled now"]]) == (True, False)
    assert len(relive_tables.shifted(relived, 2)) == 2


def test_the_summary_counts_what_differs(agent: AgentMemory, relived: Relived) -> None:
    words = relive_tables.summary(relived)
    assert words.startswith("1 memory is recalled both then and now; 2 left, 1 came in")
    agent.query_memory(CUE)
    assert relive_tables.summary(agent.relive(2)) == "Asked now, the same 2 memories are recalled, in the same order."
    agent.query_memory("xyzzy", 0)
    assert relive_tables.summary(agent.relive(3)) == "Nothing was recalled then, and nothing would be now."


def test_every_parameter_is_told_then_and_now(agent: AgentMemory, relived: Relived) -> None:
    facets = Facets((Kind.PLAN, Kind.FACT), ("a\u202eb",), since=NOW, max_importance=0.5)
    agent.query_memory(CUE, facets=facets, requery=2)
    again = agent.relive(2)
    told = relive_tables.parameters(relived.then.query, again.now.query).set_index("parameter")
    assert tuple(told.loc["threshold"]) == ("0.70", "0.90", "differs")
    assert tuple(told.loc["hits for a second round"]) == ("0", "2", "differs")
    assert tuple(told.loc["decay"]) == ("0.99", "0.99", "")
    assert tuple(told.loc["only: kinds"]) == ("", "plan, fact", "differs")
    assert told.loc["only: tags", "now"] == "ab"
    assert told.loc["only: since", "now"] == "Fri 27 Mar 2026, 18:00 UTC"
    assert told.loc["only: max importance", "now"] == "0.5"


def test_each_score_is_drawn_at_its_place_and_told_in_words(relived: Relived) -> None:
    frame = relive_tables.shifted(relived, 10)
    drawn = relive_figures.shifted(frame, relived.then.query, relived.now.query)
    end = 1.06 * max(frame["then"].max(), frame["now"].max(), 0.9)
    rows = drawn.split("<li>")[1:]
    assert len(rows) == len(frame)
    for row, one in zip(rows, frame.to_dict("records"), strict=True):
        for name in ("then", "now"):
            out = "" if one[f"recalled {name}"] else " out"
            there = f'<i class="{name}{out}" style="left:{100 * one[name] / end:.2f}%">'
            assert (there in row) is pd.notna(one[name])
            assert (f"{name} {one[name]:.2f}" if pd.notna(one[name]) else f"{name} not there") in row
            assert (f"{name} {one[name]:.2f}, not recalled" in row) is (pd.notna(one[name]) and bool(out))
        assert [f"left:{100 * at / end:.2f}%" in row for at in (0.7, 0.9)] == [True, True]
    assert "came in · Mira has &lt;b&gt;the key&lt;/b&gt; to the mill." in drawn
    assert "<b>the key" not in drawn


def test_nothing_to_compare_is_drawn_with_its_one_threshold(relived: Relived) -> None:
    frame = relive_tables.shifted(relived, 0)
    drawn = relive_figures.shifted(frame, relived.then.query, relived.then.query)
    assert "threshold 0.70" in drawn
    assert "<li>" not in drawn
