"""Comparing: the same transcript under several strategies: tokens per turn, what is kept, and what is lost.

Lines: what was said to an agent in a talk, as the cues by which its memory was asked, to be asked by two presets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from ..agent import AgentMemory
from ..core.change_set import ModelCall
from ..core.entry import LIVED, Tier
from ..core.languages import long_word
from ..errors import InvalidParameter
from ..operations.context import Progress, no_progress, refuse_uncallable
from ..recall.query import Facets
from ..recall.versus import MOST_JUDGED
from .context import QUEUE, SUMMARY, Scene, build, counted
from .people import nature
from .playing import scene_of
from .strategies import STRATEGIES, Relief, Summariser
from .talk import SCENE, Blocks, Message, Role, Strategy, Talk, TalkSettings

MAX_MESSAGES = 2000
_TELLING = re.compile(long_word(4, r"[^\W_]") + r"|\d+")
_KEPT = 0.5
"""The share of a message's telling words that a summary must contain for the message to count as kept in it."""


class Fate(StrEnum):
    """What has become of a message at the end of a transcript."""

    PROMPT = "in the prompt"
    SUMMARY = "kept in the summary"
    SEARCH = "found by search only"
    """The agent can look it up by its functions."""
    LOST = "lost"
    """It is stored, but nothing brings it back into this conversation."""


@dataclass(frozen=True)
class Compared:
    """A transcript under one strategy.

    Args:
        settings: the strategy with its settings.
        tokens: of the prompt at each turn, estimated.
        summaries: after each turn, the summary as it was; empty if there is none.
        fates: what has become of each message, in their order.
        calls: of the language model, for summaries.
        notes: further remarks.
    """

    settings: TalkSettings
    tokens: tuple[int, ...]
    summaries: tuple[str, ...]
    fates: tuple[tuple[Message, Fate], ...]
    calls: tuple[ModelCall, ...]
    notes: tuple[str, ...]

    @property
    def summary(self) -> str:
        """The summary at the end."""
        return self.summaries[-1] if self.summaries else ""

    def of(self, fate: Fate) -> tuple[Message, ...]:
        """The messages of one fate."""
        return tuple(message for message, other in self.fates if other is fate)


def compare(
    agent: AgentMemory,
    transcript: Sequence[Message],
    settings: Sequence[TalkSettings],
    *,
    human: str = "You",
    now: datetime | None = None,
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Compared, ...]:
    """What each of several strategies would have made of the same talk; nothing is stored.

    Only what was said counts: functions and notices of the original talk are left out, and nothing is recalled. The
    language model is asked only for summaries.

    Args:
        agent: who talks.
        transcript: the messages, such as ``Conversation.messages``; at most 2,000.
        settings: the strategies.
        human: the name of the other.
        now: the world's time.
        progress: called with the progress so far.
        cancelled: called before each turn, to ask whether to stop; the strategies done by then are returned.

    Raises:
        InvalidParameter: the transcript is empty or too long.
    """
    refuse_uncallable(progress=progress, cancelled=cancelled)
    said = [message for message in transcript if message.said]
    if not 0 < len(said) <= MAX_MESSAGES:
        raise InvalidParameter(f"A transcript has 1 to {MAX_MESSAGES:,} messages of what was said, not {len(said):,}.")
    plain = [counted(replace(message, number=place, calls=(), call_id="")) for place, message in enumerate(said)]
    moment = agent.now if now is None else now
    found = []
    for number, talk_settings in enumerate(settings):
        progress(number / len(settings), f"Trying {talk_settings.strategy}, {number + 1} of {len(settings)}")
        talk = Talk("comparison", "", human, talk_settings)
        if talk_settings.strategy is Strategy.VIRTUAL:
            talk = replace(talk, blocks=Blocks(nature(agent, talk_settings.block_room)))
        trial = _Trial(
            talk, scene_of(agent, talk, moment, None, ()), Summariser(agent.display_name, agent.model), plain
        )
        if not trial.run(cancelled):
            break
        found.append(trial.compared())
    return tuple(found)


