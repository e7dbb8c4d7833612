"""A world's own file, ``world.json``: its clock, which may stand where a story does, and what the world is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..core.files import as_store_errors, read_at_most, replace_text
from ..core.times import Clock, parse_time, real_clock
from ..errors import InvalidParameter, StoreDamaged

FILE = "world.json"
_MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class About:
    """What a world is: its title, a few sentences, and the character to begin with; each may be empty."""

    title: str = ""
    about: str = ""
    first: str = ""


def _read(folder: Path) -> dict[str, Any]:
    try:
        told = json.loads(read_at_most(folder / FILE, _MAX_BYTES))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise StoreDamaged(f"{folder / FILE} cannot be read: {error}. Fix or delete that file.") from error
    if not isinstance(told, dict):
        raise StoreDamaged(f"{folder / FILE} cannot be read: it is not a JSON object. Fix or delete that file.")
    return told


def _write(folder: Path, told: Mapping[str, Any]) -> None:
    with as_store_errors(f"The world's folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        replace_text(folder / FILE, json.dumps(dict(told), ensure_ascii=False) + "\n")


def read_standing(folder: Path) -> datetime | None:
    """The time at which this world's clock stands; ``None`` = it follows the real time.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    standing = _read(folder).get("clock")
    try:
        return None if standing is None else parse_time(standing)
    except ValueError as error:
        raise StoreDamaged(f"{folder / FILE} cannot be read: its clock {error}. Fix or delete that file.") from error


def write_standing(folder: Path, at: datetime | None) -> None:
    """Let the world's clock stand at a time, or follow the real time (``None``).

    Raises:
        InvalidParameter: a time without a zone, or none at all; nothing was written.
        StoreError: the folder cannot be read or written.
    """
    try:
        at = None if at is None else parse_time(at)
    except ValueError as error:
        raise InvalidParameter(f"The world's time {error}.") from error
    _write(folder, {**_read(folder), "clock": None if at is None else at.isoformat()})


def read_about(folder: Path) -> About:
    """What the world is about.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    told = _read(folder)
    return About(*(str(told.get(name) or "") for name in ("title", "about", "first")))


def write_about(folder: Path, about: About) -> None:
    """Say what the world is about.

    Raises:
        StoreError: the folder cannot be read or written.
    """
    _write(folder, {**_read(folder), "title": about.title, "about": about.about, "first": about.first})


def world_clock(folder: Path) -> Clock:
    """The clock of the world in this folder; a change of ``world.json`` is seen at the next call."""

    def now() -> datetime:
        return read_standing(folder) or real_clock()

    return now
