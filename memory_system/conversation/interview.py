"""Interview and whisper: asking an agent without leaving a trace, and planting a thought."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime

from ..agent import AgentMemory
from ..changes import Change, ChangeSet, is_text, short
from ..consolidation.ground import rated
from ..curation import listed
from ..entry import Kind, MemoryEntry
from ..errors import InvalidEntry, InvalidParameter
from ..llm.chat import Heard, unheard
from ..times import moment_given
from .context import Context
from .messages import Message
from .playing import Ask, first_blocks, looked_at, play
from .stepping import Told, untold
from .steps import Step, planned, step_of
from .talk import Mode, Talk, TalkSettings, checked_settings

WHISPER = "whisper"
"""The operation under which the history tells of a planted thought, and its tag."""
FLEETING = "interview"
"""The id of a talk that is nowhere kept."""


class Interview:
    """A talk that leaves no trace: the same engine as ``Conversation``, on a talk that only this object holds.

    Nothing is journalled, touched or logged. What the agent writes into core memory changes this talk alone, and what
    it would store is not stored; the results of its functions say so.

    Args:
        agent: whom one talks with.
        settings: how it is held.
        human: the name of whom the agent talks with.
        talk: a talk to go on from, as it stands, such as ``Conversation.talk``; its settings and name count then.

    Raises:
        InvalidParameter: the settings or the talk are none.
    """

    def __init__(
        self,
        agent: AgentMemory,
        settings: TalkSettings | None = None,
        *,
        human: str = "You",
        talk: Talk | None = None,
    ) -> None:
        self.agent = agent
        if talk is not None and not isinstance(talk, Talk):
            raise InvalidParameter("The talk must be a Talk, such as Conversation.open(agent, id).talk.")
        if talk is None:
            talk = Talk(FLEETING, "Interview", human, checked_settings(settings))
            talk = dataclasses.replace(talk, blocks=first_blocks(agent, talk, None, None))
        self.talk = talk
        self.transcript: tuple[Message, ...] = ()

    def context(self, now: datetime | None = None) -> Context:
        """What is in the prompt right now, before a message."""
        return looked_at(self.agent, self.talk, self.agent.now if now is None else moment_given("'now'", now))

    def step(
        self,
        text: str,
        *,
        now: datetime | None = None,
        heard: Heard = unheard,
        told: Told = untold,
        muted: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> Step:
        """Ask, and hear the answer; the arguments are those of ``Conversation.step``.

        Returns:
            The step, without a change set.

        Raises:
            InvalidEntry, InvalidParameter: the message or a parameter cannot be taken.
        """
        moment = self.agent.now if now is None else moment_given("'now'", now)
        given = tuple(listed(muted)), tuple(listed(without))
        ask = Ask(text, moment, Mode.INTERVIEW, heard, told, *given, said=self.transcript)
        played = play(self.agent, self.talk, ask)
        self.talk = played.outcome.talk
        self.transcript += played.outcome.messages
        return step_of(played, None)

    def ask_again(
        self, text: str, *, now: datetime | None = None, muted: Sequence[str] = (), without: Sequence[str] = ()
    ) -> Step:
        """As ``step``, but the talk stays as it is: for asking the same thing twice, with and without a memory."""
        talk, transcript = self.talk, self.transcript
        try:
            return self.step(text, now=now, muted=muted, without=without)
        finally:
            self.talk, self.transcript = talk, transcript


def whisper(agent: AgentMemory, text: str, *, now: datetime | None = None, preview: bool = False) -> ChangeSet:
    """Plant a thought: one event of STM, rated, which the agent takes for its own; it lasts as any other event.

    Raises:
        InvalidEntry: the text cannot be a memory.
    """
    if not is_text(text) or not text.strip():
        raise InvalidEntry("The thought is empty: whisper something.")
    moment = agent.now if now is None else moment_given("'now'", now)
    event = MemoryEntry(text.strip(), kind=Kind.OBSERVATION, timestamp=moment, tags=(WHISPER,))
    entry, call = rated(event, agent.model)
    change = Change(None, entry, "A person whispered it.")
    notes = (f"Not rated: {call.error}",) if call.error else ()
    plan = planned(agent, f"Whisper “{short(text)}”", moment, (change,), operation=WHISPER, calls=(call,), notes=notes)
    return plan if preview else agent.apply(plan)
