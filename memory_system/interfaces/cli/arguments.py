"""What commands have in common: their arguments and options, the world they open, and how they report errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from math import ceil, isfinite, nan
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from ...agent import AgentMemory
from ...core.authors import COMMAND_LINE
from ...core.kinds import Kind, Source
from ...core.names import checked_name
from ...core.presets import PRESETS
from ...core.settings import DEFAULT_WORLD, MEMORY, Settings
from ...core.times import parse_time
from ...embedding import EMBEDDERS
from ...errors import ExtraMissing, MemorySystemError, WorldNotFound, there_is_no
from ...maintenance import Worlds
from ...store.server_notice import server_of
from ...world.folders import agent_names
from ...world.world import World
from .progress import STOPPED
from .terminal import json_of, say


def moment(text: str | datetime) -> datetime:
    """A time with its zone, as given to options.

    Raises:
        typer.BadParameter: it is not a time.
    """
    try:
        return parse_time(text)
    except ValueError as error:
        raise typer.BadParameter(f"The time {error}.") from error


def between(
    least: float | None, most: float | None = None, *, whole: bool = False, metavar: str = "NUMBER"
) -> dict[str, Any]:
    """The typer settings of a number with a minimum or maximum, or both, which typer enforces with its own message."""
    minimum = least
    if least is not None and least != round(least, 4):  # a minute is 0.000694… days
        minimum = ceil(least * 10_000) / 10_000
    ends = {"min": minimum, "max": most}
    bounds = {name: end for name, end in ends.items() if end is not None}
    kind: type[int | float] = int if whole else float
    words = f"It must be a {'whole ' if whole else ''}number"
    if minimum is not None and most is not None:
        words += f" from {minimum:,} to {most:,}"
    elif minimum is not None:
        words += f" of {minimum:,} or more"
    elif most is not None:
        words += f" up to {most:,}"

    def parser(text: Any) -> float:
        try:
            number = kind(text)
            fits = isfinite(number)
        except (ValueError, OverflowError):
            number, fits = nan, False
        if fits and (least is None or number >= least) and (most is None or number <= most):
            return number
        raise typer.BadParameter(f"{words}.")

    return {**bounds, "parser": parser, "metavar": metavar}


def names(incomplete: str) -> list[str]:
    """The agents whose names begin like this, for the shell; nothing is opened, and errors are not reported."""
    try:
        return [name for name in agent_names(Settings()) if name.startswith(incomplete)]
    except (MemorySystemError, OSError, ValueError):
        return []  # no message can be shown between two presses of the tab key


def presets(incomplete: str) -> list[str]:
    """The presets whose names begin like this, for the shell."""
    return [name for name in PRESETS if name.startswith(incomplete)]


def preset(name: str) -> str:
    """The name of a preset.

    Raises:
        typer.BadParameter: there is no preset of this name.
    """
    if name not in PRESETS:
        raise typer.BadParameter(there_is_no("preset", name, PRESETS))
    return name


def embedders(incomplete: str) -> list[str]:
    """The embedders whose names begin like this, for the shell."""
    return [name for name in EMBEDDERS.names() if name.startswith(incomplete)]


def settings_of(embedder: str | None = None, **told: object) -> Settings:
    """The environment's settings, except an embedder and others that are given.

    Raises:
        InvalidParameter: one of them is wrong.
    """
    named: dict[str, Any] = {name: value for name, value in {"embedder": embedder, **told}.items() if value}
    return Settings(**named)


Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--origin",
        metavar="ORIGIN",
        help="A server whose pages may call the API, too, such as https://game.example; may be given several times.",
    ),
]
_TIME = "TIME"
_LIKE = "like 2026-03-27T18:00:00+00:00"

Agent = Annotated[str, typer.Argument(metavar="AGENT", help="Whose memory.", autocompletion=names)]
Cue = Annotated[str, typer.Argument(metavar="CUE", help="What memory is asked.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done; nothing is changed.")]
Now = Annotated[
    datetime | None,
    typer.Option(parser=moment, metavar=_TIME, help=f"The world's time, {_LIKE}; its clock if not given."),
]
Since = Annotated[datetime | None, typer.Option(parser=moment, metavar=_TIME, help="Only what happened then or later.")]
Until = Annotated[datetime | None, typer.Option(parser=moment, metavar=_TIME, help="Only what happened before.")]
Limit = Annotated[int, typer.Option(help="The most to show; 0 = all.", **between(0, 10_000, whole=True))]
TopK = Annotated[
    int | None,
    typer.Option(help="Most memories to recall; by default the agent's setting.", **between(0, 10_000, whole=True)),
]
Threshold = Annotated[
    float | None, typer.Option(help="The score to exceed; by default the agent's setting.", **between(0, 30))
]
StaticThreshold = Annotated[
    float | None,
    typer.Option(help="The score that static memory has to exceed; by default the agent's setting.", **between(0, 1)),
]
PresetName = Annotated[
    str | None,
    typer.Option(
        "--preset",
        parser=preset,
        metavar="NAME",
        autocompletion=presets,
        help=f"A way of scoring with its thresholds: {', '.join(PRESETS)}.",
    ),
]
Kinds = Annotated[list[Kind] | None, typer.Option("--kind", help="Only memories of this kind; may be repeated.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only memories with this tag; may be repeated.")]
Sources = Annotated[
    list[Source] | None, typer.Option("--source", help="Only what became known in this way; may be repeated.")
]
People = Annotated[list[str] | None, typer.Option("--person", help="Only memories of this person; may be repeated.")]
Places = Annotated[list[str] | None, typer.Option("--place", help="Only what happened at this place; may be repeated.")]
Contains = Annotated[str, typer.Option(help="Only memories with these words, in any case.")]
Requery = Annotated[
    int, typer.Option(help="How many of the best hits become cues of a second round.", **between(0, 20, whole=True))
]
Instances = Annotated[
    list[str] | None,
    typer.Option(
        "--instance", help="Something the cue stands for, such as kayaking, which is asked as well; may be repeated."
    ),
]
Expand = Annotated[
    int,
    typer.Option(help="How many instances of the cue the language model is asked for.", **between(0, 20, whole=True)),
]
Addressed = Annotated[
    bool,
    typer.Option(
        "--addressed",
        help="Somebody says the cue to the character: “you” is then the character, and “I” is not.",
    ),
]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        autocompletion=embedders,
        help="What makes the vectors, as MEMORY_EMBEDDER names it: minilm, or one that a package brings.",
    ),
]
NoRate = Annotated[bool, typer.Option("--no-rate", help="Do not ask the language model how poignant it is.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for the model's rating, even where the agent rates later.")]
KeepHeld = Annotated[
    bool, typer.Option("--keep-held", help="Skip ids that exist already; otherwise they are overwritten.")
]

FAILED = 1
"""The exit code if something was refused or failed, or a check found something wrong."""
NOT_POSSIBLE = 2
"""The exit code of a command line that is wrong, or whose packages are not installed."""
_MOST_NAMED = 20


@contextmanager
def errors_told(*, json: bool = False) -> Iterator[None]:
    """Within the block, an expected error, or Ctrl+C, ends the command with a sentence on stderr.

    Args:
        json: whether an error is printed as JSON.

    Raises:
        typer.Exit: the exit code: 1 for an expected error, 2 for packages that are missing, 130 for Ctrl+C.
    """
    try:
        yield
    except MemorySystemError as error:
        _tell(error, json=json)
        raise typer.Exit(exit_code(error)) from error
    except KeyboardInterrupt:
        say("Stopped.", err=True)
        raise typer.Exit(STOPPED) from None


@contextmanager
def the_world(
    *, json: bool = False, name: str | None = None, embedder: str | None = None, begins: bool = False
) -> Iterator[World]:
    """The world that the environment or ``name`` names, for one command.

    Args:
        json: whether an error is also printed as JSON. Either way it goes to stderr.
        name: the name of another world.
        embedder: the name of another embedder.
        begins: whether the command may begin a world that is not there yet.

    Raises:
        typer.Exit: the exit code; see ``errors_told``.
    """
    with errors_told(json=json):
        settings = settings_of(embedder)
        if name is not None:
            settings = settings.model_copy(update={"world": name})
        if not begins and (missing := no_world_yet(settings)):
            begin = f"python -m memory_system worlds create {quote(settings.world)}"
            raise WorldNotFound(f"{missing} To begin it: {begin}")
        with World(settings, author=COMMAND_LINE) as world:
            yield world


def no_world_yet(settings: Settings) -> str:
    """A sentence that no world has the chosen name, with those that exist; empty if it exists.

    The default world never counts as missing: it is created automatically.

    Raises:
        InvalidAgentName: the name cannot be used.
        StoreError: its folder cannot be read.
    """
    if settings.store == MEMORY or settings.world == DEFAULT_WORLD or (worlds := Worlds(settings)).begun():
        return ""
    others = [name for name in worlds.names() if name != worlds.used]
    there = f"there {'is' if len(others) == 1 else 'are'} {', '.join(others[:_MOST_NAMED]) or 'none'}"
    more = f" and {len(others) - _MOST_NAMED:,} more" if len(others) > _MOST_NAMED else ""
    return f"There is no world {settings.world!r} in {worlds.folder}; {there}{more}."


def served_already(settings: Settings) -> str:
    """A sentence that a server in another process serves the world, and where; empty if none does.

    Raises:
        InvalidAgentName: the world's name cannot be used.
    """
    at = server_of(Path(settings.database) / checked_name(settings.world, "world name"))
    return f"The world {settings.world!r} is served already, at {at}. Both may be used." if at else ""


def exit_code(error: MemorySystemError) -> int:
    """The exit code of a command that ends with this error."""
    return NOT_POSSIBLE if isinstance(error, ExtraMissing) else FAILED


def _tell(error: MemorySystemError, *, json: bool) -> None:
    if json:
        problem = {"error": {"code": error.code, "status": error.status, "sentence": error.sentence}}
        typer.echo(json_of(problem, indent=None), err=True)
    else:
        say(error.sentence, err=True)


def opened(world: World, name: str) -> AgentMemory:
    """An agent; what was found when it was opened is printed to stderr.

    Raises:
        InvalidAgentName, AgentNotFound, StoreError: it cannot be opened.
    """
    agent = world.agent(name)
    for message in dict.fromkeys((*agent.messages, agent.personality_problem, agent.read_only)):
        if message:
            say(f"Note on {name}: {message}", err=True)
    return agent
