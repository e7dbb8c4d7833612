"""A long life as the timeline draws it: bands, density, the strongest memories, and what reflections rest on."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_system import Kind, MemoryEntry

from .tables import happens, short
from .zone import stamp

HOUR, DAY = 3600.0, 86400.0
SIX_WEEKS = 42 * DAY
SHORTEST = HOUR
"""Seconds of the smallest window."""
MOST = 300
"""The most memories in a window that are drawn one by one; of more, the density and the strongest are drawn."""
STRONGEST, THOUGHTS, PARTS = 60, 18, 18
"""How many of more memories and reflections are drawn, and over how many equal parts of the window they spread."""
BINS, STEPS = 120, 11
"""Columns and rows of the density; the strip of the whole life has as many columns."""
_TEXT, _NUDGE = 160, 0.05
_FIRST, _LAST = (datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (2, 9998))
"""The limits of a window, so that it has a date in every zone."""
HIGHEST = 1.06
"""The height, by importance, above which reflections and summaries are drawn; the timeline's script has it, too."""
_ABOVE = (Kind.REFLECTION, Kind.SUMMARY)
"""The kinds that are drawn above the memories that they rest on."""
_DAYS, _WEEKS, _MONTHS = 12 * DAY, 120 * DAY, 1500 * DAY
"""The longest windows with a band for each day, week and month."""


class Life:
    """All memories that have a time, the earliest first, and when and how strong they are."""

    def __init__(self, entries: Iterable[MemoryEntry]) -> None:
        dated = [(at, entry) for entry in entries if (at := happens(entry))]
        dated.sort(key=lambda pair: (pair[0], pair[1].id))
        self.entries = [entry for _, entry in dated]
        self.times: npt.NDArray[np.float64] = np.array([at.timestamp() for at, _ in dated])
        self.importance: npt.NDArray[np.float64] = np.array([entry.importance or 0.0 for entry in self.entries])
        self.above: npt.NDArray[np.bool_] = np.array([entry.kind in _ABOVE for entry in self.entries], dtype=bool)
        self.place = {entry.id: number for number, entry in enumerate(self.entries)}

    def at(self, entry_id: str) -> float | None:
        """When a memory happened, in seconds since 1970; ``None`` if it has no time or is not here."""
        found = self.place.get(entry_id)
        return None if found is None else float(self.times[found])

    def which(self, shown: Container[MemoryEntry] | None = None) -> npt.NDArray[np.intp]:
        """The positions of the memories that are shown; of all if not given."""
        if shown is None:
            return np.arange(len(self.entries))
        return np.array([number for number, entry in enumerate(self.entries) if entry in shown], dtype=np.intp)


def extent(life: Life, now: datetime) -> tuple[float, float]:
    """From the first memory, or an hour ago, until now or the last memory, whichever is later; at least an hour."""
    end = max(now.timestamp(), float(life.times[-1]) if len(life.times) else 0.0)
    begin = min(float(life.times[0]) if len(life.times) else end, end - SHORTEST)
    return begin, end


def window(
    part: tuple[float, float] | None, whole: tuple[float, float], around: float | None = None
) -> tuple[float, float]:
    """The part of a life that is shown: at least an hour of it, and nothing beyond it.

    Args:
        part: its beginning and end, in seconds since 1970; ``None`` = the last six weeks.
        whole: beginning and end of the life.
        around: a moment to include if no window is wanted.
    """
    begin, end = whole
    if part is None:
        span = min(SIX_WEEKS, end - begin)
        until = end if around is None or around >= end - span else around + span / 2
        part = (until - span, until)
    span = min(max(abs(part[1] - part[0]), SHORTEST), end - begin)
    since = min(max((part[0] + part[1] - span) / 2, begin), end - span)
    return since, since + span


def asked(act: Mapping[str, Any]) -> tuple[tuple[float, float], int] | None:
    """The window that a timeline in a browser requests, and the request's number; ``None`` if it is invalid."""
    wish: list[Any] = [act.get(name) for name in ("since", "until", "turn")]
    if not numbers(wish):
        return None
    since, until, turn = wish
    return ((float(since), float(until)), int(turn)) if _FIRST <= since < until <= _LAST else None


