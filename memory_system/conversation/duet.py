"""Duet and Group: two characters, or more, who talk with each other, each with a memory of its own.

In a group the next speaker is the one who is named, else one who has been silent for a whole round, else the one with
most to say: whose own recall finds most for what was said last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import singledispatch
from typing import Any, Protocol, Self, Unpack

from ..agent import AgentMemory
from ..core.change_set import ChangeSet, is_text
from ..core.scoring import whole
from ..core.times import moment_given
from ..errors import InvalidParameter
from ..llm.base import Heard, unheard
from ..llm.offline.prompt import SIGN
from ..operations.context import refuse_uncallable
from ..operations.synopsis import listed
from ..recall.query import QueryOptions
from ..recall.rank import Recall
from .conversation import Conversation
from .steps import Step
from .talk import SCENE, Message, Role, TalkSettings, title_of

__all__ = ["MAX_TURNS", "MOST_IN_A_GROUP", "SCENE", "Duet", "Group", "Said", "go_on"]

MAX_TURNS = 200
_BACK = 300
"""How many messages are searched for what was said last: a step may call functions a hundred times."""

MOST_IN_A_GROUP = 12
_ITSELF = "A character cannot talk with itself; choose two."
_TWICE = "A character cannot talk with itself; choose each once."
_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")
_RECALLED = 10
"""How many memories are recalled to see how much somebody has to say."""


@dataclass(frozen=True)
class Said:
    """One thing that was said: by whom, what, and the step that produced it."""

    speaker: str
    text: str
    step: Step

    def __str__(self) -> str:
        """Who said what, or why nothing was said."""
        return f"{self.speaker}: {self.text or self.step}"


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

    def query_memory(
        self, prompt: str, top_k: int | None = None, *, touch: bool = True, **options: Unpack[QueryOptions]
    ) -> Recall:
        """As ``AgentMemory.query_memory``."""


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

    def note(
        self,
        *,
        heard: str = "",
        said: str = "",
        now: datetime | None = None,
        preview: bool = False,
        speaker: str = "",
    ) -> ChangeSet:
        """As ``Conversation.note``."""

    def remove(self, *, events: bool = False, now: datetime | None = None, preview: bool = False) -> ChangeSet:
        """As ``Conversation.remove``."""


@singledispatch
def part(agent: object, **how: Any) -> Part:  # noqa: ARG001 - the registered ones begin with it
    """A new conversation of an agent; another kind of agent registers how it begins one.

    Raises:
        InvalidParameter: it is not an agent.
    """
    raise InvalidParameter("Characters talk: Duet.begin(world.agent(...), world.agent(...)), or a Group of more.")


@part.register
def _(agent: AgentMemory, **how: Any) -> Part:
    return Conversation.begin(agent, **how)


class Duet:
    """Two conversations, one in each memory, that answer each other.

    Either may be on a server: ``Conversation`` and the one of ``interfaces.client`` work together.

    Args:
        first: the conversation of the one who begins.
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

        If two have the same name, the titles that are made also contain the agents' names.

        Raises:
            InvalidParameter: it is the same character twice, or a parameter cannot be accepted.
        """
        for character in (first, second):
            if part.dispatch(type(character)) is part.dispatch(object):
                part(character)  # it says why not
        if first.name == second.name:
            raise InvalidParameter(_ITSELF)
        alike = first.display_name.casefold() == second.display_name.casefold()

        def begun(character: Character, other: Character) -> Part:
            moment = character.now if now is None else moment_given("'now'", now)
            made = title_of(f"{other.display_name} ({other.name})", moment) if alike else ""
            return part(character, others=[other.display_name], title=title or made, settings=settings, now=now)

        return cls(begun(first, second), begun(second, first))

    def talk(
        self,
        turns: int,
        *,
        opening: str = "",
        now: datetime | None = None,
        heard: Heard = unheard,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[Said, ...]:
        """Let them talk, and return what was said at the end; the arguments are those of ``stream``.

        Raises:
            InvalidParameter: the number is out of its range, or the opening is not a text. Nothing was said.
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
        """Let them talk, step by step: each thing that is said is yielded as soon as it is stored.

        It only goes on when the next item is requested. It ends after ``turns``, when it is cancelled, or when one has
        no answer; the last ``Said`` then says why in ``step.problem``. In the end the other one has heard the last
        thing that was said. Called again, it goes on from there.

        Args:
            turns: how many things are said at most, 1 to 200.
            opening: what makes the first one speak; if not given and nothing was said before, that they meet.
            now: the world's time.
            heard: called with what is said as it arrives.
            cancelled: called before each turn, to ask whether to stop.

        Raises:
            InvalidParameter: the number is out of its range, the opening is not a text, or both are of one character.
        """
        refuse_uncallable(heard=heard, cancelled=cancelled)
        if not is_text(opening):
            raise InvalidParameter("The opening must be a text: what makes the first one speak.")
        if self.first.agent.name == self.second.agent.name:
            raise InvalidParameter(_ITSELF)
        return self._stream(whole("turns", turns, 1, MAX_TURNS), opening, now, heard, cancelled)

    def _stream(
        self, turns: int, opening: str, now: datetime | None, heard: Heard, cancelled: Callable[[], bool]
    ) -> Iterator[Said]:
        speaking, listening, text, by = self._next(opening.strip())
        waiting: Part | None = None  # who has not heard the last thing, and is to answer it
        try:
            for _ in range(turns):
                if cancelled():
                    return
                step = speaking.step(text, now=now, heard=heard, speaker=by)
                waiting = listening if step.answer else None
                text, by = step.answer, ""
                yield Said(speaking.agent.display_name, step.answer, step)
                if not step.answer:
                    return
                speaking, listening = listening, speaking
        finally:
            if waiting is not None:
                waiting.note(heard=text, now=now)

    def undo(self, *, preview: bool = False) -> tuple[ChangeSet, ChangeSet]:
        """Take all of it back, in both memories: what was said, and the events stored from it. It can be undone."""
        return self.first.remove(events=True, preview=preview), self.second.remove(events=True, preview=preview)

    def _next(self, opening: str) -> tuple[Part, Part, str, str]:
        """Who speaks next, to whom, what they hear, and from whom: the scene, or the other one."""
        first, second, name = self.first, self.second, self.second.agent.display_name
        mine, others = _said(first), _said(second)
        if opening or not mine:
            # the last scene of a talk that has begun is the one that had no answer
            scenes = [message.text for message in first.messages(-_BACK) if message.speaker == SCENE]
            return first, second, opening or [f"You meet {name}. Say something to {name}.", *scenes][-1], SCENE
        # decided by whose message it is, not by names: both may have the same
        unheard_by_first = bool(others) and others[-1].role is Role.ASSISTANT and not _heard(mine, others[-1])
        last = others[-1] if unheard_by_first else mine[-1]
        by_second = unheard_by_first or last.role is Role.USER
        speaking, listening, messages = (first, second, mine) if by_second else (second, first, others)
        return (speaking, listening, *((_your_turn(last), SCENE) if _heard(messages, last) else (last.text, "")))


