"""Routes: memories beside each other: lineage, staleness, suspicions, likeness. All but a touch changes nothing."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse, Response
from pydantic import AwareDatetime

from ....core.kinds import MAX_ID
from ....operations.duplicates.suspicions import RELATED, THRESHOLD
from ...forms import Body, Ids
from ..deps import AgentName, Desk, documents_key
from ..schemas import inspection as shapes
from ..schemas import telling
from ..schemas.shapes import Entries, Entry
from ..sse import TOLD, Tell, progress

MemoryId = Annotated[str, Query(min_length=1, max_length=MAX_ID, description="The memory's id.")]


class TouchBody(Body):
    """Which memories count as recalled, and when; by the world's clock if not given."""

    ids: Ids
    now: AwareDatetime | None = None


def routes(desk: Desk) -> APIRouter:
    """What can be looked into."""
    router = APIRouter(tags=["inspection"])

    def lineage(name: AgentName, memory: MemoryId, depth: int = 4) -> JSONResponse:
        """What a memory rests on and what rests on it, at most ``depth`` (1 to 20) steps each way."""
        agent = desk.agent(name)
        told = agent.lineage(memory, depth)
        kin = [
            {"entry": telling.entry(one.entry), "level": one.level, "forgotten": one.forgotten, "stale": one.stale}
            for one in told.kin
        ]
        links = [list(link) for link in told.links]
        return desk.told(
            agent, {"id": told.entry_id, "kin": kin, "links": links, "unknown": told.unknown, "more": told.more}
        )

    def stale(name: AgentName) -> JSONResponse:
        """The memories that rest on what was edited or deleted since."""
        agent = desk.agent(name)
        items = [
            {
                "entry": telling.entry(one.entry),
                "since": one.since,
                "alterations": [
                    {
                        "before": telling.entry(part.before),
                        "after": part.after and telling.entry(part.after),
                        "last": telling.trace(part.last),
                    }
                    for part in one.alterations
                ],
            }
            for one in agent.stale()
        ]
        return desk.told(agent, {"items": items})

    def suspicions(
        tell: Tell,
        name: AgentName,
        threshold: Annotated[float, Query(ge=RELATED, le=1)] = THRESHOLD,
        ask_model: bool = False,
        limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    ) -> Response:
        """Memories that may be duplicates, or contradict each other."""
        agent = desk.agent(name)
        look = agent.suspicions(threshold=threshold, ask_model=ask_model, limit=limit, progress=progress(tell))
        items = [
            {
                "sort": one.sort,
                "ids": [entry.id for entry in one.entries],
                "entries": [telling.entry(entry) for entry in one.entries],
                "similarity": one.similarity,
                "reasons": list(one.reasons),
                "doubts": list(one.doubts),
            }
            for one in look.suspicions
        ]
        counts = {"compared": look.compared, "dismissed": look.dismissed, "notes": list(look.notes)}
        return desk.told(agent, {"items": items, **counts})

    def dismissed(name: AgentName) -> JSONResponse:
        """What a person has looked at and found to be neither a duplicate nor a contradiction."""
        agent = desk.agent(name)
        return desk.told(agent, {"items": [dataclasses.asdict(one) for one in agent.dismissed]})

    def similar(name: AgentName, memory: MemoryId, top_k: Annotated[int, Query(ge=1, le=100)] = 5) -> JSONResponse:
        """The memories of STM and LTM nearest in meaning to one, with their cosine, -1 to 1."""
        agent = desk.agent(name)
        found = agent.similar(memory, top_k)
        return desk.told(agent, {"items": [{"entry": telling.entry(one), "cosine": cosine} for one, cosine in found]})

    def last_version(name: AgentName, memory: MemoryId) -> JSONResponse:
        """A memory as it is, or as it last was before it was forgotten."""
        agent = desk.agent(name)
        return desk.told(agent, telling.entry(agent.last_version(memory)))

    def built_on(name: AgentName, memory: MemoryId) -> JSONResponse:
        """The reflections, summaries and plans in recall that rest on a memory, the oldest first."""
        agent = desk.agent(name)
        return desk.told(agent, telling.page((telling.entry(one) for one in agent.built_on(memory)), None))

    def touch(name: AgentName, body: TouchBody) -> Response:
        """Let memories count as recalled, which renews their recency; those that are not there are passed over."""
        desk.agent(name).touch(body.ids, now=body.now)
        return Response(status_code=204)

    quick, of = desk.lanes.quick, "/agents/{name}"
    router.get(f"{of}/lineage", response_model=shapes.LineageTold)(quick(lineage))
    router.get(f"{of}/stale", response_model=shapes.StaleList)(quick(stale))
    router.get(f"{of}/suspicions", response_model=shapes.Suspicions, responses=TOLD)(desk.lanes.told(suspicions))
    router.get(f"{of}/dismissed", response_model=shapes.DismissedList)(quick(dismissed))
    router.get(f"{of}/similar", response_model=shapes.Similars)(quick(similar))
    router.get(f"{of}/last-version", response_model=Entry)(quick(last_version))
    router.get(f"{of}/built-on", response_model=Entries)(quick(built_on))
    router.post(f"{of}/touch", status_code=204, dependencies=[Depends(documents_key)])(quick(touch))
    return router
