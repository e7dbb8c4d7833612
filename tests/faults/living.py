"""A separate process in which time passes, and which may be killed: ``python -m tests.faults.living '<json>'``."""

from __future__ import annotations

import json
import os
import signal
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_system import Settings, World
from memory_system.conversation import Conversation
from memory_system.core.authors import BY_ITSELF
from memory_system.embedding.embedder import CachedEmbedder, Embedder, MiniLM
from memory_system.store.journal.journal import Journal
from memory_system.world import advancing
from tests.conftest import NOW
from tests.faults.survivor import settings_of
from tests.waiting import LAST_RESORT, PATIENCE

UNTIL = NOW + timedelta(days=2)
BOUNDARIES: dict[str, tuple[Any, str]] = {
    "before the commit": (Journal, "commit_together"),
    "within the commit": (Journal, "_record"),
    "before it is marked done": (Journal, "mark_done"),
    "before the clock moves": (advancing, "move_standing"),
}
CHARACTERS = ("ana", "bo", "cy", "dot", "eli", "fay")
HAPPENS = {
    name: [
        {"id": f"day-{day}", "document": f"The ferry bell rang for {name.title()}", "rating": 8, "timestamp": at}
        for day, at in enumerate((NOW + timedelta(hours=5), NOW + timedelta(hours=29)))
    ]
    for name in CHARACTERS[::2]
}
"""What a game passes: events of both days, for every other character."""


def settle(root: Path, embedder: Embedder) -> Path:
    """A village of six: each has more to remember than fits, enough to reflect on, and a talk."""
    with World(settings_of(root), embedder=embedder) as world:
        world.stand_at(NOW)
        for name in CHARACTERS:
            routine = [{"time": "07:00", "until": "09:00", "activity": "feeds the geese", "place": "Farm"}]
            agent = world.create_agent(name, json.dumps({"identity": {"name": name.title()}, "routine": routine}))
            agent.configure(stm_size=4, reflection_trigger=30, ltm_size=8, retention="importance")
            seen = f"{name.title()} saw the goose number {{}} swim away from the mill pond"
            events = [{"document": seen.format(n), "rating": 4 + n % 5, "id": f"e{n}"} for n in range(9)]
            agent.add_short_term([{**one, "timestamp": NOW - timedelta(hours=9 - n)} for n, one in enumerate(events)])
            Conversation.begin(agent, human="Tom").step("I give a party at the inn on Friday evening.")
    return root


def lived(root: Path, embedder: Embedder) -> dict[str, list[Any]]:
    """What each character did by itself, according to the history, except what is drawn at random."""
    with World(settings_of(root), embedder=embedder) as world:
        assert world.standing == UNTIL
        return {
            agent.name: [
                (one.operation, one.title, one.reason, one.planned_at, sorted(_said(change) for change in one.changes))
                for one in (told.change_set for told in reversed(agent.history(1000, author=BY_ITSELF)))
            ]
            for agent in world
        }


def _said(change: Any) -> tuple[str, str]:
    return change.verb, (change.after or change.before).document


def die_at(boundary: str, times: int) -> None:
    """Be killed when this step begins for the given time, or, within the commit, before it is committed."""
    owner, name = BOUNDARIES[boundary]
    step, left = getattr(owner, name), iter(range(times - 1, -1, -1))

    def killed(*arguments: Any, **named: Any) -> Any:
        if next(left, 1):
            return step(*arguments, **named)
        if name == "_record":
            step(*arguments, **named)
        return os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, killed)


def main() -> None:
    """Open the world, wait for a line if told to, and let two days pass."""
    order = json.loads(sys.argv[1])
    for owner, name in PATIENCE:
        setattr(owner, name, LAST_RESORT)
    with World(settings_of(Path(order["root"])), embedder=CachedEmbedder(MiniLM(Settings().cache))) as world:
        if order.get("boundary"):
            die_at(order["boundary"], order["times"])
        print(json.dumps({"open": True}), flush=True)
        if order.get("wait"):
            sys.stdin.readline()
        done = world.advance(datetime.fromisoformat(order["to"]), events=HAPPENS)
        print(json.dumps({"steps": len(done.steps), "waiting": len(done.waiting)}), flush=True)


if __name__ == "__main__":
    main()
