"""``worlds``: save slots. The list of them, and what can be done with whole worlds."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from shlex import quote
from typing import Annotated, Any

import typer

from ...core.settings import Settings, in_use
from ...core.times import stamp
from ...errors import StoreError, WorldNotFound, shown
from ...maintenance import Saved, Worlds, WorldsCompared
from ...store.server_notice import server_of
from ..serialize import plain
from .arguments import DryRun, Json, errors_told, no_world_yet, settings_of
from .progress import ProgressLine
from .terminal import Column, one_line, say, show_json, show_table


class Act(StrEnum):
    """What is done with worlds."""

    LIST = "list"
    CREATE = "create"
    COPY = "copy"
    BRANCH = "branch"
    RENAME = "rename"
    COMPARE = "compare"
    DELETE = "delete"
    RESTORE = "restore"
    SWITCH = "switch"


_NAMES = {Act.LIST: 0, Act.CREATE: 1, Act.COPY: 2, Act.BRANCH: 2, Act.RENAME: 2, Act.COMPARE: 2} | dict.fromkeys(
    (Act.DELETE, Act.RESTORE, Act.SWITCH), 1
)
"""How many names each needs."""
_WORLDS = (
    Column("world"),
    Column("in use"),
    Column("characters", right=True),
    Column("memories", right=True),
    Column("MB", right=True),
    Column("last changed"),
    Column("note", wide=True),
)
_DIFFERS = (Column("character"), Column("what"), Column("left", wide=True), Column("right", wide=True))
_MOST_SHOWN = 200


def _names(incomplete: str) -> list[str]:
    """The worlds whose names begin like this, for the shell."""
    try:
        return [name for name in Worlds(Settings()).names() if name.startswith(incomplete)]
    except (OSError, ValueError, RuntimeError):
        return []


def worlds(
    act: Annotated[Act, typer.Argument(metavar="WHAT", help=f"{', '.join(Act)}.")] = Act.LIST,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which world.", autocompletion=_names)] = None,
    to: Annotated[
        str | None,
        typer.Argument(metavar="TO", help="The copy, the new name, or the other one.", autocompletion=_names),
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Fill a new world with the sample characters.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """List worlds, and create, copy, branch, rename, compare, delete, restore or switch them.

    Example: python -m memory_system worlds branch mem_test "what if"

    The world that is switched to is opened by every program that starts, unless MEMORY_WORLD names another. A deleted
    world goes to a bin, from where restore brings back the last of its name.
    """
    world_names = [text for text in (name, to) if text is not None]
    count = _NAMES[act]
    if len(world_names) != count and not (act is Act.RESTORE and len(world_names) == 2):
        names = ("no name", "one name", "two names")[count]
        raise typer.BadParameter(
            f"{act} takes {names}, such as: worlds {act} {' '.join(('mem_test', 'harrow')[:count])}"
        )
    if sample and act is not Act.CREATE:
        raise typer.BadParameter("--sample is for worlds create alone")
    with errors_told(json=json):
        all_worlds = Worlds(settings_of())
        if act is Act.CREATE and name == all_worlds.used and not _taken(all_worlds):
            all_worlds = Worlds(settings_of(world=in_use(all_worlds.folder)))
        if act is Act.LIST:
            _list(all_worlds, json=json)
        elif act is Act.COMPARE:
            _compare(all_worlds.compare(*world_names), json=json)
        else:
            _do(all_worlds, act, world_names, sample=sample, dry_run=dry_run, json=json)


def _taken(all_worlds: Worlds) -> bool:
    """Whether anything exists of the world that MEMORY_WORLD names, or a server that has begun with it."""
    return all_worlds.begun() or server_of(all_worlds.folder / all_worlds.used) is not None


def _list(all_worlds: Worlds, *, json: bool) -> None:
    missing = ""
    with suppress(StoreError):  # a world that cannot be read is shown as such in its line
        missing = "" if server_of(all_worlds.folder / all_worlds.used) else no_world_yet(all_worlds.settings)
    found = [all_worlds.saved(name) for name in all_worlds.names() if not missing or name != all_worlds.used]
    if missing:
        say(f"{missing} To begin it: python -m memory_system worlds create {quote(all_worlds.used)}", err=True)
    if json:
        show_json({"items": plain(found)})
        return
    show_table(_WORLDS, [_row(world) for world in found])
    if binned := all_worlds.deleted():
        names = ", ".join(dict.fromkeys(world.name for world in binned))
        say(f"In the bin: {names}. To bring one back: python -m memory_system worlds restore {quote(binned[0].name)}")


def _row(world: Saved) -> list[str]:
    branch = f"branch of {world.branched.world}, {stamp(world.branched.at)}." if world.branched else ""
    served = f"served at {world.served_at}." if world.served_at else ""
    note = " ".join(filter(None, (one_line(world.title, 60), branch, served, world.problem)))
    changed = stamp(world.changed_at) if world.changed_at else "never"
    numbers = [f"{world.characters:,}", f"{world.memories:,}", f"{world.size / 1e6:,.1f}"]
    return [world.name, "yes" if world.served else "", *numbers, changed, one_line(note, 300)]


def _do(all_worlds: Worlds, act: Act, names: list[str], *, sample: bool, dry_run: bool, json: bool) -> None:
    if act in (Act.COPY, Act.BRANCH, Act.RENAME):
        all_worlds.known(names[0])
        all_worlds.free_name(names[1], but=names[0] if act is Act.RENAME else "")
    elif act is Act.CREATE:
        all_worlds.free_name(names[0])
    elif act in (Act.DELETE, Act.SWITCH):
        all_worlds.known(names[0])
    binned = None
    if act is Act.RESTORE:
        binned = next((world for world in all_worlds.deleted() if world.name == names[0]), None)
        if binned is None:
            raise WorldNotFound(f"There is no world {shown(names[0])} in the bin.")
        all_worlds.free_name(names[-1])
    if dry_run:
        _tell({"done": False, "world": None}, "It can be done. Nothing was changed.", json=json)
        return
    before, progress = all_worlds.used, ProgressLine()
    done: Any = None
    if act is Act.CREATE:
        done, words = all_worlds.create(names[0], sample=sample, progress=progress), "is made"
    elif act is Act.COPY:
        done, words = all_worlds.copy(*names, progress=progress), f"is a copy of {names[0]!r}"
    elif act is Act.BRANCH:
        done, words = all_worlds.branch(*names, progress=progress), f"is a branch of {names[0]!r}"
    elif act is Act.RENAME:
        done, words = all_worlds.rename(*names), f"was {names[0]!r} before"
    elif act is Act.SWITCH:
        done, words = all_worlds.switch(names[0]), "is in use from now on"
        _note_on_switch(all_worlds, before)
    elif binned is not None:
        done, words = all_worlds.restore(binned, names[-1]), "is back"
    else:
        all_worlds.delete(names[0])
        back = f"python -m memory_system worlds restore {quote(names[0])}"
        _tell({"done": True, "world": None}, f"The world {names[0]!r} is in the bin. Back: {back}", json=json)
        return
    _tell({"done": True, "world": plain(done)}, f"The world {done.name!r} {words}.", json=json)


def _note_on_switch(all_worlds: Worlds, before: str) -> None:
    decided = Settings().world
    if decided != all_worlds.used:
        say(f"MEMORY_WORLD is {decided!r}, which takes precedence: programs started with it open that world.", err=True)
    if (address := server_of(all_worlds.folder / before)) is not None:
        say(f"The server at {address} goes on with {before!r}; switch it there, or start it again.", err=True)


def _tell(body: dict[str, Any], text: str, *, json: bool) -> None:
    if json:
        show_json(body)
    else:
        say(text)


def _compare(found: WorldsCompared, *, json: bool) -> None:
    if json:
        show_json(plain(found))
        return
    rows: list[tuple[str, ...]] = [("the world", *line) for line in found.told]
    for character in found.characters:
        for memory in character.memories:
            ends = (end.document if end else "" for end in (memory.left, memory.right))
            rows.append((character.name, f"memory {memory.entry_id}", *ends))
        rows += [
            (character.name, f"{text.name}: {what}", *ends) for text in character.texts for what, *ends in text.lines
        ]
    if rows:
        show_table(_DIFFERS, [[one_line(cell, 300) for cell in row] for row in rows[:_MOST_SHOWN]])
    if len(rows) > _MOST_SHOWN:
        say(f"{len(rows) - _MOST_SHOWN:,} more lines; --json tells all.")
    for side, only in ((found.left, found.only_left), (found.right, found.only_right)):
        if only:
            say(f"Only in {side!r}: {', '.join(only)}.")
    say(f"The same in both: {', '.join(found.same) or 'nobody'}." if found else "Nothing differs.")
