"""What is printed: tables for people, JSON for programs, and strangers' text made harmless to the terminal."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...core.change_set import Change, ChangeSet
from ...core.entry import MemoryEntry, Tier
from ...core.times import ago, stamp
from ...recall.verdicts import NAMES
from ...world.together import Together
from ..serialize import plain
from .shapes import change_set as as_shape

Cell = str | Text
PROGRAM, AS_MODULE = "memory-system", "python -m memory_system"
"""How the command line is called; messages are written with the second name."""
_SHORT = 100


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        name: its heading.
        right: whether it is right-aligned, like numbers.
        wide: whether it gets the remaining width, over several lines if need be.
        drawn: whether it is shown only in a terminal, such as a picture.
        plain: whether it is not shown in a terminal, since something drawn says the same in less room.
    """

    name: str
    right: bool = False
    wide: bool = False
    drawn: bool = False
    plain: bool = False


def seen(text: str) -> str:
    """A text without what would steer a terminal or turn its reading direction; each such character becomes “�”."""
    return "".join(sign if sign.isprintable() else "�" for sign in text)


def one_line(text: str, most: int = _SHORT) -> str:
    """A text on one line, at most so many characters of it, without what would steer a terminal."""
    line = " ".join(text.split())
    return seen(line if len(line) <= most else f"{line[: most - 1].rstrip()}…")


def called() -> str:
    """How this program was called, so that commands in its messages can be pasted into the same shell."""
    name = Path(sys.argv[0])
    if name.stem != PROGRAM:
        return AS_MODULE
    found = shutil.which(PROGRAM)
    return PROGRAM if found and Path(found) == name else shlex.quote(str(name))


def say(line: str, *, err: bool = False) -> None:
    """Print a sentence for people, which may contain strangers' text; if JSON is printed, none of it goes to stdout."""
    text = "\n".join(seen(part) for part in line.split("\n"))
    typer.echo(text.replace(AS_MODULE, called()), err=err)


def show_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
    """Print a table on stdout: drawn to a terminal's width; elsewhere in plain text, one line per row."""
    if not sys.stdout.isatty():
        typer.echo(plain_table(columns, rows))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        if column.plain:
            continue
        justify: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(column.name, justify=justify, no_wrap=not column.wide, overflow="fold")
    for row in rows:
        cells = (cell for cell, column in zip(row, columns, strict=True) if not column.plain)
        table.add_row(*(cell if isinstance(cell, Text) else Text(seen(cell)) for cell in cells))
    Console(markup=False, highlight=False, emoji=False).print(table)


def stacked(text: str, *beneath: str) -> Text:
    """A cell for a terminal: a text, and below it lines that matter less."""
    cell = Text(seen(text))
    for line in filter(None, beneath):
        cell.append(f"\n{seen(line)}", "dim")
    return cell


def plain_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> str:
    """The table as text, its columns two spaces apart, without those that only a terminal shows."""
    kept = [number for number, column in enumerate(columns) if not column.drawn]
    lines = [[columns[number].name for number in kept]]
    lines += [[seen(str(row[number])) for number in kept] for row in rows]
    widths = [max(cell_len(line[place]) for line in lines) for place in range(len(kept))]
    rights = [columns[number].right for number in kept]

    def padded(cell: str, width: int, right: bool) -> str:
        blanks = " " * (width - cell_len(cell))  # measured in cells: some characters need two
        return f"{blanks}{cell}" if right else f"{cell}{blanks}"

    return "\n".join(
        "  ".join(padded(cell, width, right) for cell, width, right in zip(line, widths, rights, strict=True)).rstrip()
        for line in lines
    )


def show_json(value: object) -> None:
    """Print a value as JSON on stdout."""
    typer.echo(json_of(value))


def json_of(value: object, indent: int | None = 2) -> str:
    """A value as JSON that is harmless to a terminal."""
    return safe_json(json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False))


def safe_json(text: str) -> str:
    r"""The same JSON, with whatever would steer a terminal written as ``\u001b`` and the like."""
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        return re.sub(r"[^\x20-\x7e\n]", _escape, text)
    return "".join(sign if sign.isprintable() or sign == "\n" else _escape(sign) for sign in text)


