"""A world's own file, ``world.json``: its clock, which may be stopped at a story's time, its embedder, its title."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from filelock import FileLock

from ..core.change_set import is_text
from ..core.files import State, as_store_errors, at_rest, read_at_most, replace_text, state_of
from ..core.scoring import in_range
from ..core.times import Clock, after, in_zone, moment_given, parse_time, real_clock, zone_given, zone_named
from ..errors import InvalidParameter, StoreDamaged, StoreError, shown

FILE = "world.json"
LOCK = ".clock.lock"
SPEEDS = (0.001, 100_000.0)
"""Range of the clock's speed, in seconds of the world per real second."""
_MAX_BYTES = 1_000_000
_LONGEST = {"title": 1_000, "about": 32_000, "first": 1_000}
"""Maximum characters of each text of ``About``."""


@dataclass(frozen=True)
class _Clock:
    """A world's clock: what it showed at a real time, its speed since then, and its zone; no times if it is real."""

    at: datetime | None = None
    since: datetime | None = None
    speed: float = 1.0
    zone: ZoneInfo | None = None

    def now(self) -> datetime:
        """What it shows."""
        if self.at is None:
            return in_zone(real_clock(), self.zone)
        at = self.at
        if self.since is not None:
            try:
                at += (real_clock() - self.since) * self.speed
            except OverflowError:
                at = max(at, datetime(9999, 12, 30, tzinfo=at.tzinfo))
        return in_zone(at, self.zone)


@dataclass(frozen=True)
class About:
    """What a world is about: its title, a few sentences, and the character to begin with; each may be empty."""

    title: str = ""
    about: str = ""
    first: str = ""


