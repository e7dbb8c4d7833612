"""Relived: a logged query as it was answered then, beside what it would recall now, and why the two differ."""

from __future__ import annotations

from dataclasses import dataclass

from ..recall.query import Query
from ..recall.rank import Explanation
from ..store.query_log import LoggedQuery
from .shifts import Difference, quoted

_SAME = 1e-6
"""Scores that differ by less are the same: the last bits may depend on how many were computed at once."""


@dataclass(frozen=True)
class Relived:
    """A logged query, lived through again.

    Args:
        logged: what was asked and answered.
        then: every memory of then with its verdict, rebuilt.
        now: the same asked now.
        doubts: where ``then`` is not what was logged, in sentences; empty if it is the same answer.
        parameters: what is asked otherwise now, since the settings have changed, in sentences.
        differences: the memories by which the answers differ: those that left, entered and moved.
    """

    logged: LoggedQuery
    then: Explanation
    now: Explanation
    doubts: tuple[str, ...]
    parameters: tuple[str, ...]
    differences: tuple[Difference, ...]

    @property
    def faithful(self) -> bool:
        """Whether what was rebuilt is what was logged: the same memories in the same order, with the same scores."""
        return not self.doubts


def doubts(logged: LoggedQuery, then: Explanation, embedder: str) -> tuple[str, ...]:
    """Where what was rebuilt is not what was logged, in sentences.

    Args:
        logged: what was answered.
        then: the same rebuilt.
        embedder: the identity of what makes the vectors now.
    """
    found: list[str] = []
    if logged.embedder != embedder:
        found.append(
            f"It was asked with the vectors of {logged.embedder!r}, and is rebuilt with those of {embedder!r}."
        )
    rebuilt = then.hits
    if len(rebuilt) != logged.recalled:
        found.append(f"{logged.recalled} memories were recalled, and {len(rebuilt)} are when it is rebuilt.")
    elif any(
        hit.entry_id != again.entry.id and abs(hit.score.total - again.score.total) > _SAME
        for hit, again in zip(logged.hits, rebuilt, strict=False)
    ):
        found.append("Other memories, or in another order, were recalled than when it is rebuilt.")
    by_id = {hit.entry.id: hit for hit in rebuilt}
    for hit in logged.hits:
        again = by_id.get(hit.entry_id)
        if again is not None and abs(again.score.total - hit.score.total) > _SAME:
            found.append(
                f"“{quoted(again.entry)}” had a score of {hit.score.total:.4f}, "
                f"and has {again.score.total:.4f} when it is rebuilt."
            )
    return tuple(found)


def parameters(then: Query, now: Query) -> tuple[str, ...]:
    """What is asked otherwise now, in sentences; the time aside."""
    told = [
        f"The {words} was {before:g} and is {after:g}."
        for words, before, after in (
            ("number of seats", then.top_k, now.top_k),
            ("threshold", then.threshold, now.threshold),
            ("static threshold", then.static_threshold, now.static_threshold),
            ("static share", then.static_share, now.static_share),
            ("decay", then.scoring.decay, now.scoring.decay),
            ("weight of recency", then.scoring.weights.recency, now.scoring.weights.recency),
            ("weight of importance", then.scoring.weights.importance, now.scoring.weights.importance),
            ("weight of relevancy", then.scoring.weights.relevancy, now.scoring.weights.relevancy),
        )
        if before != after
    ]
    if then.scoring.measure != now.scoring.measure:
        told.append(f"Relevancy was measured by {then.scoring.measure} and is by {now.scoring.measure}.")
    if then.scoring.normalise != now.scoring.normalise:
        told.append(f"The parts were {_scaled(then)} and are {_scaled(now)}.")
    return tuple(told)


def _scaled(query: Query) -> str:
    return "scaled by their least and greatest" if query.scoring.normalise else "taken as they are"
