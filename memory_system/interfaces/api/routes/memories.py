"""Routes: memories: editing, adding, operations, history and recall."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import AwareDatetime, StrictStr
from starlette.exceptions import HTTPException

from ....agent import AgentMemory
from ....core.change_set import ChangeSet
from ....core.json_source import parse_strict
from ....core.kinds import MAX_ID
from ....core.known import WORLD_AGENT
from ....errors import InvalidEntry, InvalidFile, Problem
from ....maintenance import export
from ....operations.exporting import MEDIA, Exported, Form
from ....operations.importing.events import MAX_BATCH, Added
from ....recall.rank import Recall
from ....world.together import Together, carried_out
from ... import serialize
from ...forms import Body, EditBody, Ids, QueryBody, SettingsBody
from ...operations import OF_CAST, OF_WORLD, OPERATIONS, Operation
from ...serialize import items, model
from .. import once
from ..deps import AgentName, Desk, IfMatch, Key, Preview, documents_key, tag
from ..feed import Feed
from ..schemas.bodies import ApplyAllBody, ApplyBody, EventsBody, PersonalityBody
from ..sse import TOLD, Tell, progress, untold

EntryId = Annotated[str, Path(min_length=1, max_length=MAX_ID, description="The memory's id.")]


APPLIED = items("ChangeSetsTold", "Change sets that were carried out together.", ChangeSet)


class TouchBody(Body):
    """Which memories count as recalled, and when; by the world's clock if not given."""

    ids: Ids
    now: AwareDatetime | None = None


def routes(desk: Desk) -> APIRouter:
    """Routes for memories."""
    router = APIRouter(tags=["memories"])

    def edit(
        name: AgentName, entry_id: EntryId, body: EditBody, preview: Preview = False, if_match: IfMatch = None
    ) -> JSONResponse:
        """Change fields of a memory; those that are not named stay."""

        def plan(agent: AgentMemory) -> ChangeSet:
            return agent.edit(entry_id, preview=True, **body.arguments())

        return desk.change(name, plan, preview=preview, if_match=if_match)

    def forget(name: AgentName, entry_id: EntryId, preview: Preview = False, if_match: IfMatch = None) -> JSONResponse:
        """Take a memory out of recall; it goes to the agent's bin."""
        return desk.change(name, lambda agent: agent.forget(entry_id, preview=True), preview=preview, if_match=if_match)

    def touch(name: AgentName, body: TouchBody) -> Response:
        """Let memories count as recalled, which renews their recency; those that do not exist are skipped."""
        desk.agent(name).touch(body.ids, now=body.now)
        return Response(status_code=204)

    quick, write = desk.lanes.quick, [Depends(documents_key)]
    changed: dict[str, Any] = {"response_model": model(ChangeSet), "dependencies": write}
    of = "/agents/{name}"
    router.patch(f"{of}/memories/{{entry_id:path}}", **changed)(quick(edit))
    router.delete(f"{of}/memories/{{entry_id:path}}", **changed)(quick(forget))
    router.post(f"{of}/touch", status_code=204, dependencies=write)(quick(touch))
    return router


def character_routes(desk: Desk) -> APIRouter:
    """Settings and personality."""
    router = APIRouter(tags=["agents"])

    def configure(
        name: AgentName, body: SettingsBody, preview: Preview = False, if_match: IfMatch = None
    ) -> JSONResponse:
        """Change settings; those that are not named stay."""

        def plan(agent: AgentMemory) -> ChangeSet:
            return agent.configure(preview=True, **body.arguments(agent.settings))

        return desk.change(name, plan, preview=preview, if_match=if_match)

    def save(
        name: AgentName, body: PersonalityBody, preview: Preview = False, if_match: IfMatch = None
    ) -> JSONResponse:
        """Take a JSON text as the static memory; only changed facts are embedded."""
        if preview:
            return desk.change(
                name, lambda agent: agent.save_personality(body.text, preview=True), preview=True, if_match=if_match
            )
        agent = desk.agent(name)
        return desk.applied(agent, lambda: agent.save_personality(body.text), if_match)

    quick = desk.lanes.quick
    changed: dict[str, Any] = {"response_model": model(ChangeSet), "dependencies": [Depends(documents_key)]}
    router.patch("/agents/{name}/settings", **changed)(quick(configure))
    router.put("/agents/{name}/personality", **changed)(quick(save))
    return router


