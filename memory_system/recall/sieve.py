"""The few directions in which most vectors differ most, which bound a dot product at a fraction of its cost.

Vectors of texts are close to a space of far fewer dimensions than they have numbers. With A of h orthonormal columns,
a = A'x and r = x - A a, x·q = a·A'q + r·(q - A A'q), which is at most a·A'q + |r| |q - A A'q| (Cauchy and Schwarz). For
each vector, a is stored in int8, and |r|; a vector whose bound is too low need not be computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice

import numpy as np
import simsimd
from numpy.typing import NDArray

from ..core.memory import Vectors

DIRECTIONS = 64
SIEVED_FROM = 262_144
"""From this many rows on the directions are worth having: below, scanning the codes of all rows takes some 10 ms."""
_AT_ONCE = 8_192
_SAMPLE = 4096
_ROUNDED = 64 * 2.0**-24
"""Times d and the lengths: a bound on float32's rounding of products and sums of d numbers, and of 64 directions."""
_LARGEST = 127
_FAR = 1e15
"""The remainder of a vector beyond the range of the codes: it is never excluded, and loosens no other's bound."""


@dataclass(frozen=True)
class Asked:
    """A cue in the directions.

    Args:
        codes: its component in them, shape (h,).
        scale: the value of the product of two codes.
        outside: the length of its component outside them.
        error: how much the bounds of all rows may be too low.
    """

    codes: NDArray[np.int8]
    scale: float
    outside: float
    error: float


class Sieve:
    """For each row: the component in the directions, as codes times one step, and the length of the remainder."""

    def __init__(self, sample: Vectors) -> None:
        """For vectors like those to be added, shape (n, d); a row of NaN is not a vector."""
        sample = np.nan_to_num(sample)
        _, directions = np.linalg.eigh(sample.T.astype(np.float64) @ sample)
        self.rows = 0
        """The number of rows held, except those in ``again``."""
        self.again: set[int] = set()
        self._axes = np.ascontiguousarray(directions[:, -DIRECTIONS:]).astype(np.float32)
        self._step = 1.1 * float(np.abs(sample @ self._axes).max(initial=0.0)) / _LARGEST or 1.0
        self._codes = np.zeros((0, self._axes.shape[1]), np.int8)
        self._rests = np.zeros(0, np.float32)
        self._longest = self._residual = 0.0

    @classmethod
    def of(cls, vectors: Vectors) -> Sieve:
        """For vectors, shape (n, d), by an even sample of them."""
        return cls(vectors[:: max(1, len(vectors) // _SAMPLE)])

    @property
    def size(self) -> int:
        """Bytes."""
        return self._codes.nbytes + self._rests.nbytes + self._axes.nbytes

    def hold(self, vectors: Vectors, *, most: int = _AT_ONCE) -> bool:
        """Add some more of these vectors, shape (n, d); return whether all of them are held now."""
        if len(self._rests) < len(vectors):
            room = len(vectors) + len(vectors) // 8
            codes, rests = np.zeros((room, self._codes.shape[1]), np.int8), np.zeros(room, np.float32)
            codes[: len(self._codes)], rests[: len(self._rests)] = self._codes, self._rests
            self._codes, self._rests = codes, rests
        if self.again:
            some = set(islice(self.again, most))
            self._put(np.fromiter((row for row in some if row < self.rows), np.intp), vectors)
            self.again -= some
        end = min(len(vectors), self.rows + most)
        self._put(np.arange(self.rows, end), vectors)
        self.rows = max(self.rows, end)
        return self.rows >= len(vectors) and not self.again

    def _put(self, rows: NDArray[np.intp], vectors: Vectors) -> None:
        some = np.nan_to_num(vectors[rows])
        inside = some @ self._axes
        codes = np.clip(np.rint(inside / np.float32(self._step)), -_LARGEST, _LARGEST)
        squares = np.square(some, dtype=np.float64).sum(axis=1)
        outside = squares - np.square(inside, dtype=np.float64).sum(axis=1)
        outside = np.maximum(outside, 0.0) + _ROUNDED * len(self._axes) * squares
        far = np.abs(inside).max(axis=1, initial=0.0) > (_LARGEST + 0.5) * self._step
        self._codes[rows] = codes
        self._rests[rows] = np.nextafter(np.sqrt(outside).astype(np.float32), np.float32(np.inf))
        self._rests[rows[far]] = _FAR
        left = np.sqrt(np.square(inside[~far] - codes[~far] * self._step, dtype=np.float64).sum(axis=1))
        self._residual = max(self._residual, float(left.max(initial=0.0)) * (1 + 1e-6))
        self._longest = max(self._longest, float(np.sqrt(squares.max(initial=0.0))))

    def asked(self, cue: Vectors) -> Asked:
        """A cue, shape (d,), in the form that is compared with rows."""
        inside = cue @ self._axes
        length = float(np.linalg.norm(cue.astype(np.float64)))
        rounding = _ROUNDED * len(cue) * length * length
        outside = np.sqrt(max(length**2 - float(np.square(inside, dtype=np.float64).sum()), 0.0) + rounding)
        codes, step, left = coded(inside)
        error = (self._longest + self._residual) * left + self._residual * length
        error += _ROUNDED * len(cue) * self._longest * length
        return Asked(codes, step * self._step, float(outside), error)

    def bounds(self, asked: Asked, rows: slice) -> NDArray[np.float32]:
        """Upper bounds, up to the cue's error, for the dot products of some rows with a cue, shape (n,)."""
        dots: NDArray[np.float32] = coded_dots(asked.codes, self._codes[rows])
        dots *= np.float32(asked.scale)
        dots += self._rests[rows] * np.float32(asked.outside)
        return dots


def coded(vector: Vectors) -> tuple[NDArray[np.int8], float, float]:
    """A vector, shape (d,), as int8 codes times a step, and the length of the error."""
    step = float(np.abs(vector).max()) / _LARGEST or 1.0
    codes = np.rint(vector / np.float32(step)).astype(np.int8)
    missed = vector.astype(np.float64) - codes * step
    return codes, step, math.sqrt(missed.dot(missed))


def coded_dots(codes: NDArray[np.int8], rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """The exact dot products of codes, shape (d,), with rows of codes, shape (n, d)."""
    dots: NDArray[np.float32] = np.asarray(simsimd.cdist(codes[None], rows, "dot", out_dtype="f32"))[0]
    return dots
