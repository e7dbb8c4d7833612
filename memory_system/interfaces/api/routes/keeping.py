"""Routes: what keeps a world usable: the doctor, backups, and vectors made anew."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from fastapi.responses import FileResponse, JSONResponse, Response

from ....core.findings import Finding
from ....errors import InvalidBackup
from ....maintenance import backup, backup_reading, doctor
from ....maintenance import restore as backup_restoring
from ....maintenance.backup_manifest import Manifest
from ....operations.reembed import Reembedded
from ....world.world import World
from ... import serialize
from ...forms import Body, Name
from ...reads import FINDINGS, findings_told
from ...serialize import Shape, items, model
from ..deps import AgentName, Desk, documents_key
from ..sse import TOLD, Tell, progress
from .reads import JSON

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


def routes(desk: Desk) -> APIRouter:
    """What can be done for the world as a whole."""
    router = APIRouter(tags=["keeping"])

    def repaired(tell: Tell) -> Response:
        """Look at every agent, and repair what is wrong; an agent that is repaired is closed and opened anew."""
        found = doctor.examine(desk.world(), repair=True, progress=progress(tell))
        return Response(FINDINGS.dumped(**findings_told(found)), media_type=JSON)

    def backups() -> JSONResponse:
        """The backups in the server's backup folder, of whichever world, the last made first."""
        files = sorted(_folder(desk).glob("*.zip"), key=lambda path: (-path.stat().st_mtime, path.name))
        return JSONResponse({"items": [_told(path) for path in files if path.is_file() and not path.is_symlink()]})

    def make(tell: Tell) -> Response:
        """Copy the whole world into one file of the backup folder, while it is in use, and read it back."""
        made = backup.make(desk.world(), progress=progress(tell))
        assert made is not None, "nobody stops it but by leaving"
        return JSONResponse(_told(made.path), 201)

    def content(file: BackupFile) -> Response:
        """A backup itself."""
        return FileResponse(backup_reading.find(_folder(desk), file), media_type=ZIP)

    def restore(tell: Tell, file: BackupFile, body: RestoreBody) -> Response:
        """Restore a backup as a new world, which a server of its own can serve then; this world stays as it is."""
        path, here = backup_reading.find(_folder(desk), file), desk.world()
        settings = here.settings.model_copy(update={"world": body.world})
        with World(
            settings, embedder=here.embedder, model=here.model, author=desk.author, take_over=here.take_over
        ) as anew:
            done = backup_restoring.restore(anew, path, anew=True, progress=progress(tell))
            assert done is not None, "nobody stops it but by leaving"
            told = {"world": anew.name, "backup": _told(path), "findings": serialize.plain(done.findings)}
        return JSONResponse(told, 201)

    def reembed(tell: Tell, name: AgentName) -> Response:
        """Make the vectors that are missing; what was done stays done, and it goes on from there another time."""
        agent = desk.agent(name)
        return desk.told(agent, serialize.plain(agent.reembed(progress=progress(tell))))

    quick, told, write = desk.lanes.quick, desk.lanes.told, [Depends(documents_key)]
    made: dict[str, Any] = {"status_code": 201, "dependencies": write, "responses": TOLD}
    router.post("/doctor/repair", response_model=FINDINGS.model, responses=TOLD, dependencies=write)(told(repaired))
    router.get("/backups", response_model=_BACKUPS.model)(quick(backups))
    router.post("/backups", response_model=_BACKUP.model, **made)(told(make))
    zipped: dict[int | str, dict[str, Any]] = {200: {"content": {ZIP: {"schema": {"type": "string"}}}}}
    router.get("/backups/{file}", response_class=FileResponse, responses=zipped)(quick(content))
    router.post("/backups/{file}/restore", response_model=_RESTORED.model, **made)(told(restore))
    router.post("/agents/{name}/vectors", response_model=model(Reembedded), responses=TOLD, dependencies=write)(
        told(reembed)
    )
    return router


def _folder(desk: Desk) -> FilePath:
    return desk.world().settings.backup_folder


def _told(path: FilePath) -> dict[str, Any]:
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
                "name": one.name,
                "shown": one.shown,
                "revision": one.revision,
                "memories": one.lived,
                "problem": one.problem,
            }
            for one in agents
        ],
        "deleted": manifest.deleted if manifest else 0,
        "problem": problem,
    }
