"""The interface of a language model: a task in, a validated answer and a trace of the call out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from ..changes import ModelCall
from .chat import ChatModel, Usage
from .tasks import Task

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True)
class Completion(Generic[Answer]):
    """A validated answer, what was asked and said to get it, and the tokens that the server counted, if it did."""

    answer: Answer
    call: ModelCall
    usage: Usage | None = None


class LanguageModel(ChatModel, Protocol):
    """What answers tasks, and talks. Implementations are safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's name for traces, such as ``gpt-4o-mini`` or ``offline``."""

    @property
    def label(self) -> str:
        """What the dashboard says is in use, in a few words; names a fallback as one."""

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:
        """The answer to a task.

        Args:
            task: what is asked, with the form that the answer must have.
            deadline: seconds until an answer is no use, retries included; the model's default if not given.

        Raises:
            ModelUnavailable: the server refuses or is not there.
            ModelTimeout: the deadline passed.
            ModelNonsense: the answer does not have the form, also when asked again.
        """
