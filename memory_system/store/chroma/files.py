"""Chroma's files from outside: whether they are as they were left, and damage that shows without opening them.

Chroma opens some damaged indices and crashes or hangs at the next write, so this checks them first. The layout
is hnswlib's: a header; the elements one after another, each with its links, its vector and its label; the links of the
upper levels. Nothing here is run, and nothing is written.

It also reads which embedding function a stored collection names, as data: nothing here is built.

A collection's embedding function is a name and a configuration in its database. Chroma builds it on demand, and some
functions load code from a place given in the configuration; so a collection that names one is refused first.
Ours name none: we always pass vectors.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ...core.files import within

OUR_DISTANCE = "l2"
_NOTHING = ("legacy", "unknown")
"""The types that mean no embedding function."""
_FUNCTION = "embedding_function"


def embedding_function(configuration: Mapping[str, Any] | None, schema: Mapping[str, Any] | None) -> str | None:
    """The embedding function a collection would be built with, for a message; ``None`` if there is none.

    Args:
        configuration: the collection's stored configuration.
        schema: its stored schema, which may name one for each key, for dense and for sparse vectors.
    """
    for found in (*_functions(configuration), *_functions(schema)):
        if found is None or (isinstance(found, Mapping) and found.get("type") in _NOTHING and "config" not in found):
            continue
        name = found.get("name") or found.get("type") if isinstance(found, Mapping) else found
        return f"{name!s:.60}"
    return None


def _functions(body: Any) -> Iterator[Any]:
    if isinstance(body, Mapping):
        for key, value in body.items():
            if key == _FUNCTION:
                yield value
            else:
                yield from _functions(value)
    elif isinstance(body, list):
        for value in body:
            yield from _functions(value)


def distance(configuration: Mapping[str, Any]) -> str:
    """The distance by which a collection ranks: ``l2``, ``cosine`` or ``ip``."""
    of_index = configuration.get("hnsw") or configuration.get("spann") or {}
    return str(of_index.get("space", OUR_DISTANCE))


Stamp = Mapping[str, list[int]]
"""Size and time (ns) of each file, by its path below the folder."""

TO_BE_MADE = "store-to-be-made"
"""A file next to a store's folder until its first store exists: creating that one does not count as a repair."""
DATABASE = "chroma.sqlite3"
"""Chroma's own database file in its folder."""
BESIDE = "-being-compacted"
"""How the name of a copy ends until it replaces its collection; see ``compacting``."""
_MAGIC = b"SQLite format 3\0"
_HEADER = struct.Struct("<iQQQQQQiIQQQdQ")
_FILES = ("header.bin", "data_level0.bin", "length.bin", "link_lists.bin")
_WRITTEN = "index_metadata.pickle"
"""Present next to an index once Chroma has written elements to it."""
_LINK = 4
"""Bytes of a link, and of the length of a list."""
_AT_ONCE = 4096


def stamp(*paths: Path) -> dict[str, list[int]]:
    """Size and time of these files and of all files in these folders; missing ones are left out."""
    found: dict[str, list[int]] = {}
    for path in paths:
        for file in _below(path):
            try:
                about = file.stat()
            except OSError:
                continue
            found[str(file.relative_to(path.parent))] = [about.st_size, about.st_mtime_ns]
    return found


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for entry in os.scandir(path):
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path))
        else:
            yield Path(entry.path)


def altered(then: Stamp, now: Stamp) -> list[str]:
    """The changed files; none if all differ in time but not in size, as after a copy."""
    changed = sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
    sizes = [then[name][0] if name in then else None for name in changed]
    if len(changed) == len(then) and sizes == [now[name][0] if name in now else None for name in changed]:
        return []
    return changed


def problem(folder: Path) -> str | None:
    """What is visibly wrong with Chroma's files, in a few words; ``None`` if nothing is.

    A folder that is missing, or was never written to, is in order.
    """
    indices = [path for path in within(folder) if path.is_dir()]
    database = folder / DATABASE
    try:
        if not database.exists() or not database.stat().st_size:
            was = "empty" if database.exists() else "missing"
            return f"{DATABASE} is {was}" if indices or database.exists() else None
        with database.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return f"{DATABASE} is not a database"
        for index in sorted(indices):
            if (found := _of_index(index)) is not None:
                return f"{found} (in {index.name})"
    except OSError as error:
        return f"{Path(str(error.filename or folder)).name} cannot be read: {error.strerror or error}"
    return None


