"""Routes: worlds as save slots. A switch takes effect at once for all who ask this server."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path
from fastapi.responses import JSONResponse, Response
from pydantic import AwareDatetime, StrictBool

from ....core.names import MAX_NAME
from ....errors import WorldNotFound, shown
from ....maintenance import Saved
from ....world.folders import Binned
from ... import serialize
from ...forms import Body, Name
from ...serialize import model
from ..auth import meant
from ..deps import Desk, documents_key
from ..schemas.bodies import To
from ..sse import TOLD, Tell, progress

WorldName = Annotated[str, Path(min_length=1, max_length=MAX_NAME, description="The world's name.")]


class NewWorld(Body):
    """The name of a new world, and whether it is filled with the characters of the sample."""

    name: Name
    sample: StrictBool = False


class BinnedWorld(Body):
    """Which world comes back: the last deleted of this name, or the one deleted then; ``to`` gives it another name."""

    name: Name
    deleted_at: AwareDatetime | None = None
    to: Name | None = None


def routes(desk: Desk) -> APIRouter:
    """Routes for whole worlds; the list of them is a read."""
    router = APIRouter(tags=["worlds"])

    def create(tell: Tell, body: NewWorld) -> Response:
        """Make a world in addition to the served one, empty or with the characters of the sample."""
        return _world_response(desk.worlds.create(body.name, sample=body.sample, progress=progress(tell)), 201)

    def copy(tell: Tell, world: WorldName, body: To) -> Response:
        """Copy a world, whole histories included, while it is in use."""
        return _world_response(desk.worlds.copy(world, body.to, progress=progress(tell)), 201)

    def branch(tell: Tell, world: WorldName, body: To) -> Response:
        """Copy a world; the copy knows of which world it is a branch, and since when."""
        return _world_response(desk.worlds.branch(world, body.to, progress=progress(tell)), 201)

    def rename(world: WorldName, body: To) -> Response:
        """Give a world another name, even the one that is served."""
        desk.worlds  # noqa: B018 - nobody renames another's world
        meant().leave()  # this request does not stay in it
        return _world_response(desk.in_use.rename(world, body.to))

    def delete(world: WorldName) -> Response:
        """Move a world to the bin of worlds; the served world cannot be deleted."""
        return JSONResponse(serialize.plain(desk.worlds.delete(world)))

    def restore(body: BinnedWorld) -> Response:
        """Bring a world back from the bin."""
        for world in desk.worlds.deleted():
            if world.name == body.name and body.deleted_at in (None, world.deleted_at):
                return _world_response(desk.worlds.restore(world, body.to))
        raise WorldNotFound(f"There is no world {shown(body.name)} in the bin, or none that was deleted then.")

    def switch(world: WorldName) -> Response:
        """Serve another world from now on: at once, for everybody who asks this server."""
        desk.worlds  # noqa: B018 - as above
        meant().leave()
        return _world_response(desk.in_use.switch(world))

    quick, reporting, write = desk.lanes.quick, desk.lanes.reporting, [Depends(documents_key)]
    address = "/worlds/{world}"
    made = {"response_model": model(Saved), "status_code": 201, "responses": TOLD, "dependencies": write}
    changed = {"response_model": model(Saved), "dependencies": write}
    router.post("/worlds", **made)(reporting(create))  # type: ignore[arg-type]
    router.post("/worlds-bin/restore", **changed)(quick(restore))  # type: ignore[arg-type]
    router.post(f"{address}/copy", **made)(reporting(copy))  # type: ignore[arg-type]
    router.post(f"{address}/branch", **made)(reporting(branch))  # type: ignore[arg-type]
    router.post(f"{address}/rename", **changed)(quick(rename))  # type: ignore[arg-type]
    router.post(f"{address}/switch", **changed)(quick(switch))  # type: ignore[arg-type]
    router.delete(address, response_model=model(Binned), dependencies=write)(quick(delete))
    return router


def _world_response(saved: Saved, status: int = 200) -> JSONResponse:
    return JSONResponse(serialize.plain(saved), status)
