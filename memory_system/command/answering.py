"""How a command begins and ends: its world opened, its errors told in a sentence or as JSON, its exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from pydantic import ValidationError

from ..agent import AgentMemory
from ..authors import COMMAND_LINE
from ..errors import ExtraMissing, InvalidParameter, MemorySystemError
from ..settings import Settings, explained
from ..world import World
from .progress import STOPPED
from .terminal import json_of, say

FAILED = 1
"""The exit code where something was refused or failed, or what was looked at is wrong."""
NOT_POSSIBLE = 2
"""The exit code of a command line that is wrong, or whose packages are not installed."""


@contextmanager
def errors_told(*, json: bool = False) -> Iterator[None]:
    """Within it an error on purpose, or Ctrl+C, ends the command with a sentence on stderr.

    Args:
        json: whether an error is told as JSON.

    Raises:
        typer.Exit: the exit code: 1 for an error on purpose, 2 for packages that are missing, 130 for Ctrl+C.
    """
    try:
        yield
    except MemorySystemError as error:
        _tell(error, json=json)
        raise typer.Exit(exit_code(error)) from error
    except ValidationError as error:  # of the settings: everything else is checked where it comes in
        _tell(InvalidParameter(explained(error)), json=json)
        raise typer.Exit(FAILED) from error
    except KeyboardInterrupt:
        say("Stopped.", err=True)
        raise typer.Exit(STOPPED) from None


@contextmanager
def the_world(*, json: bool = False, name: str | None = None) -> Iterator[World]:
    """The world that the environment names, or another of this name, for one command.

    Args:
        json: whether an error is told as JSON, too. Either way it goes to stderr.
        name: of another world.

    Raises:
        typer.Exit: the exit code; see ``errors_told``.
    """
    with errors_told(json=json):
        settings = Settings() if name is None else Settings().model_copy(update={"world": name})
        with World(settings, author=COMMAND_LINE) as world:
            yield world


def exit_code(error: MemorySystemError) -> int:
    """With what a command ends that met this error."""
    return NOT_POSSIBLE if isinstance(error, ExtraMissing) else FAILED


def _tell(error: MemorySystemError, *, json: bool) -> None:
    if json:
        told = {"error": {"code": error.code, "status": error.status, "sentence": error.sentence}}
        typer.echo(json_of(told, indent=None), err=True)
    else:
        say(error.sentence, err=True)


def opened(world: World, name: str) -> AgentMemory:
    """An agent; what was found when it was opened is told on stderr.

    Raises:
        InvalidAgentName, AgentNotFound, StoreError: it cannot be opened.
    """
    agent = world.agent(name)
    for message in dict.fromkeys((*agent.messages, agent.personality_problem, agent.read_only)):
        if message:
            say(f"Note on {name}: {message}", err=True)
    return agent
