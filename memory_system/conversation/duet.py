"""Duet: two characters who talk with each other, each with a memory of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import singledispatch
from typing import Any, Protocol, Self

from ..agent import AgentMemory
from ..core.change_set import ChangeSet, is_text
from ..core.scoring import whole
from ..errors import InvalidParameter
from ..llm.base import Heard, unheard
from .conversation import Conversation
from .steps import Step
from .talk import SCENE, Message, TalkSettings

__all__ = ["MAX_TURNS", "SCENE", "Duet", "Said"]

MAX_TURNS = 200
_BACK = 300
"""Messages in which the last thing that was said is looked for: a step may call functions a hundred times."""


@dataclass(frozen=True)
class Said:
    """One thing that was said: by whom, what, and the step by which the speaker came to it."""

    speaker: str
    text: str
    step: Step


class Character(Protocol):
    """Who can talk: an agent of this process or of a server."""

    @property
    def name(self) -> str:
        """The agent's name."""

    @property
    def display_name(self) -> str:
        """The name in the personality."""

    @property
    def now(self) -> datetime:
        """The world's time."""


class Part(Protocol):
    """One side of a talk of several: a ``Conversation``, or one of a server."""

    @property
    def id(self) -> str:
        """Of the conversation."""

    @property
    def agent(self) -> Character:
        """In whose memory it is."""

    def messages(self, start: int = 0, count: int = 100) -> tuple[Message, ...]:
        """As ``Conversation.messages``."""

    def step(self, text: str, *, now: datetime | None = None, heard: Heard = unheard, speaker: str = "") -> Step:
        """As ``Conversation.step``."""

    def remove(self, *, events: bool = False, now: datetime | None = None, preview: bool = False) -> ChangeSet:
        """As ``Conversation.remove``."""


@singledispatch
def part(agent: object, **how: Any) -> Part:  # noqa: ARG001 - the registered ones begin with it
    """A new conversation of whatever is an agent; what is another kind of agent registers how it begins one.

    Raises:
        InvalidParameter: it is no agent.
    """
    raise InvalidParameter("Two characters talk: Duet.begin(world.agent(...), world.agent(...)).")


@part.register
def _(agent: AgentMemory, **how: Any) -> Part:
    return Conversation.begin(agent, **how)


class Duet:
    """Two conversations, one in each memory, that answer each other.

    Either may be of another process: ``Conversation`` and ``interfaces.client``'s go together.

    Args:
        first: the conversation of who begins.
        second: that of the other one.
    """

    def __init__(self, first: Part, second: Part) -> None:
        self.first = first
        self.second = second

    @classmethod
    def begin(
        cls,
        first: Character,
        second: Character,
        *,
        title: str = "",
        settings: TalkSettings | None = None,
        now: datetime | None = None,
    ) -> Self:
        """Two new conversations, in which each is the other's human.

        Raises:
            InvalidParameter: it is the same character twice, or a parameter cannot be taken.
        """
        for one in (first, second):
            if part.dispatch(type(one)) is part.dispatch(object):
                part(one)  # it says why not
        if first.name == second.name:
            raise InvalidParameter("A character cannot talk with itself; choose two.")
        how: dict[str, Any] = {"title": title, "settings": settings, "now": now}
        return cls(part(first, human=second.display_name, **how), part(second, human=first.display_name, **how))

    def talk(
        self,
        turns: int,
        *,
        opening: str = "",
        now: datetime | None = None,
        heard: Heard = unheard,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[Said, ...]:
        """Let them talk, and answer what was said once they have; the arguments are those of ``stream``.

        Raises:
            InvalidParameter: the number is out of its range, or the opening is no text. Nothing was said.
        """
        return tuple(self.stream(turns, opening=opening, now=now, heard=heard, cancelled=cancelled))

    def stream(
        self,
        turns: int,
        *,
        opening: str = "",
        now: datetime | None = None,
        heard: Heard = unheard,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[Said]:
        """Let them talk while somebody listens: each thing that is said is told as soon as it is stored.

        Nothing is said until the next one is asked for; ``talk`` does not wait for that. It ends after ``turns``, when
        it is cancelled, or when one has no answer; the last ``Said`` then tells why in ``step.problem``. Called again
        it goes on from where that ended.

        Args:
            turns: how many things are said at most, 1 to 200.
            opening: what makes the first one speak; that they meet, if not given and nothing was said before.
            now: the world's time.
            heard: told what is said as it arrives.
            cancelled: asked before each turn whether to stop.

        Raises:
            InvalidParameter: the number is out of its range, or the opening is no text.
        """
        if not is_text(opening):
            raise InvalidParameter("The opening must be a text: what makes the first one speak.")
        return self._stream(whole("turns", turns, 1, MAX_TURNS), opening, now, heard, cancelled)

    def _stream(
        self, turns: int, opening: str, now: datetime | None, heard: Heard, cancelled: Callable[[], bool]
    ) -> Iterator[Said]:
        speaking, listening, text, by_scene = self._next(opening)
        for _ in range(turns):
            if cancelled():
                return
            step = speaking.step(text, now=now, heard=heard, speaker=SCENE if by_scene else "")
            yield Said(speaking.agent.display_name, step.answer, step)
            if not step.answer:
                return
            speaking, listening, text, by_scene = listening, speaking, step.answer, False

    def undo(self, *, preview: bool = False) -> tuple[ChangeSet, ChangeSet]:
        """Take all of it back, in both memories: what was said, and the events that came of it. It can be undone."""
        return self.first.remove(events=True, preview=preview), self.second.remove(events=True, preview=preview)

    def _next(self, opening: str) -> tuple[Part, Part, str, bool]:
        """Who is to speak next, to whom, what was said to them last, and whether by nobody of the two."""
        mine, others = ([m for m in one.messages(-_BACK) if m.said] for one in (self.first, self.second))
        name = self.second.agent.display_name
        if opening.strip() or not mine:
            return self.first, self.second, opening.strip() or f"You meet {name}. Say something to {name}.", True
        if mine[-1].speaker == SCENE:  # the first one had no answer to it
            return self.first, self.second, mine[-1].text, True
        unheard_by_first = bool(others) and others[-1].speaker == name and not _heard(mine, others[-1])
        if unheard_by_first or mine[-1].speaker == name:  # the latter where the first one heard it and had no answer
            return self.first, self.second, others[-1].text if unheard_by_first else mine[-1].text, False
        return self.second, self.first, mine[-1].text, False


def _heard(by: Sequence[Message], said: Message) -> bool:
    """Whether the last thing that one of them said is among the last that the other heard."""
    return any(one.speaker == said.speaker and one.text == said.text for one in by[-2:])
