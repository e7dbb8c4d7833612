"""Hybrid relevancy: similarity, words, late interaction, names, times and neighbours as one number from 0 to 1.

Every part is 0 to 1 before it is weighted. Their weighted sum z becomes 1 - exp(-z): it grows with every part and never
reaches 1, and n = 1 needs no special case: no part compares a memory with another.

How much similarity counts depends on the cue (``trust``). If the cosines of everything remembered are close
together, as among events about different things, one that stands out means a lot; among the turns of a conversation,
which resemble each other and the cue, the same difference means little.

A time that the cue names, or asks for, counts by how much the memory is about the rest of the cue, since much else
happened then; without a rest, it decides.

Token states are read for a pool, the ``POOL`` best without them. There, similarity is that of the closest sentence, and
late interaction is added; elsewhere similarity is the whole text's, and late interaction counts as 0. In the pool,
texts that end with a question count a little less. So the answer depends only on the cue, the index and the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from .confidence import FITTED, FITTED_WITHOUT_STATES, Odds, beyond_chance, standing, stands_out
from .cue import Cue
from .joint import Texts, meant
from .late import late
from .states import TokenStates
from .words import asks

Floats = NDArray[np.float64]

POOL = 200
"""Memories whose tokens are compared with the cue's."""


@dataclass(frozen=True)
class Mix:
    """The weight of each part. For similarity, words and late, a memory or its best neighbour counts."""

    similarity: float
    words: float
    late: float
    names: float
    dates: float
    tells_when: float


FIRST = Mix(similarity=0.97, words=1.65, late=0.0, names=0.25, dates=0.47, tells_when=0.26)
"""Without token states: this chooses the pool, and is the whole relevancy under an embedder that has none."""
FULL = Mix(similarity=0.6, words=0.1, late=1.1, names=0.27, dates=0.5, tells_when=0.23)
"""With token states. Both are fitted on LoCoMo (Maharana et al. 2024), by the likelihood of the right turns, and
checked on held-out conversations and on Smallville. Words add nothing there that late interaction does not find; they
are kept for names and codes that the model has never seen."""

SPREAD_OF_TALKS = 0.118
"""The standard deviation of the cosines of a cue with the turns of a long conversation: the median of LoCoMo, on which
the weights are fitted."""
_TRUST_POWER = 1.25
_LEAST_TRUST, _MOST_TRUST = 0.3, 2.5
ABOUT_IT = 0.3
"""The cosine from which a memory's time counts in full: some other thing's date answers nothing, and much else
happened yesterday."""

NO_SIGN = 0.5
"""The share of what the right time adds to a memory that is not a sign of an answer; see ``benchmarks.dated``."""
ALL_THAT_IS_ASKED = 4.0
"""The weight of the right time if a cue asks for nothing else ("What happened on 10 June?"): more than all other
parts together, so that memories from that time precede the rest and are sure to answer."""
ASKED_FOR = 1.5
"""What a fact gains if it is in the field of the personality that a cue asks for: more than most memories have."""
ASKED_FOR_ODDS = 5.0
"""What such a cue adds to the log odds that there is an answer: the personality says it."""
ASKING_LOSS = 0.06
"""What a memory that ends with a question loses of each part: it asks for what another one says. On LoCoMo any loss of
.05 to .1 finds as much, to .1 points."""

PARTS = ("similarity", "words", "late", "names", "times", "neighbours")
_NO_ROWS = np.zeros(0, np.intp)


@dataclass(frozen=True, eq=False)
class Relevancy:
    """Hybrid relevancies.

    Args:
        values: shape (n,), 0 to below 1; NaN for a memory without a vector.
        parts: by name, in the order of ``PARTS``, the contribution of each part to the value, shape (n,); added in this
            order they are exactly ``values``.
        pool: the rows that late interaction was computed for, ascending.
        outset: the odds that there is an answer, before it is known how much of the best memory met the cue.
    """

    values: Floats
    parts: Mapping[str, Floats]
    pool: NDArray[np.intp]
    outset: Odds

    @property
    def size(self) -> int:
        """Bytes; a part that is 0 everywhere uses none."""
        return sum(array.nbytes for array in (self.values, self.pool, *self.parts.values()) if any(array.strides))