class _Trial:
    """A run of one strategy."""

    def __init__(self, talk: Talk, scene: Scene, summariser: Summariser, messages: Sequence[Message]) -> None:
        self._talk = talk
        self._scene = scene
        self._summariser = summariser
        self._messages = messages
        self._tokens: list[int] = []
        self._summaries: list[str] = []
        self._calls: list[ModelCall] = []
        self._notes: list[str] = []

    def run(self, cancelled: Callable[[], bool]) -> bool:
        """Say everything again; returns whether it reached the end."""
        strategy = STRATEGIES[self._talk.settings.strategy]
        for turn in turns(self._messages):
            if cancelled():
                return False
            self._talk = replace(self._talk, queue=strategy.past(self._talk, self._read))
            for _ in range(40):
                context = build(self._scene, self._talk, turn[:1])
                relief = strategy.relieved(self._talk, context.wanted, self._talk.budget, self._summariser)
                if relief is None:
                    break
                self._take(relief)
            self._tokens.append(context.tokens)
            queue = (*self._talk.queue, *turn)
            self._talk = replace(self._talk, queue=queue, next_number=turn[-1].number + 1)
            if (relief := strategy.ended(self._talk, self._summariser)) is not None:
                self._take(relief)
            self._summaries.append(self._talk.summary)
        return True

    def compared(self) -> Compared:
        """The result: what the next prompt would contain, and what it would not."""
        strategy = STRATEGIES[self._talk.settings.strategy]
        talk = replace(self._talk, queue=strategy.past(self._talk, self._read))
        context = build(self._scene, talk, ())
        queue = context.section(QUEUE)
        numbers = {message.number for message in queue.messages} if queue else set()
        summary = context.section(SUMMARY)
        words = _telling(summary.text) if summary else frozenset()
        virtual = talk.settings.strategy is Strategy.VIRTUAL
        telling = _own_words(self._messages)
        fates = tuple(
            (message, _fate(message.number in numbers, own, words, searched=virtual))
            for message, own in zip(self._messages, telling, strict=True)
        )
        return Compared(
            talk.settings,
            tuple(self._tokens),
            tuple(self._summaries),
            fates,
            tuple(self._calls),
            tuple(dict.fromkeys(self._notes)),
        )

    def _read(self, number: int) -> Message | None:
        return self._messages[number] if 0 <= number < len(self._messages) else None

    def _take(self, relief: Relief) -> None:
        self._talk = relief.talk
        self._calls += relief.calls
        self._notes += relief.notes


def turns(messages: Sequence[Message]) -> list[list[Message]]:
    """The messages in turns: what the human says, and the answer."""
    found: list[list[Message]] = []
    for message in messages:
        if message.role is Role.USER or not found:
            found.append([])
        found[-1].append(message)
    return found


def _fate(in_prompt: bool, own: frozenset[str], summary: frozenset[str], *, searched: bool) -> Fate:
    if in_prompt:
        return Fate.PROMPT
    if own and len(own & summary) >= _KEPT * len(own):
        return Fate.SUMMARY
    return Fate.SEARCH if searched else Fate.LOST


def _own_words(messages: Sequence[Message]) -> list[frozenset[str]]:
    """The words that distinguish each message from the others; all of its telling words if none does."""
    all_words = [_telling(message.text) for message in messages]
    counted_words = Counter(word for words in all_words for word in words)
    most = max(2, len(messages) // 5)
    rare = [frozenset(word for word in words if counted_words[word] <= most) for words in all_words]
    return [own or words for own, words in zip(rare, all_words, strict=True)]


def _telling(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _TELLING.findall(text))


@dataclass(frozen=True)
class Lines:
    """What others said to an agent in a talk, and how it queries memory.

    Args:
        cues: the lines, each once, in the order in which they were first said.
        top_k: how many memories a line recalls at most in this talk; ``None`` = the agent's setting, if the talk
            recalls none.
        without: ids of memories of the talk itself, which did not exist when it began.
    """

    cues: tuple[str, ...] = ()
    top_k: int | None = None
    without: tuple[str, ...] = ()

    @property
    def facets(self) -> Facets:
        """What the lines may recall."""
        return Facets(without=self.without)


def lines_of(agent: AgentMemory, talk: Talk, messages: Sequence[Message]) -> Lines:
    """The lines of a talk, the last 200 of them.

    Args:
        agent: whose talk it is.
        talk: as it is now.
        messages: the talk's, such as ``Conversation.messages`` or ``Interview.transcript``.
    """
    said = (message.said.strip() for message in messages if message.role is Role.USER and message.speaker != SCENE)
    cues = tuple(dict.fromkeys(filter(None, said)))
    return Lines(cues[-MOST_JUDGED:], talk.settings.recalled or None, _left_by(agent, talk.id))


def _left_by(agent: AgentMemory, talk_id: str) -> tuple[str, ...]:
    """The ids of the notes, turns and synopses of a talk, in whichever tier they are now."""
    begins = tuple(f"{what}-{talk_id}-" for what in ("note", "turn", "synopsis"))
    found: list[str] = []
    for tier in LIVED:
        if tier is not Tier.STATIC:
            with agent.contents.shelf(tier) as table:
                found += [entry_id for entry_id in table.ids if entry_id.startswith(begins)]
    return tuple(found)
