"""The fit of the confidence: pairs of memories and cues in, the weights of its signs out.

The memories are divided into parts of several sizes, so that a character who remembers one thing and one who remembers
a hundred both count. In each part every cue is asked, and as many that none of its memories answers; logistic
regression separates the two by the signs of the best memory (Newton's method, a ridge of 1 on the scaled signs). All
sizes have equal weight, and so do the two kinds of cue. The effect of being behind the best is fitted by which of the
first ten memories is right (a conditional logit, McFadden 1974).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.scoring import Floats
from ..embedding.embedder import Embedder
from ..recall.hybrid import TokenStates
from ..recall.hybrid.confidence import Signs, met_of, standing
from .data import DataSet
from .threshold import Pairs, asked
from .trial import Say

SIZES = (1, 4, 12, 30, 60, 120)
MANY = 30
"""In parts of this size or more, as many cues with an answer are answered at .5 as cues without one are not."""
_ROUNDS = 50


@dataclass(frozen=True)
class CueData:
    """The data of n cues, one row each.

    Args:
        signs: shape (n, 3): how much of the best memory met the cue, how far the closest stands out, and the spread.
        own: shape (n,): how much of the right memory met the cue; minus infinity where it is not among the first five.
        answerable: shape (n,): whether there is a right memory.
        size: shape (n,): how many memories there were.
    """

    signs: Floats
    own: Floats
    answerable: NDArray[np.bool_]
    size: NDArray[np.intp]


def cue_data(pairs: Pairs, embedder: Embedder, say: Say) -> CueData:
    """The data of the cues of all parts.

    Raises:
        EmbedderError: texts could not be embedded.
    """
    tokens = TokenStates.of(embedder)
    rows: list[tuple[float, ...]] = []
    for size in SIZES:
        say(f"{pairs.name}: {size} memories at a time")
        step = max(len(pairs.memories) // size, 1)
        for part in (pairs.part(first, step) for first in range(step)):
            questions = [*part.questions, *part.unanswerable]
            for question, (hits, similarity) in zip(questions, asked(part, questions, embedder, tokens), strict=True):
                met = {hit.entry.id: float(met_of(np.array(hit.score.relevancy))) for hit in hits}
                own = max((met[right] for right in question.right if right in met), default=-np.inf)
                stands = standing(np.clip(1.5 - 0.5 / similarity, 0.0, 1.0))
                rows.append((max(met.values()), *stands, own, bool(question.right), size))
    found = np.array(rows)
    return CueData(found[:, :3], found[:, 3], found[:, 4] > 0, found[:, 5].astype(np.intp))


def fitted(cues: CueData) -> Signs:
    """The weight of each sign."""
    shares = np.zeros(len(cues.own))
    for size in SIZES:
        for answerable in (True, False):
            alike = (cues.size == size) & (cues.answerable == answerable)
            shares[alike] = len(shares) / (2 * len(SIZES) * max(alike.sum(), 1))
    weights = regression(cues.signs, cues.answerable, shares)
    # the threshold is set so that the right memory passes it, which may not be the best
    lag = np.where(cues.answerable, cues.signs[:, 0] - cues.own, 0.0)
    summed = cues.signs @ weights - Signs.behind * lag
    many = cues.size >= MANY
    own, others = np.sort(summed[many & cues.answerable]), np.sort(summed[many & ~cues.answerable])
    cuts = others[np.isfinite(others)]
    balance = [abs((own > cut).mean() - (others <= cut).mean()) for cut in cuts]
    return Signs(-float(cuts[int(np.argmin(balance))]), *map(float, weights))


def regression(signs: Floats, right: NDArray[np.bool_], shares: Floats) -> Floats:
    """The weights of a logistic regression, without its constant.

    Args:
        signs: shape (n, d).
        right: what to predict, shape (n,).
        shares: how much each row counts, shape (n,).

    Returns:
        shape (d,), for the signs as they are given.
    """
    mean, deviation = signs.mean(axis=0), signs.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(signs)), (signs - mean) / deviation])
    ridge = np.diag([0.0, *np.ones(signs.shape[1])])
    weights = np.zeros(rows.shape[1])
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (shares * (right - chance)) - ridge @ weights
        bend = (rows * (shares * chance * (1 - chance))[:, None]).T @ rows + ridge
        weights = weights + np.linalg.solve(bend, slope)
    found: Floats = weights[1:] / deviation
    return found


def behind(data: DataSet, embedder: Embedder) -> float:
    """The weight of being behind the best, by which of the first ten memories are right.

    Raises:
        EmbedderError: texts could not be embedded.
    """
    tokens, choices = TokenStates.of(embedder), []
    found = zip(data.questions, asked(data, data.questions, embedder, tokens, seats=10), strict=True)
    for question, (hits, _) in found:
        met = met_of(np.array([hit.score.relevancy for hit in hits]))
        choices += [(met, place) for place, hit in enumerate(hits) if hit.entry.id in question.right]
    weight = 1.0
    for _ in range(_ROUNDS):
        slope = bend = 0.0
        for met, chosen in choices:
            chance = np.exp(weight * (met - met.max()))
            chance /= chance.sum()
            mean = float(chance @ met)
            slope, bend = slope + float(met[chosen]) - mean, bend + float(chance @ (met - mean) ** 2)
        weight += slope / max(bend, 1e-9)
    return weight
