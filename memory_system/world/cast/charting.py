"""A map of memories: their vectors on a plane, in clusters that are named after their most telling words.

The same memories are always at the same places: nothing is random. The plane has the two
directions in which the vectors differ most (principal components), each turned so that its strongest number is above 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ...core.entry import DECAYING, MemoryEntry, Tier
from ...core.kinds import Kind
from ...operations.edit import listed
from ...recall.hybrid.words import words
from ..trail import Cast

_DIRECTIONS = 24
"""How many directions are used for clusters: the rest of a vector says more about words than about the content."""
_MOST, _ROUNDS, _WORDS = 12, 30, 3
_SHORTEST_WORD = 3
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """A memory on the map.

    Args:
        agent: whose memory it is.
        memory: its id.
        x: where it lies from left to right, -1 to 1.
        y: where it lies from bottom to top, -1 to 1.
        tier: its tier.
        importance: 0 to 1; ``None`` if it is not rated.
        at: when it happened, in the time of the world; ``None`` if it has no time.
        cluster: the number of its cluster.
        text: what it says.
    """

    agent: str
    memory: str
    x: float
    y: float
    tier: Tier
    importance: float | None
    at: datetime | None
    cluster: int
    text: str


@dataclass(frozen=True)
class Cluster:
    """Memories that are near each other.

    Args:
        number: its number in the points, from 0; the largest cluster comes first.
        name: the words that distinguish it from the others.
        count: how many memories it has.
        x: where its middle lies from left to right, -1 to 1.
        y: where its middle lies from bottom to top, -1 to 1.
    """

    number: int
    name: str
    count: int
    x: float
    y: float


@dataclass(frozen=True)
class Chart:
    """A map of memories.

    Args:
        points: the memories, by character and id.
        clusters: the largest first.
        kept: the share of all differences between the vectors that the plane shows, 0 to 1.
        left_out: how many memories have no vector of the embedder in use, and are not on it.
    """

    points: tuple[Point, ...]
    clusters: tuple[Cluster, ...]
    kept: float
    left_out: int


def chart(world: Cast, names: str | Sequence[str] = ()) -> Chart:
    """The memories of some characters, or of all, on a plane where near means alike; touches nothing.

    Plans are left out: they describe what has not happened, all in the same words.

    Args:
        world: the characters' world.
        names: the characters; all if nobody is named.

    Raises:
        AgentNotFound: there is no such character.
    """
    rows = [row for name in listed(names, "'names'") or world.characters() for row in _rows(world, name)]
    widths = Counter(len(vector) for *_, vector in rows if len(vector))
    width = max(widths, key=lambda length: (widths[length], length), default=-1)
    memories = sorted((row for row in rows if len(row[2]) == width), key=lambda row: (row[0], row[1].id))
    if not memories:
        return Chart((), (), 0.0, len(rows))
    places, kept = _directions(np.stack([vector for *_, vector in memories]).astype(np.float64))
    of = _clusters(places)
    plane = _plane(places)
    names_of = _named([entry.document for _, entry, _ in memories], of)
    points = tuple(
        Point(
            agent, entry.id, float(x), float(y), entry.tier, entry.importance, entry.timestamp, int(number),
            entry.document,
        )
        for (agent, entry, _), (x, y), number in zip(memories, plane, of, strict=True)
    )  # fmt: skip
    clusters = tuple(
        Cluster(
            number, name, int((of == number).sum()), *(round(float(mean), 6) for mean in plane[of == number].mean(0))
        )
        for number, name in enumerate(names_of)
    )
    return Chart(points, clusters, kept, len(rows) - len(memories))


def _rows(world: Cast, name: str) -> Iterator[tuple[str, MemoryEntry, NDArray[np.float32]]]:
    """The memories of a character with their vectors, empty where there is none."""
    agent = world.agent(name)
    for tier in DECAYING:
        with agent.contents.shelf(tier) as table:
            missing = set(map(int, table.rows_without_vector()))
            for row, entry in enumerate(table.entries[: len(table)]):
                if entry.kind is not Kind.PLAN:
                    vector = table.vectors[row] if row not in missing else np.zeros(0)
                    yield name, entry, np.array(vector, np.float32)


def _directions(vectors: Floats) -> tuple[Floats, float]:
    """The vectors along the directions in which they differ most, and the share of that which the first two show."""
    away = vectors - vectors.mean(axis=0)
    values, directions = np.linalg.eigh(away.T @ away)
    order = np.argsort(-values, kind="stable")[:_DIRECTIONS]
    chosen = directions[:, order]
    strongest = chosen[np.abs(chosen).argmax(axis=0), np.arange(chosen.shape[1])]
    chosen = chosen * np.where(strongest < 0, -1.0, 1.0)
    total = float(values.clip(0).sum())
    kept = float(values[order[:2]].clip(0).sum()) / total if total > 0 else 0.0
    return away @ chosen, round(min(kept, 1.0), 4)


def _plane(places: Floats) -> Floats:
    """The first two directions, -1 to 1."""
    two = np.zeros((len(places), 2))
    two[:, : min(2, places.shape[1])] = places[:, :2]
    widest = float(np.abs(two).max())
    return np.round(two / widest, 6) if widest > 0 else two


def _clusters(places: Floats) -> NDArray[np.int64]:
    """The cluster of each, numbered by size: k-means from centres that lie as far apart as they can."""
    many = min(_MOST, max(1, round(math.sqrt(len(places) / 6))), len(places))
    centres = [places[int(np.linalg.norm(places, axis=1).argmin())]]
    nearest = np.linalg.norm(places - centres[0], axis=1)
    while len(centres) < many and nearest.max() > 0:
        centres.append(places[int(nearest.argmax())])
        nearest = np.minimum(nearest, np.linalg.norm(places - centres[-1], axis=1))
    middle = np.stack(centres)
    of = _nearest(places, middle)
    for _ in range(_ROUNDS):
        middle = np.stack(
            [
                places[of == cluster].mean(0) if (of == cluster).any() else middle[cluster]
                for cluster in range(len(middle))
            ]
        )
        moved = _nearest(places, middle)
        if (moved == of).all():
            break
        of = moved
    sizes = np.bincount(of, minlength=len(middle))
    order = [int(cluster) for cluster in np.argsort(-sizes, kind="stable") if sizes[cluster]]
    number = {old: new for new, old in enumerate(order)}
    return np.array([number[int(cluster)] for cluster in of], np.int64)


def _nearest(places: Floats, middle: Floats) -> NDArray[np.int64]:
    apart = (middle**2).sum(1)[None, :] - 2 * places @ middle.T
    return np.asarray(apart.argmin(axis=1), np.int64)


def _named(texts: Sequence[str], of: NDArray[np.int64]) -> list[str]:
    """What distinguishes each cluster: the words of many of its texts that are rare in others (tf-idf)."""
    stems: list[set[str]] = []
    written: dict[str, Counter[str]] = {}
    for text in texts:
        own = set[str]()
        for word in words(text):
            if word.stem and len(word.written) >= _SHORTEST_WORD and not word.plain.isdigit():
                own.add(word.stem)
                written.setdefault(word.stem, Counter())[word.plain if word.start == 0 else _bare(word.written)] += 1
        stems.append(own)
    everywhere = Counter(stem for own in stems for stem in own)
    names = []
    for number in range(int(of.max()) + 1):
        here = [own for own, cluster in zip(stems, of, strict=True) if cluster == number]
        counted = Counter(stem for own in here for stem in own)
        weight = {
            stem: many * math.log(many * len(texts) / (len(here) * everywhere[stem])) for stem, many in counted.items()
        }
        best = sorted(weight, key=lambda stem: (-weight[stem], stem))[:_WORDS]
        names.append(", ".join(_most_written(written[stem]) for stem in best))
    return names


def _most_written(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))


def _bare(written: str) -> str:
    """A word without an ending such as 's, its capitals as they are."""
    return written.removesuffix("'s").removesuffix("’s")