def _said(part: Part) -> list[Message]:
    """What was said last in a talk, apart from what sets the scene."""
    return [message for message in part.messages(-_BACK) if message.said and message.speaker != SCENE]


def _your_turn(last: Message) -> str:
    return f"{last.speaker} has said: “{last.text}” It is your turn."


def _heard(by: Sequence[Message], said: Message) -> bool:
    """Whether the last thing that one of them said is among the last that the other heard."""
    return any(message.speaker == said.speaker and message.text == said.text for message in by[-2:])


class Group:
    """Conversations, one in each memory, in which several characters talk with each other.

    Each may be on a server: ``Conversation`` and the one of ``interfaces.client`` work together. What one says is
    stored and remembered by all, with who said it.

    Args:
        parts: their conversations.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)

    @classmethod
    def begin(
        cls,
        agents: Sequence[Character],
        *,
        title: str = "",
        settings: TalkSettings | None = None,
        now: datetime | None = None,
    ) -> Self:
        """New conversations, in which each talks with all the others.

        Raises:
            InvalidParameter: there are fewer than three or more than twelve, one is given twice or is not an agent, two
                have the same name, or a parameter cannot be accepted.
        """
        members = list(agents) if isinstance(agents, Iterable) else [agents]
        if not 3 <= len(members) <= MOST_IN_A_GROUP:
            raise InvalidParameter(
                f"A group has 3 to {MOST_IN_A_GROUP} characters, not {len(members)}; two are a Duet."
            )
        for member in members:
            if part.dispatch(type(member)) is part.dispatch(object):
                part(member)  # it says why not
        if len({member.name for member in members}) < len(members):
            raise InvalidParameter(_TWICE)
        names = [member.display_name for member in members]
        if len({name.casefold() for name in names}) < len(names):
            raise InvalidParameter("Two of them have the same name, so nobody could tell who speaks; rename one.")
        how: dict[str, Any] = {"title": title, "settings": settings, "now": now}
        return cls(
            [part(member, others=[name for name in names if name != member.display_name], **how) for member in members]
        )

    def talk(
        self,
        turns: int,
        *,
        opening: str = "",
        now: datetime | None = None,
        heard: Heard = unheard,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[Said, ...]:
        """Let them talk, and return what was said at the end; the arguments are those of ``stream``.

        Raises:
            InvalidParameter: the number is out of its range, or the opening is not a text. Nothing was said.
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
        """Let them talk, step by step: each thing that is said is yielded as soon as it is stored.

        It ends after ``turns``, when it is cancelled, or when one has no answer; the last ``Said`` then says why in
        ``step.problem``. Called again, it goes on from there.

        Args:
            turns: how many things are said at most, 1 to 200.
            opening: what makes one speak; if not given and nothing was said before, that they meet.
            now: the world's time.
            heard: called with what is said as it arrives.
            cancelled: called before each turn, to ask whether to stop.

        Raises:
            InvalidParameter: the number is out of its range, the opening is not a text, or two are the same character.
        """
        refuse_uncallable(heard=heard, cancelled=cancelled)
        if not is_text(opening):
            raise InvalidParameter("The opening must be a text: what makes one of them speak.")
        if len(self.parts) < 3 or len({part.agent.display_name.casefold() for part in self.parts}) < len(self.parts):
            raise InvalidParameter("A group has at least 3 conversations, each of a different character.")
        return self._stream(whole("turns", turns, 1, MAX_TURNS), opening.strip(), now, heard, cancelled)

    def undo(self, *, preview: bool = False) -> tuple[ChangeSet, ...]:
        """Take all of it back, in every memory: what was said, and the events stored from it. It can be undone."""
        return tuple(part.remove(events=True, preview=preview) for part in self.parts)

    def _stream(
        self, turns: int, opening: str, now: datetime | None, heard: Heard, cancelled: Callable[[], bool]
    ) -> Iterator[Said]:
        last = self._caught_up(now)
        spoken = [message.speaker for message in _said(self.parts[0])]
        # who has been silent longest comes first
        order = sorted(self.parts, key=lambda part: _last_place(spoken, part))
        names = listed([part.agent.display_name for part in order])
        if opening or last is None:
            text, by = opening or f"{names} meet. Say something to the others.", SCENE
            speaking = self._next(order, opening, spoken, None, now)
        else:
            text, by = _your_turn(last), SCENE
            speaking = self._next(order, last.text, spoken, last.speaker, now)
        waiting: Part | None = None  # who has not heard the last thing, and is to answer it
        try:
            for left in range(turns - 1, -1, -1):
                if cancelled():
                    return
                step = speaking.step(text, now=now, heard=heard, speaker=by)
                waiting, text, by = None, step.answer, speaking.agent.display_name
                order = [*(part for part in order if part is not speaking), speaking]
                spoken.append(by)
                following = self._next(order, text, spoken, by, now) if left and text else None
                for listener in order[:-1] if text else ():
                    if listener is not following:  # the next one hears it that way
                        listener.note(heard=text, now=now, speaker=by)
                waiting = following
                yield Said(by, text, step)
                if following is None:
                    return
                speaking = following
        finally:
            if waiting is not None:
                waiting.note(heard=text, now=now, speaker=by)

    def _next(
        self, order: Sequence[Part], said: str, spoken: Sequence[str], by: str | None, now: datetime | None
    ) -> Part:
        """Who speaks next: the one asked by name or named last; else one who was silent for a whole round.

        Else the one with most to say; of equals the one silent for longer.
        """
        others = [part for part in order if part.agent.display_name != by]
        if named := self._named(others, said):
            return named
        around = spoken[-len(self.parts) :]
        if len(around) == len(self.parts) and others[0].agent.display_name not in around:
            return others[0]
        return max(others, key=lambda part: _to_say(part, said, now))

    def _named(self, others: Sequence[Part], said: str) -> Part | None:
        if said.startswith(SIGN):  # the offline rules address nobody by name: the names are from a quotation
            return None
        sentences = _SENTENCE.findall(said)
        for sentence in (*reversed([sentence for sentence in sentences if "?" in sentence]), *reversed(sentences)):
            places = {_place(sentence, part, self.parts): part for part in others}
            if named := [place for place in places if place >= 0]:
                return places[min(named)]
        return None

    def _caught_up(self, now: datetime | None) -> Message | None:
        """Let all hear the last thing that was said, which some have not if a talk was broken off."""
        said = [_said(part) for part in self.parts]
        last = max((some[-1] for some in said if some), key=lambda message: (message.at, message.number), default=None)
        if last is None:
            return None
        for listener, some in zip(self.parts, said, strict=True):
            if listener.agent.display_name != last.speaker and not _heard(some, last):
                listener.note(heard=last.text, now=now, speaker=last.speaker)
        return last


