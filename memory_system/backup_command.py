"""``python -m memory_system backup`` and ``restore``: a world in one file, and back again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import asides, backup_reading
from . import backup as backups
from .backup_manifest import Manifest
from .backup_restoring import Restored, put_back
from .backup_restoring import restore as restored_from
from .command_progress import ProgressLine, stopped_by_ctrl_c
from .errors import InvalidParameter
from .settings import Settings
from .times import stamp
from .world import World

STOPPED = 130
"""The exit code of what Ctrl+C ended."""


def backup(
    file: Annotated[Path | None, typer.Argument(help="The file to make; in the backup folder if not given.")] = None,
) -> None:
    """Copy the whole world into one file, while it is in use. Example: python -m memory_system backup harrow.zip."""
    with World() as world, stopped_by_ctrl_c() as cancelled:
        made = backups.make(world, file, progress=ProgressLine(), cancelled=cancelled)
    if made is None:
        typer.echo("Stopped; no file was made.", err=True)
        raise typer.Exit(STOPPED)
    typer.echo(as_text(made.manifest))
    typer.echo(f"Made and read back: {made.path} ({made.size / 1e6:.1f} MB)")


def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A backup, or the folder of a world set aside.")],
    name: Annotated[str | None, typer.Option("--as", help="A new world's name; the present one stays.")] = None,
    look: Annotated[bool, typer.Option("--look", help="Only tell what it holds and whether it is whole.")] = False,
) -> None:
    """Put a backup in the place of the world, which is set aside. Example: python -m memory_system restore harrow.zip.

    The backup is checked before anything is changed. What was set aside comes back by naming its folder as FILE.
    """
    if look:
        typer.echo(f"{as_text(backup_reading.check(source))}\nIt is whole.")
        return
    settings = Settings() if name is None else Settings().model_copy(update={"world": name})
    with World(settings) as world:
        if source.is_dir():
            _put_back(world, source, name)
            return
        with stopped_by_ctrl_c() as cancelled:
            done = restored_from(world, source, anew=name is not None, progress=ProgressLine(), cancelled=cancelled)
        if done is None:
            typer.echo("Stopped; nothing was changed.", err=True)
            raise typer.Exit(STOPPED)
        typer.echo(_told(world, done))
    if name is not None:
        typer.echo(f"Open it with: MEMORY_WORLD={name!r} make run")


def _put_back(world: World, source: Path, name: str | None) -> None:
    aside = next((one for one in asides.of_world(world.folder) if one.folder.resolve() == source.resolve()), None)
    if name is not None or aside is None:
        raise InvalidParameter(
            f"{source} is neither a backup nor a folder in which the world {world.name!r} was set aside. "
            "Nothing was changed."
        )
    former = put_back(world, aside)
    typer.echo(f"The world {world.name!r} is again what it was until {stamp(aside.at)}.")
    typer.echo(_kept(former))


def _told(world: World, done: Restored) -> str:
    lines = [as_text(done.manifest)]
    lines += [f"{one.agent}: {one.what} {one.state.value}. {one.sentence}" for one in done.findings]
    lines.append(f"Checked, and restored into {world.folder}")
    return "\n".join([*lines, *([_kept(done.aside)] if done.aside else [])])


def _kept(aside: Path | None) -> str:
    if aside is None:
        return "There was no world before."
    return f"What was there before is kept whole. Back to it: python -m memory_system restore {str(aside)!r}"


def as_text(manifest: Manifest) -> str:
    """For the terminal: whose memories, of when, and how many."""
    lines = [f"The world {manifest.world!r}, backed up {stamp(manifest.made_at)}:"]
    width = max((len(agent.name) for agent in manifest.agents), default=0)
    for agent in manifest.agents:
        line = f"  {agent.name.ljust(width)}  {agent.lived:,} memories, {agent.revision:,} changes"
        lines.append(line + (f". DAMAGED: {agent.problem}" if agent.problem else ""))
    if manifest.deleted:
        lines.append(f"  and {manifest.deleted} deleted, in the bin")
    return "\n".join(lines)
