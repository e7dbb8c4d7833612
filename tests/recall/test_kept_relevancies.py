"""What was worked out for a cue is kept, bounded, and never answers for memories that have changed."""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_system import AgentMemory, Tier, World
from memory_system.core.scoring import Measure, Scoring, Weights
from memory_system.recall import rank as recall_module
from memory_system.recall.expansion import Relevancy
from memory_system.recall.hybrid import UNKNOWN, Kept, TokenStates
from memory_system.recall.measures import Hybrid
from memory_system.recall.rank import Recall, answer
from tests.conftest import NOW

CUES = ["Who has the brass key?", "the tide mill yesterday", "What did Tobias bake?", "smoke over the north field"]


Told = list[tuple[str, float, dict[str, float]]]


def told(recall: Recall) -> Told:
    return [(hit.entry.id, hit.score.total, dict(hit.score.sub_parts)) for hit in recall]


def as_if_never_asked(
    agent: AgentMemory, cue: str, tokens: TokenStates, *, threshold: float = 0, top_k: int | None = None
) -> Told:
    """What the agent would recall if nothing had been kept."""
    tokens.relevancies = Kept()
    query = agent.query(cue, threshold=threshold, top_k=top_k)
    vector = agent.contents.embedded([cue])[0]
    with (
        agent.contents.shelf(Tier.STATIC) as static,
        agent.contents.shelf(Tier.STM) as stm,
        agent.contents.shelf(Tier.LTM) as ltm,
    ):
        tables = {Tier.STATIC: static, Tier.STM: stm, Tier.LTM: ltm}
        measured = Hybrid(tokens).measure(query, vector, tables)
        return told(answer(query, vector, tables, agent.name, explain=False, measured=measured))


def test_a_cue_is_answered_as_if_never_asked_whatever_was_written_between(agent: AgentMemory) -> None:
    chance = random.Random(3)
    texts = ["Lent Tobias the brass key", "Baked forty loaves", "Saw smoke over the field", "The mill stood still"]
    tokens = TokenStates.of(agent.embedder)
    for step in range(40):
        cue = chance.choice(CUES)
        recalled = agent.query_memory(cue, threshold=0, touch=False)
        assert told(recalled) == as_if_never_asked(agent, cue, tokens)
        match chance.randrange(4):
            case 0:
                event = {"document": f"{chance.choice(texts)} {step}", "rating": 5, "timestamp": NOW}
                agent.add_short_term(event, rate=False)
            case 1 if stm := agent.entries(Tier.STM):
                agent.edit(stm[0].id, document=f"{chance.choice(texts)}, told anew {step}")
            case 2 if stm := agent.entries(Tier.STM):
                agent.forget(stm[-1].id)
            case _:
                agent.query_memory(chance.choice(CUES), threshold=0)


def test_a_cue_is_answered_as_if_never_asked_at_whatever_threshold(
    agent: AgentMemory, remember: Callable[..., str]
) -> None:
    for number in range(30):
        remember(f"Lent Tobias the brass key of shed {number}")
    cue, thresholds = "Who has the brass key of shed 3?", (0.5, 0.0, 0.9, 0.2, 0.5, 0.99, 0.0)
    tokens = TokenStates.of(agent.embedder)
    for threshold in thresholds:
        recalled = agent.query_memory(cue, threshold=threshold, top_k=20, touch=False)
        assert told(recalled) == as_if_never_asked(agent, cue, tokens, threshold=threshold, top_k=20)


@given(st.lists(st.floats(0, 1) | st.just(math.nan), max_size=400), st.lists(st.floats(0, 1), max_size=8))
def test_what_reaches_a_relevancy_is_the_same_each_time(values: list[float], asked: list[float]) -> None:
    held = Relevancy(np.array(values), {}, UNKNOWN)
    for least in (*asked, *asked, -math.inf, math.inf):
        assert held.reaching(least).tolist() == [row for row, value in enumerate(values) if value >= least]


