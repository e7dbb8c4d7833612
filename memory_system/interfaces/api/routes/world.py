"""Routes: the served world, its agents and its upkeep."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from pydantic import AwareDatetime, Field, StrictBool, StringConstraints

from ....agent import AgentMemory
from ....agent_parts.rating import Rerated
from ....conversation import load_document, remove_document
from ....conversation.document_reading import MAX_NAME
from ....core.authors import API
from ....core.change_set import ChangeSet
from ....core.findings import Finding
from ....core.kinds import MAX_ID
from ....core.times import zone_given
from ....errors import AgentNotFound, InvalidBackup, shown
from ....llm import prices
from ....llm.prices import Price
from ....llm.prompts import prompt
from ....maintenance import backup, backup_reading, doctor
from ....maintenance import restore as backup_restoring
from ....maintenance.backup_manifest import Manifest
from ....operations.reembed import Reembedded
from ....world.advancing import Advanced
from ....world.folders import Binned
from ....world.world import World
from ... import serialize
from ...forms import Body, Id, Ids, Name, Number, Revision, Words
from ...reads import FINDINGS, PRICES, PROMPT, STATS, WORLD, findings_told, prices_told, prompt_told, world_told
from ...serialize import Shape, items, model
from ..deps import AgentName, Desk, IfMatch, Preview, documents_key, refuse_stale, tag
from ..schemas.bodies import AdvanceBody, BinnedBody, NewAgent, PromptBody, To, WorldBody
from ..sse import TOLD, Tell, progress
from .reads import JSON


def routes(desk: Desk) -> APIRouter:
    """Routes for the world itself."""
    router = APIRouter(tags=["world"])

    def change(body: WorldBody) -> Response:
        """Change the world's description, or stop its clock at a time; what is not named stays."""
        world, named = desk.world(), body.model_fields_set
        words = {name: getattr(body, name) or "" for name in ("title", "about", "first") if name in named}
        zone = None if body.zone is None else zone_given(body.zone).key  # refused before anything is changed
        if "embedder" in named:
            world.use_embedder(body.embedder)
            desk.in_use.tell_others()
        if "zone" in named:
            world.use_zone(zone)
        if "standing" in named:
            world.stand_at(body.standing)
        if body.speed is not None:
            world.play(body.speed) if body.speed else world.pause()
        if body.lives is not None:
            world.live(on=body.lives)
        if words:
            world.describe(dataclasses.replace(world.about, **words))
        return Response(WORLD.dumped(**world_told(world)), media_type=JSON)

    def advance(tell: Tell, body: AdvanceBody) -> Response:
        """Let time pass: each character does what is due by itself, and the clock moves on. ``/v1/due`` says what."""
        events = {name: [event.entry_fields() for event in some] for name, some in body.events.items()}
        done = desk.world().advance(body.to, events=events, preview=body.preview, progress=progress(tell))
        return JSONResponse(serialize.plain(done))

    quick, write = desk.lanes.quick, [Depends(documents_key)]
    router.patch("/world", response_model=WORLD.model, dependencies=write)(quick(change))
    router.post("/advance", response_model=model(Advanced), responses=TOLD, dependencies=write)(
        desk.lanes.reporting(advance)
    )
    return router


PromptName = Annotated[str, Path(min_length=1, max_length=64, description="The prompt's name, such as 'rate'.")]


def prompt_routes(desk: Desk) -> APIRouter:
    """Routes for the world's prompts."""
    router = APIRouter(tags=["world"])

    def save(name: PromptName, body: PromptBody) -> Response:
        """Replace the text of a prompt; the former text is kept."""
        desk.world().prompts.save(name, body.text, by=API)
        return Response(PROMPT.dumped(**prompt_told(desk.world(), prompt(name))), media_type=JSON)

    def restore(name: PromptName) -> Response:
        """Restore the shipped text of a prompt; the former text is kept."""
        desk.world().prompts.restore(name, by=API)
        return Response(PROMPT.dumped(**prompt_told(desk.world(), prompt(name))), media_type=JSON)

    quick = desk.lanes.quick
    changed: dict[str, Any] = {"response_model": PROMPT.model, "dependencies": [Depends(documents_key)]}
    router.put("/prompts/{name}", **changed)(quick(save))
    router.delete("/prompts/{name}", **changed)(quick(restore))
    return router


