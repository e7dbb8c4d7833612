"""``python -m memory_system export`` and ``reembed``: memories for other programs, and vectors of another model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import export as exporting
from ..authors import COMMAND_LINE
from ..entry import LIVED
from ..errors import AlreadyExists
from ..reembedding import Reembedded
from .answering import the_world
from .arguments import DryRun, Json
from .progress import STOPPED, ProgressLine, stopped_by_ctrl_c
from .terminal import safe_json, say, show_json


def export(
    agent: Annotated[str, typer.Argument(help="Whose memories.")],
    file: Annotated[Path | None, typer.Argument(help="The file to make; printed if not given.")] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="With the vector of each memory.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Tell an agent's memories as JSON, one a line. Example: python -m memory_system export mira mira.jsonl.

    The first line is about the agent. It works for an agent that can only be read, too.
    """
    with the_world() as world:
        opened = world.agent(agent)
        if file is not None and file.exists():
            raise AlreadyExists(f"There is a file {file} already. Name another.")
        if dry_run:
            count = sum(len(opened.entries(tier)) for tier in LIVED)
            say(f"{count:,} memories of {agent} would be written. No file was made.")
            return
        if file is None:
            for line in exporting.lines(opened, vectors=vectors):
                typer.echo(safe_json(line))
            return
        count = exporting.export(opened, file, vectors=vectors)
    typer.echo(f"{count:,} memories of {agent} written to {file}", err=True)


def reembed(
    agents: Annotated[list[str] | None, typer.Argument(help="Names of agents; all if none is named.")] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Make the vectors that are missing of the embedding model in use. Example: python -m memory_system reembed mira.

    What was done stays done: stopped by Ctrl+C or killed, it goes on from there when it is called again.
    """
    with the_world(json=json) as world, stopped_by_ctrl_c() as cancelled:
        told: list[dict[str, Any]] = []
        for name in dict.fromkeys(agents or world.agents()):
            opened = world.agent(name).acting_as(COMMAND_LINE)
            read_only = opened.read_only if agents is None else None
            done = Reembedded(0, opened.waiting_for_vectors, store_made_anew=False)
            if not dry_run and not read_only and not cancelled():
                done = opened.reembed(progress=ProgressLine(), cancelled=cancelled)
            told.append({"agent": name, **asdict(done), "read_only": read_only})
            if not json:
                say(_reembedded(told[-1], world.embedder.identity, dry_run=dry_run), err=bool(read_only))
            if cancelled():
                break
        if json:
            show_json({"world": world.name, "embedder": world.embedder.identity, "agents": told})
        if cancelled():
            raise typer.Exit(STOPPED)


def _reembedded(told: dict[str, Any], embedder: str, *, dry_run: bool) -> str:
    """What came of one agent, in a line."""
    name = told["agent"]
    if told["read_only"]:
        return f"{name}: can only be read; it was left out. {told['read_only']}"
    if dry_run:
        return f"{name}: {told['waiting']:,} have no vector of {embedder}."
    if told["waiting"]:
        return f"{name}: {told['embedded']:,} embedded, {told['waiting']:,} wait. Call it again to go on."
    if told["embedded"] or told["store_made_anew"]:
        anew = ", and the store made anew" if told["store_made_anew"] else ""
        return f"{name}: {told['embedded']:,} embedded with {embedder}{anew}."
    return f"{name}: every memory has its vector of {embedder}."
