"""Stores by name: the one of ``MEMORY_STORE``, where that is not Chroma, as the ledger uses it; throw-away worlds."""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from ..core.chroma_address import NamedStore
from ..core.entry import Tier
from ..core.files import replace_text
from ..core.memory import InMemory, Memory
from ..core.registry import Registry
from ..core.settings import IN_JOURNAL, MEMORY, Settings
from ..errors import InvalidParameter, MemorySystemError, shown
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
"""Functions that open the store of one tier in a folder of an agent, which may not be there yet; ``None`` = none."""
THROWN_AWAY = "This world is thrown away when the program ends, and everything in it (MEMORY_STORE=memory)."
_MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it


def in_memory(_folder: Path, _tier: Tier) -> InMemory:
    """A store that the process forgets."""
    return InMemory()


def in_journal(_folder: Path, _tier: Tier) -> None:
    """No store: the journal has all memories and their vectors, and recall reads neither but the tables."""


class NamedStores:
    """What the ledger asks of ``ChromaStore``, of any other store. The journal says what belongs into it.

    Args:
        folder: beside which it is noted what made the vectors, and for which revision the store was written.
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
        except Exception as error:  # a package from elsewhere may fail in any way
            raise InvalidParameter(f"The store {shown(place.name)} cannot be opened: {error!s:.300}") from error
        self.memories = {tier: memory for tier, memory in made.items() if memory is not None}
        """The stores, by tier; none where the journal has all by itself."""
        self._made_with = self.folder.with_name(f"{self.folder.name}.txt")
        self._token = uuid.uuid4().hex

    @property
    def lasts(self) -> bool:
        """Whether what is stored is there when it is opened again."""
        return all(memory.lasts for memory in self.memories.values())

    def has(self, _name: str) -> bool:
        """There is a store for every tier."""
        return True

    def shape(self, name: str) -> tuple[int | None, str]:
        """How many numbers the vectors of a tier have, ``None`` before the first; and the distance."""
        page = next(iter(self.memories[Tier(name)].pages()), None)
        return (None if page is None or not len(page.vectors) else page.vectors.shape[1]), OUR_DISTANCE

    @property
    def claimed(self) -> int:
        """The newest revision that a write was claimed for."""
        return notes.read(self.folder)[1]

    def claim(self, revision: int, *, as_left: bool = False) -> None:  # noqa: ARG002 - nothing is cut off here
        """Say before a write for which revision it is; the caller holds the agent's file lock."""
        if revision > self.claimed:
            notes.write(self.folder, self._token, revision)

    def begin_again(self, revision: int) -> None:
        """Take the journal at this revision for whole, whatever was claimed before."""
        notes.write(self.folder, self._token, revision)

    @property
    def made_with(self) -> str | None:
        """The identity of what made the vectors that are stored; ``None`` if it was not noted."""
        return self._made_with.read_text(encoding="utf-8") if self._made_with.is_file() else None

    def note_embedder(self, identity: str) -> None:
        """Note what makes the vectors that are stored."""
        if self.memories and self.made_with != identity:
            replace_text(self._made_with, identity)

    def note_owner(self, _owner: str) -> None:
        """Nothing is to be noted: these are the agent's own."""

    def note_left(self, _state: str) -> None:
        """Nothing is to be noted: the next opening compares every row."""

    def refuse_unreachable(self) -> None:
        """Do nothing: a store that cannot be written says so when it is."""

    def see_others(self) -> None:
        """Nothing is kept here of what others may have written."""

    def compact(self, _name: str) -> bool:
        """Do nothing: how a store keeps what it holds is its own business."""
        return True

    def wipe_spare(self) -> None:
        """Do nothing: what files a store has is its own business."""

    def set_aside(self, _suffix: str) -> None:
        """Begin with an empty store."""
        for memory in self.memories.values():
            memory.clear()

    def close(self) -> None:
        """Let go of all stores."""
        for memory in self.memories.values():
            memory.close()


_placed: set[Path] = set()
_unclaimed: dict[Path, TemporaryDirectory[str]] = {}
_placing = threading.Lock()


def placed(settings: Settings) -> Settings:
    """The same settings; for a throw-away world with folders that are deleted when the program ends.

    They are on the disk that is kept in memory, where the system has one, so that nothing is written elsewhere.

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
    """What the first who asks has to clean up when it closes a throw-away world; the program's end does otherwise."""
    with _placing:
        return _unclaimed.pop(settings.database, None)
