"""Lanes: memory work runs in threads, never in the event loop, and slow work does not hold up the quick."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Request
from fastapi.responses import Response

from ...errors import InvalidParameter
from .sse import EVENTS, Pieces, Tell, untold

P = ParamSpec("P")
T = TypeVar("T")

QUICK, SLOW, WATCHING = 12, 8, 2
"""Threads: for what takes milliseconds, for what may wait a minute for a language model, and for looking for news."""


def _never(**_given: Any) -> bool:
    """Nothing is known of what is asked."""
    return False


class Lanes:
    """The threads of one server."""

    def __init__(self) -> None:
        self._quick, self._slow, self._watching = (CapacityLimiter(count) for count in (QUICK, SLOW, WATCHING))

    def quick(self, endpoint: Callable[P, T]) -> Callable[P, Awaitable[T]]:
        """An endpoint that answers from memory or writes a change."""
        return _in_thread(endpoint, self._quick)

    def slow(self, endpoint: Callable[P, T]) -> Callable[P, Awaitable[T]]:
        """An endpoint that may ask a language model."""
        return _in_thread(endpoint, self._slow)

    def told(
        self, endpoint: Callable[..., Response], light: Callable[..., bool] = _never
    ) -> Callable[..., Awaitable[Response]]:
        """An endpoint that may take long, and tells how far it is to whoever asks for ``text/event-stream``.

        Its first parameter is ``tell``. A listener who leaves stops what is not applied yet.

        Args:
            endpoint: answers a request.
            light: of what is asked, whether it is known to ask no language model; it then waits for none that others
                have asked.
        """

        async def run(request: Request, **given: Any) -> Response:
            lane = self._quick if light(**given) else self._slow
            if EVENTS not in request.headers.get("accept", ""):
                return await to_thread.run_sync(functools.partial(endpoint, untold, **given), limiter=lane)
            if "idempotency-key" in request.headers:
                raise InvalidParameter(
                    "What is told as it comes about takes no Idempotency-Key: ask for application/json to send one."
                )

            async def begin(work: Callable[[], None]) -> None:
                await to_thread.run_sync(work, limiter=lane)

            def work(tell: Tell) -> Response:
                return endpoint(tell, **given)

            return await Pieces(begin, work).response()

        described = inspect.signature(endpoint, eval_str=True)
        request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
        own = [one for name, one in described.parameters.items() if name != "tell"]
        functools.update_wrapper(run, endpoint)
        told: Any = run
        told.__signature__ = described.replace(parameters=[request, *own])
        return run

    async def watch(self, look: Callable[[], T]) -> T:
        """What a look for news finds."""
        return await to_thread.run_sync(look, limiter=self._watching)


def _in_thread(endpoint: Callable[P, T], limiter: CapacityLimiter) -> Callable[P, Awaitable[T]]:
    @functools.wraps(endpoint)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await to_thread.run_sync(functools.partial(endpoint, *args, **kwargs), limiter=limiter)

    told: Any = run
    told.__signature__ = inspect.signature(endpoint, eval_str=True)  # FastAPI reads the parameters from it
    return run
