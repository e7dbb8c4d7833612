"""``agents``: the agents of the world, and how much each remembers.

``create``, ``rename``, ``delete`` and ``undelete``: whole agents.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from ...agent import AgentMemory
from ...core.personality import parse
from ...core.times import stamp
from ...errors import AgentNotFound, MemorySystemError, shown
from ...world.bringing import bring_character
from ...world.world import World
from .arguments import Agent, DryRun, Json, the_world
from .progress import quiet_progress
from .remembering import lines_of, read_text_file, whole_file
from .terminal import Column, one_line, say, show_json, show_table

_AGENTS = (
    Column("agent"),
    Column("name"),
    Column("facts", right=True),
    Column("short-term", right=True),
    Column("long-term", right=True),
    Column("unrated", right=True),
    Column("revision", right=True),
    Column("note", wide=True),
)


def agents(json: Json = False) -> None:
    """List the agents of the world, rehearsals included, and how much each remembers.

    Example: python -m memory_system agents
    """
    with the_world(json=json) as world:
        names, rows = world.agents(), []
        with quiet_progress() as progress:  # each is opened; one that never was is read from its personality
            for number, name in enumerate(names):
                progress(number / len(names), f"Opening {name} ({number + 1:,} of {len(names):,})")
                rows.append(_agent_fields(world, name))
        now = world.clock()
        if json:
            show_json({"world": world.name, "now": now.isoformat(), "agents": rows})
            return
        if rows:
            show_table(_AGENTS, [_row(row) for row in rows])
        count = f"{len(rows)} agent{'s' if len(rows) != 1 else ''}"
        say(f"The world {world.name!r} has {count}; its clock says {stamp(now)}.")


NewName = Annotated[str, typer.Argument(metavar="NAME", help="The agent's new name.")]


def create(
    name: NewName,
    personality: Annotated[
        str | None, typer.Option(metavar="FILE", help="Who it is, as JSON; - reads a pipe; its name if not given.")
    ] = None,
    events: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What happened to it before, as import reads it; - reads a pipe."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FILE", help="A character card, a persona or another file of another program; - a pipe."
        ),
    ] = None,
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="With --from: let the language model make memories of prose.")
    ] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Make an agent. Example: python -m memory_system create tobias --personality tobias.json --events days.txt."""
    with the_world(json=json, begins=True) as world:
        free = world.free_name(name)
        if source is not None:
            if personality is not None or events is not None:
                raise typer.BadParameter("--from brings who it is and what happened; leave the others out")
            _from_file(world, free, source, json=json, dry_run=dry_run, ask_model=ask_model)
            return
        text = None if personality is None else read_text_file(personality)
        if text is not None:
            parse(text, f"{free}.json")
        lived = [] if events is None else lines_of(free, events, world.clock(), json=json)
        if not dry_run and lived:
            with quiet_progress() as progress:
                world.create_with_events(free, text or {"identity": {"name": free}}, lived, progress=progress)
        elif not dry_run:
            world.create_agent(free, text)
        _say_done(world, free, f"The agent {free!r} is made.", json=json, dry_run=dry_run)


def _from_file(world: World, free: str, source: str, *, json: bool, dry_run: bool, ask_model: bool) -> None:
    """Make an agent from a file of another program."""
    file_name = Path(source).resolve().name
    with quiet_progress() as progress:
        made = bring_character(
            world, free, whole_file(source), file_name=file_name, ask_model=ask_model, preview=dry_run,
            progress=progress,
        )  # fmt: skip
    for note in made.material.notes:
        say(note, err=True)
    done = f"The agent {free!r} is made of {made.material.title}."
    _say_done(world, free, done, json=json, dry_run=dry_run)


def rename(agent: Agent, to: NewName, dry_run: DryRun = False, json: Json = False) -> None:
    """Give an agent another name. Example: python -m memory_system rename mira mirabel."""
    with the_world(json=json) as world:
        former = world.agent(agent).name
        free = world.free_name(to, but=former)
        if not dry_run:
            world.rename_agent(former, free)
        _say_done(world, free, f"The agent {former!r} is called {free!r}.", json=json, dry_run=dry_run)


def delete(agent: Agent, dry_run: DryRun = False, json: Json = False) -> None:
    """Move an agent to the bin; undelete brings it back. Example: python -m memory_system delete mira --dry-run."""
    with the_world(json=json) as world:
        name = world.agent(agent).name
        row = _agent_fields(world, name)
        if not dry_run:
            world.delete_agent(name)
        done = f"The agent {name!r} is in the bin. To bring it back: python -m memory_system undelete {quote(name)}"
        _say_done(world, name, done, json=json, dry_run=dry_run, told=row)


def undelete(name: NewName, dry_run: DryRun = False, json: Json = False) -> None:
    """Bring an agent back from the bin, the last deleted of its name.

    Example: python -m memory_system undelete mira
    """
    with the_world(json=json) as world:
        binned = world.deleted_agents()
        found = next((agent for agent in binned if agent.name == name), None)
        if found is None:
            there = (
                f"There are {', '.join(dict.fromkeys(agent.name for agent in binned))}." if binned else "It is empty."
            )
            raise AgentNotFound(f"There is no {shown(name)} in the bin. {there}")
        world.free_name(found.name)
        if not dry_run:
            world.restore_agent(found)
        _say_done(world, found.name, f"The agent {found.name!r} is back.", json=json, dry_run=dry_run)


def _say_done(
    world: World, name: str, done: str, *, json: bool, dry_run: bool, told: dict[str, Any] | None = None
) -> None:
    """Say what was done, or that it could be; ``told`` is what was known of the agent before."""
    if json:
        known = told or (None if dry_run else _agent_fields(world, name))
        show_json({"done": not dry_run, "name": name, "agent": known})
    else:
        say("It can be done. Nothing was changed." if dry_run else done)


def _agent_fields(world: World, name: str) -> dict[str, Any]:
    """What is known of one agent; if it cannot be opened, why."""
    fields: dict[str, Any] = dict.fromkeys(("name", "static", "stm", "stm_size", "ltm", "unrated", "revision"))
    fields = {"agent": name, **fields, "rehearsal_of": None, "read_only": None, "problem": None}
    try:
        agent, branch = world.agent(name), world.rehearsal(name)
        stats = agent.get_stats()
        fields |= {key: stats[key] for key in ("static", "stm", "stm_size", "ltm", "unrated", "revision")}
        fields |= {"name": agent.display_name, "read_only": agent.read_only}
        fields |= {"rehearsal_of": branch.of if branch else None, "problem": _problem(agent)}
    except MemorySystemError as error:
        fields["problem"] = error.sentence
    return fields


def _problem(agent: AgentMemory) -> str | None:
    """What prevents an agent that can be opened from being as its files say, or from recalling."""
    return " ".join(filter(None, (agent.personality_problem, agent.contents.embedder_problem))) or None


def _row(fields: dict[str, Any]) -> list[str]:
    def number(key: str) -> str:
        return "" if fields[key] is None else f"{fields[key]:,}"

    short_term = "" if fields["stm"] is None else f"{fields['stm']:,} of {fields['stm_size']:,}"
    branch = f"rehearsal of {fields['rehearsal_of']}" if fields["rehearsal_of"] else ""
    note = " ".join(word for word in (branch, fields["read_only"], fields["problem"]) if word)
    cells = [number("static"), short_term, number("ltm"), number("unrated"), number("revision")]
    return [fields["agent"], one_line(fields["name"] or "", 40), *cells, one_line(note, 600)]
