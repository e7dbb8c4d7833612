"""Pinned, protected, authored: each operation honours each mark."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from memory_system import AgentMemory, Change, ChangeSet, Kind, MemoryEntry, Tier
from memory_system.core.change_set import dump_entry, load_entry
from memory_system.errors import Conflict, InvalidEntry, Protected
from memory_system.operations.importing.text import Form, read_rows
from tests.conftest import NOW

Remember = Callable[..., str]
MARKS = ("pinned", "protected", "authored")


@pytest.mark.parametrize(
    ("mark", "fate"), [("pinned", "It is pinned."), ("protected", "It is protected."), ("authored", None)]
)
def test_migration_by_overflow(agent: AgentMemory, remember: Remember, mark: str, fate: str | None) -> None:
    agent.configure(stm_size=1)
    marked = remember("Marked, and important", rating=9, hours_ago=9, **{mark: True})
    remember("New")
    done = agent.migrate_stm2ltm()
    held = agent.find(marked)
    assert held is not None
    assert held.tier is (Tier.LTM if fate is None else Tier.STM)  # what a person wrote moves as anything does
    assert [one.reason for one in done.kept if one.entry_id == marked] == ([] if fate is None else [fate])


@pytest.mark.parametrize("mark", MARKS)
def test_migration_forgets_nothing_that_is_marked(agent: AgentMemory, remember: Remember, mark: str) -> None:
    agent.configure(stm_size=1)
    marked, plain = remember("Marked", rating=1, hours_ago=9, **{mark: True}), remember("Plain", rating=1, hours_ago=8)
    remember("New", rating=1, hours_ago=7)
    agent.migrate_stm2ltm(threshold=0.9)
    held = agent.find(marked)
    assert (held is not None and held.tier is Tier.STM, agent.find(plain)) == (True, None)


@pytest.mark.parametrize(("mark", "moves"), [("pinned", False), ("protected", False), ("authored", True)])
def test_moving_by_hand(agent: AgentMemory, remember: Remember, mark: str, moves: bool) -> None:
    marked = remember("Marked", **{mark: True})
    done = agent.migrate_stm2ltm(ids=[marked])
    assert (bool(done), len(done.kept)) == (moves, int(not moves))


@pytest.mark.parametrize("mark", MARKS)
def test_summarising_leaves_what_is_marked(agent: AgentMemory, remember: Remember, mark: str) -> None:
    ids = [remember(f"Carried {n} sacks.", rating=n, id=f"m{n}") for n in range(1, 5)]
    agent.migrate_stm2ltm(ids=ids)
    agent.edit("m1", **{mark: True})
    done = agent.summarize_and_forget(3)
    assert {one.entry_id for one in done.of("forget")} == {"m2", "m3", "m4"}


@pytest.mark.parametrize("mark", MARKS)
def test_a_new_plan_of_the_day_leaves_what_is_marked_and_nothing_overlaps_it(agent: AgentMemory, mark: str) -> None:
    early = NOW.replace(hour=4, minute=0)
    first = agent.plan_from_memory(early)
    marked, other = (one.entry_id for one in first.of("add"))
    agent.edit(marked, **{mark: True})
    second = agent.plan_from_memory(early)
    assert {one.entry_id for one in second.of("forget")} == {other}
    assert [one.entry_id for one in second.kept] == [marked]
    assert second.notes == ("A new action is left out because of an overlap with what stands of the earlier plan.",)
    spans = sorted(
        (str(one.extras["start"]), str(one.extras["end"])) for one in agent.entries(Tier.LTM) if one.kind is Kind.PLAN
    )
    assert spans == [("04:30", "08:00"), ("19:00", "20:00")]


@pytest.mark.parametrize("mark", MARKS)
def test_reflecting_changes_nothing_that_is_marked(agent: AgentMemory, remember: Remember, mark: str) -> None:
    ids = [remember(f"Carried {n} sacks to the mill.", **{mark: True}) for n in range(1, 5)]
    before = [agent.find(one) for one in ids]
    done = agent.reflect_from_recent_memory()
    assert done.of("add") == done.changes
    assert [agent.find(one) for one in ids] == before


@pytest.mark.parametrize(("mark", "stays"), [("pinned", True), ("protected", True), ("authored", False)])
def test_forgetting_by_hand_and_resetting(agent: AgentMemory, remember: Remember, mark: str, stays: bool) -> None:
    marked, plain = remember("Marked", **{mark: True}), remember("Plain")
    forgotten = agent.forget([marked, plain])
    assert ({one.entry_id for one in forgotten.kept} == {marked}) is stays
    agent.undo(forgotten)
    done = agent.reset_memory()
    assert (agent.find(marked) is not None) is stays
    assert agent.find(plain) is None
    assert len(done.kept) == int(stays)
    agent.undo(done)
    assert agent.find(plain) is not None


@pytest.mark.parametrize(("mark", "changes"), [("pinned", True), ("protected", False), ("authored", True)])
def test_rating_editing_and_adding_again(agent: AgentMemory, remember: Remember, mark: str, changes: bool) -> None:
    marked = remember("Brushed teeth.", rating=10, **{mark: True})
    rated = agent.rate_again(marked)
    assert bool(rated) is changes
    again = agent.add_short_term({"id": marked, "document": "Overwritten"}, rate=False).outcomes[0]
    assert again.action == ("overwritten" if changes else "skipped")
    assert again.why == ("" if changes else "It is protected; unprotect it first.")
    held = agent.find(marked)
    assert held is not None
    assert held.document == ("Overwritten" if changes else "Brushed teeth.")
    assert held.pinned is (mark == "pinned")  # what is pinned stays pinned
    if changes:
        agent.edit(marked, document="By hand")
    else:
        before = agent.stamp
        for fields in ({"document": "By hand"}, {"pinned": True}, {"document": "By hand", "protected": False}):
            with pytest.raises(Protected, match=r"^The memory “Brushed teeth\.” is protected; unprotect it first\.$"):
                agent.edit(marked, **fields)  # type: ignore[arg-type]
        assert agent.stamp == before
        agent.edit(marked, protected=False)
        agent.edit(marked, document="By hand")
    assert agent.last_version(marked).document == "By hand"


def test_a_plan_made_by_a_program_cannot_change_what_is_protected(agent: AgentMemory, remember: Remember) -> None:
    held = agent.find(remember("Kept under glass", protected=True))
    assert held is not None
    before = agent.stamp
    for after in (
        None,
        held.evolve(document="Broken"),
        held.evolve(tier=Tier.LTM),
        held.evolve(rating=1, protected=False),
    ):
        wanted = ChangeSet("script", "Change it", (Change(held, after, "Because."),), NOW, 0)
        with pytest.raises(Protected, match="Kept under glass"):
            agent.apply(wanted)
    assert agent.stamp == before
    assert isinstance(Protected("x"), Conflict)


def test_a_preview_made_before_it_was_protected_is_refused(agent: AgentMemory, remember: Remember) -> None:
    held = remember("Kept under glass")
    planned = agent.forget(held, preview=True)
    agent.edit(held, protected=True)
    with pytest.raises(Conflict):
        agent.apply(planned)
    assert agent.find(held) is not None


def test_protecting_and_adding_what_is_protected_can_be_undone(agent: AgentMemory) -> None:
    added = agent.add_short_term({"document": "Kept under glass", "protected": True, "id": "glass"}, rate=False)
    agent.undo(added.change_set)
    assert agent.find("glass") is None
    agent.restore("glass")
    assert agent.last_version("glass").protected


def test_being_recalled_is_no_change(agent: AgentMemory, remember: Remember) -> None:
    held = remember("Lent Tobias the brass key", protected=True)
    agent.query_memory("Who has the brass key?")
    assert agent.last_version(held).last_access is not None


def test_a_journal_from_before_there_was_such_a_mark_reads_as_unmarked() -> None:
    line = dump_entry(MemoryEntry("Old", id="old"))
    assert line is not None
    assert "protected" not in line
    assert load_entry(line) == MemoryEntry("Old", id="old", protected=False)
    marked = MemoryEntry("Old", id="old", protected=True)
    assert load_entry(dump_entry(marked)) == marked
    assert json.loads(dump_entry(marked) or "")["protected"] is True


def test_only_true_and_false_are_taken() -> None:
    for wrong in (1, "yes", None):
        with pytest.raises(InvalidEntry, match="protected must be true or false"):
            MemoryEntry("x", protected=wrong)  # type: ignore[arg-type]
    assert MemoryEntry("x", {"protected": True}).protected
    (row,) = read_rows("document,protected,authored\nKept,yes,no\n", Form.CSV, NOW)
    assert row.entry is not None
    assert (row.entry.document, row.entry.protected, row.entry.authored) == ("Kept", True, False)
