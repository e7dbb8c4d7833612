"""Rows: the entries of a table, each read from its saved form only when it is accessed.

Columns: the numbers of a table's rows in parallel arrays, with room to grow, and the int8 form that is scanned first.

Table: what recall computes on. One tier's entries, vectors, last accesses and importances, in parallel.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, overload

import numpy as np
import simsimd
from numpy.typing import NDArray

from ..core.change_set import entry_from_json, entry_to_json
from ..core.decay import Curve, DecayForm
from ..core.entry import MemoryEntry, wants_rating
from ..core.kinds import Kind
from ..core.memory import Vectors
from ..core.scoring import FRESH_SECONDS, Floats, Weights, recency, relevancy, squares
from ..core.times import from_seconds
from .hybrid import TextIndex
from .sieve import Sieve


class Saved:
    """Entries as lines of JSON in one run of bytes, as in a saved table.

    Args:
        text: the lines, shape (bytes,), uint8.
        ends: where each line ends, shape (n,).
    """

    def __init__(self, text: NDArray[np.uint8], ends: NDArray[np.uint64]) -> None:
        self._text = text
        self._ends = ends
        self._made: dict[int, MemoryEntry] = {}  # a cache for those read repeatedly, as by each plan

    def line(self, number: int) -> bytes:
        """One line."""
        start = int(self._ends[number - 1]) if number else 0
        return bytes(self._text[start : int(self._ends[number])].data)

    def document(self, number: int) -> str:
        """The document of one entry, without making the entry."""
        return str(json.loads(self.line(number))["document"])

    def body(self, number: int) -> Mapping[str, Any]:
        """One entry in the form of ``entry_to_json``, without making the entry."""
        body: dict[str, Any] = json.loads(self.line(number))
        return body

    def entry(self, number: int) -> MemoryEntry:
        """One entry."""
        made = self._made.get(number)
        if made is None:
            if len(self._made) >= _MADE:
                self._made.clear()
            made = self._made[number] = entry_from_json(self.body(number))
        return made


_MADE = 2000
"""The most entries to cache."""
NOTHING_SAVED = Saved(np.zeros(0, np.uint8), np.zeros(0, np.uint64))


class Rows(Sequence[MemoryEntry]):
    """Entries by row: loaded ones as they are, the others as the number of their saved line.

    Args:
        slots: an entry, or the number of its line in ``saved``.
        accessed: when each was last recalled, shape (n or more,), Unix seconds, NaN = never.
        saved: where the lines are.
    """

    def __init__(self, slots: list[MemoryEntry | int], accessed: Floats, saved: Saved) -> None:
        self.slots = slots
        self.accessed = accessed
        self.saved = saved
        self._copy: list[MemoryEntry | int] | None = None

    def __len__(self) -> int:
        return len(self.slots)

    @overload
    def __getitem__(self, row: int) -> MemoryEntry: ...
    @overload
    def __getitem__(self, row: slice) -> list[MemoryEntry]: ...
    def __getitem__(self, row: int | slice) -> MemoryEntry | list[MemoryEntry]:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        item = self.slots[row]
        entry = self.saved.entry(item) if isinstance(item, int) else item
        seconds = self.accessed[row if row >= 0 else len(self) + row]
        if math.isnan(seconds):
            if entry.last_access is not None:  # from before any recall
                entry = entry.accessed(None)
        elif entry.last_access is None or entry.last_access.timestamp() != seconds:
            entry = entry.accessed(from_seconds(float(seconds)))
        self.slots[row] = entry
        return entry

    def document(self, row: int) -> str:
        """The document of a row, without making an entry of it."""
        item = self.slots[row]
        return self.saved.document(item) if isinstance(item, int) else item.document

    def body(self, row: int) -> Mapping[str, Any]:
        """A row in the form of ``entry_to_json``, without making an entry of it."""
        item = self.slots[row]
        return self.saved.body(item) if isinstance(item, int) else entry_to_json(item)

    def wants_rating(self, row: int) -> bool:
        """Whether a row should have been rated and is not, without making an entry of it."""
        item = self.slots[row]
        if isinstance(item, MemoryEntry):
            return wants_rating(item.rating, item.explanation)
        body = self.saved.body(item)
        return wants_rating(body.get("rating"), body.get("explanation", ""))

    def copied(self) -> Rows:
        """A copy of the rows, independent of the table; the loaded entries are copied once for each change."""
        if self._copy is None:
            self._copy = list(self.slots)
        return Rows(self._copy, self.accessed[: len(self)].copy(), self.saved)

    def changed(self, accessed: Floats) -> None:
        """Note that a row was put or dropped, which may have replaced the array of last accesses."""
        self.accessed, self._copy = accessed, None


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
"""One number per row. ``squares``: a vector's squared length; ``squares32`` and ``importance32``: for estimates;
``last_access``: Unix seconds that recency counts from; ``accessed``: when it was last recalled, NaN = never; ``scales``
and ``residuals`` belong to ``codes``."""
WIDE: Mapping[str, type[np.generic]] = {"vectors": np.float32, "codes": np.int8}
"""d numbers per row. ``codes`` times ``scales`` is the vector except for an error of length ``residuals``."""


class Elsewhere(Protocol):
    """A source for the wide columns of a table: they use most of its memory, and most operations need none of them."""

    @property
    def width(self) -> int:
        """d, the length of the vectors."""

    def read(self, room: int, changed: Iterable[int]) -> tuple[dict[str, NDArray[Any]], set[int]]:
        """The wide columns by name, shape (room, d), and which rows have no codes yet.

        Args:
            room: how many rows to make space for; a row without a vector is filled with NaN.
            changed: rows whose vector has changed since it was last read.

        Raises:
            StoreError: they cannot be read.
        """


class Columns:
    """Arrays of one capacity; the first rows are in use.

    Rows are set, moved and read; nothing is derived from them here except the int8 codes, which are made on demand.

    Args:
        arrays: by name.
        coded: rows before this have codes.
        elsewhere: where the wide ones are read when they are first needed, if they are not among ``arrays``.
    """

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]] | None = None,
        coded: int = 0,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._arrays: dict[str, NDArray[Any]] = dict(arrays or {})
        self._coded = coded  # rows before this have codes, except those in _recode
        self._recode: set[int] = set()
        self._elsewhere = elsewhere
        self._changed: set[int] = set()  # rows whose vector differs from the one in ``elsewhere``
        self._sieve: Sieve | None = None
        self.lost = 0
        """How many rows turned out to have lost their vector when the wide columns were read again."""
        self._residual = float(np.max(arrays["residuals"][:coded], initial=0.0)) if arrays else 0.0
        if not arrays:
            self._arrays = {name: np.zeros(0, kind) for name, kind in PLAIN.items()}
            self._arrays |= {name: np.zeros((0, 0), kind) for name, kind in WIDE.items()}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name in WIDE:
            self.take_up()
        return self._arrays[name]

    @property
    def laid_aside(self) -> bool:
        """Whether the wide columns are not in memory now."""
        return "vectors" not in self._arrays

    def lay_aside(self) -> None:
        """Release the wide columns from memory, if they can be read again."""
        if self._elsewhere is not None:
            self._sieve = None
            for name in WIDE:
                self._arrays.pop(name, None)

    def take_up(self) -> None:
        """Read the wide columns, if they were released.

        Raises:
            StoreError: they cannot be read.
        """
        if self._elsewhere is None or not self.laid_aside:
            return
        wide, uncoded = self._elsewhere.read(self.room, self._changed)
        self._recode |= {row for row in uncoded if row < self._coded}
        rows = np.fromiter(uncoded, np.intp)
        missing = rows[np.isnan(wide["vectors"][rows, 0])]
        self.lost += int(np.count_nonzero(~np.isnan(self._arrays["squares"][missing])))
        self._arrays["squares"][missing] = self._arrays["squares32"][missing] = math.nan
        self._arrays |= wide

    def _alter(self, row: int) -> None:
        if self._elsewhere is not None:
            self.take_up()
            self._changed.add(row)

    @property
    def changed(self) -> bool:
        """Whether any vector differs from the one in ``elsewhere``, or there is no such source."""
        return bool(self._changed) or self._elsewhere is None

    @property
    def room(self) -> int:
        """How many rows fit."""
        return len(self._arrays["squares"])

    @property
    def size(self) -> int:
        """How many bytes the arrays take."""
        sieve = self._sieve
        size = sum(array.nbytes for array in tuple(self._arrays.values()))  # they may be released meanwhile
        return size + (sieve.size if sieve is not None else 0)

    @property
    def width(self) -> int:
        """d, the length of the vectors; 0 until the first is put."""
        if self._elsewhere is not None:
            return self._elsewhere.width
        return int(self._arrays["vectors"].shape[1])

    @property
    def residual(self) -> float:
        """An upper bound on the error of all codes; it never shrinks, so that no row need be scanned."""
        return self._residual

    def put(self, row: int, vector: NDArray[np.float32] | None, **values: float) -> None:
        """Set a row, making space for it if it is the next one; no vector = a row of NaN."""
        self._alter(row)
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
        self._code_again(row)

    def move(self, source: int, target: int) -> None:
        """Copy a row over another; the source is then free."""
        self._alter(target)
        for array in self._arrays.values():
            array[target] = array[source]
        self._code_again(target)

    def _code_again(self, row: int) -> None:
        if row < self._coded:
            self._recode.add(row)
        if self._sieve is not None:
            self._sieve.again.add(row)

    def free(self, row: int) -> None:
        """Release the last row in use."""
        self._coded = min(self._coded, row)
        self._recode.discard(row)
        if self._sieve is not None:
            self._sieve.rows = min(self._sieve.rows, row)

    def code(self, rows: int) -> None:
        """Make sure that the first ``rows`` have codes: the vector divided by its largest number / 127, rounded."""
        self.take_up()
        if self._recode:
            self._code(np.fromiter((row for row in self._recode if row < rows), np.intp))
            self._recode.clear()
        for start in range(self._coded, rows, _CODED_AT_ONCE):
            self._code(np.arange(start, min(start + _CODED_AT_ONCE, rows)))
        self._coded = max(self._coded, rows)

    def sieve(self, rows: int) -> Sieve | None:
        """Bounds for the dot products of the first ``rows``; each call builds a part, ``None`` until it is complete."""
        vectors = self["vectors"][:rows]
        if self._sieve is None:
            self._sieve = Sieve.of(vectors)
        return self._sieve if self._sieve.hold(vectors) else None

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
        self.take_up()
        return {name: array[:rows] for name, array in self._arrays.items()}

    def copied(self, rows: int) -> Columns:
        """An independent copy of the first rows."""
        self.take_up()
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


def lengths_fit(columns: Mapping[str, tuple[tuple[int, ...], str]]) -> bool:
    """Whether these can be the columns of one table, by their names, shapes and types."""
    kinds = {name: np.dtype(kind) for name, (_shape, kind) in columns.items()}
    return (
        kinds == {name: np.dtype(kind) for name, kind in {**PLAIN, **WIDE}.items()}
        and len({shape[0] for shape, _kind in columns.values()}) == 1
        and columns["vectors"][0] == columns["codes"][0]
    )


KINDS = tuple(Kind)
"""The meaning of the numbers in the column ``kind``."""
_CUES = 4
"""Cues whose relevancies are cached: moving a slider asks the same one again and again."""
_DECAYS = 4
_ENTRY_BYTES = 400
"""About the memory of an entry in addition to its row."""
_WORDS_BYTES = 500
"""About the memory of an entry's words after the first recall."""
_FOLDED_BYTES = 200
"""About the memory of its text once it is also kept case-folded."""
_MOST_AHEAD = 10.0
"""How far, as an exponent of e, an access may be later than the newest one so far: float32 allows eight times
as much."""


