"""``rate`` and ``spent``: memories without a rating get one, and what the calls of language models took.

``migrate``, ``reflect``, ``summarise`` and ``plan``: what an agent makes of its memories, shown and carried out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

import typer

from ...agent import AgentMemory
from ...core.change_set import ChangeSet
from ...llm.usage import total
from .arguments import FAILED, Agent, DryRun, Json, Now, opened, the_world
from .progress import STOPPED, ProgressLine, quiet_progress, stopped_by_ctrl_c
from .terminal import Column, one_line, say, show_change_set, show_json, show_table

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


_SPENT = (
    Column("model", wide=True),
    Column("for"),
    Column("calls", right=True),
    Column("sent", right=True),
    Column("received", right=True),
    Column("cost", right=True),
)


def rate(agent: Agent, dry_run: DryRun = False, json: Json = False) -> None:
    """Rate the memories that have no rating, stored in pieces; stopped by Ctrl+C, it goes on when called again.

    Example: python -m memory_system rate mira
    """
    with the_world(json=json) as world, stopped_by_ctrl_c() as cancelled:
        character = opened(world, agent)
        if dry_run:
            waiting = len(character.unrated())
            if json:
                show_json({"agent": agent, "rated": [], "failed": [], "left": waiting, "stopped": ""})
            else:
                say(f"{waiting:,} memories of {agent} would be rated by {character.model.label}. Nothing was changed.")
            return
        line = ProgressLine(patience=1.0)
        try:
            done = character.rate_unrated(progress=line, cancelled=cancelled)
        finally:
            line.end()
        if json:
            told = {"rated": list(done.rated), "failed": list(done.failed), "left": done.left, "stopped": done.stopped}
            show_json({"agent": agent, **told})
        else:
            say(f"{len(done.rated):,} memories were rated, {done.left:,} are left.")
            if done.stopped:
                say(one_line(done.stopped, 400), err=True)
        if done.stopped or done.failed:
            raise typer.Exit(STOPPED if cancelled() else FAILED)


def spent(agent: Agent, json: Json = False) -> None:
    """Tell what an agent's calls of language models took, by model and task, and its budget.

    Example: python -m memory_system spent mira
    """
    with the_world(json=json) as world:
        character = opened(world, agent)
        lines, settings = character.spent, character.settings
        whole = total(lines)
        if json:
            budget = {"token_budget": settings.token_budget, "cost_budget": settings.cost_budget}
            show_json({"agent": agent, "spent": [asdict(one) for one in lines], "total": asdict(whole), **budget})
            return
        if lines:
            rows = [
                (one.model, one.task, f"{one.calls:,}", f"{one.prompt:,}", f"{one.answer:,}", f"{one.cost:.4f}")
                for one in lines
            ]
            show_table(_SPENT, rows)
        of_tokens = f" of {settings.token_budget:,}" if settings.token_budget else ""
        of_cost = f" of {settings.cost_budget:g}" if settings.cost_budget else ""
        say(f"{whole.tokens:,}{of_tokens} tokens in {whole.calls:,} calls, cost {whole.cost:.4f}{of_cost}.")
