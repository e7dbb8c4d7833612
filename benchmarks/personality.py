"""Questions about the character itself: how often a fact of the right field of its personality is recalled.

    python -m benchmarks.personality

The six characters of the sample world are asked 57 questions ("What is my job?", "What do I hope for?"), each also as
somebody else puts it to them ("What is your job?"), and by name if it has a form for that. A question counts if a fact
of its field is among the first five. Beside it stands the same without reading which field is asked for, which is how
much the words and vectors find. The other questions have no answer in a personality: none should be answered by it.

The grammar was written with these questions in view, so the figures say what it covers, not how it does with others.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.maintenance import fill_world
from memory_system.recall.hybrid import Cue, TextIndex

FIRST = 5
SAMPLE = Path(__file__).parents[1] / "database" / "samples" / "harrow_quay"
QUESTIONS = {
    "identity:name": ["What is my name?", "Who am I?", "What am I called?", "What do people call me?"],
    "identity:age": ["How old am I?", "What is my age?", "How many years old am I?", "Am I young or old?"],
    "identity:profession": [
        *["What is my job?", "What do I do for a living?", "What is my profession?", "What kind of work do I do?"],
        *["What is my occupation?", "What do I work as?", "How do I earn my money?", "What is my trade?"],
    ],
    "identity:home": ["Where do I live?", "Where is my home?", "Where do I sleep?", "What is my address?"],
    "identity:birthplace": [
        *["Where was I born?", "Where do I come from?", "Where did I grow up?", "What is my home town?"],
    ],
    "traits": [
        *["What am I like?", "What are my traits?", "What kind of person am I?", "What are my strengths?"],
        *["What is my personality?", "What are my habits?", "How do people see me?", "What is my character?"],
    ],
    "long_term_goals": [
        *["What are my goals?", "What do I want?", "What is my dream?", "What am I trying to achieve?"],
        *["What do I hope for?", "What is my ambition?", "What are my plans for the future?"],
    ],
    "relationships": [
        *["Who are my friends?", "Whom do I trust?", "Whom do I know?", "Whom do I distrust?", "Who is close to me?"],
        *["Who are the people in my life?", "Whom can I rely on?"],
    ],
    "societal_rules": ["What are the rules here?", "What laws do we have?", "What is forbidden here?"],
    "environment": ["What places are there?", "Where can I go in the village?", "What is around here?"],
    "routine": [
        *["What do I do every day?", "What is my daily routine?", "What do I usually do in the morning?"],
        *["How do I spend my days?", "What does a normal day look like for me?"],
    ],
}
UNRELATED = [
    *["Who won the football world cup?", "How do I bake a chocolate cake?", "What is the capital of France?"],
    *["What is my favourite colour?", "Do I like jazz?", "Which computer games do I play?", "Have I been to Japan?"],
    *["How do rockets work?", "What did the president say on television?", "What is my phone number?"],
    *["What is my blood group?", "What is my brother's job?"],
]
_YOU = {
    "Am I": "Are you",
    " am I": " are you",
    " was I": " were you",
    " my ": " your ",
    " I ": " you ",
    " I?": " you?",
    " me?": " you?",
}


def as_others_ask(question: str) -> str:
    """The question as somebody else puts it to the character; the same if it is about no person."""
    for mine, yours in _YOU.items():
        question = question.replace(mine, yours)
    return question


def found(agent: AgentMemory, field: str, cue: str, *, addressed: bool = False) -> bool:
    """Whether a fact of the field is among the first five."""
    hits = agent.query_memory(cue, FIRST, touch=False, addressed=addressed).hits
    return any(hit.entry.id.startswith(f"static:{field}:") for hit in hits)


def shares(agents: Sequence[AgentMemory]) -> Iterator[tuple[str, float, float]]:
    """For each field, then for all: the share of questions that find it, asked by the character and by others."""
    of_all: tuple[list[bool], list[bool]] = [], []
    for field, questions in QUESTIONS.items():
        known = [agent for agent in agents if _has(agent, field)]
        own = [found(agent, field, cue) for agent in known for cue in questions]
        others = [found(agent, field, as_others_ask(cue), addressed=True) for agent in known for cue in questions]
        of_all[0].extend(own)
        of_all[1].extend(others)
        yield field, float(np.mean(own)), float(np.mean(others))
    yield "all", float(np.mean(of_all[0])), float(np.mean(of_all[1]))


def answered_by_personality(agents: Sequence[AgentMemory]) -> float:
    """The share of the unrelated questions for which a fact of the personality is recalled."""
    return float(
        np.mean(
            [
                any(hit.entry.tier is Tier.STATIC for hit in agent.query_memory(cue, FIRST, touch=False))
                for agent in agents
                for cue in UNRELATED
            ]
        )
    )


@contextmanager
def by_words_and_vectors_alone() -> Iterator[None]:
    """Within it, no cue asks for a field."""
    reading = TextIndex.of_fields

    def none(index: TextIndex, _cue: Cue) -> NDArray[np.float64]:
        return np.zeros(len(index))

    TextIndex.of_fields = none  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        TextIndex.of_fields = reading  # type: ignore[method-assign]


def _has(agent: AgentMemory, field: str) -> bool:
    return any(entry.id.startswith(f"static:{field}:") for entry in agent.entries(Tier.STATIC))


def _of_sample(home: str) -> tuple[list[tuple[str, float, float]], float]:
    settings = Settings(database=Path(home, "database"), personalities=Path(home, "personalities"), llm="offline")
    with World(settings) as world:
        if not world.agents():
            fill_world(world, SAMPLE)
        agents = [world.agent(name) for name in world.agents()]
        return list(shares(agents)), answered_by_personality(agents)


def main() -> None:
    """Ask, and print the table."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as home:
        with by_words_and_vectors_alone():
            before, wrong_before = _of_sample(home)
        after, wrong_after = _of_sample(home)
    print("| field | asked by itself, %, words and vectors alone | and the field | by others, alone | and the field |")
    print("|---|---:|---:|---:|---:|")
    for (field, own, others), (_field, own_now, others_now) in zip(before, after, strict=True):
        print(f"| {field.split(':')[-1]} | {own:.0%} | {own_now:.0%} | {others:.0%} | {others_now:.0%} |")
    print(f"| unrelated, answered by the personality | {wrong_before:.0%} | {wrong_after:.0%} | | |")


if __name__ == "__main__":
    main()
