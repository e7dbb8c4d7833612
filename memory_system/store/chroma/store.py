"""ChromaMemory: the store in Chroma, embedded in this process or on a server.

Measured traps that shape this file (Chroma 1.5): a second client in one process over one folder fails at
random, so stores are shared by real path; another process's writes are invisible to an open embedded client, so it
is reopened when the agent's generation has moved; an upsert merges metadata, so removed keys
are named with ``None``; a batch over 5,461 rows fails; a stored embedding function could run a stranger's
code, so we always pass vectors and never build one.

An embedded client uses about 15 files and 10 MB, and is needed only while something is written. So the number of open
clients in this process is limited: a store gives up its client when others need one, and opens a new one at its next
use.

This file also converts a memory to a row of Chroma, and back.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

import numpy as np

from ...core.change_set import entry_from_json, entry_to_json
from ...core.chroma_address import ChromaAddress
from ...core.entry import MemoryEntry, Tier
from ...core.files import exhausted, is_panic, may_be_open, out_of
from ...core.memory import Memory, Page, Vectors
from ...errors import EntryNotFound, Exhausted, ForeignStore, InvalidParameter, StoreError
from . import compacting
from .files import OUR_DISTANCE, distance, embedding_function
from .location import InFolder, replacing
from .notes import ChromaNotes

if TYPE_CHECKING:
    import chromadb

    from .location import Home


class Guest(Protocol):
    """Something that may hold a client open."""

    def give_up(self) -> bool:
        """Close the client if it is not in use; return whether it is closed."""


class Crowd:
    """The holders of a client, least recently used first.

    Args:
        most: returns how many there may be; exceeded only while all of them are in use.
    """

    def __init__(self, most: Callable[[], int]) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._inside: OrderedDict[Guest, None] = OrderedDict()

    def used(self, guest: Guest) -> None:
        """Note that a guest uses its client; if there are too many, the least recently used is given up."""
        with self._lock:
            self._inside[guest] = None
            self._inside.move_to_end(guest)
            surplus = [other for other in list(self._inside)[: -self._most()] if other is not guest]
        for other in surplus:
            if other.give_up():
                self.left(other)

    def is_full_without(self, guest: Guest) -> bool:
        """Whether another guest has to give up its client before this one can have one."""
        with self._lock:
            return guest not in self._inside and len(self._inside) >= self._most()

    def left(self, guest: Guest) -> None:
        """Note that a guest no longer has a client."""
        with self._lock:
            self._inside.pop(guest, None)


ENTRY = "memory_system:entry"
"""The metadata key of what the named keys do not hold; the caller's own keys cannot begin like this."""


def metadata(entry: MemoryEntry) -> dict[str, Any]:
    """The metadata of a row: the fields to filter by, and the entry to read back."""
    shown: dict[str, Any] = {**entry.metadata, "kind": entry.kind.value}
    if entry.tags:
        shown["tags"] = list(entry.tags)
    body = entry_to_json(entry)
    del body["document"]
    shown[ENTRY] = json.dumps(body, ensure_ascii=False)
    return shown


def bodies(documents: Any, metadatas: Any) -> Iterator[dict[str, Any]]:
    """The entries of some rows, in the form of ``change_set.entry_to_json``.

    Raises:
        ForeignStore: a row was not written by this system.
    """
    for document, about in zip(documents or [], metadatas or [], strict=True):
        try:
            body = json.loads((about or {})[ENTRY])
            yield {**body, "id": body["id"], "document": document}
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ForeignStore("A row in Chroma was not written by this system.") from error


BATCH = 1000
"""Rows per write: larger batches gain nothing, and above 5,461 Chroma fails."""
_PAGE = 5000
"""Rows per read: smaller pages are slower, since Chroma counts its way to each, and larger ones use more memory."""