def numbers(some: Sequence[Any]) -> bool:
    """Whether all of them are finite numbers; what a browser sends need not be."""
    return all(isinstance(value, int | float) and abs(value) <= sys.float_info.max for value in some)


def within(second: Any) -> bool:
    """Whether this is a time, in seconds since 1970, that a window may show."""
    return numbers([second]) and _FIRST <= second <= _LAST


def bands(since: float, until: float, now: datetime) -> list[tuple[float, float, str]]:
    """The days, weeks or other bands of a window, in the zone of ``now``: beginning, end and label of each."""
    zone, span = now.tzinfo or UTC, until - since
    at = datetime.fromtimestamp(since, zone)
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if span <= 2 * HOUR:
        begin, step, label = at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0), timedelta(minutes=15), ""
    elif span <= 1.5 * DAY:
        begin, step, label = at.replace(minute=0, second=0, microsecond=0), timedelta(hours=1), ""
    elif span <= _DAYS:
        begin, step, label = midnight, timedelta(days=1), "%a"
    else:
        begin, step, label = midnight - timedelta(days=at.weekday()), timedelta(days=7), "week of"
    if span > _WEEKS:
        return _long(midnight, until, months=span <= _MONTHS, every=max(1, round(span / DAY / 365 / 12)))
    found = []
    while begin.timestamp() < until:
        end = begin + step if label else (begin.astimezone(UTC) + step).astimezone(zone)  # as clocks change
        named = f"{begin:%H:%M}" if not label else f"{_named(begin, label)} {begin.day} {begin:%b}"
        found.append((begin.timestamp(), end.timestamp(), named))
        begin = end
    return found


def _named(begin: datetime, label: str) -> str:
    return f"{begin:%a}" if label == "%a" else label


