"""A conversation that grows to a million tokens in a context of two thousand: does a turn stay as small and as quick?

    python -m benchmarks.conversation [--tokens 1000000] [--turns 10000] [--budget 2000] [--strategy virtual]
    python -m benchmarks.conversation --tokens 30000 --turns 0      (a minute)

Every turn states a fact of its own, some 130 tokens with its answer. It goes on until so many tokens and turns have
been said. Printed for each tenth of it: the most tokens in a prompt that was sent and in the summary, the median and
the slowest milliseconds of a turn, the median processor time, and how that compares with the first tenth, since the
clock on the wall also counts other programs. Then how often the turn that stated a fact is among the first five
results of ``conversation_search``, asked in three ways, and how long a search takes.

A turn is everything a caller waits for except the language model: recall, the prompt, functions, eviction with its
summary, embedding, the journal's commit (synced to disk) and Chroma. The language model is a rule that answers at once,
or with ``--model offline`` the offline model, whose own time then counts too; summaries are the offline model's.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_system import AgentMemory, Settings
from memory_system.conversation.conversation import Conversation
from memory_system.conversation.searching import conversation_search
from memory_system.conversation.talk import Strategy, TalkSettings
from memory_system.embedding.embedder import CachedEmbedder, Embedder, MiniLM
from memory_system.llm.base import Heard, Reply, ToolCall, traced, unheard
from memory_system.llm.offline.model import OfflineModel
from memory_system.llm.tokens import estimate

_SYLLABLES = "zan or mi ta lo bren da os win hes ter ca li na rod ver ush el ga dor pim qua sel tor".split()
_TOWNS = "Ostwick Millbrook Farrow Saltby Herndon Quillet Dunmere Ashby Toll Wrexley Carrow Penhale Stroud".split()
_GOODS = (
    "barrels of herring",
    "sacks of flour",
    "coils of rope",
    "crates of pears",
    "bolts of linen",
    "jars of honey",
    "oak planks",
)
_ASKED = {"barrels of herring": "fish", "sacks of flour": "something to bake with", "coils of rope": "cordage"}
_FILL = "The road was long and it rained most of the way."
_START = datetime(2026, 3, 27, 8, 0, tzinfo=UTC)
_SAMPLE = 150


@dataclass(frozen=True)
class Fact:
    """What one turn states, and three questions that only this turn answers."""

    told: str
    questions: Mapping[str, str]


def facts(count: int) -> list[Fact]:
    """Facts with names of their own, the same ones in each run."""
    chance = random.Random(7)  # noqa: S311 - a benchmark's texts, not a secret
    found: dict[str, Fact] = {}
    number = 0
    while len(found) < count:
        name = "".join(chance.choice(_SYLLABLES) for _ in range(4)).capitalize()
        if name in found:
            continue
        number += 1
        town, goods = chance.choice(_TOWNS), chance.choice(_GOODS)
        told = f"My cousin {name} bought {number} {goods} in {town}. {_FILL}"
        questions = {
            "by its own words": f"{name} bought {goods} in {town}",
            "by a question": f"What did {name} get, and where?",
            "by a number, without the name": f"Who bought {number} {_ASKED.get(goods, goods)} in {town}?",
        }
        found[name] = Fact(told, questions)
    return list(found.values())


class Rule(OfflineModel):
    """Answers at once, whatever is said; summarises and rates like the offline model."""

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        deadline: float | None = None,  # noqa: ARG002
        heard: Heard = unheard,
    ) -> Reply:
        """One sentence."""
        text = "I see; tell me more of that when we meet again."
        heard(text)
        call = ToolCall("call", "send_message", json.dumps({"message": text}))
        return traced(self.name, messages, "" if tools else text, (call,) if tools else (), None, 0.0)


@dataclass(frozen=True)
class Turn:
    """The cost of one turn."""

    milliseconds: float
    processor: float
    tokens: int
    summary: int


def talked(
    agent: AgentMemory, settings: TalkSettings, told: Sequence[Fact], tokens: int, least: int
) -> tuple[list[Turn], str]:
    """State facts until so many tokens and turns were said; returns each turn's cost, and the conversation's id."""
    talk = Conversation.begin(agent, human="Ann", settings=settings, now=_START)
    turns: list[Turn] = []
    said, shown = 0, 0
    for number, fact in enumerate(told):
        if said >= tokens and number >= least:
            break
        started, used = time.perf_counter(), time.process_time()
        step = talk.step(fact.told, now=_START + timedelta(minutes=number))
        took, used = (time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000
        if step.problem or step.context.tokens > settings.budget:
            raise SystemExit(f"Turn {number} went wrong: {step.problem or step.context.tokens}.")
        turns.append(Turn(took, used, step.context.tokens, estimate(talk.head.summary)))
        said += sum(message.tokens for message in step.messages)
        done = min(said / tokens, (number + 1) / least if least else 1.0)
        if int(done * 10) > shown:
            shown = int(done * 10)
            _row(turns, shown, said)
    return turns, talk.id


def _row(turns: Sequence[Turn], tenth: int, said: int) -> None:
    """Print the last tenth of what was said so far, compared with the first."""
    size = max(1, len(turns) // max(1, tenth))
    some, first = turns[-size:], turns[:size]
    used = statistics.median(turn.processor for turn in some)
    print(
        f"| {said:,} | {len(turns):,} | {max(turn.tokens for turn in some):,} | {max(turn.summary for turn in some)} "
        f"| {statistics.median(turn.milliseconds for turn in some):.0f} "
        f"| {max(turn.milliseconds for turn in some):.0f} | {used:.0f} "
        f"| {used / statistics.median(turn.processor for turn in first):.2f} |",
        flush=True,
    )


def searched(agent: AgentMemory, conversation: str, told: Sequence[Fact], size: int = 5) -> None:
    """Print how often the turn that stated a fact is found, and how long that takes."""
    chance = random.Random(11)  # noqa: S311 - a benchmark's sample
    sample = chance.sample(list(told), min(_SAMPLE, len(told)))
    print(f"\n| asked of {len(told):,} turns | recall@{size} | median ms |\n|---|---:|---:|")
    for way in sample[0].questions:
        found, took = 0, list[float]()
        for fact in sample:
            started = time.perf_counter()
            page = conversation_search(agent, fact.questions[way], conversation=conversation, at=_START, size=size)
            took.append((time.perf_counter() - started) * 1000)
            found += any(one.text == fact.told for one in page.found)
        print(f"| {way} | {found / len(sample):.3f} | {statistics.median(took):.0f} |", flush=True)


def main() -> None:
    """Run it and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=1_000_000, help="tokens said in all")
    parser.add_argument("--turns", type=int, default=10_000, help="turns at least")
    parser.add_argument("--budget", type=int, default=2000, help="tokens of the context")
    parser.add_argument("--strategy", choices=list(Strategy), default=Strategy.VIRTUAL)
    parser.add_argument("--model", choices=("rule", "offline"), default="rule")
    given = parser.parse_args()
    settings = TalkSettings(Strategy(given.strategy), given.budget)
    told = facts(max(20, given.turns, given.tokens // 40))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "personalities").mkdir()
        (home / "personalities" / "mira.json").write_text('{"identity": {"name": "Mira Holloway"}}', encoding="utf-8")
        embedder: Embedder = CachedEmbedder(MiniLM(Settings().cache))
        model = Rule(embedder) if given.model == "rule" else OfflineModel(embedder)
        with AgentMemory(
            "mira",
            database=home / "database",
            personalities=home / "personalities",
            embedder=embedder,
            model=model,
            clock=lambda: _START,
        ) as agent:
            print("| tokens said | turns | prompt | summary | median ms | slowest | CPU ms | ratio to first tenth |")
            print("|---:|---:|---:|---:|---:|---:|---:|---:|")
            turns, conversation = talked(agent, settings, told, given.tokens, given.turns)
            searched(agent, conversation, told[: len(turns)])


if __name__ == "__main__":
    main()