def _read(folder: Path) -> dict[str, Any]:
    try:
        fields = json.loads(read_at_most(folder / FILE, _MAX_BYTES))
    except FileNotFoundError:
        return {}
    except NotADirectoryError as error:
        file = next(above for above in folder.parents if above.exists())
        raise StoreError(
            f"Worlds cannot be kept in {folder.parent}, since {file} is not a folder. Name another place with "
            "MEMORY_HOME, or with MEMORY_DATABASE and MEMORY_PERSONALITIES."
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise StoreDamaged(f"{folder / FILE} cannot be read: {error}. Fix or delete that file.") from error
    if not isinstance(fields, dict):
        raise StoreDamaged(f"{folder / FILE} cannot be read: it is not a JSON object. Fix or delete that file.")
    return fields


def _write(folder: Path, fields: Mapping[str, Any]) -> None:
    with as_store_errors(f"The world's folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        replace_text(folder / FILE, json.dumps(dict(fields), ensure_ascii=False) + "\n")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else writes the file within this block; to change a part, read the rest within it too."""
    lock = FileLock(folder / LOCK)
    with as_store_errors(f"The world's folder {folder}"):
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _tell(folder: Path, **fields: Any) -> None:
    """Write these fields, and leave the rest unchanged even if others write meanwhile."""
    with _alone(folder):
        _write(folder, {**_read(folder), **fields})


def read_standing(folder: Path) -> datetime | None:
    """The time at which this world's clock is stopped; ``None`` = it follows the real time.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    clock = _clock(folder)
    return clock.now() if clock.at is not None and clock.since is None else None


def write_standing(folder: Path, at: datetime | None) -> None:
    """Stop the world's clock at a time, or let it follow the real time (``None``).

    If the time is in a named zone, the world is in that zone from now on.

    Raises:
        InvalidParameter: the time has no zone, or is not a time; nothing was written.
        StoreError: the folder cannot be read or written.
    """
    at = None if at is None else moment_given("The world's time", at)
    with _alone(folder):
        _set(folder, at)


def read_speed(folder: Path) -> float:
    """How many seconds of the world pass in a real one: 0 if its clock is stopped, 1 if it follows the real time.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    return _clock(folder).speed


def run_clock(folder: Path, speed: float) -> None:
    """Let the world's clock run on from where it is, ``speed`` seconds in a real one, 0.001 to 100,000.

    Raises:
        InvalidParameter: the speed is not such a number; nothing was written.
        StoreError: the folder cannot be read or written.
    """
    pace = in_range("The speed", speed, *SPEEDS)
    with _alone(folder):
        _set(folder, world_clock(folder)(), real_clock(), pace)


def read_zone(folder: Path) -> str | None:
    """The name of the world's time zone; ``None`` = that of the time that its clock was set to, or UTC.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    zone = _clock(folder).zone
    return None if zone is None else zone.key


def write_zone(folder: Path, name: str | None) -> None:
    """Set the world's time zone.

    Raises:
        InvalidParameter: there is no zone of this name; nothing was written.
        StoreError: the folder cannot be read or written.
    """
    _tell(folder, zone=None if name is None else zone_given(name).key)


def _set(folder: Path, at: datetime | None, since: datetime | None = None, speed: float = 0.0) -> None:
    """Write the clock, while nobody else writes the file."""
    runs = {} if since is None else {"since": since.isoformat(), "speed": speed}
    if at is not None and (zone := zone_named(at)) is not None and zone.key:
        runs["zone"] = zone.key
    fields = {name: value for name, value in _read(folder).items() if name not in ("since", "speed")}
    _write(folder, {**fields, "clock": None if at is None else at.isoformat(), **runs})


def _clock(folder: Path) -> _Clock:
    fields = _read(folder)
    at, since, zone = (fields.get(name) for name in ("clock", "since", "zone"))
    try:
        place = None if zone is None else zone_given(zone)
    except InvalidParameter as error:
        raise StoreDamaged(f"{folder / FILE} cannot be read: {error} Fix or delete that file.") from error
    try:
        if at is None:
            return _Clock(zone=place)
        if since is None:
            return _Clock(parse_time(at), speed=0.0, zone=place)
        return _Clock(parse_time(at), parse_time(since), in_range("its speed", fields["speed"], *SPEEDS), place)
    except (ValueError, KeyError) as error:
        raise StoreDamaged(f"{folder / FILE} cannot be read: its clock {error}. Fix or delete that file.") from error


def read_lives(folder: Path) -> bool:
    """Whether a server lets the characters act by themselves when something is due.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    return _read(folder).get("lives") is True


def write_lives(folder: Path, *, lives: bool) -> None:
    """Set whether a server lets the characters act by themselves when something is due.

    Raises:
        StoreError: the folder cannot be read or written.
    """
    _tell(folder, lives=lives)


def read_welcomed(folder: Path) -> bool:
    """Whether a newcomer has taken or declined the dashboard's tour of this world.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    return _read(folder).get("welcomed") is True


def write_welcomed(folder: Path, *, welcomed: bool) -> None:
    """Set whether the tour need not be offered any more.

    Raises:
        StoreError: the folder cannot be read or written.
    """
    _tell(folder, welcomed=welcomed)


def read_seen(folder: Path) -> datetime | None:
    """The real time up to which somebody has reviewed what happened by itself; ``None`` = never.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    text = _read(folder).get("seen")
    try:
        return None if text is None else parse_time(text)
    except ValueError as error:
        raise StoreDamaged(f"{folder / FILE} cannot be read: 'seen' {error}. Fix or delete that file.") from error


def write_seen(folder: Path, at: datetime) -> None:
    """Set the real time up to which somebody has reviewed what happened by itself.

    Raises:
        InvalidParameter: the time has no zone, or is not a time; nothing was written.
        StoreError: the folder cannot be read or written.
    """
    _tell(folder, seen=moment_given("'at'", at).isoformat())


def move_standing(folder: Path, at: datetime) -> None:
    """Move a clock stopped before a time to that time; one that follows the real time or is ahead is left alone.

    The world stays in its zone, whichever that of the time is.
    """
    with _alone(folder):  # if two move it at once, neither moves it back
        standing = read_standing(folder)
        if standing is not None and after(at, standing):
            _set(folder, in_zone(at, standing.tzinfo))


def read_about(folder: Path) -> About:
    """What the world is about.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    fields = _read(folder)
    return About(*(str(fields.get(name) or "") for name in ("title", "about", "first")))


def write_about(folder: Path, about: About) -> None:
    """Set what the world is about.

    Raises:
        InvalidParameter: one of the fields is not a text, or is too long; nothing was written.
        StoreError: the folder cannot be read or written.
    """
    if not isinstance(about, About):
        raise InvalidParameter(f"What the world is about must be an About(title, about, first), not {shown(about)}.")
    for name, most in _LONGEST.items():
        text = getattr(about, name)
        if not is_text(text):
            raise InvalidParameter(f"The world's '{name}' must be a text, not {shown(text)}.")
        if len(text) > most:
            raise InvalidParameter(f"The world's '{name}' has {len(text):,} characters; at most {most:,} are allowed.")
    _tell(folder, title=about.title, about=about.about, first=about.first)


def read_embedder(folder: Path) -> str | None:
    """The name of the embedder chosen for this world; ``None`` if none was.

    Raises:
        StoreDamaged: ``world.json`` cannot be read.
    """
    name = _read(folder).get("embedder")
    return str(name) if name else None


def write_embedder(folder: Path, name: str | None) -> None:
    """Save the name of the embedder chosen for this world; ``None`` = the installation's.

    Raises:
        StoreError: the folder cannot be read or written.
    """
    _tell(folder, embedder=name)


def _settled(file: Path) -> State | None:
    """The state of a file; ``None`` while it could still change without its state changing."""
    try:
        state = state_of(file)
    except FileNotFoundError:
        return 0, 0, 0
    except (OSError, ValueError):  # reading the file reports what is wrong
        return None
    return state if at_rest(state) else None


def world_clock(folder: Path) -> Clock:
    """The clock of the world in this folder; a change of ``world.json`` is seen at the next call.

    A running clock stops at the end of the year 9999.
    """
    kept: tuple[State | None, _Clock] = None, _Clock()

    def now() -> datetime:
        nonlocal kept
        state = _settled(folder / FILE)
        if state is None or state != kept[0]:
            kept = state, _clock(folder)
        return kept[1].now()

    return now
