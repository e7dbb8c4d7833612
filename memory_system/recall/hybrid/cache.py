"""Kept: results for cues, cached as long as their inputs stay the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")

ROOM = 128 * 1024**2
"""Bytes: the relevancies of some 300 cues to an agent of 10,000 memories, or of 3,000 cues to one of 1,000."""
AROUND = 2000
"""Bytes of the objects around one value, estimated."""


class Kept(Generic[Value]):
    """Values by key, each for one version of its inputs; thread-safe, and bounded in bytes.

    A newer version replaces the older one, so that an agent that is written all the time does not fill the cache.

    Args:
        room: bytes to hold; the least recently used values are dropped first.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._values: OrderedDict[Hashable, tuple[Hashable, Value, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """The size of the cache in bytes."""
        return self._size

    def get(self, key: Hashable, version: Hashable) -> Value | None:
        """The value under this key for this version; ``None`` if there was none, or it was dropped."""
        with self._lock:
            pair = self._values.get(key)
            if pair is None or pair[0] != version:
                return None
            self._values.move_to_end(key)
            return pair[1]

    def put(self, key: Hashable, version: Hashable, value: Value, size: int) -> None:
        """Store a value of so many bytes, including the key's; one larger than the whole cache is not stored."""
        with self._lock:
            former = self._values.pop(key, None)
            self._size += size + AROUND - (former[2] if former else 0)
            self._values[key] = version, value, size + AROUND
            while self._size > self._room:
                self._size -= self._values.popitem(last=False)[1][2]
