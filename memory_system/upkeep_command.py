"""``python -m memory_system export`` and ``reembed``: memories for other programs, and vectors of another model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import export as exporting
from .backup_command import STOPPED
from .command_progress import ProgressLine, stopped_by_ctrl_c
from .errors import AlreadyExists
from .world import World

AUTHOR = "command line"


def export(
    agent: Annotated[str, typer.Argument(help="Whose memories.")],
    file: Annotated[Path | None, typer.Argument(help="The file to make; printed if not given.")] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="With the vector of each memory.")] = False,
) -> None:
    """Tell an agent's memories as JSON, one a line. Example: python -m memory_system export mira mira.jsonl.

    The first line is about the agent. It works for an agent that can only be read, too.
    """
    with World() as world:
        opened = world.agent(agent)
        if file is None:
            for line in exporting.lines(opened, vectors=vectors):
                typer.echo(line)
            return
        if file.exists():
            raise AlreadyExists(f"There is a file {file} already. Name another.")
        count = exporting.export(opened, file, vectors=vectors)
    typer.echo(f"{count:,} memories of {agent} written to {file}", err=True)


def reembed(
    agents: Annotated[list[str] | None, typer.Argument(help="Names of agents; all if none is named.")] = None,
) -> None:
    """Make the vectors that are missing of the embedding model in use. Example: python -m memory_system reembed mira.

    What was done stays done: stopped by Ctrl+C or killed, it goes on from there when it is called again.
    """
    with World() as world, stopped_by_ctrl_c() as cancelled:
        for name in dict.fromkeys(agents or world.agents()):
            opened = world.agent(name).acting_as(AUTHOR)
            if agents is None and opened.read_only:
                typer.echo(f"{name}: can only be read; it was left out. {opened.read_only}", err=True)
                continue
            done = opened.reembed(progress=ProgressLine(), cancelled=cancelled)
            if not done.done:
                typer.echo(f"{name}: {done.embedded:,} embedded, {done.waiting:,} wait. Call it again to go on.")
            elif done.embedded or done.store_made_anew:
                anew = ", and the store made anew" if done.store_made_anew else ""
                typer.echo(f"{name}: {done.embedded:,} embedded with {world.embedder.identity}{anew}.")
            else:
                typer.echo(f"{name}: every memory has its vector of {world.embedder.identity}.")
            if cancelled():
                raise typer.Exit(STOPPED)
