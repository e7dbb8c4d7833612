"""Migration: what STM has no room for goes to LTM if it is important enough, and is forgotten if not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory_system import AgentMemory, Tier
from memory_system.core import DECAYING
from memory_system.core.change_set import dump_entry
from memory_system.errors import EntryNotFound, InvalidParameter, StaleChange

Remember = Callable[..., str]


def _ids(agent: AgentMemory, tier: Tier) -> set[str]:
    return {entry.id for entry in agent.entries(tier)}


def _state(agent: AgentMemory) -> dict[str, object]:
    """Everything that a person would notice if it changed."""
    return {entry.id: (dump_entry(entry), entry.last_access) for tier in DECAYING for entry in agent.entries(tier)}


def test_nothing_moves_while_there_is_room(agent: AgentMemory, remember: Remember) -> None:
    for number in range(5):
        remember(f"event {number}")
    agent.configure(stm_size=5)
    done = agent.migrate_stm2ltm()
    assert not done
    assert done.revision is None
    assert done.notes == ("Short-term memory holds 5 of 5: nothing overflows (0 free).",)
    assert len(_ids(agent, Tier.STM)) == 5
    agent.configure(stm_size=7)
    assert agent.migrate_stm2ltm().notes == ("Short-term memory holds 5 of 7: nothing overflows (2 free).",)


def test_as_many_as_overflow_leave_and_the_oldest_first(agent: AgentMemory, remember: Remember) -> None:
    ids = [remember(f"event {number}", hours_ago=10 - number, rating=8) for number in range(10)]
    agent.configure(stm_size=7, retention="importance")
    done = agent.migrate_stm2ltm()
    assert [change.entry_id for change in done.changes] == ids[:3]
    assert _ids(agent, Tier.LTM) == set(ids[:3])
    assert _ids(agent, Tier.STM) == set(ids[3:])


def test_what_does_not_exceed_the_threshold_is_forgotten(agent: AgentMemory, remember: Remember) -> None:
    below, exactly, above = (remember(f"rated {r}", hours_ago=9, rating=r) for r in (4, 5, 6))
    remember("fresh")
    agent.configure(stm_size=1)
    done = agent.migrate_stm2ltm(0.5)
    assert {change.entry_id for change in done.of("forget")} == {below, exactly}
    assert _ids(agent, Tier.LTM) == {above}
    assert "does not exceed 0.50" in next(c.reason for c in done.changes if c.entry_id == exactly)


def test_the_agents_own_threshold_is_used_if_none_is_given(agent: AgentMemory, remember: Remember) -> None:
    old = remember("old", hours_ago=5, rating=8)
    remember("new")
    agent.configure(stm_size=1, migration_threshold=0.9)
    assert [change.entry_id for change in agent.migrate_stm2ltm(preview=True).of("forget")] == [old]
    assert [change.entry_id for change in agent.migrate_stm2ltm(0.7, preview=True).of("move")] == [old]


def test_pinned_and_unrated_stay_and_others_make_up_the_overflow(agent: AgentMemory, remember: Remember) -> None:
    pinned = remember("pinned", hours_ago=9, pinned=True)
    unrated = remember("unrated", hours_ago=8, rating=None)
    third, fourth = remember("third", hours_ago=7, rating=9), remember("fourth", hours_ago=6, rating=1)
    remember("fresh")
    agent.configure(stm_size=3)
    done = agent.migrate_stm2ltm(0.5)
    assert {kept.entry_id: kept.reason for kept in done.kept} == {
        pinned: "It is pinned.",
        unrated: "It is unrated; rate it first.",
    }
    assert [change.entry_id for change in done.changes] == [third, fourth]
    assert {pinned, unrated} <= _ids(agent, Tier.STM)


def test_what_a_person_wrote_moves_but_is_never_forgotten(agent: AgentMemory, remember: Remember) -> None:
    dull = remember("written and dull", hours_ago=9, rating=1, authored=True)
    dear = remember("written and dear", hours_ago=8, rating=9, authored=True)
    agent.configure(stm_size=1)
    done = agent.migrate_stm2ltm(0.5)
    assert [kept.entry_id for kept in done.kept] == [dull]
    assert _ids(agent, Tier.STM) == {dull}
    assert _ids(agent, Tier.LTM) == {dear}


def test_it_says_how_many_over_the_size_have_to_stay(agent: AgentMemory, remember: Remember) -> None:
    for number in range(4):
        remember(f"pinned {number}", pinned=True)
    agent.configure(stm_size=1)
    done = agent.migrate_stm2ltm()
    assert not done
    assert done.notes == ("3 more than fit must stay.",)


@pytest.mark.parametrize(
    ("ratings", "title"),
    [
        ((8, 9), "Migrate: move 2 to long-term memory"),
        ((8, 1), "Migrate: move 1 to long-term memory, forget 1"),
        ((2, 1), "Migrate: forget 2"),
        ((None, None), "Migrate: nothing may leave"),
    ],
)
def test_the_title_tells_how_many_move_and_how_many_are_forgotten(
    agent: AgentMemory, remember: Remember, ratings: tuple[int | None, ...], title: str
) -> None:
    for rating in ratings:
        remember(f"rated {rating}", rating=rating, hours_ago=2)
    remember("fresh", rating=None)
    agent.configure(stm_size=1)
    done = agent.migrate_stm2ltm(0.5)
    assert done.title == title
    assert done.notes == (() if done.changes else ("2 more than fit must stay.",))


def test_of_one_age_the_more_important_leave_first_and_then_those_of_the_lower_id(
    agent: AgentMemory, remember: Remember
) -> None:
    for name, rating in (("c", 6), ("a", 6), ("d", 9), ("b", 6)):
        remember(f"lamp {name}", id=name, rating=rating, hours_ago=3)
    remember("older, and dull", id="old", rating=1, hours_ago=4)
    agent.configure(stm_size=2)
    assert [change.entry_id for change in agent.migrate_stm2ltm(0.5).changes] == ["old", "d", "a"]


def test_what_only_meets_the_threshold_is_kept_where_a_person_wrote_it(agent: AgentMemory, remember: Remember) -> None:
    meets = remember("rated 5", rating=5, hours_ago=3, authored=True)
    exceeds = remember("rated 6", rating=6, hours_ago=2, authored=True)
    remember("fresh")
    agent.configure(stm_size=1)
    done = agent.migrate_stm2ltm(0.5)
    assert [(kept.entry_id, kept.reason) for kept in done.kept] == [
        (meets, "It is marked “by a person”, so it is not forgotten by itself.")
    ]
    assert [(change.entry_id, change.reason) for change in done.of("move")] == [
        (exceeds, "Short-term memory is full; importance 0.60 exceeds 0.50.")
    ]


@pytest.mark.parametrize("chosen", [True, False])
def test_what_is_protected_does_not_leave_and_the_reason_is_told(
    agent: AgentMemory, remember: Remember, chosen: bool
) -> None:
    held = remember("protected", rating=9, hours_ago=5, protected=True)
    remember("fresh")
    agent.configure(stm_size=1)
    done = agent.migrate_stm2ltm(ids=[held] if chosen else None)
    assert [(kept.entry_id, kept.reason) for kept in done.kept] == [(held, "It is protected.")]
    assert held in _ids(agent, Tier.STM)


def test_chosen_ids_move_whatever_their_importance(agent: AgentMemory, remember: Remember) -> None:
    dull, pinned, unrated = remember("dull", rating=1), remember("pinned", pinned=True), remember("?", rating=None)
    done = agent.migrate_stm2ltm(1.0, ids=[dull, unrated, pinned, dull])
    assert _ids(agent, Tier.LTM) == {dull, unrated}
    assert [kept.entry_id for kept in done.kept] == [pinned]


def test_a_chosen_id_that_is_not_in_stm_is_refused_and_nothing_moves(agent: AgentMemory, remember: Remember) -> None:
    held = remember("held")
    with pytest.raises(EntryNotFound, match="'nobody'"):
        agent.migrate_stm2ltm(ids=[held, "nobody"])
    assert _ids(agent, Tier.STM) == {held}


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), "0.5", True])
def test_a_threshold_out_of_its_range_is_refused(agent: AgentMemory, threshold: object) -> None:
    with pytest.raises(InvalidParameter, match="from 0 to 1"):
        agent.migrate_stm2ltm(threshold)  # type: ignore[arg-type]


def test_a_preview_changes_nothing_and_applies_later(agent: AgentMemory, remember: Remember) -> None:
    for number in range(6):
        remember(f"event {number}", hours_ago=6 - number, rating=number + 1)
    agent.configure(stm_size=2)
    before, revision = _state(agent), agent.get_stats()["revision"]
    plan = agent.migrate_stm2ltm(0.25, preview=True)
    assert plan.revision is None
    assert (len(plan.of("move")), len(plan.of("forget"))) == (2, 2)
    assert _state(agent) == before
    assert agent.get_stats()["revision"] == revision
    remember("something else meanwhile")
    done = agent.apply(plan)
    assert done.revision == revision + 2
    assert _ids(agent, Tier.LTM) == {change.entry_id for change in plan.of("move")}


def test_a_plan_is_stale_once_a_memory_in_it_has_changed(agent: AgentMemory, remember: Remember) -> None:
    first, second = remember("first", hours_ago=2), remember("second", hours_ago=1)
    agent.configure(stm_size=1)
    plan = agent.migrate_stm2ltm(0.1, preview=True)
    agent.edit(first, document="first, corrected")
    with pytest.raises(StaleChange, match="has changed since"):
        agent.apply(plan)
    assert _ids(agent, Tier.STM) == {first, second}


def test_a_refused_item_of_a_preview_stays(agent: AgentMemory, remember: Remember) -> None:
    first, second = remember("first", hours_ago=2), remember("second", hours_ago=1)
    remember("third")
    agent.configure(stm_size=1)
    agent.apply(agent.migrate_stm2ltm(0.1, preview=True).without([first]))
    assert first in _ids(agent, Tier.STM)
    assert _ids(agent, Tier.LTM) == {second}


def test_undo_restores_text_tier_rating_and_last_access_exactly(agent: AgentMemory, remember: Remember) -> None:
    for number in range(6):
        remember(f"The mill, part {number}", hours_ago=60 - number, rating=number + 1, metadata={"n": number})
    agent.query_memory("the mill", top_k=3)
    agent.configure(stm_size=2)
    before = _state(agent)
    assert any(access is not None for _, access in before.values())
    done = agent.migrate_stm2ltm(0.25)
    assert done.revision is not None
    assert _state(agent) != before
    agent.undo(done.revision)
    assert _state(agent) == before


def test_what_migrated_keeps_its_last_access(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("The key of the mill", hours_ago=50)
    agent.query_memory("the key of the mill")
    agent.migrate_stm2ltm(ids=[entry_id])
    (moved,) = agent.entries(Tier.LTM)
    assert moved.last_access == agent.now
