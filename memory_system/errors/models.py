"""Language models and embedders that did not help."""

from __future__ import annotations

from .base import MemorySystemError


class ModelError(MemorySystemError):
    """Raise when a language model did not help. The message holds no key."""

    status = 502
    code = "model-error"
    usage: tuple[int, int] | None = None
    """Tokens sent and received all the same, as far as the server counted them."""


class BudgetSpent(ModelError):
    """Raise before a call that may take more than the agent's budget has left; the model was not asked."""

    status = 402
    code = "budget-spent"


class ModelUnavailable(ModelError):
    """Raise when the server refuses, is not there, or wants another key; asking again now is no use.

    Args:
        sentence: the message for people.
        retry_after: seconds after which the server wants to be asked again, if it said so.
    """

    status = 503
    code = "model-unavailable"

    def __init__(self, sentence: str, *, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.retry_after = retry_after


class ModelTimeout(ModelError):
    """Raise when the deadline passed without a complete answer."""

    status = 504
    code = "model-timeout"


class ModelOverflow(ModelError):
    """Raise when what was sent is longer than the model's context; a shorter message may be answered."""

    status = 413
    code = "model-overflow"


class ModelNonsense(ModelError):
    """Raise when an answer came but is not of the form that was asked for."""

    code = "model-nonsense"


class EmbedderError(MemorySystemError):
    """Raise when texts cannot be turned into vectors."""

    code = "embedder-error"
