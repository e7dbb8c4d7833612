"""Evidence: why a memory is relevant to a cue, in the words of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cue import Cue
from .joint import Texts, meant
from .late import UNRELATED, cosines, token_weights
from .neighbours import strength
from .states import PackedStates, TokenStates
from .words import asks, words


@dataclass(frozen=True)
class WordMatch:
    """A cue word that the memory contains, as written in both, and the word's share of the cue's weight, 0 to 1."""

    cue: str
    memory: str
    share: float


@dataclass(frozen=True)
class TokenPair:
    """A cue token and the memory's token that meets it best, as the words that contain them.

    Args:
        cue: the cue's word.
        memory: the memory's word, or a neighbour's.
        cosine: of the two tokens, -1 to 1; a neighbour's before its strength.
        share: the cue token's share of late interaction, 0 to 1.
        neighbour: the id of the memory whose token it is; empty for the memory's own.
    """

    cue: str
    memory: str
    cosine: float
    share: float
    neighbour: str = ""


@dataclass(frozen=True)
class DateMatch:
    """A time in the cue, and the memory's words for a time in it; empty words = the memory's own time is in it."""

    cue: str
    memory: str


@dataclass(frozen=True)
class Evidence:
    """Why one memory is relevant.

    Args:
        words: the cue words that it contains, heaviest first.
        pairs: the best token pairs above the cosine of unrelated texts, the most important first.
        names: the people named in the cue who speak in it, or are mentioned if nobody speaks.
        dates: which times of the cue it meets.
        tells_when: whether the cue asks when, and it says so.
        neighbour: the id of the neighbour whose tokens helped most; empty if none did.
        asks: whether each part counts a little less because it ends with a question.
        asked_for: whether it is a fact in the field of the personality that the cue asks for.
    """

    words: tuple[WordMatch, ...] = ()
    pairs: tuple[TokenPair, ...] = ()
    names: tuple[str, ...] = ()
    dates: tuple[DateMatch, ...] = ()
    tells_when: bool = False
    neighbour: str = ""
    asks: bool = False
    asked_for: bool = False


def evidence(
    cue: Cue, row: int, index: Texts, tokens: TokenStates, *, pool: NDArray[np.intp], most: int = 8
) -> Evidence:
    """Why the memory of a row is relevant.

    Args:
        cue: what is asked.
        row: the memory's row in ``index``.
        index: the texts.
        tokens: the token states of the embedder; it may have none.
        pool: ``Relevancy.pool`` of the answer: the rows whose tokens were read.
        most: the maximum number of pairs.

    Raises:
        EmbedderError: token states could not be computed.
    """
    pairs, neighbour = _pairs(cue, row, index, tokens, pool, most) if tokens.available else ((), "")
    set_of = frozenset
    return Evidence(
        words=_words(cue, index.document(row), index),
        pairs=pairs,
        names=tuple(name for name in sorted(cue.names) if index.named(set_of([name]))[row] > 0),
        dates=_dates(cue, row, index),
        tells_when=bool(cue.asks_when and index.telling_times()[row]),
        neighbour=neighbour,
        asks=row in pool and asks(index.document(row)),
        asked_for=bool(index.of_fields(cue)[row]),
    )


def _words(cue: Cue, document: str, index: Texts) -> tuple[WordMatch, ...]:
    written: dict[str, str] = {}
    for word in words(document):
        written.setdefault(word.stem, word.written)
    weights = {stem: index.rarity(stem) for stem in cue.stems}
    total = sum(weights.values())
    first: dict[str, str] = {}
    for word in cue.words:
        first.setdefault(word.stem, word.written)
    found = [
        WordMatch(first[stem], written[stem], weight / total) for stem, weight in weights.items() if stem in written
    ]
    return tuple(sorted(found, key=lambda match: -match.share))


def _dates(cue: Cue, row: int, index: Texts) -> tuple[DateMatch, ...]:
    found = []
    timestamp = index.entries[row].timestamp
    for asked in meant(cue.asked, index):
        if timestamp is not None and asked.start <= timestamp.timestamp() < asked.end:
            found.append(DateMatch(asked.words, ""))
        stretches = index.mentions(row)
        found += [DateMatch(asked.words, stretch.words) for stretch in stretches if asked.covers(stretch)]
    return tuple(found)


def _pairs(
    cue: Cue, row: int, index: Texts, tokens: TokenStates, pool: NDArray[np.intp], most: int
) -> tuple[tuple[TokenPair, ...], str]:
    if row not in pool:
        return (), ""
    near = _neighbours(row, index, pool)
    rows = [row, *(other for other, _strength in near)]
    strengths = np.array([1.0, *(counted for _other, counted in near)])
    asked, *texts = tokens.get([cue.text, *(index.document(at) for at in rows)])
    weights = token_weights(cue, asked, index)
    met = cosines(asked.vectors, texts)
    weighted = met * strengths[:, None]
    best = weighted.argmax(axis=0)
    gains = (np.maximum(weighted - weighted[0], 0.0) * weights).sum(axis=1)
    helper = int(gains.argmax())
    found = []
    for at in np.argsort(-weights * weighted.max(axis=0, initial=0.0), kind="stable").tolist():
        source = int(best[at])
        if weights[at] <= 0 or weighted[source, at] <= UNRELATED:
            continue
        memory = texts[source]
        token = int((memory.vectors @ asked.vectors[at]).argmax())
        found.append(
            TokenPair(
                _word_at(cue.text, asked, at),
                _word_at(index.document(rows[source]), memory, token),
                float(met[source, at]),
                float(weights[at]),
                index.entries[rows[source]].id if source else "",
            )
        )
    return tuple(found[:most]), index.entries[rows[helper]].id if gains[helper] > 0 else ""


def _neighbours(row: int, index: Texts, pool: NDArray[np.intp]) -> list[tuple[int, float]]:
    """The neighbours of a row in the pool, and their strengths, the nearest first."""
    place = index.neighbours.place(row)
    found = []
    for other in pool.tolist() if place else ():
        there = index.neighbours.place(other)
        if place and there and there[0] == place[0] and there[1] != place[1]:
            counted = float(strength(np.array(abs(there[1] - place[1]))))
            if counted > 0:
                found.append((other, counted))
    return sorted(found, key=lambda neighbour: (-neighbour[1], index.entries[neighbour[0]].id))


def _word_at(text: str, states: PackedStates, token: int) -> str:
    """The word of a text that contains a token; the token's own characters if there is none."""
    start, end = states.spans[token].tolist()
    return next((word.written for word in words(text) if word.start <= start < word.end), text[start:end])
