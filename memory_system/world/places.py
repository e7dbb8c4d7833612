"""Places and what they are in, according to the characters' personalities: a room in a house, a house in a village."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..core.personality import Personality


@dataclass(frozen=True)
class Located:
    """A place of a world.

    Args:
        place: its name.
        within: the place that it is in; empty if no personality says so.
    """

    place: str
    within: str = ""


def places_of(personalities: Iterable[Personality | None], more: Iterable[str] = ()) -> tuple[Located, ...]:
    """The places of environments and routines by name; if two disagree on where one is, the first counts.

    Args:
        personalities: the characters' personalities.
        more: the names of other places, such as those where something happened.
    """
    found: dict[str, Located] = {}
    for about in personalities:
        for place, within in _named(about) if about else ():
            for location in (Located(place, within), Located(within)):
                first = found.get(location.place.casefold())
                if location.place and (first is None or (location.within and not first.within)):
                    found[location.place.casefold()] = Located(
                        first.place if first else location.place, location.within
                    )
    for name in filter(None, more):
        found.setdefault(name.casefold(), Located(name))
    return tuple(sorted(found.values(), key=lambda location: location.place.casefold()))


def lies_in(place: str, at: str, within: Mapping[str, str]) -> bool:
    """Whether a place is this one, or inside it at any depth.

    Args:
        place: the name of a place, in any case.
        at: the name of another.
        within: the place that each place is in, by its name in lower case.
    """
    seen, here = set[str](), place.casefold()
    while here and here not in seen:
        if here == at.casefold():
            return True
        seen.add(here)
        here = within.get(here, "").casefold()
    return False


def _named(about: Personality) -> Iterable[tuple[str, str]]:
    yield from ((place.place, place.within or "") for place in about.environment)
    yield from ((routine_item.place, "") for routine_item in about.routine if routine_item.place)
