"""Routes: asking an agent without leaving a trace, ready questions, and two agents who talk with each other."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path
from fastapi.responses import JSONResponse, Response

from ..agent import AgentMemory
from ..conversation import Conversation, Duet, Interview, TalkSettings, sit
from ..conversation.questions import drop, keep, sittings
from ..kinds import MAX_ID
from . import shapes, talk_shapes, talk_telling, telling
from .desk import AgentName, Desk, IfMatch, Preview, documents_key, tag
from .interviews import Interviews
from .pieces import TOLD, Tell, progress
from .talk_bodies import AskBody, DuetBody, SitBody, TurnsBody
from .talking_routes import pieces

SittingId = Annotated[str, Path(min_length=1, max_length=MAX_ID, description="The interview's id.")]


def routes(desk: Desk) -> APIRouter:
    """What can be asked without a trace, and what is kept of it by choice."""
    router = APIRouter(tags=["conversations"])
    interviews = Interviews()

    def begun(agent: AgentMemory, body: AskBody) -> Interview:
        if body.conversation is not None:
            return Interview(agent, talk=Conversation.open(agent, body.conversation).talk)
        return Interview(agent, body.settings.over(TalkSettings()), human=body.human)

    def ask(tell: Tell, name: AgentName, body: AskBody) -> Response:
        """Ask an agent, and hear the answer; nothing is journalled, touched or logged.

        The answer names the ``interview`` that the next question goes on with, within an hour; with ``keep`` false the
        talk stays as it was before this question. ``Accept: text/event-stream`` tells it as it comes about.
        """
        agent = desk.agent(name)
        name_of = body.interview or interviews.begin(agent.name, begun(agent, body))
        with interviews.going_on(agent.name, name_of) as interview:
            before = interview.talk, interview.transcript
            try:
                done = interview.step(**body.given(), **pieces(tell))
            finally:
                if not body.keep:
                    interview.talk, interview.transcript = before
        return desk.told(agent, talk_telling.step(done, interview=name_of))

    def kept(name: AgentName) -> JSONResponse:
        """The interviews that are kept, the oldest first."""
        agent = desk.agent(name)
        return desk.told(agent, {"items": talk_telling.plain(sittings(agent))})

    def seated(tell: Tell, name: AgentName, body: SitBody) -> Response:
        """Put questions to an agent, each for itself and without a trace; the answers are kept, to be compared."""
        agent = desk.agent(name)
        asked = None if body.questions is None else [(one.category, one.question) for one in body.questions]
        sitting = sit(
            agent,
            asked,
            title=body.title,
            settings=body.settings.over(TalkSettings()),
            now=body.now,
            progress=progress(tell),
        )
        done = keep(agent, sitting) if body.keep else None
        told = {"sitting": talk_telling.plain(sitting), "change_set": done and telling.change_set(done)}
        return JSONResponse(told, headers=tag(agent.stamp[0]))

    def dropped(
        name: AgentName, sitting: SittingId, preview: Preview = False, if_match: IfMatch = None
    ) -> JSONResponse:
        """Keep an interview no longer."""
        return desk.change(name, lambda agent: drop(agent, sitting, preview=True), preview=preview, if_match=if_match)

    def duet(body: DuetBody) -> JSONResponse:
        """Begin two conversations, one in each memory, in which two agents answer each other."""
        begun = Duet.begin(
            desk.agent(body.first),
            desk.agent(body.second),
            title=body.title,
            settings=body.settings.over(TalkSettings()),
            now=body.now,
        )
        halves = {"first": begun.first, "second": begun.second}
        told = {side: {"agent": one.agent.name, "conversation": one.id} for side, one in halves.items()}
        return JSONResponse(told, 201)

    def turns(tell: Tell, body: TurnsBody) -> Response:
        """Let them talk; each thing that is said is stored by the time it is answered.

        ``Accept: text/event-stream`` tells each as ``said``; who leaves ends the talk there.
        """
        first, second = (
            Conversation.open(desk.agent(one.agent), one.conversation) for one in (body.first, body.second)
        )
        items = []
        for one in Duet(first, second).talk(
            body.turns, opening=body.opening, now=body.now, heard=pieces(tell)["heard"]
        ):
            told = talk_telling.said(one)
            items.append(told)
            tell("said", told)
        return JSONResponse({"items": items})

    quick, told, write = desk.lanes.quick, desk.lanes.told, [Depends(documents_key)]
    of = "/agents/{name}"
    router.post(f"{of}/interview", response_model=talk_shapes.StepTold, responses=TOLD)(told(ask))
    router.get(f"{of}/interviews", response_model=talk_shapes.Sittings)(quick(kept))
    router.post(f"{of}/interviews", response_model=talk_shapes.SatTold, responses=TOLD, dependencies=write)(
        told(seated)
    )
    router.delete(f"{of}/interviews/{{sitting}}", response_model=shapes.ChangeSetTold, dependencies=write)(
        quick(dropped)
    )
    router.post("/duets", response_model=talk_shapes.DuetTold, status_code=201, dependencies=write)(quick(duet))
    router.post("/duets/turns", response_model=talk_shapes.Turns, responses=TOLD, dependencies=write)(told(turns))
    return router