LINES = "application/x-ndjson"
_MANY = 500
LIGHT, _LIGHT_BYTES = 50, 100_000
"""How many events, and bytes of them, get their vectors in well under a second or two."""


def added(
    desk: Desk,
    tell: Tell,
    name: str,
    events: list[Any],
    overwrite: bool,
    now: datetime | None,
    preview: bool,
    rate: bool,
    wait: bool | None,
    key: str | None = None,
) -> JSONResponse:
    """Remember events, and say which. With their request's key they are remembered once, even after a restart.

    Raises:
        MemorySystemError: they cannot be accepted. Nothing was changed.
    """
    agent = desk.agent(name)
    done = once.remembered(
        agent,
        events,
        key,
        overwrite_existing=overwrite,
        rate=rate,
        wait=desk.world().rerater.waits(wait),
        now=in_zone_of(agent, now),
        preview=preview,
        progress=progress(tell),
    )
    answer = serialize.plain(done)
    if not preview:
        desk.world().rerater.notice([done.change_set])
    else:
        desk.previews.keep(agent.name, done.change_set)
        answer["change_set"] = serialize.waiting(done.change_set, desk.previews.seconds)
    return JSONResponse(answer, headers=tag(agent.stamp[0]))


def few_and_rated(desk: Desk, name: str, body: EventsBody, **_given: Any) -> bool:
    """Whether events are added at once, since they are few and need no language model."""
    count = len(body.events if body.events is not None else body.documents or ())
    return count <= LIGHT and (not body.rate or all(body.rated()) or not desk.asks_a_model(name, body.wait))


def add_plainly(desk: Desk, name: str, body: EventsBody) -> Response | None:
    """The answer of ``POST /events`` if only the body is given; ``None`` if it may take long.

    Raises:
        MemorySystemError: they cannot be accepted. Nothing was changed.
    """
    if not few_and_rated(desk, name, body):
        return None
    return _added(desk, untold, name, body, preview=False, key=None)


def _added(desk: Desk, tell: Tell, name: str, body: EventsBody, *, preview: bool, key: str | None) -> JSONResponse:
    return added(
        desk,
        tell,
        name,
        body.rows(),
        overwrite=body.overwrite_existing,
        now=body.now,
        preview=preview,
        rate=body.rate,
        wait=body.wait,
        key=key,
    )


