"""Recall as an agent is asked for it: what is touched, what is refused, and the text for a prompt."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest

from memory_system import AgentMemory, Scoring, Tier, World
from memory_system.errors import InvalidParameter
from memory_system.recall.query import EMPTY_CUE
from tests.conftest import NOW


@pytest.fixture
def told(agent: AgentMemory, remember: Callable[..., str]) -> AgentMemory:
    """Mira with three memories in STM and one in LTM."""
    remember("Lent Tobias the brass key to the tide mill", id="key", rating=8, hours_ago=30)
    remember("Baked forty loaves", id="loaves", rating=2, hours_ago=3)
    remember("Saw smoke\n\n over  the north field", id="smoke", hours_ago=5)
    remember("It rained on the quay", id="rain", rating=None, hours_ago=2)
    agent.migrate_stm2ltm(ids=["key"])
    return agent


def accesses(agent: AgentMemory) -> dict[str, datetime | None]:
    return {entry.id: entry.last_access for tier in Tier for entry in agent.entries(tier)}


def test_explaining_touches_nothing(told: AgentMemory) -> None:
    before = told.stamp, accesses(told), told.history()
    everything = {"top_k": 50, "threshold": 0, "static_threshold": 0}
    assert len(told.explain("Who has the key to the mill?", **everything)) == 15
    assert len(told.query_memory("Who has the key to the mill?", touch=False, **everything)) == 15
    assert (told.stamp, accesses(told), told.history()) == before
    assert set(accesses(told).values()) == {None}


@pytest.fixture
def days(agent: AgentMemory, remember: Callable[..., str]) -> AgentMemory:
    """Mira with events of two days; it is 18:00 now."""
    for text, hours_ago in (
        ("Lent Tobias the brass key", 34),  # 08:00 on the day before
        ("Oiled the hinges of the oven door", 30),
        ("Argued with Edda about the seed loaves", 22),
        ("Saw a lamp in the locked mill", 17),  # one in the morning
        ("Baked forty loaves", 12),
        ("Chalked the times of the tide on the door", 9),
        ("Sold the last of the buns", 4),
        ("Swept the shop", 2),
    ):
        remember(text, id=text, hours_ago=hours_ago)
    return agent


@pytest.mark.parametrize(
    ("cue", "found"),
    [
        ("What happened this morning?", ["Baked forty loaves", "Chalked the times of the tide on the door"]),
        ("What happened this afternoon?", ["Sold the last of the buns", "Swept the shop"]),
        ("What happened last night?", ["Argued with Edda about the seed loaves", "Saw a lamp in the locked mill"]),
        ("What happened yesterday evening?", ["Argued with Edda about the seed loaves"]),
        ("What happened yesterday at 8 am?", ["Lent Tobias the brass key"]),
        ("What happened two hours ago?", ["Swept the shop"]),
        ("What happened in the last five hours?", ["Sold the last of the buns", "Swept the shop"]),
        ("What happened today at 14:00?", ["Sold the last of the buns"]),
    ],
)
def test_what_happened_in_a_part_of_a_day_is_what_is_recalled(days: AgentMemory, cue: str, found: list[str]) -> None:
    assert sorted(hit.entry.document for hit in days.query_memory(cue, 8, touch=False).hits) == sorted(found)


def test_the_same_cue_is_counted_from_the_time_at_which_it_is_asked(days: AgentMemory) -> None:
    def recalled(cue: str, hours: float) -> list[str]:
        found = days.query_memory(cue, 1, touch=False, now=NOW + timedelta(hours=hours))
        return [hit.entry.document for hit in found.hits]

    assert recalled("What happened two hours ago?", 0) == ["Swept the shop"]
    assert recalled("What happened two hours ago?", -2) == ["Sold the last of the buns"]
    assert recalled("What happened this evening?", -15) == ["Argued with Edda about the seed loaves"]  # three at night


def test_where_nothing_is_known_of_a_part_of_a_day_the_day_answers(
    agent: AgentMemory, remember: Callable[..., str]
) -> None:
    remember("The fair was held on the green", hours_ago=30)  # at noon, as what is known to the day alone
    remember("Baked forty loaves", hours_ago=12)
    (hit,) = agent.query_memory("What happened yesterday evening?", touch=False).hits
    assert hit.entry.document == "The fair was held on the green"


def test_what_is_told_later_in_the_day_is_of_the_hours_that_it_names(
    agent: AgentMemory, remember: Callable[..., str]
) -> None:
    remember("Swept the shop", hours_ago=3)
    remember("Edda came by to say that she had sold her boat this morning", hours_ago=1)
    (hit,) = agent.query_memory("What happened this morning?", touch=False).hits
    assert "sold her boat" in hit.entry.document


def test_a_plan_is_of_its_hours_and_not_of_the_whole_day(agent: AgentMemory, remember: Callable[..., str]) -> None:
    plans = [f"Plan for Friday 27 March, {hours}" for hours in ("08:00 to 09:00: bake", "20:00 to 21:00: read")]
    for plan in plans:
        remember(plan, hours_ago=14)
    assert agent.now.date().isoformat() == "2026-03-27"
    recalled = [hit.entry.document for hit in agent.query_memory("What happens tonight?", touch=False).hits]
    assert recalled == [plans[1]]


def test_what_was_recalled_at_the_end_of_time_is_still_read(told: AgentMemory) -> None:
    end = datetime.max.replace(tzinfo=UTC)
    assert told.query_memory("Who has the brass key?", now=end, threshold=0).hits
    assert {when for when in accesses(told).values() if when} == {end}
    assert told.query_memory("Who has the brass key?", threshold=0).hits


def test_a_query_touches_what_it_recalled_of_stm_and_ltm_and_nothing_else(told: AgentMemory) -> None:
    stamp = told.stamp
    recall = told.query_memory("Who has the brass key to the tide mill?", top_k=5, threshold=0.8, static_threshold=0)
    assert [hit.entry.id for hit in recall if hit.entry.tier is not Tier.STATIC] == ["key"]
    assert any(hit.entry.tier is Tier.STATIC for hit in recall)
    assert {name: at for name, at in accesses(told).items() if at} == {"key": NOW}
    assert told.stamp != stamp
    assert (
        next(c for c in told.explain("x").candidates if c.entry.id == "key").score.recency == 1
    )  # 30 hours old, and fresh again


def test_a_query_that_recalls_static_memory_alone_touches_nothing(told: AgentMemory) -> None:
    stamp = told.stamp
    assert {hit.entry.tier for hit in told.query_memory("Mira works as a baker", threshold=30)} == {Tier.STATIC}
    assert told.stamp == stamp


def test_what_was_touched_stays_fresh_when_it_is_edited_or_opened_again(told: AgentMemory, world: World) -> None:
    told.query_memory("brass key to the tide mill", threshold=0.8)
    told.edit("key", rating=9)
    assert told.find("key").last_access == NOW  # type: ignore[union-attr]
    world.close()
    again = world.agent("mira").explain("x").candidates
    assert {one.entry.id: one.score.recency for one in again if one.entry.tier is Tier.LTM} == {"key": 1}


def test_a_query_recalls_exactly_what_explain_says_is_recalled(told: AgentMemory) -> None:
    for top_k in (0, 1, 3, 5, 100):
        explained = told.explain("What happened at the mill?", top_k, 0.3)
        found = told.query_memory("What happened at the mill?", top_k, 0.3, touch=False)
        assert found.candidates == found.hits == explained.hits
        assert found.context == explained.context
        assert len(explained.candidates) == 15
        totals = [hit.score.total for hit in explained]
        assert totals == sorted(totals, reverse=True)


def test_the_cascade_answers_tier_after_tier(told: AgentMemory) -> None:
    for top_k in (1, 3, 5, 100):
        found = told.query_memory("What happened at the mill?", top_k, 0.3, scoring=Scoring(), touch=False)
        tiers = [list(Tier).index(hit.entry.tier) for hit in found]
        assert tiers == sorted(tiers)


def test_an_unrated_memory_is_scored_by_relevancy_alone(told: AgentMemory) -> None:
    score = next(one.score for one in told.explain("Did it rain?").candidates if one.entry.id == "rain")
    assert (score.recency, score.importance, score.total) == (None, None, score.relevancy)


def test_the_context_is_made_of_the_documents_with_their_dates(told: AgentMemory) -> None:
    recall = told.query_memory("Is there smoke over the field?", 3, 0.8, static_threshold=1, touch=False)
    assert recall.context == (
        "What Mira Holloway remembers (now: Fri 27 Mar 2026, 18:00 UTC):\n"
        "- [Fri 27 Mar 2026, 13:00 UTC; 5 hours ago] Saw smoke over the north field"
    )
    static = told.query_memory("Mira works as a baker", 1, 30, touch=False)
    assert static.context == "What is always true of Mira Holloway:\n- Mira Holloway works as: baker."


def test_the_times_of_the_context_are_in_the_zone_of_now(told: AgentMemory) -> None:
    now = NOW.astimezone(timezone(timedelta(hours=12), "NZST"))
    context = told.query_memory("Smoke?", threshold=0, now=now, touch=False).context
    assert "(now: Sat 28 Mar 2026, 06:00 NZST)" in context
    assert "- [Sat 28 Mar 2026, 01:00 NZST; 5 hours ago] Saw smoke over the north field" in context


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prompt": "  "}, EMPTY_CUE),
        ({"prompt": 5}, "The cue must be a text, not 5"),
        ({"prompt": "a\ud800b"}, "half of a surrogate pair"),
        ({"prompt": "x" * 32_001}, "32,001 characters; at most 32,000"),
        ({"top_k": -1}, "top_k must be a whole number from 0 to 10,000"),
        ({"top_k": 2.5}, "top_k must be a whole number"),
        ({"threshold": 31}, "from 0 to 30"),
        ({"threshold": math.nan}, "from 0 to 30"),
        ({"static_threshold": 2}, "The static threshold is 2; it must be from 0 to 1"),
        ({"static_share": -1}, "The static share"),
        ({"scoring": 0.5}, "must be a Scoring"),
        ({"now": NOW.replace(tzinfo=None)}, "which has no zone"),
        (
            {"colour": 1},
            "There is no option 'colour' of a query; there are addressed, expand, facets, instances, now, requery, ",
        ),
    ],
)
def test_a_query_out_of_range_is_refused_with_the_range(agent: AgentMemory, parameters: dict, message: str) -> None:
    for call in (agent.query_memory, agent.explain):
        with pytest.raises(InvalidParameter, match=message):
            call(**{"prompt": "x"} | parameters)  # type: ignore[operator]


def test_what_is_no_complete_query_is_refused(agent: AgentMemory) -> None:
    for call in (agent.answer, agent.explanation):
        with pytest.raises(
            InvalidParameter, match="The argument must be a Query, as 'query' makes it from a cue, not 'x'"
        ):
            call("x")
