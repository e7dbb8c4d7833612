"""An attack by arguments: whatever is handed in, the answer is an error of ours and nothing has changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from memory_system import AgentMemory, AgentSettings, MemoryEntry, Scoring, Settings, Tier, Weights, World
from memory_system.core.personality import MAX_PROBLEMS
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidEntry, InvalidPersonality, MemorySystemError
from tests.conftest import NOW, PERSONALITY
from tests.waiting import counted_calls

HUGE = 10**5000
"""A whole number that Python refuses to write in digits, in a message too."""
BEFORE_TIME = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
Attack = Callable[[AgentMemory, World], object]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[World]:
    """A world with the agent "mira", shared by all attacks: none of them changes it."""
    base = tmp_path_factory.mktemp("attacked")
    settings = Settings(database=base / "database", personalities=base / "personalities", llm="offline")
    with World(settings, embedder=embedder) as world:
        world.stand_at(NOW)
        agent = world.create_agent("mira", json.dumps(PERSONALITY))
        agent.add_short_term([{"document": f"Event {n}", "id": f"e{n}", "rating": 5} for n in range(3)])
        agent.migrate_stm2ltm(ids="e0")
        yield world


@pytest.fixture
def lived(attacked: World) -> AgentMemory:
    return attacked.agent("mira")


def state(agent: AgentMemory, world: World) -> list[Any]:
    files = sorted(str(path) for path in (world.folder, world.settings.personalities) for path in path.glob("*"))
    entries = [agent.entries(tier) for tier in Tier]
    return [agent.stamp, entries, agent.settings, agent.personality_text, world.agents(), world.standing, files]


ATTACKS: dict[str, Attack] = {
    # metadata and names that mean something elsewhere
    "a key of Chroma's operators": lambda a, _: a.add_short_term({"document": "x", "metadata": {"$price": 1}}),
    "a key of Chroma's own": lambda a, _: a.add_short_term({"document": "x", "metadata": {"#x": 1}}),
    "an operator by edit": lambda a, _: a.edit("e1", metadata={"$price": 1}),
    "an agent named as the clock's file": lambda _, w: w.create_agent("world.json"),
    "a fact's id": lambda a, _: a.add_short_term({"document": "x", "id": "static:facts:new:01234567"}),
    # whole numbers without digits
    "rating": lambda a, _: a.add_short_term({"document": "x", "rating": HUGE}),
    "rating below": lambda a, _: a.add_short_term({"document": "x", "rating": -HUGE}),
    "rating by edit": lambda a, _: a.edit("e1", rating=HUGE),
    "rating twice": lambda *_: MemoryEntry("x", {"rating": HUGE}, rating=5),
    "importance": lambda a, _: a.add_short_term({"document": "x", "importance_score": HUGE}),
    "depth": lambda *_: MemoryEntry("x", depth=HUGE),
    "depth in the metadata": lambda *_: MemoryEntry("x", {"depth": HUGE}, depth=5),
    "timestamp": lambda a, _: a.add_short_term({"document": "x", "timestamp": HUGE}),
    "last access": lambda *_: MemoryEntry("x", last_access=HUGE),  # type: ignore[arg-type]
    "kind": lambda *_: MemoryEntry("x", kind=HUGE),  # type: ignore[arg-type]
    "tier": lambda *_: MemoryEntry("x", tier=HUGE),  # type: ignore[arg-type]
    "tags": lambda *_: MemoryEntry("x", tags={HUGE}),  # type: ignore[arg-type]
    "evidence": lambda *_: MemoryEntry("x", evidence=[HUGE]),  # type: ignore[arg-type]
    "a value of metadata": lambda *_: MemoryEntry("x", {"k": HUGE}),
    "a key of metadata": lambda *_: MemoryEntry("x", {HUGE: 1}),  # type: ignore[dict-item]
    "a field": lambda a, _: a.add_short_term({"document": "x", HUGE: 1}),  # type: ignore[dict-item]
    "a column": lambda a, _: a.add_short_term({"documents": ["x"], HUGE: 1}),  # type: ignore[dict-item]
    "top_k": lambda a, _: a.query_memory("x", HUGE),
    "threshold": lambda a, _: a.query_memory("x", threshold=HUGE),
    "static threshold": lambda a, _: a.explain("x", static_threshold=-HUGE),
    "static share": lambda a, _: a.explain("x", static_share=HUGE),
    "migration threshold": lambda a, _: a.migrate_stm2ltm(HUGE),
    "k": lambda a, _: a.summarize_and_forget(HUGE),
    "similar": lambda a, _: a.similar("e1", HUGE),
    "history": lambda a, _: a.history(HUGE),
    "history before": lambda a, _: a.history(before=10**30),
    "history before, huge": lambda a, _: a.history(before=HUGE),
    "undo": lambda a, _: a.undo(10**30),
    "undo, huge": lambda a, _: a.undo(-HUGE),
    "a weight": lambda *_: Weights(HUGE),
    "a decay": lambda *_: Scoring(decay=HUGE),
    "the clock": lambda _, w: w.stand_at(HUGE),  # type: ignore[arg-type]
    **{
        f"setting {name}": lambda a, _, name=name: a.configure(**{name: HUGE})  # type: ignore[misc]
        for name in AgentSettings.__dataclass_fields__
    },
    # times
    "now before time": lambda a, _: a.query_memory("x", now=BEFORE_TIME),
    "now before time, to plan": lambda a, _: a.plan_from_memory(BEFORE_TIME),
    "now before time, for events": lambda a, _: a.add_short_term({"document": "x"}, now=BEFORE_TIME),
    "a clock before time": lambda _, w: w.stand_at(BEFORE_TIME),
    "an event before time": lambda a, _: a.add_short_term({"document": "x", "timestamp": BEFORE_TIME}),
    # ids that are none
    "last version of half a pair": lambda a, _: a.last_version("\ud800"),
    "restore half a pair": lambda a, _: a.restore("\ud800"),
    "forget half a pair": lambda a, _: a.forget("\ud800"),
    "forget nothing": lambda a, _: a.forget(None),  # type: ignore[arg-type]
    "forget a number": lambda a, _: a.forget(5),  # type: ignore[arg-type]
    "forget a list of lists": lambda a, _: a.forget([[]]),  # type: ignore[list-item]
    "migrate a number": lambda a, _: a.migrate_stm2ltm(ids=5),  # type: ignore[arg-type]
    "rate nothing again": lambda a, _: a.rate_again(None),  # type: ignore[arg-type]
    "edit a list": lambda a, _: a.edit([], rating=5),  # type: ignore[arg-type]
    "edit a huge number": lambda a, _: a.edit(HUGE, rating=5),  # type: ignore[arg-type]
    "edit a field that is not there": lambda a, _: a.edit("e1", zzz=1),
    "evolve a field that is not there": lambda *_: MemoryEntry("x").evolve(zzz=1),
    "undo a text": lambda a, _: a.undo("x"),  # type: ignore[arg-type]
    # things of another sort
    "save nothing": lambda a, _: a.save_personality(None),  # type: ignore[arg-type]
    "save bytes": lambda a, _: a.save_personality(b"{}"),  # type: ignore[arg-type]
    "create from bytes": lambda _, w: w.create_agent("bo", b"{}"),  # type: ignore[arg-type]
    "create from an empty object": lambda _, w: w.create_agent("bo", "{}"),
    "create with half a pair": lambda _, w: w.create_agent("bo", '{"identity": {"name": "\ud800"}}'),
    "apply a text": lambda a, _: a.apply("x"),  # type: ignore[arg-type]
    "act as nobody": lambda a, _: a.acting_as(None),  # type: ignore[arg-type]
    "act as half a pair": lambda a, _: a.acting_as("\ud800").forget("e1"),
    "ask nothing": lambda a, _: a.query_memory(None),  # type: ignore[arg-type]
    "ask half a pair": lambda a, _: a.query_memory("\ud800"),
    "rate nothing": lambda a, _: a.rate(None),  # type: ignore[arg-type]
    "a setting that is not there": lambda a, _: a.configure(zzz=1),
    "an agent that is a list": lambda _, w: w.agent([]),  # type: ignore[arg-type]
    **{
        f"settings from {text[:12]!r}": lambda *_, text=text: AgentSettings.from_json(text)  # type: ignore[misc]
        for text in ("{}", "[]", '"x"', "5", "{", "[" * 100_000, '{"scoring": 5}', '{"scoring": {"weights": {}}}')
    },
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_answer_is_an_error_of_ours_and_nothing_has_changed(
    lived: AgentMemory, attacked: World, attack: Attack
) -> None:
    before = state(lived, attacked)
    with pytest.raises(MemorySystemError) as caught:
        attack(lived, attacked)
    assert 0 < len(caught.value.sentence) < 1000
    assert state(lived, attacked) == before


def test_an_event_cannot_take_the_place_of_a_fact_that_will_come(agent: AgentMemory) -> None:
    more = json.dumps(PERSONALITY | {"facts": ["The flood took the lower store."]})
    coming = agent.save_personality(more, preview=True).of("add")[0].entry_id
    with pytest.raises(InvalidEntry, match="reserved for facts of the personality"):
        agent.add_short_term({"document": "I am the queen", "id": coming})
    agent.save_personality(more)
    assert agent.find(coming).document == "The flood took the lower store."  # type: ignore[union-attr]


MANY_ERRORS = {
    "2,000 unknown keys": PERSONALITY | {f"key{number}": number for number in range(2000)},
    "499 relationships with five errors each": PERSONALITY
    | {
        "relationships": [
            {"name": 5, "relation": [], "trust": 7, "notes": "", f"more{number}": 1} for number in range(499)
        ]
    },
    "500 facts that say the same": PERSONALITY | {"facts": ["a"] * 500},
}


@pytest.mark.parametrize("body", MANY_ERRORS.values(), ids=MANY_ERRORS)
def test_a_personality_full_of_errors_is_refused_without_much_work_or_many_words(
    lived: AgentMemory, body: dict[str, Any]
) -> None:
    text = json.dumps(body, indent=1)
    with counted_calls() as calls, pytest.raises(InvalidPersonality) as caught:
        lived.save_personality(text)
    assert len(calls) < 10 * len(text)
    assert 1 < len(caught.value.problems) <= MAX_PROBLEMS == 100
    assert all(problem.line for problem in caught.value.problems)
    assert len(caught.value.sentence) < 1000
