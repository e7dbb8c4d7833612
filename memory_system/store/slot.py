"""A world that keeps everything in its own folder, so that it can be copied, renamed and deleted as one: a save slot.

Its personalities are in the folder too, not in the one that all other worlds share. A file records this, when the
world was made, and which world it is a branch of. It is written last, so that an incomplete world does not count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path

from ..core.files import as_store_errors, read_at_most, replace_text
from ..core.times import parse_time
from ..errors import StoreDamaged

FILE = ".slot.json"
PERSONALITIES = ".personalities"
_MOST = 1_000_000


@dataclass(frozen=True)
class Branched:
    """The world that another one was branched from.

    Args:
        world: its name.
        at: when the branch was made (real time).
        world_time: the world's time then.
        revisions: the revision of each of its agents then, by name.
    """

    world: str
    at: datetime
    world_time: datetime
    revisions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Slot:
    """The contents of the file: when the world was made (real time), and its origin, ``None`` if it is not a branch."""

    made_at: datetime
    branched: Branched | None = None


def is_own(world: Path) -> bool:
    """Whether the world in this folder has its own personalities in it.

    Raises:
        StoreError: the folder cannot be entered.
    """
    with as_store_errors(f"The world {world.name!r}"):
        return (world / FILE).is_file()


def personalities_of(world: Path, shared: Path) -> Path:
    """The folder of the personality files of the world in this folder: its own, or the shared one.

    Raises:
        StoreError: the folder cannot be entered.
    """
    return world / PERSONALITIES if is_own(world) else shared


def read_slot(world: Path) -> Slot | None:
    """The contents of a world's file; ``None`` if it has none.

    Raises:
        StoreDamaged: it cannot be read.
    """
    try:
        body = json.loads(read_at_most(world / FILE, _MOST))
        of = body["branched"]
        branched = of and Branched(
            str(of["world"]),
            parse_time(of["at"]),
            parse_time(of["world_time"]),
            {str(name): int(revision) for name, revision in of["revisions"].items()},
        )
        return Slot(parse_time(body["made_at"]), branched or None)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreDamaged(
            f"{world / FILE} does not say when the world was made ({error!s:.200}). Write the file of another world "
            "there; nothing else of the world depends on it."
        ) from error


def write_slot(world: Path, slot: Slot) -> None:
    """Write the file, completely or not at all.

    Raises:
        OSError: it cannot be written.
    """
    body = asdict(slot)
    text = json.dumps(body, ensure_ascii=False, default=lambda moment: moment.isoformat())
    replace_text(world / FILE, f"{text}\n", durable=True)