def agent_routes(desk: Desk) -> APIRouter:
    """Routes for whole agents."""
    router = APIRouter(tags=["agents"])

    def create(tell: Tell, body: NewAgent) -> JSONResponse:
        """Create an agent, with what happened to it before."""
        if body.events:
            made = desk.world().create_with_events(
                body.name, body.personality or {"identity": {"name": body.name}},
                [event.entry_fields() for event in body.events], author=desk.author, progress=progress(tell),
            )  # fmt: skip
        else:
            made = desk.world().create_agent(body.name, body.personality)
        return JSONResponse(serialize.stats(made), 201, headers=tag(made.stamp[0]))

    def delete(name: AgentName, if_match: IfMatch = None) -> JSONResponse:
        """Move an agent to the world's bin, from where it can be restored."""
        refuse_stale(desk.agent(name), if_match)
        return JSONResponse(serialize.plain(desk.world().delete_agent(name)))

    def rename(name: AgentName, body: To, if_match: IfMatch = None) -> JSONResponse:
        """Give an agent another name."""
        refuse_stale(desk.agent(name), if_match)
        return _new(desk.world().rename_agent(name, body.to), 200)

    def copy(name: AgentName, body: To) -> JSONResponse:
        """Copy an agent, its whole history included."""
        return _new(desk.world().duplicate_agent(name, body.to), 201)

    def restore(body: BinnedBody) -> JSONResponse:
        """Bring an agent back from the world's bin."""
        world = desk.world()
        for agent in world.deleted_agents():
            if agent.name == body.name and body.deleted_at in (None, agent.deleted_at):
                return _new(world.restore_agent(agent), 200)
        raise AgentNotFound(f"There is no {shown(body.name)} in the bin, or none that was deleted then.")

    quick, write = desk.lanes.quick, [Depends(documents_key)]
    router.post("/agents", response_model=STATS.model, status_code=201, responses=TOLD, dependencies=write)(
        desk.lanes.reporting(create, light=lambda body: all(event.has_rating for event in body.events))
    )
    router.delete("/agents/{name}", response_model=model(Binned), dependencies=write)(quick(delete))
    router.post("/agents/{name}/rename", response_model=STATS.model, dependencies=write)(quick(rename))
    router.post("/agents/{name}/copy", response_model=STATS.model, status_code=201, dependencies=write)(quick(copy))
    router.post("/bin/restore", response_model=STATS.model, dependencies=write)(quick(restore))
    return router


def _new(agent: AgentMemory, status: int) -> JSONResponse:
    return JSONResponse(serialize.stats(agent), status, headers=tag(agent.stamp[0]))


class BranchBody(Body):
    """The rehearsal's name, the next that is free if not given; and what is tried."""

    name: Name | None = None
    purpose: Annotated[str, StringConstraints(max_length=80)] = ""


class KeepBody(Body):
    """What the original takes over: memories and texts, or changes by revision; all that differs if none is given."""

    ids: Ids | None = None
    texts: Annotated[list[Words], Field(max_length=1000)] | None = None
    revisions: Annotated[list[Revision], Field(max_length=10_000)] | None = None
    overwrite: Annotated[list[Id], Field(max_length=10_000)] = Field(default_factory=list)


def branch_routes(desk: Desk) -> APIRouter:
    """Routes for rehearsals; ``{name}`` is the rehearsal, except to begin one or list all."""
    router = APIRouter(tags=["rehearsals"])

    def branch(name: AgentName, body: BranchBody) -> JSONResponse:
        """Begin a rehearsal: a copy to play with, whole history included, that knows whose it is."""
        made = desk.world().branch(name, body.name, purpose=body.purpose, author=desk.author)
        return JSONResponse(serialize.stats(made), 201, headers=tag(made.stamp[0]))

    def keep(name: AgentName, body: KeepBody, preview: Preview = False, if_match: IfMatch = None) -> JSONResponse:
        """Let the original take something of a rehearsal; the preview waits at the original, as does If-Match."""
        world = desk.world()
        plan = world.keep(
            name,
            ids=body.ids,
            texts=body.texts,
            revisions=body.revisions,
            overwrite=body.overwrite,
            author=desk.author,
            preview=True,
        )
        return desk.change(plan.agent, lambda _agent: plan, preview=preview, if_match=if_match)

    def drop(name: AgentName) -> JSONResponse:
        """Move a rehearsal to the world's bin; what was kept from it stays."""
        return JSONResponse(serialize.plain(desk.world().drop(name)))

    quick, write, of = desk.lanes.quick, [Depends(documents_key)], "/agents/{name}"
    router.post(f"{of}/rehearsals", response_model=STATS.model, status_code=201, dependencies=write)(quick(branch))
    router.post(f"{of}/keep", response_model=model(ChangeSet), dependencies=write)(quick(keep))
    router.post(f"{of}/drop", response_model=model(Binned), dependencies=write)(quick(drop))
    return router


