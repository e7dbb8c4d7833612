"""A trial of a language model: one memory rated, shown as the round trip that it was."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from .errors import ModelError
from .llm import LanguageModel, tasks
from .llm.prompts import SHIPPED, Prompts

EXAMPLE = "Tobias lent me his last dry coat in the storm"
"""What is rated: no memory of anybody's, so that a trial tells a server nothing."""


@dataclass(frozen=True)
class Trial:
    """What came of it.

    Args:
        label: which model was asked, and where.
        asked: the messages that were sent, as one text.
        answered: what came back; empty if it was no use.
        milliseconds: from the question to the answer or the error.
        tokens: that the server counted; ``None`` if it did not say.
        problem: what went wrong, in a sentence; empty if nothing did.
        models: the names of those that the server offers.
        unlisted: why there are none, in a sentence; empty if there are, or nobody was asked.
    """

    label: str
    asked: str
    answered: str
    milliseconds: float
    tokens: int | None
    problem: str = ""
    models: tuple[str, ...] = ()
    unlisted: str = ""


def tried(
    model: LanguageModel,
    listed: Callable[[], tuple[str, ...]] | None = None,
    prompts: Prompts = SHIPPED,
) -> Trial:
    """Ask a model to rate a sentence, and its server which models it offers; stores nothing.

    Args:
        model: the model.
        listed: asks for the list; ``None`` = there is no server.
        prompts: the world's.
    """
    task = tasks.rate(EXAMPLE).worded(prompts)
    started = time.monotonic()
    answered, tokens, problem, asked = "", None, "", task.prompt()
    try:
        call = model.complete(task).call
        asked, answered, tokens = call.prompt, call.answer, call.tokens
    except ModelError as error:
        problem = error.sentence
    milliseconds = (time.monotonic() - started) * 1000
    names: tuple[str, ...] = ()
    unlisted = ""
    try:
        names = listed() if listed else ()
    except ModelError as error:
        unlisted = error.sentence
    return Trial(model.label, asked, answered, milliseconds, tokens, problem, names, unlisted)
