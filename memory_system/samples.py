"""The sample agents: their events replayed into a new world, through the same change sets as any other data."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .agent import AgentMemory
from .errors import StoreDamaged
from .times import parse_time

if TYPE_CHECKING:
    from .world import World

STM_SIZE = 12
MIGRATION_THRESHOLD = 0.25
"""The samples keep all but what is purely mundane."""


def fill_world(world: World, samples: Path, say: Callable[[str], None]) -> None:
    """Replay every ``<agent>.jsonl`` of the folder: remembered in order, migrated, reflected on, planned from.

    Raises:
        StoreDamaged: a sample file is broken or missing.
    """
    try:
        about = json.loads((samples / "world.json").read_text(encoding="utf-8"))
        files = sorted(samples.glob("*.jsonl"))
        events = {
            file.stem: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files
        }
    except (OSError, ValueError) as error:
        raise StoreDamaged(f"The samples in {samples} cannot be read: {error}. Get them again.") from error
    world.stand_at(parse_time(about["clock"]))
    for number, (name, story) in enumerate(events.items(), start=1):
        say(f"Filling the world with its sample agents: {name} ({number} of {len(events)}, {len(story)} memories).")
        _replay(world.agent(name).acting_as("samples"), story)


def _replay(agent: AgentMemory, story: list[dict[str, Any]]) -> None:
    agent.configure(stm_size=STM_SIZE, migration_threshold=MIGRATION_THRESHOLD)
    days: dict[str, list[dict[str, Any]]] = {}
    for event in story:
        days.setdefault(event["timestamp"][:10], []).append(event)
    for day in sorted(days):
        evening: datetime = max(parse_time(event["timestamp"]) for event in days[day])
        agent.add_short_term(days[day], now=evening)
        agent.migrate_stm2ltm(now=evening)
        if parse_time(days[day][0]["timestamp"]).weekday() == 6:  # on Sundays there is time to think
            agent.reflect_from_recent_memory(now=evening)
    agent.plan_from_memory()
