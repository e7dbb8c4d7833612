"""Routes: what keeps a world usable: the doctor, backups, and vectors made anew."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from fastapi.responses import FileResponse, JSONResponse, Response

from ....core.findings import Finding, State
from ....errors import InvalidBackup, NotFound, shown
from ....maintenance import backup, backup_reading, doctor
from ....maintenance import restore as backup_restoring
from ....maintenance.backup_manifest import Manifest
from ....world.world import World
from ...forms import Body, Name
from ..deps import AgentName, Desk, documents_key
from ..schemas import inspection, talk_telling
from ..sse import TOLD, Tell, progress

ZIP = "application/zip"
BackupFile = Annotated[str, Path(min_length=1, max_length=255, description="The backup's file, as the list names it.")]


class RestoreBody(Body):
    """The name of the world that a backup becomes; there must be none of this name yet."""

    world: Name


def routes(desk: Desk) -> APIRouter:
    """What can be done for the world as a whole."""
    router = APIRouter(tags=["keeping"])

    def looked(tell: Tell) -> Response:
        """Look at every agent of the world; nothing is changed."""
        return _found(doctor.examine(desk.world(), progress=progress(tell)))

    def repaired(tell: Tell) -> Response:
        """Look at every agent, and repair what is wrong; an agent that is repaired is closed and opened anew."""
        return _found(doctor.examine(desk.world(), repair=True, progress=progress(tell)))

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
        return FileResponse(_path(desk, file), media_type=ZIP)

    def restore(tell: Tell, file: BackupFile, body: RestoreBody) -> Response:
        """Restore a backup as a new world, which a server of its own can serve then; this world stays as it is."""
        path, here = _path(desk, file), desk.world()
        settings = here.settings.model_copy(update={"world": body.world})
        with World(settings, embedder=here.embedder, model=here.model, author=desk.author) as anew:
            done = backup_restoring.restore(anew, path, anew=True, progress=progress(tell))
            assert done is not None, "nobody stops it but by leaving"
            told = {"world": anew.name, "backup": _told(path), "findings": talk_telling.plain(done.findings)}
        return JSONResponse(told, 201)

    def waiting(name: AgentName) -> JSONResponse:
        """How many memories have no vector of the embedder in use, and are not found by meaning."""
        agent = desk.agent(name)
        return desk.told(agent, {"waiting": agent.waiting_for_vectors, "embedder": agent.embedder.identity})

    def reembed(tell: Tell, name: AgentName) -> Response:
        """Make the vectors that are missing; what was done stays done, and it goes on from there another time."""
        agent = desk.agent(name)
        return desk.told(agent, talk_telling.plain(agent.reembed(progress=progress(tell))))

    quick, told, write = desk.lanes.quick, desk.lanes.told, [Depends(documents_key)]
    made: dict[str, Any] = {"status_code": 201, "dependencies": write, "responses": TOLD}
    router.get("/doctor", response_model=inspection.Findings, responses=TOLD)(told(looked))
    router.post("/doctor/repair", response_model=inspection.Findings, responses=TOLD, dependencies=write)(
        told(repaired)
    )
    router.get("/backups", response_model=inspection.Backups)(quick(backups))
    router.post("/backups", response_model=inspection.BackupTold, **made)(told(make))
    zipped: dict[int | str, dict[str, Any]] = {200: {"content": {ZIP: {"schema": {"type": "string"}}}}}
    router.get("/backups/{file}", response_class=FileResponse, responses=zipped)(quick(content))
    router.post("/backups/{file}/restore", response_model=inspection.RestoredTold, **made)(told(restore))
    router.get("/agents/{name}/vectors", response_model=inspection.Vectors)(quick(waiting))
    router.post("/agents/{name}/vectors", response_model=inspection.ReembeddedTold, responses=TOLD, dependencies=write)(
        told(reembed)
    )
    return router


def _found(found: list[Finding]) -> JSONResponse:
    right = not any(one.state is State.WRONG for one in found)
    return JSONResponse({"right": right, "findings": talk_telling.plain(found)})


def _folder(desk: Desk) -> FilePath:
    return desk.world().settings.backup_folder


def _path(desk: Desk, file: str) -> FilePath:
    """A backup of the backup folder, and of no other.

    Raises:
        NotFound: there is none of this name.
    """
    with suppress(OSError, ValueError):
        for path in _folder(desk).glob("*.zip"):
            if path.name == file and path.is_file() and not path.is_symlink():
                return path
    raise NotFound(f"There is no backup {shown(file)} in the server's backup folder.")


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
