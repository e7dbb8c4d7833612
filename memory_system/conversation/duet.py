"""Duet: two characters who talk with each other, each with a memory of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

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


class Duet:
    """Two conversations, one in each memory, that answer each other.

    Args:
        first: the conversation of who begins.
        second: that of the other one.
    """

    def __init__(self, first: Conversation, second: Conversation) -> None:
        self.first = first
        self.second = second

    @classmethod
    def begin(
        cls,
        first: AgentMemory,
        second: AgentMemory,
        *,
        title: str = "",
        settings: TalkSettings | None = None,
        now: datetime | None = None,
    ) -> Self:
        """Two new conversations, in which each is the other's human.

        Raises:
            InvalidParameter: it is the same character twice, or a parameter cannot be taken.
        """
        if not (isinstance(first, AgentMemory) and isinstance(second, AgentMemory)):
            raise InvalidParameter("Two characters talk: Duet.begin(world.agent(...), world.agent(...)).")
        if first.name == second.name:
            raise InvalidParameter("A character cannot talk with itself; choose two.")
        one = Conversation.begin(first, title=title, human=second.display_name, settings=settings, now=now)
        other = Conversation.begin(second, title=title, human=first.display_name, settings=settings, now=now)
        return cls(one, other)

    def talk(
        self,
        turns: int,
        *,
        opening: str = "",
        now: datetime | None = None,
        heard: Heard = unheard,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[Said]:
        """Let them talk; each thing that is said is answered as soon as it was said, and stored by then.

        It ends after ``turns``, when it is cancelled, or when one has no answer; the last ``Said`` then tells why in
        ``step.problem``. Called again it goes on from where it ended.

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
        most = whole("turns", turns, 1, MAX_TURNS)
        speaking, listening, text, by_scene = self._next(opening)
        for _ in range(most):
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

    def _next(self, opening: str) -> tuple[Conversation, Conversation, str, bool]:
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