def _long(midnight: datetime, until: float, *, months: bool, every: int) -> list[tuple[float, float, str]]:
    """Months, or so many years at a time."""
    begin, found = midnight.replace(day=1) if months else midnight.replace(month=1, day=1), []
    while begin.timestamp() < until and begin.year < datetime.max.year - every:
        end = begin.replace(year=begin.year + every)
        if months:
            end = begin.replace(year=begin.year + begin.month // 12, month=begin.month % 12 + 1)
        found.append((begin.timestamp(), end.timestamp(), f"{begin:%b %Y}" if months else f"{begin.year}"))
        begin = end
    return found


def _days(since: float, until: float, now: datetime) -> list[float]:
    """Where each day begins if the bands are weeks."""
    if not _DAYS < until - since <= _WEEKS:
        return []
    at = datetime.fromtimestamp(since, now.tzinfo or UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return [(at + timedelta(days=number)).timestamp() for number in range(1, int((until - since) / DAY) + 1)]


def picture(
    life: Life,
    which: npt.NDArray[np.intp],
    since: float,
    until: float,
    now: datetime,
    first: Collection[str] = (),
) -> dict[str, Any]:
    """What the timeline draws for a window.

    Args:
        life: the life.
        which: the positions in it of the memories that are shown, in order.
        since: beginning of the window, in seconds since 1970.
        until: its end.
        now: the world's time, in whose zone days begin.
        first: ids of memories that are always drawn individually, such as those that were recalled.
    """
    times = life.times[which]
    low, high = np.searchsorted(times, (since, until), side="left")
    here = which[low : high + int(np.searchsorted(times[high:], until, side="right"))]
    thoughts, lived = here[life.above[here]], here[~life.above[here]]
    hits = {life.place[entry_id] for entry_id in first if entry_id in life.place}
    dots = _strongest(life, lived, MOST if len(lived) <= MOST else STRONGEST, hits, (since, until))
    marks = _strongest(life, thoughts, THOUGHTS, hits, (since, until))
    label = f"{_day(since, now)} to {_day(until, now)} · {len(here):,} of {len(which):,}"
    return {
        "since": since,
        "until": until,
        "label": label,
        "bands": [
            {"at": begin, "until": end, "label": name, "count": int(_between(times, begin, end))}
            for begin, end, name in bands(since, until, now)
        ],
        "days": _days(since, until, now),
        "density": _density(life, lived, since, until) if len(lived) > MOST else [],
        "dots": [_dot(life, place, hit=place in hits) for place in sorted(dots)],
        "strong": [life.entries[place].id for place in dots],
        "thoughts": [{**_dot(life, place, hit=place in hits), "rests": _rests(life, place)} for place in sorted(marks)],
    }


def inside(life: Life, which: npt.NDArray[np.intp], box: Sequence[float]) -> list[str]:
    """The ids of the memories that are drawn within a box, the earliest first.

    Args:
        life: the life.
        which: the positions in it of the memories that are shown, in order.
        box: beginning and end in seconds since 1970, and the least and greatest height, by importance; reflections and
            summaries are above everything else, and within a box that reaches higher than importance does.
    """
    since, until, low, high = box
    some = which[(life.times[which] >= since) & (life.times[which] <= until)]
    return [
        life.entries[place].id
        for place in some
        if (high > HIGHEST if life.above[place] else low <= _height(life, place) <= high)
    ]


def strip(life: Life, which: npt.NDArray[np.intp], whole: tuple[float, float]) -> list[int]:
    """How many memories there are in each of ``BINS`` equal parts of a whole life."""
    counts, _ = np.histogram(life.times[which], bins=BINS, range=whole)
    return [int(count) for count in counts]


def _day(at: float, now: datetime) -> str:
    return stamp(datetime.fromtimestamp(at, now.tzinfo or UTC))


def _between(times: npt.NDArray[np.float64], begin: float, end: float) -> int:
    low, high = np.searchsorted(times, (begin, end))
    return int(high - low)


def _strongest(
    life: Life, some: npt.NDArray[np.intp], most: int, first: Collection[int], span: tuple[float, float]
) -> list[int]:
    """At most so many of them: those to draw first, then the strongest of each part of the window in turn."""
    order = some[np.lexsort((-life.times[some], -life.importance[some]))]
    parts = np.clip(PARTS * (life.times[order] - span[0]) / (span[1] - span[0]), 0, PARTS - 1).astype(int)
    by_part = np.argsort(parts, kind="stable")
    turn = np.empty(len(order), dtype=int)  # the rank of each within its part
    turn[by_part] = np.arange(len(order)) - np.searchsorted(parts[by_part], parts[by_part])
    ranked = order[np.argsort(turn, kind="stable")]
    chosen = np.isin(ranked, list(first))
    return [int(place) for place in (*ranked[chosen], *ranked[~chosen][:most])][:most]


def _density(life: Life, some: npt.NDArray[np.intp], since: float, until: float) -> list[tuple[int, int, int]]:
    """Column, row from below and number of memories of every non-empty cell."""
    counts, _, _ = np.histogram2d(
        life.times[some], life.importance[some], bins=(BINS, STEPS), range=((since, until), (-0.05, 1.05))
    )
    return [(int(column), int(row), int(counts[column, row])) for column, row in np.argwhere(counts)]


def _dot(life: Life, place: int, *, hit: bool) -> dict[str, Any]:
    entry, at = life.entries[place], happens(life.entries[place])
    assert at is not None, "a life holds only what has its time"
    return {
        "id": entry.id,
        "at": float(life.times[place]),
        "y": _height(life, place),
        "kind": entry.kind.value,
        "when": stamp(at),
        "told": "unrated" if entry.importance is None else f"importance {entry.importance:.1f}",
        "text": short(entry.document, _TEXT),
        "hit": hit,
    }


def _height(life: Life, place: int) -> float:
    """A memory's height: ten steps of importance would put many on one point, so each is always slightly offset."""
    nudge = zlib.crc32(life.entries[place].id.encode()) / 2**32 - 0.5
    return round(float(life.importance[place]) + nudge * _NUDGE, 3)


def _rests(life: Life, place: int) -> list[dict[str, Any]]:
    """The points of a reflection's evidence, without evidence that has no time."""
    found = [life.place[entry_id] for entry_id in life.entries[place].evidence if entry_id in life.place]
    return [
        {"id": life.entries[source].id, "at": float(life.times[source]), "y": _height(life, source)}
        for source in sorted(found)
    ]
