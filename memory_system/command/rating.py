"""``rate`` and ``spent``: memories without a rating get one, and what the calls of language models took."""

from __future__ import annotations

from dataclasses import asdict

import typer

from ..account import total
from .answering import FAILED, opened, the_world
from .arguments import Agent, DryRun, Json
from .progress import STOPPED, ProgressLine, stopped_by_ctrl_c
from .terminal import Column, one_line, say, show_json, show_table

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