@dataclass(frozen=True)
class Signals:
    """The parts before they are weighted, 0 to 1.

    Args:
        own: similarity, words and late of each memory, by name, shape (n,) each.
        near: the same of its best neighbour.
        rare: late with more weight on the rare words, shape (n,); without neighbours.
        names: whether a named person speaks or is mentioned, shape (n,).
        fields: whether it is a fact in the field of the personality that the cue asks for, shape (n,).
        dates: whether it is in a time that is named, shape (n,).
        of_a_time: whether the cue asks for nothing else.
        tells_when: whether it mentions a time, if the cue asks for one, shape (n,).
        stands: the relation of the cue to everything remembered, see ``standing``.
        trust: the factor for the weight of similarity.
        asking: the rows of the pool that end with a question.
    """

    own: Mapping[str, Floats]
    near: Mapping[str, Floats]
    rare: Floats
    names: Floats
    fields: Floats
    dates: Floats
    of_a_time: bool
    tells_when: Floats
    stands: tuple[float, float]
    trust: float
    asking: NDArray[np.intp]

    @property
    def columns(self) -> Floats:
        """Shape (n, 6): what each weight of a mix is multiplied by, in its order."""
        similarity, *others = (np.maximum(self.own[name], self.near[name]) for name in self.own)
        found = np.column_stack([self.trust * similarity, *others, self.names, self._within, self._when])
        found[self.asking] *= 1 - ASKING_LOSS
        return found

    @property
    def _when(self) -> Floats:
        """How far a time that a memory mentions is what a cue asks for, shape (n,), 0 to 1."""
        if not self.tells_when.any():  # true of most cues
            return self.tells_when
        return self.tells_when * self._about_it

    @property
    def _within(self) -> Floats:
        """How far being in a time is what a cue asks for, shape (n,), 0 to 1."""
        return self.dates if self.of_a_time or not self.dates.any() else self.dates * self._about_it

    @property
    def _about_it(self) -> Floats:
        return np.minimum(self.own["similarity"] / ABOUT_IT, 1.0)

    def weighted(self, mix: Mix) -> dict[str, Floats]:
        """The parts by the names of ``PARTS``, weighted, shape (n,) each."""
        weights = {"similarity": mix.similarity * self.trust, "words": mix.words, "late": mix.late}
        raw = {name: weights[name] * values for name, values in self.own.items()}
        raw["names"] = mix.names * self.names + ASKED_FOR * self.fields
        dates = ALL_THAT_IS_ASKED if self.of_a_time else mix.dates
        raw["times"] = dates * self._within + mix.tells_when * self._when
        raw["neighbours"] = sum(
            (weights[name] * np.maximum(self.near[name] - self.own[name], 0.0) for name in self.own),
            np.zeros(len(self.names)),
        )
        for values in raw.values():
            values[self.asking] *= 1 - ASKING_LOSS
        return raw

    def no_sign(self, met: Floats, mix: Mix) -> float:
        """How much of being in a time is not a sign that the best memory answers; 0 if the cue asks for nothing else.

        It chooses among answers rather than showing that there is one: something happened yesterday, whatever the
        question.

        Args:
            met: how much of each memory met the cue, shape (n,).
            mix: the weights.
        """
        if self.of_a_time or not self.dates.any():
            return 0.0
        return NO_SIGN * mix.dates * float(self._within[met.argmax()])

    def met_by_chance(self, met: Floats, mix: Mix) -> float:
        """How much of the best memory is not a sign that it meets the cue better than others would by chance.

        That is its name, if the cue names it, and how much better it meets the whole cue than its rare words: there is
        much about a person, and little of it is about the question.

        Args:
            met: how much of each memory met the cue, shape (n,).
            mix: the weights.
        """
        best = np.flatnonzero(met == met.max(initial=0.0))  # all that tie, so that their order does not matter
        common = mix.names * self.names[best] + mix.late * np.maximum(self.own["late"][best] - self.rare[best], 0.0)
        common[np.isin(best, self.asking)] *= 1 - ASKING_LOSS
        return float(common.max(initial=0.0))

    def read(self, cue: Cue, index: Texts, pool: NDArray[np.intp], tokens: TokenStates) -> Signals:
        """The same with the token states of the pool read.

        Raises:
            EmbedderError: token states could not be computed.
        """
        own, rare = {name: values.copy() for name, values in self.own.items()}, self.rare.copy()
        near = {name: values.copy() for name, values in self.near.items()}
        found = late(cue, index, pool, tokens)
        own["similarity"][pool], near["similarity"][pool] = found.sentence, found.near_sentence
        own["late"][pool], near["late"][pool], rare[pool] = found.late, found.near_late, found.rare
        asking = pool[[asks(index.document(row)) for row in pool.tolist()]]
        return replace(self, own=own, near=near, rare=rare, trust=trust(self.stands[1]), asking=asking)


