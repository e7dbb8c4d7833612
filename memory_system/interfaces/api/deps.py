"""The desk: what all routes share: the world, the waiting previews, the threads, and the answer to a write."""

from __future__ import annotations

import functools
import inspect
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any, ParamSpec, TypeVar
from urllib.parse import unquote

from anyio import CapacityLimiter, to_thread
from fastapi import Header, Path, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import StrictStr

from ...agent import AgentMemory
from ...agent_parts.replanning import carried_out
from ...conversation import Step
from ...core.authors import API, authored_by
from ...core.change_set import ChangeSet
from ...core.names import MAX_NAME
from ...core.settings import RatedBy
from ...errors import ChangeSetNotFound, Conflict, InvalidParameter, MemorySystemError, StaleRevision, shown
from ...maintenance import InUse, Worlds
from ...world.world import World
from .. import serialize
from ..reads import worlds_beside
from .idempotency import MAX_KEY
from .sse import EVENTS, Pieces, Tell, untold

AgentName = Annotated[str, Path(min_length=1, max_length=MAX_NAME, description="The agent's name.")]
Preview = Annotated[
    bool, Query(description="Change nothing: answer what would be done, to be applied later under its id.")
]
IfMatch = Annotated[
    StrictStr | None,
    Header(description='The ETag that this edit is based on, such as "7"; if it is stale the answer is 412.'),
]
Key = Annotated[
    StrictStr | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=MAX_KEY,
        pattern="^[!-~]+$",
        description="A write sent again with the same key and body gets the first answer, and is not done again.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]
MOST_SAID = 600
"""The most characters in a header that says who is asking, or which world is meant."""
Author = Annotated[
    StrictStr | None,
    Header(
        alias="Memory-Author",
        max_length=MOST_SAID,
        description='Who makes the change, percent-encoded UTF-8; the history shows it after "API".',
    ),
]
ForWorld = Annotated[
    StrictStr | None,
    Header(
        alias="Memory-World",
        max_length=MOST_SAID,
        description="The intended world, percent-encoded UTF-8; the answer is 409 if another one is served.",
    ),
]
View = AgentMemory
_CALLER: ContextVar[str] = ContextVar("caller", default="")
"""What the caller of this request is called."""


async def names_itself(author: Author = None, _meant: ForWorld = None) -> None:
    """Record this request's caller in the history as the author of what it does."""
    calls_itself(author or "")


def calls_itself(author: str) -> None:
    """Record this percent-encoded name in the history as the author of what this context does."""
    _CALLER.set(unquote(author))


def documents_key(_key: Key = None) -> None:
    """Describe the ``Idempotency-Key``, which ``Idempotency`` reads."""


def tag(revision: int) -> dict[str, str]:
    """The headers that name a revision."""
    return {"ETag": f'"{revision}"'}


P = ParamSpec("P")
T = TypeVar("T")

QUICK, SLOW, WATCHING = 12, 8, 2
"""Threads: for what takes milliseconds, for what may wait a minute for a language model, and for checking for news."""


def _never(**_given: Any) -> bool:
    """No request is known to be light."""
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

    def reporting(
        self, endpoint: Callable[..., Response], light: Callable[..., bool] = _never
    ) -> Callable[..., Awaitable[Response]]:
        """An endpoint that may take long, and reports its progress to clients that accept ``text/event-stream``.

        Its first parameter is ``tell``. If the listener leaves, what has not been applied yet is stopped.

        Args:
            endpoint: answers a request.
            light: returns whether a request is known to need no language model, and so need not wait for others' calls
                of one. It may read an agent, and so it is called in a thread.
        """

        def if_light(**arguments: Any) -> Response | None:
            return endpoint(untold, **arguments) if light(**arguments) else None

        async def run(request: Request, **arguments: Any) -> Response:
            if EVENTS not in request.headers.get("accept", ""):
                done = None
                if light is not _never:
                    done = await to_thread.run_sync(functools.partial(if_light, **arguments), limiter=self._quick)
                if done is None:
                    done = await to_thread.run_sync(
                        functools.partial(endpoint, untold, **arguments), limiter=self._slow
                    )
                return done
            lane = self._slow
            if light is not _never and await to_thread.run_sync(
                functools.partial(light, **arguments), limiter=self._quick
            ):
                lane = self._quick
            if "idempotency-key" in request.headers:
                raise InvalidParameter(
                    "An event stream cannot take an Idempotency-Key; ask for application/json to send one."
                )

            async def begin(work: Callable[[], None]) -> None:
                await to_thread.run_sync(work, limiter=lane)

            def work(tell: Tell) -> Response:
                return endpoint(tell, **arguments)

            return await Pieces(begin, work).response()

        described = inspect.signature(endpoint, eval_str=True)
        request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
        own = [parameter for name, parameter in described.parameters.items() if name != "tell"]
        functools.update_wrapper(run, endpoint)
        wrapper: Any = run
        wrapper.__signature__ = described.replace(parameters=[request, *own])
        return run

    async def watch(self, look: Callable[[], T]) -> T:
        """The result of a check for news."""
        return await to_thread.run_sync(look, limiter=self._watching)


def _in_thread(endpoint: Callable[P, T], limiter: CapacityLimiter) -> Callable[P, Awaitable[T]]:
    @functools.wraps(endpoint)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await to_thread.run_sync(functools.partial(endpoint, *args, **kwargs), limiter=limiter)

    wrapper: Any = run
    wrapper.__signature__ = inspect.signature(endpoint, eval_str=True)  # FastAPI reads the parameters from it
    return run


PREVIEW_SECONDS = 3600.0
MOST, MOST_CHANGES = 1000, 250_000


@dataclass
class _Waiting:
    agent: str
    planned: ChangeSet
    until: float
    refused: frozenset[str] = frozenset()
    done: ChangeSet | None = None


class Previews:
    """Waiting change sets by id. Thread-safe; the oldest are dropped for new ones.

    Args:
        seconds: how long one is kept.
        most: how many are kept.
        most_changes: how many memories they may affect in all.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        seconds: float = PREVIEW_SECONDS,
        most: int = MOST,
        most_changes: int = MOST_CHANGES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self._most, self._most_changes, self._clock = most, most_changes, clock
        self._previews: OrderedDict[str, _Waiting] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, agent: str, planned: ChangeSet) -> None:
        """Keep a change set that was shown; the newest is kept, whatever its size."""
        with self._lock:
            self._previews[planned.id] = _Waiting(agent, planned, self._clock() + self.seconds)
            self._tidy()

    def get(self, agent: str, preview_id: str) -> ChangeSet:
        """The change set with this id, unapplied or applied.

        Raises:
            ChangeSetNotFound: it was never shown, or too long ago.
        """
        with self._lock:
            waiting = self._waiting(agent, preview_id)
            return waiting.done or waiting.planned

    def clear(self) -> None:
        """Forget all, after a switch to another world: its agents may have the same names."""
        with self._lock:
            self._previews.clear()

    def drop(self, agent: str, preview_id: str) -> None:
        """Forget one.

        Raises:
            ChangeSetNotFound: it was never shown, or too long ago.
        """
        with self._lock:
            self._waiting(agent, preview_id)
            del self._previews[preview_id]

    def apply(
        self, agent: str, preview_id: str, refused: Collection[str], carry_out: Callable[[ChangeSet], ChangeSet]
    ) -> ChangeSet:
        """Carry one out, without the refused memories. The same request again returns what was done.

        Raises:
            ChangeSetNotFound: it was never shown, or too long ago.
            Conflict: it has been applied with other memories refused.
            MemorySystemError: what ``carry_out`` raises; it can then be tried again.
        """
        refusals = frozenset(refused)
        with self._lock:
            waiting = self._waiting(agent, preview_id)
            if waiting.done is not None:
                if waiting.refused != refusals:
                    raise Conflict("This preview has been applied already, with another choice. Preview it again.")
                return waiting.done
        done = carry_out(waiting.planned.without(refusals) if refusals else waiting.planned)
        with self._lock:
            waiting.refused, waiting.done = refusals, done
        return done

    def apply_all(
        self, chosen: Sequence[tuple[str, str]], carry_out: Callable[[list[ChangeSet]], list[ChangeSet]]
    ) -> list[ChangeSet]:
        """Carry several out together, each whole, by its agent and its id. A repeated request returns what was done.

        Raises:
            ChangeSetNotFound: one was never shown, or too long ago. Nothing was changed.
            Conflict: one has been applied with memories refused. Nothing was changed.
            MemorySystemError: what ``carry_out`` raises; it can then be tried again.
        """
        with self._lock:
            waiting = [self._waiting(agent, preview_id) for agent, preview_id in chosen]
            if any(preview.refused for preview in waiting):
                raise Conflict("One of these previews has been applied already, in part. Preview it again.")
        done = carry_out([preview.planned for preview in waiting])
        with self._lock:
            for preview, applied in zip(waiting, done, strict=True):
                preview.done = applied
        return done

    def _waiting(self, agent: str, preview_id: str) -> _Waiting:
        self._tidy()
        waiting = self._previews.get(preview_id)
        if waiting is None or waiting.agent != agent:
            raise ChangeSetNotFound(
                f"No preview has this id; previews are kept for {self.seconds / 60:.0f} minutes. Preview it again."
            )
        return waiting

    def _tidy(self) -> None:
        now, touched = self._clock(), sum(len(preview.planned.changes) for preview in self._previews.values())
        for key, preview in list(self._previews.items()):
            if preview.until > now and len(self._previews) <= self._most and touched <= self._most_changes:
                break
            if preview.until > now and len(self._previews) == 1:
                break
            touched -= len(preview.planned.changes)
            del self._previews[key]


@dataclass(frozen=True)
class Desk:
    """What the routes of one server share.

    Args:
        world: returns the world, which is opened at the first request that needs it.
        in_use: holds the world, and switches it for another.
        previews: change sets that were shown and are waiting.
        lanes: the threads.
    """

    world: Callable[[], World]
    in_use: InUse
    previews: Previews = field(default_factory=Previews)
    lanes: Lanes = field(default_factory=Lanes)

    @property
    def worlds(self) -> Worlds:
        """All worlds in the folder of the served one, for anybody who may change them.

        Raises:
            NotAllowed: a viewer asks.
            Conflict: the world is discarded when the program ends, or the request is for another one than is served.
        """
        return worlds_beside(self.world())

    @property
    def author(self) -> str:
        """The author that the history shows for this request: the API, and the caller's name if there is one."""
        return authored_by(API, _CALLER.get())

    def agent(self, name: str) -> AgentMemory:
        """The agent of this name, whose changes the history shows as the API's.

        Raises:
            InvalidAgentName, AgentNotFound, StoreError: as ``World.agent``.
        """
        return self.world().agent(name).acting_as(self.author)

    def shown(self, agent: AgentMemory, preview_id: str) -> ChangeSet:
        """A change set that was shown, to be shown again; what has been purged since is not shown.

        Raises:
            ChangeSetNotFound: it was never shown, or too long ago, or a memory was purged since.
        """
        plan = self.previews.get(agent.name, preview_id)
        if self.tells_of_purged(agent.name, plan.base_revision if plan.revision is None else plan.revision):
            self.previews.drop(agent.name, preview_id)
            raise ChangeSetNotFound("A memory was purged for good since this was shown. Preview it again.")
        return plan

    def tells_of_purged(self, name: str, revision: int) -> bool:
        """Whether an agent's answer at a revision may contain something it has purged since."""
        try:
            return self.world().agent(name).contents.purged_since(revision)
        except MemorySystemError:  # it is gone, and callers get an error for that
            return False

    def origin(self, name: str) -> str:
        """What distinguishes a character from an earlier one of its name; empty if there is none of this name."""
        try:
            return self.world().agent(name).timeline.origin
        except MemorySystemError:
            return ""

    def response(self, view: View, body: Any) -> JSONResponse:
        """An answer about an agent, with its revision."""
        return JSONResponse(body, headers=tag(view.stamp[0]))

    def step(self, agent: AgentMemory, done: Step) -> Any:
        """The result of a message; a change set that was not applied waits here."""
        plans = [*done.offered, *([done.change_set] if done.change_set and done.change_set.revision is None else [])]
        for plan in plans:
            self.previews.keep(agent.name, plan)
        waits = {plan.id for plan in plans}
        answer = serialize.plain(done)
        for written in (answer["change_set"], *answer["offered"]):
            if written is not None and written["id"] in waits:
                written["expires_in"] = self.previews.seconds
        return answer

    def asks_a_model(self, name: str, wait: bool | None) -> bool:
        """Whether an agent's events without a rating wait for a language model."""
        waits = self.world().rerater.waits(wait)
        if waits is not None:
            return waits
        try:
            return self.agent(name).settings.rated_by is RatedBy.MODEL
        except MemorySystemError:  # reported where they are to be added
            return False

    def change(
        self,
        name: str,
        planned: Callable[[AgentMemory], ChangeSet],
        *,
        preview: bool,
        if_match: str | None,
    ) -> JSONResponse:
        """Plan, and then carry out or keep as a preview; a language model is asked before the agent is locked.

        Raises:
            StaleRevision: the agent is at another revision than ``if_match``. Nothing was changed.
            MemorySystemError: what planning and applying raise.
        """
        agent = self.agent(name)
        refuse_stale(agent, if_match)
        plan = planned(agent)
        if preview:
            self.previews.keep(agent.name, plan)
            return JSONResponse(serialize.waiting(plan, self.previews.seconds), headers=tag(agent.stamp[0]))
        alone = agent.contents.alone
        return self.applied(agent, lambda: carried_out(plan, lambda: planned(agent), agent.apply, alone), if_match)

    def applied(self, agent: AgentMemory, carry_out: Callable[[], ChangeSet], if_match: str | None) -> JSONResponse:
        """Carry something out, if the agent is still at the revision of ``if_match``, and report it."""
        with agent.contents.alone() if if_match else nullcontext():
            refuse_stale(agent, if_match)
            done = carry_out()
        return JSONResponse(serialize.plain(done), headers=tag(agent.stamp[0]))


_TAG = re.compile(r'(W/)?("[!#-~\x80-\xff]*")')
"""An ETag, and whether it is weak."""


def refuse_stale(agent: AgentMemory, if_match: str | None) -> None:
    """Raise unless there is no ``If-Match`` or one of its ETags names the agent's revision (RFC 9110, 13.1.1).

    Raises:
        InvalidParameter: it is neither a list of ETags nor ``*``.
        StaleRevision: it names others, or is weak, which means that something may be different.
    """
    if if_match is None or if_match.strip() == "*":
        return
    tags = _TAG.findall(if_match)
    if not tags or _TAG.sub("", if_match).strip(" \t,"):
        raise InvalidParameter(
            f"If-Match is {shown(if_match)}, which is not a list of ETags. Send them as they came, in double quotes, "
            'such as "7", or * for any.'
        )
    now = f'"{agent.stamp[0]}"'
    if ("", now) not in tags:
        weak = " A weak ETag (W/) never matches: send it without W/." if ("W/", now) in tags else ""
        raise StaleRevision(
            f"{agent.name!r} is at revision {now[1:-1]}, and If-Match says {if_match[:40]}. Load it again, then change "
            f"it.{weak}"
        )
