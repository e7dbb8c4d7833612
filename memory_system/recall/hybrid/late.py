"""Late interaction: how well some token of a memory, or of the turns around it, meets each word of the cue.

MaxSim after Khattab and Zaharia 2020 (ColBERT, arXiv 2004.12832), over the token states of the embedder already in
use: it was not trained for this, but its tokens reflect the text around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cue import Cue
from .joint import Texts
from .states import PackedStates, TokenStates
from .words import Word

Floats = NDArray[np.float64]

UNRELATED = 0.3
"""The cosine of any word with the best token of a text on whatever subject; it counts as 0."""
RARITY_POWER = 0.5
"""A cue word counts by the square root of its rarity."""
RARE_POWER = 2.0
"""The exponent of a cue word's rarity in judging whether there is an answer: common words are met by chance."""


@dataclass(frozen=True, eq=False)
class Late:
    """The results for the token states of some rows, each shape (p,), 0 to 1; ``near_`` is for the best neighbour.

    Args:
        late: how well the memory's own tokens meet the cue's words.
        near_late: never below ``late``: with the neighbours' tokens, each times its strength.
        rare: as ``late``, but with more weight on the rare words of the cue.
        sentence: the cosine of the cue with the closest of the memory's sentences, names left out.
        near_sentence: the same for the best neighbour, times its strength.
    """

    late: Floats
    near_late: Floats
    rare: Floats
    sentence: Floats
    near_sentence: Floats


def token_weights(cue: Cue, states: PackedStates, index: Texts) -> Floats:
    """The weight of each token of the cue, shape (t,), with sum 1: by its word's rarity, or 0 if it has none.

    In a cue of nothing but stop words and names all tokens have the same weight.
    """
    return _weights(*_rarities(cue, states, index), RARITY_POWER)


def _rarities(cue: Cue, states: PackedStates, index: Texts) -> tuple[Floats, Floats]:
    """The rarity of each token's word, 0 without one, and the number of tokens of the word, shape (t,) each."""
    rarities, shared = np.zeros(len(states)), np.ones(len(states))
    for word in cue.words:
        inside = _inside(word, states)
        rarities[inside], shared[inside] = index.rarity(word.stem), np.count_nonzero(inside)
    return rarities, shared


def _weights(rarities: Floats, shared: Floats, power: float) -> Floats:
    """The share of each token by a power of its rarity, shape (t,); equal shares if none has any."""
    weights = rarities**power / shared
    total = weights.sum()
    if total <= 0:
        return np.full(len(weights), 1 / max(len(weights), 1))
    share: Floats = weights / total
    return share


def gist(cue: Cue, states: PackedStates) -> NDArray[np.float32]:
    """The direction of the cue as a whole, shape (d,), names left out unless it consists of them."""
    kept = np.ones(len(states), bool)
    for word in cue.naming:
        kept &= ~_inside(word, states)
    vectors = states.vectors
    mean = (vectors[kept] if kept.any() else vectors).sum(axis=0)
    direction: NDArray[np.float32] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return direction


def cosines(cue: NDArray[np.float32], texts: Sequence[PackedStates]) -> Floats:
    """The best cosine of each cue token with each text's tokens, shape (texts, t); 0 for a text without tokens."""
    best = np.zeros((len(texts), len(cue)))
    some = [at for at, text in enumerate(texts) if len(text)]
    if some and len(cue):
        turned = np.ascontiguousarray(cue.T)
        for at in some:  # separately: the last bits of a product depend on a row's surroundings
            best[at] = (texts[at].vectors @ turned).max(axis=0)
    return best


def sentence_cosines(direction: NDArray[np.float32], texts: Sequence[PackedStates]) -> Floats:
    """The cosine of the closest sentence of each text, shape (texts,), 0 to 1."""
    best = np.zeros(len(texts))
    some = [at for at, text in enumerate(texts) if len(text.sentences)]
    if some:
        for at in some:
            best[at] = (texts[at].sentences.astype(np.float32) * direction).sum(axis=1).max()
    return np.clip(best, 0.0, 1.0)


def late(cue: Cue, index: Texts, rows: NDArray[np.intp], tokens: TokenStates) -> Late:
    """The results for the token states of some rows; only neighbours among ``rows`` help each other.

    Raises:
        EmbedderError: the token states could not be computed.
    """
    asked, *texts = tokens.get([cue.text, *(index.document(row) for row in rows.tolist())])
    rarities, shared = _rarities(cue, asked, index)
    weights, rare = (_weights(rarities, shared, power) for power in (RARITY_POWER, RARE_POWER))
    counted = weights > 0
    met = cosines(asked.vectors[counted], texts)
    sentence = sentence_cosines(gist(cue, asked), texts)
    pairing = index.neighbours.among(rows)
    helped = np.maximum(met, pairing.best(met))
    share = weights[counted]
    own, near = (met * share).sum(axis=1), (helped * share).sum(axis=1)  # row by row, independent of their position
    return Late(_share(own), _share(near), _share((met * rare[counted]).sum(axis=1)), sentence, pairing.best(sentence))


def _inside(word: Word, states: PackedStates) -> NDArray[np.bool_]:
    """Which tokens begin within a word."""
    return (states.spans[:, 0] >= word.start) & (states.spans[:, 0] < word.end)


def _share(values: Floats) -> Floats:
    share: Floats = np.clip((values - UNRELATED) / (1 - UNRELATED), 0.0, 1.0)
    return share
