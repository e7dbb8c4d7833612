"""Lineage: what a memory rests on and what rests on it, both ways, through summaries to forgotten originals. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..core.entry import MemoryEntry

MOST = 200
"""How many memories one lineage has; if there are more, the nearest to the one asked about."""

Look = Callable[[Collection[str]], Mapping[str, MemoryEntry]]
"""The memories of these ids as they are or last were; unknown ids are left out."""
Near = Callable[[Sequence[MemoryEntry]], Iterable[tuple[str, str]]]
"""Pairs of a memory and one that is a step further on, by id."""


@dataclass(frozen=True)
class Kin:
    """One memory of a lineage.

    Args:
        entry: as it is, or as it last was.
        level: 0 = the memory asked about; below 0 what it rests on, above 0 what rests on it. A memory is further away
            than all those between it and the one asked about.
        forgotten: it is no longer in recall.
        stale: what it rests on has changed since.
    """

    entry: MemoryEntry
    level: int
    forgotten: bool = False
    stale: bool = False


@dataclass(frozen=True)
class Lineage:
    """Where a memory comes from and where it went.

    Args:
        entry_id: the memory asked about.
        kin: it and its kin, the lowest level first, within a level by time.
        links: pairs of ids: a memory, and one that rests on it.
        unknown: how many cited memories never existed.
        more: how many are too far away, or too many, and are not among ``kin``, as far as was checked.
    """

    entry_id: str
    kin: tuple[Kin, ...]
    links: tuple[tuple[str, str], ...]
    unknown: int = 0
    more: int = 0

    def of(self, entry_id: str) -> Kin | None:
        """The kin of this id."""
        return next((kin for kin in self.kin if kin.entry.id == entry_id), None)


@dataclass
class _Side:
    """One way from the memory asked about: what was found, and over which links."""

    found: dict[str, MemoryEntry]
    links: set[tuple[str, str]]
    unknown: set[str]
    beyond: set[str]


def trace(
    entry: MemoryEntry, depth: int, look: Look, cites: Near, *, held: Callable[[str], bool], stale: Collection[str]
) -> Lineage:
    """The lineage of a memory.

    Args:
        entry: the memory, as it is or last was.
        depth: how many steps to go each way.
        look: returns the memories of ids.
        cites: for memories, pairs of each and the id of one that rests on it, or did so.
        held: whether a memory is in recall.
        stale: ids of memories of which something that they rest on has changed.
    """
    room = MOST - 1
    down = _walked(entry, depth, room // 2, look, _rests)
    room -= len(down.found) - 1
    up = _walked(entry, depth, room, look, cites)
    links = {(source, entry_id) for entry_id, source in down.links if entry_id != source} | set(
        _leading(up, entry.id, held)
    )
    levels = _levels(entry.id, links)
    everything = {**up.found, **down.found}
    kin = [
        Kin(everything[entry_id], level, not held(entry_id), entry_id in stale) for entry_id, level in levels.items()
    ]
    return Lineage(
        entry.id,
        tuple(sorted(kin, key=lambda relative: (relative.level, *_by_time(relative.entry)))),
        tuple(sorted(links)),
        len(down.unknown),
        len((down.beyond | up.beyond) - levels.keys()),
    )


def _rests(some: Sequence[MemoryEntry]) -> list[tuple[str, str]]:
    return [(entry.id, source) for entry in some for source in entry.evidence]


def _by_time(entry: MemoryEntry) -> tuple[float, str]:
    return (entry.timestamp.timestamp() if entry.timestamp else float("-inf"), entry.id)


def _walked(entry: MemoryEntry, depth: int, room: int, look: Look, near: Near) -> _Side:
    """All memories within this many steps, the nearest first, up to the limit."""
    side = _Side({entry.id: entry}, set(), set(), set())
    reached: Sequence[MemoryEntry] = [entry]
    for _ in range(depth):
        pairs = list(dict.fromkeys(near(reached)))
        fresh = look([other for _, other in pairs if other not in side.found])
        side.unknown |= {other for _, other in pairs if other not in side.found and other not in fresh}
        reached = sorted(fresh.values(), key=_by_time)
        free = max(0, room + 1 - len(side.found))
        side.beyond |= {entry.id for entry in reached[free:]}
        reached = reached[:free]
        side.found |= {entry.id: entry for entry in reached}
        side.links |= {(entry_id, other) for entry_id, other in pairs if other in side.found}
        if not reached:
            return side
    side.beyond |= {other for _, other in near(reached) if other not in side.found}
    return side


def _leading(up: _Side, centre: str, in_recall: Callable[[str], bool]) -> Iterable[tuple[str, str]]:
    """The links upwards that lead to a memory in recall: forgotten derivations are not of interest."""
    onward: dict[str, list[str]] = {}
    for source, entry_id in up.links:
        onward.setdefault(entry_id, []).append(source)
    waiting = [entry_id for entry_id in up.found if entry_id != centre and in_recall(entry_id)]
    leading = set(waiting)
    while waiting:
        for source in onward.get(waiting.pop(), ()):
            if source not in leading:
                leading.add(source)
                waiting.append(source)
    return ((source, entry_id) for source, entry_id in up.links if entry_id in leading and entry_id != source)


def _levels(centre: str, links: Collection[tuple[str, str]]) -> dict[str, int]:
    """The level of each memory: by the longest way to it, or by the shortest if there are cycles."""
    up: dict[str, list[str]] = {}
    down: dict[str, list[str]] = {}
    for source, entry_id in sorted(links):
        up.setdefault(source, []).append(entry_id)
        down.setdefault(entry_id, []).append(source)
    levels = _longest(centre, up)
    below = {entry_id: -level for entry_id, level in _longest(centre, down).items() if entry_id not in levels}
    return levels | below


def _longest(centre: str, onward: Mapping[str, Sequence[str]]) -> dict[str, int]:
    order: list[str] = []
    state: dict[str, bool] = {}  # False = on the way to it, True = all beyond it is known
    turned: set[tuple[str, str]] = set()
    stack = [(centre, iter(onward.get(centre, ())))]
    state[centre] = False
    while stack:
        entry_id, rest = stack[-1]
        following = next(rest, None)
        if following is None:
            state[entry_id] = True
            order.append(entry_id)
            stack.pop()
        elif following not in state:
            state[following] = False
            stack.append((following, iter(onward.get(following, ()))))
        elif not state[following]:
            turned.add((entry_id, following))
    levels = dict.fromkeys(state, 0)
    for entry_id in reversed(order):
        for following in onward.get(entry_id, ()):
            if (entry_id, following) not in turned:
                levels[following] = max(levels[following], levels[entry_id] + 1)
    return levels