def most_clients() -> int:
    """How many embedded clients may be open at once, so that a thousand agents do not need fifteen thousand open files.

    Each has some 15 files open: together they use no more than a quarter of the limit.
    """
    return max(1, min(32, may_be_open() // 64))


class ChromaStore(ChromaNotes):
    """One agent's collections, one per tier, shared by everyone in this process."""

    # One client per folder and process is Chroma's own condition, so this table has to belong to the process.
    _shared: dict[tuple[Path, ChromaAddress | None], tuple[ChromaStore, int]] = {}  # noqa: RUF012 - see above
    _shared_lock = threading.Lock()
    _crowd = Crowd(most_clients)

    def __init__(self, folder: Path, server: ChromaAddress | None = None) -> None:
        super().__init__(folder, _home(folder, server))
        self.server = server
        self._users = 0
        self._collections: dict[str, chromadb.Collection] = {}
        self._copying: dict[str, compacting.Copying] = {}

    @classmethod
    def open(cls, folder: Path, server: ChromaAddress | None = None) -> Self:
        """The store of this folder, or of the corresponding place on a server; ``close`` it once for each ``open``."""
        place = (folder.resolve(), server)
        with cls._shared_lock:
            store, users = cls._shared.get(place, (cls(*place), 0))
            cls._shared[place] = (store, users + 1)
        return store  # type: ignore[return-value]

    def close(self) -> None:
        """Release it; the last release closes the client."""
        place = (self.folder, self.server)
        with self._shared_lock:
            store, users = self._shared.get(place, (self, 1))
            if users > 1:
                self._shared[place] = (store, users - 1)
                return
            self._shared.pop(place, None)
        self.reopen()
        self._crowd.left(self)

    def reopen(self) -> None:
        """Drop the client; the next call makes a new one, which sees what other processes wrote."""
        with self._lock:
            self._home.let_go()
            self._collections.clear()

    def give_up(self) -> bool:
        """Drop the client if it is not in use; return whether there is none."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if not self._users:
                self.reopen()
            return not self._users
        finally:
            self._lock.release()

    @property
    def is_crowded_out(self) -> bool:
        """Whether opening its client would close another's."""
        return self.server is None and self._crowd.is_full_without(self)

    def refuse_unreachable(self) -> None:
        """Do nothing if a write can begin.

        Raises:
            StoreUnavailable: the server does not answer.
        """
        self._home.refuse_unreachable()

    def shape(self, name: str) -> tuple[int | None, str]:
        """The dimension of a collection's vectors, ``None`` before the first one, and its distance."""
        with self.collection(name) as collection:
            width = cast("Any", collection)._model.dimension or cast("Any", self._home.get(name))._model.dimension
            return width, distance(collection.configuration_json)

    def wipe_spare(self) -> None:
        """As ``files.wipe_spare``, where the files are ours; the next call opens them again."""
        with self._lock:
            self.reopen()
            self._home.wipe_spare()

    def compact(self, name: str) -> bool:
        """Rebuild the index of a collection if it consists mostly of deleted elements, where the files are ours.

        Each call does a part of it. The caller holds the agent's lock. Errors are repaired when the store is next
        claimed: this is not part of the requested change.

        Returns:
            whether nothing is left to do.
        """
        home = self._home
        if not isinstance(home, InFolder) or not (name in self._copying or compacting.is_worth_it(home.folder, name)):
            return True
        try:
            self.claim(self.claimed)
            with self._used():
                if name not in self._copying:
                    if distance(home.get(name).configuration_json) == OUR_DISTANCE:
                        self._copying[name] = compacting.Copying(home, name)
                elif self._copying[name].some():
                    del self._copying[name]
                    self._collections.clear()
        except StoreError:
            self._copying.pop(name, None)
            self._token = uuid.uuid4().hex  # treat the next claim as another process's
        return name not in self._copying

    def changed(self, name: str, ids: Sequence[str]) -> None:
        """Note which rows of a collection were written or deleted, so that a copy in progress includes them."""
        if name in self._copying:
            self._copying[name].changed(ids)

    def settle(self) -> None:
        """Finish an interrupted compaction. Failures are left to the checks for damage."""
        home = self._home
        self._copying.clear()
        if isinstance(home, InFolder) and compacting.is_cut_off(home.folder):
            with suppress(StoreError), self._used():
                compacting.settle(home)
                self._collections.clear()

    def set_aside(self, suffix: str) -> None:
        """Begin with an empty store: files are moved aside for inspection; collections on a server are deleted."""
        with self._lock:
            self.reopen()
            self._copying.clear()
            if self.server is None:
                self._home.set_aside(suffix)
                return
            with self._used():
                self._home.set_aside(suffix)

    def memory(self, tier: Tier) -> ChromaMemory:
        """The store of one tier."""
        return ChromaMemory(self, tier)

    @contextmanager
    def collection(self, name: str) -> Iterator[chromadb.Collection]:
        """The collection of this name, created if missing, for one caller at a time.

        A query during a write could see a half-deleted row, so even reading needs the lock.

        Raises:
            ForeignStore: the collection was made by something else.
            StoreDamaged: Chroma cannot open or use its files.
            StoreUnavailable: its server cannot be reached.
        """
        with self._used():
            if not self.has(name):
                made = self._home.create(name)
                self._refuse_foreign(made)
                self._collections[name] = made
            yield self._collections[name]

    def has(self, name: str) -> bool:
        """Whether there is a collection of this name; does not create it.

        Raises:
            ForeignStore, StoreDamaged, StoreUnavailable: as with ``collection``.
        """
        with self._used():
            if name not in self._collections:
                found = self._home.find(name)
                if found is None:
                    return False
                self._refuse_foreign(found)
                self._collections[name] = found
            return True

    @contextmanager
    def _used(self, *, opens: bool = True) -> Iterator[None]:
        with self._lock:
            self._users += 1
            try:
                if self.server is None and opens:
                    self._crowd.used(self)
                yield
            except BaseException as error:
                short = exhausted(error)
                if short is None and not is_panic(error) and not isinstance(error, self._home.errors):
                    raise
                self.reopen()  # a client that met a full disk hangs at its next write; a new one does not
                if short is not None:  # nothing is wrong with the files
                    raise Exhausted(out_of(f"Chroma in {self._home.shown}", short)) from error
                raise self._home.as_ours(cast("Exception", error)) from error
            finally:
                self._users -= 1

    def _refuse_foreign(self, collection: chromadb.Collection) -> None:
        schema = cast("Any", collection)._model.serialized_schema
        found = embedding_function(collection.configuration_json, schema)
        if found is not None:
            raise ForeignStore(
                f"The collection {collection.name!r} in {self._home.shown} was made by something else: it names the "
                f"embedding function {found!r}, which was not built, since that can run code. "
                + ("Move that folder away and open" if self.server is None else "Rename that collection and open")
                + " the agent again."
            )


def _home(folder: Path, server: ChromaAddress | None) -> Home:
    if server is None:
        return InFolder(folder)
    from .server import OnServer  # with Chroma's layer over HTTP, which file stores do not need

    return OnServer(server, folder)


def forget(folder: Path, server: ChromaAddress, origin: str | None = None) -> None:
    """As ``server.forget``: delete what a server holds of the agent whose files would be in this folder.

    Raises:
        StoreUnavailable: the server cannot be reached.
    """
    from . import server as chroma_served

    chroma_served.forget(folder, server, origin)


class ChromaMemory(Memory):
    """The store of one tier in a Chroma collection: squared L2 distance, vectors passed in, no embedding function."""

    def __init__(self, store: ChromaStore, tier: Tier) -> None:
        self._store = store
        self._name = tier.value

    @classmethod
    def at(cls, folder: str | Path, tier: Tier = Tier.STM, server: ChromaAddress | None = None) -> Self:
        """A standalone store in ``folder``, or at that place on a server, without an agent; ``close`` it when done."""
        return cls(ChromaStore.open(Path(folder), server), tier)

    def close(self) -> None:  # noqa: D102
        self._store.close()

    def upsert(self, entries: Sequence[MemoryEntry], vectors: Vectors) -> None:  # noqa: D102
        from chromadb.errors import ChromaError

        array = self.check(entries, vectors)
        with self._store.collection(self._name) as collection:
            for start in range(0, len(entries), BATCH):
                batch = entries[start : start + BATCH]
                ids = [entry.id for entry in batch]
                try:
                    collection.upsert(
                        ids=ids,
                        documents=[entry.document for entry in batch],
                        metadatas=replacing(collection, ids, [metadata(entry) for entry in batch]),
                        embeddings=array[start : start + BATCH],
                    )
                    self._store.changed(self._name, ids)
                except (ChromaError, ValueError) as error:
                    if "dimension" in str(error):
                        raise InvalidParameter(f"The vectors do not fit this store: {error}") from error
                    raise

    def delete(self, ids: Sequence[str]) -> None:  # noqa: D102
        distinct = list(dict.fromkeys(ids))  # Chroma refuses duplicate ids
        with self._store.collection(self._name) as collection:
            for start in range(0, len(distinct), BATCH):
                collection.delete(ids=distinct[start : start + BATCH])
                self._store.changed(self._name, distinct[start : start + BATCH])

    def get(self, ids: Sequence[str]) -> list[MemoryEntry]:  # noqa: D102
        found: dict[str, MemoryEntry] = {}
        distinct = list(dict.fromkeys(ids))  # Chroma refuses duplicate ids
        with self._store.collection(self._name) as collection:
            for start in range(0, len(distinct), BATCH):
                rows = collection.get(ids=distinct[start : start + BATCH], include=["documents", "metadatas"])
                for entry in map(entry_from_json, bodies(rows["documents"], rows["metadatas"])):
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

    def pages(self) -> Iterator[Page]:  # noqa: D102
        with self._store.collection(self._name) as collection:
            for start in range(0, collection.count(), _PAGE):
                rows = collection.get(limit=_PAGE, offset=start, include=["documents", "metadatas", "embeddings"])
                page_bodies = list(bodies(rows["documents"], rows["metadatas"]))
                yield Page(page_bodies, np.asarray(cast("Any", rows["embeddings"]), np.float32))

    def nearest(self, vector: Vectors, top_k: int) -> list[tuple[str, float]]:  # noqa: D102
        from chromadb.errors import ChromaError

        if top_k < 1:
            raise InvalidParameter(f"top_k must be 1 or more, not {top_k}.")
        with self._store.collection(self._name) as collection:
            count = collection.count()
            if not count:
                return []
            try:
                answer = collection.query(
                    query_embeddings=vector.reshape(1, -1), n_results=min(top_k, count), include=["distances"]
                )
            except (ChromaError, ValueError) as error:
                if "dimension" in str(error):
                    raise InvalidParameter(f"The vector does not fit this store: {error}") from error
                raise
        return list(zip(answer["ids"][0], (answer["distances"] or [[]])[0], strict=True))

    def clear(self) -> None:  # noqa: D102
        self.delete(sorted(self.ids()))
