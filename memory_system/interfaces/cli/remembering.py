"""``add`` and ``import``: one event from the command line, or many from a file or a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from io import BytesIO
from json import loads
from pathlib import Path
from typing import Annotated, Any
from zipfile import ZipFile

import typer

from ...agent import AgentMemory
from ...core.entry import MemoryEntry
from ...core.files import below, read_at_most
from ...core.kinds import Kind, Source
from ...errors import InvalidFile, Problem
from ...maintenance import export
from ...operations.importing.dates import Order
from ...operations.importing.events import MAX_FILE, Added
from ...operations.importing.forms import FOLDER_FILES, MEMORIES
from ...operations.importing.text import IMPORTERS, Reading, Row, decoded, guess, read_text
from ...operations.importing.turns import spoken as turns_of
from ..serialize import plain
from . import shapes
from .arguments import FAILED, Agent, DryRun, Json, KeepHeld, NoRate, Now, Wait, between, moment, opened, the_world
from .progress import quiet_progress
from .terminal import NOT_CHANGED, one_line, say, show_changes, show_json, taken_back

STDIN = "-"
_MOST_TOLD = 20


class Event(StrEnum):
    """The kinds of events; the other kinds are made by their operations."""

    OBSERVATION = Kind.OBSERVATION.value
    CONVERSATION = Kind.CONVERSATION.value
    FACT = Kind.FACT.value
    PROCEDURE = Kind.PROCEDURE.value


def add(
    agent: Agent,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What happened; - reads it from a pipe.")],
    rating: Annotated[
        float | None, typer.Option(help="How poignant; by default the model rates it.", **between(1, 10))
    ] = None,
    at: Annotated[
        datetime | None,
        typer.Option("--time", parser=moment, metavar="TIME", help="When; the world's time if not given."),
    ] = None,
    kind: Annotated[Event, typer.Option(help="What it is.")] = Event.OBSERVATION,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="A word to find it by; may be repeated.")] = None,
    entry_id: Annotated[str | None, typer.Option("--id", help="Its id; a random one if not given.")] = None,
    source: Annotated[Source | None, typer.Option(help="How the character came to know of it.")] = None,
    people: Annotated[
        list[str] | None, typer.Option("--person", help="Whom it is about; if it was told, the teller comes first.")
    ] = None,
    place: Annotated[str, typer.Option(help="Where it happened.")] = "",
    pinned: Annotated[bool, typer.Option("--pinned", help="It is never forgotten or moved.")] = False,
    no_rate: NoRate = False,
    wait: Wait = False,
    keep_held: KeepHeld = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Remember an event in short-term memory, rated on arrival.

    Example: python -m memory_system add mira 'Saw smoke over the north field' --tag fire
    """
    with the_world(json=json) as world:
        character = opened(world, agent)
        document = piped(text)
        event: dict[str, Any] = {"document": document, "kind": kind.value, "tags": tags or [], "pinned": pinned}
        event |= {"people": people or [], "place": place}
        options = {"rating": rating, "timestamp": at, "id": entry_id, "source": source}
        event |= {name: value for name, value in options.items() if value is not None}
        added = _added(character, [event], rate=not no_rate, wait=wait, keep_held=keep_held, dry_run=dry_run)
        _show(agent, added, (), json=json, dry_run=dry_run)


