"""What commands have in common on their command lines: names, times, dry runs, JSON; and what a shell completes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from ..errors import MemorySystemError
from ..kinds import Kind
from ..presets import PRESETS
from ..settings import Settings
from ..times import parse_time
from ..world import agent_names


def moment(text: str | datetime) -> datetime:
    """A time with its zone, as options take it.

    Raises:
        typer.BadParameter: it is none.
    """
    try:
        return parse_time(text)
    except ValueError as error:
        raise typer.BadParameter(f"The time {error}.") from error


def names(incomplete: str) -> list[str]:
    """The agents whose names begin so, for the shell; nothing is opened, and nothing is said if something is wrong."""
    try:
        return [name for name in agent_names(Settings()) if name.startswith(incomplete)]
    except (MemorySystemError, OSError, ValueError):
        return []  # between two presses of the tab key is no place for a message


def presets(incomplete: str) -> list[str]:
    """The presets whose names begin so, for the shell."""
    return [name for name in PRESETS if name.startswith(incomplete)]


def preset(name: str) -> str:
    """The name of a preset.

    Raises:
        typer.BadParameter: there is none of this name.
    """
    if name not in PRESETS:
        raise typer.BadParameter(f"There is no preset {name!r:.60}; there are {', '.join(PRESETS)}.")
    return name


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
Limit = Annotated[int, typer.Option(min=0, max=10_000, help="How many are shown at most; 0 = all.")]
TopK = Annotated[int | None, typer.Option(min=0, max=10_000, help="Most memories to recall; the agent's setting.")]
Threshold = Annotated[float | None, typer.Option(min=0, max=30, help="The score to exceed; the agent's setting.")]
StaticThreshold = Annotated[
    float | None, typer.Option(min=0, max=1, help="The score that static memory has to exceed; the agent's setting.")
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
Contains = Annotated[str, typer.Option(help="Only memories with these words, in any case.")]
Requery = Annotated[int, typer.Option(min=0, max=20, help="How many of the best become cues of a second round.")]
NoRate = Annotated[bool, typer.Option("--no-rate", help="Do not ask the language model how poignant it is.")]
KeepHeld = Annotated[bool, typer.Option("--keep-held", help="Skip an id that is held; it is overwritten otherwise.")]
