"""Reads: the world, its agents, and the rehearsals of an agent."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Annotated

from pydantic import AwareDatetime, Field, StringConstraints

from ...agent import AgentMemory
from ...core.findings import Finding, State
from ...core.kinds import DECAYING
from ...core.known import Fact, Group, Label
from ...core.settings import MEMORY
from ...llm import prices
from ...llm.prices import Price
from ...llm.prompts import PROMPTS, Prompt
from ...maintenance import Saved, Worlds, WorldsCompared, doctor
from ...store.journal.history import Applied
from ...store.rehearsal import Rehearsal
from ...world.advancing import Advanced
from ...world.auth import Role
from ...world.branches.diff import Apart
from ...world.cast import Beside, Bond, Chart, Whereabouts
from ...world.folders import Binned
from ...world.inbox import Inbox
from ...world.knows import Cell, Spread, StoryTest, TestResult
from ...world.knows.labels import MOST_FACT
from ...world.places import Located
from ...world.rerating import Rerating
from ...world.trail import Hop
from ...world.world import World
from .. import cursors
from ..forms import Name, Says
from ..serialize import Json, Shape, items, pages
from .read import Form, OfMemory, Read, Some, Text

_AGENT = Shape(
    "Agent",
    "An agent; ``rehearsal_of`` is whom it rehearses, ``null`` for a character of its own.",
    {"name": str, "rehearsal_of": str | None},
)


BINNED = items("BinnedAgents", "The agents in the world's bin, the last deleted first.", Binned)


class OfTrail(OfMemory):
    """A memory, and what of it is meant."""

    about: Annotated[Text, Says("What of it is meant, such as: the party.")] = ""


_FIT = Shape(
    "FitTold",
    "A change of a rehearsal: whether the original has it, and why the original cannot take it alone, if so.",
    {"there": bool, "problem": str, "applied": Applied},
)


FINDINGS = Shape(
    "Findings", "What was looked at, and whether nothing is wrong.", {"right": bool, "findings": list[Finding]}
)


PRICES = Shape("PricesTold", "The prices by the model's name.", {"items": dict[str, Price]})


WORLD = Shape(
    "World",
    "This server's world; ``standing`` is where its clock stands, ``null`` if it runs, and ``speed`` how "
    "many of its seconds pass in a real one; ``lives`` says whether what is due happens by itself.\n\n"
    "``zone`` is the time zone that it lives in, by its name; ``null`` if it has none but that of its time.\n\n"
    "``role`` is what the asker may do: ``curator``, or ``viewer`` who changes nothing.\n\n"
    "``embedder_decided`` says why no embedder can be chosen here, if that is so.",
    {
        **dict.fromkeys(("embedder", "embedder_decided"), str),
        **dict.fromkeys(("name", "title", "about", "first"), str),
        "now": datetime,
        "standing": datetime | None,
        "zone": str | None,
        "speed": float,
        "lives": bool,
        "agents": int,
        "model": str,
        "role": Role,
    },
)


PROMPT = Shape(
    "PromptTold",
    "A prompt: what it says here and as it ships, and what is filled in: ``needed`` must appear in it.",
    {
        **dict.fromkeys(("name", "title", "used", "text", "shipped"), str),
        "needed": list[str],
        "allowed": list[str],
    },
)


class Until(Form):
    """Until when."""

    to: Annotated[
        AwareDatetime | None,
        Says("Until which time of the world, with its zone; what is due at present if not given."),
    ] = None


def _agents(world: World, form: Some) -> Json:
    after = cursors.text_after("agents", form.cursor)
    names = [name for name in world.agents() if name > after]
    found = [(name, world.rehearsal(name)) for name in names[: form.limit]]
    following = cursors.cursor("agents", names[form.limit - 1]) if len(names) > form.limit else None
    return {"items": [{"name": name, "rehearsal_of": of and of.of} for name, of in found], "next": following}


def world_told(world: World) -> Json:
    """A world, and what the caller may do there."""
    role = Role.CURATOR if isinstance(world, World) else Role.VIEWER
    named = {
        "name": world.name,
        "now": world.clock(),
        "standing": world.standing,
        "zone": world.zone,
        "speed": world.speed,
        "lives": world.lives,
        "model": world.model.label,
    }
    named |= {"embedder": world.embedder_name, "embedder_decided": world.embedder_decided}
    return asdict(world.about) | named | {"agents": len(world.agents()), "role": role}


def _worlds(world: World, _form: Form) -> Json:
    if isinstance(world, World) and world.settings.store != MEMORY:
        return {"items": worlds_beside(world).all()}
    memories = sum(len(agent.entries(tier)) for agent in world for tier in DECAYING)
    values = (
        world.name,
        world.about.title,
        len(world.characters()),
        memories,
    )  # the others are not a viewer's business
    return {"items": [Saved(*values, size=0, made_at=None, changed_at=None, branched=None, served=True)]}


def worlds_beside(world: World) -> Worlds:
    """All worlds in the same folder as one.

    Raises:
        NotAllowed: it is open for a viewer.
        Conflict: it is discarded when the program ends.
    """
    return Worlds(world.settings, embedder=None if world.embedder_name else world.embedder)


def prompt_told(world: World, about: Prompt) -> Json:
    """A prompt of a world."""
    fields = {name: getattr(about, name) for name in ("name", "title", "used", "needed", "allowed")}
    return fields | {"text": world.prompts.prompts.text(about.name), "shipped": about.text}


def prices_told(world: World) -> Json:
    """The prices of a world."""
    return {"items": dict(sorted(prices.read(world.folder).items()))}


def findings_told(found: list[Finding]) -> Json:
    """What the doctor says."""
    return {"right": not any(finding.state is State.WRONG for finding in found), "findings": found}


def _fits(world: World, agent: AgentMemory, _form: Form) -> Json:
    found = world.fits(agent.name)
    changes = [change for change in world.changes_of(agent.name) if change.revision in found]
    return {"items": [{**asdict(found[change.revision]), "applied": change} for change in changes]}


class OfInbox(Form):
    """Whether memories are compared with each other."""

    compare: Annotated[bool, Says("Compare all memories for duplicates and contradictions, too.")] = False


_Names = Annotated[list[Name], Says("Of whom; of all characters if nobody is named.", option="--of")]


class AtTime(Form):
    """When."""

    at: Annotated[AwareDatetime | None, Says("At which time of the world, with its zone; now if not given.")] = None


class OfFact(AtTime):
    """What is known or not, when, and who judges."""

    fact: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=MOST_FACT)],
        Says("One sentence that is known or not, such as: Juno has the key."),
    ]
    ask_model: Annotated[bool, Says("Whether the language model judges, where one is set.")] = True


class OfTwo(AtTime):
    """Two characters, a cue, and when."""

    one: Annotated[Name, Says("A character.")]
    other: Annotated[Name, Says("Another one.")]
    cue: Annotated[Text, Says("What both are asked.")]


class OfTwoWorlds(Form):
    """Two worlds."""

    one: Annotated[Name, Says("A world.")]
    other: Annotated[Name, Says("Another one.")]


class OfSome(Form):
    """Of whom."""

    names: _Names = Field(default_factory=list)


class WhoKnows(OfFact):
    """What is known or not, by whom, when, and who judges."""

    names: _Names = Field(default_factory=list)


_of_rehearsals = partial(Read, tag="rehearsals", of_world=True)
"""A read of rehearsals, answered by the world."""


_of_the_world = partial(Read, tag="world", of_agent=False)
"""A read of the world as a whole."""

READS = (
    Read(
        "inbox",
        "What asks for a decision",
        "What asks a person for a decision: what would migrate, is due, unrated or stale, and cues that fail.",
        OfInbox,
        lambda world, agent, form, progress: world.inbox(agent.name, compare=form.compare, progress=progress),
        Inbox,
        "inbox",
        "--compare",
        told=True,
        of_world=True,
        nothing="Nothing is waiting for a decision.",
    ),
    _of_rehearsals(
        "rehearsals",
        "Rehearsals",
        "The rehearsals of a character, the last begun first.",
        Form,
        lambda world, agent, _form: {"items": world.rehearsals(agent.name)},
        items("Rehearsals", "The rehearsals of an agent, the last begun first.", Rehearsal),
        "rehearsals",
    ),
    _of_rehearsals(
        "comparison",
        "Compare a rehearsal",
        "How a rehearsal differs from its original.",
        Form,
        lambda world, agent, _form: world.compare(agent.name),
        Apart,
        "comparison",
        call="compare",
    ),
    _of_rehearsals(
        "fits",
        "What can be kept of a rehearsal",
        "The changes of a rehearsal since it was begun, and which of them the original has or could take.",
        Form,
        _fits,
        items("Fits", "The changes of a rehearsal since it was begun, the newest first.", _FIT),
        "fits",
    ),
    _of_rehearsals(
        "dropped",
        "Dropped rehearsals",
        "The rehearsals of a character that are in the world's bin, the last dropped first.",
        Form,
        lambda world, agent, _form: {"items": world.dropped(agent.name)},
        BINNED,
        "rehearsals/dropped",
    ),
    Read(
        "trail",
        "Who told whom",
        "How a memory came to a character: who told it, who had told them, and so on, back to who knew it first.",
        OfTrail,
        lambda world, agent, form: {"items": world.trail(agent.name, form.memory, form.about)},
        items("Trail", "The character, then who told it, and so on.", Hop),
        "trail",
        "mira-0326-02 --about 'the party'",
        of_world=True,
    ),
    _of_the_world(
        "places",
        "Places",
        "The places of the characters' environments and routines, each with the one that it lies in.",
        Form,
        lambda world, _form: {"items": world.places()},
        items("Places", "The places by name.", Located),
        "places",
    ),
    _of_the_world(
        "whereabouts",
        "Who is where",
        "Where each character is: by what it has just lived, else by its plan or routine, else where it was last.",
        AtTime,
        lambda world, form: {"items": world.whereabouts(at=form.at)},
        items("WhoIsWhere", "Where each character is, in their order.", Whereabouts),
        "whereabouts",
    ),
    _of_the_world(
        "beside",
        "Two side by side",
        "One cue asked of two characters: what each recalls, and which of it the other has too, in its own words.",
        OfTwo,
        lambda world, form: world.beside(form.one, form.other, form.cue, at=form.at),
        Beside,
        "beside",
        "mira tobias 'Who stole the key?'",
    ),
    _of_the_world(
        "bonds",
        "Who trusts whom",
        "Whom each character knows, and how far it trusts them: by its personality, its talks and what it was told.",
        Form,
        lambda world, _form: {"items": world.bonds()},
        items("Bonds", "What each character holds of people, in their order.", Bond),
        "bonds",
    ),
    _of_the_world(
        "chart",
        "A map of memories",
        "Memories on a plane on which near means alike, in clusters with names; the same at every visit.",
        OfSome,
        lambda world, form: world.chart(form.names),
        Chart,
        "chart",
        "--of mira",
    ),
    _of_the_world(
        "facts",
        "What the world knows",
        "The facts that everybody or a group knows, including those not known yet or no longer; by id.",
        Form,
        lambda world, _form: {"items": world.facts()},
        items("Facts", "The facts by id.", Fact),
        "facts",
    ),
    _of_the_world(
        "groups",
        "Groups",
        "The groups of characters to whom facts can be known, by name.",
        Form,
        lambda world, _form: {"items": world.groups()},
        items("Groups", "The groups by name.", Group),
        "groups",
    ),
    _of_the_world(
        "who-knows",
        "Who knows what",
        "Whether each character knows a fact, half knows it, has it wrong or does not know it, and by which memory.",
        WhoKnows,
        lambda world, form, progress: {
            "items": world.who_knows(form.fact, form.names, at=form.at, ask_model=form.ask_model, progress=progress)
        },
        items("WhoKnows", "A cell for each character, in their order.", Cell),
        "who-knows",
        "'Juno stole the mill key.' --of tobias",
        told=True,
    ),
    _of_the_world(
        "spread",
        "How a fact spread",
        "How a fact spread: who had it first, who told whom and when, by which memories, and who does not know it.",
        OfFact,
        lambda world, form, progress: world.spread(form.fact, at=form.at, ask_model=form.ask_model, progress=progress),
        Spread,
        "spread",
        "'Juno stole the mill key.'",
        told=True,
    ),
    _of_the_world(
        "labels",
        "What was said of who knows what",
        "Corrections made by hand of who knows what; they take precedence over any judge.",
        Form,
        lambda world, _form: {"items": world.labels()},
        items("Labels", "The labels by id.", Label),
        "labels",
    ),
    _of_the_world(
        "story-tests",
        "Tests of the story",
        "The tests of the story that are kept with the world, in the order of their file.",
        Form,
        lambda world, _form: {"items": world.story_tests()},
        items("StoryTests", "The tests in the order of their file.", StoryTest),
        "story-tests",
    ),
    _of_the_world(
        "run-tests",
        "Run the tests of the story",
        "The result of each test of the story: whether it holds and, if not, which memory breaks it; no change.",
        Form,
        lambda world, _form, progress: {"items": world.run_tests(progress=progress)},
        items("TestResults", "What became of each test, in their order.", TestResult),
        "story-tests/results",
        told=True,
    ),
    Read(
        "agents",
        "Agents",
        "The world's agents by name, rehearsals included.",
        Some,
        _agents,
        pages("Agents", "A page of the world's agents, by name.", _AGENT),
        "agents",
        tag="agents",
        of_agent=False,
        command="agents",
        tool="agents",
    ),
    Read(
        "bin",
        "Deleted agents",
        "The agents in the world's bin.",
        Form,
        lambda world, _form: {"items": world.deleted_agents()},
        BINNED,
        "bin",
        tag="agents",
        of_agent=False,
        call="deleted_agents",
    ),
    _of_the_world(
        "prompts",
        "Prompts",
        "Every prompt, as it is here and as it ships. Memories are never part of one; they follow as data.",
        Form,
        lambda world, _form: {"items": [prompt_told(world, prompt) for prompt in PROMPTS.values()]},
        items("PromptsTold", "Every prompt of the world.", PROMPT),
        "prompts",
        call="prompt_texts",
    ),
    Read(
        "prices",
        "Prices",
        "What the world's language models cost; a model that is not listed costs nothing.",
        Form,
        lambda world, _form: prices_told(world),
        PRICES,
        "prices",
        tag="rate and plan",
        of_agent=False,
    ),
    Read(
        "rerating",
        "Rating in the background",
        "The state of rating in the background.",
        Form,
        lambda world, _form: world.rerater.state,
        Rerating,
        "rerating",
        tag="rate and plan",
        of_agent=False,
    ),
    _of_the_world(
        "worlds",
        "Worlds",
        "The worlds in the folder of all worlds, of which one is in use; a viewer sees only that one.",
        Form,
        _worlds,
        items("Worlds", "The worlds in the folder of all worlds, by name.", Saved),
        "worlds",
        command="worlds",
    ),
    _of_the_world(
        "worlds-bin",
        "Deleted worlds",
        "The worlds in the bin beside the worlds, the last deleted first.",
        Form,
        lambda world, _form: {"items": worlds_beside(world).deleted()},
        items("BinnedWorlds", "The worlds in the bin, the last deleted first.", Binned),
        "worlds-bin",
        command="worlds",
        call="deleted_worlds",
    ),
    _of_the_world(
        "worlds-compared",
        "Compare two worlds",
        "Which characters only one of two worlds has, and of those in both what differs: memories and texts.",
        OfTwoWorlds,
        lambda world, form: worlds_beside(world).compare(form.one, form.other),
        WorldsCompared,
        "worlds-compared",
        command="worlds",
        call="compare_worlds",
    ),
    Read(
        "doctor",
        "The doctor's report",
        "Check every agent of the world; nothing is changed.",
        Form,
        lambda world, _form, progress: findings_told(doctor.examine(world, progress=progress)),
        FINDINGS,
        "doctor",
        tag="keeping",
        told=True,
        of_agent=False,
        command="doctor",
        call="examine",
    ),
    _of_the_world(
        "due",
        "What happens by itself",
        "What the characters would do by themselves until a time of the world, in order, and why; nothing is changed.",
        Until,
        lambda world, form: world.due(form.to),
        Advanced,
        "due",
        "--to 2026-03-28T08:00:00+00:00",
        nothing="Nothing happens by itself until then.",
    ),
    _of_the_world(
        "world",
        "The world",
        "This server's world: what it is about, and its clock.",
        Form,
        lambda world, _form: world_told(world),
        WORLD,
        "world",
        call="about",
    ),
)
