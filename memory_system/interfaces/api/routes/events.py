"""Routes: events that come in, one, several or a stream of lines; and all memories that go out as lines."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import datetime
from itertools import chain, islice
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException

from ....core.json_source import parse_strict
from ....errors import InvalidEntry, InvalidFile, Problem
from ....maintenance import export
from ....operations.importing.events import MAX_BATCH, Added
from ... import serialize
from ...serialize import model
from ..deps import AgentName, Desk, Key, Preview, tag
from ..schemas.bodies import EventsBody
from ..sse import TOLD, Tell, progress

LINES = "application/x-ndjson"
_MANY = 500
_LIGHT, _LIGHT_BYTES = 50, 100_000
"""Events, and bytes of them, whose vectors are made in well under a second or two."""


def routes(desk: Desk) -> APIRouter:
    """What comes in, and what goes out."""
    router = APIRouter(tags=["events"])

    def added(
        tell: Tell, name: str, events: list[Any], overwrite: bool, rate: bool, now: datetime | None, preview: bool
    ) -> JSONResponse:
        agent = desk.agent(name)
        if now is not None and now.utcoffset() is None:
            now = now.replace(tzinfo=agent.now.tzinfo)
        done = agent.add_short_term(
            events, overwrite_existing=overwrite, rate=rate, now=now, preview=preview, progress=progress(tell)
        )
        told = serialize.plain(done)
        if preview:
            desk.previews.keep(agent.name, done.change_set)
            told["change_set"] = serialize.waiting(done.change_set, desk.previews.seconds)
        return JSONResponse(told, headers=tag(agent.stamp[0]))

    def add(tell: Tell, name: AgentName, body: EventsBody, preview: Preview = False, key: Key = None) -> JSONResponse:
        """Remember events in short-term memory: all of them, or none if one cannot be taken.

        One that cannot be rated is stored all the same, unrated. With an Idempotency-Key an event without an id gets
        one that follows from the key, so that sending it again never doubles it, not even after a restart.
        """
        events = [_keyed(event, name, key, number) for number, event in enumerate(body.given())]
        return added(
            tell, name, events, overwrite=body.overwrite_existing, rate=body.rate, now=body.now, preview=preview
        )

    def add_lines(
        tell: Tell,
        name: str,
        text: bytes,
        key: str | None,
        overwrite: bool,
        rate: bool,
        now: datetime | None,
        preview: bool,
    ) -> JSONResponse:
        events = [_keyed(event, name, key, number) for number, event in enumerate(_lines_of(text))]
        return added(tell, name, events, overwrite=overwrite, rate=rate, now=now, preview=preview)

    run_lines = desk.lanes.told(add_lines, light=lambda rate, text, **_given: not rate and len(text) < _LIGHT_BYTES)

    async def stream(
        request: Request,
        name: AgentName,
        overwrite_existing: bool = True,
        rate: bool = True,
        now: datetime | None = None,
        preview: Preview = False,
        key: Key = None,
    ) -> Response:
        """Remember events that come as lines of JSON, at most 50 MB and 50,000 events: all of them, or none."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != LINES:
            raise HTTPException(415, f"Send events as lines of JSON, with 'Content-Type: {LINES}'.")
        text = await request.body()
        how: dict[str, Any] = {"overwrite": overwrite_existing, "rate": rate, "now": now, "preview": preview}
        return await run_lines(request, name=name, text=text, key=key, **how)

    def exported(name: AgentName, vectors: bool = False) -> Response:
        """All memories as lines of JSON, after a first line about the agent; with their vectors if wanted."""
        agent = desk.agent(name)
        lines = export.lines(agent, vectors=vectors)
        first = next(lines)  # whatever is wrong is told before the answer begins
        return StreamingResponse(_pieces(chain([first], lines)), media_type=LINES, headers=tag(agent.stamp[0]))

    quick, of = desk.lanes.quick, "/agents/{name}"
    router.post(f"{of}/events", response_model=model(Added), responses=TOLD)(desk.lanes.told(add, light=_asks_nothing))
    taken = {"requestBody": {"required": True, "content": {LINES: {"schema": {"type": "string"}}}}}
    router.post(f"{of}/events.ndjson", response_model=model(Added), responses=TOLD, openapi_extra=taken)(stream)
    told: dict[int | str, dict[str, Any]] = {200: {"content": {LINES: {"schema": {"type": "string"}}}}}
    router.get(f"{of}/export", response_class=StreamingResponse, responses=told)(quick(exported))
    return router


def _asks_nothing(body: EventsBody, **_given: Any) -> bool:
    """Whether events are few and none is to be rated: those wait for no language model that others wait for."""
    count = len(body.events if body.events is not None else body.documents or ())
    return count <= _LIGHT and (not body.rate or all(body.rated()))


def _keyed(event: Any, name: str, key: str | None, number: int) -> Any:
    if key is None or not isinstance(event, dict) or event.get("id") is not None:
        return event
    return event | {"id": uuid.uuid5(uuid.NAMESPACE_OID, f"{name}\n{key}\n{number}").hex}


def _lines_of(text: bytes) -> list[Any]:
    """The JSON objects of the lines; blank lines are passed over.

    Raises:
        InvalidFile, InvalidEntry: a line is no JSON object, or there are too many; it says which, counted from 1.
    """
    found: list[Any] = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            value, _ = parse_strict(line, "the stream", len(line), InvalidFile)
        except InvalidFile as error:
            raise InvalidFile((Problem("", error.problems[0].message, number),), "the stream") from error
        if not isinstance(value, dict):
            raise InvalidEntry(f"Line {number} holds no object: write an event like {json.dumps({'document': '...'})}.")
        found.append(value)
        if len(found) > MAX_BATCH:
            raise InvalidEntry(f"That are more than {MAX_BATCH:,} events, the most that are taken at once.")
    return found


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    while some := list(islice(lines, _MANY)):
        yield "\n".join(some) + "\n"
