"""Every way in which a language model server was seen to fail, and what each means for the caller."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memory_system.errors import ModelError, ModelNonsense, ModelOverflow, ModelTimeout, ModelUnavailable
from tests.fake_server import Reply, body, calling, completion, error, overflow, says, silent, trickling
from tests.waiting import LAST_RESORT

LONG = LAST_RESORT
"""Seconds for which a slow server sends nothing: no test waits that long, only for its own deadline."""
HTML = "<html><body>Please sign in</body></html>"


@dataclass(frozen=True)
class Fault:
    """One way to fail.

    Args:
        reply: what the server does; ``None`` = there is no server.
        raises: the error of a task that needs an answer in a form.
        deadline: the deadline in seconds.
        speaks: whether the reply is a text nevertheless, which a mere talk accepts as an answer.
        object: whether the reply is a JSON object nevertheless, which is all that a custom prompt needs.
    """

    reply: Reply | None
    raises: type[ModelError]
    deadline: float = LAST_RESORT
    speaks: bool = False
    object: bool = False


def _echoing(answer: Callable[[str], Reply]) -> Reply:
    """Returns the key that it received."""

    def send(handler: Any) -> None:
        answer(handler.headers["Authorization"].removeprefix("Bearer "))(handler)

    return send


def _rated(rating: object, explanation: str = "e") -> Reply:
    return says(json.dumps({"explanation": explanation, "rating": rating}))


FAULTS = {
    "refused": Fault(None, ModelUnavailable),
    "slow": Fault(silent(LONG), ModelTimeout, deadline=0.5),
    "trickling": Fault(trickling(LONG), ModelTimeout, deadline=0.5),
    "cut off": Fault(body(200, completion("Well."), cut=60), ModelUnavailable),
    "429": Fault(error(429), ModelUnavailable),
    "429 until later": Fault(error(429, headers={"Retry-After": "3600"}), ModelUnavailable),
    "429 for a moment, for ever": Fault(error(429, headers={"Retry-After": "0"}), ModelUnavailable),
    "500": Fault(error(500), ModelUnavailable),
    "HTML with 200": Fault(body(200, HTML, "text/html"), ModelNonsense),
    "empty": Fault(body(200, ""), ModelNonsense),
    "an empty text": Fault(body(200, completion("")), ModelNonsense),
    "half JSON": Fault(body(200, '{"choices": [{"message": {"role": "assi'), ModelNonsense),
    "half an answer": Fault(says('{"explanation": "A prom'), ModelNonsense, speaks=True),
    "rating 11": Fault(_rated(11), ModelNonsense, speaks=True, object=True),
    "rating in words": Fault(_rated("seven"), ModelNonsense, speaks=True, object=True),
    "rating as prose": Fault(says("I would say seven."), ModelNonsense, speaks=True),
    "a refusal": Fault(
        body(200, completion(None, refusal="I'm sorry, I can't help with that.")), ModelNonsense, speaks=True
    ),
    "a refusal as text": Fault(says("I'm sorry, I can't help with that."), ModelNonsense, speaks=True),
    "the key in an error": Fault(_echoing(lambda key: error(401, f"Incorrect API key: {key}")), ModelUnavailable),
    "the key in a broken answer": Fault(_echoing(lambda key: _rated(key)), ModelNonsense, speaks=True, object=True),
    "the key in prose": Fault(_echoing(lambda key: says(f"I am {key}.")), ModelNonsense, speaks=True),
    "tool calls unasked": Fault(
        body(200, completion(None, tool_calls=[calling("forget_everything", {"sure": True})])),
        ModelNonsense,
        speaks=True,
        object=True,
    ),
    "context overflow": Fault(overflow(), ModelOverflow),
}
"""The table of issue 7, each row with its variants met in different servers."""
