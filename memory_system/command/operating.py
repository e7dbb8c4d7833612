"""``migrate``, ``reflect``, ``summarise`` and ``plan``: what an agent makes of its memories, shown and carried out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from ..agent import AgentMemory
from ..changes import ChangeSet
from .answering import opened, the_world
from .arguments import Agent, DryRun, Json, Now
from .progress import ProgressLine, quiet_progress
from .told import show_change_set

Operation = Callable[[AgentMemory, ProgressLine], ChangeSet]


def _run(agent: str, operation: Operation, *, dry_run: bool, json: bool) -> None:
    with the_world(json=json) as world:
        character = opened(world, agent)
        with quiet_progress() as progress:
            done = operation(character, progress)
        show_change_set(agent, done, json=json, dry_run=dry_run)


def migrate(
    agent: Agent,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="The importance to exceed; the agent's setting if not given.")
    ] = None,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="Move this memory, whatever its importance; may be repeated.")
    ] = None,
    now: Now = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Move what short-term memory has no room for to long-term memory if it is important, else forget it.

    Example: python -m memory_system migrate mira --dry-run
    """

    def operation(character: AgentMemory, _progress: ProgressLine) -> ChangeSet:
        return character.migrate_stm2ltm(threshold, ids=ids or None, now=now, preview=dry_run)

    _run(agent, operation, dry_run=dry_run, json=json)


def reflect(
    agent: Agent,
    if_due: Annotated[
        bool, typer.Option("--if-due", help="Only if the ratings since the last reflection add up to enough.")
    ] = False,
    now: Now = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Draw insights from what happened lately, each with the memories that it rests on.

    Example: python -m memory_system reflect mira --if-due
    """

    def operation(character: AgentMemory, progress: ProgressLine) -> ChangeSet:
        return character.reflect_from_recent_memory(only_if_due=if_due, now=now, preview=dry_run, progress=progress)

    _run(agent, operation, dry_run=dry_run, json=json)


def summarise(
    agent: Agent,
    k: Annotated[int, typer.Option("--k", min=2, max=500, help="How many memories become one.")] = 10,
    now: Now = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Replace the least important long-term memories by one summary; the originals can be restored.

    Example: python -m memory_system summarise mira --k 12
    """

    def operation(character: AgentMemory, progress: ProgressLine) -> ChangeSet:
        return character.summarize_and_forget(k, now=now, preview=dry_run, progress=progress)

    _run(agent, operation, dry_run=dry_run, json=json)


def plan(agent: Agent, now: Now = None, dry_run: DryRun = False, json: Json = False) -> None:
    """Plan the rest of the day in timed actions, in the place of an older plan of that day.

    Example: python -m memory_system plan mira --now 2026-03-27T08:00:00+00:00
    """

    def operation(character: AgentMemory, progress: ProgressLine) -> ChangeSet:
        return character.plan_from_memory(now, preview=dry_run, progress=progress)

    _run(agent, operation, dry_run=dry_run, json=json)
