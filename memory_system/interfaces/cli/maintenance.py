"""``backup``, ``restore``, ``export``, ``use-embedder``, ``reembed``: a world in a file and back, and its vectors."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ...agent import AgentMemory
from ...core.authors import COMMAND_LINE
from ...core.change_set import counted, so_many
from ...core.entry import LIVED
from ...core.files import as_store_errors
from ...core.findings import Finding, State
from ...core.times import stamp
from ...errors import AlreadyExists, InvalidParameter, MemorySystemError
from ...maintenance import backup as backups
from ...maintenance import backup_reading
from ...maintenance import export as exporting
from ...maintenance.backup_manifest import Manifest
from ...maintenance.doctor import examine
from ...maintenance.restore import Restored, put_back
from ...maintenance.restore import restore as restored_from
from ...operations.exporting import DESCRIBED, Form, form_of
from ...operations.reembed import Reembedded
from ...world import swap
from ...world.world import World
from .arguments import FAILED, DryRun, EmbedderName, Json, embedders, errors_told, the_world
from .progress import STOPPED, ProgressLine, stopped_by_ctrl_c
from .terminal import json_of, safe_json, say, seen, show_json


def backup(
    file: Annotated[Path | None, typer.Argument(help="The file to make; in the backup folder if not given.")] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Copy the whole world into one file, while it is in use. Example: python -m memory_system backup harrow.zip."""
    with the_world(json=json) as world, stopped_by_ctrl_c() as cancelled:
        if dry_run:
            names = world.stored()
            if json:
                show_json({"made": False, "file": None, "size": None, **_nothing_yet(world, names)})
            else:
                say(f"{counted(len(names), 'agent')} of the world {world.name!r} would be copied. No file was made.")
            return
        made = backups.make(world, file, progress=ProgressLine(), cancelled=cancelled)
    if made is None:
        typer.echo("Stopped; no file was made.", err=True)
        raise typer.Exit(STOPPED)
    if json:
        show_json({"made": True, "file": str(made.path), "size": made.size, **_plain(made.manifest)})
        return
    typer.echo(as_text(made.manifest))
    typer.echo(f"Made and read back: {made.path} ({made.size / 1e6:.1f} MB)")
    typer.echo(f"Back to it: {_restoring(made.path)}")


def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A backup, or the folder of a world set aside.")],
    name: Annotated[str | None, typer.Option("--as", help="A new world's name; the present one stays.")] = None,
    look: Annotated[
        bool, typer.Option("--look", "--dry-run", help="Only say what it contains and whether it is intact.")
    ] = False,
    json: Json = False,
) -> None:
    """Replace the world by a backup; the world is set aside. Example: python -m memory_system restore harrow.zip.

    The backup is checked before anything is changed. To bring back what was set aside, name its folder as FILE.
    """
    if look:
        with errors_told(json=json):
            manifest = backup_reading.check(source)
        nowhere = dict.fromkeys(("world", "folder", "aside"))
        body: dict[str, Any] = {"restored": False, **nowhere, "backup": _plain(manifest), "findings": []}
        _tell(body, f"{as_text(manifest)}\nIt is intact.", json=json)
        return
    with the_world(json=json, name=name, begins=True) as world:
        if source.is_dir():
            _put_back(world, source, name, json=json)
            return
        with stopped_by_ctrl_c() as cancelled:
            done = restored_from(
                world, source, new_world=name is not None, progress=ProgressLine(), cancelled=cancelled
            )
        if done is None:
            typer.echo("Stopped; nothing was changed.", err=True)
            raise typer.Exit(STOPPED)
        body = _restored(world, done.aside) | {
            "backup": _plain(done.manifest),
            "findings": [asdict(finding) for finding in done.findings],
        }
        _tell(body, _report(world, done), json=json)
    if name is not None and not json:
        typer.echo(f"Open it with: MEMORY_WORLD={name!r} make run")


def _put_back(world: World, source: Path, name: str | None, *, json: bool) -> None:
    aside = next((aside for aside in swap.of_world(world.folder) if aside.folder.resolve() == source.resolve()), None)
    if name is not None or aside is None:
        raise InvalidParameter(
            f"{source} is neither a backup nor a folder in which the world {world.name!r} was set aside. "
            "Nothing was changed."
        )
    former = put_back(world, aside)
    body = _restored(world, former) | {"backup": None, "findings": []}
    again = f"The world {world.name!r} is again what it was until {stamp(aside.at)}."
    _tell(body, f"{again}\n{_kept(former)}", json=json)


def _tell(body: dict[str, Any], text: str, *, json: bool) -> None:
    if json:
        show_json(body)
    else:
        typer.echo(text)


def _restored(world: World, aside: Path | None) -> dict[str, Any]:
    kept = None if aside is None else str(aside)
    return {"restored": True, "world": world.name, "folder": str(world.folder), "aside": kept}


