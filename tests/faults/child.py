"""A separate process that works on one agent and may be killed: ``python -m tests.faults.child '<json>'``."""

from __future__ import annotations

import faulthandler
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import memory_system.core.personality
from memory_system import AgentMemory, Settings, Tier
from memory_system.core.change_set import ChangeSet
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.errors import MemorySystemError
from memory_system.store.journal.journal import Journal
from memory_system.store.journal.vectors import KeptVectors
from memory_system.store.projection import Stores
from tests.waiting import LAST_RESORT, PATIENCE

BOUNDARIES: dict[str, tuple[Any, str]] = {
    "before the commit": (Journal, "commit_together"),
    "within the commit": (Journal, "_record"),
    "after the commit, before the upsert": (Stores, "upsert"),
    "after the upsert, before the delete": (Stores, "delete"),
    "after the delete, before it is marked done": (Journal, "mark_done"),
    "before the personality file is written": (memory_system.core.personality, "write"),
    "while vectors are made anew": (KeptVectors, "keep"),
    "while the store is made anew": (Stores, "upsert"),
}
MIXTURE = ("add", "add", "add", "edit", "migrate", "reflect", "summarise", "undo", "personality")
"""What an endless child does, in an order drawn again each time."""


def tell(**what: object) -> None:
    """Send the parent a line, at once."""
    print(json.dumps(what), flush=True)


def die_at(boundary: str) -> None:
    """Be killed as soon as this step begins; within the commit, when its rows are written but not committed."""
    owner, name = BOUNDARIES[boundary]
    step = getattr(owner, name)

    def killed(*arguments: Any, **named: Any) -> None:
        if name in ("_record", "keep"):
            step(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)

    setattr(owner, name, killed)


def _events(name: str, count: int) -> list[dict[str, Any]]:
    return [{"document": f"{name} {n}", "rating": 5, "id": f"{name}-{n}"} for n in range(count)]


def _newest(agent: AgentMemory) -> int:
    (told,) = agent.history(1)
    return told.revision


CHANGES: dict[str, Callable[[AgentMemory, dict[str, Any]], ChangeSet]] = {
    "add": lambda agent, order: agent.add_short_term(_events(order.get("name", "late"), 3)).change_set,
    "batch": lambda agent, order: agent.add_short_term(_events(order["name"], order["count"])).change_set,
    "edit": lambda agent, order: agent.edit(order["id"], document=order.get("text", "Edited."), tags=("edited",)),
    "migrate": lambda agent, _: agent.migrate_stm2ltm(0.5),
    "reflect": lambda agent, _: agent.reflect_from_recent_memory(),
    "summarise": lambda agent, order: agent.summarize_and_forget(order.get("k", 5)),
    "undo": lambda agent, order: agent.undo(order.get("revision") or _newest(agent)),
    "personality": lambda agent, order: agent.save_personality(order["text"]),
}


def work(agent: AgentMemory, order: dict[str, Any]) -> None:
    """Carry out the order, reporting every acknowledged change."""
    operation = order["operation"]
    if operation in CHANGES:
        made = CHANGES[operation](agent, order)
        if order.get("settling", True):
            agent._context.held.settle()
        tell(revision=made.revision)
    elif operation == "reembed":
        tell(embedded=agent.reembed().embedded)
    elif operation == "ask":
        tell(recalled=[hit.entry.id for hit in agent.query_memory(order["cue"], static_threshold=1)])
        sys.stdin.readline()  # it is killed while it waits
    elif operation == "endlessly":
        endlessly(agent, order)
    elif operation == "many":
        many(agent, order)
    elif operation == "until it is full":
        until_it_is_full(agent, order)
    elif operation == "try":
        attempts(agent)


def endlessly(agent: AgentMemory, order: dict[str, Any]) -> None:
    """One change after the other, of all kinds, until it is killed."""
    drawn = random.Random(order["name"])
    for number in range(100_000):
        kind = drawn.choice(MIXTURE)
        stm = agent.entries(Tier.STM)
        one = drawn.choice(stm).id if stm else ""
        person = json.loads(str(agent.personality_text))
        text = json.dumps(person | {"facts": [f"It is the {number}. day of {order['name']}."]})
        told = {"name": f"{order['name']}-{number}", "id": one, "text": f"Edited {number}."}
        if kind == "edit" and not stm:
            continue
        if kind == "personality":
            told["text"] = text
        try:
            revision = CHANGES[kind](agent, told).revision
        except MemorySystemError as error:
            if kind != "undo":  # what was undone, or changed since, cannot be undone
                raise
            tell(refused=error.code)
            continue
        tell(revision=revision, kind=kind)


def many(agent: AgentMemory, order: dict[str, Any]) -> None:
    """Add one by one, and query after each."""
    for number in range(order["count"]):
        event = {"document": f"{order['name']}, event {number}", "rating": 5, "id": f"{order['name']}-{number}"}
        agent.add_short_term(event)
        if order.get("telling"):
            tell(added=event["id"])
            sys.stdin.readline()
        agent.query_memory(f"event {number}")
    tell(added=order["count"])


def until_it_is_full(agent: AgentMemory, order: dict[str, Any]) -> None:
    """Add until the disk is full, keep trying, wait until there is space, and add once more."""
    failed = 0
    for number in range(order["most"]):
        try:
            tell(revision=agent.add_short_term(_events(f"full-{number}", order["each"])).change_set.revision)
        except MemorySystemError as error:
            tell(error=type(error).__name__, sentence=error.sentence)
            tell(recalled=len(agent.query_memory("Who has the key?", static_threshold=1, touch=False)))
            failed += 1
            if failed == 3:
                break
    tell(failed=failed)
    sys.stdin.readline()
    if order.get("limit"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    tell(revision=agent.add_short_term(_events("room", 3)).change_set.revision)


def attempts(agent: AgentMemory) -> None:
    """Query and add, each time a line arrives, and report the result."""
    for number, _ in enumerate(iter(sys.stdin.readline, "done\n")):
        told: dict[str, Any] = {"recalled": 0}
        try:
            told["recalled"] = len(agent.query_memory("Who has the key?", static_threshold=1))
            told["revision"] = agent.add_short_term(_events(f"try-{number}", 1)).change_set.revision
        except MemorySystemError as error:
            told |= {"error": type(error).__name__, "sentence": error.sentence}
        tell(**told)


class Renamed:
    """The same vectors under another name, as if from another model."""

    identity = "another model"

    def __init__(self, embedder: CachedEmbedder) -> None:
        self.embed = embedder.embed


def main() -> None:
    """Open the agent, say so, wait for a line if told to, and work."""
    order = json.loads(sys.argv[1])
    faulthandler.dump_traceback_later(LAST_RESORT * 0.9, exit=True)  # where it hangs is reported, without waiting
    if order.get("limit"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["limit"], resource.RLIM_INFINITY))
    for owner, name in PATIENCE:
        setattr(owner, name, LAST_RESORT)
    embedder = CachedEmbedder(MiniLM(Settings().cache))
    embedder.embed(["warm"])
    used = Renamed(embedder) if order.get("another model") else embedder
    if order.get("opening"):
        die_at(order["opening"])
    tell(opening=True) if order.get("tell opening") else None
    with AgentMemory("mira", database=order["database"], personalities=order["personalities"], embedder=used) as agent:
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