def _escape(found: re.Match[str] | str) -> str:
    sign = found if isinstance(found, str) else found[0]
    return json.dumps(sign)[1:-1] if sign != "\x7f" else "\\u007f"


NOT_CHANGED = "Nothing was changed: this is what it would do."
_CHANGES = (Column("what"), Column("memory", wide=True), Column("why", wide=True))
_MEMORIES = (
    Column("tier"),
    Column("when"),
    Column("rating", right=True),
    Column("memory", wide=True, drawn=True),
    Column("memory", plain=True),
    Column("id", plain=True),
)


def show_change_set(agent: str, done: ChangeSet, *, json: bool, dry_run: bool) -> None:
    """Print what an operation did, or would do, and how to undo it."""
    if json:
        show_json(as_shape(agent, done))
        return
    show_changes(done)
    if not done:
        say("Nothing to do.")
    elif dry_run:
        say(NOT_CHANGED)
    else:
        say(taken_back(agent, done))


def show_together(done: Together, *, json: bool, dry_run: bool) -> None:
    """Print what an operation did to several agents, or would do, and how to undo it."""
    if json:
        show_json(plain(done))
        return
    say(one_line(done.title, 200))
    for note in done.notes:
        say(f"Note: {one_line(note, 400)}")
    for share in done.shares:
        say(f"{share.agent}: {one_line(share.note, 400)}")
        for note in share.change_set.notes if share.change_set is not None else ():
            if note not in done.notes:
                say(f"  {one_line(note, 400)}")
    if not done:
        say("Nothing to do.")
    elif dry_run:
        say(NOT_CHANGED)
    else:
        for plan in done.plans:
            say(taken_back(plan.agent, plan))


def show_changes(done: ChangeSet) -> None:
    """Print the title of a change set, its changes with their reasons, what it left unchanged, and its notes."""
    say(one_line(done.title, 200))
    if done.changes:
        show_table(
            _CHANGES,
            [(_what(change), one_line(_entry(change).document), one_line(change.reason)) for change in done.changes],
        )
    for text in done.texts:
        say(f"Changes the {one_line(text.words)}.")
    for reason, count in Counter(kept.reason for kept in done.kept).items():
        say(f"Left as they are: {count}. {one_line(reason, 200)}")
    for note in done.notes:
        say(f"Note: {one_line(note, 400)}")


def show_memories(memories: Sequence[MemoryEntry], now: datetime) -> None:
    """Print memories with how long before ``now`` they happened."""
    rows = []
    for entry in memories:
        rating = "" if entry.rating is None else f"{entry.rating:g}"
        text = one_line(entry.document)
        rows.append((NAMES[entry.tier], when(entry, now), rating, stacked(text, entry.id), text, entry.id))
    show_table(_MEMORIES, rows)


def show_told(told: Mapping[str, Any], nothing: str = "") -> None:
    """Print an answer for people: each list in it as a table, everything else on a line of its own.

    Args:
        told: the answer.
        nothing: a sentence for when all lists are empty; an empty answer says that there is nothing.
    """
    flat = _flat(told, "")
    for head, value in zip(heads(list(flat)), flat.values(), strict=True):
        if isinstance(value, list):
            rows = [_flat(item, "") for item in value]
            names = list(dict.fromkeys(key for row in rows for key, known in row.items() if known != 0))
            columns = [Column(head, wide=key in _WIDE) for key, head in zip(names, heads(names), strict=True)]
            show_table(columns, [[_cell(row.get(key)) for key in names] for row in rows])
        elif value not in (None, "", []):
            say(f"{head}: {_cell(value, 2_000)}")
    if not any(isinstance(value, list) for value in flat.values()) and (nothing or not flat):
        say(nothing or "There is nothing.")


def heads(names: Sequence[str]) -> list[str]:
    """The names of parts of an answer, such as ``entry.last_access``, in words, all different."""
    brief = [_in_words([part for part in name.split(".") if part not in _HOLDERS] or [name]) for name in names]
    often = Counter(brief)
    return [head if often[head] == 1 else _in_words(name.split(".")) for name, head in zip(names, brief, strict=True)]