def opened(folder: Path) -> closing[sqlite3.Connection]:
    """A read-only connection to the database in one of Chroma's folders; a context that closes it.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    where = f"{(folder / DATABASE).absolute().as_uri()}?mode=ro"
    return closing(sqlite3.connect(where, uri=True, timeout=10))


def elements(index: Path) -> int:
    """How many elements an index on disk has, including deleted ones; 0 if none was written yet.

    Raises:
        OSError: it cannot be read.
    """
    header = index / "header.bin"
    content = header.read_bytes() if header.is_file() else b""
    return int(_HEADER.unpack_from(content)[3]) if len(content) >= _HEADER.size else 0


def wipe_spare(folder: Path) -> None:
    """Overwrite spare space in the indices with zeros: Chroma fills it with whatever its memory held before.

    Nobody may write the files meanwhile. A file whose length differs from its header is left alone.

    Raises:
        OSError: a file cannot be written.
    """
    for header in (path for index in within(folder) if (path := index / "header.bin").is_file()):
        content = header.read_bytes()
        if len(content) < _HEADER.size:
            continue
        _, _, room, total, each, *_ = _HEADER.unpack_from(content)
        for name, size in (("data_level0.bin", each), ("length.bin", _LINK)):
            path = header.with_name(name)
            whole = path.stat().st_size if path.is_file() else 0
            if not total * size < whole <= room * size:
                continue
            with path.open("r+b") as file:
                file.truncate(min(total * size, whole))
                file.truncate(whole)  # reads as zeros from there on


def _of_index(index: Path) -> str | None:
    sizes = {name: (index / name).stat().st_size for name in _FILES if (index / name).is_file()}
    if not sizes:
        return None  # created, and never written to
    if missing := [name for name in _FILES if name not in sizes]:
        never_written = "header.bin" in sizes and not elements(index) and not (index / _WRITTEN).is_file()
        return None if never_written else f"{missing[0]} is missing"  # Chroma makes the rest, and reads its database
    header = (index / "header.bin").read_bytes()
    if len(header) < _HEADER.size:
        return "header.bin is cut short"
    _, _, room, total, each, label_at, vector_at, top, entry, most, most_below, *_ = _HEADER.unpack_from(header)
    sane = total <= room and 0 < vector_at <= label_at < each < 1 << 20 and most <= most_below and top < 64
    if not sane or (total and (entry >= total or top < 0)):
        return "header.bin is not one"
    for name, size in (("data_level0.bin", each), ("length.bin", _LINK)):
        if not total * size <= sizes[name] <= room * size:
            return f"{name} has {sizes[name]:,} bytes for {total:,} elements of {size:,}"
    if total and not (index / _WRITTEN).is_file():
        return f"{_WRITTEN} is missing"
    if not _links_lead_somewhere(index / "data_level0.bin", total, each, vector_at, most_below):
        return "data_level0.bin links to elements that are not there"
    if not _lists_fill(index / "link_lists.bin", total, most):
        return "link_lists.bin is not made of lists"
    return None


def _links_lead_somewhere(path: Path, total: int, each: int, vector_at: int, most: int) -> bool:
    if not total:
        return True
    width = _LINK * (1 + most)
    if width > vector_at:
        return False
    with path.open("rb") as file:  # not mapped: if the file is truncated meanwhile, that would kill this process
        for start in range(0, total, _AT_ONCE):
            rows = min(_AT_ONCE, total - start)
            data = file.read(rows * each)
            if len(data) != rows * each:
                return False
            lists = np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(rows, each)[:, :width]).view("<u4")
            counts = lists[:, 0] & 0xFFFF  # the higher bits are flags, such as for deleted elements
            used = np.arange(most) < counts[:, None]
            if (counts > most).any() or (lists[:, 1:][used] >= total).any():
                return False
    return True


def _lists_fill(path: Path, total: int, most: int) -> bool:
    """Whether each element has a length and as many bytes of links, in whole levels."""
    data, at, level = path.read_bytes(), 0, _LINK * (1 + most)
    for _ in range(total):
        if at + _LINK > len(data):
            return False
        (size,) = struct.unpack_from("<I", data, at)
        if size % level:
            return False
        for start in range(at + _LINK, at + _LINK + size, level):
            count = int.from_bytes(data[start : start + 2], "little")
            links = data[start + _LINK : start + _LINK * (1 + count)]
            if count > most or len(links) != _LINK * count or (np.frombuffer(links, "<u4") >= total).any():
                return False
        at += _LINK + size
    return at == len(data)
