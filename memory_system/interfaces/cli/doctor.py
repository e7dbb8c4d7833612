"""``python -m memory_system doctor``: what is right, what is wrong, and what was repaired, in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from ...core.findings import Finding, State
from ...maintenance.doctor import examine
from .arguments import Json, the_world
from .terminal import json_of, seen


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Repair what is wrong.")] = False,
    json: Json = False,
) -> None:
    """Look at every agent of the world. Example: python -m memory_system doctor --repair.

    Without --repair nothing is changed. The exit code is 1 if something is wrong and was not repaired.
    """
    with the_world(json=json) as world:
        found = examine(world, repair=repair)
        typer.echo(as_json(world.name, found) if json else as_text(world.name, found, repair=repair))
    if any(one.state is State.WRONG for one in found):
        raise typer.Exit(1)


def as_text(world: str, found: Sequence[Finding], *, repair: bool) -> str:
    """For the terminal: a line for each thing that was looked at, and a last one that sums up."""
    rows = [(one.agent or f"world {world}", one.what, _shown(one.state), seen(one.sentence)) for one in found]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    wrong = sum(one.state is State.WRONG for one in found)
    repaired = sum(one.state is State.REPAIRED for one in found)
    last = f"{wrong} wrong" if wrong else "All is well"
    last += f", {repaired} repaired." if repaired else "."
    if wrong and not repair:
        last += " Repair with: python -m memory_system doctor --repair"
    return "\n".join([*lines, "", last])


def _shown(state: State) -> str:
    return "WRONG" if state is State.WRONG else state.value


def as_json(world: str, found: Sequence[Finding]) -> str:
    """For programs: everything that was looked at, and whether nothing is wrong."""
    told = {
        "world": world,
        "right": not any(one.state is State.WRONG for one in found),
        "findings": [asdict(one) for one in found],
    }
    return json_of(told)
