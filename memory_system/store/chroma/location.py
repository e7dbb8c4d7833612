"""Where the collections of an agent can be, and the one place that needs no server: its own folder."""

from __future__ import annotations

import ctypes
import platform
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ...core.files import MAKE_ROOM
from ...errors import StoreDamaged, StoreError
from .files import BESIDE, OUR_DISTANCE, wipe_spare

if TYPE_CHECKING:  # see ``store``: it is imported when a store is opened
    import chromadb
    from chromadb.api import ClientAPI
    from chromadb.config import Settings

    Collection = chromadb.Collection

MADE_WITH = "made_with"
"""The key of a note with the collections: the identity of what made their vectors."""
OWNER = "owner"
"""The key of a note with collections on a server: their owner."""
_FILE = "made_with.txt"
_PERTURB, _OVERWRITTEN_WITH = -6, 0x55
"""glibc's option to overwrite memory that is freed (``mallopt(3)``, ``M_PERTURB``), and the byte."""
_HNSW = {"space": OUR_DISTANCE, "sync_threshold": 100, "batch_size": 50, "ef_construction": 40}
"""With Chroma's usual 100 for ``ef_construction`` a row costs more the more a collection holds.

Recall does not use the index. Other programs that search it find 99.5 % of the nearest ten of 8,000 texts (99.8).
"""


class Home(ABC):
    """Where an agent's collections are. Callers hold the store's lock."""

    shown: str
    """For messages."""

    @property
    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """The exceptions that can occur here."""

    @abstractmethod
    def as_ours(self, error: Exception) -> StoreError:
        """One of ``errors`` translated into ours."""

    @abstractmethod
    def get(self, tier: str) -> chromadb.Collection:
        """The current collection of a tier.

        Raises:
            NotFoundError: Chroma's; there is no such collection.
        """

    def find(self, tier: str) -> chromadb.Collection | None:
        """The current collection of a tier; ``None`` if there is none."""
        from chromadb.errors import NotFoundError

        try:
            return self.get(tier)
        except NotFoundError:
            return None

    @abstractmethod
    def create(self, tier: str) -> chromadb.Collection:
        """A new collection for a tier, without an embedding function."""

    @abstractmethod
    def let_go(self) -> None:
        """Close what was opened; the next call opens it again."""

    @abstractmethod
    def prepare(self) -> None:
        """Make sure that it is possible to write here."""

    @abstractmethod
    def set_aside(self, suffix: str) -> None:
        """Start over without any collection."""

    @abstractmethod
    def noted(self) -> Mapping[str, str]:
        """The notes stored with the collections."""

    @abstractmethod
    def note(self, **told: str) -> None:
        """Store a note with the collections."""

    @abstractmethod
    def wipe_spare(self) -> None:
        """Leave nothing in the files but what is stored, where the files are ours."""

    @abstractmethod
    def refuse_unreachable(self) -> None:
        """Do nothing if a write can begin.

        Raises:
            StoreUnavailable: the server does not answer.
        """


def replacing(collection: Collection, ids: Sequence[str], metadatas: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The metadata that makes these rows have it and no more: an upsert keeps the keys that it does not name."""
    rows = collection.get(ids=list(ids), include=["metadatas"])
    old = dict(zip(rows["ids"], rows["metadatas"] or [], strict=True))
    return [{**dict.fromkeys(old.get(row_id) or ()), **about} for row_id, about in zip(ids, metadatas, strict=True)]


class InFolder(Home):
    """Chroma embedded in this process, over one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._client: ClientAPI | None = None
        self.shown = str(folder)

    @property
    def errors(self) -> tuple[type[Exception], ...]:  # noqa: D102
        from chromadb.errors import ChromaError

        return (ChromaError, RuntimeError, OSError)

    def as_ours(self, error: Exception) -> StoreError:  # noqa: D102
        help_by = f". {MAKE_ROOM}" if "disk is full" in str(error) else ""
        return StoreDamaged(f"Chroma could not use {self.folder}: {error}{help_by}")

    def get(self, tier: str) -> chromadb.Collection:  # noqa: D102
        return self.client().get_collection(tier, embedding_function=None)

    def find(self, tier: str) -> chromadb.Collection | None:
        """As everywhere; a copy left without its original is renamed now, see ``compacting``."""
        found = super().find(tier)
        if found is None and (copy := super().find(f"{tier}{BESIDE}")) is not None:
            copy.modify(name=tier)
            found = self.get(tier)
        return found

    def create(self, tier: str) -> chromadb.Collection:  # noqa: D102
        configuration = cast("Any", {"hnsw": dict(_HNSW)})
        return self.client().create_collection(tier, embedding_function=None, configuration=configuration)

    def let_go(self) -> None:  # noqa: D102
        if self._client is not None:
            cast("Any", self._client).close()  # not in the interface, but in every client
            self._client = None

    def prepare(self) -> None:  # noqa: D102
        self.folder.mkdir(parents=True, exist_ok=True)

    def set_aside(self, suffix: str) -> None:
        """Move the folder aside, for later inspection, and begin with an empty one."""
        if self.folder.exists():
            self.folder.rename(self.folder.with_name(f"{self.folder.name}-{suffix}"))

    def noted(self) -> Mapping[str, str]:  # noqa: D102
        try:
            text = (self.folder / _FILE).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return {}
        return {MADE_WITH: text} if text.isprintable() and text else {}  # a file of zeros is ignored

    def note(self, **told: str) -> None:
        """Note what made the vectors; the folder itself shows the owner and how the files were left."""
        if MADE_WITH in told:
            self.prepare()
            (self.folder / _FILE).write_text(told[MADE_WITH], encoding="utf-8")

    def wipe_spare(self) -> None:
        """As ``files.wipe_spare``."""
        wipe_spare(self.folder)

    def refuse_unreachable(self) -> None:
        """Load Chroma, since a program that is exiting and has to write cannot import any more; there is no server."""
        import chromadb  # noqa: F401

    def client(self) -> ClientAPI:
        """The client of this process, opened if necessary."""
        if self._client is None:
            import chromadb
            from chromadb.api.shared_system_client import SharedSystemClient

            self.prepare()
            overwrite_freed_memory()
            settings = _settings().model_copy()  # reading them from the environment takes longer than opening a client
            try:
                self._client = chromadb.PersistentClient(path=str(self.folder), settings=settings)
            except BaseException as error:
                # Chroma keeps a client that failed to start, and would return it again after the repair
                SharedSystemClient._identifier_to_system.pop(str(self.folder), None)
                if isinstance(error, ValueError):
                    raise StoreDamaged(f"Chroma could not open {self.folder}: {error}") from error
                raise
        return self._client


@cache
def _settings() -> Settings:
    """Chroma's own settings."""
    from chromadb.config import Settings

    return Settings(anonymized_telemetry=False)


@cache
def overwrite_freed_memory() -> None:
    """Have this process overwrite the memory that it frees.

    Chroma's index writes its spare space as the allocator returned it, including what this process held there
    before, such as a key of a model server. Pieces of up to a kilobyte, which glibc keeps for the
    thread that freed them, are not overwritten; for those, and without glibc, only ``wipe_spare`` helps.
    """
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).mallopt(_PERTURB, _OVERWRITTEN_WITH)
