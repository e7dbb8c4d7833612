"""The sample agents: their events replayed into a new world, through the same change sets as any other data."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from .agent import AgentMemory
from .changes import Change, ChangeSet
from .clock import About
from .consolidation import planning, reflection, summarisation
from .consolidation.ground import bare, by_age
from .copying import STORE
from .entry import MemoryEntry, Tier
from .errors import MemorySystemError, StoreDamaged
from .llm import tasks
from .names import MAX_NAME
from .ready_made import ReadyMade
from .settings import AgentSettings
from .shipped import personalities as shipped
from .times import parse_time, real_clock
from .world import TOKENS, World, agent_names

SETTINGS = AgentSettings(stm_size=20, top_k=6, static_share=0.3, migration_threshold=0.25)
"""How the characters of the story remember: all but what is purely mundane."""
_ANY_CUE = "What happened?"


def fill_world(
    world: World, samples: Path, say: Callable[[str], None] = lambda _line: None, *, replay: bool = False
) -> bool:
    """Fill a world whose folder is missing or empty with the sample agents; answers whether it did.

    Every ``<agent>.jsonl`` of the folder is lived through in the world's time: remembered, migrated every night, and
    reflected on, summarised and planned as its author wrote it down, through the same change sets as any other data.
    What that leaves is taken from the archive beside the stories, where it fits them; with ``replay`` it never is.
    It is made under another name and renamed when it is whole, so that no half-filled world is ever opened.

    Where the folder of personalities holds none, those that ship are copied there. Where it holds somebody's own, a
    character of the story without a file in it stays away, and if that is all of them, nothing is filled.

    Raises:
        StoreDamaged: a sample file is broken or missing.
        OSError: the world's folder cannot be written.
    """
    if holds_something(world):
        return False
    try:
        about = json.loads((samples / "world.json").read_text(encoding="utf-8"))
        texts = {file.stem: file.read_text(encoding="utf-8") for file in sorted(samples.glob("*.jsonl"))}
        stories = {name: [json.loads(line) for line in text.splitlines()] for name, text in texts.items()}
    except (OSError, ValueError) as error:
        raise StoreDamaged(f"The samples in {samples} cannot be read: {error}. Get them again.") from error
    stories = _described(world, stories)
    if not stories:
        return False
    packed = None if replay else ReadyMade.beside(samples)
    half = f"{world.name[: MAX_NAME - 8]}-filling"
    shutil.rmtree(world.folder.with_name(half), ignore_errors=True)
    settings = world.settings.model_copy(update={"world": half, "chroma_url": None})
    with World(settings, embedder=world.embedder, model=world.model) as scratch:
        scratch.stand_at(parse_time(about["clock"]))
        for name in stories:  # a filling that was killed may have left a journal on a server
            scratch.journals.of(scratch.folder / name).leave_name()
        scratch.describe(About(about.get("title", ""), about.get("about", ""), about.get("first", "")))
        for number, (name, story) in enumerate(stories.items(), start=1):
            own = personality_text(world, name)
            if packed is not None and packed.has(name, texts[name], own, world.embedder.identity):
                packed.unpack(name, scratch.folder / name, real_clock())
                continue
            say(f"Filling the world with its characters: {name} ({number} of {len(stories)}, {len(story)} memories).")
            _replay(scratch.agent(name).acting_as("samples"), story)
    if world.settings.chroma is not None:  # it takes all in, under the world's own name, when an agent is opened
        for store in scratch.folder.glob(f"*/{STORE}"):
            shutil.rmtree(store)
    scratch.folder.rename(world.folder)
    return True


def prepare_recall(world: World, wanted: Callable[[], bool] = lambda: True) -> None:
    """Work out what the first recall of each character would have to, the one to begin with first.

    That is the token states of its memories, which take seconds and are then kept in a file.

    Args:
        world: whose characters; one that cannot be opened is left out.
        wanted: asked before each whether to go on.
    """
    for name in sorted(world.agents(), key=lambda name: (name != world.about.first, name)):
        if not wanted():
            return
        with suppress(MemorySystemError):  # whoever opens it is told
            world.agent(name).explain(_ANY_CUE)


def personality_text(world: World, name: str) -> str:
    """The file that describes a character, as it stands."""
    return (Path(world.settings.personalities) / f"{name}.json").read_text(encoding="utf-8")


def holds_something(world: World) -> bool:
    """Whether a world's folder holds more than what is made by looking at it."""
    return world.folder.is_dir() and any(not path.name.startswith(TOKENS) for path in world.folder.iterdir())


