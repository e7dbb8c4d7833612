"""Gathering: what in an agent's life, its conversations and its documents is most relevant to a question.

From its life, what ``query_memory`` would find above the agent's thresholds counts, whatever its tier. Messages and
documents do not fade: like static memory they are scored by relevancy alone, and have to exceed its threshold, or
``RELEVANT`` if that is a threshold for confidence.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum

import numpy as np

from ..agent import AgentMemory
from ..core.entry import Tier
from ..recall.rank import Explanation
from .functions import Page
from .passages import Hit
from .searching import archival_search, conversation_search

Remembering = AgentMemory
"""An agent as it is, or as it was at a moment."""
RELEVANT = 0.35
"""The relevancy that messages and documents have to exceed if the agent's thresholds are for confidence."""
_ALL = 100
"""Results on the largest page; a search of the archive finds at most two such pages."""


class Where(StrEnum):
    """Where to search."""

    LIFE = "life"
    """Personality, short-term and long-term memory."""
    CONVERSATIONS = "conversations"
    """What was said."""
    DOCUMENTS = "documents"
    """Documents that a person loaded."""


def gather(
    agent: Remembering, question: str, most: int, within: Collection[Where], now: datetime | None
) -> tuple[Hit, ...]:
    """The most relevant, in that order; those of equal relevancy in the order of their ids.

    Raises:
        InvalidParameter: the question is empty or too long, or ``now`` is not a time with a zone.
    """
    found: list[Hit] = []
    if Where.LIFE in within:
        found += _life(agent.explain(question, now=now), most)
    if Where.CONVERSATIONS in within and _holds(agent, Tier.RECALL):
        found += _of(agent, conversation_search(agent, question, at=now, size=most), Tier.RECALL)
    if Where.DOCUMENTS in within and _holds(agent, Tier.ARCHIVE):
        found += _of_documents(agent, question, now)[:most]
    return tuple(sorted(found, key=lambda hit: (-hit.relevancy, hit.entry.id))[:most])


def _life(answer: Explanation, most: int) -> list[Hit]:
    """The candidates above their threshold of the highest relevancy."""
    found: list[tuple[float, str]] = []
    for tier in answer.candidates.tiers:
        relevancies = tier.parts.relevancy
        above = np.flatnonzero(tier.parts.passing > answer.query.threshold_of(tier.tier))
        best = above[np.argsort(-relevancies[above], kind="stable")]
        last = relevancies[best[most - 1]] if len(best) > most else -np.inf
        found += [(-float(relevancies[row]), tier.ids[row]) for row in best.tolist() if relevancies[row] >= last]
    chosen = (answer.candidates.of(entry_id) for _, entry_id in sorted(found)[:most])
    return [
        Hit(candidate.entry, candidate.score.total, candidate.score.relevancy)
        for candidate in chosen
        if candidate is not None
    ]


def _of_documents(agent: Remembering, question: str, now: datetime | None) -> list[Hit]:
    """The passages of documents, which a search of the archive returns together with the agent's life."""
    first = archival_search(agent, question, at=now, size=_ALL)
    more = [archival_search(agent, question, 1, at=now, size=_ALL)] if first.total > _ALL else []
    return [hit for page in (first, *more) for hit in _of(agent, page, Tier.ARCHIVE)]


def _holds(agent: Remembering, tier: Tier) -> bool:
    with agent.contents.shelf(tier) as table:
        return len(table) > 0


def _of(agent: Remembering, page: Page, tier: Tier) -> list[Hit]:
    """What on a page is from one tier, and relevant enough."""
    settings = agent.settings
    threshold = RELEVANT if settings.scoring.confident else settings.static_threshold
    pairs = ((agent.find(item.entry_id), item.score) for item in page.found if item.score > threshold)
    return [Hit(entry, score, score) for entry, score in pairs if entry is not None and entry.tier is tier]
