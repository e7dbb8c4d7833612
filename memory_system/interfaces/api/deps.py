"""The desk: what all routes share, which is the world, the waiting previews, the threads, and the answer to a write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Header, Path, Query
from fastapi.responses import JSONResponse
from pydantic import StrictStr

from ...agent import AgentMemory
from ...conversation import Step
from ...core.authors import API, authored_by
from ...core.change_set import ChangeSet
from ...core.names import MAX_NAME
from ...errors import StaleRevision
from ...world.world import World
from .. import serialize
from ..cursors import MAX_CURSOR
from .idempotency import MAX_KEY
from .previews import Previews
from .threads import Lanes

AgentName = Annotated[str, Path(min_length=1, max_length=MAX_NAME, description="The agent's name.")]
Preview = Annotated[
    bool, Query(description="Change nothing: answer what would be done, to be applied later under its id.")
]
IfMatch = Annotated[
    StrictStr | None,
    Header(description='The ETag that this edit was made on, such as "7"; if it is stale the answer is 412.'),
]
Key = Annotated[
    StrictStr | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=MAX_KEY,
        pattern="^[!-~]+$",
        description="Sent again with the same key and body, a write is answered as the first time, and not done again.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]
Cursor = Annotated[str | None, Query(max_length=MAX_CURSOR, description="The 'next' of the page before.")]
Author = Annotated[
    StrictStr | None,
    Header(
        alias="Memory-Author",
        max_length=600,
        description='Who is behind it, percent-encoded UTF-8; the history tells it as "API" and this.',
    ),
]
View = AgentMemory
_CALLER: ContextVar[str] = ContextVar("caller", default="")
"""What the caller of this request calls himself."""


async def names_itself(author: Author = None) -> None:
    """Let the history tell what this request does as its caller's."""
    _CALLER.set(unquote(author or ""))


def documents_key(_key: Key = None) -> None:
    """Have the description tell of the ``Idempotency-Key``, which ``Idempotency`` reads."""


def tag(revision: int) -> dict[str, str]:
    """The headers that name a revision."""
    return {"ETag": f'"{revision}"'}


@dataclass(frozen=True)
class Desk:
    """What the routes of one server share.

    Args:
        world: answers the world, which is opened at the first request that needs it.
        previews: change sets that were shown and wait.
        lanes: the threads.
    """

    world: Callable[[], World]
    previews: Previews = field(default_factory=Previews)
    lanes: Lanes = field(default_factory=Lanes)

    @property
    def author(self) -> str:
        """As whose the history tells what this request does: the API's, and the caller's name if it has one."""
        return authored_by(API, _CALLER.get())

    def agent(self, name: str) -> AgentMemory:
        """The agent of this name, whose changes the history tells as the API's.

        Raises:
            InvalidAgentName, AgentNotFound, StoreError: as ``World.agent``.
        """
        return self.world().agent(name).acting_as(self.author)

    def told(self, view: View, body: Any) -> JSONResponse:
        """An answer about an agent, with its revision."""
        return JSONResponse(body, headers=tag(view.stamp[0]))

    def step(self, agent: AgentMemory, done: Step) -> Any:
        """What came of a message; what was not applied waits here, to be applied."""
        plans = [*done.offered, *([done.change_set] if done.change_set and done.change_set.revision is None else [])]
        for plan in plans:
            self.previews.keep(agent.name, plan)
        waits = {plan.id for plan in plans}
        told = serialize.plain(done)
        for written in (told["change_set"], *told["offered"]):
            if written is not None and written["id"] in waits:
                written["expires_in"] = self.previews.seconds
        return told

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
        return self.applied(agent, lambda: agent.apply(plan), if_match)

    def applied(self, agent: AgentMemory, carry_out: Callable[[], ChangeSet], if_match: str | None) -> JSONResponse:
        """Carry something out, if the agent is still at the revision of ``if_match``, and tell it."""
        with agent.contents.alone() if if_match else nullcontext():
            refuse_stale(agent, if_match)
            done = carry_out()
        return JSONResponse(serialize.plain(done), headers=tag(agent.stamp[0]))


def refuse_stale(agent: AgentMemory, if_match: str | None) -> None:
    """Do nothing if there is no ``If-Match``, or if it names the agent's revision.

    Raises:
        StaleRevision: it names another.
    """
    if if_match is None or if_match.strip() == "*":
        return
    tags = [one.strip() for one in if_match.split(",")]
    now = agent.stamp[0]
    if f'"{now}"' not in tags:
        raise StaleRevision(
            f"{agent.name!r} is at revision {now}, and If-Match says {if_match[:40]}. Load it again, then change it."
        )
