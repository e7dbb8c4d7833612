"""Routes: a file from another program imported in one call, and reported line by line."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import StrictBool

from ....errors import AgentNotFound
from ....operations.importing import Imported
from ... import serialize
from ...forms import Says
from ...operations.declared import ImportMaterial
from ...serialize import model
from ..deps import AgentName, Desk, IfMatch, Preview, documents_key, refuse_stale, tag
from ..sse import TOLD, Tell, progress


class ImportBody(ImportMaterial):
    """A file of another program, how it is read, and whether a character is made of it."""

    create: Annotated[StrictBool, Says("Create the character from it if there is none of this name.")] = False


def routes(desk: Desk) -> APIRouter:
    """Routes for imports of whole files."""
    router = APIRouter(tags=["events"])

    def bring(
        tell: Tell, name: AgentName, body: ImportBody, preview: Preview = False, if_match: IfMatch = None
    ) -> JSONResponse:
        """Import a file from another program as one change set, and say what became of each line and what was left out.

        With ``create`` a character is created from it if there is no agent of this name: the answer is then 201. With
        ``preview`` nothing is stored; the plan waits under its id, but of a character who is not there yet there is
        none.
        """
        try:
            agent = desk.agent(name)
        except AgentNotFound:
            if not body.create:
                raise
            made = desk.world().bring_character(
                name, ask_model=body.ask_model, author=desk.author, preview=preview, progress=progress(tell),
                **{key: value for key, value in body.arguments().items() if key != "now"},
            )  # fmt: skip
            revision = 0 if preview else 1
            return JSONResponse(serialize.plain(made), 200 if preview else 201, headers=tag(revision))
        refuse_stale(agent, if_match)
        brought = agent.bring_in(
            **body.arguments(), rate=body.rate, ask_model=body.ask_model, preview=preview or bool(if_match),
            progress=progress(tell),
        )  # fmt: skip
        assert brought.change_set is not None, "the character is there"
        answer = serialize.plain(brought)
        if preview:
            desk.previews.keep(agent.name, brought.change_set)
            answer["change_set"] = serialize.waiting(brought.change_set, desk.previews.seconds)
        elif if_match:
            with agent.contents.alone():
                refuse_stale(agent, if_match)
                answer["change_set"] = serialize.plain(agent.apply(brought.change_set))
        return JSONResponse(answer, headers=tag(agent.stamp[0]))

    router.post(
        "/agents/{name}/imports",
        response_model=model(Imported),
        responses={201: {"model": model(Imported)}, **TOLD},
        dependencies=[Depends(documents_key)],
    )(desk.lanes.reporting(bring))
    return router
