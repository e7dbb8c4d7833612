"""Routes: memories, listed, looked at, edited."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime

from ....agent import AgentMemory
from ....core.change_set import ChangeSet
from ....core.entry import Tier
from ....core.kinds import MAX_ID
from ....errors import EntryNotFound, shown
from ...forms import EditBody
from ..cursors import cursor as cursor_of
from ..cursors import number_before, text_after
from ..deps import AgentName, Cursor, Desk, IfMatch, Limit, Preview, documents_key
from ..schemas import shapes, telling
from ..schemas.bodies import MomentBody

EntryId = Annotated[str, Path(min_length=1, max_length=MAX_ID, description="The memory's id.")]
Since = Annotated[int | None, Query(ge=0, le=2**62, description="As it was right after this revision.")]
Access = Annotated[int | None, Query(ge=0, le=2**62, description="The last access since the revision.")]
When = Annotated[AwareDatetime | None, Query(description="As it was at this real time.")]

WorldTime = Annotated[AwareDatetime | None, Query(description="As it was at this time of its world.")]


def routes(desk: Desk) -> APIRouter:
    """What can be done with memories."""
    router = APIRouter(tags=["memories"])

    def entries(
        name: AgentName,
        tier: Tier,
        limit: Limit = 100,
        cursor: Cursor = None,
        revision: Since = None,
        access: Access = None,
        at: When = None,
        world_time: WorldTime = None,
    ) -> JSONResponse:
        """The memories of a tier, by id; with ``revision`` or ``at`` as they were."""
        view = desk.view(name, _moment(revision, access, at, world_time))
        after = text_after("memories", cursor)
        held = [one for one in view.entries(tier) if one.id > after]
        following = cursor_of("memories", held[limit - 1].id) if len(held) > limit else None
        return desk.told(view, telling.page((telling.entry(one) for one in held[:limit]), following))

    def one(
        name: AgentName,
        entry_id: EntryId,
        revision: Since = None,
        access: Access = None,
        at: When = None,
        world_time: WorldTime = None,
    ) -> JSONResponse:
        """A memory."""
        view = desk.view(name, _moment(revision, access, at, world_time))
        found = view.find(entry_id)
        if found is None:
            raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
        return desk.told(view, telling.entry(found))

    def edit(
        name: AgentName, entry_id: EntryId, body: EditBody, preview: Preview = False, if_match: IfMatch = None
    ) -> JSONResponse:
        """Change fields of a memory; those that are not named stay."""

        def plan(agent: AgentMemory) -> ChangeSet:
            return agent.edit(entry_id, preview=True, **body.given())

        return desk.change(name, plan, preview=preview, if_match=if_match)

    def forget(name: AgentName, entry_id: EntryId, preview: Preview = False, if_match: IfMatch = None) -> JSONResponse:
        """Take a memory out of recall; it lies in the agent's bin then."""
        return desk.change(name, lambda agent: agent.forget(entry_id, preview=True), preview=preview, if_match=if_match)

    def forgotten(
        name: AgentName,
        limit: Limit = 100,
        cursor: Cursor = None,
        contains: Annotated[str, Query(max_length=1000)] = "",
    ) -> JSONResponse:
        """The agent's bin: memories that are gone and can be restored, the last forgotten first."""
        agent, start = desk.agent(name), number_before("forgotten", cursor) or 0
        found, total = agent.forgotten(limit, contains, offset=start), agent.count_forgotten(contains)
        following = cursor_of("forgotten", start + limit) if start + limit < total else None
        page = telling.page((telling.forgotten(gone) for gone in found), following)
        return desk.told(agent, page | {"total": total})

    quick, write = desk.lanes.quick, [Depends(documents_key)]
    changed: dict[str, Any] = {"response_model": shapes.ChangeSetTold, "dependencies": write}
    of = "/agents/{name}"
    router.get(f"{of}/memories", response_model=shapes.Entries)(quick(entries))
    router.get(f"{of}/memories/{{entry_id:path}}", response_model=shapes.Entry)(quick(one))
    router.patch(f"{of}/memories/{{entry_id:path}}", **changed)(quick(edit))
    router.delete(f"{of}/memories/{{entry_id:path}}", **changed)(quick(forget))
    router.get(f"{of}/forgotten", response_model=shapes.Bin)(quick(forgotten))
    return router


def _moment(
    revision: int | None, access: int | None, at: datetime | None, world_time: datetime | None
) -> MomentBody | None:
    if revision is None and access is None and at is None and world_time is None:
        return None
    return MomentBody(revision=revision, access=access, at=at, world_time=world_time)
