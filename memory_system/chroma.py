"""ChromaMemory: the store in Chroma, embedded in this process. The only module that imports chromadb.

Measured traps that shape this file (Chroma 1.5): a second client in one process over one folder fails at
random, so clients are shared by real path; another process's writes are invisible to an open client, so a
client is reopened when the agent's generation has moved; an upsert merges metadata, so keys that went away
are named with ``None``; a batch over 5,461 rows fails; a stored embedding function could run a stranger's
code, so vectors are always ours and none is ever built.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, cast

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings as ChromaSettings
from chromadb.errors import ChromaError, NotFoundError

from .changes import entry_from_json, entry_to_json
from .chroma_files import wipe_spare
from .chroma_foreign import OUR_DISTANCE, distance, embedding_function
from .entry import MemoryEntry, Tier
from .errors import EntryNotFound, ForeignStore, InvalidParameter, StoreDamaged
from .memory import Memory, Snapshot, Vectors

BATCH = 1000
"""Rows a write: larger batches gain nothing, and over 5,461 Chroma fails."""

_STAMP = "generation"
_MADE_WITH = "made_with.txt"
_HNSW = {"space": OUR_DISTANCE, "sync_threshold": 100, "batch_size": 50}


class ChromaStore:
    """One agent's Chroma folder: a client shared by everyone in this process, and a collection a tier."""

    # One client a folder and process is Chroma's own condition, so this table has to be the process's.
    _shared: dict[Path, tuple[ChromaStore, int]] = {}  # noqa: RUF012 - shared on purpose, see above
    _shared_lock = threading.Lock()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._token = uuid.uuid4().hex
        self._client: ClientAPI | None = None
        self._collections: dict[str, chromadb.Collection] = {}

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The store of this folder; call ``close`` once for each ``open``."""
        path = folder.resolve()
        with cls._shared_lock:
            store, users = cls._shared.get(path, (cls(path), 0))
            cls._shared[path] = (store, users + 1)
        return store  # type: ignore[return-value]

    def close(self) -> None:
        """Let go; the last one to let go closes the client."""
        with self._shared_lock:
            store, users = self._shared.get(self.folder, (self, 1))
            if users > 1:
                self._shared[self.folder] = (store, users - 1)
                return
            self._shared.pop(self.folder, None)
        self.reopen()

    def reopen(self) -> None:
        """Drop the client; the next call makes a new one, which sees what other processes wrote."""
        with self._lock:
            if self._client is not None:
                cast("Any", self._client).close()  # missing in the interface, there in every client
                self._client = None
                self._collections.clear()

    def claim(self, revision: int = 0) -> None:
        """Say before a write that it is this process's, and see first what another process wrote.

        An open client does not see another process's writes, and its own next write would lose them. The
        caller holds the agent's file lock, and has the revision in its journal.
        """
        with self._lock:
            self.folder.mkdir(parents=True, exist_ok=True)
            token, claimed = self._stamped()
            if token not in ("", self._token):
                self.reopen()
            self._stamp(max(revision, claimed))

    @property
    def claimed(self) -> int:
        """The newest revision that a write was claimed for; a journal that is older has lost something."""
        return self._stamped()[1]

    def begin_again(self, revision: int) -> None:
        """Take the journal at this revision for whole, whatever was claimed before."""
        with self._lock:
            self._stamp(revision)

    def _stamped(self) -> tuple[str, int]:
        try:
            words = self.folder.with_name(_STAMP).read_text(encoding="ascii", errors="replace").split()
        except FileNotFoundError:
            return "", 0
        return (words or [""])[0], int(words[1]) if len(words) == 2 and words[1].isdecimal() else 0

    def _stamp(self, revision: int) -> None:
        path = self.folder.with_name(_STAMP)
        beside = path.with_suffix(".part")  # a kill between two steps leaves the old one
        beside.write_text(f"{self._token} {revision}", encoding="ascii")
        beside.replace(path)

    @property
    def made_with(self) -> str | None:
        """The identity of what made the vectors that are stored; ``None`` if it was not noted."""
        try:
            return (self.folder / _MADE_WITH).read_text(encoding="utf-8") or None
        except (OSError, UnicodeDecodeError):
            return None

    def note_embedder(self, identity: str) -> None:
        """Note what makes the vectors that are stored."""
        if self.made_with != identity:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / _MADE_WITH).write_text(identity, encoding="utf-8")

    def shape(self, name: str) -> tuple[int | None, str]:
        """How many numbers the vectors of a collection have, ``None`` before the first; and its distance."""
        with self.collection(name) as collection:
            return cast("Any", collection)._model.dimension, distance(collection.configuration_json)

    def wipe_spare(self) -> None:
        """As ``chroma_files.wipe_spare``; the next call opens the files again."""
        with self._lock:
            self.reopen()
            wipe_spare(self.folder)

    def set_aside(self, suffix: str) -> None:
        """Move the folder away, to be looked at later, and begin with an empty one."""
        with self._lock:
            self.reopen()
            if self.folder.exists():
                self.folder.rename(self.folder.with_name(f"{self.folder.name}-{suffix}"))

    def memory(self, tier: Tier) -> ChromaMemory:
        """The store of one tier."""
        return ChromaMemory(self, tier)

    @contextmanager
    def collection(self, name: str) -> Iterator[chromadb.Collection]:
        """The collection of this name, made if it is missing, for one caller at a time.

        A query beside a write could see a half-deleted row, so even reading takes the lock.

        Raises:
            ForeignStore: the collection was made by something else.
            StoreDamaged: Chroma cannot open or use its files.
        """
        with self._lock:
            try:
                if name not in self._collections:
                    self._collections[name] = self._find(name)
                yield self._collections[name]
            except (ChromaError, RuntimeError, OSError) as error:
                self.reopen()  # a client that met a full disk hangs at its next write, and a new one does not
                raise StoreDamaged(f"Chroma could not use {self.folder}: {error}") from error

    def _find(self, name: str) -> chromadb.Collection:
        client = self._connect()
        try:
            found = client.get_collection(name, embedding_function=None)
        except NotFoundError:
            return client.create_collection(
                name,
                embedding_function=None,
                configuration=cast("Any", {"hnsw": dict(_HNSW)}),
            )
        self._refuse_foreign(found)
        return found

    def _connect(self) -> ClientAPI:
        if self._client is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            settings = ChromaSettings(anonymized_telemetry=False)
            try:
                self._client = chromadb.PersistentClient(path=str(self.folder), settings=settings)
            except BaseException as error:
                # Chroma keeps a client that failed to start, and would hand it out again after the repair
                SharedSystemClient._identifier_to_system.pop(str(self.folder), None)
                if isinstance(error, ValueError):
                    raise StoreDamaged(f"Chroma could not open {self.folder}: {error}") from error
                raise
        return self._client

    def _refuse_foreign(self, collection: chromadb.Collection) -> None:
        schema = cast("Any", collection)._model.serialized_schema
        found = embedding_function(collection.configuration_json, schema)
        if found is not None:
            raise ForeignStore(
                f"The collection {collection.name!r} in {self.folder} was made by something else: it names the "
                f"embedding function {found!r}, which was not built, since that can run code. "
                "Move that folder away and open the agent again."
            )


class ChromaMemory(Memory):
    """The store of one tier in a Chroma collection: squared L2 distance, vectors given, no embedding function."""

    def __init__(self, store: ChromaStore, tier: Tier) -> None:
        self._store = store
        self._name = tier.value

    @classmethod
    def at(cls, folder: str | Path, tier: Tier = Tier.STM) -> Self:
        """A store of its own in ``folder``, without an agent; ``close`` it when done."""
        return cls(ChromaStore.open(Path(folder)), tier)

    def close(self) -> None:  # noqa: D102
        self._store.close()

    def upsert(self, entries: Sequence[MemoryEntry], vectors: Vectors) -> None:  # noqa: D102
        array = self.check(entries, vectors)
        with self._store.collection(self._name) as collection:
            for start in range(0, len(entries), BATCH):
                batch = entries[start : start + BATCH]
                ids = [entry.id for entry in batch]
                try:
                    collection.upsert(
                        ids=ids,
                        documents=[entry.document for entry in batch],
                        metadatas=self._metadatas(collection, batch),
                        embeddings=array[start : start + BATCH],
                    )
                except (ChromaError, ValueError) as error:
                    if "dimension" in str(error):
                        raise InvalidParameter(f"The vectors do not fit this store: {error}") from error
                    raise

    def _metadatas(self, collection: chromadb.Collection, batch: Sequence[MemoryEntry]) -> list[Any]:
        held = collection.get(ids=[entry.id for entry in batch], include=["metadatas"])
        old = dict(zip(held["ids"], held["metadatas"] or [], strict=True))
        return [{**dict.fromkeys(old.get(entry.id) or ()), **_metadata(entry)} for entry in batch]

    def delete(self, ids: Sequence[str]) -> None:  # noqa: D102
        distinct = list(dict.fromkeys(ids))  # Chroma refuses an id that stands twice
        with self._store.collection(self._name) as collection:
            for start in range(0, len(distinct), BATCH):
                collection.delete(ids=distinct[start : start + BATCH])

    def get(self, ids: Sequence[str]) -> list[MemoryEntry]:  # noqa: D102
        found: dict[str, MemoryEntry] = {}
        distinct = list(dict.fromkeys(ids))  # Chroma refuses an id that stands twice
        with self._store.collection(self._name) as collection:
            for start in range(0, len(distinct), BATCH):
                rows = collection.get(ids=distinct[start : start + BATCH], include=["documents", "metadatas"])
                for entry in _entries(rows["documents"], rows["metadatas"]):
                    found[entry.id] = entry
        missing = [entry_id for entry_id in ids if entry_id not in found]
        if missing:
            raise EntryNotFound(f"There is no memory {missing[0]!r} here.")
        return [found[entry_id] for entry_id in ids]

    def ids(self) -> frozenset[str]:  # noqa: D102
        with self._store.collection(self._name) as collection:
            return frozenset(collection.get(include=[])["ids"])

    def count(self) -> int:  # noqa: D102
        with self._store.collection(self._name) as collection:
            return collection.count()

    def snapshot(self) -> Snapshot:  # noqa: D102
        rows: list[tuple[MemoryEntry, Any]] = []
        with self._store.collection(self._name) as collection:
            for start in range(0, collection.count(), BATCH):
                page = collection.get(limit=BATCH, offset=start, include=["documents", "metadatas", "embeddings"])
                entries = _entries(page["documents"], page["metadatas"])
                rows += zip(entries, cast("Any", page["embeddings"]), strict=True)
        rows.sort(key=lambda row: row[0].id)
        vectors = np.array([vector for _, vector in rows], np.float32) if rows else np.zeros((0, 0), np.float32)
        return Snapshot(tuple(entry for entry, _ in rows), vectors)

    def nearest(self, vector: Vectors, top_k: int) -> list[tuple[str, float]]:  # noqa: D102
        if top_k < 1:
            raise InvalidParameter(f"top_k must be 1 or more, not {top_k}.")
        with self._store.collection(self._name) as collection:
            held = collection.count()
            if not held:
                return []
            try:
                answer = collection.query(
                    query_embeddings=vector.reshape(1, -1), n_results=min(top_k, held), include=["distances"]
                )
            except (ChromaError, ValueError) as error:
                if "dimension" in str(error):
                    raise InvalidParameter(f"The vector does not fit this store: {error}") from error
                raise
        return list(zip(answer["ids"][0], (answer["distances"] or [[]])[0], strict=True))

    def clear(self) -> None:  # noqa: D102
        self.delete(sorted(self.ids()))


_ENTRY = "memory_system:entry"
"""The metadata key of what the named keys do not hold; the caller's own keys cannot begin like this."""


def _metadata(entry: MemoryEntry) -> dict[str, Any]:
    """What Chroma keeps beside the document: the fields one filters by, and the entry to read back."""
    shown: dict[str, Any] = {**entry.metadata, "kind": entry.kind.value}
    if entry.tags:
        shown["tags"] = list(entry.tags)
    body = entry_to_json(entry)
    del body["document"]
    shown[_ENTRY] = json.dumps(body, ensure_ascii=False)
    return shown


def _entries(documents: Any, metadatas: Any) -> Iterator[MemoryEntry]:
    for document, metadata in zip(documents or [], metadatas or [], strict=True):
        try:
            body = json.loads((metadata or {})[_ENTRY])
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ForeignStore("A row in Chroma was not written by this system.") from error
        yield entry_from_json({**body, "document": document})
