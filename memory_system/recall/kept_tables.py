"""Saved tables next to the store: which of them can be used, and when they are written again.

A small agent is opened from its journal at once. A large one is opened from its saved tables, each at some revision
of its journal; later changes are added from there.

A table is a file that is read in one go: opening it makes no entry and computes nothing.

The file is derived: it is used only if its checksums and its place in the journal match, and otherwise made again. It
is read and not mapped: a mapped file that another program truncates in place, as ``cp`` and
``rsync --inplace`` do, kills the process at its next access (SIGBUS), and reading takes no longer.

The vectors and their codes, which are most of it, are read at the first recall, and again after they were dropped from
memory. Whatever has become of the file by then, the journal has them.

Layout: a magic line; the length and the checksum of a header; the header, in JSON; then each column at an offset that
is a multiple of 4,096, with spare rows, which use no space on disk or in memory.
"""

from __future__ import annotations

import dataclasses
import json
import math
import mmap
import os
import stat
import weakref
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.change_set import dump_entry
from ..core.entry import Tier
from ..core.files import within
from ..core.memory import Vectors
from .table import WIDE, Columns, Rows, Saved, Scene, Table, lengths_fit

_MAGIC = b"memory table 1\n"
_PAGE = 4096
_MOST_HEADER = 1 << 20
_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
_ADVISED: int | None = getattr(mmap, "MADV_HUGEPAGE", None)
_LARGE_PAGES = 1 << 22
_SPARE = 8
"""One spare row per eight, so that additions after opening do not need a copy of the whole."""
_MOST_SPARE_OF_FEW = 1024
"""A small table gets as many spare rows as it has rows, but no more than this."""


@dataclass(frozen=True)
class Place:
    """A table's position in the journal: what shows whether a saved one can be used.

    Args:
        revision: the last revision in the table.
        change_set: the id of that revision's change set; another id at that revision means another history.
        access: the last access in the table.
        embedder: the identity of what made the vectors.
        tier: the table's tier.
    """

    revision: int
    change_set: str
    access: int
    embedder: str
    tier: str = ""


