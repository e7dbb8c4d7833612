"""The client for asyncio programs: the calls of the client under the same names, each of them awaited.

from memory_system.interfaces.client import AsyncWorld

async with AsyncWorld("http://127.0.0.1:5000") as world:
    mira, tobias = await asyncio.gather(world.agent("mira"), world.agent("tobias"))
    print((await mira.query_memory("Where did I see smoke?")).context, await tobias.display_name)

The names of ``client.conversation`` are here too: ``from memory_system.interfaces.client.awaited import Duet, people``.

Every method, property and function wraps the client's own, which runs in a thread, so that the event loop never waits.
Iterators (``changes``, ``export``, ``Duet.stream``) become asynchronous iterators; callbacks (``progress``, ``heard``,
the callable of an ``Action``) are called in the event loop, and may be coroutine functions. A cancelled call is no
longer waited for: one that reports progress stops at the next report, and any other is still carried out by the server.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, wraps
from types import TracebackType
from typing import Any, ClassVar, Self

from ...conversation import Action
from . import conversation
from .agent import RemoteAgent
from .asking import RemoteInterview
from .talking import RemoteConversation
from .view import RemoteView
from .world import RemoteWorld

_END = object()


class _Cancelled(Exception):
    """Raised in a call that nobody waits for any more."""


async def _in_thread(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a call, made in a thread that does not keep the program from ending."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def in_loop(function: Callable[..., Any]) -> Callable[..., Any]:
        async def called(*said: Any, **named: Any) -> Any:
            done = None if answer.cancelled() else function(*said, **named)
            if inspect.isawaitable(done):
                hearing = asyncio.ensure_future(done)
                await asyncio.wait({hearing, answer}, return_when=asyncio.FIRST_COMPLETED)
                done = hearing.result() if hearing.done() else hearing.cancel()
            if answer.cancelled():
                raise _Cancelled
            return done

        return lambda *said, **named: asyncio.run_coroutine_threadsafe(called(*said, **named), loop).result()

    def taken(value: Any) -> Any:
        if isinstance(value, _Awaited):
            return value._remote
        if isinstance(value, Action):
            return value if value.do is None else replace(value, do=in_loop(value.do))
        if isinstance(value, list | tuple) and any(isinstance(item, Action | _Awaited) for item in value):
            return [taken(item) for item in value]
        return in_loop(value) if callable(value) and not isinstance(value, type) else value

    def settle(settled: Callable[[Any], None], value: Any) -> None:
        if not answer.cancelled():
            settled(value)

    def run() -> None:
        try:
            done = call(*map(taken, args), **{name: taken(value) for name, value in kwargs.items()})
            how = (answer.set_result, done)
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            how = (answer.set_exception, error)
        with suppress(RuntimeError):  # the loop is closed, and nobody waits
            loop.call_soon_threadsafe(settle, *how)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), name="memory", daemon=True).start()
    return _awaited_form(await answer)


async def _one_by_one(call: Callable[..., Any], *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
    """The items of an iterator, each fetched in a thread."""
    iterator = await _in_thread(call, *args, **kwargs)
    try:
        while (item := await _in_thread(next, iterator, _END)) is not _END:
            yield item
    finally:
        with suppress(ValueError):  # a thread is still waiting for its next
            iterator.close()


def _awaited(call: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, to be awaited, or iterated over."""
    several = str(call.__annotations__.get("return", "")).startswith("Iterator[")

    @wraps(call)
    def later(*args: Any, **kwargs: Any) -> Any:
        return (_one_by_one if several else _in_thread)(call, *args, **kwargs)

    return later


class _Awaited:
    """Wraps an object of the client; its class's members are awaited, and its own attributes are read at once."""

    _kind: ClassVar[type]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        keywords = {name: getattr(value, "_remote", value) for name, value in kwargs.items()}
        self._remote = self._kind(*(getattr(value, "_remote", value) for value in args), **keywords)

    def __init_subclass__(cls, of: type) -> None:
        cls._kind = of
        _KINDS[of] = cls
        for name in (name for name in dir(of) if not name.startswith("_")):
            found = inspect.getattr_static(of, name)
            if isinstance(found, property):
                assert found.fget is not None, "progress is reported to somebody"
                setattr(cls, name, property(_awaited(found.fget)))
            elif isinstance(found, classmethod):
                setattr(cls, name, staticmethod(_awaited(getattr(of, name))))
            elif inspect.isfunction(found):
                setattr(cls, name, _awaited(found))

    def __getattr__(self, name: str) -> Any:
        """An attribute that needs no server, such as the name of an agent."""
        if name.startswith("_"):
            raise AttributeError(name)
        return _awaited_form(getattr(self._remote, name))


_KINDS: dict[type, type[_Awaited]] = {}


def _awaited_form(value: Any) -> Any:
    """An object of the client in its awaited form; anything else as it is."""
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(_awaited_form, value))
    kind = _KINDS.get(type(value))
    if kind is None:
        return value
    made = kind.__new__(kind)
    made._remote = value
    return made


class AsyncView(_Awaited, of=RemoteView):
    """An agent on a server as it was at a moment: the calls of ``RemoteView``, each of them awaited."""


class AsyncAgent(_Awaited, of=RemoteAgent):
    """An agent on a server: the calls of ``RemoteAgent``, each of them awaited."""


class AsyncConversation(_Awaited, of=RemoteConversation):
    """A talk with an agent on a server: the calls of ``RemoteConversation``, each of them awaited."""


class AsyncInterview(_Awaited, of=RemoteInterview):
    """A talk with an agent on a server that leaves no trace: the calls of ``RemoteInterview``, each of them awaited."""


class AsyncDuet(_Awaited, of=conversation.Duet):
    """A talk of two agents: the calls of ``Duet``, each of them awaited."""


class AsyncGroup(_Awaited, of=conversation.Group):
    """A talk of three agents or more: the calls of ``Group``, each of them awaited."""


class AsyncWorld(_Awaited, of=RemoteWorld):
    """A world on a server: made as ``RemoteWorld`` is, with its calls, each of them awaited."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


@cache
def __getattr__(name: str) -> Any:
    """What ``client.conversation`` offers, to be awaited: ``people``, ``load_document``, ``Conversation`` ..."""
    if name not in conversation.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(conversation, name)
    return _awaited(found) if inspect.isfunction(found) else _KINDS.get(found, found)
