"""Columns: the numbers of a table's rows side by side, with room to grow, and the int8 form that is scanned first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .scoring import Floats, squares

_FIRST_ROOM = 64
_CODED_AT_ONCE = 4096

PLAIN: Mapping[str, type[np.generic]] = {
    "squares": np.float64,
    "squares32": np.float32,
    "importance": np.float64,
    "importance32": np.float32,
    "last_access": np.float64,
    "accessed": np.float64,
    "timestamp": np.float64,
    "kind": np.uint8,
    "scales": np.float32,
    "residuals": np.float32,
}
"""One number a row. ``squares``: a vector's squared length; ``squares32`` and ``importance32``: for estimates;
``last_access``: Unix seconds that recency counts from; ``accessed``: when it was last recalled, NaN = never; ``scales``
and ``residuals`` belong to ``codes``."""
WIDE: Mapping[str, type[np.generic]] = {"vectors": np.float32, "codes": np.int8}
"""d numbers a row. ``codes`` times ``scales`` is the vector but for an error of length ``residuals``."""


class Columns:
    """Arrays of one capacity, of which the first rows are in use.

    Rows are set, moved and read; nothing is derived from them here but the int8 codes, which are made when they are
    asked for.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]] | None = None, coded: int = 0) -> None:
        self._arrays: dict[str, NDArray[Any]] = dict(arrays or {})
        self._coded = coded  # rows before this have codes, but for those in _recode
        self._recode: set[int] = set()
        self._residual = float(np.max(arrays["residuals"][:coded], initial=0.0)) if arrays else 0.0
        if not arrays:
            self._arrays = {name: np.zeros(0, kind) for name, kind in PLAIN.items()}
            self._arrays |= {name: np.zeros((0, 0), kind) for name, kind in WIDE.items()}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    @property
    def room(self) -> int:
        """How many rows fit."""
        return len(self._arrays["squares"])

    @property
    def width(self) -> int:
        """d, the length of the vectors; 0 until the first is put."""
        return int(self._arrays["vectors"].shape[1])

    @property
    def residual(self) -> float:
        """No code errs by more than this length; it never shrinks, so that no row need be looked through."""
        return self._residual

    def put(self, row: int, vector: NDArray[np.float32] | None, **values: float) -> None:
        """Set a row, making room for it if it is the next one; no vector = a row of NaN."""
        if vector is not None and not self.width:
            self._widen(len(vector))
        if row >= self.room:
            self._grow(max(row + 1, 2 * self.room, _FIRST_ROOM))
        self._arrays["vectors"][row] = math.nan if vector is None else vector
        square = squares(self._arrays["vectors"][row : row + 1])[0] if self.width else math.nan
        self._arrays["squares"][row] = self._arrays["squares32"][row] = square
        for name, value in values.items():
            self._arrays[name][row] = value
        self._coded = min(self._coded, row) if row >= self._coded else self._coded
        if row < self._coded:
            self._recode.add(row)

    def move(self, source: int, target: int) -> None:
        """Copy a row over another; the source is then free."""
        for array in self._arrays.values():
            array[target] = array[source]
        if target < self._coded:
            self._recode.add(target)

    def free(self, row: int) -> None:
        """The last row in use is in use no longer."""
        self._coded = min(self._coded, row)
        self._recode.discard(row)

    def code(self, rows: int) -> None:
        """See that the first ``rows`` have codes: the vector divided by its largest number / 127, rounded."""
        if self._recode:
            self._code(np.fromiter((row for row in self._recode if row < rows), np.intp))
            self._recode.clear()
        for start in range(self._coded, rows, _CODED_AT_ONCE):
            self._code(np.arange(start, min(start + _CODED_AT_ONCE, rows)))
        self._coded = max(self._coded, rows)

    def _code(self, rows: NDArray[np.intp]) -> None:
        vectors = np.nan_to_num(self._arrays["vectors"][rows])
        scales = np.abs(vectors).max(axis=1, initial=0.0) / np.float32(127)
        scales[scales == 0] = 1
        codes = np.rint(vectors / scales[:, None])
        self._arrays["codes"][rows] = codes
        self._arrays["scales"][rows] = scales
        # in float64, and rounded up, so that it bounds the error
        residual = np.sqrt(np.square(vectors - codes.astype(np.float64) * scales[:, None]).sum(axis=1))
        upwards = np.nextafter(residual.astype(np.float32), np.float32(np.inf))
        self._arrays["residuals"][rows] = upwards
        self._residual = max(self._residual, float(upwards.max(initial=0.0)))

    def used(self, rows: int) -> dict[str, NDArray[Any]]:
        """Every column cut to the rows in use."""
        return {name: array[:rows] for name, array in self._arrays.items()}

    def copied(self, rows: int) -> Columns:
        """The first rows as they stand now, whatever becomes of these."""
        other = Columns({name: array[:rows].copy() for name, array in self._arrays.items()}, min(self._coded, rows))
        other._recode = {row for row in self._recode if row < rows}
        return other

    def _widen(self, width: int) -> None:
        self._arrays["vectors"] = np.full((self.room, width), math.nan, np.float32)
        self._arrays["codes"] = np.zeros((self.room, width), np.int8)

    def _grow(self, room: int) -> None:
        for name, array in self._arrays.items():
            larger = np.zeros((room, *array.shape[1:]), array.dtype)
            larger[: len(array)] = array
            self._arrays[name] = larger


def lengths_fit(arrays: Mapping[str, Floats]) -> bool:
    """Whether the arrays are the columns of one table, as far as their names, kinds and lengths tell."""
    kinds = {**PLAIN, **WIDE}
    rooms = {len(array) for array in arrays.values()}
    return (
        arrays.keys() == kinds.keys()
        and len(rooms) == 1
        and all(array.dtype == np.dtype(kinds[name]) for name, array in arrays.items())
        and arrays["vectors"].shape == arrays["codes"].shape
    )
