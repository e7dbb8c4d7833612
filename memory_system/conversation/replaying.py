"""Replaying: a step run again without the model, from what its change set stores."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Unpack

from ..agent import AgentMemory
from ..core.change_set import ChangeSet, ModelCall, counted
from ..core.entry import Tier
from ..core.times import in_zone
from ..errors import (
    Conflict,
    InvalidParameter,
    ModelError,
    ModelNonsense,
    ModelOverflow,
    ModelUnavailable,
    StaleChange,
)
from ..llm import LanguageModel
from ..llm.base import TASK, Answer, Completion, Heard, Hearing, Reply, StandIn, relived, unheard
from ..llm.tasks import Task
from ..store.journal import Applied
from . import storage
from .actions import Action, result_in
from .functions import FunctionRun
from .playing import BLOCKS, Ask, Played, run
from .stepping import Told
from .steps import MUTED, OPERATION, WITHOUT, Step, step_of
from .storage import message_of
from .talk import Message, Mode, Role, Talk

_MOST_ANSWERS = 1000
"""How many steps are looked through for the one that stands."""


_again: set[tuple[str, str]] = set()
"""The agent and the talk of each whose last message is being answered again."""
_changing = threading.Lock()
_AGAIN = "The last message of this talk is being answered again just now, so nothing was changed. Try it after that."


@dataclass(frozen=True)
class Replay:
    """The replay of a step.

    Args:
        step: the replayed step; without a change set, since nothing is stored.
        stored: its messages as they were stored.
        differences: where the two differ, in sentences; empty if they are the same.
    """

    step: Step
    stored: tuple[Message, ...]
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether every replayed message is as stored."""
        return not self.differences


class Recorded:
    """A language model that repeats its earlier answers, in order, and can answer nothing else.

    Args:
        calls: as a change set stores them.
    """

    name = "recorded"
    label = "recorded answers (no language model)"

    def __init__(self, calls: Sequence[ModelCall]) -> None:
        self._calls = list(calls)

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],  # noqa: ARG002 - it answers what it answered then
        tools: Sequence[Mapping[str, Any]] = (),  # noqa: ARG002
        **how: Unpack[Hearing],
    ) -> Reply:
        """The next reply.

        Raises:
            ModelError: it failed then, or there is no reply left.
        """
        call = self._next(TASK)
        if call.error:
            raise _failure(call)
        reply = relived(call)
        if reply.text and not reply.calls:
            how.get("heard", unheard)(reply.text)
        return reply

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:  # noqa: ARG002
        """The next answer to such a task.

        Raises:
            ModelError: it failed then, or there is no answer left.
        """
        call = self._next(task.name)
        if call.error:
            raise _failure(call)
        return Completion(task.form.model_validate_json(call.answer), call)

    def _next(self, task: str) -> ModelCall:
        place = next((place for place, call in enumerate(self._calls) if call.task == task), None)
        if place is None:
            raise ModelUnavailable(f"The step asked the language model less often ({task}) when it was stored.")
        return self._calls.pop(place)


class GoingOn(StandIn):
    """A language model that first repeats its earlier answers, and then is asked again.

    Args:
        calls: the earlier answers, in order.
        model: the model that is asked then.
        heard: called with what is said as it arrives, but not again what was said before.
        told: called with function calls, but not again with earlier ones.
    """

    def __init__(self, calls: Sequence[ModelCall], model: LanguageModel, heard: Heard, told: Told) -> None:
        super().__init__(model)
        self._recorded, self._left = Recorded(calls), sum(call.task == TASK for call in calls)
        self._others = len(calls) - self._left
        self._live, self._heard, self._told = not self._left, heard, told

    def heard(self, piece: str) -> None:
        """Pass on a piece of what is said now."""
        if self._live:
            self._heard(piece)

    def told(self, run: FunctionRun) -> None:
        """Pass on a call that is carried out now."""
        if not self._left:
            self._told(run)

    def chat(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), **how: Unpack[Hearing]
    ) -> Reply:
        """The next reply: an earlier one, as long as there are some."""
        if self._left:
            self._left -= 1
            return self._recorded.chat(messages, tools)
        self._live = True
        return self.inner.chat(messages, tools, **how)

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:
        """The answer to a task: an earlier one, as long as there are some."""
        if not self._live and self._others:
            self._others -= 1
            return self._recorded.complete(task)
        return self.inner.complete(task, deadline)


def _failure(call: ModelCall) -> ModelError:
    """The error of the model at that time, as far as it matters for the result."""
    kinds = (ModelOverflow, ModelNonsense)
    kind = next((kind for kind in kinds if json.dumps({"failed": kind.code}) == call.answer), ModelUnavailable)
    return kind(call.error or "")


def last_step(agent: AgentMemory, talk: Talk) -> Applied | None:
    """The step in which the last message of a conversation was said; ``None`` if there is none, or it was noted.

    Others may have said a message of the same number, and were undone.
    """
    if not talk.next_number:
        return None
    last = storage.message_id(talk.id, talk.next_number - 1)
    said = agent.history(_MOST_ANSWERS, operation=OPERATION, entry_id=last)
    return next((step for step in said if step.undone_by is None), None)


