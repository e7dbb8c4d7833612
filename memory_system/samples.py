"""The sample agents: their events replayed into a new world, through the same change sets as any other data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from .agent import AgentMemory
from .errors import StoreDamaged
from .names import MAX_NAME
from .times import parse_time
from .world import World

STM_SIZE = 12
MIGRATION_THRESHOLD = 0.25
"""The samples keep all but what is purely mundane."""


def fill_world(world: World, samples: Path, say: Callable[[str], None] = lambda _line: None) -> bool:
    """Fill a world whose folder is missing or empty with the sample agents; answers whether it did.

    Every ``<agent>.jsonl`` of the folder is remembered in order, migrated, reflected on and planned from. It is
    made under another name and renamed when it is whole, so that no half-filled world is ever opened.

    Raises:
        StoreDamaged: a sample file is broken or missing.
    """
    if world.folder.is_dir() and any(world.folder.iterdir()):
        return False
    try:
        about = json.loads((samples / "world.json").read_text(encoding="utf-8"))
        stories = {
            file.stem: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            for file in sorted(samples.glob("*.jsonl"))
        }
    except (OSError, ValueError) as error:
        raise StoreDamaged(f"The samples in {samples} cannot be read: {error}. Get them again.") from error
    half = f"{world.name[: MAX_NAME - 8]}-filling"
    shutil.rmtree(world.folder.with_name(half), ignore_errors=True)
    settings = world.settings.model_copy(update={"world": half})
    with World(settings, embedder=world.embedder, model=world.model) as scratch:
        scratch.stand_at(parse_time(about["clock"]))
        for number, (name, story) in enumerate(stories.items(), start=1):
            say(f"Filling the world with its characters: {name} ({number} of {len(stories)}, {len(story)} memories).")
            _replay(scratch.agent(name).acting_as("samples"), story)
    scratch.folder.rename(world.folder)
    return True


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