@dataclass(frozen=True)
class Scene:
    """How an agent came to know of a memory, who is in it, and where it happened."""

    source: str | None
    people: tuple[str, ...]
    place: str

    @classmethod
    def of(cls, entry: MemoryEntry) -> Scene | None:
        """The scene of a memory; ``None`` if nothing about it is known."""
        said = cls(entry.source, entry.people, entry.place)
        return said if said.source or said.people or said.place else None


class Table:
    """Rows in no particular order, without gaps: a removed row is replaced by the last one.

    Derived from the journal and never written by itself; to change it, hold the agent's lock.

    Args:
        columns: the numbers, one row per entry.
        entries: the entries by row.
        ids: the id of each row.
        tags: the tags of those entries that have any, by id.
        scenes: the scenes of those entries that have any, by id.
    """

    def __init__(
        self,
        columns: Columns | None = None,
        entries: Rows | None = None,
        ids: list[str] | None = None,
        tags: dict[str, tuple[str, ...]] | None = None,
        scenes: dict[str, Scene] | None = None,
    ) -> None:
        self.columns = columns or Columns()
        self.entries = entries or Rows([], self.columns["accessed"], NOTHING_SAVED)
        self.ids = ids or []
        self.tags = tags or {}
        self.scenes = scenes or {}
        self.version = 0
        """Increases with each row that is put or dropped; accesses do not change it."""
        self._rows = {entry_id: row for row, entry_id in enumerate(self.ids)}
        self._id_ranks: tuple[int, NDArray[np.intp]] | None = None
        self._relevancies: OrderedDict[bytes, Floats] = OrderedDict()
        self._aged: dict[float, tuple[float, NDArray[np.float32]]] = {}
        self._bounds: tuple[tuple[int, int], float, bool] | None = None
        self._without: tuple[tuple[int, int], list[int]] | None = None
        self._texts: TextIndex | None = None
        self._kept_texts: Mapping[str, NDArray[Any]] | None = None
        self._folded: list[str] | None = None
        self._to_rate: set[str] | None = None
        self._weighed: tuple[tuple[float, Curve, float, float], NDArray[np.float32]] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._rows

    @property
    def size(self) -> int:
        """About how many bytes it uses, including its entries and their words; unused capacity costs nothing."""
        used = self.columns.size * len(self) // max(self.columns.room, 1)
        texts = _WORDS_BYTES * (self._texts is not None) + _FOLDED_BYTES * (self._folded is not None)
        return used + (_ENTRY_BYTES + texts) * len(self)

    def rest(self) -> None:
        """Release from memory what can be read again at the next recall."""
        self.columns.lay_aside()
        if self._texts is not None and not self.columns.changed:
            self._kept_texts = self._texts.parts()
            self._texts = None
        self._folded = None
        self._relevancies.clear()

    def row(self, entry_id: str) -> int | None:
        """The row of an entry, until the next change; ``None`` if it does not exist."""
        return self._rows.get(entry_id) if isinstance(entry_id, str) else None

    def get(self, entry_id: str) -> MemoryEntry | None:
        """The entry of this id with its last access, or ``None``."""
        row = self.row(entry_id)
        return None if row is None else self.entries[row]

    def vector(self, entry_id: str) -> Vectors:
        """The vector of an existing entry, shape (d,)."""
        vector: Vectors = self.columns["vectors"][self._rows[entry_id]]
        return vector

    def vector_at_hand(self, entry: MemoryEntry) -> Vectors | None:
        """A copy of the vector of an entry's text, shape (d,), if that exists, has one, and nothing has to be read."""
        row = self._rows.get(entry.id)
        if row is None or self.columns.laid_aside or self.entries.document(row) != entry.document:
            return None
        return None if math.isnan(self.columns["squares"][row]) else self.vector(entry.id).copy()

    @property
    def vectors(self) -> Vectors:
        """Shape (n, d), float32; a row of NaN has no vector."""
        return self.columns["vectors"][: len(self)]

    def rows_without_vector(self) -> list[int]:
        """The rows of entries without a vector."""
        state = self.version, self.columns.lost
        if self._without is None or self._without[0] != state:
            without = np.flatnonzero(np.isnan(self.columns["squares32"][: len(self)])).tolist()
            self._without = state, without
        return self._without[1]

    def rows_without_rating(self) -> list[int]:
        """The rows of entries that are not rated."""
        return [int(row) for row in np.flatnonzero(np.isnan(self.importance))]

    @property
    def to_rate(self) -> Collection[str]:
        """The ids of entries that a language model should have rated and has not; computed once, then kept current."""
        if self._to_rate is None:
            self._to_rate = {entry_id for row, entry_id in enumerate(self.ids) if self.entries.wants_rating(row)}
        return self._to_rate

    @property
    def importance(self) -> Floats:
        """Shape (n,), 0.1 to 1; NaN = unrated."""
        return self.columns["importance"][: len(self)]

    @property
    def last_access(self) -> Floats:
        """Shape (n,), Unix seconds; NaN = timeless."""
        return self.columns["last_access"][: len(self)]

    @property
    def happened(self) -> Floats:
        """When each happened, shape (n,), Unix seconds; NaN = timeless."""
        return self.columns["timestamp"][: len(self)]

    @property
    def kinds(self) -> NDArray[np.uint8]:
        """The kind of each, shape (n,), as numbers of ``KINDS``."""
        return self.columns["kind"][: len(self)]

    @property
    def id_ranks(self) -> NDArray[np.intp]:
        """The position of each row in the order of the ids, shape (n,)."""
        if self._id_ranks is None or self._id_ranks[0] != self.version:
            ranks = np.empty(len(self), np.intp)
            ranks[sorted(range(len(self)), key=self.ids.__getitem__)] = np.arange(len(self))
            self._id_ranks = self.version, ranks
        return self._id_ranks[1]

    def relevancies(self, cue: Vectors) -> Floats:
        """The similarity of every row to a cue of shape (d,), shape (n,); cached for the last few cues."""
        key = cue.tobytes()
        similarities = self._relevancies.pop(key, None)
        if similarities is None:
            similarities = relevancy(self.vectors, cue, self.columns["squares"][: len(self)])
        self._relevancies[key] = similarities
        while len(self._relevancies) > _CUES:
            self._relevancies.popitem(last=False)
        return similarities

    def similarities(self, cue: Vectors) -> Floats:
        """As ``relevancies``, in a seventh of the time: each product is added up in float32, and so off by about 1e-7.

        This is row by row, too, so that equal vectors have equal similarities, whatever their position. For measures in
        which similarity is one part of several.
        """
        if not self.vectors.size:
            return self.relevancies(cue)
        products: Floats = np.asarray(simsimd.cdist(self.vectors, cue[None], "dot"))[:, 0]
        distances = self.columns["squares"][: len(self)] - 2.0 * products + float(squares(cue[None])[0])
        found: Floats = 1.0 / (1.0 + np.maximum(distances, 0.0))  # rounding may bring a distance below 0
        return found

    def aged(self, decay: float) -> tuple[float, NDArray[np.float32]]:
        """The newest last access of all, in Unix seconds, and decay^hours from each to it, shape (n,)."""
        if decay not in self._aged:
            last_access = self.last_access
            newest = float(np.max(last_access, initial=-math.inf, where=~np.isnan(last_access)))
            if newest == -math.inf:  # all are timeless
                newest = 0.0
            hours = (newest - last_access) / 3600
            if len(self._aged) >= _DECAYS:
                self._aged.clear()
            self._aged[decay] = newest, np.exp(math.log(decay) * hours).astype(np.float32)
        return self._aged[decay]

    def weighed(self, now: float, curve: Curve, weights: Weights) -> NDArray[np.float32]:
        """The weighted sum of recency and importance of every row, shape (n,), NaN for one that lacks either.

        An estimate in float32, cached as long as the time stays the same.

        Args:
            now: Unix seconds.
            curve: the decay and its form; only for the exponential are the values at two times multiples of each other.
            weights: those of recency and importance count.
        """
        key = now, curve, weights.recency, weights.importance
        if self._weighed is None or self._weighed[0] != key:
            newest, aged = self.aged(curve.decay) if curve.form is DecayForm.EXPONENTIAL else (math.inf, None)
            if aged is None or now < newest:
                exact = weights.recency * recency(self.last_access, self.happened, now, curve)
                recent = exact.astype(np.float32)
            else:
                recent = aged * np.float32(weights.recency * curve.decay ** ((now - newest) / 3600))
                recent[np.flatnonzero(self.last_access >= now - FRESH_SECONDS)] = weights.recency
            recent += np.float32(weights.importance) * self.columns["importance32"][: len(self)]
            self._weighed = key, recent
        return self._weighed[1]

    @property
    def texts(self) -> TextIndex:
        """What the texts contain besides their vectors, row by row; built on first use."""
        if self._texts is None:
            index = self._restored_texts() or TextIndex()
            for row in range(len(index), len(self)):
                index.put(row, self.entries[row])
            self._texts, self._kept_texts = index, None
        return self._texts

    def keep_texts(self, parts: Mapping[str, NDArray[Any]]) -> None:
        """Adopt what an index of these same rows has read of their texts, to spare reading them again."""
        self._kept_texts = parts

    @property
    def texts_are_read(self) -> bool:
        """Whether there is an index of the texts already, here or saved."""
        return self._texts is not None or self._kept_texts is not None

    @property
    def read_texts(self) -> Mapping[str, NDArray[Any]] | None:
        """What an index has read of the texts, for ``keep_texts``; ``None`` before its first use."""
        return self._kept_texts if self._texts is None else self._texts.parts()

    def _restored_texts(self) -> TextIndex | None:
        """The saved index, if there is one, and its form is that of this version."""
        try:
            kept = self._kept_texts
            return None if kept is None else TextIndex.restored(kept, self.entries.saved)
        except (ValueError, KeyError, TypeError):
            return None

    @property
    def folded(self) -> Sequence[str]:
        """The documents by row, case-folded; made on first use, and then kept current."""
        if self._folded is None:
            self._folded = [self.entries.document(row).casefold() for row in range(len(self))]
        return self._folded

    @property
    def longest(self) -> float:
        """The length of the longest vector."""
        return self._measured()[1]

    @property
    def complete(self) -> bool:
        """Whether every memory has a vector, a time and a rating."""
        return self._measured()[2]

    def _measured(self) -> tuple[tuple[int, int], float, bool]:
        state = self.version, self.columns.lost
        if self._bounds is None or self._bounds[0] != state:
            squares = self.columns["squares"][: len(self)]
            longest = math.sqrt(float(np.max(squares, initial=0.0, where=~np.isnan(squares))))
            complete = not np.isnan(squares + self.importance + self.last_access).any()
            self._bounds = state, longest, bool(complete)
        return self._bounds

    def _before_change(self) -> None:
        """Read whatever depends on row numbers, before they change."""
        self.columns.take_up()
        if self._kept_texts is not None:
            self._texts, self._kept_texts = self._restored_texts(), None

    def put(self, entry: MemoryEntry, vector: Vectors | None) -> None:
        """Add an entry, or replace the one of its id."""
        self._before_change()
        row = self._rows.get(entry.id)
        if row is None:
            row = len(self)
            self.ids.append(entry.id)
            self.entries.slots.append(entry)
            self._rows[entry.id] = row
        importance = math.nan if entry.importance is None else entry.importance
        happened = math.nan if entry.timestamp is None else entry.timestamp.timestamp()
        accessed = math.nan if entry.last_access is None else entry.last_access.timestamp()
        self.columns.put(
            row,
            vector,
            importance=importance,
            importance32=importance,
            # the event itself counts as an access, also for an event told again
            last_access=happened if math.isnan(accessed) else max(happened, accessed),
            accessed=accessed,
            timestamp=happened,
            kind=KINDS.index(entry.kind),
        )
        self.entries.slots[row] = entry
        if self._texts is not None:
            self._texts.put(row, entry)
        if self._folded is not None:
            self._folded[row : row + 1] = [entry.document.casefold()]
        if self._to_rate is not None:
            (self._to_rate.add if self.entries.wants_rating(row) else self._to_rate.discard)(entry.id)
        self.tags.pop(entry.id, None)
        if entry.tags:
            self.tags[entry.id] = entry.tags
        self.scenes.pop(entry.id, None)
        if scene := Scene.of(entry):
            self.scenes[entry.id] = scene
        self._changed()

    def drop(self, entry_id: str) -> None:
        """Remove an entry; an unknown id is ignored."""
        if entry_id not in self._rows:
            return
        self._before_change()
        row, last = self._rows.pop(entry_id), len(self) - 1
        if self._texts is not None:
            if row != last:
                self._texts.move(last, row)
            else:
                self._texts.drop_last()
        if self._folded is not None:
            self._folded[row] = self._folded[last]
            self._folded.pop()
        if row != last:
            self.columns.move(last, row)
            self.entries.slots[row] = self.entries.slots[last]
            self.ids[row] = self.ids[last]
            self._rows[self.ids[row]] = row
        self.columns.free(last)
        self.entries.slots.pop()
        self.ids.pop()
        if self._to_rate is not None:
            self._to_rate.discard(entry_id)
        self.tags.pop(entry_id, None)
        self.scenes.pop(entry_id, None)
        self._changed()

    def drop_all(self, entry_ids: Iterable[str]) -> None:
        """Remove many: the last rows first, so that few others are moved to where they were, and read again for it."""
        rows = {entry_id: row for entry_id in entry_ids if (row := self._rows.get(entry_id)) is not None}
        for entry_id in sorted(rows, key=rows.__getitem__, reverse=True):
            self.drop(entry_id)

    def touch(self, entry_ids: Iterable[str], at: datetime) -> int:
        """Record an access; an entry that does not exist, has no time or was recalled later is skipped.

        Returns:
            how many were recorded.
        """
        seconds = at.timestamp()
        touched = []
        last_access, accessed = self.columns["last_access"], self.columns["accessed"]
        for entry_id in entry_ids:
            row = self._rows.get(entry_id)
            if row is not None and not math.isnan(last_access[row]) and not accessed[row] >= seconds:
                accessed[row] = seconds
                last_access[row] = max(last_access[row], seconds)
                touched.append(row)
        self._age(touched)
        return len(touched)

    def copied(self) -> Table:
        """An independent copy of the table."""
        columns = self.columns.copied(len(self))
        entries = Rows(list(self.entries.slots), columns["accessed"], self.entries.saved)
        other = Table(columns, entries, list(self.ids), dict(self.tags), dict(self.scenes))
        other._texts = None if self._texts is None else self._texts.copied()
        other._kept_texts = self._kept_texts
        return other

    def recall_only(self, accesses: Mapping[str, datetime], among: Iterable[str] | None = None) -> None:
        """Set the latest accesses of some memories, by default of all; one without an access had none."""
        ids = self.ids if among is None else [entry_id for entry_id in among if entry_id in self._rows]
        rows = np.array([self._rows[entry_id] for entry_id in ids], np.intp)
        known = (accesses.get(entry_id) for entry_id in ids)
        accessed = np.array([math.nan if at is None else at.timestamp() for at in known])
        happened = self.columns["timestamp"][rows]
        self.columns["accessed"][rows] = accessed
        self.columns["last_access"][rows] = np.where(np.isnan(happened), happened, np.fmax(happened, accessed))
        self._aged.clear()
        self._weighed = None

    def _age(self, rows: list[int]) -> None:
        """Update the cached ageing after an access; if the numbers would grow too large, drop it."""
        if self._weighed is not None and rows:
            (now, curve, by_recency, by_importance), sums = self._weighed
            recent = recency(self.last_access[rows], self.happened[rows], now, curve)
            sums[rows] = by_recency * recent + by_importance * self.importance[rows]
        for decay, (newest, aged) in list(self._aged.items()):
            hours = (newest - self.last_access[rows]) / 3600
            if hours.size and math.log(decay) * hours.min() > _MOST_AHEAD:
                del self._aged[decay]
            else:
                aged[rows] = np.exp(math.log(decay) * hours)

    def _changed(self) -> None:
        self.entries.changed(self.columns["accessed"])
        self.version += 1
        self._relevancies.clear()
        self._aged.clear()
        self._weighed = None
