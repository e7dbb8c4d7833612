"""StatesFile: packed token states in a file, so that a process that starts finds what another one computed.

It holds nothing that cannot be computed again: a damaged file is made anew, and one that is busy is passed over.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from .packed import PackedStates

T = TypeVar("T")

ROOM = 1024**3
"""Bytes of states in the file: about 70,000 memories of a sentence or two."""
_FORM = 2
"""Counts up when the packed form changes."""
_AT_ONCE = 500


class StatesFile:
    """States by key; what was written first leaves first when the room is used up. Thread- and process-safe.

    Args:
        path: the file; its folder must exist.
        identity: of the embedder; states of another one are thrown away.
        room: bytes to hold.
    """

    def __init__(self, path: Path, identity: str, *, room: int = ROOM) -> None:
        self._path = path
        self._identity = f"{identity} {_FORM}"
        self._room = room
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None

    def read(self, keys: Sequence[bytes]) -> dict[bytes, PackedStates]:
        """What the file holds of these keys."""

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
        """Add states; keys that the file has keep theirs."""

        def insert(file: sqlite3.Connection) -> None:
            with file:
                rows = [(key, one.to_bytes()) for key, one in states.items()]
                file.executemany("INSERT OR IGNORE INTO states (key, states) VALUES (?, ?)", rows)
                self._make_room(file)

        self._do(insert)

    def delete(self, keys: Sequence[bytes]) -> None:
        """Take states out, and write zeros where they stood."""

        def erase(file: sqlite3.Connection) -> None:
            file.execute("PRAGMA secure_delete = ON")
            with file:
                file.executemany("DELETE FROM states WHERE key = ?", [(key,) for key in keys])
            file.execute("PRAGMA secure_delete = OFF")
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

        self._do(erase)

    def close(self) -> None:
        """Let go of the file; the next read or write opens it again."""
        with self._lock:
            self._drop()

    def _make_room(self, file: sqlite3.Connection) -> None:
        pages, free, size = (file.execute(f"PRAGMA {name}").fetchone()[0] for name in _SIZES)
        over = (pages - free) * size - self._room
        if over > 0:
            held = file.execute("SELECT COUNT(*) FROM states").fetchone()[0]
            share = min(1.0, over / self._room + 0.1)  # a tenth more, so that not every write has to
            file.execute(
                "DELETE FROM states WHERE place IN (SELECT place FROM states ORDER BY place LIMIT ?)",
                (int(held * share) + 1,),
            )

    def _do(self, action: Callable[[sqlite3.Connection], T]) -> T | None:
        """What the action answers; ``None`` if the file cannot be had, since all in it can be computed again."""
        with self._lock:
            try:
                if self._open is None:
                    self._open = self._opened()
                return action(self._open)
            except sqlite3.OperationalError:  # locked, read-only, no such folder, or the disk is full
                self._drop()
            except (sqlite3.DatabaseError, ValueError):
                self._drop()
                for ending in ("", "-wal", "-shm"):
                    with contextlib.suppress(OSError):  # another process may hold it
                        self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
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
