"""The texts that a conversation is kept by, as far as whoever stores them has to know them."""

from __future__ import annotations

import json

from .errors import InvalidParameter

MAX_STATE = 500_000
"""Characters of one such text: two blocks of core memory of 20,000 each, escaped at their worst, and room."""


def refuse_no_state(name: str, text: str | None) -> None:
    """Do nothing if the text can be the state or the core memory of a conversation, or says that there is none.

    Raises:
        InvalidParameter: it is no JSON object, or longer than 500,000 characters.
    """
    if text is None:
        return
    if len(text) > MAX_STATE:
        raise InvalidParameter(f"What is kept as {name} has {len(text):,} characters; at most {MAX_STATE:,} are taken.")
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise InvalidParameter(f"What is kept as {name} must be a JSON object.")
