"""Every question of every data set under every preset, with its time.

This is the product's recall as a ranking: the only module here that knows how recall is called.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

import numpy as np

from ..core.change_set import counted, so_many
from ..core.decay import DecayForm
from ..core.entry import MemoryEntry, Tier
from ..core.memory import Vectors
from ..core.presets import PRESETS
from ..core.scoring import Measure, Scoring, Weights
from ..embedding.embedder import Embedder
from ..errors import InvalidParameter, there_is_no
from ..recall.cue_vectors import cue_vectors
from ..recall.hybrid import TokenStates
from ..recall.measures import Hybrid
from ..recall.query import Query
from ..recall.rank import answer
from ..recall.table import Table
from .data import DataSet, Question
from .metrics import DEPTH, NAMES, Floats, measures

COSINE, ALONE = "cosine", "hybrid alone"
"""Not presets of the product: the vectors alone, as the baseline of every preset, and hybrid relevancy without
recency and importance."""
TIME_WEIGHTED = "time-weighted"
"""LangChain's TimeWeightedVectorStoreRetriever with its defaults: .99 to the power of the hours since the last access
plus the relevancy that its store derives from the distance."""

SCORINGS: Mapping[str, Scoring] = MappingProxyType(
    {
        COSINE: Scoring(Weights(recency=0.0, importance=0.0, relevancy=1.0)),
        ALONE: Scoring(Weights(recency=0.0, importance=0.0, relevancy=1.0), measure=Measure.HYBRID),
        TIME_WEIGHTED: Scoring(Weights(recency=1.0, importance=0.0, relevancy=1.0), decay=0.99),
    }
    | {name: preset.scoring for name, preset in PRESETS.items()}
)
"""What can be evaluated, by name. For unit vectors 1 / (1 + distance) grows with the cosine, so both rank alike."""


def checked(names: Sequence[str]) -> tuple[str, ...]:
    """These names of presets, each once; if none is named, all of them except ``TIME_WEIGHTED``.

    Raises:
        InvalidParameter: there is no such preset.
    """
    for name in names:
        if name not in SCORINGS:
            raise InvalidParameter(there_is_no("preset", name, SCORINGS))
    return tuple(dict.fromkeys(names)) or tuple(name for name in SCORINGS if name != TIME_WEIGHTED)


class Ranker(Protocol):
    """Anything that ranks its memories by how well they answer a cue."""

    def put(self, entry: MemoryEntry, vector: Vectors) -> None:
        """Add or replace a memory; ``vector`` has shape (d,) and unit length."""

    def drop(self, entry_id: str) -> None:
        """Remove a memory; an unknown one is ignored."""

    def know(self, cue: str, vector: Vectors) -> None:
        """Store the vector of a cue, so that embedding is not part of ranking."""

    def rank(self, cue: str, now: datetime, preset: str) -> list[str]:
        """The ids of the best ``DEPTH`` memories for a cue asked at ``now``, best first."""


class TierRanker:
    """Ranks as the product recalls: one long-term tier in memory, no threshold, no accesses noted."""

    def __init__(self, embedder: Embedder, decay_form: DecayForm = DecayForm.EXPONENTIAL) -> None:
        self._decay_form = decay_form
        self._hybrid = Hybrid(TokenStates.of(embedder))
        self._tables = {tier: Table() for tier in Tier}
        self._cues: dict[str, Vectors] = {}

    def put(self, entry: MemoryEntry, vector: Vectors) -> None:
        """Add or replace a memory; ``vector`` has shape (d,) and unit length."""
        self._tables[Tier.LTM].put(entry, vector)

    def drop(self, entry_id: str) -> None:
        """Remove a memory; an unknown one is ignored."""
        self._tables[Tier.LTM].drop(entry_id)

    def know(self, cue: str, vector: Vectors) -> None:
        """Store the vector of a cue, so that embedding is not part of ranking."""
        self._cues[cue] = vector

    def rank(self, cue: str, now: datetime, preset: str) -> list[str]:
        """The ids of the best ``DEPTH`` memories for a cue asked at ``now``, best first.

        Equal scores are in the order of their ids, as in every answer of the product.
        """
        scoring = replace(SCORINGS[preset], decay_form=self._decay_form)
        return self.answered(Query(cue, now, top_k=DEPTH, threshold=0.0, static_threshold=0.0, scoring=scoring))

    def answered(self, query: Query) -> list[str]:
        """The ids of the answer to a query whose cue, and instances, are known, best first."""
        vectors = [self._cues[cue] for cue in (query.cue, *query.instances)]
        measured = self._hybrid.measured(query, vectors, self._tables)
        found = answer(query, vectors[0], self._tables, "", explain=False, measured=measured)
        return [hit.entry.id for hit in found.hits]


Say = Callable[[str], None]
"""Called with a line of progress."""

_BATCH = 256
"""Texts embedded between two lines of progress."""
_STEP = 50
"""Questions asked between two lines of progress."""


@dataclass(frozen=True)
class Outcome:
    """The results of one data set: for each preset a row of measures and a time for each question.

    Args:
        data: what was asked.
        values: by preset, shape (n, 6), in the order of the questions and of ``metrics.NAMES``.
        milliseconds: by preset, shape (n,), without embedding the cue.
        embedding: milliseconds to embed a cue by itself, the median.
    """

    data: DataSet
    values: dict[str, Floats]
    milliseconds: dict[str, Floats]
    embedding: float


def run(
    data: DataSet,
    presets: Sequence[str],
    embedder: Embedder,
    say: Say,
    decay_form: DecayForm = DecayForm.EXPONENTIAL,
) -> Outcome:
    """Ask a data set under presets; nothing outside this process is changed.

    Args:
        data: what is asked.
        presets: names that the ranker knows.
        embedder: texts to vectors; without a cache, or the time of embedding would be wrong.
        say: called with lines of progress.
        decay_form: the curve by which recency falls, whatever the preset; nothing is recalled before it is asked, so
            that ``spaced`` equals ``exponential`` here.

    Raises:
        EmbedderError: texts could not be embedded.
    """
    vectors = embedded(data, embedder, say)
    ranker = TierRanker(embedder, decay_form)
    embedding = know_cues(data, ranker, embedder)
    count = len(data.questions)
    values = {preset: np.empty((count, len(NAMES))) for preset in presets}
    milliseconds = {preset: np.empty(count) for preset in presets}
    for done, (row, question) in enumerate(in_their_time(data, ranker, vectors)):
        if done % _STEP == 0:
            say(f"{data.name}: asked {done:,} of {counted(count, 'question')}")
        first = done % len(presets)  # each in turn, so that none always pays for what the others find cached
        for preset in (*presets[first:], *presets[:first]):
            started = time.perf_counter()
            ranking = ranker.rank(question.cue, question.now, preset)
            milliseconds[preset][row] = (time.perf_counter() - started) * 1000
            values[preset][row] = measures(ranking, question.right, question.wrong)
    return Outcome(data, values, milliseconds, embedding)


def embedded(data: DataSet, embedder: Embedder, say: Say) -> dict[str, Vectors]:
    """The vector of each text in the data set, by the text."""
    texts = list(dict.fromkeys(entry.document for entry in data.entries))
    vectors: dict[str, Vectors] = {}
    for start in range(0, len(texts), _BATCH):
        say(f"{data.name}: embedded {start:,} of {so_many(len(texts))}")
        batch = texts[start : start + _BATCH]
        vectors |= dict(zip(batch, embedder.embed(batch), strict=True))
    return vectors


def know_cues(data: DataSet, ranker: Ranker, embedder: Embedder) -> float:
    """Embed the cues one by one, as in real use; return the median in milliseconds."""
    spent = []
    for cue in dict.fromkeys(question.cue for question in data.questions):
        started = time.perf_counter()
        (vector,) = cue_vectors(embedder, [cue])
        spent.append((time.perf_counter() - started) * 1000)
        ranker.know(cue, vector)
    return float(np.median(spent))


def in_their_time(data: DataSet, ranker: Ranker, vectors: dict[str, Vectors]) -> Iterator[tuple[int, Question]]:
    """Each question with its row, while the ranker holds what happened before it, and not the cue itself."""
    rows = list(range(len(data.questions)))
    place = 0
    if data.lived:
        rows.sort(key=lambda row: data.questions[row].now)
    for row in rows:
        question = data.questions[row]
        while place < len(data.entries) and (not data.lived or _before(data, place, question)):
            ranker.put(data.entries[place], vectors[data.entries[place].document])
            place += 1
        if question.itself is None:
            yield row, question
            continue
        ranker.drop(question.itself)
        yield row, question
        again = next((entry for entry in reversed(data.entries[:place]) if entry.id == question.itself), None)
        if again is not None:
            ranker.put(again, vectors[again.document])


def _before(data: DataSet, place: int, question: Question) -> bool:
    moment = data.entries[place].timestamp
    return moment is None or moment < question.now
