"""TokenStates: an embedder's vectors of every token of a text, cached in memory and optionally in a file.

PackedStates: the token states of one text with eight bits per number.

StatesFile: packed token states in a file, so that a new process finds what another one computed.

It holds nothing that cannot be computed again: a damaged file is recreated, and a busy one is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
import sqlite3
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core.files import sqlite_files
from ...embedding.embedder import Embedder, States, states_of
from .cache import Kept
from .speakers import speaker_of

_SHORTEST = 2
"""The fewest tokens of a sentence."""
_HEAD = 12
"""Bytes of three sizes."""
_CHECK = 4
"""Bytes of the checksum at the end."""
_SENTENCE_END = re.compile(r"[.!?]\s+")


@dataclass(frozen=True, eq=False)
class PackedStates:
    """A text's token states in a quarter of the space: ``codes`` (t, d) int8, times ``scales`` (t,) float32.

    A cosine changes by at most about 0.005, which moves no evaluation figure. ``sentences``, shape (s, d) float16, are
    the directions of the text's sentences: the means of their tokens, a speaker's name left out.
    """

    spans: NDArray[np.uint16]
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    sentences: NDArray[np.float16]

    @classmethod
    def of(cls, text: str, states: States) -> Self:
        """Pack a text's states."""
        largest = np.abs(states.vectors).max(axis=1, initial=0.0)
        scales = (np.where(largest > 0, largest, 1.0) / 127).astype(np.float32)
        codes = np.rint(states.vectors / scales[:, None]).astype(np.int8)
        return cls(states.spans.astype(np.uint16), codes, scales, _sentences(text, states))

    @property
    def vectors(self) -> NDArray[np.float32]:
        """Shape (t, d): the states, of about unit length."""
        return self.codes.astype(np.float32) * self.scales[:, None]

    @property
    def size(self) -> int:
        """Bytes, including an estimate for the Python objects around the arrays."""
        return sum(array.nbytes for array in self._arrays) + 600

    def __len__(self) -> int:
        return len(self.scales)

    def to_bytes(self) -> bytes:
        """All of it, for a file."""
        head = np.array([len(self), len(self.sentences), self.codes.shape[1]], "<u4")
        body = b"".join(array.tobytes() for array in (head, *self._arrays))
        return body + zlib.crc32(body).to_bytes(_CHECK, "little")

    @classmethod
    def from_bytes(cls, packed: bytes) -> Self:
        """The reverse of ``to_bytes``.

        Raises:
            ValueError: the bytes are not from it.
        """
        if not isinstance(packed, bytes) or len(packed) < _HEAD + _CHECK:
            raise ValueError("These are not packed states.")
        packed, check = packed[:-_CHECK], packed[-_CHECK:]
        if zlib.crc32(packed).to_bytes(_CHECK, "little") != check:
            raise ValueError("These packed states are damaged.")
        tokens, sentences, width = np.frombuffer(packed, "<u4", 3).tolist()
        arrays, at = [], _HEAD
        for kind, shape in (
            ("<u2", (tokens, 2)),
            ("i1", (tokens, width)),
            ("<f4", (tokens,)),
            ("<f2", (sentences, width)),
        ):
            count = math.prod(shape)
            arrays.append(np.frombuffer(packed, kind, count, at).reshape(shape))
            at += arrays[-1].nbytes
        if at != len(packed):
            raise ValueError("These are not packed states.")
        return cls(*arrays)

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.spans, self.codes, self.scales, self.sentences


def _sentences(text: str, states: States) -> NDArray[np.float16]:
    _name, said = speaker_of(text)
    begins, first = states.spans[:, 0], len(text) - len(said)
    ends = [found.end() for found in _SENTENCE_END.finditer(text) if found.end() > first]
    groups = []
    for end in [*ends, len(text) + 1]:
        inside = (begins >= first) & (begins < end)
        first = end
        if np.count_nonzero(inside) >= _SHORTEST:
            groups.append(states.vectors[inside])
    means = [group.mean(axis=0) for group in groups or [states.vectors] if len(group)]
    if not means:
        return np.zeros((0, states.vectors.shape[-1]), np.float16)
    stacked = np.stack(means)
    directions: NDArray[np.float16] = (
        stacked / np.maximum(np.linalg.norm(stacked, axis=1, keepdims=True), 1e-9)
    ).astype(np.float16)
    return directions