def _described(world: World, stories: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The stories of the characters that have a personality file."""
    personalities = Path(world.settings.personalities)
    if not agent_names(world.settings):
        personalities.mkdir(parents=True, exist_ok=True)
        for name in stories:
            if (file := shipped() / f"{name}.json").is_file():
                shutil.copyfile(file, personalities / file.name)
    return {name: story for name, story in stories.items() if (personalities / f"{name}.json").is_file()}


def _replay(agent: AgentMemory, story: list[dict[str, Any]]) -> None:
    """Live a story through in the order of its times: remember, migrate every night, reflect, summarise, plan."""
    agent.configure(**{field.name: getattr(SETTINGS, field.name) for field in dataclasses.fields(SETTINGS)})
    waiting: list[dict[str, Any]] = []
    for line, following in zip(story, [*story[1:], None], strict=True):
        when = parse_time(line["timestamp"])
        sort = line.pop("type", "event")
        if sort == "event":
            waiting.append(line)
        last_of_day = following is None or following["timestamp"][:10] != line["timestamp"][:10]
        if waiting and (sort != "event" or last_of_day):
            agent.add_short_term(waiting, now=when)
            waiting = []
        if sort != "event":
            agent.apply(_DERIVED[sort](agent, line, when))
        if last_of_day:
            agent.migrate_stm2ltm(now=when)


def _recorded(agent: AgentMemory, operation: str, title: str, changes: list[Change], when: datetime) -> ChangeSet:
    why = "The sample story tells what the character made of it."
    return ChangeSet(operation, title, tuple(changes), when, agent.stamp[0], author=agent.author, reason=why)


def _reflection(agent: AgentMemory, line: dict[str, Any], when: datetime) -> ChangeSet:
    evidence = [agent.last_version(entry_id) for entry_id in line["evidence"]]
    made = reflection.entry(when, line["question"], line["document"], evidence)
    reason = f"Answers “{line['question']}” from {len(evidence)} memories."
    return _recorded(agent, "reflect", "Reflect: 1 insight", [Change(None, _as_told(made, line), reason)], when)


def _summary(agent: AgentMemory, line: dict[str, Any], when: datetime) -> ChangeSet:
    held = [agent.find(entry_id) for entry_id in line["evidence"]]
    sources = sorted((entry for entry in held if entry and entry.tier is Tier.LTM), key=by_age)
    made = _as_told(summarisation.entry(line["document"], sources), line)
    changes = [Change(None, made, f"Stands for {len(sources)} small memories.")]
    changes += [Change(bare(entry), None, "The summary stands for it, and it can be restored.") for entry in sources]
    return _recorded(agent, "summarise", f"Summarise {len(sources)} memories into one", changes, when)


def _plan(agent: AgentMemory, line: dict[str, Any], when: datetime) -> ChangeSet:
    changes = [
        Change(None, planning.entry(when, tasks.Action(**action), []).evolve(id=f"{line['id']}-{number}"), "Planned.")
        for number, action in enumerate(line["actions"], start=1)
    ]
    title = f"Plan {when:%A} {when.day} {when:%B}: {len(changes)} actions"
    return _recorded(agent, "plan", title, changes, when)


def _as_told(made: MemoryEntry, line: dict[str, Any]) -> MemoryEntry:
    return made.evolve(
        id=line["id"], rating=line["rating"], explanation=line["explanation"], tags=tuple(line.get("tags", ()))
    )


_DERIVED = {"reflection": _reflection, "summary": _summary, "plan": _plan}
