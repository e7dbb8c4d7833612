"""Threshold: how many cues are answered, and how many without an answer are not, at each threshold.

From a file of the form ``{"paraphrases": [{"memory", "cue"}], "unrelated": [cues]}`` every cue is asked of all its
memories together, a day after they happened; from a data set every question of all its memories. All are of middling
importance in one long-term memory, asked with the preset ``balanced``, so that the confidence has to exceed
the threshold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from ..core.entry import MemoryEntry, Tier
from ..core.files import read_at_most
from ..core.presets import DEFAULT
from ..core.scoring import Floats
from ..embedding.embedder import Embedder
from ..errors import InvalidFile, Problem
from ..recall.cue_vectors import cue_vectors
from ..recall.hybrid import TokenStates
from ..recall.measures import Hybrid
from ..recall.query import Query
from ..recall.rank import answer
from ..recall.table import Table
from ..recall.verdicts import Candidate
from .data import UNRATED, DataSet, Form, Question
from .forms import MAX_FILE

_NOW = datetime(2026, 3, 27, 18, 0, tzinfo=UTC)
STEPS = tuple(step / 20 for step in range(1, 20))
SEATS = 5
"""An answer counts if it is among the first five, the default."""


@dataclass(frozen=True)
class Pairs:
    """Memories with one cue each that asks for it in other words, and cues that none of them answers."""

    name: str
    memories: tuple[str, ...]
    cues: tuple[str, ...]
    unrelated: tuple[str, ...]

    def part(self, first: int, step: int) -> DataSet:
        """Every ``step``-th memory from the ``first`` on, with its cue and as many of the unrelated cues."""
        numbers = range(first, len(self.memories), step)
        entries = tuple(
            MemoryEntry(
                self.memories[number],
                id=f"{number:06}",
                tier=Tier.LTM,
                timestamp=_NOW - timedelta(days=1),
                rating=UNRATED,
            )
            for number in numbers
        )
        asked = tuple(Question(self.cues[number], _NOW, frozenset([f"{number:06}"])) for number in numbers)
        others = tuple(Question(cue, _NOW, frozenset()) for cue in self.unrelated[first::step])
        return DataSet(self.name, Form.PLAIN, entries, asked, unanswerable=others)


@dataclass(frozen=True)
class Point:
    """The effect of a threshold, each a share from 0 to 1.

    Args:
        threshold: the confidence to exceed.
        answered: of the cues with an answer, those for which anything is found.
        rightly: of the same, those for which the answer is among the first five and above it.
        nothing: of the cues without an answer, those for which nothing is found.
    """

    threshold: float
    answered: float
    rightly: float
    nothing: float


@dataclass(frozen=True)
class Curve:
    """The effect of each threshold on a data set with so many cues that have an answer, and that have none."""

    name: str
    answerable: int
    unanswerable: int
    points: tuple[Point, ...]


def holds_pairs(path: Path) -> bool:
    """Whether a file holds paraphrases, and is not another form of data."""
    try:
        return path.is_file() and b'"paraphrases"' in read_at_most(path, 1000)
    except OSError:
        return False


def read_pairs(path: Path) -> Pairs:
    """The pairs of a file.

    Raises:
        InvalidFile: it cannot be read, or is not of that form.
    """
    try:
        body = json.loads(read_at_most(path, MAX_FILE))
        pairs = [(paraphrase["memory"], paraphrase["cue"]) for paraphrase in body["paraphrases"]]
        memories, cues = tuple(memory for memory, _ in pairs), tuple(cue for _, cue in pairs)
        found = Pairs(path.stem, memories, cues, tuple(body["unrelated"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = Problem(
            "", f'it is not of the form {{"paraphrases": [{{"memory", "cue"}}], "unrelated": []}}: {error}'
        )
        raise InvalidFile((problem,), str(path)) from error
    texts = (*found.memories, *found.cues, *found.unrelated)
    if not found.memories or not found.unrelated or not all(isinstance(text, str) and text.strip() for text in texts):
        raise InvalidFile((Problem("", "it must hold paraphrases and unrelated cues, none of them empty"),), str(path))
    return found


def asked(
    data: DataSet, questions: Sequence[Question], embedder: Embedder, tokens: TokenStates, seats: int = SEATS
) -> Iterator[tuple[tuple[Candidate, ...], Floats]]:
    """The best memories for each question, at any confidence, and every memory's similarity to the cue, shape (n,).

    Raises:
        EmbedderError: texts could not be embedded.
    """
    tables = {tier: Table() for tier in Tier}
    for entry, vector in zip(data.entries, embedder.embed([entry.document for entry in data.entries]), strict=True):
        tables[Tier.LTM].put(entry, vector)
    hybrid = Hybrid(tokens)
    for question, vector in zip(
        questions, cue_vectors(embedder, [question.cue for question in questions]), strict=True
    ):
        query = Query(question.cue, question.now, top_k=seats, threshold=0.0, scoring=DEFAULT.scoring)
        found = answer(query, vector, tables, "", explain=False, measured=hybrid.measure(query, vector, tables))
        yield found.hits, tables[Tier.LTM].relevancies(vector)


def curve(data: DataSet, embedder: Embedder, thresholds: Sequence[float] = STEPS) -> Curve:
    """The effect of each threshold.

    Raises:
        EmbedderError: texts could not be embedded.
    """
    tokens = TokenStates.of(embedder)

    def best(questions: Sequence[Question]) -> tuple[Floats, Floats]:
        """The highest confidence of any memory, and of a right one."""
        anything, right = [], []
        for question, (hits, _) in zip(questions, asked(data, questions, embedder, tokens), strict=True):
            anything.append(max((hit.score.passing for hit in hits), default=0.0))
            right.append(max((hit.score.passing for hit in hits if hit.entry.id in question.right), default=0.0))
        return np.array(anything), np.array(right)

    (own, right), (other, _) = best(data.questions), best(data.unanswerable)
    points = tuple(
        Point(
            threshold,
            float((own > threshold).mean()),
            float((right > threshold).mean()),
            float((other <= threshold).mean()),
        )
        for threshold in thresholds
    )
    return Curve(data.name, len(own), len(other), points)


def as_markdown(found: Curve) -> str:
    """A table in per cent."""
    rows = [
        f"| {point.threshold:.2f} | {100 * point.answered:.0f} | {100 * point.rightly:.0f} | "
        f"{100 * point.nothing:.0f} |"
        for point in found.points
    ]
    own, others = f"{found.answerable} cues of {found.name} answered", f"{found.unanswerable} others by nothing"
    return "\n".join([f"| threshold | {own} | rightly | {others} |", "|---:|---:|---:|---:|", *rows, ""])