def event_routes(desk: Desk) -> APIRouter:
    """Routes for adding events and for exports."""
    router = APIRouter(tags=["events"])

    def add(tell: Tell, name: AgentName, body: EventsBody, preview: Preview = False, key: Key = None) -> JSONResponse:
        """Remember events in short-term memory: all of them, or none if one is not valid.

        One that cannot be rated is stored all the same, unrated. Where a server rates in the background nothing waits
        for a language model, unless ``wait`` says so: the offline rules rate it meanwhile, or nobody, as the agent's
        ``rated_by`` says, and its rating arrives as a change of its own.

        With an Idempotency-Key an event without an id gets one that follows from the key, so that sending it again
        never doubles it, not even after a restart.
        """
        return _added(desk, tell, name, body, preview=preview, key=key)

    def add_lines(
        tell: Tell,
        name: str,
        text: bytes,
        key: str | None,
        overwrite: bool,
        rate: bool,
        wait: bool | None,
        now: datetime | None,
        preview: bool,
    ) -> JSONResponse:
        return added(
            desk,
            tell,
            name,
            _lines_of(text),
            overwrite=overwrite,
            now=now,
            preview=preview,
            rate=rate,
            wait=wait,
            key=key,
        )

    def few(name: str, text: bytes, rate: bool, wait: bool | None, **_given: Any) -> bool:
        return len(text) < _LIGHT_BYTES and not (rate and desk.asks_a_model(name, wait))

    run_lines = desk.lanes.reporting(add_lines, light=few)

    async def stream(
        request: Request,
        name: AgentName,
        overwrite_existing: bool = True,
        rate: bool = True,
        wait: bool | None = None,
        now: datetime | None = None,
        preview: Preview = False,
        key: Key = None,
    ) -> Response:
        """Remember events that come as lines of JSON, at most 50 MB and 50,000 events: all of them, or none."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != LINES:
            raise HTTPException(415, f"Send events as lines of JSON, with 'Content-Type: {LINES}'.")
        text = await request.body()
        how: dict[str, Any] = {
            "overwrite": overwrite_existing,
            "rate": rate,
            "wait": wait,
            "now": now,
            "preview": preview,
        }
        return await run_lines(request, name=name, text=text, key=key, **how)

    def exported(name: AgentName, form: Form | None = None, vectors: bool = False) -> Response:
        """The agent as a file; by default its memories as lines of JSON, with their vectors if wanted.

        What the file cannot hold is named in the header ``Memory-Notes``, percent-encoded, a sentence each.
        """
        agent = desk.agent(name)
        if form is not None:
            return file_answer(agent.export_as(form), tag(agent.stamp[0]))
        lines = export.lines(agent, vectors=vectors)
        first = next(lines)  # any error is raised before the answer begins
        return StreamingResponse(_pieces(chain([first], lines)), media_type=LINES, headers=tag(agent.stamp[0]))

    quick, of = desk.lanes.quick, "/agents/{name}"
    router.post(f"{of}/events", response_model=model(Added), responses=TOLD)(
        desk.lanes.reporting(add, light=partial(few_and_rated, desk))
    )
    taken = {"requestBody": {"required": True, "content": {LINES: {"schema": {"type": "string"}}}}}
    router.post(f"{of}/events.ndjson", response_model=model(Added), responses=TOLD, openapi_extra=taken)(stream)
    files = {media: {"schema": {"type": "string", "format": "binary"}} for media in sorted({*MEDIA.values()} - {LINES})}
    responses: dict[int | str, dict[str, Any]] = {200: {"content": {LINES: {"schema": {"type": "string"}}, **files}}}
    router.get(f"{of}/export", response_class=StreamingResponse, responses=responses)(quick(exported))
    return router


def file_answer(file: Exported, headers: Mapping[str, str]) -> Response:
    """A file to download, with the notes on it."""
    file_headers = {"Content-Disposition": f"attachment; filename*=utf-8''{quote(file.name)}"}
    file_headers |= {"Memory-Notes": ",".join(map(quote, file.notes))} if file.notes else {}
    return Response(file.content, media_type=file.media, headers={**headers, **file_headers})


def in_zone_of(agent: AgentMemory, now: datetime | None) -> datetime | None:
    """A time that was sent; one without a zone is in the zone of the agent's world."""
    return now if now is None or now.utcoffset() is not None else now.replace(tzinfo=agent.now.tzinfo)


