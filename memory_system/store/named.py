"""Stores by name: the one of ``MEMORY_STORE`` if not Chroma, in the form the ledger needs; throw-away worlds."""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ..core.chroma_address import NamedStore
from ..core.entry import MemoryEntry, Tier
from ..core.files import replace_text
from ..core.memory import InMemory, Memory, Page, Snapshot, Vectors
from ..core.registry import Registry
from ..core.settings import IN_JOURNAL, MEMORY, Settings
from ..errors import FROM_ELSEWHERE, InvalidParameter, MemorySystemError, StoreError, kind_of, shown, words_of
from .chroma import notes
from .chroma.files import OUR_DISTANCE

STORES: Registry[Callable[[Path, Tier], Memory | None]] = Registry(
    "memory_system.stores",
    "store",
    {
        "chroma": "memory_system.store.chroma.store:ChromaMemory.at",
        MEMORY: f"{__name__}:in_memory",
        IN_JOURNAL: f"{__name__}:in_journal",
    },
)
"""Functions that open the store of one tier in an agent's folder, which need not exist yet; ``None`` = no store."""
_OURS = ("chroma", MEMORY, IN_JOURNAL)
THROWN_AWAY = "This world is thrown away when the program ends, and everything in it (MEMORY_STORE=memory)."
_MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it


def in_memory(_folder: Path, _tier: Tier) -> InMemory:
    """A store that is lost when the process ends."""
    return InMemory()


def in_journal(_folder: Path, _tier: Tier) -> None:
    """No store: the journal has all memories and their vectors, and recall reads only the tables."""


class NamedStores:
    """The interface of ``ChromaStore`` for any other store. The journal says what belongs in it.

    Args:
        folder: notes next to it say what made the vectors, and for which revision the store was written.
        place: which store.

    Raises:
        InvalidParameter: there is none of this name, or it cannot be loaded or opened.
    """

    owner = left_at = None  # of collections on a server

    def __init__(self, folder: Path, place: NamedStore) -> None:
        make = STORES.get(place.name)
        self.folder = folder.with_name(f"store-{place.name}")
        try:
            made = {tier: make(self.folder, tier) for tier in Tier}
        except MemorySystemError:
            raise
        except FROM_ELSEWHERE as error:
            raise InvalidParameter(f"The store {shown(place.name)} cannot be opened: {words_of(error)}") from error
        for memory in made.values():
            if memory is not None and not isinstance(memory, Memory):
                raise InvalidParameter(
                    f"The store {shown(place.name)} cannot be opened: it is {kind_of(memory)}, not a Memory."
                )
        self.memories = {
            tier: memory if place.name in _OURS else _Guarded(memory, place.name)
            for tier, memory in made.items()
            if memory is not None
        }
        """The stores, by tier; empty if the journal is the only copy."""
        self._made_with = self.folder.with_name(f"{self.folder.name}.txt")
        self._token = uuid.uuid4().hex

    @property
    def lasts(self) -> bool:
        """Whether the contents survive closing and opening."""
        return all(memory.lasts for memory in self.memories.values())

    def has(self, _name: str) -> bool:
        """Always: there is a store for every tier."""
        return True

    def shape(self, name: str) -> tuple[int | None, str]:
        """The dimension of a tier's vectors, ``None`` before the first one, and the distance."""
        page = next(iter(self.memories[Tier(name)].pages()), None)
        return (None if page is None or not len(page.vectors) else page.vectors.shape[1]), OUR_DISTANCE

    @property
    def claimed(self) -> int:
        """The newest revision that a write was claimed for."""
        return notes.read(self.folder)[1]

    def claim(self, revision: int, *, as_left: bool = False) -> None:  # noqa: ARG002 - nothing is interrupted here
        """Record for which revision the coming write is; the caller holds the agent's file lock."""
        if revision > self.claimed:
            notes.write(self.folder, self._token, revision)

    def begin_again(self, revision: int) -> None:
        """Accept the journal at this revision as complete, whatever was claimed before."""
        notes.write(self.folder, self._token, revision)

    @property
    def made_with(self) -> str | None:
        """The identity of what made the stored vectors; ``None`` if it was not noted."""
        return self._made_with.read_text(encoding="utf-8") if self._made_with.is_file() else None

    def note_embedder(self, identity: str) -> None:
        """Note what makes the stored vectors."""
        if self.memories and self.made_with != identity:
            replace_text(self._made_with, identity)

    def note_owner(self, _owner: str) -> None:
        """Do nothing: these stores belong to the agent alone."""

    def note_left(self, _state: str) -> None:
        """Do nothing: the next opening compares every row."""

    def refuse_unreachable(self) -> None:
        """Do nothing: a store that cannot be written says so when it is."""

    def see_others(self) -> None:
        """Do nothing: nothing that others may have written is cached here."""

    def compact(self, _name: str) -> bool:
        """Do nothing: how a store keeps its contents is its own business."""
        return True

    def wipe_spare(self) -> None:
        """Do nothing: what files a store has is its own business."""

    def set_aside(self, _suffix: str) -> None:
        """Begin with an empty store."""
        for memory in self.memories.values():
            memory.clear()

    def close(self) -> None:
        """Close all stores."""
        with ExitStack() as last:  # all of them, whatever one raises
            for memory in self.memories.values():
                last.callback(memory.close)


