"""Summarise and forget: the least important of LTM become one summary that stands for them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from memory_system import AgentMemory, Kind, MemoryEntry, Tier
from memory_system.errors import InvalidParameter

Remember = Callable[..., str]


@pytest.fixture
def ltm(agent: AgentMemory, remember: Remember) -> list[str]:
    """Six memories in LTM, rated 1 to 6 from the oldest to the newest."""
    ids = [
        remember(f"Carried {n} sacks of flour to the mill.", rating=n, hours_ago=100 - n, id=f"m{n}")
        for n in range(1, 7)
    ]
    agent.migrate_stm2ltm(ids=ids)
    return ids


def _summary(agent: AgentMemory) -> MemoryEntry:
    (summary,) = (entry for entry in agent.entries(Tier.LTM) if entry.kind is Kind.SUMMARY)
    return summary


def test_the_k_least_important_become_one_summary(agent: AgentMemory, ltm: list[str]) -> None:
    done = agent.summarize_and_forget(3)
    assert {change.entry_id for change in done.of("forget")} == set(ltm[:3])
    assert {entry.id for entry in agent.entries(Tier.LTM)} == {*ltm[3:], _summary(agent).id}


def test_the_summary_keeps_ids_dates_and_the_highest_rating(agent: AgentMemory, ltm: list[str]) -> None:
    sources = [entry for entry in agent.entries(Tier.LTM) if entry.id in ltm[:3]]
    times = [entry.timestamp for entry in sources if entry.timestamp]
    agent.summarize_and_forget(3)
    summary = _summary(agent)
    assert summary.evidence == tuple(ltm[:3])
    assert summary.extras["covers_from"] == min(times).isoformat()
    assert summary.extras["covers_until"] == max(times).isoformat()
    assert [datetime.fromisoformat(t) for t in str(summary.extras["evidence_times"]).split()] == sorted(times)
    assert summary.timestamp == max(times)
    assert (summary.rating, summary.depth) == (3, 1)


def test_its_sources_leave_recall_and_can_be_restored(agent: AgentMemory, ltm: list[str]) -> None:
    before = {entry.id: entry for entry in agent.entries(Tier.LTM)}
    agent.summarize_and_forget(3)
    assert not {c.entry.id for c in agent.explain("sacks of flour").candidates} & set(ltm[:3])
    summary = _summary(agent)
    agent.restore(summary.evidence)
    after = {entry.id: entry for entry in agent.entries(Tier.LTM)}
    assert after == before | {summary.id: summary}


def test_undo_brings_the_sources_back_and_takes_the_summary_away(agent: AgentMemory, ltm: list[str]) -> None:
    agent.query_memory("Carried 1 sacks of flour to the mill.")
    before = agent.entries(Tier.LTM)
    done = agent.summarize_and_forget(4)
    assert done.revision is not None
    agent.undo(done.revision)
    assert agent.entries(Tier.LTM) == before


def test_pinned_authored_and_unrated_are_never_chosen(agent: AgentMemory, ltm: list[str], remember: Remember) -> None:
    unrated = remember("never rated", rating=None)
    agent.migrate_stm2ltm(ids=[unrated])
    agent.edit(ltm[0], pinned=True)
    agent.edit(ltm[1], authored=True)
    done = agent.summarize_and_forget(500)
    assert {change.entry_id for change in done.of("forget")} == set(ltm[2:])
    assert {ltm[0], ltm[1], unrated} <= {entry.id for entry in agent.entries(Tier.LTM)}


def test_a_summary_of_a_summary_is_deeper(agent: AgentMemory, ltm: list[str]) -> None:
    agent.summarize_and_forget(3)
    agent.summarize_and_forget(3)
    assert _summary(agent).depth == 2


@pytest.mark.parametrize("k", [1, 0, -3, 501, 2.5, "3", True])
def test_k_out_of_its_range_is_refused_and_nothing_changes(agent: AgentMemory, ltm: list[str], k: object) -> None:
    with pytest.raises(InvalidParameter, match="k must be a whole number from 2 to 500"):
        agent.summarize_and_forget(k)  # type: ignore[arg-type]
    assert len(agent.entries(Tier.LTM)) == 6


def test_fewer_than_two_make_no_summary(agent: AgentMemory, remember: Remember) -> None:
    agent.migrate_stm2ltm(ids=[remember("alone")])
    done = agent.summarize_and_forget()
    assert not done
    assert "it takes two" in done.notes[0]
    assert len(agent.entries(Tier.LTM)) == 1


def test_a_preview_changes_nothing_and_apply_asks_no_model_again(agent: AgentMemory, ltm: list[str]) -> None:
    plan = agent.summarize_and_forget(3, preview=True)
    assert [entry.id for entry in agent.entries(Tier.LTM)] == ltm
    agent.model = None  # type: ignore[assignment]  # nobody is left to ask
    agent.apply(plan)
    assert _summary(agent) == plan.of("add")[0].after


def test_progress_that_raises_cancels_it_and_nothing_changes(agent: AgentMemory, ltm: list[str]) -> None:
    def cancel(_done: float, _doing: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        agent.summarize_and_forget(3, progress=cancel)
    assert [entry.id for entry in agent.entries(Tier.LTM)] == ltm