def trust(spread: float) -> float:
    """The factor for the weight of similarity compared with the other parts, .3 to 2.5.

    Like adding the scores of several searches after dividing each by its deviation (Montague and Aslam 2001), but with
    a chosen power of the deviation: see ``benchmarks/relevancy.md``.

    Args:
        spread: the standard deviation of the cosines of the cue with everything remembered.
    """
    return float(np.clip((SPREAD_OF_TALKS / spread) ** _TRUST_POWER, _LEAST_TRUST, _MOST_TRUST))


def signals(cue: Cue, similarity: Floats, index: Texts) -> Signals:
    """The parts that need no token states; the arguments are those of ``hybrid``."""
    lacking = np.isnan(similarity)
    cosine = np.where(lacking, 0.0, np.clip(1.5 - 0.5 / np.where(lacking, 1.0, similarity), 0.0, 1.0))
    words, nothing = index.words(cue.stems), np.zeros(len(index))
    pairing = index.neighbours.pairing
    return Signals(
        {"similarity": cosine, "words": words, "late": nothing},
        {"similarity": pairing.best(cosine), "words": pairing.best(words), "late": nothing},
        nothing,
        index.named(cue.names),
        index.of_fields(cue),
        index.within(meant(cue.asked, index)),
        cue.asks_of_a_time,
        index.telling_times() if cue.asks_when else nothing,
        standing(np.where(lacking, np.nan, cosine)),
        trust=1.0,
        asking=_NO_ROWS,
    )


def hybrid(cue: Cue, similarity: Floats, index: Texts, tokens: TokenStates) -> Relevancy:
    """The hybrid relevancy of every row of an index.

    Args:
        cue: what is asked.
        similarity: shape (n,), 1 / (1 + squared distance of the unit vectors); NaN if there is no vector.
        index: the texts of the same rows.
        tokens: the token states of the embedder; it may have none.

    Raises:
        EmbedderError: token states could not be computed.
        ValueError: ``similarity`` does not have one number per row.
    """
    if similarity.shape != (len(index),):
        raise ValueError(f"{len(index)} rows need as many similarities, not {similarity.shape}.")
    lacking = np.isnan(similarity)
    signs = signals(cue, similarity, index)
    mix, raw, pool = FIRST, signs.weighted(FIRST), _NO_ROWS
    if tokens.available:
        pool = best_of_first(np.where(lacking, -1.0, _sum(raw)), index)
        signs = signs.read(cue, index, pool, tokens)
        mix, raw = FULL, signs.weighted(FULL)
    z = _sum(raw)
    odds = _odds(signs, z, mix, tokens)
    share = np.where(lacking, np.nan, np.where(z > 0, -np.expm1(-z) / np.where(z > 0, z, 1.0), 1.0))
    parts = {name: _slim(raw[name] * share) for name in PARTS}
    return Relevancy(_sum(parts), MappingProxyType(parts), pool, odds)


def _odds(signs: Signals, met: Floats, mix: Mix, tokens: TokenStates) -> Odds:
    """The odds that there is an answer, from how much of each memory met the cue."""
    timed = signs.no_sign(met, mix)
    if not tokens.available:
        lines = [stands_out(signs.stands, FITTED_WITHOUT_STATES, timed)]
    else:
        by_chance = beyond_chance(max(len(met), 1), signs.met_by_chance(met, mix))
        lines = [stands_out(signs.stands, FITTED, timed), by_chance]
    if signs.fields.any():
        lines = [replace(line, start=line.start + ASKED_FOR_ODDS) for line in lines]
    return Odds(tuple(lines))


def _sum(parts: Mapping[str, Floats]) -> Floats:
    """The parts added in the order of ``PARTS``, so that the displayed values add up to the last bit."""
    total = parts[PARTS[0]]
    for name in PARTS[1:]:
        total = total + parts[name]
    return total


def _slim(part: Floats) -> Floats:
    """The same numbers; a part of only 0s, as most names, times and neighbours are, is stored as a single 0."""
    return part if part.any() else np.broadcast_to(np.zeros(()), part.shape)


def best_of_first(first: Floats, index: Texts) -> NDArray[np.intp]:
    """The rows of the pool, ascending; among those that tie for its last place, the lowest ids."""
    if len(first) <= POOL:
        return np.arange(len(first))
    last = np.partition(first, len(first) - POOL)[len(first) - POOL]
    inside, tied = np.flatnonzero(first > last), np.flatnonzero(first == last)
    chosen = sorted(tied.tolist(), key=lambda row: index.entries[row].id)[: POOL - len(inside)]
    return np.sort(np.concatenate([inside, np.array(chosen, np.intp)]))
