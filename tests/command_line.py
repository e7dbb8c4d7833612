"""Commands run within this process, on the world of a test, as ``python -m memory_system`` runs them."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import typer.testing
from typer.main import get_command
from typer.testing import CliRunner

from memory_system import World
from memory_system.__main__ import app

typer.testing._get_command = cache(get_command)  # a runner would remake all commands for each run
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]  # it is a group of them


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """What it printed as JSON."""
        return json.loads(self.out)


class CommandLine:
    """Runs commands on a world."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MEMORY_DATABASE", str(world.settings.database))
        monkeypatch.setenv("MEMORY_PERSONALITIES", str(world.settings.personalities))
        monkeypatch.setenv("MEMORY_LLM", "offline")

    def __call__(self, *arguments: str, given: str | bytes | None = None) -> Ran:
        """Run one; an error that the command itself does not report is raised in the test."""
        done = CliRunner().invoke(app, list(arguments), input=given)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Ran(done.exit_code, done.stdout, done.stderr)


def examples() -> dict[str, list[str]]:
    """The example in each command's help, as its words after ``python -m memory_system``."""
    found = {}
    for name, command in COMMANDS.items():
        example = re.search(r"Example: python -m memory_system (.+)", command.help or "")
        found[name] = shlex.split(example[1].removesuffix(".")) if example else []
    return found