def _last_place(spoken: Sequence[str], of: Part) -> int:
    """Where somebody spoke last; -1 = nowhere."""
    return max((place for place, name in enumerate(spoken) if name == of.agent.display_name), default=-1)


def _place(text: str, of: Part, parts: Sequence[Part]) -> int:
    """Where a text names somebody, by the whole name or a first name that only one of them has; -1 = nowhere."""
    name = of.agent.display_name
    first = name.split()[0]
    alike = [part for part in parts if part.agent.display_name.split()[0].casefold() == first.casefold()]
    form = first if len(alike) == 1 else name
    found = re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE)
    return found.start() if found else -1


def _to_say(part: Part, said: str, now: datetime | None) -> float:
    """How much somebody has to say to this: the scores of what its recall finds, except this talk itself."""
    if not said:
        return 0.0
    found = part.agent.query_memory(said, _RECALLED, touch=False, now=now, addressed=True)
    return sum(hit.score.total for hit in found if hit.entry.extras.get("conversation") != part.id)


def go_on(parts: Sequence[Conversation]) -> Duet | Group:
    """The talk of these conversations, one in each memory: a duet for two, a group for more.

    Raises:
        InvalidParameter: a character is given twice, or a conversation is one with somebody else, who would have heard
            what was said in it. A character that was renamed since is still the same.
        ConversationNotFound: one of them was undone.
    """
    if len({part.agent.name for part in parts}) < len(parts):
        raise InvalidParameter(_TWICE)
    for part in parts:
        _refuse_strangers(part, {other.agent.display_name.casefold() for other in parts if other is not part})
    return Group(parts) if len(parts) > 2 else Duet(*parts)


def _refuse_strangers(conversation: Conversation, names: Collection[str]) -> None:
    """Refuse a conversation that was begun with somebody who is not among those of these names, in small letters."""
    talk = conversation.talk
    cast = {name.casefold() for name in conversation.agent.contents.cast()}
    strangers = [name for name in talk.people if name.casefold() not in names]
    renamed = talk.others and not cast & {name.casefold() for name in strangers}
    if len(talk.people) != len(names) or (strangers and not renamed):
        with_whom = ", ".join(talk.people) or "nobody who is named"
        raise InvalidParameter(
            f"Conversation {conversation.id!r} of {conversation.agent.name!r} is with {with_whom}, not with these "
            "characters. Begin a talk between them, and name the conversations that it returns."
        )