def _plain(manifest: Manifest) -> dict[str, Any]:
    """For programs: whose memories a backup has, from when, and how many."""
    return {
        "world": manifest.world,
        "made_at": manifest.made_at.isoformat(),
        "agents": [
            {
                "agent": agent.name,
                "name": agent.shown,
                "revision": agent.revision,
                "memories": agent.lived,
                "problem": agent.problem or None,
            }
            for agent in manifest.agents
        ],
        "deleted": manifest.deleted,
    }


def _nothing_yet(world: World, names: Sequence[str]) -> dict[str, Any]:
    unknown = dict.fromkeys(("name", "revision", "memories", "problem"))
    agents = [{"agent": name, **unknown} for name in names]
    return {"world": world.name, "made_at": None, "agents": agents, "deleted": len(world.deleted_agents())}


def _report(world: World, done: Restored) -> str:
    lines = [as_text(done.manifest)]
    lines += [f"{finding.agent}: {finding.what} {finding.state.value}. {finding.sentence}" for finding in done.findings]
    lines.append(f"Checked, and restored into {world.folder}")
    return "\n".join([*lines, *([_kept(done.aside)] if done.aside else [])])


def _kept(aside: Path | None) -> str:
    if aside is None:
        return "There was no world before."
    return f"What was there before is kept whole. Back to it: {_restoring(aside)}"


def _restoring(source: Path) -> str:
    """The command that restores it, quoted for a shell: names of backups contain spaces."""
    return f"python -m memory_system restore {shlex.quote(str(source))}"


def as_text(manifest: Manifest) -> str:
    """For the terminal: whose memories, from when, and how many."""
    lines = [f"The world {manifest.world!r}, backed up {stamp(manifest.made_at)}:"]
    width = max((len(agent.name) for agent in manifest.agents), default=0)
    for agent in manifest.agents:
        line = f"  {agent.name.ljust(width)}  {so_many(agent.lived)}, {counted(agent.revision, 'change')}"
        lines.append(line + (f". DAMAGED: {agent.problem}" if agent.problem else ""))
    if manifest.deleted:
        lines.append(f"  and {manifest.deleted} deleted, in the bin")
    return "\n".join(lines)


def _forms(incomplete: str) -> list[str]:
    """The names of forms, for completion."""
    return [form for form in Form if form.startswith(incomplete)]


