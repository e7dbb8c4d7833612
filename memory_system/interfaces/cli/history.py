"""``history``, ``undo`` and ``as-of``: what changed, taking it back, and the agent as it was."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from ...agent import AgentMemory
from ...core.entry import Tier
from ...core.times import stamp
from ...errors import Conflict, InvalidParameter
from ...operations.context import by_age
from ...operations.undo import REDO, UNDO
from ...store.journal.history import Applied
from . import shapes
from .arguments import Agent, DryRun, Json, Limit, between, moment, opened, the_world
from .recall import show_recalled
from .terminal import Column, one_line, say, show_change_set, show_changes, show_json, show_memories, show_table

_HISTORY = (
    Column("revision", right=True),
    Column("applied"),
    Column("by"),
    Column("what"),
    Column("title", wide=True),
    Column("changes", right=True),
    Column("undone by", right=True),
)
_TIERS = (Tier.STM, Tier.LTM, Tier.STATIC)
"""Events come before timeless facts, the newest first."""
_LOOKED_BACK = 1_000
"""How many changes are searched for the last one that can be undone."""


def history(
    agent: Agent,
    limit: Annotated[int, typer.Option(help="How many at most.", **between(1, 10_000, whole=True))] = 20,
    before: Annotated[
        int | None, typer.Option(help="Only those older than this revision.", **between(0, whole=True))
    ] = None,
    contains: Annotated[str, typer.Option(help="Words in the title, the reason, the author or a memory.")] = "",
    author: Annotated[str, typer.Option(help="Exactly this author.")] = "",
    operation: Annotated[str, typer.Option(help="Exactly this operation, such as migrate.")] = "",
    memory: Annotated[str, typer.Option(metavar="ID", help="Only what changed this memory.")] = "",
    since: Annotated[
        datetime | None, typer.Option(parser=moment, metavar="TIME", help="Applied at this real time or later.")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(parser=moment, metavar="TIME", help="Applied before this real time.")
    ] = None,
    revision: Annotated[
        int | None, typer.Option(help="Only this one, with all its changes.", **between(1, whole=True))
    ] = None,
    json: Json = False,
) -> None:
    """Show what changed, by whom and why, the newest first.

    Example: python -m memory_system history mira --contains key --limit 5
    """
    with the_world(json=json) as world:
        character = opened(world, agent)
        if revision is not None:
            _show_one(agent, character.change(revision), json=json)
            return
        changes = character.history(
            limit,
            before,
            contains=contains,
            author=author,
            operation=operation,
            entry_id=memory,
            since=since,
            until=until,
        )
        if json:
            show_json({"agent": agent, "changes": [shapes.applied(change) for change in changes]})
        elif changes:
            show_table(_HISTORY, [_row(change) for change in changes])
        else:
            say("There is no such change.")


def undo(
    agent: Agent,
    revision: Annotated[
        int | None,
        typer.Argument(
            help="Which change; by default the last one that is not undone.",
            **between(1, whole=True, metavar="REVISION"),
        ),
    ] = None,
    back_to: Annotated[
        int | None,
        typer.Option(
            help="Undo everything that came after this one instead.", **between(1, whole=True, metavar="REVISION")
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Leave this memory as later changes made it; may be repeated."),
    ] = None,
    overwrite: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Undo this one nevertheless; may be repeated.")
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Undo a change; undoing an undo applies it again.

    Example: python -m memory_system undo mira 12 --dry-run
    """
    with the_world(json=json) as world:
        character = opened(world, agent)
        if back_to is not None:
            if revision is not None or keep or overwrite:
                raise InvalidParameter("Undo either one change or all since a revision (--back-to), not both at once.")
            done = character.undo_back_to(back_to, preview=dry_run)
        else:
            number = _last(character) if revision is None else revision
            done = character.undo(number, keep=keep or (), overwrite=overwrite or (), preview=dry_run)
        show_change_set(agent, done, json=json, dry_run=dry_run)


def as_of(
    agent: Agent,
    at: Annotated[
        datetime | None,
        typer.Argument(parser=moment, metavar="TIME", help="A real time, such as 2026-03-27T18:00+00:00."),
    ] = None,
    revision: Annotated[
        int | None, typer.Option(help="Right after this revision, instead.", **between(0, whole=True))
    ] = None,
    world_time: Annotated[
        datetime | None, typer.Option(parser=moment, metavar="TIME", help="A time of the world, instead.")
    ] = None,
    cue: Annotated[str | None, typer.Option(help="Ask the agent as it was then.")] = None,
    limit: Limit = 20,
    json: Json = False,
) -> None:
    """Show an agent as it was at a moment, or what it would have recalled then; nothing is changed.

    Example: python -m memory_system as-of mira --revision 7 --cue 'Where is the key?'
    """
    with the_world(json=json) as world:
        then = opened(world, agent).as_of(at, revision=revision, world_time=world_time)
        if cue is not None:
            found = then.query_memory(cue)
            if json:
                show_json({**_moment(then), **shapes.recalled(agent, found)})
            else:
                say(_heading(then))
                show_recalled(found)
            return
        memories = [entry for tier in _TIERS for entry in sorted(then.entries(tier), key=by_age, reverse=True)]
        shown = memories[: limit or None]
        if json:
            show_json({**_moment(then), "held": len(memories), "memories": [shapes.memory(entry) for entry in shown]})
            return
        say(_heading(then))
        if shown:
            show_memories(shown, then.now)
        else:
            say("Nothing was remembered yet. TIME is real time; --world-time takes a time of the world.")
        if len(shown) < len(memories):
            say(f"{len(shown)} of {len(memories):,}; --limit 0 shows all.")


def _last(character: AgentMemory) -> int:
    """The revision of the last change that is neither an undo nor undone.

    Raises:
        Conflict: there is none.
    """
    for change in character.history(_LOOKED_BACK):
        if change.undone_by is None and change.change_set.operation not in (UNDO, REDO):
            return change.revision
    raise Conflict(f"None of the last {_LOOKED_BACK:,} changes of {character.name} is left to undo. Name a revision.")


def _show_one(agent: str, change: Applied, *, json: bool) -> None:
    if json:
        done = shapes.change_set(agent, change.change_set)
        show_json({**done, "applied_at": change.applied_at.isoformat(), "undone_by": change.undone_by})
        return
    show_changes(change.change_set)
    undone = f" Undone by revision {change.undone_by}." if change.undone_by else ""
    say(
        f"Revision {change.revision}, applied {stamp(change.applied_at)} by "
        f"{one_line(change.change_set.author)}.{undone}"
    )


def _row(change: Applied) -> list[str]:
    done = change.change_set
    return [
        str(change.revision),
        f"{change.applied_at:%Y-%m-%d %H:%M}",
        one_line(done.author, 40),
        one_line(done.operation, 40),
        one_line(done.title),
        str(len(done.changes)),
        "" if change.undone_by is None else str(change.undone_by),
    ]


def _moment(then: AgentMemory) -> dict[str, Any]:
    return {"agent": then.name, "revision": then.revision, "now": then.now.isoformat()}


def _heading(then: AgentMemory) -> str:
    return f"{one_line(then.display_name)} after revision {then.revision}, at {stamp(then.now)} of the world:"
