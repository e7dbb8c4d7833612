"""What every store of memories does, whichever it is; and what Chroma does beyond that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memory_system import ChromaMemory, InMemory, Kind, Memory, MemoryEntry, Tier
from memory_system.core.chroma_address import ChromaAddress
from memory_system.errors import EntryNotFound, InvalidParameter
from memory_system.store.chroma.store import ChromaStore
from memory_system.store.named import STORES
from memory_system.store.projection import OnDemand
from tests.contributed import BLOCKS, install_contributed

WHEN = datetime(2026, 3, 27, 6, 0, tzinfo=UTC)
WIDTH = 8


@pytest.fixture(
    params=[
        "InMemory",
        "ChromaMemory",
        "OnDemand",
        "ChromaMemory on a server",
        "OnDemand on a server",
        "CONTRIBUTING's",
    ]
)
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    server = None
    if request.param.endswith("on a server"):
        server = ChromaAddress.parse(request.getfixturevalue("on_server"))
    made: Memory = InMemory() if request.param == "InMemory" else ChromaMemory.at(tmp_path / "other", server=server)
    if request.param.startswith("OnDemand"):
        chroma = ChromaStore.open(tmp_path / "c", server)
        made = OnDemand(chroma.memory(Tier.RECALL), lambda: chroma.has(Tier.RECALL.value))
    if request.param == "CONTRIBUTING's":
        made.close()
        monkeypatch.syspath_prepend(tmp_path)
        install_contributed(tmp_path, "sqlite")
        made = STORES.get("sqlite")(tmp_path / "store", Tier.STM)
    yield made
    made.close()


def entry(entry_id: str, document: str = "Saw smoke", **fields: object) -> MemoryEntry:
    return MemoryEntry(document, fields.pop("metadata", {}), entry_id, **fields)  # type: ignore[arg-type]


def axes(count: int) -> np.ndarray:
    """Vectors that lie 1, 2, 3, ... from the origin along the first axis."""
    vectors = np.zeros((count, WIDTH), np.float32)
    vectors[:, 0] = np.arange(1, count + 1)
    return vectors


def test_a_new_store_is_empty(store: Memory) -> None:
    assert (store.count(), store.ids(), store.snapshot().entries) == (0, frozenset(), ())
    assert len(store.snapshot().vectors) == 0
    assert store.nearest(np.ones(WIDTH, np.float32), 3) == []


def test_an_entry_comes_back_with_every_field(store: Memory) -> None:
    full = entry(
        "a",
        "Lent Tobias the brass key",
        metadata={"place": "Bakery", "count": 2**62, "share": 0.1, "told": False, "mood": ""},
        tier=Tier.LTM,
        kind=Kind.CONVERSATION,
        timestamp=WHEN.replace(microsecond=123456),
        rating=7.5,
        explanation="It matters.",
        tags=("key", "mill"),
        pinned=True,
        authored=True,
        evidence=("b", "c"),
        depth=2,
    )
    store.upsert([full], axes(1))
    assert store.get(["a"]) == [full]


@pytest.mark.parametrize(
    "document", ["🔥🌊 👩‍👩‍👧", "她在黎明时看见了烟。", "é\u0301\u202eabc\n\t x", "mill " * 6400, "'; DROP TABLE--"]
)
def test_any_text_comes_back_unchanged(store: Memory, document: str) -> None:
    store.upsert([entry("水樹 🔥 'id'", document, metadata={"喜": document}, tags=("火",))], axes(1))
    assert store.get(["水樹 🔥 'id'"])[0].document == document
    assert store.get(["水樹 🔥 'id'"])[0].metadata["喜"] == document


def test_an_entry_is_replaced_whole_and_keys_that_went_away_are_gone(store: Memory) -> None:
    before = entry("a", "Old", metadata={"place": "Mill", "n": 1}, tags=("old",), rating=3, timestamp=WHEN)
    after = entry("a", "New", metadata={"n": 2})
    store.upsert([before], axes(1))
    store.upsert([after], 2 * axes(1))
    assert store.count() == 1
    assert store.get(["a"]) == [after]
    assert dict(store.get(["a"])[0].metadata) == {"n": 2}
    assert store.get(["a"])[0].tags == ()
    assert store.snapshot().vectors[0, 0] == 2


def test_writes_and_deletions_can_be_repeated_without_harm(store: Memory) -> None:
    for _ in range(3):
        store.upsert([entry("a"), entry("b", "Other")], axes(2))
    assert store.count() == 2
    for _ in range(3):
        store.delete(["a"])
    assert store.ids() == {"b"}
    assert store.get(["b"]) == [entry("b", "Other")]


def test_an_id_that_is_not_held_is_passed_over_when_deleted(store: Memory) -> None:
    store.upsert([entry("a")], axes(1))
    store.delete(["ghost", "a", "a", "phantom"])
    store.delete([])
    assert store.count() == 0


def test_entries_come_in_the_order_asked_also_twice(store: Memory) -> None:
    store.upsert([entry(name, f"Memory {name}") for name in "abc"], axes(3))
    assert [one.id for one in store.get(["c", "a", "c", "b"])] == ["c", "a", "c", "b"]
    assert store.get([]) == []


def test_an_id_that_is_not_held_is_named(store: Memory) -> None:
    store.upsert([entry("a")], axes(1))
    with pytest.raises(EntryNotFound, match="ghost"):
        store.get(["a", "ghost"])


def test_a_snapshot_is_ordered_by_id_and_exact_to_the_last_bit(store: Memory) -> None:
    vectors = np.random.default_rng(7).normal(size=(50, WIDTH)).astype(np.float32)
    vectors[0] = [1e-38, -1e30, 1 / 3, 0, -0.0, 1e-7, 123456.79, np.pi]
    names = [f"id {row * 37 % 50:02}" for row in range(50)]
    store.upsert([entry(name) for name in names], vectors)
    held = store.snapshot()
    assert [one.id for one in held.entries] == sorted(names) == sorted(store.ids())
    assert held.vectors.dtype == np.float32
    assert np.array_equal(held.vectors, vectors[np.argsort(names)])


def test_a_snapshot_does_not_change_with_what_was_handed_in(store: Memory) -> None:
    vectors = axes(1)
    store.upsert([entry("a")], vectors)
    vectors[:] = 9
    assert store.snapshot().vectors[0, 0] == 1


def test_the_nearest_come_first_with_their_squared_distance(store: Memory) -> None:
    store.upsert([entry(name) for name in "abcd"], axes(4))
    cue = np.zeros(WIDTH, np.float32)
    cue[0] = 3.4
    answer = store.nearest(cue, 3)
    assert [name for name, _ in answer] == ["c", "d", "b"]
    assert [distance for _, distance in answer] == pytest.approx([0.16, 0.36, 1.96], abs=1e-4)


def test_no_more_are_nearest_than_are_held(store: Memory) -> None:
    store.upsert([entry("a"), entry("b")], axes(2))
    assert [name for name, _ in store.nearest(axes(1)[0], 1000)] == ["a", "b"]
    assert [name for name, _ in store.nearest(axes(1)[0], 1)] == ["a"]


@pytest.mark.parametrize("top_k", [0, -1])
def test_fewer_than_one_nearest_is_refused(store: Memory, top_k: int) -> None:
    with pytest.raises(InvalidParameter, match="top_k must be 1 or more"):
        store.nearest(np.ones(WIDTH, np.float32), top_k)


def test_a_cue_of_another_dimension_is_refused(store: Memory) -> None:
    store.upsert([entry("a")], axes(1))
    with pytest.raises(InvalidParameter, match="8"):
        store.nearest(np.ones(WIDTH + 1, np.float32), 1)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda entries, vectors: (entries, vectors[:1]), r"2 entries need vectors of shape \(2, d\)"),
        (lambda entries, vectors: (entries, vectors[0]), r"2 entries need vectors of shape \(2, d\)"),
        (lambda entries, vectors: ([entries[0]] * 2, vectors), "twice"),
        (lambda entries, vectors: (entries, vectors * np.nan), "not finite"),
        (lambda entries, vectors: (entries, np.full_like(vectors, np.inf)), "not finite"),
        (lambda entries, vectors: (entries, np.hstack([vectors, vectors])), "8"),
    ],
    ids=["too few", "flat", "an id twice", "NaN", "infinite", "another dimension"],
)
def test_a_write_that_does_not_fit_is_refused_and_nothing_is_written(
    store: Memory, spoil: Callable[..., tuple[list[MemoryEntry], np.ndarray]], message: str
) -> None:
    store.upsert([entry("held", "Held")], axes(1))
    entries, vectors = spoil([entry("a"), entry("held", "Changed")], axes(2))
    with pytest.raises(InvalidParameter, match=message):
        store.upsert(entries, vectors)
    assert store.ids() == {"held"}
    assert store.get(["held"]) == [entry("held", "Held")]


def test_writing_nothing_changes_nothing(store: Memory) -> None:
    store.upsert([], np.zeros((0, WIDTH), np.float32))
    assert store.count() == 0


def test_six_thousand_entries_go_in_and_out_at_once(store: Memory) -> None:
    """More than the 5,461 rows that one Chroma batch takes, and several of our own batches of 1,000."""
    names = [f"{row:05}" for row in range(6001)]
    store.upsert([entry(name, f"Memory {name}") for name in names], axes(6001))
    assert store.count() == 6001
    assert store.ids() == set(names)
    held = store.snapshot()
    assert [one.id for one in held.entries] == names
    assert np.array_equal(held.vectors, axes(6001))
    assert [one.document for one in store.get(names[::-1])] == [f"Memory {name}" for name in names[::-1]]
    store.delete(names[1:])
    assert store.ids() == {"00000"}


def test_clearing_removes_everything_and_the_store_can_be_used_again(store: Memory) -> None:
    store.clear()
    store.upsert([entry(f"{row:04}") for row in range(1500)], axes(1500))
    store.clear()
    assert (store.count(), store.ids()) == (0, frozenset())
    store.upsert([entry("a")], axes(1))
    assert store.ids() == {"a"}


def test_chroma_keeps_everything_when_closed_and_opened_again(tmp_path: Path) -> None:
    held = entry("a", "Kept 🔥", metadata={"place": "Mill"}, timestamp=WHEN, rating=4, tags=("x",))
    first = ChromaMemory.at(tmp_path / "c")
    first.upsert([held, entry("b")], axes(2))
    first.delete(["b"])
    first.close()
    second = ChromaMemory.at(tmp_path / "c")
    assert second.snapshot().entries == (held,)
    assert np.array_equal(second.snapshot().vectors, axes(1))
    assert second.nearest(axes(1)[0], 1) == [("a", 0.0)]
    second.close()


def test_metadata_that_went_away_is_gone_from_chroma_too_and_not_merged(tmp_path: Path) -> None:
    store = ChromaStore.open(tmp_path / "c")
    memory = store.memory(Tier.STM)
    memory.upsert([entry("a", metadata={"place": "Mill", "n": 1}, tags=("old",), rating=3)], axes(1))
    memory.upsert([entry("a", metadata={"n": 2})], axes(1))
    with store.collection("stm") as collection:
        (shown,) = collection.get(ids=["a"])["metadatas"] or []
    store.close()
    assert {key: value for key, value in shown.items() if ":" not in key} == {"n": 2, "kind": "observation"}


def test_the_tiers_of_one_chroma_folder_do_not_mix(tmp_path: Path) -> None:
    stm, ltm = ChromaMemory.at(tmp_path / "c"), ChromaMemory.at(tmp_path / "c", Tier.LTM)
    stm.upsert([entry("a", "Short")], axes(1))
    ltm.upsert([entry("a", "Long", tier=Tier.LTM)], axes(1))
    ltm.clear()
    assert stm.get(["a"]) == [entry("a", "Short")]
    assert ltm.count() == 0
    ltm.close()
    assert stm.count() == 1  # the client stays open for the other
    stm.close()


def test_the_store_of_contributing_takes_forty_lines() -> None:
    lines = BLOCKS["sqlite"][5].strip().splitlines()
    assert len([line for line in lines if line.strip()]) <= 40
