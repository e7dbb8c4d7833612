"""What the ledger refuses before it commits, and where it sees that a store does not hold what it should."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from memory_system import Change, ChangeSet, InMemory, MemoryEntry, Tier
from memory_system.core.change_set import TextChange
from memory_system.errors import Conflict, InvalidInput, InvalidParameter, Protected
from memory_system.store.expected_rows import of_entries
from memory_system.store.journal.journal import content_hash
from memory_system.store.ledger_checks import Differences, differences, refuse_broken
from tests.conftest import NOW


def entry(name: str, tier: Tier = Tier.STM, **fields: object) -> MemoryEntry:
    return MemoryEntry(f"Memory {name}.", id=name, tier=tier, timestamp=NOW, **fields)  # type: ignore[arg-type]


def plan(*changes: Change, **fields: object) -> ChangeSet:
    return ChangeSet("edit", "An edit", changes, NOW, 0, **fields)  # type: ignore[arg-type]


# -- before the commit -------------------------------------------------------------------------------------

HELD = entry("a", protected=True)


@pytest.mark.parametrize(
    "after",
    [None, HELD.evolve(document="Otherwise."), HELD.evolve(document="Otherwise.", protected=False)],
    ids=["forgotten", "edited", "edited and unprotected in one"],
)
def test_a_protected_memory_is_neither_forgotten_nor_edited(after: MemoryEntry | None) -> None:
    with pytest.raises(Protected, match=r"“Memory a\.” is protected"):
        refuse_broken(plan(Change(HELD, after, "")), "mira")
    refuse_broken(plan(Change(HELD, after, ""), undoes=3), "mira")  # what a person wants is told by taking back


def test_a_protected_memory_may_be_unprotected_and_others_may_be_edited() -> None:
    free = entry("b")
    refuse_broken(plan(Change(HELD, HELD.evolve(protected=False), ""), Change(free, None, "")), "mira")
    refuse_broken(plan(Change(free, free.evolve(protected=True), ""), Change(None, entry("c"), "")), "mira")


def test_a_plan_for_another_agent_and_what_is_no_plan_are_refused() -> None:
    with pytest.raises(Conflict, match="planned for 'tobias', not for 'mira'"):
        refuse_broken(plan(agent="tobias"), "mira")
    refuse_broken(plan(agent="mira"), "mira")
    refuse_broken(plan(), "mira")
    with pytest.raises(InvalidParameter, match="must be a change set, not a dict"):
        refuse_broken({}, "mira")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["settings", "cues", "judgments", "dismissed", "later", "interviews", "personality"])
def test_a_text_that_could_not_be_read_again_is_refused(name: str) -> None:
    refuse_broken(plan(texts=(TextChange(name, None, None),)), "mira")
    with pytest.raises(InvalidInput):
        refuse_broken(plan(texts=(TextChange(name, None, "{"),)), "mira")


# -- between journal and store -----------------------------------------------------------------------------

A, B, C = entry("a"), entry("b"), entry("c")
VECTORS = {one.id: np.array(vector, np.float32) for one, vector in zip((A, B, C), np.eye(3), strict=True)}


def compared(stored: Sequence[MemoryEntry], wanted: Sequence[MemoryEntry], **other: Sequence[float]) -> Differences:
    """Where a store of short-term memory differs; ``other`` tells the vectors that it holds otherwise, by id."""
    memory = InMemory()
    held = VECTORS | {name: np.array(vector, np.float32) for name, vector in other.items()}
    if stored:
        memory.upsert(list(stored), np.stack([held[one.id] for one in stored]))
    vectors = {content_hash(one.document): VECTORS[one.id] for one in wanted if one.id in VECTORS}
    return differences({Tier.STM: memory}, {Tier.STM: of_entries(wanted, vectors)})


def test_a_store_that_holds_what_it_should_differs_nowhere() -> None:
    assert not compared([A, B, C], [C, A, B])
    assert compared([], []) == Differences([], {}, [])


def test_what_is_missing_surplus_otherwise_or_torn_is_told_apart() -> None:
    missing = compared([A], [B, A, C])
    assert (missing.missing, missing.surplus, missing.torn) == ([B, C], {}, [])
    surplus = compared([C, A, B], [A])
    assert (surplus.missing, surplus.surplus, surplus.torn) == ([], {Tier.STM: ["b", "c"]}, [])
    otherwise = compared([A.evolve(rating=3), B], [A, B])
    assert (otherwise.missing, otherwise.surplus, otherwise.torn) == ([A], {}, [])
    torn = compared([A, B], [A, B], b=[0, 0.5, 0])
    assert (torn.missing, torn.surplus, torn.torn) == ([], {}, ["b"])
    assert all((missing, surplus, otherwise, torn))


def test_a_vector_may_differ_by_a_rounding_and_by_no_more() -> None:
    assert not compared([A], [A], a=[1 - 0.5e-5, 0, 0])
    assert compared([A], [A], a=[1 - 2e-5, 0, 0]).torn == ["a"]


def test_a_text_without_a_vector_is_stored_with_zeros() -> None:
    waiting = entry("waiting")
    assert not compared([waiting, A], [waiting, A], waiting=[0, 0, 0])
    assert compared([waiting, A], [waiting, A], waiting=[0, 1, 0]).torn == ["waiting"]
    assert not compared([waiting], [waiting], waiting=[0, 0, 0]), "none has a vector by now"
    assert compared([waiting], [waiting], waiting=[0, 1, 0]).torn == ["waiting"]


def test_details_are_the_same_in_any_order_and_a_whole_number_is_no_fraction() -> None:
    one, other = ({"n": 1, "place": "mill"}, {"place": "mill", "n": 1})
    assert not compared([A.evolve(metadata=one)], [A.evolve(metadata=other)])
    assert not compared([A.evolve(metadata=other)], [A.evolve(metadata=one)])
    fraction = A.evolve(metadata={"n": 1.0, "place": "mill"})
    assert compared([fraction], [A.evolve(metadata=one)]).missing == [A.evolve(metadata=one)]