def save(path: Path, table: Table, place: Place) -> None:
    """Write a table; an existing file is replaced in one step.

    Raises:
        OSError: it cannot be written; an existing file is unchanged.
    """
    rows = len(table)
    table.columns.code(rows)
    room = rows + max(rows // _SPARE, min(rows, _MOST_SPARE_OF_FEW))
    lines, ends = _lines(table)
    scenes = {entry_id: (scene.source, scene.people, scene.place) for entry_id, scene in table.scenes.items()}
    fields = {"ids": table.ids, "tags": table.tags, "scenes": scenes}
    names = json.dumps(fields, ensure_ascii=False).encode("utf-8")
    parts = dict(table.columns.used(rows))
    parts |= {"text": lines, "ends": ends, "names": np.frombuffer(names, np.uint8)}
    parts |= {_OF_TEXTS + name: array for name, array in (table.read_texts or {}).items()}
    sections: dict[str, dict[str, Any]] = {}
    offset = _MOST_HEADER
    for name, array in parts.items():
        shape = array.shape if _is_list(name) else (room, *array.shape[1:])
        sections[name] = {
            "offset": offset,
            "type": array.dtype.str,
            "shape": shape,
            "check": zlib.crc32(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data) if array.size else 0,
        }
        offset += -(-int(np.prod(shape)) * array.itemsize // _PAGE) * _PAGE
    header = json.dumps({"rows": rows, "size": offset, "place": vars(place), "sections": sections}).encode()
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(_MAGIC + f"{len(header)} {zlib.crc32(header)}\n".encode() + header)
            for name, array in parts.items():
                file.seek(sections[name]["offset"])
                np.ascontiguousarray(array).tofile(file)
            file.truncate(offset)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


VectorsOf = Callable[[Sequence[str], str], Sequence[Vectors | None]]
"""Returns an embedder's vectors of texts, ``None`` where the journal has none."""


def load(path: Path, vectors_of: VectorsOf | None = None) -> tuple[Table, Place] | None:
    """The table in a file that ``save`` wrote; ``None`` if there is no file, or it was altered.

    Args:
        path: the file.
        vectors_of: where vectors come from if the file no longer holds them once they are needed; if not given,
            everything is read at once.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe would block
            return None
        with path.open("rb") as file:
            if file.readline(len(_MAGIC)) != _MAGIC:
                return None
            length, check = (int(word) for word in file.readline(64).split())
            text = file.read(min(length, _MOST_HEADER))
            if zlib.crc32(text) != check:
                return None
            header = json.loads(text)
            if os.fstat(file.fileno()).st_size != header["size"]:
                return None
            return _read(file, header, vectors_of)
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None


_LISTS = ("text", "ends", "names")
"""Sections without spare rows: additions after opening are stored separately."""
_OF_TEXTS = "texts."
"""How the sections begin that hold what an index has read of the texts; they are such lists, too."""


def _is_list(name: str) -> bool:
    return name in _LISTS or name.startswith(_OF_TEXTS)


def _read(file: BufferedReader, header: dict[str, Any], vectors_of: VectorsOf | None) -> tuple[Table, Place] | None:
    rows, arrays, place = int(header["rows"]), {}, Place(**header["place"])
    sections: dict[str, dict[str, Any]] = header["sections"]
    has_vectors = sections["vectors"]["shape"][1] > 0
    later = {name: sections[name] for name in WIDE if has_vectors and vectors_of is not None}
    for name, section in sections.items():
        if name in later:
            continue
        array = np.zeros(tuple(section["shape"]), np.dtype(section["type"]))  # what is not used costs no memory
        if not _is_filled(file, section, array if _is_list(name) else array[:rows]):
            return None
        arrays[name] = array
    text, ends, names = (arrays.pop(name) for name in _LISTS)
    of_texts = {name.removeprefix(_OF_TEXTS): arrays.pop(name) for name in list(arrays) if _is_list(name)}
    fields = json.loads(names.tobytes())
    columns = {
        name: (tuple(section["shape"]), section["type"]) for name, section in sections.items() if not _is_list(name)
    }
    if not lengths_fit(columns) or len(ends) != rows or len(fields["ids"]) != rows:
        return None
    entries = Rows(list(range(rows)), arrays["accessed"], Saved(text, ends))
    wide = None
    if later and vectors_of is not None:
        wide = _Wide(Path(file.name), later, rows, entries, place.embedder, vectors_of)
    tags = {entry_id: tuple(of_entry) for entry_id, of_entry in fields["tags"].items()}
    scenes = {
        entry_id: Scene(source, tuple(people), place)
        for entry_id, (source, people, place) in fields.get("scenes", {}).items()  # version 0.2 had none
    }
    table = Table(Columns(arrays, rows, wide), entries, fields["ids"], tags, scenes)
    if of_texts:
        table.keep_texts(of_texts)
    return table, place


def _is_filled(file: BufferedReader, section: Mapping[str, Any], array: NDArray[Any]) -> bool:
    """Whether an array could be read from its section, and the section is unaltered."""
    if not array.size:
        return True
    into = array.view(np.uint8).reshape(-1).data
    file.seek(int(section["offset"]))
    return file.readinto(into) == len(into) and zlib.crc32(into) == section["check"]


@dataclass(frozen=True)
class _Wide:
    """The wide columns of a saved table: from its file, or, if that has been altered, from the journal."""

    path: Path
    sections: Mapping[str, Mapping[str, Any]]
    rows: int
    entries: Rows
    embedder: str
    vectors_of: VectorsOf

    @property
    def width(self) -> int:
        """d, the length of the vectors."""
        return int(self.sections["vectors"]["shape"][1])

    def read(self, room: int, changed: Iterable[int]) -> tuple[dict[str, NDArray[Any]], set[int]]:
        """See ``Elsewhere``."""
        wide = {name: _room_for((room, self.width), kind) for name, kind in WIDE.items()}
        rows, vectors = range(len(self.entries)), wide["vectors"]
        unread = set(changed if self._are_read(wide) else rows).intersection(rows)
        found = self.vectors_of([self.entries.document(row) for row in unread], self.embedder) if unread else ()
        for row, vector in zip(unread, found, strict=True):
            vectors[row] = math.nan if vector is None else vector
        return wide, unread

    def _are_read(self, wide: Mapping[str, NDArray[Any]]) -> bool:
        try:
            with self.path.open("rb") as file:
                return all(_is_filled(file, self.sections[name], array[: self.rows]) for name, array in wide.items())
        except OSError:
            return False


def _room_for(shape: tuple[int, int], kind: type[np.generic]) -> NDArray[Any]:
    """Zeros that use memory only where they are written, and return it to the system when they are released.

    They are in large pages if they fill some, like numpy's: scanning them takes a third of the time.
    """
    size = math.prod(shape) * np.dtype(kind).itemsize
    if not _PRIVATE or not size:
        return np.zeros(shape, kind)
    mapped = mmap.mmap(-1, size, flags=_PRIVATE)  # otherwise a forked process would see what is written here
    if size >= _LARGE_PAGES and _ADVISED is not None:
        with suppress(OSError):  # a system without large pages
            mapped.madvise(_ADVISED)
    return np.frombuffer(mapped, kind).reshape(shape)


def _lines(table: Table) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    lines = list(_each_line(table.entries))
    ends = np.cumsum([len(line) for line in lines], dtype=np.uint64)
    return np.frombuffer(b"".join(lines), np.uint8), ends


def _each_line(entries: Rows) -> Iterable[bytes]:
    for item in entries.slots:
        if isinstance(item, int):
            yield entries.saved.line(item)
        else:
            yield (dump_entry(item) or "").encode("utf-8")


def drop_changed(tables: Mapping[Tier, Table], changed: Iterable[str], held: Mapping[Tier, Collection[str]]) -> None:
    """Drop from each table the entries that changed since it was saved and are no longer in its tier."""
    for entry_id in changed:
        for tier, table in tables.items():
            if entry_id not in held[tier]:
                table.drop(entry_id)


FROM_ROWS = 100
"""A tier with fewer rows is read from the journal, which takes some 30 microseconds of processor time per row."""
_MOST_BEHIND = 500
"""The most revisions to catch up on; a table further behind is made again."""
_REWRITE = 0.02
"""The share of rows that may change before a table is written again."""
_FEW = 50
"""The number of changes below which it is not: writing a file of a hundred rows is slower than reading the journal."""


class KeptTables:
    """The table files in one agent's folder. Everything in them is derived; losing them only costs time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._versions: dict[Tier, tuple[weakref.ref[Table], int, bool]] = {}
        self._places: dict[Tier, Place] = {}

    def open(self, place: Place, change_set_at: Callable[[int], str], vectors_of: VectorsOf) -> dict[Tier, Table]:
        """The saved tables of this history, each up to its own revision (see ``shown``).

        Args:
            place: where the journal is.
            change_set_at: the id of a revision's change set.
            vectors_of: returns the vectors in the journal.
        """
        found: dict[Tier, Table] = {}
        for tier in Tier:
            loaded = load(self._path(tier), vectors_of)
            if loaded is None:
                continue
            table, shown = loaded
            behind = place.revision - shown.revision
            ours = (shown.embedder, shown.tier) == (place.embedder, tier.value) and shown.access <= place.access
            if not ours or not 0 <= behind <= _MOST_BEHIND:
                continue
            if (change_set_at(shown.revision) if behind else place.change_set) == shown.change_set:
                found[tier] = table
                self._versions[tier] = weakref.ref(table), table.version, table.texts_are_read
                self._places[tier] = shown
        return found

    def shown(self) -> tuple[int, int]:
        """The earliest revision and the earliest access of the opened tables."""
        places = self._places.values()
        return min(place.revision for place in places), min(place.access for place in places)

    def keep(self, tables: Mapping[Tier, Table], place: Place) -> None:
        """Write tables that have changed much since they were written.

        Raises:
            OSError: a file cannot be written; the next opening takes longer.
        """
        for tier, table in tables.items():
            if len(table) < FROM_ROWS:
                self._path(tier).unlink(missing_ok=True)
            elif self._changed_much(tier, table):
                save(self._path(tier), table, dataclasses.replace(place, tier=tier.value))

    def drop(self) -> None:
        """Delete the files; they are written again when the agent is closed.

        Raises:
            OSError: one cannot be deleted.
        """
        self._versions.clear()
        self._places.clear()
        for path in within(self._folder, "*.table*"):
            path.unlink(missing_ok=True)

    def _changed_much(self, tier: Tier, table: Table) -> bool:
        if tier not in self._versions:
            return True
        opened, version, texts_kept = self._versions[tier]
        return (
            opened() is not table
            or table.version - version > max(_REWRITE * len(table), _FEW)
            or (not texts_kept and table.texts_are_read)
        )

    def _path(self, tier: Tier) -> Path:
        return self._folder / f"{tier.value}.table"
