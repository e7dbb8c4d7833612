"""Guarded: a language model whose caller is asked before each call, and told afterwards what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.change_set import ModelCall
from ..errors import ModelError
from . import tokens
from .base import Done, LanguageModel, StandIn

Over = Callable[[ModelCall | ModelError], None]
"""Told a call that was made, or the error that came of it."""
Begin = Callable[[str, int], Over]
"""Told the model's name and how many tokens it is going to be sent, by estimate; may raise so that it is not asked."""


class Guarded(StandIn):
    """As the model that it stands for.

    Args:
        inner: the model.
        begin: asked before each call.
    """

    def __init__(self, inner: LanguageModel, begin: Begin) -> None:
        super().__init__(inner)
        self._begin = begin

    def passed(self, ask: Callable[[], Done], *sent: Sequence[Mapping[str, Any]]) -> Done:
        """Ask whether it may be called, and tell what came of it."""
        over = self._begin(self.name, tokens.of_messages(*sent))
        try:
            done = ask()
        except ModelError as error:
            over(error)
            raise
        over(done.call)
        return done