@contextmanager
def taken_back(agent: AgentMemory, conversation: str, step: Applied) -> Iterator[list[Step]]:
    """Within, a step is undone, and nobody else in this process talks; it is redone if no answered one is added.

    Raises:
        StaleChange: it is being answered again already, it cannot be undone, or others talked meanwhile all the same.
    """
    talk = agent.name, conversation
    with _changing:
        refuse_again(agent, conversation)
        _again.add(talk)
    try:
        undone, steps = agent.undo(step.revision), list[Step]()
        try:
            yield steps
        finally:
            if not steps or steps[-1].problem:
                _bring_back(agent, step, undone, steps)
    finally:
        _again.discard(talk)


def refuse_again(agent: AgentMemory, conversation: str) -> None:
    """Raise if the last message of a talk is being answered again in this process.

    Raises:
        StaleChange: it is. Nothing was changed.
    """
    if (agent.name, conversation) in _again:
        raise StaleChange(_AGAIN)


def _bring_back(agent: AgentMemory, step: Applied, undone: ChangeSet, instead: Sequence[Step]) -> None:
    """Redo a step that was undone, after undoing what stands in its place."""
    if instead and instead[-1].change_set is not None:
        agent.undo(instead[-1].change_set)
    if agent.change(step.revision).undone_by is None:
        return  # somebody brought it back meanwhile
    try:
        agent.undo(undone)
    except Conflict as error:
        raise StaleChange(
            f"Somebody else talked meanwhile, so there is no other answer, and the former one (revision "
            f"{step.revision}) cannot be put back as long as that stands. Both are in the history."
        ) from error


def replayed(agent: AgentMemory, conversation: str, revision: int) -> Replay:
    """A step run again as it was: on the memory as it was before it, with the replies from the journal.

    Nothing is asked of a language model, touched or stored.

    Args:
        agent: whose conversation it is.
        conversation: its id.
        revision: of the step.

    Raises:
        ChangeSetNotFound: there is no such revision.
        InvalidParameter: it is not a step of this conversation.
    """
    done = agent.change(revision).change_set
    stored = messages_of(done, conversation)
    if done.operation != OPERATION or not stored:
        raise InvalidParameter(f"Revision {revision} is not a step of this conversation.")
    before = agent.as_of(revision=revision - 1, access=_access(agent, stored[0].text, revision))
    talk = storage.loaded(before, conversation)
    again = asked(stored, done, storage.actions_of(done, talk), Recorded(done.calls))
    played = run(before, talk, replace(again, now=_as_then(agent, done)))
    differences = tuple(_differences(stored, played))
    return Replay(step_of(played, None), stored, differences)


def asked(messages: Sequence[Message], done: ChangeSet, actions: tuple[Action, ...], model: LanguageModel) -> Ask:
    """How a step was asked, with the results of its actions so far; asking it again touches nothing.

    Args:
        messages: those of the step, at least one.
        done: the change set that stores it.
        actions: what the agent could do.
        model: the language model.
    """
    first = messages[0]
    return Ask(
        first.text,
        first.at,
        Mode.PLAY,
        muted=tuple(memory.entry_id for memory in done.kept if memory.reason == MUTED),
        without=tuple(name for name in BLOCKS if WITHOUT.format(name) in done.notes),
        touch=False,
        speaker=first.speaker,
        model=model,
        actions=tuple(replace(action, do=None) for action in actions),
        results={message.call_id: result_in(message.text) for message in messages if message.action},
    )


def messages_of(done: ChangeSet, conversation: str) -> tuple[Message, ...]:
    """The messages of a step, in order, that a change set stores."""
    said = (change.after for change in done.changes if change.before is None and change.after is not None)
    ours = [entry for entry in said if entry.tier is Tier.RECALL and entry.extras.get("conversation") == conversation]
    found = [message_of(entry) for entry in ours if entry.extras.get("role") in tuple(Role)]
    return tuple(sorted(found, key=lambda message: message.number))


def _as_then(agent: AgentMemory, step: ChangeSet) -> datetime:
    """When a step was planned, in the zone that the world was in: its own if that had the same distance from UTC."""
    here = in_zone(step.planned_at, agent.now.tzinfo)
    return here if here.utcoffset() == step.planned_at.utcoffset() else step.planned_at


def _access(agent: AgentMemory, text: str, revision: int) -> int | None:
    """The last access that the step's recall saw, if it is still in the log of queries."""
    logged = agent.queries(1000, contains=text[:200])
    same = (
        logged_query
        for logged_query in logged
        if logged_query.query.cue == text and logged_query.revision == revision - 1
    )
    return next((logged_query.access for logged_query in same), None)


def _differences(stored: Sequence[Message], played: Played) -> list[str]:
    again = played.outcome.messages
    found = []
    if len(again) != len(stored):
        found.append(
            f"The step came out with {counted(len(again), 'message')}; {counted(len(stored), 'is', 'are')} stored."
        )
    for was, now in zip(stored, again, strict=False):
        if was != now:
            found.append(f"Message {was.number} ({was.role.value}) came out as “{now.text[:80]}”.")
    return found
