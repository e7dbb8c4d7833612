"""A table beside the store, as a file that is read in one go: opening it makes no entry and computes nothing.

The file is derived: what it says is believed only if its checksums and its place in the journal fit, and it is
otherwise made anew. It is read and not mapped: a mapped file that another program cuts short in place, as ``cp`` and
``rsync --inplace`` do, kills the process at its next look (SIGBUS), and reading takes no longer.

Layout: a magic line; the length and the checksum of a header; the header, in JSON; then each column at an offset that
is a multiple of 4,096, with room for more rows, which takes no space on disk or in memory.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .changes import dump_entry
from .columns import Columns, lengths_fit
from .rows import Rows, Saved
from .table import Table

_MAGIC = b"memory table 1\n"
_PAGE = 4096
_MOST_HEADER = 1 << 20
_SPARE = 8
"""An eighth of the rows is kept free, so that what is added after opening needs no copy of the whole."""


@dataclass(frozen=True)
class Place:
    """Where in the journal a table stands: what it takes to know whether a saved one can be used.

    Args:
        revision: the last revision that the table shows.
        change_set: the id of that revision's change set; another id at that revision is another history.
        access: the last access that it shows.
        embedder: the identity of what made the vectors.
        tier: whose table it is.
    """

    revision: int
    change_set: str
    access: int
    embedder: str
    tier: str = ""


def save(path: Path, table: Table, place: Place) -> None:
    """Write a table; a file that was there is replaced at once and whole.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """
    rows = len(table)
    table.columns.code(rows)
    room = rows + max(rows // _SPARE, 1024)
    lines, ends = _lines(table)
    names = json.dumps({"ids": table.ids, "tags": table.tags}, ensure_ascii=False).encode("utf-8")
    parts = dict(table.columns.used(rows))
    parts |= {"text": lines, "ends": ends, "names": np.frombuffer(names, np.uint8)}
    sections: dict[str, dict[str, Any]] = {}
    offset = _MOST_HEADER
    for name, array in parts.items():
        shape = array.shape if name in _LISTS else (room, *array.shape[1:])
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


def load(path: Path) -> tuple[Table, Place] | None:
    """The table of a file that ``save`` wrote; whatever becomes of the file afterwards does not touch it.

    ``None`` where there is no file, or where it is not as it was written.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
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
            return _read(file, header)
    except (OSError, ValueError, KeyError, TypeError):
        return None


_LISTS = ("text", "ends", "names")
"""Sections without room for more: what is added after opening is held by itself."""


def _read(file: BufferedReader, header: dict[str, Any]) -> tuple[Table, Place] | None:
    rows, arrays = int(header["rows"]), {}
    for name, section in header["sections"].items():
        array = np.zeros(tuple(section["shape"]), np.dtype(section["type"]))  # what is not used costs no memory
        used = array if name in _LISTS else array[:rows]
        if used.size:
            into = used.view(np.uint8).reshape(-1).data
            file.seek(int(section["offset"]))
            if file.readinto(into) != len(into) or zlib.crc32(into) != section["check"]:
                return None
        arrays[name] = array
    text, ends, names = (arrays.pop(name) for name in _LISTS)
    told = json.loads(names.tobytes())
    if not lengths_fit(arrays) or len(ends) != rows or len(told["ids"]) != rows:
        return None
    columns = Columns(arrays, coded=rows)
    tags = {entry_id: tuple(of_entry) for entry_id, of_entry in told["tags"].items()}
    entries = Rows(list(range(rows)), columns["accessed"], Saved(text, ends))
    return Table(columns, entries, told["ids"], tags), Place(**header["place"])


def _lines(table: Table) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    lines = list(_each_line(table.entries))
    ends = np.cumsum([len(line) for line in lines], dtype=np.uint64)
    return np.frombuffer(b"".join(lines), np.uint8), ends


def _each_line(entries: Rows) -> Iterable[bytes]:
    for held in entries.held:
        if isinstance(held, int):
            yield entries.saved.line(held)
        else:
            yield (dump_entry(held) or "").encode("utf-8")
