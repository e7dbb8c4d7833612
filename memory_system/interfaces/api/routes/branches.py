"""Routes: rehearsals: branched from a character, compared with it, kept from, dropped."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import Field, StringConstraints

from ....core.change_set import ChangeSet
from ....world.folders import Binned
from ... import serialize
from ...forms import Body, Id, Ids, Name, Revision, Words
from ...reads import STATS
from ...serialize import model
from ..deps import AgentName, Desk, IfMatch, Preview, documents_key, tag


class BranchBody(Body):
    """The rehearsal's name, the next that is free if not given; and what is tried."""

    name: Name | None = None
    purpose: Annotated[str, StringConstraints(max_length=80)] = ""


class KeepBody(Body):
    """What the original takes over: memories and texts, or changes by revision; all that differs if none is given."""

    ids: Ids | None = None
    texts: Annotated[list[Words], Field(max_length=1000)] | None = None
    revisions: Annotated[list[Revision], Field(max_length=10_000)] | None = None
    overwrite: Annotated[list[Id], Field(max_length=10_000)] = Field(default_factory=list)


def routes(desk: Desk) -> APIRouter:
    """What can be done with rehearsals; ``{name}`` is the rehearsal, but where one is begun or all are listed."""
    router = APIRouter(tags=["rehearsals"])

    def branch(name: AgentName, body: BranchBody) -> JSONResponse:
        """Begin a rehearsal: a copy to play with, whole history included, that knows whose it is."""
        made = desk.world().branch(name, body.name, purpose=body.purpose, author=desk.author)
        return JSONResponse(serialize.stats(made), 201, headers=tag(made.stamp[0]))

    def keep(name: AgentName, body: KeepBody, preview: Preview = False, if_match: IfMatch = None) -> JSONResponse:
        """Let the original take something of a rehearsal; the preview waits at the original, as does If-Match."""
        world = desk.world()
        plan = world.keep(
            name,
            ids=body.ids,
            texts=body.texts,
            revisions=body.revisions,
            overwrite=body.overwrite,
            author=desk.author,
            preview=True,
        )
        return desk.change(plan.agent, lambda _agent: plan, preview=preview, if_match=if_match)

    def drop(name: AgentName) -> JSONResponse:
        """Move a rehearsal to the world's bin; what was kept from it stays."""
        return JSONResponse(serialize.plain(desk.world().drop(name)))

    quick, write, of = desk.lanes.quick, [Depends(documents_key)], "/agents/{name}"
    router.post(f"{of}/rehearsals", response_model=STATS.model, status_code=201, dependencies=write)(quick(branch))
    router.post(f"{of}/keep", response_model=model(ChangeSet), dependencies=write)(quick(keep))
    router.post(f"{of}/drop", response_model=model(Binned), dependencies=write)(quick(drop))
    return router