def _in_words(parts: Sequence[str]) -> str:
    return " ".join(_WORDS.get(part, part.replace("_", " ")) for part in parts)


_HOLDERS = frozenset({"entry", "change_set", "applied", "cell", "test", "logged", "facets", "scoring", "settings"})
"""Parts that only contain others, and are left out of a heading."""
_WORDS = {
    "applied_at": "applied",
    "asked_at": "asked",
    "at": "when",
    "authored": "written by hand",
    "begun_at": "begun",
    "call_id": "call",
    "change_set": "change",
    "cosine": "likeness",
    "deleted_at": "deleted",
    "document": "memory",
    "embedder_decided": "why no embedder can be chosen",
    "entry": "held",
    "entry_id": "memory's id",
    "expires_in": "seconds left",
    "ids": "memories",
    "known_from": "known since",
    "last_access": "last recalled",
    "ltm": "long-term",
    "ltm_size": "long-term size",
    "next": "the next page",
    "planned_at": "planned",
    "sha256": "checksum",
    "stm": "short-term",
    "stm_size": "short-term size",
    "timestamp": "happened",
    "undone_by": "undone by revision",
    "undoes": "undoes revision",
    "x": "across",
    "y": "up",
}
"""A part's name for people, if its own name with spaces is not clear; a setting has the name of its option."""
_OF_DATA = frozenset({"authors", "languages", "metadata", "operations"})
"""Containers whose parts are named after their subjects, such as `mira.json`, and not in our words."""
_WIDE = frozenset({"document", "entry.document", "text", "title", "because", "words", "sentence", "cue", "reasons"})


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
"""A time as written in JSON."""


def _flat(fields: Mapping[str, Any], within: str) -> dict[str, Any]:
    """Its values by dotted names; a list of things with parts of their own stays a list; empty values are omitted."""
    found: dict[str, Any] = {}
    for name, part in fields.items():
        value = _worded(name, part)
        if isinstance(value, dict):
            found |= _flat(value, f"{within}{name}.")
        elif value is not None and value is not False and value not in ("", []):  # 0 is a count, and shown
            found[f"{within}{name}"] = value
    return found


def _worded(name: str, value: Any) -> Any:
    """A part of an answer as it is shown; one with parts of its own stays as it is."""
    if name == "tier" and value is not None:
        return NAMES[Tier(value)]
    if name in _OF_DATA and isinstance(value, dict):
        return ", ".join(f"{part}: {_cell(item)}" for part, item in value.items())
    if isinstance(value, list) and not _is_table(value):
        return ", ".join(" ".join(map(_cell, item)) if isinstance(item, list) else str(item) for item in value)
    return value


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _cell(value: Any, most: int = _SHORT) -> str:
    if isinstance(value, list):
        return f"{len(value):,}"
    if isinstance(value, str) and _TIME.fullmatch(value):
        return stamp(datetime.fromisoformat(value))
    if value is True:
        return "yes"
    return "" if value is None else one_line(f"{value:.4g}" if isinstance(value, float) else str(value), most)


def when(entry: MemoryEntry, now: datetime) -> str:
    """How long ago a memory happened, in words; empty if it is timeless."""
    return "" if entry.timestamp is None else ago(entry.timestamp, now)


def taken_back(agent: str, done: ChangeSet) -> str:
    """How to undo an applied change set, if that is possible."""
    if done.purges:
        return f"Done, as revision {done.revision}. What was purged cannot be brought back."
    command = f"python -m memory_system undo {shlex.quote(agent)} {done.revision}"
    return f"Done, as revision {done.revision}. To take it back: {command}"


def _what(change: Change) -> str:
    return f"to {NAMES[_entry(change).tier]}" if change.verb == "move" else change.verb


def _entry(change: Change) -> MemoryEntry:
    entry = change.after or change.before
    assert entry is not None, "a change has a before or an after"
    return entry
