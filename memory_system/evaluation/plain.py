"""The plain form: JSON lines of memories and of cues with the ids of the memories that answer them.

A memory is anything ``MemoryEntry.from_dict`` accepts, with an id: ``{"id", "document", ...}``. A cue is ``{"cue",
"right": [ids]}``, and may have ``"wrong": [ids]`` (must not answer; then ``right`` may be missing), ``"now"``
(ISO 8601 with a zone; else the time of the last memory) and ``"category"``. Both may be in one file, or
memories in some files and cues in others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from ..core.entry import MemoryEntry
from ..core.times import parse_time
from ..errors import InvalidEntry, InvalidFile, Problem, shown
from .data import TIMELESS_NOW, DataSet, Form, Question, remembered
from .forms import Line, Problems, Source, cue_text

_OF_CUES = {"cue", "right", "wrong", "now", "category"}


@dataclass(frozen=True)
class Parted:
    """One plain file: its memories, and its lines that are cues."""

    source: Source
    entries: tuple[MemoryEntry, ...]
    cues: tuple[Line, ...]


def part(source: Source) -> Parted:
    """The memories and the cues of one file.

    Raises: InvalidFile: a line is neither, a memory is invalid, or an id appears twice.
    """
    problems = Problems(source)
    entries: dict[str, MemoryEntry] = {}
    cues = []
    for line in source.lines:
        if "cue" in line.value:
            cues.append(line)
        elif "document" not in line.value:
            keys = ", ".join(line.value)[:100]
            problems.add(f"neither 'cue' nor 'document' is among its keys ({keys})", line=line.number)
        elif "id" not in line.value:
            problems.add("a memory needs an 'id', so that cues can name it", line=line.number)
        elif (entry := problems.attempt(line.number, _entry, line.value)) is not None:
            if entry.id in entries:
                problems.add(f"the id {entry.id!r} appears twice", line=line.number)
            entries[entry.id] = entry
    problems.refuse()
    return Parted(source, tuple(entries.values()), tuple(cues))


def _entry(value: dict[str, Any]) -> MemoryEntry:
    return remembered(MemoryEntry.from_dict(value))


def join(name: str, files: Sequence[Parted]) -> DataSet:
    """The data set of files that belong together: all their memories, all their cues.

    Raises:
        InvalidFile: an id is in two files, or a cue is invalid or names an id that no memory has.
    """
    entries: dict[str, MemoryEntry] = {}
    for file in files:
        for entry in file.entries:
            if entry.id in entries:
                message = f"the memory {entry.id!r} stands in another file too"
                raise InvalidFile((Problem("", message),), str(file.source.path))
            entries[entry.id] = entry
    latest = max((entry.timestamp for entry in entries.values() if entry.timestamp), default=TIMELESS_NOW)
    ask = partial(_question, known=entries, latest=latest)
    questions: list[Question] = []
    for file in files:
        problems = Problems(file.source)
        for line in file.cues:
            asked = problems.attempt(line.number, ask, line.value)
            if asked is not None:
                questions.append(asked)
        problems.refuse()
    return DataSet(name, Form.PLAIN, tuple(entries.values()), tuple(questions))


def _question(value: dict[str, Any], known: dict[str, MemoryEntry], latest: datetime) -> Question:
    if unknown := sorted(set(value) - _OF_CUES):
        raise InvalidEntry(f"a cue has no {unknown[0]!r}; it has {', '.join(sorted(_OF_CUES))}")
    right, wrong = _ids(value, "right", known), _ids(value, "wrong", known)
    if not right and not wrong:
        raise InvalidEntry("the cue names no memory: list the ids of the right ones under 'right'")
    if both := sorted(right & wrong):
        raise InvalidEntry(f"{both[0]!r} is named as right and as wrong")
    category = value.get("category") or ""
    if not isinstance(category, str) or len(category) > 40 or not category.isprintable():
        raise InvalidEntry("'category' must be a short text")
    return Question(cue_text(value["cue"]), _now(value.get("now"), latest), right, wrong, category)


def _now(value: object, latest: datetime) -> datetime:
    if value is None:
        return latest
    try:
        return parse_time(value)
    except ValueError as error:
        raise InvalidEntry(f"'now' {error}") from error


def _ids(value: dict[str, Any], name: str, known: dict[str, MemoryEntry]) -> frozenset[str]:
    ids = value.get(name) or []
    if not isinstance(ids, list) or not all(isinstance(entry_id, str) for entry_id in ids):
        raise InvalidEntry(f"{name!r} must be a list of ids")
    if missing := [entry_id for entry_id in ids if entry_id not in known]:
        raise InvalidEntry(f"{name!r} names {shown(missing[0])}, and no memory has that id")
    return frozenset(ids)
