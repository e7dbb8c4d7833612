"""Expansion: a cue that asks for several things is also searched by instances, such as “kayaking” for “hobbies”.

An instance competes for seats by lending: a memory that it meets better than the cue does rises towards what the
instance finds there, up to a tenth more than what the cue itself meets best. So relevancy stays on its scale,
nothing falls, and only the cue decides whether there is an answer at all. The best instance lends most, and all of
them together the rest, so that a memory met by several ranks above one met by a single instance; a few instances lend
less than ten do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..core.entry import LIVED, Tier
from ..core.scoring import Floats
from .hybrid import Odds
from .query import Query
from .table import Table

BY_BEST, BY_ALL = 0.6, 0.4
"""How far a memory rises from the cue's relevancy to that of the best instance, and to the mean of all."""
MANY = 10
"""So many instances lend in full; fewer by the square root of their share of it, since they say less about a list."""
ABOVE = 1.1
"""The most that is lent, as a multiple of what the cue itself meets best. Measured on LoCoMo, see
``benchmarks/relevancy.md``."""
_FEW, _TIMES = 256, 2
"""Rows that reach a relevancy, and how many such results are cached: some 4 KB."""


@dataclass(frozen=True, eq=False)
class Relevancy:
    """How relevant a tier's rows are to a cue. It can be kept, and then reuses what it has found before.

    Args:
        values: the relevancies, shape (n,), 0 to 1; NaN for a memory without a vector.
        parts: its components, by name, shape (n,) each.
        odds: the odds of an answer.
    """

    values: Floats
    parts: Mapping[str, Floats]
    odds: Odds
    _reaching: dict[float, NDArray[np.intp]] = field(default_factory=dict, init=False)

    @cached_property
    def peak(self) -> float:
        """The highest relevancy; minus infinity if there is none."""
        return highest(self.values)

    def reaching(self, least: float) -> NDArray[np.intp]:
        """The rows whose relevancy is at least so much, ascending; only the first call scans all rows."""
        found = self._reaching.get(least)
        if found is None:
            found = np.flatnonzero(self.values >= least) if self.peak >= least else np.zeros(0, np.intp)
            if len(found) <= _FEW and len(self._reaching) < _TIMES:
                self._reaching[least] = found
        return found


def highest(values: Floats) -> float:
    """The highest of some relevancies; minus infinity if there is none."""
    return float(np.fmax.reduce(values, initial=-np.inf))


Measured = Callable[[Tier, Table], Relevancy]
"""Measures the relevancies of one tier."""


class Expanded:
    """Measures relevancy by a cue and its instances.

    Args:
        query: what is asked, with at least one instance.
        tables: one table per tier.
        cue: measures by the cue.
        instances: measure by each instance, in the order of the query's.
    """

    def __init__(
        self, query: Query, tables: Mapping[Tier, Table], cue: Measured, instances: Sequence[Measured]
    ) -> None:
        self._query, self._tables, self._cue, self._instances = query, tables, cue, instances
        self._relevancies: dict[Tier, tuple[Relevancy, NDArray[np.intp]]] = {}

    def __call__(self, tier: Tier, table: Table) -> Relevancy:
        """As every measure."""
        return self._of(tier, table)[0]

    def lender(self, tier: Tier, row: int) -> str:
        """The instance that lends to a row; empty where the cue itself meets it best."""
        number = self._of(tier, self._tables[tier])[1][row]
        return self._query.instances[number] if number >= 0 else ""

    def _of(self, tier: Tier, table: Table) -> tuple[Relevancy, NDArray[np.intp]]:
        if tier not in self._relevancies:
            own, others = self._cue(tier, table), [instance(tier, table) for instance in self._instances]
            self._relevancies[tier] = _lent(own, others, self._best)
        return self._relevancies[tier]

    @cached_property
    def _best(self) -> float:
        """The cue's highest relevancy among all that may be found; 0 if there is none."""
        best = 0.0
        for tier in LIVED:
            found, admitted = self._cue(tier, self._tables[tier]).values, self._query.admitted(self._tables[tier])
            best = float(np.fmax.reduce(found if admitted is None else found[admitted], initial=best))
        return best


def _lent(own: Relevancy, others: Sequence[Relevancy], best: float) -> tuple[Relevancy, NDArray[np.intp]]:
    """The relevancies of one tier, and which of the others lends to each row; -1 for none."""
    values, parts = own.values, own.parts
    if not len(values):
        return own, np.zeros(0, np.intp)
    offered, rows = np.stack([other.values for other in others]), np.arange(len(values))
    chosen = np.where(np.isnan(offered), -np.inf, offered).argmax(axis=0)
    weights = np.full(offered.shape, BY_ALL / len(others))
    weights[chosen, rows] += BY_BEST
    weights *= min(math.sqrt(len(others) / MANY), 1.0)
    gains = np.fmax(np.fmin(offered, ABOVE * best) - values, 0.0)  # 0 if there is no vector
    shares = weights * gains / np.where(offered > values, offered - values, 1.0)
    lends = (shares > 0).any(axis=0)

    def lent(own: Floats, of_others: Floats) -> Floats:
        return np.where(lends, own + (shares * (of_others - own)).sum(axis=0), own)

    mixed = {name: lent(part, np.stack([other.parts[name] for other in others])) for name, part in parts.items()}
    # added in the order of the parts, so that the displayed values add up to the last bit
    raised = sum(mixed.values(), np.zeros(len(values))) if mixed else lent(values, offered)
    return Relevancy(np.where(lends, raised, values), mixed, own.odds), np.where(lends, chosen, -1)