T = TypeVar("T")

FILE_ROOM = 1024**3
"""Bytes of states in the file: about 70,000 memories of a sentence or two."""
_FORM = 2
"""Increases when the packed form changes."""
_AT_ONCE = 500


class StatesFile:
    """States by key; the oldest are dropped when the space is used up. Thread- and process-safe.

    Args:
        path: the file; its folder must exist.
        identity: of the embedder; states of another one are discarded.
        room: bytes to hold.
    """

    def __init__(self, path: Path, identity: str, *, room: int = FILE_ROOM) -> None:
        self._path = path
        self._identity = f"{identity} {_FORM}"
        self._room = room
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None

    def read(self, keys: Sequence[bytes]) -> dict[bytes, PackedStates]:
        """The states in the file for these keys."""

        def select(file: sqlite3.Connection) -> dict[bytes, PackedStates]:
            found: dict[bytes, PackedStates] = {}
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = file.execute(f"SELECT key, states FROM states WHERE key IN ({marks})", some)  # noqa: S608 - marks
                found |= {key: PackedStates.from_bytes(blob) for key, blob in rows}
            return found

        return self._do(select) or {}

    def write(self, states: Mapping[bytes, PackedStates]) -> None:
        """Add states; existing keys keep theirs."""

        def insert(file: sqlite3.Connection) -> None:
            with file:
                rows = [(key, packed_states.to_bytes()) for key, packed_states in states.items()]
                file.executemany("INSERT OR IGNORE INTO states (key, states) VALUES (?, ?)", rows)
                self._make_room(file)

        self._do(insert)

    def delete(self, keys: Sequence[bytes]) -> None:
        """Remove states, and overwrite them with zeros."""

        def erase(file: sqlite3.Connection) -> None:
            file.execute("PRAGMA secure_delete = ON")
            with file:
                file.executemany("DELETE FROM states WHERE key = ?", [(key,) for key in keys])
            file.execute("PRAGMA secure_delete = OFF")
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

        self._do(erase)

    def close(self) -> None:
        """Close the file; the next read or write opens it again."""
        with self._lock:
            self._drop()

    def _make_room(self, file: sqlite3.Connection) -> None:
        pages, free, size = (file.execute(f"PRAGMA {name}").fetchone()[0] for name in _SIZES)
        over = (pages - free) * size - self._room
        if over > 0:
            count = file.execute("SELECT COUNT(*) FROM states").fetchone()[0]
            share = min(1.0, over / self._room + 0.1)  # a tenth more, so that not every write has to do this
            file.execute(
                "DELETE FROM states WHERE place IN (SELECT place FROM states ORDER BY place LIMIT ?)",
                (int(count * share) + 1,),
            )

    def _do(self, action: Callable[[sqlite3.Connection], T]) -> T | None:
        """The action's result; ``None`` if the file is not available, since everything in it can be computed again."""
        with self._lock:
            try:
                if self._open is None:
                    self._open = self._opened()
                return action(self._open)
            except sqlite3.OperationalError:  # locked, read-only, no such folder, or the disk is full
                self._drop()
            except (sqlite3.DatabaseError, ValueError):
                self._drop()
                for part in sqlite_files(self._path):
                    with contextlib.suppress(OSError):  # another process may have it open
                        part.unlink(missing_ok=True)
            return None

    def _opened(self) -> sqlite3.Connection:
        file = sqlite3.connect(self._path, timeout=2.0, check_same_thread=False)
        try:
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = OFF")  # a crash loses at most what can be computed again
            with file:
                file.execute("CREATE TABLE IF NOT EXISTS made_by (identity TEXT)")
                file.execute(
                    "CREATE TABLE IF NOT EXISTS states (place INTEGER PRIMARY KEY, key BLOB UNIQUE, states BLOB)"
                )
                if file.execute("SELECT identity FROM made_by").fetchall() != [(self._identity,)]:
                    file.execute("DELETE FROM states")
                    file.execute("DELETE FROM made_by")
                    file.execute("INSERT INTO made_by VALUES (?)", (self._identity,))
        except sqlite3.Error:
            file.close()
            raise
        return file

    def _drop(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


_SIZES = ("page_count", "freelist_count", "page_size")


ROOM = 256 * 1024**2
"""Bytes in memory: about 17,000 memories of a sentence or two."""


class TokenStates:
    """Token states of texts, computed on first use and then cached; thread-safe.

    Args:
        encode: from texts to their states; ``None`` for an embedder that has none.
        file: where they are kept beyond this process, if they are.
        room: bytes to hold; the least recently used are dropped first.
    """

    def __init__(
        self,
        encode: Callable[[Sequence[str]], list[States]] | None,
        *,
        file: StatesFile | None = None,
        room: int = ROOM,
    ) -> None:
        self.identity = ""
        """The embedder's; empty if they are not known to be one's."""
        self._encode = encode
        self._file = file
        self.relevancies: Kept[Any] = Kept()
        """Results computed from them; cached here, so that all who share the states share this cache."""
        self._room = room
        self._states: OrderedDict[bytes, PackedStates] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    @classmethod
    def of(cls, embedder: Embedder, *, file: Path | None = None, room: int = ROOM) -> Self:
        """The states of an embedder, which may have none; ``file`` is where they are kept beyond this process."""
        encode = states_of(embedder)
        kept = None if file is None or encode is None else StatesFile(file, embedder.identity)
        states = cls(encode, file=kept, room=room)
        states.identity = embedder.identity
        return states

    @property
    def available(self) -> bool:
        """Whether the embedder has token states at all."""
        return self._encode is not None

    def get(self, texts: Sequence[str]) -> list[PackedStates]:
        """The states of each text; only those not cached are computed.

        Raises:
            EmbedderError: they could not be computed.
            ValueError: the embedder has no token states; check ``available`` first.
        """
        if self._encode is None:
            raise ValueError("This embedder has no token states.")
        keys = [_key(text) for text in texts]
        with self._lock:
            known = {key: self._states[key] for key in keys if key in self._states}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing and self._file is not None:
            known |= self._file.read(list(missing))
            missing = {key: text for key, text in missing.items() if key not in known}
        if missing:
            unread = list(missing.values())
            fresh = dict(zip(missing, map(PackedStates.of, unread, self._encode(unread)), strict=True))
            known |= fresh
            if self._file is not None:
                self._file.write(fresh)
        self._hold(dict.fromkeys(keys), known)
        return [known[key] for key in keys]

    def keep(self, texts: Sequence[str], states: Sequence[States]) -> None:
        """Cache states that were computed elsewhere, such as those that vectors were just made of."""
        known = {_key(text): PackedStates.of(text, of_text) for text, of_text in zip(texts, states, strict=True)}
        if self._file is not None:
            self._file.write(known)
        self._hold(known, known)

    def forget(self, texts: Iterable[str]) -> None:
        """Drop these texts from the cache and the file; they are computed again when needed."""
        keys = [_key(text) for text in texts]
        with self._lock:
            for key in keys:
                if (packed_states := self._states.pop(key, None)) is not None:
                    self._size -= packed_states.size
        if self._file is not None:
            self._file.delete(keys)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _hold(self, keys: Iterable[bytes], known: Mapping[bytes, PackedStates]) -> None:
        with self._lock:
            for key in keys:
                if key not in self._states:
                    self._size += known[key].size
                self._states[key] = known[key]
                self._states.move_to_end(key)
            while self._size > self._room and self._states:
                self._size -= self._states.popitem(last=False)[1].size


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
