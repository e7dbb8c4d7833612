"""A process of its own that works on one agent and may be killed: ``python -m tests.faults.child '<json>'``."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

import memory_system.personality
from memory_system import AgentMemory, Settings
from memory_system.embedding import CachedEmbedder, MiniLM
from memory_system.journal import Journal
from memory_system.stores import Stores

BOUNDARIES: dict[str, tuple[Any, str]] = {
    "before the commit": (Journal, "commit"),
    "within the commit": (Journal, "_record"),
    "after the commit, before the upsert": (Stores, "upsert"),
    "after the upsert, before the delete": (Stores, "delete"),
    "after the delete, before it is marked done": (Journal, "mark_done"),
    "before the personality file is written": (memory_system.personality, "write"),
}


def tell(**what: object) -> None:
    """One line for the parent, at once."""
    print(json.dumps(what), flush=True)


def die_at(boundary: str) -> None:
    """Be killed as soon as this step begins; within the commit, when its rows are written but not committed."""
    owner, name = BOUNDARIES[boundary]
    step = getattr(owner, name)

    def killed(*arguments: Any, **named: Any) -> None:
        if name == "_record":
            step(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)

    setattr(owner, name, killed)


def work(agent: AgentMemory, order: dict[str, Any]) -> None:
    """Carry out the order, telling every change that was acknowledged."""
    operation = order["operation"]
    if operation == "migrate":
        tell(revision=agent.migrate_stm2ltm(0.5).revision)
    elif operation == "add":
        added = agent.add_short_term([{"document": f"late {n}", "rating": 5, "id": f"late-{n}"} for n in range(3)])
        tell(revision=added.change_set.revision)
    elif operation == "batch":
        name = order["name"]
        events = [{"document": f"{name} {n}", "rating": 5, "id": f"{name}-{n}"} for n in range(order["count"])]
        tell(revision=agent.add_short_term(events).change_set.revision)
    elif operation == "undo":
        tell(revision=agent.undo(order["revision"]).revision)
    elif operation == "personality":
        tell(revision=agent.save_personality(order["text"]).revision)
    elif operation == "ask":
        tell(recalled=[hit.entry.id for hit in agent.query_memory(order["cue"], static_threshold=1)])
        sys.stdin.readline()  # it is killed while it waits
    elif operation == "endlessly":
        for number in range(10_000):
            event = {"document": f"{order['name']}, event {number}", "rating": number % 10 + 1}
            tell(revision=agent.add_short_term(event).change_set.revision)
            tell(revision=agent.migrate_stm2ltm(0.5).revision)
    elif operation == "many":
        for number in range(order["count"]):
            event = {"document": f"{order['name']}, event {number}", "rating": 5, "id": f"{order['name']}-{number}"}
            agent.add_short_term(event)
            agent.query_memory(f"event {number}")
        tell(added=order["count"])


def main() -> None:
    """Open the agent, say so, wait for a line if told to, and work."""
    order = json.loads(sys.argv[1])
    embedder = CachedEmbedder(MiniLM(Settings().cache))
    embedder.embed(["warm"])
    with AgentMemory(
        "mira", database=order["database"], personalities=order["personalities"], embedder=embedder
    ) as agent:
        if order.get("boundary"):
            die_at(order["boundary"])
        tell(open=True)
        if order.get("wait"):
            sys.stdin.readline()
        work(agent, order)
        if order.get("then_die"):
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
