"""Completions: the text of a whole answer, however a server put it; the openai package validates nothing of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import ModelNonsense
from .chat import Usage
from .gathering import usage_of


@dataclass(frozen=True)
class Answered:
    """A whole answer.

    Args:
        text: what was said; the arguments of a call that nobody asked for, if nothing else was.
        tokens: that the server counted in all, ``None`` if it did not.
        usage: those of the prompt and of the answer, as far as that can be believed.
        cut: whether the answer ends where there was no more room for it.
    """

    text: str
    tokens: int | None
    usage: Usage | None
    cut: bool


def answered(completion: Any) -> Answered:
    """What an answer says.

    Raises:
        ModelNonsense: it says nothing; the message tells what came instead.
    """
    choices: Any = completion.choices
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None:
        raise ModelNonsense("The language model server gave an answer without content.")
    finish = getattr(choice, "finish_reason", None)
    text = _filled(getattr(message, "content", None)) or _of_a_call(getattr(message, "tool_calls", None))
    if not text:
        raise ModelNonsense(_instead(message, finish))
    tokens = getattr(completion.usage, "total_tokens", None)
    return Answered(text, tokens if isinstance(tokens, int) else None, usage_of(completion.usage), finish == "length")


def _filled(text: object) -> str:
    return text if isinstance(text, str) and text.strip() else ""


def _of_a_call(calls: object) -> str:
    """What some models write into a call of a tool of their own invention, though none was offered."""
    listed = calls if isinstance(calls, list) else []
    found = (_filled(getattr(getattr(call, "function", None), "arguments", None)) for call in listed)
    return next(filter(None, found), "")


def _instead(message: Any, finish: object) -> str:
    if _filled(getattr(message, "refusal", None)) or finish == "content_filter":
        return "The language model refused to answer."
    if finish == "length":
        return "The language model had no room left for an answer: its context is full."
    return "The language model gave an empty answer."
