"""Steps: the result of a message for the caller, and the change sets that conversations plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..agent import AgentMemory
from ..core.change_set import Change, ChangeSet
from ..llm.base import ToolCall
from ..recall.rank import Recall
from .context import Context
from .functions import FunctionRun
from .playing import Played
from .talk import Message

OPERATION = "talk"
"""The history's name for steps of conversations."""
MUTED = "It was muted for this step."
"""The reason that a change set gives for keeping a memory."""
WITHOUT = "The block {} of core memory was muted for this step."
"""The note of a change set that says which block was left out."""


@dataclass(frozen=True)
class Step:
    """The result of a message.

    Args:
        answer: what the agent said; empty if there is a problem.
        change_set: what the step stores; unapplied after a preview, and ``None`` for an interview.
        messages: those of the step, in order: the one sent, calls and results, the answer.
        functions: the calls of functions, with arguments, results, time and tokens.
        context: the last prompt, section by section.
        recalled: the memories that the message recalled.
        offered: with ``hold``, the events that the agent would store, each as a change set to apply or to drop.
        problem: why there is no answer, in a sentence; the message is still stored.
        notes: further remarks.
        pending: calls of actions to carry out before calling ``go_on`` with their results; nothing is stored before
            that.
    """

    answer: str
    change_set: ChangeSet | None
    messages: tuple[Message, ...]
    functions: tuple[FunctionRun, ...]
    context: Context
    recalled: Recall
    offered: tuple[ChangeSet, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()
    pending: tuple[ToolCall, ...] = ()

    def __str__(self) -> str:
        """The answer, or why there is none."""
        waits = f"It waits for {', '.join(call.name for call in self.pending)}." if self.pending else ""
        return self.answer or f"({self.problem or waits or 'silence'})"


def step_of(played: Played, change_set: ChangeSet | None, offered: tuple[ChangeSet, ...] = ()) -> Step:
    """The result of a message for the caller."""
    outcome = played.outcome
    return Step(
        outcome.answer,
        change_set,
        outcome.messages,
        outcome.functions,
        outcome.context,
        played.recalled,
        offered,
        outcome.problem,
        outcome.notes,
        outcome.pending,
    )


def planned(
    agent: AgentMemory,
    title: str,
    now: datetime,
    changes: tuple[Change, ...] = (),
    *,
    operation: str = OPERATION,
    **more: Any,
) -> ChangeSet:
    """A change set of a conversation; planned without a ``Ground``, which reads all memories."""
    revision, _ = agent.stamp
    return ChangeSet(operation, title, changes, now, revision, author=agent.author, agent=agent.name, **more)
