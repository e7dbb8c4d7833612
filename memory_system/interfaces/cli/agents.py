"""``agents``: who there is in the world, and how much each remembers."""

from __future__ import annotations

from typing import Any

from ...core.times import stamp
from ...errors import MemorySystemError
from ...world.world import World
from .arguments import Json, the_world
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
        told = [_told(world, name) for name in world.agents()]
        now = world.clock()
        if json:
            show_json({"world": world.name, "now": now.isoformat(), "agents": told})
            return
        if told:
            show_table(_AGENTS, [_row(one) for one in told])
        count = f"{len(told)} agent{'s' if len(told) != 1 else ''}"
        say(f"The world {world.name!r} has {count}; its clock says {stamp(now)}.")


def _told(world: World, name: str) -> dict[str, Any]:
    """What is known of one agent; where it cannot be opened, why."""
    told: dict[str, Any] = dict.fromkeys(("name", "static", "stm", "stm_size", "ltm", "unrated", "revision"))
    told = {"agent": name, **told, "rehearsal_of": None, "read_only": None, "problem": None}
    try:
        agent, branch = world.agent(name), world.rehearsal(name)
        stats = agent.get_stats()
        told |= {key: stats[key] for key in ("static", "stm", "stm_size", "ltm", "unrated", "revision")}
        told |= {"name": agent.display_name, "read_only": agent.read_only}
        told |= {"rehearsal_of": branch.of if branch else None, "problem": agent.personality_problem}
    except MemorySystemError as error:
        told["problem"] = error.sentence
    return told


def _row(told: dict[str, Any]) -> list[str]:
    def number(key: str) -> str:
        return "" if told[key] is None else f"{told[key]:,}"

    short_term = "" if told["stm"] is None else f"{told['stm']:,} of {told['stm_size']:,}"
    branch = f"rehearsal of {told['rehearsal_of']}" if told["rehearsal_of"] else ""
    note = " ".join(word for word in (branch, told["read_only"], told["problem"]) if word)
    cells = [number("static"), short_term, number("ltm"), number("unrated"), number("revision")]
    return [told["agent"], one_line(told["name"] or "", 40), *cells, one_line(note, 300)]
