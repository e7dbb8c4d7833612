"""What the server tells of conversations, as the values that they are in-process."""

from __future__ import annotations

from ...conversation import Step
from ...conversation.context import Context
from ...conversation.duet import Said
from ...conversation.functions import FunctionRun
from ...conversation.replaying import Replay
from ...conversation.talk import Message, Talk
from . import reading
from .reading import Told


def talk(told: Told) -> Talk:
    """A conversation as it stands."""
    return reading.value(Talk, dict(told))


def context(told: Told) -> Context:
    """A prompt, section by section."""
    return reading.value(Context, {name: value for name, value in told.items() if name != "tokens"})


def messages(told: list[Told]) -> tuple[Message, ...]:
    """Messages in their order."""
    return tuple(reading.value(Message, one) for one in told)


def step(told: Told) -> Step:
    """What came of a message."""
    done = told["change_set"]
    return Step(
        told["answer"],
        None if done is None else reading.change_set(done),
        messages(told["messages"]),
        tuple(reading.value(FunctionRun, one) for one in told["functions"]),
        context(told["context"]),
        reading.recall(told["recalled"]),
        tuple(map(reading.change_set, told["offered"])),
        told["problem"],
        tuple(told["notes"]),
    )


def replay(told: Told) -> Replay:
    """A step lived through again."""
    return Replay(step(told["step"]), messages(told["stored"]), tuple(told["differences"]))


def said(told: Told) -> Said:
    """One thing that was said in a duet."""
    return Said(told["speaker"], told["text"], step(told["step"]))
