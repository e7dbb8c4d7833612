"""Routes: what the language model is told in this world, in whose words."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from fastapi.responses import JSONResponse

from ....core.authors import API
from ....llm.prompts import PROMPTS, Prompt, prompt
from ..deps import Desk, documents_key
from ..schemas import shapes
from ..schemas.bodies import PromptBody

Name = Annotated[str, Path(min_length=1, max_length=64, description="The prompt's name, such as 'rate'.")]


def routes(desk: Desk) -> APIRouter:
    """The world's prompts."""
    router = APIRouter(tags=["world"])

    def told(about: Prompt) -> dict[str, object]:
        return {
            "name": about.name,
            "title": about.title,
            "used": about.used,
            "text": desk.world().prompts.prompts.text(about.name),
            "shipped": about.text,
            "needed": list(about.needed),
            "allowed": list(about.allowed),
        }

    def listed() -> JSONResponse:
        """Every prompt: what it says here, and as it ships. Memories are never part of one; they follow as data."""
        return JSONResponse({"items": [told(one) for one in PROMPTS.values()]})

    def save(name: Name, body: PromptBody) -> JSONResponse:
        """Word a prompt anew; what it said before is kept."""
        desk.world().prompts.save(name, body.text, by=API)
        return JSONResponse(told(prompt(name)))

    def restore(name: Name) -> JSONResponse:
        """Let a prompt say again what ships; what it said before is kept."""
        desk.world().prompts.restore(name, by=API)
        return JSONResponse(told(prompt(name)))

    quick = desk.lanes.quick
    changed: dict[str, Any] = {"response_model": shapes.PromptTold, "dependencies": [Depends(documents_key)]}
    router.get("/prompts", response_model=shapes.PromptsTold)(quick(listed))
    router.put("/prompts/{name}", **changed)(quick(save))
    router.delete("/prompts/{name}", **changed)(quick(restore))
    return router
