"""Sifting: the rows of a long table that answer a cue best, without an index of all its words.

Hybrid relevancy needs the words of every text indexed, which takes long for the messages of a talk that went on for
years. So all rows are looked at roughly first: by the similarity of their vectors, by the words and the phrase of the
cue that their text contains, by the time they are of, and by what stands beside them in their conversation. The best of
them are then compared exactly, with words counting by their rarity among all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..memory import Vectors
from ..relevancy import Cue, TextIndex, TokenStates, hybrid
from ..relevancy.index import SATURATION
from ..relevancy.mix import FIRST
from ..relevancy.neighbours import Pairing
from ..scoring import Floats
from ..table import Table

POOL = 60
"""Rows that are compared exactly: the most that is found. On the questions of LoCoMo (Maharana et al. 2024) one of 60
finds as many of the right turns among the first five as comparing all of them does."""
NEAR = 0.2
"""The cosine from which on a text is found by its meaning alone; few unrelated texts have it."""
_SHORTEST = 2
"""Characters of a word or phrase that is looked for as it is written."""

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Places:
    """Where rows stand, side by side.

    Args:
        talks: shape (n,), a number for each conversation or document.
        turns: shape (n,), the place in it.
    """

    talks: NDArray[np.int32]
    turns: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sifted:
    """What was found, the best first.

    Args:
        rows: shape (m,), m at most ``POOL``.
        scores: shape (m,), 0 to 1.
        phrase: shape (m,), whether the text has the cue as it is written.
    """

    rows: Rows
    scores: Floats
    phrase: NDArray[np.bool_]


class _Sample(TextIndex):
    """Some rows of a table, whose words are as rare as they are among all."""

    def __init__(self, rarities: dict[str, float]) -> None:
        super().__init__()
        self._rarities = rarities

    def rarity(self, stem: str) -> float:
        """How much a stem says, counted over the whole table for those of the cue."""
        known = self._rarities.get(stem)
        return super().rarity(stem) if known is None else known


def sift(table: Table, rows: Rows, places: Places, vector: Vectors, cue: Cue, tokens: TokenStates) -> Sifted:
    """What answers a cue among some rows of a table.

    Args:
        table: of the entries.
        rows: shape (n,), those that may be found.
        places: of each of them; neighbours help each other, as in ``relevancy``.
        vector: the cue's, shape (d,).
        cue: the cue as it was read.
        tokens: the token states of the embedder.

    Raises:
        EmbedderError: token states could not be computed.
    """
    if not len(rows):
        return Sifted(rows, np.zeros(0), np.zeros(0, np.bool_))
    similarity = table.relevancies(vector)[rows]
    lacking = np.isnan(similarity)
    cosine = np.where(lacking, 0.0, np.clip(1.5 - 0.5 / np.where(lacking, 1.0, similarity), 0.0, 1.0))
    folded = table.folded
    texts = [folded[row] for row in rows.tolist()]
    phrase = _holding(texts, " ".join(cue.text.split()).casefold().rstrip("?!. "))
    words, rarities = _words(texts, cue)
    pairing = Pairing.of(places.talks, places.turns)
    rough = FIRST.similarity * np.maximum(cosine, pairing.best(cosine))
    rough += FIRST.words * np.maximum(words, pairing.best(words)) + FIRST.dates * _within(table, rows, cue) + phrase
    helped = pairing.best(((cosine >= NEAR) | (words > 0) | phrase).astype(np.float64)) > 0
    found = (cosine >= NEAR) | (words > 0) | phrase | helped
    pool = np.flatnonzero(found)
    if len(pool) > POOL:
        order = np.lexsort((table.id_ranks[rows[pool]], -rough[pool]))
        pool = np.sort(pool[order[:POOL]])
    return _compared(table, rows, places, pool, similarity, phrase, cue, tokens, rarities)


def _compared(
    table: Table,
    rows: Rows,
    places: Places,
    pool: Rows,
    similarity: Floats,
    phrase: NDArray[np.bool_],
    cue: Cue,
    tokens: TokenStates,
    rarities: dict[str, float],
) -> Sifted:
    index = _Sample(rarities)
    for place, at in enumerate(pool.tolist()):
        index.put(place, table.entries[int(rows[at])])
        index.neighbours.put(place, (str(places.talks[at]), int(places.turns[at])))
    values = np.nan_to_num(hybrid(cue, similarity[pool], index, tokens).values, nan=0.0)
    order = np.lexsort((table.id_ranks[rows[pool]], -values))
    return Sifted(rows[pool][order], values[order], phrase[pool][order])


def _words(texts: Sequence[str], cue: Cue) -> tuple[Floats, dict[str, float]]:
    """About what BM25 says of each text, 0 to 1, and how rare each of the cue's stems is among them."""
    total, most, rarities = np.zeros(len(texts)), 0.0, {}
    for word in {word.stem: word for word in cue.words}.values():
        holding = _holding(texts, _beginning(word.stem, word.plain))
        count = int(holding.sum())
        rarities[word.stem] = math.log(1 + (len(texts) - count + 0.5) / (count + 0.5))
        total += rarities[word.stem] * holding
        most += rarities[word.stem]
    return (total / (most * (SATURATION + 1)) if most else total), rarities


def _beginning(stem: str, word: str) -> str:
    """What all forms of a word begin with, as far as its stem tells: "happ" of "happy", whose stem is "happi"."""
    same = next((place for place, (one, other) in enumerate(zip(stem, word, strict=False)) if one != other), None)
    beginning = stem[:same] if same is not None else min(stem, word, key=len)
    return beginning if len(beginning) >= _SHORTEST else word


def _holding(texts: Sequence[str], piece: str) -> NDArray[np.bool_]:
    if len(piece) < _SHORTEST:
        return np.zeros(len(texts), np.bool_)
    return np.fromiter((piece in text for text in texts), np.bool_, len(texts))


def _within(table: Table, rows: Rows, cue: Cue) -> Floats:
    times = table.columns["timestamp"][rows]
    found = np.zeros(len(rows))
    for one in cue.asked:
        found[(times >= one.start) & (times < one.end)] = 1.0
    return found
