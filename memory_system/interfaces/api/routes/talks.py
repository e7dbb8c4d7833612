"""Routes: beginning conversations; ``talking`` has the rest."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path
from fastapi.responses import JSONResponse

from ....conversation import Conversation, TalkSettings
from ....conversation.talk import Talk
from ....core.kinds import MAX_ID
from ... import serialize
from ...serialize import model
from ..deps import AgentName, Desk, documents_key, tag
from ..schemas.bodies import BeginBody

TalkId = Annotated[str, Path(min_length=1, max_length=MAX_ID, description="The conversation's id.")]


def routes(desk: Desk) -> APIRouter:
    """Routes for conversations."""
    router = APIRouter(tags=["conversations"])

    def begin(name: AgentName, body: BeginBody) -> JSONResponse:
        """Begin a conversation; everything that is said in it is kept and found again."""
        agent = desk.agent(name)
        begun = Conversation.begin(
            agent,
            title=body.title,
            human=body.human,
            others=body.others,
            settings=body.settings.over(TalkSettings()),
            persona=body.persona,
            human_block=body.human_block,
            now=body.now,
        )
        return JSONResponse(serialize.plain(begun.head), 201, headers=tag(agent.stamp[0]))

    quick, of = desk.lanes.quick, "/agents/{name}/conversations"
    router.post(of, response_model=model(Talk), status_code=201, dependencies=[Depends(documents_key)])(quick(begin))
    return router
