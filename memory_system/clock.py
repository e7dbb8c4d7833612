"""The clock of a world: the real time, or one that stands where its story does."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

from .errors import InvalidParameter, StoreDamaged
from .files import as_store_errors, read_at_most
from .times import Clock, parse_time, real_clock

FILE = "world.json"
_MAX_BYTES = 1_000_000


def read_standing(folder: Path) -> datetime | None:
    """The time at which this world's clock stands; ``None`` = it follows the real time.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    try:
        about = json.loads(read_at_most(folder / FILE, _MAX_BYTES))
        standing = about.get("clock")
        return None if standing is None else parse_time(standing)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise StoreDamaged(f"{folder / FILE} cannot be read: {error}. Mend or delete that file.") from error


def write_standing(folder: Path, at: datetime | None) -> None:
    """Let the world's clock stand at a time, or follow the real time (``None``).

    Raises:
        InvalidParameter: a time without a zone, or none at all; nothing was written.
        StoreError: the folder cannot be written.
    """
    try:
        at = None if at is None else parse_time(at)
    except ValueError as error:
        raise InvalidParameter(f"The world's time {error}.") from error
    with as_store_errors(f"The world's folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        scratch = folder / f".{FILE}.tmp"
        scratch.write_text(json.dumps({"clock": None if at is None else at.isoformat()}) + "\n", encoding="utf-8")
        os.replace(scratch, folder / FILE)


def world_clock(folder: Path) -> Clock:
    """The clock of the world in this folder; a change of ``world.json`` is seen at the next call."""

    def now() -> datetime:
        return read_standing(folder) or real_clock()

    return now
