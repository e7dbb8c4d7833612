"""Routes: agents who talk with each other, two of them or a group."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse, Response

from ....conversation import Conversation, Duet, Group, TalkSettings
from ....conversation.duet import Part, Said, go_on
from ... import serialize
from ...serialize import Shape, items
from ..deps import Desk, documents_key
from ..schemas.bodies import DuetBody, GroupBody, GroupTurnsBody, Half, Turns, TurnsBody
from ..sse import TOLD, Tell
from .talking import pieces

_HALF = Shape("HalfTold", "One side of a duet.", {"agent": str, "conversation": str})
_DUET = Shape("DuetTold", "A duet: two conversations, one in each memory.", {"first": _HALF, "second": _HALF})
_GROUP = Shape("GroupTalk", "A group: a conversation in each memory.", {"parts": (_HALF,)})
_TURNS = items("Turns", "What was said, in its order.", Said)


def routes(desk: Desk) -> APIRouter:
    """Talks of several agents."""
    router = APIRouter(tags=["conversations"])

    def duet(body: DuetBody) -> JSONResponse:
        """Begin two conversations, one in each memory, in which two agents answer each other."""
        begun = Duet.begin(
            desk.agent(body.first),
            desk.agent(body.second),
            title=body.title,
            settings=body.settings.over(TalkSettings()),
            now=body.now,
        )
        return JSONResponse({"first": half(begun.first), "second": half(begun.second)}, 201)

    def turns(tell: Tell, body: TurnsBody) -> Response:
        """Let them talk; each turn is stored by the time it is answered.

        ``Accept: text/event-stream`` streams each as ``said``; a client that leaves ends the talk there.
        """
        return told_turns(tell, go_on([opened(half) for half in (body.first, body.second)]), body)

    def group(body: GroupBody) -> JSONResponse:
        """Begin conversations, one in each memory, in which three agents or more talk with each other."""
        begun = Group.begin(
            [desk.agent(agent) for agent in body.agents],
            title=body.title,
            settings=body.settings.over(TalkSettings()),
            now=body.now,
        )
        return JSONResponse({"parts": [half(part) for part in begun.parts]}, 201)

    def group_turns(tell: Tell, body: GroupTurnsBody) -> Response:
        """Let a group talk; the one who is named, or has the most to say, is next, and all remember what is said.

        ``Accept: text/event-stream`` streams each as ``said``; a client that leaves ends the talk there.
        """
        return told_turns(tell, go_on([opened(part) for part in body.parts]), body)

    def opened(part: Half) -> Conversation:
        return Conversation.open(desk.agent(part.agent), part.conversation)

    def half(part: Part) -> dict[str, str]:
        return {"agent": part.agent.name, "conversation": part.id}

    def told_turns(tell: Tell, talk: Duet | Group, body: Turns) -> JSONResponse:
        items = []
        for turn in talk.stream(body.turns, opening=body.opening, now=body.now, heard=pieces(tell)["heard"]):
            item = serialize.plain(turn)
            items.append(item)
            tell("said", item)
        return JSONResponse({"items": items})

    quick, reporting, write = desk.lanes.quick, desk.lanes.reporting, [Depends(documents_key)]
    router.post("/duets", response_model=_DUET.model, status_code=201, dependencies=write)(quick(duet))
    router.post("/duets/turns", response_model=_TURNS.model, responses=TOLD, dependencies=write)(reporting(turns))
    router.post("/groups", response_model=_GROUP.model, status_code=201, dependencies=write)(quick(group))
    router.post("/groups/turns", response_model=_TURNS.model, responses=TOLD, dependencies=write)(
        reporting(group_turns)
    )
    return router
