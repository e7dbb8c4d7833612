"""Routes: talking in a conversation, and other changes to it: settings, synopses, removal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import JSONResponse, Response
from pydantic import AwareDatetime

from ....conversation import Conversation, Step
from ....core.change_set import ChangeSet
from ....core.kinds import MAX_ID
from ... import serialize
from ...serialize import model
from ..deps import AgentName, Desk, IfMatch, Preview, documents_key, tag
from ..schemas.bodies import (
    AgainBody,
    BeatBody,
    Block,
    CoreBody,
    NoteBody,
    ResultsBody,
    SayBody,
    TalkSettingsBody,
    When,
)
from ..sse import TOLD, Tell, progress
from .talks import TalkId

PreviewId = Annotated[str, Path(min_length=1, max_length=MAX_ID, description="The id of the step's change set.")]


_ONE = "/agents/{name}/conversations/{conversation}"


def steps(desk: Desk) -> APIRouter:
    """Routes for what an agent hears, says and does."""
    router = APIRouter(tags=["conversations"])

    def say(tell: Tell, name: AgentName, conversation: TalkId, body: SayBody, preview: Preview = False) -> Response:
        """Say something, and hear the answer; all of it is one change set.

        With ``Accept: text/event-stream`` it is streamed: ``heard`` with each piece of ``text``, ``function`` with each
        call, and then ``answer``, or ``problem``. If the client leaves before that, nothing is stored.
        """
        agent = desk.agent(name)
        done = Conversation.open(agent, conversation).step(
            **body.arguments(),
            hold=body.hold,
            speaker=body.speaker,
            actions=body.offered(),
            preview=preview,
            **pieces(tell),
        )
        return JSONResponse(desk.step(agent, done), headers=tag(agent.stamp[0]))

    def heartbeat(
        tell: Tell, name: AgentName, conversation: TalkId, body: BeatBody, preview: Preview = False
    ) -> Response:
        """Let the agent speak unprompted: to open the talk, or because time has passed; it may stay silent."""
        agent = desk.agent(name)
        done = Conversation.open(agent, conversation).heartbeat(
            now=body.now, hold=body.hold, actions=body.offered(), preview=preview, **pieces(tell)
        )
        return JSONResponse(desk.step(agent, done), headers=tag(agent.stamp[0]))

    def again(tell: Tell, name: AgentName, conversation: TalkId, body: AgainBody) -> Response:
        """Take the last step back and answer the same once more; without a new answer, the former one stands."""
        agent = desk.agent(name)
        done = Conversation.open(agent, conversation).answer_again(now=body.now, hold=body.hold, **pieces(tell))
        return JSONResponse(desk.step(agent, done), headers=tag(agent.stamp[0]))

    def results(
        tell: Tell, name: AgentName, conversation: TalkId, step: PreviewId, body: ResultsBody, preview: Preview = False
    ) -> Response:
        """Pass the results of the actions that a step waits for, and get the answer, or the next calls.

        ``step`` is the id of the ``change_set`` that came with the ``pending`` calls; it is kept for some minutes.
        """
        agent = desk.agent(name)
        waiting = desk.previews.get(agent.name, step)
        done = Conversation.open(agent, conversation).go_on(
            waiting, body.results_by_call(), hold=body.hold, preview=preview, **pieces(tell)
        )
        return JSONResponse(desk.step(agent, done), headers=tag(agent.stamp[0]))

    reporting, address, write = desk.lanes.reporting, _ONE, [Depends(documents_key)]
    router.post(f"{address}/steps", response_model=model(Step), responses=TOLD, dependencies=write)(reporting(say))
    router.post(f"{address}/heartbeats", response_model=model(Step), responses=TOLD, dependencies=write)(
        reporting(heartbeat)
    )
    router.post(f"{address}/again", response_model=model(Step), responses=TOLD, dependencies=write)(reporting(again))
    router.post(f"{address}/steps/{{step}}/results", response_model=model(Step), responses=TOLD, dependencies=write)(
        reporting(results)
    )
    return router


def routes(desk: Desk) -> APIRouter:
    """Routes for other changes to a conversation."""
    router = APIRouter(tags=["conversations"])

    def settings(
        name: AgentName,
        conversation: TalkId,
        body: TalkSettingsBody,
        now: AwareDatetime | None = None,
        preview: Preview = False,
        if_match: IfMatch = None,
    ) -> JSONResponse:
        """Change the settings of a conversation from now on; what is not named stays."""

        def plan(talk: Conversation) -> ChangeSet:
            return talk.change(body.over(talk.head.settings), now=now, preview=True)

        return change(name, conversation, plan, preview, if_match)

    def core(
        name: AgentName,
        conversation: TalkId,
        block: Annotated[Block, Path(description="The block of core memory.")],
        body: CoreBody,
        preview: Preview = False,
        if_match: IfMatch = None,
    ) -> JSONResponse:
        """Rewrite a block of core memory."""

        def plan(talk: Conversation) -> ChangeSet:
            return talk.edit_core(block, body.text, now=body.now, preview=True)

        return change(name, conversation, plan, preview, if_match)

    def noted(name: AgentName, conversation: TalkId, body: NoteBody, preview: Preview = False) -> JSONResponse:
        """Store what was said elsewhere, so that it can be searched and continued; no model is asked."""

        def plan(talk: Conversation) -> ChangeSet:
            return talk.note(heard=body.heard, said=body.said, now=body.now, preview=True, speaker=body.speaker)

        return change(name, conversation, plan, preview, None)

    def synopsis(
        tell: Tell,
        name: AgentName,
        conversation: TalkId,
        body: When,
        preview: Preview = False,
        if_match: IfMatch = None,
    ) -> Response:
        """Remember the talk: what it shows since the last time, as one memory that rests on its messages."""

        def plan(talk: Conversation) -> ChangeSet:
            return talk.synopsis(now=body.now, preview=True, progress=progress(tell))

        return change(name, conversation, plan, preview, if_match)

    def remove(
        name: AgentName,
        conversation: TalkId,
        events: Annotated[bool, Query(description="Forget the events, too, that the agent stored in it.")] = False,
        now: AwareDatetime | None = None,
        preview: Preview = False,
        if_match: IfMatch = None,
    ) -> JSONResponse:
        """Take a whole conversation out of memory; undoing that brings it back."""

        def plan(talk: Conversation) -> ChangeSet:
            return talk.remove(events=events, now=now, preview=True)

        return change(name, conversation, plan, preview, if_match)

    def change(
        name: str, conversation: str, planned: Callable[[Conversation], ChangeSet], preview: bool, if_match: str | None
    ) -> JSONResponse:
        return desk.change(
            name, lambda agent: planned(Conversation.open(agent, conversation)), preview=preview, if_match=if_match
        )

    quick, reporting, address = desk.lanes.quick, desk.lanes.reporting, _ONE
    write = [Depends(documents_key)]
    changed: dict[str, Any] = {"response_model": model(ChangeSet), "dependencies": write}
    router.patch(f"{address}/settings", **changed)(quick(settings))
    router.put(f"{address}/core/{{block}}", **changed)(quick(core))
    router.post(f"{address}/notes", **changed)(quick(noted))
    router.post(f"{address}/synopsis", responses=TOLD, **changed)(reporting(synopsis))
    router.delete(address, **changed)(quick(remove))
    return router


def pieces(tell: Tell) -> dict[str, Any]:
    """The arguments that let a step be followed while it runs."""
    return {
        "heard": lambda piece: tell("heard", {"text": piece}),
        "told": lambda run: tell("function", serialize.plain(run)),
    }
