"""What migration forgot and would have answered: found by nothing else, told of by a look, and brought back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from memory_system import AgentMemory, Seats, Tier
from memory_system.core.change_set import dump_entry
from memory_system.recall.hybrid import TextIndex
from tests.conftest import NOW

Remember = Callable[..., str]
CUE = "Where is the brass key?"


@pytest.fixture
def forgetful(agent: AgentMemory, remember: Remember) -> AgentMemory:
    """Migration has forgotten where the key is, and that it rained."""
    remember("The brass key lies under the blue bowl", id="key", rating=2, hours_ago=9)
    remember("It rained in the night", id="rain", rating=1, hours_ago=8)
    for number in range(4):
        remember(f"Baked {number + 2} loaves of bread", rating=8, hours_ago=number)
    agent.configure(stm_size=2, retention="importance", migration_threshold=0.5)
    done = agent.migrate_stm2ltm()
    assert {change.entry_id for change in done.of("forget")} == {"key", "rain"}
    return agent


def ids(agent: AgentMemory, cue: str = CUE) -> list[str]:
    return [one.entry.id for one in agent.would_have_answered(cue)]


@pytest.mark.parametrize("seats", Seats)
def test_a_forgotten_memory_that_would_be_recalled_is_told_with_the_score_that_it_would_have(
    forgetful: AgentMemory, seats: Seats
) -> None:
    forgetful.configure(scoring=replace(forgetful.settings.scoring, seats=seats))
    assert "key" not in [hit.entry.id for hit in forgetful.explain(CUE)]
    (lost,) = forgetful.would_have_answered(CUE)
    forgetful.restore(["key", "rain"])
    back = forgetful.explain(CUE).candidates.of("key")
    assert back is not None
    assert back.recalled
    assert (lost.entry, lost.score, lost.rank) == (back.entry, back.score, back.rank)


def test_it_is_gone_from_the_list_once_it_is_restored_and_there_again_once_that_is_undone(
    forgetful: AgentMemory,
) -> None:
    assert ids(forgetful) == ["key"]
    done = forgetful.restore("key")
    assert ids(forgetful) == []
    assert done.revision is not None
    forgetful.undo(done.revision)
    assert ids(forgetful) == ["key"]


def test_looking_changes_nothing(forgetful: AgentMemory) -> None:
    def state() -> object:
        tiers = {entry.id: dump_entry(entry) for tier in Tier for entry in forgetful.entries(tier)}
        return forgetful.stamp, tiers, forgetful.count_forgotten()

    before = state()
    assert ids(forgetful) == ids(forgetful) == ["key"]
    assert state() == before
    assert "key" not in [hit.entry.id for hit in forgetful.query_memory(CUE)]


def test_what_was_forgotten_by_hand_or_purged_is_not_offered(forgetful: AgentMemory, remember: Remember) -> None:
    other = remember("The brass key has a red ribbon")
    forgetful.configure(threshold=0.6)
    forgetful.forget(other)
    assert ids(forgetful) == ["key"]
    forgetful.purge("key")
    assert ids(forgetful) == []


def test_a_moment_of_the_past_tells_what_was_forgotten_by_then(forgetful: AgentMemory) -> None:
    assert ids(forgetful.as_of(revision=forgetful.revision)) == ["key"]
    assert ids(forgetful.as_of(revision=forgetful.revision - 1)) == []


def test_where_nothing_was_forgotten_nothing_would_have_answered(agent: AgentMemory, remember: Remember) -> None:
    remember("The brass key lies under the blue bowl")
    assert agent.would_have_answered(CUE) == ()


# -- the bin empties by age --------------------------------------------------------------------------------


def test_by_default_the_bin_is_kept_for_ever(forgetful: AgentMemory) -> None:
    assert forgetful.settings.bin_days == 0
    assert not forgetful.empty_bin(now=NOW + timedelta(days=30_000)).purges
    assert forgetful.count_forgotten() == 2


def test_what_is_older_than_the_setting_is_purged_with_its_reason(forgetful: AgentMemory, remember: Remember) -> None:
    forgotten = forgetful.forgotten()[0].at
    forgetful.configure(bin_days=30)
    assert not forgetful.empty_bin(now=forgotten + timedelta(days=30)).purges
    preview = forgetful.empty_bin(now=forgotten + timedelta(days=30, seconds=1), preview=True)
    assert set(preview.purges) == {"key", "rain"}
    assert "30 days" in preview.reason
    assert forgetful.count_forgotten() == 2, "a preview purges nothing"
    forgetful.apply(preview)
    assert forgetful.count_forgotten() == 0


def test_a_migration_empties_the_bin_after_it(forgetful: AgentMemory, remember: Remember) -> None:
    later = forgetful.forgotten()[0].at + timedelta(days=40)
    forgetful.configure(bin_days=30)
    newest = remember("It rained again", rating=1)
    remember("Baked a cake", rating=8)
    done = forgetful.migrate_stm2ltm(now=later)
    assert done.operation == "migrate", "the answer is the migration"
    assert forgetful.count_forgotten() == len(done.of("forget"))
    assert not {"key", "rain"} & {one.entry.id for one in forgetful.forgotten()}
    assert [one.change_set.operation for one in forgetful.history(limit=2)] == ["purge", "migrate"]
    assert newest


def test_a_preview_of_a_migration_empties_nothing(forgetful: AgentMemory) -> None:
    forgetful.configure(bin_days=1)
    forgetful.migrate_stm2ltm(now=forgetful.now + timedelta(days=9), preview=True)
    assert forgetful.count_forgotten() == 2


# -- a copy of the index of texts ----------------------------------------------------------------------------


def test_a_copied_index_goes_its_own_way(agent: AgentMemory, remember: Remember) -> None:
    for number in range(5):
        remember(f"Sam said on Monday: {number} loaves", id=f"m{number}")
    entries = agent.entries(Tier.STM)
    index, alone = TextIndex(), TextIndex()
    for row, entry in enumerate(entries[:4]):
        index.put(row, entry)
        alone.put(row, entry)
    other = index.copied()
    other.put(4, entries[4])
    other.move(4, 0)
    other.drop_last()
    assert {name: repr(held) for name, held in vars(index).items() if name != "_neighbours"} == {
        name: repr(held) for name, held in vars(alone).items() if name != "_neighbours"
    }
    assert len(other) == 3
    assert index.words(["loav"]).tolist() == alone.words(["loav"]).tolist()
