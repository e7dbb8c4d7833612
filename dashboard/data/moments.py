"""A moment of the past, chosen in one of three ways; as written in a link and in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memory_system.core import parse_time
from memory_system.errors import InvalidParameter

LINK = ("as_of", "world_time", "revision", "access")
"""The names in the link."""
FIRST_YEAR, LAST_YEAR = 1000, 2999
"""The browser's calendar cannot return from years outside these."""
_MOST = 2**62


@dataclass(frozen=True)
class Moment:
    """A moment, in exactly one of three ways.

    Args:
        as_of: a real time.
        world_time: a time of the world's clock.
        revision: the moment right after a change in the history; 0 = before the first.
        access: with ``revision``, the number of the last recall since then.
    """

    as_of: datetime | None = None
    world_time: datetime | None = None
    revision: int | None = None
    access: int | None = None

    def arguments(self) -> dict[str, Any]:
        """The arguments for ``AgentMemory.as_of``."""
        values = {"at": self.as_of, "revision": self.revision, "access": self.access, "world_time": self.world_time}
        return {name: value for name, value in values.items() if value is not None}

    def link(self) -> dict[str, str]:
        """Its parameters in a link."""
        return {
            name: _written(value) if isinstance(value, datetime) else str(value)
            for name in LINK
            if (value := getattr(self, name)) is not None
        }

    def python(self) -> str:
        """The Python call that gives the same view."""
        arguments = []
        for name, value in self.arguments().items():
            shown = f'datetime.fromisoformat("{_written(value)}")' if isinstance(value, datetime) else str(value)
            arguments.append(shown if name == "at" else f"{name}={shown}")
        return f"as_of({', '.join(arguments)})"


def from_link(link: Mapping[str, str]) -> Moment | None:
    """The moment in a link; ``None`` if it has none.

    Raises:
        InvalidParameter: it is not a moment, or there are several; in readable words.
    """
    parameters = {name: link[name].strip() for name in LINK if link.get(name, "").strip()}
    if not parameters:
        return None
    ways = parameters.keys() - {"access"}
    if len(ways) != 1:
        raise InvalidParameter(
            "The link names several moments, or a recall without a revision. Keep one of 'as_of', 'world_time' and "
            "'revision' in it."
        )
    (way,) = ways
    if way == "revision":
        return Moment(
            revision=_number(parameters, "revision"),
            access=_number(parameters, "access") if "access" in parameters else None,
        )
    if "access" in parameters:
        raise InvalidParameter("The link's 'access' counts from a revision. Name the revision, or leave it out.")
    at = _time(parameters[way], way)
    return Moment(as_of=at) if way == "as_of" else Moment(world_time=at)


def _number(parameters: Mapping[str, str], name: str) -> int:
    text = parameters[name]
    if not (text.isascii() and text.isdecimal()) or len(text) > 18 or int(text) > _MOST:
        raise InvalidParameter(f"The link's '{name}' is {text[:40]!r}; it must be a whole number, 0 or more.")
    return int(text)


def _time(text: str, name: str) -> datetime:
    try:
        at = parse_time(text)
    except ValueError as error:
        raise InvalidParameter(f"The link's '{name}' {error}.") from error
    if not FIRST_YEAR <= at.astimezone(UTC).year <= LAST_YEAR:
        raise InvalidParameter(
            f"The link's '{name}' is {at.isoformat()}; it must lie between {FIRST_YEAR} and {LAST_YEAR}."
        )
    return at


def _written(at: datetime) -> str:
    """A time in UTC with a Z: a plus would have to be escaped in a link."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