def _lines_of(text: bytes) -> list[Any]:
    """The JSON objects of the lines; blank lines are ignored.

    Raises:
        InvalidFile, InvalidEntry: a line is not a JSON object, or there are too many; it says which, counted from 1.
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
            raise InvalidEntry(
                f"Line {number} is not a JSON object: write an event like {json.dumps({'document': '...'})}."
            )
        found.append(value)
        if len(found) > MAX_BATCH:
            raise InvalidEntry(
                f"These are more than {MAX_BATCH:,} events, which is the limit for one request: send them in parts."
            )
    return found


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    while some := list(islice(lines, _MANY)):
        yield "\n".join(some) + "\n"


def operation_routes(desk: Desk) -> APIRouter:
    """Routes for all operations."""
    router = APIRouter(tags=["operations"])
    changed: dict[str, Any] = {"response_model": model(ChangeSet), "dependencies": [Depends(documents_key)]}
    for operation in OPERATIONS:
        address = f"/agents/{{name}}/operations/{operation.name}"
        words: dict[str, Any] = {"summary": operation.about, "name": operation.name, **changed}
        if operation.slow:
            router.post(address, responses=TOLD, **words)(desk.lanes.reporting(_progressing(desk, operation)))
        else:
            router.post(address, **words)(desk.lanes.quick(_endpoint(desk, operation)))

    for operation in OF_WORLD:
        words = {"summary": operation.about, "name": operation.name, **changed}
        router.post(f"/operations/{operation.name}", **words)(desk.lanes.quick(_of_world(desk, operation)))

    for operation in OF_CAST:
        words = {"summary": operation.about, "name": operation.name, **changed, "response_model": model(Together)}
        router.post(f"/operations/{operation.name}", responses=TOLD, **words)(
            desk.lanes.reporting(_of_cast(desk, operation))
        )

    def apply_all(body: ApplyAllBody) -> Response:
        """Carry out previews of several agents, one of each: all of them, or none where one has become stale."""
        chosen = [(preview.agent, preview.id) for preview in body.previews]
        done = desk.previews.apply_all(chosen, partial(carried_out, desk.world()))
        return Response(APPLIED.dumped(items=done), media_type="application/json")

    def waiting(name: AgentName, preview_id: str) -> JSONResponse:
        """A preview that waits."""
        agent = desk.agent(name)
        return desk.response(agent, serialize.plain(desk.shown(agent, preview_id)))

    def apply(name: AgentName, preview_id: str, body: ApplyBody, if_match: IfMatch = None) -> JSONResponse:
        """Carry out what a preview showed, without asking a language model again; once, however often it is sent."""
        if name == WORLD_AGENT:
            desk.previews.get(name, preview_id)
            desk.world().knowledge.agent(make=True)  # it may be the first thing that the world keeps
        agent = desk.agent(name)
        if desk.previews.get(agent.name, preview_id).revision is not None:  # applied, and only reported again
            desk.shown(agent, preview_id)
        return desk.applied(
            agent, lambda: desk.previews.apply(agent.name, preview_id, body.without, agent.apply), if_match
        )

    def drop(name: AgentName, preview_id: str) -> Response:
        """Forget a preview."""
        desk.previews.drop(desk.agent(name).name, preview_id)
        return Response(status_code=204)

    quick, address = desk.lanes.quick, "/agents/{name}/previews/{preview_id}"
    router.get(address, response_model=model(ChangeSet))(quick(waiting))
    router.post(f"{address}/apply", **changed)(quick(apply))
    router.post("/previews/apply", **changed | {"response_model": APPLIED.model})(quick(apply_all))
    router.delete(address, status_code=204, dependencies=[Depends(documents_key)])(quick(drop))
    return router


def _endpoint(desk: Desk, operation: Operation) -> Any:
    def endpoint(name: AgentName, body: Body, preview: Preview = False, if_match: IfMatch = None) -> JSONResponse:
        return desk.change(name, lambda agent: operation.plan(agent, body), preview=preview, if_match=if_match)

    return _formed(endpoint, operation)


def _of_world(desk: Desk, operation: Operation) -> Any:
    def endpoint(body: Body, preview: Preview = False, if_match: IfMatch = None) -> JSONResponse:
        plan, knowledge = operation.plan(desk.world(), body, desk.author), desk.world().knowledge
        if preview and knowledge.agent() is None:  # a preview does not create a store
            desk.previews.keep(WORLD_AGENT, plan)
            return JSONResponse(serialize.waiting(plan, desk.previews.seconds), headers=tag(0))
        knowledge.agent(make=True)
        return desk.change(WORLD_AGENT, lambda _agent: plan, preview=preview, if_match=if_match)

    return _formed(endpoint, operation)


def _of_cast(desk: Desk, operation: Operation) -> Any:
    def endpoint(tell: Tell, body: Body, preview: Preview = False) -> JSONResponse:
        planned = operation.plan(desk.world(), body, desk.author, progress(tell))
        if not preview:
            return JSONResponse(serialize.plain(desk.world().carry_out_all(planned)))
        answer = serialize.plain(planned)
        for share, written in zip(planned.shares, answer["shares"], strict=True):
            if share.change_set is not None:
                desk.previews.keep(share.agent, share.change_set)
                written["change_set"]["expires_in"] = desk.previews.seconds
        return JSONResponse(answer)

    return _formed(endpoint, operation)


def _progressing(desk: Desk, operation: Operation) -> Any:
    def endpoint(
        tell: Tell, name: AgentName, body: Body, preview: Preview = False, if_match: IfMatch = None
    ) -> Response:
        return desk.change(
            name, lambda agent: operation.plan(agent, body, progress(tell)), preview=preview, if_match=if_match
        )

    return _formed(endpoint, operation)


def _formed(endpoint: Any, operation: Operation) -> Any:
    endpoint.__annotations__["body"] = operation.form
    endpoint.__doc__ = operation.about
    return endpoint


Words = Annotated[str, Query(max_length=1000)]
RevisionNumber = Annotated[int | None, Query(ge=0, le=2**62)]


def history_routes(desk: Desk) -> APIRouter:
    """Routes for the history."""
    router = APIRouter(tags=["history"])
    feed = Feed(desk)

    async def changes(
        name: AgentName,
        since: RevisionNumber = None,
        seconds: Annotated[float | None, Query(gt=0, le=86_400, description="How long to listen at most.")] = None,
        last: Annotated[StrictStr | None, Header(alias="Last-Event-ID", max_length=30)] = None,
    ) -> StreamingResponse:
        """Changes by anybody as they happen, as server-sent events: ``now``, then a ``change`` each.

        The id of an event is its revision, so that a client that reconnects with ``Last-Event-ID`` misses none. With
        ``since`` those after that revision are sent first. ``gone`` ends it: the agent was renamed or deleted.
        """
        return await feed.listen(name, _after(since, last), seconds)

    router.get(
        "/agents/{name}/changes",
        response_class=StreamingResponse,
        responses=TOLD,
    )(changes)
    return router


def _after(since: int | None, last: str | None) -> int | None:
    return int(last) if last is not None and last.isascii() and last.isdigit() else since


def recall_routes(desk: Desk) -> APIRouter:
    """Routes for recall."""
    router = APIRouter(tags=["recall"])

    def query(name: AgentName, body: QueryBody) -> Response:
        """The memories that answer a cue: the best of all tiers, or tier after tier where `seats` is `cascade`.

        With ``as_of`` the agent answers as it would have then, and nothing is touched.
        """
        return answered(desk, name, body)

    write = [Depends(documents_key)]
    router.post("/agents/{name}/query", response_model=model(Recall), dependencies=write)(desk.lanes.quick(query))
    return router


def answered(desk: Desk, name: str, body: QueryBody) -> Response:
    """The answer to a query.

    Raises:
        MemorySystemError: the query is refused.
    """
    view = body.view(desk.agent(name))
    # a language model that expands the cue may take long; others go on meanwhile
    with nullcontext() if body.expand else view.contents.still([body.cue, *body.instances]):
        found = view.query_memory(**body.arguments(view.settings), touch=body.touch)
        revision = view.revision
    return Response(serialize.dumped(found), headers=tag(revision), media_type="application/json")
