"""Guarded: a language model whose caller is asked before each call, and told afterwards what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ..core.change_set import ModelCall
from ..errors import ModelError
from . import tokens
from .base import Answer, Completion, Heard, LanguageModel, Reply, unheard
from .prompts import Prompts, prompts_of
from .tasks import Task

Over = Callable[[ModelCall | ModelError], None]
"""Told a call that was made, or the error that came of it."""
Begin = Callable[[str, int], Over]
"""Told the model's name and how many tokens it is going to be sent, by estimate; may raise so that it is not asked."""
Done = TypeVar("Done", Completion[Any], Reply)


class Guarded:
    """As the model that it stands for.

    Args:
        inner: the model.
        begin: asked before each call.
    """

    def __init__(self, inner: LanguageModel, begin: Begin) -> None:
        self._inner, self._begin = inner, begin

    @property
    def name(self) -> str:
        """The model's name for traces."""
        return self._inner.name

    @property
    def label(self) -> str:
        """What the dashboard says is in use."""
        return self._inner.label

    @property
    def prompts(self) -> Prompts:
        """What the prompts say in the model's world."""
        return prompts_of(self._inner)

    @property
    def who(self) -> str:
        """Whose memories are rated, in words."""
        return str(getattr(self._inner, "who", ""))

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:
        """As ``LanguageModel.complete``."""
        over = self._begin(self.name, tokens.of_messages(task.messages()))
        return _told(over, lambda: self._inner.complete(task, deadline))

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        deadline: float | None = None,
        heard: Heard = unheard,
    ) -> Reply:
        """As ``ChatModel.chat``."""
        over = self._begin(self.name, tokens.of_messages(messages, tools))
        return _told(over, lambda: self._inner.chat(messages, tools, deadline=deadline, heard=heard))


def _told(over: Over, ask: Callable[[], Done]) -> Done:
    try:
        done = ask()
    except ModelError as error:
        over(error)
        raise
    over(done.call)
    return done
