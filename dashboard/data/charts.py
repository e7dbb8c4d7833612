"""The map of memories: a point for each memory, and the names of its clusters.

Imports no streamlit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memory_system import Tier
from memory_system.core import DECAYING
from memory_system.world.cast import Chart, Cluster, Point

from . import tables

_HALF = 10_000
"""From the middle of the plane to its edge; whole numbers, because they are short."""
_TOLD, _MOST_TOLD = 140, 10_000
"""The most characters in a memory's tooltip, and how many memories can have one."""
_TALL, _LINE = 400, 22
"""Pixels from the lowest point to the highest, and from one name to the next."""


def mark(point: Point) -> str:
    """What distinguishes a memory from all others of the world."""
    return f"{point.agent}/{point.memory}"


def label(cluster: Cluster) -> str:
    """A cluster by its name, and how many memories it has."""
    return f"{tables.visible(cluster.name) or 'other words'} {cluster.count:,}"


def drawing(chart: Chart, *, named: Mapping[str, str] | None) -> dict[str, Any]:
    """Memories on a plane, as the map draws them: one column per property.

    Args:
        chart: their positions.
        named: by the names of agents, the owner shown at a point; ``None`` = nothing.
    """
    points = chart.points
    with_tooltip = _tooltip_rows(points)
    shifts = apart(chart.clusters)
    counts = Counter(point.tier for point in points)
    return {
        "label": f"{tables.counted(len(points), 'memory', 'memories')} in "
        f"{tables.counted(len(chart.clusters), 'cluster', 'clusters')}.",
        "none": "Point at a memory to read it.",
        "x": [round(_HALF * point.x) for point in points],
        "y": [round(_HALF * point.y) for point in points],
        "size": [round(10 * (point.importance or 0.0)) for point in points],
        "hollow": [int(point.tier is Tier.STM) for point in points],
        "of": [point.cluster for point in points],
        "text": [tables.short(point.text, _TOLD) if row in with_tooltip else "" for row, point in enumerate(points)],
        "who": [named[point.agent] for point in points] if named else None,
        "clusters": [
            {
                "number": cluster.number, "name": tables.visible(cluster.name), "label": label(cluster),
                "up": shifts[cluster.number],
                "x": round(_HALF * cluster.x), "y": round(_HALF * cluster.y),
            }
            for cluster in sorted(chart.clusters, key=lambda cluster: cluster.number)
        ],
        "legend": [
            {"label": f"{tables.TIERS[tier]} {counts[tier]:,}", "hollow": tier is Tier.STM}
            for tier in DECAYING
            if counts[tier]
        ],
    }  # fmt: skip


def _tooltip_rows(points: Sequence[Point]) -> set[int]:
    """The positions of the memories with a tooltip: the most important, if there are very many."""
    by_importance = sorted(range(len(points)), key=lambda row: points[row].importance or 0.0, reverse=True)
    return set(by_importance[:_MOST_TOLD])


def apart(clusters: Sequence[Cluster]) -> dict[int, float]:
    """How many pixels up the names of clusters move, by number, so that none covers another at any width."""
    upwards = sorted(clusters, key=lambda cluster: cluster.y)
    found: list[float] = []
    for cluster in upwards:
        at = (cluster.y + 1) / 2 * _TALL
        found.append(max(at, found[-1] + _LINE) if found else at)
    over = max(0.0, found[-1] - _TALL) if found else 0.0  # overflow at the top: all move down by half of it
    return {
        cluster.number: round(at - over / 2 - (cluster.y + 1) / 2 * _TALL, 1)
        for cluster, at in zip(upwards, found, strict=True)
    }