def export(
    agent: Annotated[str, typer.Argument(help="Whose memories.")],
    file: Annotated[Path | None, typer.Argument(help="The file to make; printed if not given, or -.")] = None,
    form: Annotated[
        str | None,
        typer.Option("--as", metavar="FORM", autocompletion=_forms, help=f"The format: {', '.join(Form)}."),
    ] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="With the vector of each memory.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Export an agent to a file: its memories as JSON, one per line, or in another form. Nothing is changed.

    Example: python -m memory_system export mira mira.png

    The file's extension chooses the form, unless --as does: .png and .json are character cards, .md is a dossier, .zip
    a folder of Markdown, .csv a table, .jsonl or no extension JSON lines. It works for an agent that can only be read.
    """
    file = None if file == Path("-") else file
    with the_world() as world:
        export_form, opened = _form(form, file), world.agent(agent)
        if vectors and export_form is not None:
            raise typer.BadParameter("only JSON lines can hold vectors", param_hint="'--vectors'")
        if file is not None and file.exists():
            raise AlreadyExists(f"There is a file {file} already. Name another.")
        if export_form is not None:
            _export_as(opened, export_form, file, dry_run=dry_run)
            return
        if dry_run:
            count = sum(len(opened.entries(tier)) for tier in LIVED)
            say(f"{so_many(count)} of {agent} would be written. No file was made.")
            return
        if file is None:
            for line in exporting.lines(opened, vectors=vectors):
                typer.echo(safe_json(line))
            return
        count = exporting.export(opened, file, vectors=vectors)
    typer.echo(f"{so_many(count)} of {agent} written to {file}", err=True)


def _form(given: str | None, file: Path | None) -> Form | None:
    """The form that is meant; ``None`` for JSON lines, which can be printed while they are read.

    Raises:
        InvalidParameter: there is no form of this name, or none with the file's ending.
    """
    if given is None and (file is None or not file.suffix):
        return None
    try:
        found = form_of(given or str(file))
    except InvalidParameter as error:
        if given is not None:
            raise
        raise InvalidParameter(f"{error.sentence} Name one with --as, or give the file another extension.") from error
    return None if found is Form.JSONL else found


def _export_as(agent: AgentMemory, form: Form, file: Path | None, *, dry_run: bool) -> None:
    made = agent.export_as(form)
    for note in made.notes:
        say(note, err=True)
    if dry_run:
        say(f"{agent.name} would be written as {DESCRIBED[form]}, {len(made.content):,} bytes. No file was made.")
    elif file is not None:
        with as_store_errors(f"The export {file.name!r}"), exporting.whole(file) as target:
            target.write(made.content)
        typer.echo(f"{agent.name} written to {file}, as {DESCRIBED[form]}", err=True)
    elif not sys.stdout.isatty():
        typer.echo(made.content, nl=False)
    elif made.is_text:
        say(made.content.decode("utf-8-sig").rstrip("\n"))
    else:
        raise InvalidParameter(f"This form, {form}, cannot be printed: name a file for it, such as {made.name}.")


def use_embedder(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", autocompletion=embedders, help="Its name; the installation's if not given."),
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Choose what makes this world's vectors, from now on. Example: python -m memory_system use-embedder multilingual.

    Agents whose vectors another one made cannot be changed until they are re-embedded: python -m memory_system reembed.
    """
    with the_world(json=json) as world:
        if dry_run:
            world.refuse_embedder(name)
        else:
            world.use_embedder(name)
        body = {"world": world.name, "embedder": world.embedder_name, "identity": world.embedder.identity}
        if json:
            show_json(body)
        elif dry_run:
            say(f"{name or 'The embedder of the installation'} could be used; nothing was changed.")
        else:
            say(f"{world.embedder_name} makes the vectors of {world.name!r}. Now: python -m memory_system reembed")


def reembed(
    agents: Annotated[list[str] | None, typer.Argument(help="Names of agents; all if none is named.")] = None,
    embedder: EmbedderName = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Make the missing vectors of the embedding model in use. Example: python -m memory_system reembed mira.

    What is done stays done: after Ctrl+C or a kill, call it again to continue. Of all agents, those that cannot be
    opened are left out, and the exit code is 1.
    """
    with the_world(json=json, embedder=embedder) as world, stopped_by_ctrl_c() as cancelled:
        rows: list[dict[str, Any]] = []
        code = 0
        for name in dict.fromkeys(agents or world.stored()):
            opened, done = None, Reembedded(0, 0, store_made_anew=False)
            read_only: str | None
            try:
                opened = world.agent(name).acting_as(COMMAND_LINE)
            except MemorySystemError as error:
                if agents is not None:
                    raise
                read_only, code = error.sentence, FAILED
            else:
                read_only = opened.read_only if agents is None else None
                done = Reembedded(0, opened.waiting_for_vectors, store_made_anew=False)
            if opened is not None and not dry_run and not read_only and not cancelled():
                done = opened.reembed(progress=ProgressLine(), cancelled=cancelled)
            rows.append({"agent": name, **asdict(done), "read_only": read_only})
            if not json:
                say(_reembedded(rows[-1], world.embedder.identity, dry_run=dry_run), err=bool(read_only))
            if cancelled():
                break
        if json:
            show_json({"world": world.name, "embedder": world.embedder.identity, "agents": rows})
        if code or cancelled():
            raise typer.Exit(STOPPED if cancelled() else code)


def _reembedded(row: dict[str, Any], embedder: str, *, dry_run: bool) -> str:
    """The result for one agent, in a line."""
    name = row["agent"]
    if row["read_only"]:
        return f"{name}: it was left out. {row['read_only']}"
    if dry_run:
        return f"{name}: {row['waiting']:,} have no vector of {embedder}."
    if row["waiting"]:
        return f"{name}: {row['embedded']:,} embedded, {row['waiting']:,} are left. Run it again to continue."
    if row["embedded"] or row["store_made_anew"]:
        rebuilt = ", and the store was rebuilt" if row["store_made_anew"] else ""
        return f"{name}: {row['embedded']:,} embedded with {embedder}{rebuilt}."
    return f"{name}: every memory has its vector of {embedder}."


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Repair what is wrong.")] = False,
    json: Json = False,
) -> None:
    """Check every agent of the world. Example: python -m memory_system doctor --repair.

    Without --repair nothing is changed. The exit code is 1 if something is wrong and was not repaired.
    """
    with the_world(json=json) as world:
        found = examine(world, repair=repair)
        typer.echo(report_as_json(world.name, found) if json else report_as_text(world.name, found, repair=repair))
    if any(finding.state is State.WRONG for finding in found):
        raise typer.Exit(1)


def report_as_text(world: str, found: Sequence[Finding], *, repair: bool) -> str:
    """For the terminal: one line per thing that was checked, and a last one that sums up."""
    rows = [
        (finding.agent or f"world {world}", finding.what, _shown(finding.state), seen(finding.sentence))
        for finding in found
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    wrong = sum(finding.state is State.WRONG for finding in found)
    repaired = sum(finding.state is State.REPAIRED for finding in found)
    last = f"{wrong} wrong" if wrong else "All is well"
    last += f", {repaired} repaired." if repaired else "."
    if not repair and any(finding.state is State.WRONG and not finding.beyond_repair for finding in found):
        last += " Repair with: python -m memory_system doctor --repair"
    return "\n".join([*lines, "", last])


def _shown(state: State) -> str:
    return "WRONG" if state is State.WRONG else state.value


def report_as_json(world: str, found: Sequence[Finding]) -> str:
    """For programs: everything that was checked, and whether nothing is wrong."""
    body = {
        "world": world,
        "right": not any(finding.state is State.WRONG for finding in found),
        "findings": [asdict(finding) for finding in found],
    }
    return json_of(body)
