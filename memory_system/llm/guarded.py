"""Guarded: a language model that calls back before each call, and afterwards with the outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.change_set import ModelCall
from ..errors import ModelError
from . import tokens
from .base import Done, LanguageModel, StandIn

Over = Callable[[ModelCall | ModelError], None]
"""Called with a call that was made, or the error that it raised."""
Begin = Callable[[str, int], Over]
"""Called with the model's name and an estimate of the tokens to be sent; may raise to prevent the call."""


class Guarded(StandIn):
    """A language model that asks for permission before each call.

    Args:
        inner: the model.
        begin: called before each call.
    """

    def __init__(self, inner: LanguageModel, begin: Begin) -> None:
        super().__init__(inner)
        self._begin = begin

    def passed(self, ask: Callable[[], Done], *sent: Sequence[Mapping[str, Any]]) -> Done:
        """Ask whether it may be called, and report the outcome."""
        over = self._begin(self.name, tokens.of_messages(*sent))
        try:
            done = ask()
        except ModelError as error:
            over(error)
            raise
        over(done.call)
        return done
