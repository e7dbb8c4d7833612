"""Restoring a backup: it is unpacked next to the world, checked by the doctor, and only then replaces the world."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from filelock import Timeout

from ..core.files import as_store_errors
from ..core.findings import Finding, State
from ..core.personality import read
from ..core.times import real_clock, stamp
from ..errors import AlreadyExists, Conflict, InvalidBackup, NotFound, StoreBusy, StoreError
from ..operations.context import Progress, no_progress, refuse_uncallable
from ..store.copying import STORE
from ..world import swap as asides
from ..world.folders import BIN as BIN_FOLDER
from ..world.folders import KEPT, Place
from ..world.swap import Aside, Spot, swap, work_lock
from ..world.world import World
from . import backup_reading, doctor
from .backup_manifest import AGENTS, BIN, WORLD, Manifest

_UNPACKING = 0.5
"""The share of the work after which the doctor checks it."""


@dataclass(frozen=True)
class Restored:
    """The result of restoring.

    Args:
        manifest: the contents of the backup.
        findings: what the doctor found in it: what was repaired, and what was already damaged when it was made.
        aside: where the former world is now; ``None`` if there was none.
    """

    manifest: Manifest
    findings: tuple[Finding, ...]
    aside: Path | None


def restore(
    world: World,
    path: str | Path,
    *,
    new_world: bool = False,
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = lambda: False,
    now: datetime | None = None,
) -> Restored | None:
    """Replace this world by that of a backup, and set it aside whole; ``put_back`` brings it back.

    The backup is unpacked next to it, compared with its checksums, and checked by the doctor before anything existing
    is touched. Agents that were open have to be asked for again.

    Args:
        world: where it goes; its agents are closed.
        path: the backup.
        new_world: whether this has to be a world that does not exist yet.
        progress: called with the share done, 0 to 1, and what is being done.
        cancelled: called repeatedly, to ask whether to stop; once the swap has begun nothing stops it.
        now: the real time.

    Returns:
        What was restored; ``None`` if it was stopped, and nothing was changed.

    Raises:
        InvalidBackup: the file is not a backup, not as it was made, or the doctor finds new damage.
        AlreadyExists: ``new_world``, and the world exists.
        Conflict: ``new_world``, and another world's characters of the same names have other personalities.
        StoreError: something cannot be read or written. Nothing was changed.
    """
    refuse_uncallable(progress=progress, cancelled=cancelled)
    source, spot = Path(path), world.spot
    manifest = backup_reading.look(source)
    if new_world:
        _refuse_taken(spot)
    _refuse_no_room(spot, manifest)
    with _half(spot) as half:
        contents = backup_reading.unpack(
            source,
            lambda name: place(half, name),
            progress=lambda done, doing: progress(_UNPACKING * done, doing),
            cancelled=cancelled,
        )
        if contents is None:
            return None
        findings = _checked(world, contents, half, progress, cancelled)
        if findings is None:
            return None
        if new_world:
            _refuse_other_personalities(spot, half, [agent.name for agent in contents.agents])
        progress(1.0, "Putting it in place")
        why = f"the backup of {stamp(contents.made_at)} was restored"
        with world.let_go():
            if new_world:
                _refuse_taken(spot)
            for agent in contents.agents:  # a server's data for these names is not from the backup
                world.journals.of(spot.folder / agent.name).leave_name()
            names = [] if new_world else world.stored()
            aside = swap(spot, half, names, why, now or real_clock())
        return Restored(contents, tuple(findings), aside)


def put_back(world: World, aside: Aside, now: datetime | None = None) -> Path | None:
    """Bring back a world that was set aside; the present one is set aside in turn.

    Returns:
        Where the present world was set aside; ``None`` if there was none.

    Raises:
        NotFound: it is no longer there.
        StoreError: the files cannot be moved. Nothing was changed.
    """
    with world.let_go():
        if aside.folder not in [aside.folder for aside in asides.of_world(world.folder)]:
            raise NotFound(f"{aside.folder} is no longer there.")
        why = f"what was set aside on {stamp(aside.at)} was put back"
        return swap(world.spot, aside.folder, world.stored(), why, now or real_clock())


@contextmanager
def _half(spot: Spot) -> Iterator[Path]:
    """A new folder next to the world, removed afterwards unless it has become the world.

    Raises:
        StoreBusy: somebody else is restoring this world.
    """
    what = f"The folder of the world {spot.folder.name!r}"
    with as_store_errors(what):
        spot.folder.parent.mkdir(parents=True, exist_ok=True)
        lock = work_lock(spot.folder)
        try:
            lock.acquire()
        except Timeout as error:
            name = spot.folder.name
            raise StoreBusy(f"The world {name!r} is being restored already. Wait until that is done.") from error
    try:
        with as_store_errors(what):
            shutil.rmtree(spot.half, ignore_errors=True)  # from a restore that was killed
            spot.half.mkdir()
        yield spot.half
    finally:
        shutil.rmtree(spot.half, ignore_errors=True)
        lock.release()


def place(half: Path, name: str) -> Path:
    """Where a file of a backup goes in the folder of the future world."""
    top, _, rest = name.partition("/")
    return {AGENTS: half, BIN: half / BIN_FOLDER, WORLD: half}[top] / rest


def _checked(
    world: World, manifest: Manifest, half: Path, progress: Progress, cancelled: Callable[[], bool]
) -> list[Finding] | None:
    """What the doctor finds in what was unpacked, and repairs there; ``None`` if it was stopped.

    Raises:
        InvalidBackup: something is wrong that was not when the backup was made.
    """
    findings: list[Finding] = []
    for number, agent in enumerate(manifest.agents):
        if cancelled():
            return None
        share = _UNPACKING + (1 - _UNPACKING) * number / len(manifest.agents)
        progress(share, f"Checking {agent.shown or agent.name} ({number + 1} of {len(manifest.agents)})")
        found = _checked_agent(half / agent.name, world)
        wrong = [finding for finding in found if finding.state is State.WRONG]
        if wrong and not agent.problem:
            raise InvalidBackup(f"The backup was checked, and {agent.name} is not whole: {wrong[0].sentence}")
        findings += [finding for finding in found if finding.state in (State.WRONG, State.REPAIRED)]
    return findings


def _checked_agent(folder: Path, world: World) -> list[Finding]:
    """What the doctor finds; if a server has the stores, one is made here only for the check."""
    with_store = (folder / STORE).exists()
    found = doctor.examine_repaired(Place(folder, folder / KEPT), world.embedder)
    if world.settings.chroma is not None:
        shutil.rmtree(folder / STORE, ignore_errors=True)
    made = ("store", "index") if not with_store else ()
    return [finding for finding in found if not (finding.state is State.REPAIRED and finding.what in made)]


def _refuse_taken(spot: Spot) -> None:
    if spot.folder.exists() and any(spot.folder.iterdir()):
        raise AlreadyExists(f"There is a world {spot.folder.name!r} already. Choose another name.")


def _refuse_no_room(spot: Spot, manifest: Manifest) -> None:
    there = next(path for path in (spot.folder, *spot.folder.absolute().parents) if path.exists())
    with as_store_errors(f"The disk of {there}"):
        free = shutil.disk_usage(there).free
    if free < manifest.size:
        raise StoreError(
            f"The backup needs {manifest.size / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free at {there}. "
            "Make room first."
        )


def _refuse_other_personalities(spot: Spot, half: Path, names: Iterable[str]) -> None:
    """Refuse other personalities: a world that shares the folder of personality files must not change others' files."""
    for name in names:
        file, own = spot.agent(name).personality, half / name / KEPT
        if file.exists() and own.exists() and read(file) != read(own):
            raise Conflict(
                f"{file} is another world's, and {name}'s personality in the backup differs from it. "
                "Restore it with a folder of its own for personalities: set MEMORY_PERSONALITIES to a new folder."
            )
        if file.exists():
            own.unlink(missing_ok=True)  # the same: it stays where it is
            with suppress(OSError):  # it holds more than a personality
                own.parent.rmdir()
