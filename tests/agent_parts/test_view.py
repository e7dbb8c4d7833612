"""What can be asked of a memory without changing it: similar ones, what rests on it, old versions, counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memory_system import AgentMemory, Change, ChangeSet, Kind, MemoryEntry, Tier
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import EntryNotFound, InvalidParameter
from tests.conftest import NOW

Remember = Callable[..., str]


@pytest.fixture
def key(remember: Remember) -> str:
    """A memory about a key, among others of which two are about keys too."""
    for text in ("It rained on the quay.", "The brass key opens the mill.", "Edda cooked a broth."):
        remember(text, id=text.split()[-1])
    remember("A key of brass hangs at the mill.", id="hangs")
    return remember("The key to the mill is of brass.", id="key")


def test_similar_memories_come_nearest_first_and_not_the_memory_itself(
    agent: AgentMemory, key: str, embedder: CachedEmbedder
) -> None:
    agent.migrate_stm2ltm(ids=["hangs"])
    found = agent.similar(key)
    assert {entry.id for entry, _ in found[:2]} == {"mill.", "hangs"}
    assert {entry.id for entry, _ in found} == {"mill.", "hangs", "quay.", "broth."}
    assert {entry.tier for entry, _ in found} == {Tier.STM, Tier.LTM}
    cosines = [cosine for _, cosine in found]
    assert cosines == sorted(cosines, reverse=True)
    own, *others = embedder.embed(["The key to the mill is of brass.", *(entry.document for entry, _ in found)])
    assert cosines == pytest.approx([float(own @ other) for other in others], abs=1e-4)
    assert agent.similar(key, 1) == found[:1]


def test_similar_memories_of_a_fact_are_memories_not_facts(agent: AgentMemory, key: str) -> None:
    fact = next(entry for entry in agent.entries(Tier.STATIC) if "true key" in entry.document)
    found = agent.similar(fact.id, 3)
    assert len(found) == 3
    assert all(entry.tier is Tier.STM and -1 <= cosine <= 1 for entry, cosine in found)


def test_the_same_text_twice_is_most_similar(agent: AgentMemory, key: str, remember: Remember) -> None:
    twin = remember("The key to the mill is of brass.")
    entry, cosine = agent.similar(key)[0]
    assert entry.id == twin
    assert cosine == pytest.approx(1, abs=1e-5)


def test_asking_touches_nothing(agent: AgentMemory, key: str) -> None:
    before = agent.stamp
    agent.similar(key)
    agent.built_on(key)
    agent.last_version(key)
    agent.explain("the key")
    agent.get_stats()
    agent.history()
    assert agent.stamp == before
    assert all(entry.last_access is None for entry in agent.entries(Tier.STM))


@pytest.mark.parametrize("top_k", [0, -1, 101, 2.5, True, None])
def test_a_count_of_similar_ones_out_of_range_is_refused(agent: AgentMemory, key: str, top_k: Any) -> None:
    with pytest.raises(InvalidParameter, match="top_k must be a whole number from 1 to 100"):
        agent.similar(key, top_k)


def test_what_was_built_on_a_memory_is_found_the_oldest_first(agent: AgentMemory, key: str) -> None:
    made = [
        MemoryEntry(f"Insight {n}", id=f"i{n}", tier=Tier.LTM, kind=kind, timestamp=NOW.replace(hour=n), evidence=proof)
        for n, kind, proof in (
            (9, Kind.REFLECTION, (key, "hangs")),
            (7, Kind.SUMMARY, (key,)),
            (8, Kind.PLAN, ("hangs",)),
        )
    ]
    changes = tuple(Change(None, entry, "For a test.") for entry in made)
    agent.apply(ChangeSet("reflect", "Reflect", changes, NOW, agent.stamp[0]))
    assert [entry.id for entry in agent.built_on(key)] == ["i7", "i9"]
    assert [entry.id for entry in agent.built_on("hangs")] == ["i8", "i9"]
    assert agent.built_on("i9") == agent.built_on("nothing of this name") == []
    agent.forget(key)
    assert [entry.id for entry in agent.built_on(key)] == ["i7", "i9"], "also for one that is forgotten"


def test_the_last_version_of_a_memory_is_told_also_when_it_is_forgotten(agent: AgentMemory, key: str) -> None:
    assert agent.last_version(key) == agent.find(key)
    agent.edit(key, document="The key is of iron.", rating=9)
    agent.forget(key)
    assert agent.find(key) is None
    last = agent.last_version(key)
    assert (last.document, last.rating) == ("The key is of iron.", 9)


NONSENSE: list[Any] = ["", "nobody", "\ud800", "a\x00b", "x" * 100_000, None, 5, 10**5000, 2.5, True, b"key", [], {}]


@pytest.mark.parametrize("nonsense", NONSENSE, ids=[f"{number}" for number in range(len(NONSENSE))])
def test_an_id_of_nothing_finds_nothing(agent: AgentMemory, key: str, nonsense: Any) -> None:
    assert agent.find(nonsense) is None
    assert agent.built_on(nonsense) == []
    with pytest.raises(EntryNotFound, match="never had a memory"):
        agent.last_version(nonsense)
    with pytest.raises(EntryNotFound, match="There is no memory"):
        agent.similar(nonsense)


@pytest.mark.parametrize("tier", ["zzz", "", None, 5, [], "STM"])
def test_a_tier_that_there_is_not_is_refused_by_name(agent: AgentMemory, tier: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"There is no tier .*; there are static, stm, ltm"):
        agent.entries(tier)


def test_a_tier_may_be_named_by_its_text_and_comes_ordered_by_id(agent: AgentMemory, key: str) -> None:
    assert agent.entries("stm") == agent.entries(Tier.STM)  # type: ignore[arg-type]
    ids = [entry.id for entry in agent.entries(Tier.STM)]
    assert ids == sorted(ids)


def test_the_stats_count_what_there_is(agent: AgentMemory, key: str, remember: Remember) -> None:
    agent.migrate_stm2ltm(ids=["hangs"])
    remember("Nobody has rated this.", rating=None)
    stats = agent.get_stats()
    assert (stats["agent"], stats["static"], stats["stm"], stats["ltm"], stats["unrated"]) == ("mira", 11, 5, 1, 1)
    assert (stats["stm_size"], stats["reflection_weight"], stats["reflection_trigger"]) == (20, 25, 150)
    assert stats["revision"] == agent.stamp[0]
    assert stats["now"] == NOW.isoformat()
    assert all(isinstance(value, str | int | float) for value in stats.values())
    assert agent.get_stats(NOW.replace(hour=3))["now"] == NOW.replace(hour=3).isoformat()


def test_vectors_are_of_unit_length_so_that_a_product_is_a_cosine(embedder: CachedEmbedder) -> None:
    lengths = np.linalg.norm(embedder.embed(["a key", "a mill of many words by the sea"]), axis=1)
    assert lengths == pytest.approx([1, 1], abs=1e-5)
