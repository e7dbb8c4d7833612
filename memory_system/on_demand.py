"""OnDemand: a store that is made only when something is first written to it, so that who writes nothing has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .entry import MemoryEntry
from .errors import EntryNotFound, InvalidParameter
from .memory import Memory, Page, Vectors


class OnDemand(Memory):
    """A store that may not be there yet, which is as good as an empty one.

    Args:
        store: the store; to use it makes it.
        is_there: whether it has been made.
    """

    def __init__(self, store: Memory, is_there: Callable[[], bool]) -> None:
        self._store = store
        self._is_there = is_there

    def upsert(self, entries: Sequence[MemoryEntry], vectors: Vectors) -> None:  # noqa: D102
        if entries or self._is_there():
            self._store.upsert(entries, vectors)
        else:
            self.check(entries, vectors)

    def delete(self, ids: Sequence[str]) -> None:  # noqa: D102
        if self._is_there():
            self._store.delete(ids)

    def get(self, ids: Sequence[str]) -> list[MemoryEntry]:  # noqa: D102
        if ids and not self._is_there():
            raise EntryNotFound(f"There is no memory {ids[0]!r} here.")
        return self._store.get(ids) if ids else []

    def ids(self) -> frozenset[str]:  # noqa: D102
        return self._store.ids() if self._is_there() else frozenset()

    def count(self) -> int:  # noqa: D102
        return self._store.count() if self._is_there() else 0

    def pages(self) -> Iterator[Page]:  # noqa: D102
        if self._is_there():
            yield from self._store.pages()

    def nearest(self, vector: Vectors, top_k: int) -> list[tuple[str, float]]:  # noqa: D102
        if top_k < 1:
            raise InvalidParameter(f"top_k must be 1 or more, not {top_k}.")
        return self._store.nearest(vector, top_k) if self._is_there() else []

    def clear(self) -> None:  # noqa: D102
        if self._is_there():
            self._store.clear()

    def close(self) -> None:  # noqa: D102
        self._store.close()