def test_a_cue_asked_again_costs_no_token_states(agent: AgentMemory, remember: Callable[..., str]) -> None:
    remember("Lent Tobias the brass key to the tide mill")
    first = [hit.score for hit in agent.query_memory(CUES[0], threshold=0, touch=False)]
    asked: list[str] = []
    get = agent.contents.tokens.get
    agent.contents.tokens.get = lambda texts: asked.extend(texts) or get(texts)  # type: ignore[method-assign, func-returns-value]
    assert [hit.score for hit in agent.query_memory(CUES[0], threshold=0, touch=False)] == first
    assert asked == []
    agent.query_memory(CUES[1], threshold=0, touch=False)
    assert CUES[1] in asked


def test_yesterday_is_counted_from_each_day_and_zone(agent: AgentMemory, remember: Callable[..., str]) -> None:
    remember("Baked forty loaves", hours_ago=30)
    at_midnight = NOW.replace(hour=23, minute=30)
    there = timezone(timedelta(hours=5))

    def times(now: datetime) -> float:
        (hit,) = agent.query_memory("loaves yesterday", now=now, threshold=0, static_share=0, top_k=1, touch=False)
        return hit.score.sub_parts["times"]

    assert times(at_midnight) > 0
    assert times(at_midnight + timedelta(hours=1)) == 0  # the day before yesterday by now
    assert times(at_midnight.astimezone(there)) == 0
    assert times(at_midnight) > 0


def test_the_agents_of_a_world_share_the_room(world: World, agent: AgentMemory) -> None:
    other = world.create_agent("juno")
    agent.query_memory(CUES[0])
    filled = agent.contents.tokens.relevancies.size
    other.query_memory(CUES[0])
    assert other.contents.tokens is agent.contents.tokens
    assert agent.contents.tokens.relevancies.size > filled > 0


def test_what_is_kept_never_takes_more_than_its_room() -> None:
    kept: Kept[str] = Kept(room=100_000)
    for number in range(500):
        kept.put(number, 1, f"value {number}", 1000)
        assert kept.size <= 100_000
    assert kept.get(499, 1) == "value 499"
    assert kept.get(0, 1) is None
    kept.put("huge", 1, "value", 10_000_000)
    assert kept.get("huge", 1) is None


def test_a_newer_version_takes_the_place_of_the_older() -> None:
    kept: Kept[str] = Kept()
    kept.put("cue", 1, "then", 1000)
    held = kept.size
    kept.put("cue", 2, "now", 1000)
    assert (kept.get("cue", 1), kept.get("cue", 2), kept.size) == (None, "now", held)


def test_threads_that_keep_and_ask_at_once_leave_the_count_right() -> None:
    kept: Kept[int] = Kept(room=50_000)

    def use(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(2000):
            key = chance.randrange(40)
            if (held := kept.get(key, 1)) is not None:
                assert held == key
            kept.put(key, 1, key, chance.randrange(3000))

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < kept.size <= 50_000
    for key in range(40):
        kept.put(key, 2, key, 50_000)
    assert kept.size == 0


@pytest.mark.parametrize("weights", [Weights(0.02, 0.05, 1), Weights(3, 0, 0.2), Weights(0, 1, 1), Weights(10, 10, 0)])
def test_a_large_table_recalls_what_every_score_says(
    agent: AgentMemory, monkeypatch: pytest.MonkeyPatch, weights: Weights
) -> None:
    monkeypatch.setattr(recall_module, "FEW", 10)
    chance = random.Random(5)
    words = ["key", "mill", "ferry", "bread", "smoke", "Tobias", "rain", "harbour", "lamp"]
    events = [
        {
            "document": " ".join(chance.choices(words, k=5)),
            "rating": chance.choice([None, 2, 5, 9]),
            "timestamp": NOW - timedelta(hours=chance.choice([0, 1, 40, 900])),
        }
        for _ in range(60)
    ]
    agent.add_short_term(events, rate=False)
    scoring = Scoring(weights, measure=Measure.HYBRID)
    for threshold in (0.0, 0.3, 1.5):
        for later in (0, 30):
            cue, now = "Who brought the lamp?", NOW + timedelta(hours=later)
            whole = agent.explain(cue, 9, threshold, now=now, scoring=scoring)
            quick = agent.query_memory(cue, 9, threshold, now=now, scoring=scoring, touch=False)
            assert quick.hits == whole.hits
