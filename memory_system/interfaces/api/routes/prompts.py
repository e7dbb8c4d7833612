"""Routes: what the language model is told in this world, in whose words."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from fastapi.responses import Response

from ....core.authors import API
from ....llm.prompts import prompt
from ...reads import PROMPT, prompt_told
from ..deps import Desk, documents_key
from ..schemas.bodies import PromptBody
from .reads import JSON

Name = Annotated[str, Path(min_length=1, max_length=64, description="The prompt's name, such as 'rate'.")]


def routes(desk: Desk) -> APIRouter:
    """The world's prompts."""
    router = APIRouter(tags=["world"])

    def save(name: Name, body: PromptBody) -> Response:
        """Word a prompt anew; what it said before is kept."""
        desk.world().prompts.save(name, body.text, by=API)
        return Response(PROMPT.dumped(**prompt_told(desk.world(), prompt(name))), media_type=JSON)

    def restore(name: Name) -> Response:
        """Let a prompt say again what ships; what it said before is kept."""
        desk.world().prompts.restore(name, by=API)
        return Response(PROMPT.dumped(**prompt_told(desk.world(), prompt(name))), media_type=JSON)

    quick = desk.lanes.quick
    changed: dict[str, Any] = {"response_model": PROMPT.model, "dependencies": [Depends(documents_key)]}
    router.put("/prompts/{name}", **changed)(quick(save))
    router.delete("/prompts/{name}", **changed)(quick(restore))
    return router
