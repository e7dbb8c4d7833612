"""Routes: documents that an agent can look things up in."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import AwareDatetime

from ....agent import AgentMemory
from ....conversation import load_document, remove_document
from ....conversation.document_reading import MAX_NAME
from ....core.change_set import ChangeSet
from ....core.kinds import MAX_ID
from ...serialize import model
from ..deps import AgentName, Desk, IfMatch, Preview, documents_key
from ..sse import TOLD, Tell, progress

BYTES = "application/octet-stream"
DocumentId = Annotated[str, Path(min_length=1, max_length=MAX_ID, description="The document's id.")]


def routes(desk: Desk) -> APIRouter:
    """What can be done with documents."""
    router = APIRouter(tags=["documents"])

    def load(
        tell: Tell, name: str, raw: bytes, called: str, now: datetime | None, preview: bool, if_match: str | None
    ) -> Response:
        def loading(agent: AgentMemory) -> ChangeSet:
            return load_document(agent, raw, name=called, now=now, preview=preview, progress=progress(tell))

        if preview:
            return desk.change(name, loading, preview=True, if_match=if_match)
        agent = desk.agent(name)  # whose passages are embedded while it is told how far that is
        return desk.applied(agent, lambda: loading(agent), if_match)

    run = desk.lanes.told(load)

    async def loaded(
        request: Request,
        name: AgentName,
        called: Annotated[
            str, Query(alias="name", min_length=1, max_length=MAX_NAME, description="Such as cakes.pdf.")
        ],
        now: AwareDatetime | None = None,
        preview: Preview = False,
        if_match: IfMatch = None,
    ) -> Response:
        """Load a document, at most 50 MB: text or Markdown in UTF-8, or a PDF. It does not fade."""
        raw = await request.body()
        return await run(request, name=name, raw=raw, called=called, now=now, preview=preview, if_match=if_match)

    def removed(
        name: AgentName,
        document: DocumentId,
        now: AwareDatetime | None = None,
        preview: Preview = False,
        if_match: IfMatch = None,
    ) -> JSONResponse:
        """Take a document out of the archive; undoing that brings it back."""
        return desk.change(
            name,
            lambda agent: remove_document(agent, document, now=now, preview=True),
            preview=preview,
            if_match=if_match,
        )

    quick, of = desk.lanes.quick, "/agents/{name}"
    changed: dict[str, Any] = {"response_model": model(ChangeSet), "dependencies": [Depends(documents_key)]}
    taken: dict[str, Any] = {
        "requestBody": {"required": True, "content": {BYTES: {"schema": {"type": "string", "format": "binary"}}}}
    }
    router.post(f"{of}/documents", responses=TOLD, openapi_extra=taken, **changed)(loaded)
    router.delete(f"{of}/documents/{{document}}", **changed)(quick(removed))
    return router
