"""Routes: conversations, begun and looked at; ``talking`` talks in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime

from ....conversation import Conversation, TalkSettings
from ....conversation.storage import conversations, loaded
from ....core.kinds import MAX_ID
from ..cursors import cursor as cursor_of
from ..cursors import number_after
from ..deps import AgentName, Cursor, Desk, documents_key, tag
from ..schemas import talk as talk_shapes
from ..schemas import talk_telling
from ..schemas.bodies import BeginBody

TalkId = Annotated[str, Path(min_length=1, max_length=MAX_ID, description="The conversation's id.")]


def routes(desk: Desk) -> APIRouter:
    """What can be done with conversations."""
    router = APIRouter(tags=["conversations"])

    def listed(name: AgentName) -> JSONResponse:
        """The agent's conversations, the one in which something was said last first."""
        agent = desk.agent(name)
        return desk.told(agent, {"items": [talk_telling.plain(one) for one in conversations(agent)]})

    def begin(name: AgentName, body: BeginBody) -> JSONResponse:
        """Begin a conversation; everything that is said in it is kept and found again."""
        agent = desk.agent(name)
        begun = Conversation.begin(
            agent,
            title=body.title,
            human=body.human,
            settings=body.settings.over(TalkSettings()),
            persona=body.persona,
            human_block=body.human_block,
            now=body.now,
        )
        return JSONResponse(talk_telling.talk(begun.head), 201, headers=tag(agent.stamp[0]))

    def head(
        name: AgentName,
        conversation: TalkId,
        queue: Annotated[bool, Query(description="With the messages that its strategy shows.")] = False,
    ) -> JSONResponse:
        """How a conversation stands: settings, core memory, summary."""
        agent = desk.agent(name)
        return desk.told(agent, talk_telling.talk(loaded(agent, conversation, queue=queue)))

    def messages(
        name: AgentName,
        conversation: TalkId,
        start: Annotated[int, Query(ge=-(2**31), le=2**31, description="Below 0 it counts from the end.")] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000, description="How many at most.")] = 100,
        cursor: Cursor = None,
    ) -> JSONResponse:
        """Messages by number, the oldest first, function calls and their results included."""
        agent = desk.agent(name)
        talk = Conversation.open(agent, conversation)
        first = start if cursor is None else number_after("messages", cursor)
        found = talk.messages(first, limit)
        end = found[-1].number + 1 if found else 0
        following = cursor_of("messages", end) if found and end < talk.head.next_number else None
        return desk.told(agent, {"items": talk_telling.plain(found), "next": following})

    def context(name: AgentName, conversation: TalkId, now: AwareDatetime | None = None) -> JSONResponse:
        """What is in the prompt right now, section by section, before a message."""
        agent = desk.agent(name)
        return desk.told(agent, talk_telling.context(Conversation.open(agent, conversation).context(now)))

    def replay(
        name: AgentName,
        conversation: TalkId,
        revision: Annotated[
            int | None, Query(ge=1, le=2**62, description="Of the step; the last if not given.")
        ] = None,
    ) -> JSONResponse:
        """A step lived through again without the model, on the memory as it was then; nothing is changed."""
        agent = desk.agent(name)
        return desk.told(agent, talk_telling.replay(Conversation.open(agent, conversation).replay(revision)))

    quick, slow, of = desk.lanes.quick, desk.lanes.slow, "/agents/{name}/conversations"
    one = f"{of}/{{conversation}}"
    router.get(of, response_model=talk_shapes.Conversations)(quick(listed))
    router.post(of, response_model=talk_shapes.TalkTold, status_code=201, dependencies=[Depends(documents_key)])(
        quick(begin)
    )
    router.get(one, response_model=talk_shapes.TalkTold)(quick(head))
    router.get(f"{one}/messages", response_model=talk_shapes.Messages)(quick(messages))
    router.get(f"{one}/context", response_model=talk_shapes.ContextTold)(quick(context))
    router.get(f"{one}/replay", response_model=talk_shapes.ReplayTold)(slow(replay))
    return router