ZIP = "application/zip"
BackupFile = Annotated[str, Path(min_length=1, max_length=255, description="The backup's file, as the list names it.")]


_BACKED_UP = Shape(
    "BackedUpTold",
    "An agent in a backup: what people call it, its changes and memories, and what was wrong with it, if anything.",
    {"name": str, "shown": str, "revision": int, "memories": int, "problem": str},
)
_BACKUP = Shape(
    "BackupTold",
    "A backup in the server's backup folder, by its file's name; ``problem`` says why it cannot be read.",
    {
        "file": str,
        "size": int,
        "world": str | None,
        "made_at": datetime | None,
        "agents": (_BACKED_UP,),
        "deleted": int,
        "problem": str | None,
    },
)
_BACKUPS = items("Backups", "The backups, the last made first.", _BACKUP)
_RESTORED = Shape(
    "RestoredTold",
    "The world that a backup was restored as, and what the doctor found in it.",
    {"world": str, "backup": _BACKUP, "findings": list[Finding]},
)


class RestoreBody(Body):
    """The name of the world that a backup becomes; there must be none of this name yet."""

    world: Name


def keeping_routes(desk: Desk) -> APIRouter:
    """Routes for the world as a whole."""
    router = APIRouter(tags=["keeping"])

    def repaired(tell: Tell) -> Response:
        """Check every agent, and repair what is wrong; an agent that is repaired is closed and opened again."""
        found = doctor.examine(desk.world(), repair=True, progress=progress(tell))
        return Response(FINDINGS.dumped(**findings_told(found)), media_type=JSON)

    def backups() -> JSONResponse:
        """The backups in the server's backup folder, of whichever world, the last made first."""
        return JSONResponse({"items": [_backup_told(path) for path in backup_reading.stored(_folder(desk))]})

    def make(tell: Tell) -> Response:
        """Copy the whole world into one file of the backup folder, while it is in use, and read it back."""
        made = backup.make(desk.world(), progress=progress(tell))
        assert made is not None, "nobody stops it but by leaving"
        return JSONResponse(_backup_told(made.path), 201)

    def content(file: BackupFile) -> Response:
        """A backup itself."""
        return FileResponse(backup_reading.find(_folder(desk), file), media_type=ZIP)

    def restore(tell: Tell, file: BackupFile, body: RestoreBody) -> Response:
        """Restore a backup as a new world, which a server of its own can serve then; this world stays as it is."""
        path, here = backup_reading.find(_folder(desk), file), desk.world()
        settings = here.settings.model_copy(update={"world": body.world})
        with World(
            settings, embedder=here.embedder, model=here.model, author=desk.author, take_over=here.take_over
        ) as made:
            done = backup_restoring.restore(made, path, new_world=True, progress=progress(tell))
            assert done is not None, "nobody stops it but by leaving"
            answer = {"world": made.name, "backup": _backup_told(path), "findings": serialize.plain(done.findings)}
        return JSONResponse(answer, 201)

    def reembed(tell: Tell, name: AgentName) -> Response:
        """Make the missing vectors; what is done stays done, and the next call continues."""
        agent = desk.agent(name)
        return desk.response(agent, serialize.plain(agent.reembed(progress=progress(tell))))

    quick, reporting, write = desk.lanes.quick, desk.lanes.reporting, [Depends(documents_key)]
    made: dict[str, Any] = {"status_code": 201, "dependencies": write, "responses": TOLD}
    router.post("/doctor/repair", response_model=FINDINGS.model, responses=TOLD, dependencies=write)(
        reporting(repaired)
    )
    router.get("/backups", response_model=_BACKUPS.model)(quick(backups))
    router.post("/backups", response_model=_BACKUP.model, **made)(reporting(make))
    zipped: dict[int | str, dict[str, Any]] = {200: {"content": {ZIP: {"schema": {"type": "string"}}}}}
    router.get("/backups/{file}", response_class=FileResponse, responses=zipped)(quick(content))
    router.post("/backups/{file}/restore", response_model=_RESTORED.model, **made)(reporting(restore))
    router.post("/agents/{name}/vectors", response_model=model(Reembedded), responses=TOLD, dependencies=write)(
        reporting(reembed)
    )
    return router


