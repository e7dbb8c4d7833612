"""The fit of hybrid relevancy: questions with their right memories in, the weights of its parts out.

A conditional logit (McFadden 1974): the weights under which the right memories are the likeliest choice of all,
at first without token states, then with those of the pool. Only the order counts in recall, so that the weights are
scaled to the sum of those that ship. Each conversation is scored with weights that were fitted on the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ..core.change_set import counted
from ..core.entry import Tier
from ..core.scoring import Floats
from ..embedding.embedder import Embedder
from ..errors import InvalidParameter
from ..recall.cue_vectors import cue_vectors
from ..recall.hybrid import Cue, Joint, TokenStates
from ..recall.hybrid.mix import FIRST, FULL, Mix, best_of_first, signals
from ..recall.table import Table
from .data import DataSet
from .metrics import recall_at
from .trial import Say

_ROUNDS = 40
_RIDGE = 1.0
_SMALLEST = 1e-6
_SEATS = 10


@dataclass(frozen=True)
class Fit:
    """The result of the fit.

    Args:
        first: the weights without token states, fitted on all data sets.
        full: the weights with them.
        recall: recall@10 of each data set with weights fitted on the others, by name.
        overall: the same over all questions.
    """

    first: Mix
    full: Mix
    recall: dict[str, float]
    overall: float


@dataclass(frozen=True)
class _Choice:
    """The parts of n memories, each of shape (n, 6) in the order of ``Mix``, and the rows of the right ones."""

    first: Floats
    full: Floats
    right: NDArray[np.intp]


def fit(sets: Sequence[DataSet], embedder: Embedder, say: Say) -> Fit:
    """Fit the weight of each part.

    Args:
        sets: at least two; weights are fitted on all but one, and scored on that one.
        embedder: texts to vectors, with token states.
        say: called with lines of progress.

    Raises:
        EmbedderError: texts could not be embedded.
        InvalidParameter: there are fewer than two data sets.
    """
    tokens = TokenStates.of(embedder)
    choices = _of_each(sets, embedder, tokens, say)
    found: dict[str, list[float]] = {}
    for data in sets:
        first, full = _without(choices, data)
        tried = _choices(data, embedder, tokens, first, say)
        found[data.name] = [_recall(choice, full) for choice in tried]
    first, full = _fitted([choice for some in choices.values() for choice in some])
    recall = {name: float(np.mean(values)) for name, values in found.items()}
    return Fit(first, full, recall, float(np.mean([value for values in found.values() for value in values])))


def fitted_on_others(sets: Sequence[DataSet], embedder: Embedder, say: Say) -> dict[str, tuple[Mix, Mix]]:
    """For each data set, by name, the weights without and with token states that are fitted on all others.

    The arguments and errors are those of ``fit``.
    """
    choices = _of_each(sets, embedder, TokenStates.of(embedder), say)
    return {data.name: _without(choices, data) for data in sets}


def _of_each(sets: Sequence[DataSet], embedder: Embedder, tokens: TokenStates, say: Say) -> dict[str, list[_Choice]]:
    if len(sets) < 2:
        raise InvalidParameter("Weights are fitted on some data sets and scored on another; name two at least.")
    return {data.name: list(_choices(data, embedder, tokens, FIRST, say)) for data in sets}


def _without(choices: Mapping[str, Sequence[_Choice]], left_out: DataSet) -> tuple[Mix, Mix]:
    return _fitted([choice for name, some in choices.items() if name != left_out.name for choice in some])


def _choices(data: DataSet, embedder: Embedder, tokens: TokenStates, first: Mix, say: Say) -> Iterator[_Choice]:
    """The choices in the questions of a data set that is not lived, with the pool chosen by these weights."""
    table = Table()
    for entry, vector in zip(data.entries, embedder.embed([entry.document for entry in data.entries]), strict=True):
        table.put(entry.evolve(tier=Tier.LTM), vector)
    texts = Joint(Table().texts, table.texts)
    cues = cue_vectors(embedder, [question.cue for question in data.questions])
    for done, (question, vector) in enumerate(zip(data.questions, cues, strict=True)):
        if done % 50 == 0:
            say(f"{data.name}: asked {done:,} of {counted(len(cues), 'question')}")
        cue = Cue.read(question.cue, question.now, texts.speakers)
        signs = signals(cue, table.similarities(vector), texts)
        before = signs.columns
        pool = best_of_first(before @ np.array(astuple(first)), texts)
        after = signs.read(cue, texts, pool, tokens).columns
        rows = [row for row in map(table.row, question.right) if row is not None]
        yield _Choice(before, after, np.array(rows, np.intp))


def _fitted(choices: Sequence[_Choice]) -> tuple[Mix, Mix]:
    without_late = np.array([field.name != "late" for field in fields(Mix)])
    first = conditional_logit([(choice.first[:, without_late], choice.right) for choice in choices])
    full = conditional_logit([(choice.full, choice.right) for choice in choices])
    weights = np.zeros(len(without_late))
    weights[without_late] = first
    return _scaled(weights, FIRST), _scaled(full, FULL)


def _scaled(weights: Floats, like: Mix) -> Mix:
    return Mix(*map(float, weights * (sum(astuple(like)) / weights.sum())))


def conditional_logit(choices: Sequence[tuple[Floats, NDArray[np.intp]]]) -> Floats:
    """The weights, shape (d,), under which the right rows of each choice are the likeliest, by Newton's method.

    Args:
        choices: for each the signs of what can be chosen, shape (n, d), and the rows that are right; a row counts for
            one over their number, so that all choices have equal weight.
    """
    count = choices[0][0].shape[1]
    weights = np.zeros(count)
    for _ in range(_ROUNDS):
        slope, bend = -_RIDGE * weights, _RIDGE * np.eye(count)
        for signs, right in choices:
            scores = signs @ weights
            chance = np.exp(scores - scores.max())
            chance /= chance.sum()
            mean = chance @ signs
            slope += signs[right].mean(axis=0) - mean
            bend += (signs * chance[:, None]).T @ signs - np.outer(mean, mean)
        step, now = np.linalg.solve(bend, slope), _likelihood(choices, weights)
        while _likelihood(choices, weights + step) < now and np.abs(step).max() >= _SMALLEST:
            step = step / 2  # Newton's step may be far too long where a weight is far from its place
        weights = weights + step
        if np.abs(step).max() < _SMALLEST:
            break
    return weights


def _likelihood(choices: Sequence[tuple[Floats, NDArray[np.intp]]], weights: Floats) -> float:
    """The logarithm of the likelihood of the right choices, less the ridge."""
    total = -_RIDGE / 2 * float(weights @ weights)
    for signs, right in choices:
        scores = signs @ weights
        total += float(scores[right].mean() - scores.max() - np.log(np.exp(scores - scores.max()).sum()))
    return total


def _recall(choice: _Choice, mix: Mix) -> float:
    scores = choice.full @ np.array(astuple(mix))
    ranked = np.argsort(-scores, kind="stable")[:_SEATS]
    return recall_at(_SEATS, [str(row) for row in ranked.tolist()], {str(row) for row in choice.right.tolist()})
