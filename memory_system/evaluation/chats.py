"""Chats over several sessions: what was said long ago, and how to greet an acquaintance.

Deep memory retrieval and the conversation opener after MemGPT (Packer et al. 2023, arXiv 2310.08560, section 3.1).
The data are LoCoMo conversations, or Multi-Session Chat as MemGPT asks it (MSC-Self-Instruct), one chat per line:
``{"personas": [[facts], [facts]], "previous_dialogs": [{"dialog": [{"text"}]}], "dialog": [...],
"self_instruct": {"B": question, "A": answer}}``. The agent plays the first speaker; every session is told to it as a
conversation, and what overflows migrates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from ..agent import AgentMemory
from ..embedding.embedder import Embedder
from ..errors import InvalidEntry
from ..recall.hybrid.speakers import speaker_of
from .data import Form
from .experiment import Experiment, Item, Lab, plain_words
from .forms import Problems, Source, cue_text, field_of
from .locomo import read_locomo
from .personality import personality
from .sources import read_form

_FIRST, _APART = datetime(2024, 1, 1, 12, tzinfo=UTC), timedelta(days=7)
"""The times of the sessions of a chat without dates."""
_SPEAKERS = ("Speaker 1", "Speaker 2")

Turn = tuple[str, str, datetime]
"""Who says what, and when."""


@dataclass(frozen=True)
class Chat:
    """A chat between two people.

    Args:
        name: what it is called.
        sessions: the turns of each session, in order.
        questions: each with its answer and its category.
        facts: what is true of the agent's partner, if the data include it.
    """

    name: str
    sessions: tuple[tuple[Turn, ...], ...]
    questions: tuple[tuple[str, str, str], ...]
    facts: tuple[str, ...] = ()

    @property
    def speakers(self) -> tuple[str, str]:
        """Whose memory it is, and the partner."""
        names = list(dict.fromkeys(who for session in self.sessions for who, _, _ in session))
        return names[0], (names[1:] or ["You"])[0]


def chats(lab: Lab) -> Iterator[Chat]:
    """The chats of the files.

    Raises:
        InvalidFile: a path holds no chats, or a line is invalid.
    """
    for source in read_form(lab.paths, Form.LOCOMO, Form.CHATS):
        if source.form is Form.LOCOMO:
            yield _locomo(source)
            continue
        problems = Problems(source)
        found = []
        for line in source.lines:
            name = f"{source.name} {line.number}"
            chat = problems.attempt(line.number, partial(_chat, name), line.value)
            found += [chat] if chat else []
        problems.refuse()
        yield from found


def _locomo(source: Source) -> Chat:
    data = read_locomo(source, captions=False)
    answers = {item.get("q"): str(item.get("a", "")) for item in source.document["qa"]}
    sessions = []
    for _, some in groupby(data.entries, lambda entry: entry.extras["conversation"]):
        sessions.append(tuple((*speaker_of(entry.document), entry.timestamp or _FIRST) for entry in some))
    asked = ((question.cue, answers[question.cue], question.category or "chats") for question in data.questions)
    return Chat(source.name, tuple(sessions), tuple(question for question in asked if plain_words(question[1])))


def _chat(name: str, line: Mapping[str, Any]) -> Chat:
    dialogs = [field_of(session, "dialog") for session in field_of(line, "previous_dialogs")]
    sessions = []
    for number, dialog in enumerate([*dialogs, line.get("dialog") or []]):
        texts = [field_of(turn, "text") for turn in dialog]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise InvalidEntry("the text of a turn must be a text that is not empty")
        at = _FIRST + number * _APART
        names = [
            turn["id"] if turn.get("id") in _SPEAKERS else _SPEAKERS[place % 2] for place, turn in enumerate(dialog)
        ]
        turns = [(names[place], text, at + place * timedelta(seconds=30)) for place, text in enumerate(texts)]
        sessions += [tuple(turns)] if turns else []
    if not sessions:
        raise InvalidEntry("nothing is said in any session")
    asked = line.get("self_instruct") or {}
    questions = ((cue_text(asked["B"]), str(asked["A"]), "chats"),) if {"A", "B"} <= set(asked) else ()
    facts = [str(fact) for fact in (line.get("personas") or [[], []])[-1]]
    return Chat(name, tuple(sessions), questions, tuple(facts))


def _tell(agent: AgentMemory, session: tuple[Turn, ...]) -> None:
    now = session[-1][2]
    turns = [{"speaker": who, "text": text, "timestamp": at} for who, text, at in session]
    agent.remember_conversation(turns, now=now)
    agent.migrate_stm2ltm(now=now)


def _living(
    lab: Lab, most: int | None = None
) -> Iterator[tuple[Chat, AgentMemory, tuple[str, ...], tuple[Turn, ...] | None]]:
    """Each chat with its agent, what was said before as lines, and the next session; ``None`` after the last."""
    for number, chat in enumerate(chats(lab)):
        agent = lab.world.create_agent(f"chat-{number}", personality(chat.speakers[0], 0))
        lines: list[str] = []
        for place, session in enumerate(chat.sessions[:most]):
            if lab.stop():
                return
            lab.say(f"{chat.name}: told {place:,} of {len(chat.sessions):,} sessions")
            yield chat, agent, tuple(lines), session
            _tell(agent, session)
            lines += [f"({at:%Y-%m-%d}) {who}: {text}" for who, text, at in session]
        yield chat, agent, tuple(lines), None


def rouge_recall(answer: str, right: str) -> float:
    """ROUGE-L recall, 0 to 1: the longest common subsequence of words over the words of the right answer (Lin 2004)."""
    said, right_words = plain_words(answer), plain_words(right)
    longest = [0] * (len(said) + 1)
    for word in right_words:
        before = 0
        for place, other in enumerate(said, start=1):
            before, longest[place] = (
                longest[place],
                (before + 1 if word == other else max(longest[place], longest[place - 1])),
            )
    return longest[-1] / len(right_words)


def f1(answer: str, right: str) -> float:
    """The harmonic mean of precision and recall of words, 0 to 1, as LoCoMo and SQuAD measure answers."""
    said, right_words = plain_words(answer), plain_words(right)
    both = sum((Counter(said) & Counter(right_words)).values())
    return 2 * both / (len(said) + len(right_words))


def questions(lab: Lab) -> Iterator[Item]:
    """Questions about what was said, asked after the last session; the limit is on the questions of each chat."""
    for chat, agent, lines, coming in _living(lab):
        if coming is not None:
            continue
        now = chat.sessions[-1][-1][2] + timedelta(hours=1)
        for number, (question, right, category) in enumerate(chat.questions[: lab.limit]):

            def measure(answer: str, right: str = right) -> tuple[float, ...]:
                return rouge_recall(answer, right), f1(answer, right)

            name = f"{chat.name} question {number}"
            yield Item(name, category, question, right, agent, now, lines, measure, chat.speakers[1])


def nearness(opener: str, facts: tuple[str, ...], human: str, embedder: Embedder) -> tuple[float, ...]:
    """How close an opener is to the known facts and to a person's opener: cosines, 0 to 1; 0 without an opener.

    Returns:
        MemGPT's SIM-1, SIM-3 and SIM-H: the nearest fact, the mean of the three nearest, and the person's opener.
    """
    if not opener.strip():
        return 0.0, 0.0, 0.0
    said, person, *known = embedder.embed([opener, human, *facts])
    nearest = np.sort(np.clip(np.array(known) @ said, 0, 1))[::-1]
    return float(nearest[0]), float(nearest[:3].mean()), float(np.clip(person @ said, 0, 1))


def openers(lab: Lab) -> Iterator[Item]:
    """The first words of every session but the first one; the limit is on the sessions of each chat.

    Compared with the facts about the agent's partner, or, if the data have none, with what they said before.
    """
    for chat, agent, lines, coming in _living(lab, None if lab.limit is None else lab.limit + 1):
        place = 0 if coming is None else chat.sessions.index(coming)
        if coming is None or place == 0:
            continue
        human = chat.speakers[1]
        said = tuple(text for session in chat.sessions[:place] for who, text, _ in session if who == human)
        facts, first = chat.facts or said or lines, coming[0][1]

        def measure(answer: str, facts: tuple[str, ...] = facts, first: str = first) -> tuple[float, ...]:
            return nearness(answer, facts, first, lab.world.embedder)

        question = f"It is {coming[0][2]:%d %B %Y}, and you meet {human} again. What do you say first?"
        name = f"{chat.name} session {place + 1}"
        yield Item(name, "openers", question, "", agent, coming[0][2], lines, measure, human)


_OF_TALKS = "You remember what you and others said in earlier talks."
RETRIEVAL = Experiment(
    "What was said in earlier sessions of a chat (MemGPT, section 3.1.1); reads LoCoMo and MSC-Self-Instruct.",
    f"{_OF_TALKS} Answer the question with as few words as possible.",
    ("ROUGE-L recall", "F1"),
    questions,
    newest=True,
)
OPENER = Experiment(
    "The first words of a new session (MemGPT, section 3.1.2); reads LoCoMo and MSC-Self-Instruct.",
    f"{_OF_TALKS} Greet with one or two sentences that take up what you know of whom you meet.",
    ("SIM-1", "SIM-3", "SIM-H"),
    openers,
    newest=True,
    judged=False,
)
