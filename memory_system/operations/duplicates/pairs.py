"""The pairs of vectors that are most alike: every pair is looked at, a block at a time, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.memory import Vectors
from ...core.scoring import Floats

_ROWS, _COLUMNS = 1024, 4096
"""A block: 16 MB of cosines at once."""
_ROUNDING = 1e-5
"""How far a cosine in float32 may be from the exact one."""

_SAME = 1 - 1e-6
"""The cosine above which two vectors of float32 cannot be told from equal ones."""


@dataclass(frozen=True)
class NearPairs:
    """Pairs of rows with their cosine, the most alike first.

    Args:
        first: rows, shape (p,).
        second: rows, each greater than the first, shape (p,).
        cosines: shape (p,), -1 to 1.
        cut: whether there were more than asked for; these are then the most alike.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    cosines: Floats
    cut: bool


def near_pairs(vectors: Vectors, least: float, most: int, progress: Callable[[float], None]) -> NearPairs:
    """Every pair of rows whose cosine is ``least`` or more; of more than ``most`` the most alike.

    Exact: nothing is approximated. It takes n * n / 2 products of length d, a minute or two for 100,000 rows, and
    besides a copy of the vectors some tens of megabytes.

    Args:
        vectors: shape (n, d), float32; a row with a NaN or of zeros is like no other.
        least: -1 to 1.
        most: how many pairs at most, 1 or more.
        progress: called with the share done, 0 to 1; it may raise to cancel.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    usable = np.flatnonzero(np.isfinite(lengths) & (lengths > 0))
    unit = (vectors[usable] / lengths[usable, None]).astype(np.float32)
    found = _Best(least, most)
    count = len(unit)
    for top in range(0, count, _ROWS):
        progress(1 - ((count - top) / count) ** 2)
        rows = unit[top : top + _ROWS]
        for left in range(top, count, _COLUMNS):
            if found.full:
                break
            cosines = rows @ unit[left : left + _COLUMNS].T
            one, other = np.nonzero(cosines >= found.bar - _ROUNDING)
            found.add(one + top, other + left, unit)
    first, second, cosines = found.best()
    return NearPairs(usable[first], usable[second], cosines, found.cut)


class _Best:
    """The pairs found so far; when they grow too many the least alike go, and the bar rises."""

    def __init__(self, least: float, most: int) -> None:
        self.bar = least
        self.cut = False
        self._most = most
        self._first = np.zeros(0, np.intp)
        self._second = np.zeros(0, np.intp)
        self._cosines = np.zeros(0)

    @property
    def full(self) -> bool:
        """Whether no pair can be more alike than those at hand."""
        return self.bar > 1

    def add(self, first: NDArray[np.intp], second: NDArray[np.intp], unit: Vectors) -> None:
        """Take those pairs that are in order and over the bar, their cosines computed once more in float64."""
        for start in range(0, len(first), _COLUMNS):
            if self.full:
                return
            some, others = first[start : start + _COLUMNS], second[start : start + _COLUMNS]
            some, others = some[some < others], others[some < others]
            exact = np.einsum("ij,ij->i", unit[some], unit[others], dtype=np.float64)
            exact[exact > _SAME] = 1.0
            over = exact >= self.bar
            self._first = np.concatenate((self._first, some[over]))
            self._second = np.concatenate((self._second, others[over]))
            self._cosines = np.concatenate((self._cosines, exact[over]))
            if len(self._first) > 4 * self._most:
                self._keep_best()

    def _keep_best(self) -> None:
        order = np.lexsort((self._second, self._first, -self._cosines))
        self.cut |= len(order) > self._most
        order = order[: self._most]
        self._first, self._second, self._cosines = self._first[order], self._second[order], self._cosines[order]
        if self.cut and len(order) == self._most:
            self.bar = float(np.nextafter(self._cosines[-1], 2))  # of those that are equal some are enough

    def best(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """First rows, second rows and cosines, the most alike first."""
        self._keep_best()
        return self._first, self._second, self._cosines
