"""Routes: every read, made from its declaration."""

from __future__ import annotations

import re
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic.fields import FieldInfo

from ....operations.context import no_progress
from ...forms import Says
from ...reads import READS, Read
from ..deps import AgentName, Desk, tag
from ..sse import TOLD, Tell, progress, untold

JSON = "application/json"


def routes(desk: Desk) -> APIRouter:
    """All reads."""
    router = APIRouter()
    for read in READS:
        address = "/".join(part for part in ("/agents/{name}" if read.of_agent else "", read.address) if part)
        lane = desk.lanes.reporting if read.told else desk.lanes.slow if read.slow else desk.lanes.quick
        words: dict[str, Any] = {"response_model": read.model, "tags": [read.tag], "summary": read.title}
        if read.told:
            words["responses"] = TOLD
        add = router.post if read.asks else router.get
        add(address if address.startswith("/") else f"/{address}", **words)(lane(_endpoint(desk, read)))
    return router


def _endpoint(desk: Desk, read: Read) -> Any:
    def endpoint(tell: Tell = untold, name: str = "", **arguments: Any) -> Response:
        form = arguments["body"] if read.asks else read.form(**arguments)
        agent = desk.agent(name) if read.of_agent else None
        written, view = read.asked(desk.world(), agent, form, no_progress if tell is untold else progress(tell))
        return Response(written, headers=tag(view.stamp[0]) if view is not None else None, media_type=JSON)

    named: Any = endpoint
    named.__name__, named.__doc__ = read.in_python.rpartition(".")[2], read.about
    named.__signature__ = Signature(list(_parameters(read)), return_annotation=Response)
    return named


def _parameters(read: Read) -> Any:
    if read.of_agent:
        yield _parameter("name", AgentName)
    if read.asks:
        yield _parameter("body", read.form)
        return
    within = set(re.findall(r"{(\w+)", read.address))
    for name, known in read.form.model_fields.items():
        place = Path if name in within else Query
        said = next(part for part in known.metadata if isinstance(part, Says))
        kept = tuple(part for part in known.metadata if not isinstance(part, Says))
        described: Any = Annotated[(known.annotation, *kept, place(description=said.help))]
        yield _parameter(name, described, Parameter.empty if known.is_required() else _default(known))


def _default(known: FieldInfo) -> Any:
    return known.get_default(call_default_factory=True, validated_data={})


def _parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
