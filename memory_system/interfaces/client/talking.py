"""RemoteConversation: a talk with an agent on a server, with the calls of ``Conversation``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Self

from ...conversation import Step, TalkSettings
from ...conversation.actions import Action, checked_actions, outcome
from ...conversation.comparing import Lines
from ...conversation.context import Context
from ...conversation.duet import part
from ...conversation.functions import RESERVED, FunctionRun
from ...conversation.replaying import Replay
from ...conversation.stepping import Told as Hearing
from ...conversation.stepping import untold
from ...conversation.talk import Message, Talk
from ...core.change_set import ChangeSet, Revision, revision_of
from ...errors import InvalidParameter
from ...llm.base import Heard, unheard
from ...operations.context import Progress, no_progress
from ...operations.edit import listed
from ...recall.versus import Versus
from ..serialize import RemoteChangeSet, read
from .agent import RemoteAgent, compared
from .wire import Wire, long, plain, present_fields, segment


class RemoteConversation:
    """A talk with an agent; ``begin`` one or ``open`` one, then ``step``. It holds no state of its own."""

    def __init__(self, agent: RemoteAgent, conversation: str) -> None:
        self.agent = agent
        self.id = conversation
        self._wire, of = agent.reached
        self._of = f"{of}/conversations/{segment(conversation)}"

    @classmethod
    def begin(
        cls,
        agent: RemoteAgent,
        *,
        title: str = "",
        human: str = "You",
        settings: TalkSettings | None = None,
        persona: str | None = None,
        human_block: str | None = None,
        now: datetime | None = None,
        others: Sequence[str] = (),
    ) -> Self:
        """As ``Conversation.begin``."""
        wire, of = agent.reached
        first = present_fields(
            title=title,
            human=human,
            persona=persona,
            human_block=human_block,
            now=now,
            others=listed(others, "'others'"),
        )
        answer = wire.write("POST", f"{of}/conversations", first | present_fields(settings=settings))
        return cls(agent, answer["id"])

    @classmethod
    def open(cls, agent: RemoteAgent, conversation: str) -> Self:
        """As ``Conversation.open``."""
        opened = cls(agent, conversation)
        _ = opened.head
        return opened

    @classmethod
    def all(cls, agent: RemoteAgent) -> tuple[Self, ...]:
        """As ``Conversation.all``."""
        wire, of = agent.reached
        return tuple(cls(agent, item["id"]) for item in wire.get(f"{of}/conversations")["items"])

    # -- looking -----------------------------------------------------------------------------------------

    @property
    def talk(self) -> Talk:
        """The talk as it is now, with the part of its past that the strategy shows."""
        return read(Talk, self._wire.get(self._of, queue="true"))

    @property
    def head(self) -> Talk:
        """The talk without its messages: title, settings, core memory; quick."""
        return read(Talk, self._wire.get(self._of))

    def context(self, now: datetime | None = None) -> Context:
        """As ``Conversation.context``."""
        return read(Context, self._wire.get(f"{self._of}/context", **present_fields(now=now)))

    def messages(self, start: int = 0, count: int = 100) -> tuple[Message, ...]:
        """As ``Conversation.messages``."""
        answer = self._wire.get(f"{self._of}/messages", start=start, limit=count)
        return tuple(read(Message, item) for item in answer["items"])

    def lines(self) -> Lines:
        """As ``Conversation.lines``."""
        return read(Lines, self._wire.get(f"{self._of}/lines"))

    def versus(self, first: str, second: str, *, now: datetime | None = None) -> Versus:
        """As ``Conversation.versus``."""
        return compared(self.agent, present_fields(first=first, second=second, now=now, conversation=self.id))

    # -- talking -----------------------------------------------------------------------------------------

    def step(
        self,
        text: str,
        *,
        now: datetime | None = None,
        heard: Heard = unheard,
        told: Hearing = untold,
        preview: bool = False,
        hold: bool = False,
        muted: Sequence[str] = (),
        without: Sequence[str] = (),
        speaker: str = "",
        actions: Sequence[Action] = (),
    ) -> Step:
        """As ``Conversation.step``; the answer is passed on as it arrives at the server.

        Actions that have a callable are carried out here, and their results sent.
        """
        offered = [action.told for action in checked_actions(actions, RESERVED)]
        body = present_fields(
            text=text, now=now, muted=listed(muted), without=listed(without), hold=hold, speaker=speaker
        )
        body |= {"actions": offered} if offered else {}
        step = spoken(self._wire, f"{self._of}/steps", body, heard, told, preview=str(preview).lower())
        return self._acted(step, actions, heard, told, preview=preview, hold=hold)

    def heartbeat(
        self,
        *,
        now: datetime | None = None,
        heard: Heard = unheard,
        told: Hearing = untold,
        preview: bool = False,
        hold: bool = False,
        actions: Sequence[Action] = (),
    ) -> Step:
        """As ``Conversation.heartbeat``; actions that have a callable are carried out here."""
        body = present_fields(
            now=now, hold=hold, actions=[action.told for action in checked_actions(actions, RESERVED)]
        )
        step = spoken(self._wire, f"{self._of}/heartbeats", body, heard, told, preview=str(preview).lower())
        return self._acted(step, actions, heard, told, preview=preview, hold=hold)

    def answer_again(
        self, *, now: datetime | None = None, heard: Heard = unheard, told: Hearing = untold, hold: bool = False
    ) -> Step:
        """As ``Conversation.answer_again``."""
        return spoken(self._wire, f"{self._of}/again", present_fields(now=now, hold=hold), heard, told)

    def go_on(
        self,
        step: Step | ChangeSet,
        results: Mapping[str, object],
        *,
        actions: Sequence[Action] = (),
        heard: Heard = unheard,
        told: Hearing = untold,
        preview: bool = False,
        hold: bool = False,
    ) -> Step:
        """As ``Conversation.go_on``; the server keeps a pending step for some minutes."""
        plan = step.change_set if isinstance(step, Step) else step
        if plan is None:
            raise InvalidParameter("Pass the step as it came, with its pending calls; this one has none.")
        handed = [
            {"call_id": call_id, "result": str(result), "failed": True}
            if isinstance(result, Exception)
            else {"call_id": call_id, "result": result}
            for call_id, result in results.items()
        ]
        path, said = f"{self._of}/steps/{segment(plan.id)}/results", {"preview": str(preview).lower()}
        done = spoken(self._wire, path, {"results": handed, "hold": hold}, heard, told, **said)
        return self._acted(done, actions, heard, told, preview=preview, hold=hold)

    def _acted(
        self,
        step: Step,
        actions: Sequence[Action],
        heard: Heard,
        told: Hearing,
        *,
        preview: bool,
        hold: bool,
    ) -> Step:
        """The step, continued as long as it waits only for what can be carried out here."""
        able = {action.name: action for action in actions if action.do is not None}
        if not step.pending or any(call.name not in able for call in step.pending):
            return step
        results = {call.id: outcome(able[call.name], call) for call in step.pending}
        return self.go_on(step, results, actions=actions, heard=heard, told=told, preview=preview, hold=hold)

    def edit_core(self, block: str, text: str, *, preview: bool = False, now: datetime | None = None) -> ChangeSet:
        """As ``Conversation.edit_core``."""
        return self._changed("PUT", f"core/{segment(block)}", present_fields(text=text, now=now), preview)

    def change(self, settings: TalkSettings, *, preview: bool = False, now: datetime | None = None) -> ChangeSet:
        """As ``Conversation.change``."""
        return self._changed("PATCH", "settings", plain(settings), preview, **present_fields(now=now))

    def replay(self, revision: Revision | None = None) -> Replay:
        """As ``Conversation.replay``."""
        number = None if revision is None else revision_of(revision)
        return read(Replay, self._wire.get(f"{self._of}/replay", revision=number))

    def synopsis(
        self, *, now: datetime | None = None, preview: bool = False, progress: Progress = no_progress
    ) -> ChangeSet:
        """As ``Conversation.synopsis``."""
        said = {"preview": str(preview).lower()}
        return read(
            RemoteChangeSet, long(self._wire, "POST", f"{self._of}/synopsis", present_fields(now=now), progress, **said)
        )

    def remove(self, *, events: bool = False, now: datetime | None = None, preview: bool = False) -> ChangeSet:
        """As ``Conversation.remove``."""
        said = {"events": str(events).lower(), "preview": str(preview).lower(), **present_fields(now=now)}
        return read(RemoteChangeSet, self._wire.write("DELETE", self._of, None, **said))

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
        return self._changed("POST", "notes", present_fields(heard=heard, said=said, now=now, speaker=speaker), preview)

    def _changed(self, method: str, part: str, body: Any, preview: bool, **query: Any) -> RemoteChangeSet:
        answer = self._wire.write(method, f"{self._of}/{part}", body, preview=str(preview).lower(), **query)
        return read(RemoteChangeSet, answer)


part.register(RemoteAgent)(RemoteConversation.begin)


def spoken(wire: Wire, path: str, body: Any, heard: Heard, told: Hearing, **query: Any) -> Step:
    """A step, streamed if anybody listens."""
    return read(Step, answered(wire, path, body, heard, told, **query))


def answered(wire: Wire, path: str, body: Any, heard: Heard, told: Hearing, **query: Any) -> Any:
    """The server's answer to a step; if nobody listens, it is an ordinary write."""
    if heard is unheard and told is untold:
        return wire.write("POST", path, body, **query)

    def hear(kind: str, data: Any) -> None:
        if kind == "heard":
            heard(data["text"])
        elif kind == "function":
            told(read(FunctionRun, data))

    return wire.stream("POST", path, body, hear, **query)