def happened(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What happened; - reads it from a pipe.")],
    at: Annotated[str, typer.Option(metavar="PLACE", help="Where; if nobody is named, everyone there saw it.")] = "",
    seen_by: Annotated[
        list[str] | None, typer.Option("--seen-by", metavar="AGENT", help="Who saw it; may be repeated.")
    ] = None,
    heard_by: Annotated[
        list[str] | None, typer.Option("--heard-by", metavar="AGENT", help="Who heard it; may be repeated.")
    ] = None,
    told: Annotated[
        list[str] | None,
        typer.Option("--told", metavar="AGENT=WHO", help="Who was told of it, and by whom; may be repeated."),
    ] = None,
    now: Now = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Let those who know of an event remember it, each in its own words and with its own rating.

    Example: python -m memory_system happened 'The mill burned down' --at Quay --seen-by tobias --told mira=Tobias
    """
    with the_world(json=json) as world:
        if not (at.strip() or seen_by or heard_by or told):
            raise typer.BadParameter("say who knows of it (--seen-by, --heard-by, --told), or where it happened (--at)")
        tellers = {name: teller for name, _, teller in (pair.partition("=") for pair in told or ())}
        done = world.happened(
            piped(text), at=at, seen_by=seen_by or (), heard_by=heard_by or (), told=tellers, now=now, preview=dry_run
        )
        if json:
            show_json(plain(done))
            return
        for knower in done.known:
            say(f"{knower.agent} ({knower.source}): {one_line(knower.entry.document, 300)}")
            if knower.note:
                say(one_line(knower.note, 300), err=True)
        if done.note:
            say(f"{done.note} --seen-by names who saw it.")
        elif dry_run:
            say(NOT_CHANGED)


def _forms(incomplete: str) -> list[str]:
    """The forms whose names begin like this, for the shell."""
    return [name for name in IMPORTERS.names() if name.startswith(incomplete)]


def import_(
    agent: Agent,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="JSON, JSON lines, CSV or lines of text; - reads from a pipe.")
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="FORM",
            autocompletion=_forms,
            help="How it is written: lines, json, jsonl, csv, or as a package reads it; guessed if not given.",
        ),
    ] = None,
    dates: Annotated[
        Order | None,
        typer.Option(help="How to read dates such as 03/04/2026; by the other dates, or the day first, if not given."),
    ] = None,
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="Import the good lines of a file with bad ones; otherwise none is imported."),
    ] = False,
    no_rate: NoRate = False,
    wait: Wait = False,
    keep_held: KeepHeld = False,
    now: Now = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Remember many events from a file, or what export made; all of it, or nothing if a line is wrong.

    Example: python -m memory_system import mira events.csv --dry-run
    """
    with the_world(json=json) as world:
        character = opened(world, agent)
        name = "the pipe" if file == STDIN else Path(file).name
        text = decoded(_piped() if file == STDIN else _read(Path(file)), name)
        whole = form is None and export.is_export(text)
        moment_of_all = character.now if now is None else now
        reading = (
            Reading(export.read_rows(text))
            if whole
            else read_text(text, form or guess(text, name), moment_of_all, order=dates)
        )
        rows = reading.rows
        for note in reading.notes:
            say(one_line(note, 300), err=True)
        bad = [row for row in rows if row.entry is None]
        if bad and not skip_bad:
            _refuse(agent, bad, len(rows), json=json, way=" --skip-bad imports the others.")
        entries = [row.entry for row in rows if row.entry is not None]
        if whole:
            added = export.take_in(character, entries, overwrite=not keep_held, preview=dry_run)
        else:
            added = _added(
                character, entries, rate=not no_rate, wait=wait, keep_held=keep_held, dry_run=dry_run, now=now
            )
        _show(agent, added, bad, json=json, dry_run=dry_run)


def lines_of(agent: str, file: str, now: datetime, *, json: bool) -> list[MemoryEntry]:
    """The events in a file or a pipe, in a guessed form; all of them, or none if a line is wrong."""
    text = read_text_file(file)
    reading = read_text(text, guess(text, "" if file == STDIN else Path(file).name), now)
    for note in reading.notes:
        say(one_line(note, 300), err=True)
    bad = [row for row in reading.rows if row.entry is None]
    if bad:
        _refuse(agent, bad, len(reading.rows), json=json)
    return [row.entry for row in reading.rows if row.entry is not None]


def _added(
    character: AgentMemory,
    events: Sequence[MemoryEntry | dict[str, Any]],
    *,
    rate: bool,
    wait: bool,
    keep_held: bool,
    dry_run: bool,
    now: datetime | None = None,
) -> Added:
    with quiet_progress() as progress:
        return character.add_short_term(
            events,
            rate=rate,
            wait=wait or None,
            overwrite_existing=not keep_held,
            now=now,
            preview=dry_run,
            progress=progress,
        )


def _show(agent: str, added: Added, bad: Sequence[Row], *, json: bool, dry_run: bool) -> None:
    if json:
        outcomes = [
            {"id": outcome.id, "action": outcome.action, "rating": outcome.entry.rating, "why": outcome.why}
            for outcome in added.outcomes
        ]
        done = shapes.change_set(agent, added.change_set)
        show_json({"agent": agent, "outcomes": outcomes, "refused": _refused(bad), "change_set": done})
        return
    for row in bad[:_MOST_TOLD]:
        say(_wrong(row), err=True)
    if len(bad) > _MOST_TOLD:
        say(f"... and {len(bad) - _MOST_TOLD:,} more", err=True)
    if added.change_set:
        show_changes(added.change_set)
    skipped = [outcome for outcome in added.outcomes if outcome.action == "skipped"]
    for outcome in skipped[:_MOST_TOLD]:
        say(f"Skipped {one_line(outcome.id)}: {outcome.why}")
    counts = {
        action: sum(outcome.action == action for outcome in added.outcomes) for action in ("added", "overwritten")
    }
    ending = ", ".join(f"{count:,} {action}" for action, count in counts.items() if count) or "nothing added"
    ending += f", {len(skipped):,} skipped" if skipped else ""
    ending += f", {len(bad):,} line{'s' if len(bad) != 1 else ''} refused" if bad else ""
    say(f"{ending[0].upper()}{ending[1:]}.")
    if added.change_set:
        say(NOT_CHANGED if dry_run else taken_back(agent, added.change_set))


def _refuse(agent: str, bad: Sequence[Row], of: int, *, json: bool, way: str = "") -> None:
    """Report every line that is wrong, and end.

    Raises:
        typer.Exit: always.
    """
    if json:
        show_json({"agent": agent, "outcomes": [], "refused": _refused(bad), "change_set": None})
    else:
        for row in bad[:_MOST_TOLD]:
            say(_wrong(row), err=True)
    say(f"{len(bad):,} of {of:,} are refused, so nothing was changed.{way}", err=True)
    raise typer.Exit(FAILED)


def _wrong(row: Row) -> str:
    return f"line {row.line}: {one_line(row.problem or '', 300)}  “{one_line(row.text, 60)}”"


def _refused(bad: Sequence[Row]) -> list[dict[str, Any]]:
    return [{"line": row.line, "problem": row.problem, "text": row.text} for row in bad]


def piped(text: str) -> str:
    """A text as given, or the content of the pipe if it is ``-``."""
    return decoded(_piped(), "the pipe").strip() if text == STDIN else text


def read_text_file(file: str) -> str:
    """The text of a file, or of a pipe if it is ``-``.

    Raises:
        InvalidFile: it cannot be read.
    """
    return decoded(_piped(), "the pipe") if file == STDIN else decoded(_read(Path(file)), Path(file).name)


def whole_file(file: str) -> bytes:
    """The bytes of a file, or of a pipe if it is ``-``; a folder with a persona as an archive.

    Raises:
        InvalidFile: it cannot be read.
    """
    if file == STDIN:
        return _piped()
    return _packed(Path(file)) if Path(file).is_dir() else _read(Path(file))


def _packed(folder: Path) -> bytes:
    """The files of a persona, or of an exported character, from a folder, as an archive; other files are left out."""
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for path in _below(folder):
            remembered = path.suffix == ".md" and path.parent.name == MEMORIES
            if (path.name in FOLDER_FILES or remembered) and not path.is_symlink():
                archive.writestr(path.relative_to(folder).as_posix(), _read(path))
    return buffer.getvalue()


def spoken(file: str) -> list[dict[str, Any]]:
    """The turns of a conversation in a file or a pipe: JSON, JSON lines, or lines ``Name: what is said``.

    Raises:
        InvalidFile, InvalidEntry: it cannot be read like this.
    """
    name, text = Path(file).name, read_text_file(file)
    if text.lstrip().startswith(("[", "{")):
        try:
            whole = text.lstrip().startswith("[")
            turns = loads(text) if whole else [loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError) as error:
            raise InvalidFile((Problem("", f"it is not valid JSON: {error}"),), name) from error
        return [dict(turn) if isinstance(turn, dict) else {"text": turn} for turn in turns]
    return [{"speaker": speaker, "text": said} for speaker, said in turns_of(text)]


def _piped() -> bytes:
    return typer.get_binary_stream("stdin").read(MAX_FILE + 1)


def _below(folder: Path) -> list[Path]:
    try:
        return below(folder)
    except OSError as error:
        raise _unreadable(Path(error.filename or folder), error) from error


def _unreadable(path: Path, error: OSError) -> InvalidFile:
    return InvalidFile((Problem("", f"it cannot be read: {error.strerror or error}"),), str(path)[:200])


def _read(path: Path) -> bytes:
    try:
        return read_at_most(path, MAX_FILE + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:
        raise InvalidFile((Problem("", f"it is not the path of a file: {error}"),), "the command line") from error
