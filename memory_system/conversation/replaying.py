"""Replaying: a step lived through again without the model, from what its change set keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..agent import AgentMemory
from ..core.change_set import ChangeSet, ModelCall
from ..core.entry import Tier
from ..errors import InvalidParameter, ModelError, ModelNonsense, ModelOverflow, ModelUnavailable
from ..llm.base import TASK, Answer, Completion, Heard, Reply, relived, unheard
from ..llm.tasks import Task
from . import storage
from .playing import BLOCKS, Ask, Played, run
from .steps import MUTED, OPERATION, WITHOUT, Step, step_of
from .storage import message_of
from .talk import Message, Mode, Role


@dataclass(frozen=True)
class Replay:
    """A step as it came out again.

    Args:
        step: as it came out; without a change set, since nothing is stored.
        stored: its messages as they were stored.
        differences: where the two differ, in sentences; none where all is the same.
    """

    step: Step
    stored: tuple[Message, ...]
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether every message came out as it is stored."""
        return not self.differences


class Recorded:
    """A language model that answers what it answered before, in order, and is asked nothing else.

    Args:
        calls: as a change set keeps them.
    """

    name = "recorded"
    label = "recorded answers (no language model)"

    def __init__(self, calls: Sequence[ModelCall]) -> None:
        self._calls = list(calls)

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],  # noqa: ARG002 - it answers what it answered then
        tools: Sequence[Mapping[str, Any]] = (),  # noqa: ARG002
        *,
        deadline: float | None = None,  # noqa: ARG002
        heard: Heard = unheard,
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
            heard(reply.text)
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


def _failure(call: ModelCall) -> ModelError:
    """What the model failed with then, as far as it matters for what comes of it."""
    kinds = (ModelOverflow, ModelNonsense)
    kind = next((one for one in kinds if json.dumps({"failed": one.code}) == call.answer), ModelUnavailable)
    return kind(call.error or "")


def replayed(agent: AgentMemory, conversation: str, revision: int) -> Replay:
    """A step again, as it was: on the memory as it was before it, with the replies that the journal keeps.

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
    stored = _messages(done, conversation)
    if done.operation != OPERATION or not stored:
        raise InvalidParameter(f"Revision {revision} is not a step of this conversation.")
    first = stored[0]
    before = agent.as_of(revision=revision - 1, access=_access(agent, first.text, revision))
    talk = storage.loaded(before, conversation)
    ask = Ask(
        first.text,
        first.at,
        Mode.PLAY,
        muted=tuple(one.entry_id for one in done.kept if one.reason == MUTED),
        without=tuple(name for name in BLOCKS if WITHOUT.format(name) in done.notes),
        touch=False,
        speaker=first.speaker,
        model=Recorded(done.calls),
    )
    played = run(before, talk, ask)
    differences = tuple(_differences(stored, played))
    return Replay(step_of(played, None), stored, differences)


def _messages(done: ChangeSet, conversation: str) -> tuple[Message, ...]:
    said = (change.after for change in done.changes if change.before is None and change.after is not None)
    ours = [one for one in said if one.tier is Tier.RECALL and one.extras.get("conversation") == conversation]
    found = [message_of(one) for one in ours if one.extras.get("role") in tuple(Role)]
    return tuple(sorted(found, key=lambda message: message.number))


def _access(agent: AgentMemory, text: str, revision: int) -> int | None:
    """The last access that the step's recall saw, where the log of queries still tells it."""
    logged = agent.queries(1000, contains=text[:200])
    same = (one for one in logged if one.query.cue == text and one.revision == revision - 1)
    return next((one.access for one in same), None)


def _differences(stored: Sequence[Message], played: Played) -> list[str]:
    again = played.outcome.messages
    found = []
    if len(again) != len(stored):
        found.append(f"The step came out with {len(again)} messages; {len(stored)} are stored.")
    for was, now in zip(stored, again, strict=False):
        if was != now:
            found.append(f"Message {was.number} ({was.role.value}) came out as “{now.text[:80]}”.")
    return found