def _folder(desk: Desk) -> FilePath:
    return desk.world().settings.backup_folder


def _backup_told(path: FilePath) -> dict[str, Any]:
    manifest: Manifest | None = None
    problem = None
    try:
        manifest = backup_reading.look(path)
    except InvalidBackup as error:
        problem = error.sentence
    agents = manifest.agents if manifest else ()
    return {
        "file": path.name,
        "size": path.stat().st_size,
        "world": manifest and manifest.world,
        "made_at": manifest and manifest.made_at.isoformat(),
        "agents": [
            {
                "name": agent.name,
                "shown": agent.shown,
                "revision": agent.revision,
                "memories": agent.lived,
                "problem": agent.problem,
            }
            for agent in agents
        ],
        "deleted": manifest.deleted if manifest else 0,
        "problem": problem,
    }


_Price = Annotated[Number, Field(ge=0, le=100_000)]
_Model = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class RateUnrated(Body):
    """How many memories are asked about at most; whether those added with ``rate=False`` are left alone; and others."""

    most: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 100
    only_wanted: StrictBool = False
    but: Annotated[list[Id], Field(max_length=10_000)] = Field(default_factory=list)


class PriceBody(Body):
    """What a million tokens cost, of what is sent and of what comes back."""

    prompt: _Price
    answer: _Price


class PricesBody(Body):
    """The prices by the model's name; models that are not named lose theirs."""

    items: Annotated[dict[_Model, PriceBody], Field(max_length=prices.MOST)]


def rating_routes(desk: Desk) -> APIRouter:
    """Ratings, tokens and cost."""
    router = APIRouter(tags=["rate and plan"])

    def rate_unrated(name: AgentName, body: RateUnrated) -> JSONResponse:
        """Rate memories that have no rating, storing them as it goes. Send it again to continue."""
        agent = desk.agent(name)
        done = agent.rate_unrated(most=body.most, only_wanted=body.only_wanted, but=body.but)
        return desk.response(agent, serialize.plain(done))

    def set_prices(body: PricesBody) -> Response:
        """Replace the prices; past calls keep their cost."""
        world = desk.world()
        world.models.set_prices(
            {name: Price(price_body.prompt, price_body.answer) for name, price_body in body.items.items()}
        )
        return Response(PRICES.dumped(**prices_told(world)), media_type=JSON)

    quick, write, of = desk.lanes.quick, [Depends(documents_key)], "/agents/{name}"
    router.post(f"{of}/rate-unrated", response_model=model(Rerated), dependencies=write)(desk.lanes.slow(rate_unrated))
    router.put("/prices", response_model=PRICES.model, dependencies=write)(quick(set_prices))
    return router


BYTES = "application/octet-stream"
DocumentId = Annotated[str, Path(min_length=1, max_length=MAX_ID, description="The document's id.")]


def archive_routes(desk: Desk) -> APIRouter:
    """Routes for documents."""
    router = APIRouter(tags=["documents"])

    def load(
        tell: Tell, name: str, raw: bytes, called: str, now: datetime | None, preview: bool, if_match: str | None
    ) -> Response:
        def loading(agent: AgentMemory) -> ChangeSet:
            return load_document(agent, raw, name=called, now=now, preview=preview, progress=progress(tell))

        if preview:
            return desk.change(name, loading, preview=True, if_match=if_match)
        agent = desk.agent(name)  # whose passages are embedded while progress is reported
        return desk.applied(agent, lambda: loading(agent), if_match)

    run = desk.lanes.reporting(load)

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
