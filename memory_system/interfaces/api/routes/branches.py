"""Routes: rehearsals: branched from a character, compared with it, kept from, dropped."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import Field, StringConstraints

from ....world.branches.meta import Rehearsal
from ...forms import Body, Id, Ids, Name
from ..deps import AgentName, Desk, IfMatch, Preview, documents_key, tag
from ..schemas import inspection, shapes, telling
from ..schemas.bodies import Revision, Words


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

    def rehearsals(name: AgentName) -> JSONResponse:
        """The rehearsals of a character, the last begun first."""
        agent = desk.agent(name)
        return desk.told(agent, {"items": [_told(one) for one in desk.world().rehearsals(agent.name)]})

    def branch(name: AgentName, body: BranchBody) -> JSONResponse:
        """Begin a rehearsal: a copy to play with, whole history included, that knows whose it is."""
        made = desk.world().branch(name, body.name, purpose=body.purpose, author=desk.author)
        return JSONResponse(telling.stats(made), 201, headers=tag(made.stamp[0]))

    def compare(name: AgentName) -> JSONResponse:
        """What a rehearsal has otherwise than its original."""
        apart = desk.world().compare(name)
        memories = [
            {
                "id": one.entry_id,
                **{end: (held := getattr(one, end)) and telling.entry(held) for end in ("base", "mine", "theirs")},
                "clash": one.clash,
            }
            for one in apart.memories
        ]
        texts = [
            {
                **{end: getattr(one, end) for end in ("name", "base", "mine", "theirs", "kept", "clash")},
                "clashes": [*one.clashes],
            }
            for one in apart.texts
        ]
        told = {"rehearsal": _told(apart.rehearsal), "memories": memories, "texts": texts, "moved_on": apart.moved_on}
        return JSONResponse(told)

    def fits(name: AgentName) -> JSONResponse:
        """The changes of a rehearsal since it was begun, and which of them the original has or could take."""
        world = desk.world()
        found = world.fits(name)
        items = [
            {**dataclasses.asdict(found[one.revision]), "applied": telling.applied(one)}
            for one in world.changes_of(name)
            if one.revision in found
        ]
        return JSONResponse({"items": items})

    def dropped(name: AgentName) -> JSONResponse:
        """The rehearsals of a character that are in the world's bin, the last dropped first."""
        gone = desk.world().dropped(desk.agent(name).name)
        return JSONResponse({"items": [{"name": one.name, "deleted_at": one.deleted_at.isoformat()} for one in gone]})

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
        gone = desk.world().drop(name)
        return JSONResponse({"name": gone.name, "deleted_at": gone.deleted_at.isoformat()})

    quick, write, of = desk.lanes.quick, [Depends(documents_key)], "/agents/{name}"
    router.get(f"{of}/rehearsals", response_model=inspection.Rehearsals)(quick(rehearsals))
    router.post(f"{of}/rehearsals", response_model=shapes.Stats, status_code=201, dependencies=write)(quick(branch))
    router.get(f"{of}/comparison", response_model=inspection.Comparison)(quick(compare))
    router.get(f"{of}/fits", response_model=inspection.Fits)(quick(fits))
    router.get(f"{of}/rehearsals/dropped", response_model=shapes.BinnedAgents)(quick(dropped))
    router.post(f"{of}/keep", response_model=shapes.ChangeSetTold, dependencies=write)(quick(keep))
    router.post(f"{of}/drop", response_model=shapes.BinnedTold, dependencies=write)(quick(drop))
    return router


def _told(one: Rehearsal) -> dict[str, object]:
    fields = {name: getattr(one, name) for name in ("name", "of", "revision", "author", "purpose", "together")}
    return fields | {"begun_at": one.begun_at.isoformat(), "world_time": one.world_time.isoformat()}
