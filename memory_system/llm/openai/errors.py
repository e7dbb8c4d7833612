"""Refusals: why a request was not answered, as a value, and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto

from ...errors import ModelError, ModelNonsense, ModelOverflow, ModelTimeout, ModelUnavailable
from ..redaction import Redaction
from .chat import overflows

TOO_MANY = 429
KEY_REFUSED = "The language model server does not accept the key. Check the key."
_NO_CREDIT = "insufficient_quota"


class Kind(Enum):
    """What prevented an answer."""

    LATE = auto()
    """The deadline passed."""
    UNREACHED = auto()
    """No connection was accepted."""
    BROKEN_OFF = auto()
    """The connection ended before the answer was complete."""
    SHAPELESS = auto()
    """An answer that is not of OpenAI's form."""
    TOLD = auto()
    """An error that the server reported."""


@dataclass(frozen=True)
class Refusal:
    """A request that was not answered.

    Args:
        kind: what prevented an answer.
        status: of HTTP; ``None`` if there was none.
        said: the server's words, or the HTTP client's if the server has none.
        code: OpenAI's, if there is one.
        told: seconds that the server asks to wait; ``None`` if it does not say.
    """

    kind: Kind
    status: int | None = None
    said: str = ""
    code: object = None
    told: float | None = None

    @property
    def too_long(self) -> bool:
        """Whether it was refused for its length."""
        return self.kind is Kind.TOLD and overflows(self.status, self.said, self.code)

    @property
    def passing(self) -> bool:
        """Whether the same request may be answered a moment later."""
        if self.kind in (Kind.UNREACHED, Kind.BROKEN_OFF):
            return True
        if self.kind is not Kind.TOLD or self.status is None or self.too_long or self.code == _NO_CREDIT:
            return False
        return self.status in (408, 409, TOO_MANY) or self.status >= 500


def late(model: str) -> ModelTimeout:
    """The error for a passed deadline."""
    return ModelTimeout(f"The language model {model} gave no complete answer in time.")


@contextmanager
def alone() -> Iterator[None]:
    """Raise errors without their causes, which quote what the server sent and may contain the key."""
    try:
        yield
    except ModelError as error:
        error.__cause__ = error.__context__ = None
        raise


def in_words(refusal: Refusal, model: str, label: str, redaction: Redaction) -> ModelError:
    """The error to raise for a refusal.

    Args:
        refusal: why a request was not answered.
        model: the model's name.
        label: the model and its server.
        redaction: removes the key from what the server said.
    """
    if refusal.kind is Kind.LATE:
        return late(model)
    if refusal.kind is Kind.UNREACHED:
        return ModelUnavailable(
            f"The language model server cannot be reached ({label}). Is it running, and its address right?"
        )
    if refusal.kind is Kind.BROKEN_OFF:
        return ModelUnavailable(f"The language model server broke off before its answer was whole ({label}).")
    if refusal.too_long:
        return ModelOverflow(
            "What was sent is longer than the language model's context. Send less, or load it with more."
        )
    if refusal.kind is Kind.SHAPELESS:
        return ModelNonsense("The language model server's answer is not of the OpenAI form.")
    if plain := _of_status(refusal.status, model):
        return ModelUnavailable(plain)
    later = f" It asks for a pause of {math.ceil(refusal.told):,} seconds; try again then." if refusal.told else ""
    if refusal.status == TOO_MANY:
        words = "too many requests." if later else "too many requests, or no credit left."
        return ModelUnavailable(f"The language model server says: {words}{later}", retry_after=refusal.told)
    text = redaction.quoted(refusal.said)
    if refusal.status is None:
        return ModelUnavailable(f"The language model server reported an error: {text}")
    return ModelUnavailable(
        f"The language model server answered {refusal.status}: {text}{later}", retry_after=refusal.told
    )


def _of_status(status: int | None, model: str) -> str:
    """What a status means by itself, in a sentence; empty if that is not enough."""
    if status in (401, 403):
        return KEY_REFUSED
    if status == 404:
        return f"The server has no model {model!r}, or its address lacks a path like /v1."
    if status is not None and 300 <= status < 400:
        return (
            f"The language model server points to another address ({status}), where nothing is sent on to. Set the "
            "address that it points to, if it is yours."
        )
    return ""