class _Guarded(Memory):
    """A store of another package: whatever it raises becomes a ``StoreError`` that names it.

    Args:
        inner: the store.
        name: the name by which it was chosen.
    """

    def __init__(self, inner: Memory, name: str) -> None:
        self._inner = inner
        self._name = name

    @property
    def lasts(self) -> bool:  # type: ignore[override]
        """As the store says."""
        return bool(self._inner.lasts)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except MemorySystemError:
            raise
        except FROM_ELSEWHERE as error:
            raise StoreError(
                f"The store {shown(self._name)} failed: {words_of(error)} The journal loses nothing by it."
            ) from error

    def upsert(self, entries: Sequence[MemoryEntry], vectors: Vectors) -> None:
        with self._failing():
            self._inner.upsert(entries, vectors)

    def delete(self, ids: Sequence[str]) -> None:
        with self._failing():
            self._inner.delete(ids)

    def get(self, ids: Sequence[str]) -> list[MemoryEntry]:
        with self._failing():
            return self._inner.get(ids)

    def ids(self) -> frozenset[str]:
        with self._failing():
            return frozenset(self._inner.ids())

    def count(self) -> int:
        with self._failing():
            return int(self._inner.count())

    def pages(self) -> Iterator[Page]:
        with self._failing():
            pages = iter(self._inner.pages())
        while True:
            with self._failing():
                page = next(pages, None)
                if page is None:
                    return
                if len(page.bodies) != len(page.vectors):
                    raise ValueError(f"a page has {len(page.bodies)} memories and {len(page.vectors)} vectors")
            yield page

    def snapshot(self) -> Snapshot:
        with self._failing():
            return self._inner.snapshot()

    def nearest(self, vector: Vectors, top_k: int) -> list[tuple[str, float]]:
        with self._failing():
            return self._inner.nearest(vector, top_k)

    def clear(self) -> None:
        with self._failing():
            self._inner.clear()

    def close(self) -> None:
        with self._failing():
            self._inner.close()


_placed: set[Path] = set()
_unclaimed: dict[Path, TemporaryDirectory[str]] = {}
_placing = threading.Lock()


def placed(settings: Settings) -> Settings:
    """The same settings; for a throw-away world with folders that are deleted when the program ends.

    They are on a disk in memory, if the system has one, so that nothing is written elsewhere.

    Raises:
        InvalidParameter: there is no store of this name, or it cannot be loaded.
    """
    STORES.get(settings.store_name)
    with _placing:
        if settings.store != MEMORY or settings.database in _placed:
            return settings
        folder = TemporaryDirectory(
            prefix="memory-thrown-away-",
            dir=_MEMORY_DISK if _MEMORY_DISK.is_dir() else None,
            ignore_cleanup_errors=True,
        )
        home = Path(folder.name)
        _placed.add(home / "database")
        _unclaimed[home / "database"] = folder
    personalities = home / "agent_personalities"
    if settings.personalities.is_dir():
        shutil.copytree(settings.personalities, personalities)
    changed = {"home": home, "database": home / "database", "personalities": personalities, "backups": None}
    return settings.model_copy(update={**changed, "journal_url": None, "durability": "normal"})


def claimed(settings: Settings) -> TemporaryDirectory[str] | None:
    """The folder of a throw-away world, for its first caller to delete on closing; otherwise it goes at exit."""
    with _placing:
        return _unclaimed.pop(settings.database, None)
