"""Routes: what an agent is by itself: its settings, and its personality."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from ....agent import AgentMemory
from ....core.change_set import ChangeSet
from ...forms import SettingsBody
from ...serialize import model
from ..deps import AgentName, Desk, IfMatch, Preview, documents_key
from ..schemas.bodies import PersonalityBody


def routes(desk: Desk) -> APIRouter:
    """Settings and personality."""
    router = APIRouter(tags=["agents"])

    def configure(
        name: AgentName, body: SettingsBody, preview: Preview = False, if_match: IfMatch = None
    ) -> JSONResponse:
        """Change settings; those that are not named stay."""

        def plan(agent: AgentMemory) -> ChangeSet:
            return agent.configure(preview=True, **body.given(agent.settings))

        return desk.change(name, plan, preview=preview, if_match=if_match)

    def save(
        name: AgentName, body: PersonalityBody, preview: Preview = False, if_match: IfMatch = None
    ) -> JSONResponse:
        """Take a JSON text as the static memory; only changed facts are embedded."""
        if preview:
            return desk.change(
                name, lambda agent: agent.save_personality(body.text, preview=True), preview=True, if_match=if_match
            )
        agent = desk.agent(name)
        return desk.applied(agent, lambda: agent.save_personality(body.text), if_match)

    quick = desk.lanes.quick
    changed: dict[str, Any] = {"response_model": model(ChangeSet), "dependencies": [Depends(documents_key)]}
    router.patch("/agents/{name}/settings", **changed)(quick(configure))
    router.put("/agents/{name}/personality", **changed)(quick(save))
    return router
