"""``python -m memory_system evaluate``: from files to a table on the standard output, with progress beside it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..command.answering import errors_told
from ..command.arguments import Json
from ..command.progress import STOPPED
from ..embedding import Embedder, MiniLM
from ..settings import Settings
from .ranker import SCORINGS, checked
from .report import Section, as_json, as_markdown, as_text, sections
from .sources import data_sets
from .trial import Say, run


def evaluate(
    data: Annotated[list[Path], typer.Argument(help="Files of questions and memories, or folders of them.")],
    preset: Annotated[
        list[str] | None, typer.Option(help=f"A preset to try; all if none is named: {', '.join(SCORINGS)}.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions of each data set.")] = None,
    captions: Annotated[bool, typer.Option(help="Whether captions of pictures are part of LoCoMo memories.")] = False,
    json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Measure how much of what should be recalled is recalled. Example: python -m memory_system evaluate cues.jsonl.

    Reads LoCoMo conversations, Smallville memory streams, and JSON lines of memories {"id", "document", ...} and cues
    {"cue", "right"} with the ids of the right memories. Nothing is written but the table.
    """
    if json and markdown:
        raise typer.BadParameter("choose --json or --markdown, not both")
    progress = _Progress()
    try:
        with errors_told(json=json):
            embedder = MiniLM(Settings().cache, say=progress.say)
            found = outcome(data, preset or (), embedder, progress.say, limit=limit, captions=captions)
    except typer.Exit as done:
        progress.end()
        if done.exit_code == STOPPED:
            typer.echo("There is no table, because not everything was asked.", err=True)
        raise
    finally:
        progress.end()
    if json:
        typer.echo(as_json(found, embedder.identity), nl=False)
    else:
        typer.echo(as_markdown(found) if markdown else as_text(found), nl=False)


def outcome(
    data: Sequence[Path],
    presets: Sequence[str],
    embedder: Embedder,
    say: Say,
    *,
    limit: int | None = None,
    captions: bool = False,
) -> list[Section]:
    """The whole evaluation: everything is read and checked before the first text is embedded.

    Raises:
        InvalidFile: a path holds no data, or a file is not as it should be.
        InvalidParameter: there is no such preset.
        EmbedderError: texts could not be embedded.
    """
    chosen = checked(presets)
    sets = [one.first(limit) for one in data_sets(data, captions=captions)]
    return sections([run(one, chosen, embedder, say) for one in sets])


class _Progress:
    """Lines of progress on the standard error: one that is overwritten on a terminal, else one after another."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._held = False

    def say(self, line: str) -> None:
        typer.echo(f"\r\x1b[K{line}" if self._live else line, err=True, nl=not self._live)
        self._held = self._live

    def end(self) -> None:
        """Wipe the line that stands there still."""
        if self._held:
            typer.echo("\r\x1b[K", err=True, nl=False)
        self._held = False
