"""The ledger of one agent: journal, stores and tables kept in step. Applies change sets, and nothing else writes.

Two processes may hold the same agent: writes take a file lock, and whoever comes later picks up from the
journal what the other wrote.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from . import personality as personalities
from .changes import Change, ChangeSet
from .chroma import ChromaStore
from .embedding import Embedder
from .entry import MemoryEntry, Tier
from .errors import InvalidPersonality, StaleChange, StoreBusy, StoreDamaged, StoreError
from .files import as_store_errors
from .journal import Journal, content_hash
from .journal_tables import refuse_foreign
from .ledger_checks import differences, refuse_broken
from .memory import Memory, Vectors
from .table import Table
from .times import Clock, real_clock

_JOURNAL = "journal.sqlite3"
LOCK_SECONDS = 30.0
"""How long a write waits for another process before it gives up with a clear error."""


class Ledger:
    """Everything that is stored of one agent.

    Args:
        folder: the agent's folder; made if it is missing.
        personality: the path of its personality file.
        embedder: what turns texts into vectors.
        clock: the real time, for the journal.
    """

    def __init__(self, folder: Path, personality: Path, embedder: Embedder, clock: Clock = real_clock) -> None:
        self.folder = folder
        self.personality_path = personality
        self.embedder = embedder
        self.messages: list[str] = []
        """What was found and repaired when the agent was opened, in sentences for people."""
        self.tables: dict[Tier, Table] = {tier: Table() for tier in Tier}
        self._texts: dict[str, str | None] = {}
        self._closed = False
        self._inode = 0
        self._lock = threading.RLock()
        folder.mkdir(parents=True, exist_ok=True)
        self._file_lock = FileLock(folder / "lock", timeout=LOCK_SECONDS, thread_local=False)
        with self.writing():
            refuse_foreign(folder / _JOURNAL)
            self.journal = Journal(f"sqlite:///{folder / _JOURNAL}", clock)
            self._store = ChromaStore.open(folder / "chroma")
            self.memories: Mapping[Tier, Memory] = {tier: self._store.memory(tier) for tier in Tier}
            self._revision, self._access = 0, 0
            try:
                self._load()
            except BaseException:
                self.close()
                raise
            self._inode = (folder / _JOURNAL).stat().st_ino

    def close(self) -> None:
        """Let go of all files; closing twice does no harm."""
        if not self._closed:
            self._closed = True
            self._store.close()
            self.journal.close()

    @property
    def gone(self) -> bool:
        """Whether this was closed, or its journal has been moved, deleted or replaced by somebody else."""
        try:
            return self._closed or (self.folder / _JOURNAL).stat().st_ino != self._inode
        except OSError:
            return True

    def _refuse_closed(self) -> None:
        if self._inode and self.gone:
            raise StoreError(
                f"The agent {self.folder.name!r} was closed, renamed, deleted or replaced. Open it again by its name."
            )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the tables still, after taking in what other processes wrote."""
        with self._lock:
            self._refuse_closed()
            self._catch_up()
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer of this agent, among threads and processes.

        Raises:
            StoreBusy: another process held the lock for 30 seconds.
        """
        with self._lock:
            self._refuse_closed()
            try:
                self._file_lock.acquire()
            except Timeout as error:
                raise StoreBusy(
                    f"Another program has been writing to {self.folder.name!r} for {LOCK_SECONDS:.0f} seconds. "
                    "Try again, or stop the other program."
                ) from error
            except OSError as error:
                raise StoreDamaged(f"{self.folder} cannot be written: {error.strerror or error}.") from error
            try:
                yield
            finally:
                self._file_lock.release()

    # -- what is known ---------------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """The revision that the tables show."""
        return self._revision

    @property
    def stamp(self) -> tuple[int, int]:
        """Changes with every applied change set and every access: a key for caches."""
        return self._revision, self._access

    def text(self, name: str) -> str | None:
        """The text of this name (``personality``, ``settings``) as it is now."""
        with self.reading():
            if name not in self._texts:
                self._texts[name] = self.journal.text(name)
            return self._texts[name]

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``."""
        held = (table.get(entry_id) for table in self.tables.values())
        return next((entry for entry in held if entry is not None), None)

    def vectors(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """The vector of each text by content hash, from the journal where it was embedded before."""
        by_hash = {content_hash(text): text for text in texts}
        known = self.journal.vectors(by_hash, self.embedder.identity)
        missing = [key for key in by_hash if key not in known]
        if missing:
            known |= zip(missing, self.embedder.embed([by_hash[key] for key in missing]), strict=True)
        return known

    def _vectors_of(self, change_set: ChangeSet) -> dict[str, Vectors]:
        return self.vectors([change.after.document for change in change_set.changes if change.after])

    # -- writing ---------------------------------------------------------------------------------------

    def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Carry out a plan, once; answers it with its revision.

        Raises:
            InvalidParameter: it is no change set, or does not hang together. Nothing was changed.
            Conflict: it was planned for another agent. Nothing was changed.
            StaleChange: what it touches has changed since it was planned. Nothing was changed.
            EmbedderError: a new text could not be embedded. Nothing was changed.
            StoreError: files cannot be written; what the journal holds by then is finished at the next write.
        """
        refuse_broken(change_set, self.folder.name)
        self._refuse_closed()
        if not change_set:
            return change_set
        vectors = self._vectors_of(change_set)
        with self.writing(), as_store_errors(f"The agent {self.folder.name!r}"):
            self._catch_up()
            self._finish_cut_off()
            self._refuse_foreign_edit(change_set)
            applied = self.journal.commit(change_set, vectors, self.embedder.identity)
            if applied.revision is not None and applied.revision > self._revision:
                self._carry_out(applied, vectors)
                self._show(applied, vectors)
                self.journal.mark_done(applied.revision)
        return applied

    def touch(self, entry_ids: Sequence[str], at: datetime) -> None:
        """Record that these memories were recalled at the world's time ``at``."""
        if not entry_ids:
            return
        with self.writing():
            self._catch_up()
            self._access = self.journal.touch(entry_ids, at)
            for table in self.tables.values():
                table.touch(entry_ids, at)

    def _refuse_foreign_edit(self, change_set: ChangeSet) -> None:
        """A personality that was edited on disk since it was planned is not overwritten; a missing one is written."""
        for text in change_set.texts:
            if text.name == "personality" and text.before == self.text("personality"):
                on_disk = personalities.read(self.personality_path)
                if on_disk not in (None, text.before, text.after):
                    raise StaleChange(
                        f"{self.personality_path.name} has been edited since you loaded it. "
                        "Load it again and repeat your change."
                    )

    def _finish_cut_off(self) -> None:
        """Carry out what a process that died had committed: whoever holds the lock knows that nobody else is at it."""
        for cut_off in self.journal.pending():
            assert cut_off.revision is not None, "the journal tells only what it has numbered"
            self._carry_out(cut_off, self._vectors_of(cut_off))
            self.journal.mark_done(cut_off.revision)

    def _carry_out(self, applied: ChangeSet, vectors: Mapping[str, Vectors]) -> None:
        """Steps 2 and 3, the files included; each can be repeated without harm."""
        self._write_personality(applied)
        self._store.claim()
        self._upsert([change.after for change in applied.changes if change.after], vectors)
        self._delete(applied.changes)

    def _upsert(self, entries: Sequence[MemoryEntry], vectors: Mapping[str, Vectors]) -> None:
        for tier, memory in self.memories.items():
            of_tier = [entry for entry in entries if entry.tier is tier]
            if of_tier:
                rows = np.stack([vectors[content_hash(entry.document)] for entry in of_tier])
                memory.upsert(of_tier, rows)

    def _delete(self, changes: Sequence[Change]) -> None:
        for tier, memory in self.memories.items():
            gone = [
                change.before.id
                for change in changes
                if change.before is not None
                and change.before.tier is tier
                and (change.after is None or change.after.tier is not tier)
            ]
            if gone:
                memory.delete(gone)

    def _show(self, applied: ChangeSet, vectors: Mapping[str, Vectors]) -> None:
        """Bring the tables up to an applied change set."""
        back = [change.entry_id for change in applied.changes if change.before is None]
        accesses = self.journal.last_access_of(back)  # one that comes back keeps the last access it had
        for change in applied.changes:
            held = self.find(change.entry_id)
            if change.before is not None:
                self.tables[change.before.tier].drop(change.entry_id)
            if change.after is not None:
                last = held.last_access if held else accesses.get(change.entry_id)
                entry = change.after.evolve(last_access=last)
                self.tables[entry.tier].put(entry, vectors.get(content_hash(entry.document)))
        self._texts |= {text.name: text.after for text in applied.texts}
        assert applied.revision is not None, "only applied change sets are shown"
        self._revision = applied.revision

    # -- keeping in step -------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Take in what other processes wrote since; costs one look-up when there is nothing."""
        revision, access = self.journal.position()
        if revision != self._revision:
            for applied in self.journal.since(self._revision):
                self._show(applied, self._vectors_of(applied))
        if access != self._access:
            accesses, self._access = self.journal.last_accesses(self._access)
            for entry_id, at in accesses.items():
                for table in self.tables.values():
                    table.touch([entry_id], at)

    def _load(self) -> None:
        """Finish what was cut off, see that stores and journal agree, and fill the tables."""
        self._store.claim()
        cut_off = self.journal.pending()
        for change_set in cut_off:
            self._write_personality(change_set)
        entries = self.journal.entries()
        accesses, self._access = self.journal.last_accesses()
        hashes = {key for _, key in entries.values()}
        vectors = self.journal.vectors(hashes, self.embedder.identity)
        texts = [entry.document for entry, key in entries.values() if key not in vectors]
        vectors |= self.vectors(texts)
        self._reconcile([entry for entry, _ in entries.values()], vectors, len(cut_off))
        for entry, key in entries.values():
            last = accesses.get(entry.id)
            self.tables[entry.tier].put(entry if last is None else entry.evolve(last_access=last), vectors[key])
        for change_set in cut_off:
            assert change_set.revision is not None, "the journal tells only what it has numbered"
            self.journal.mark_done(change_set.revision)
        self._revision = self.journal.revision

    def _write_personality(self, change_set: ChangeSet) -> None:
        for text in change_set.texts:
            if text.name == "personality" and self._holds(text.before):
                personalities.write(self.personality_path, text.after)

    def _holds(self, text: str | None) -> bool:
        """Whether the personality file is as it was before a change, or gone; one edited since is left alone."""
        try:
            return personalities.read(self.personality_path) in (None, text)
        except InvalidPersonality:
            return False

    def _reconcile(self, entries: Sequence[MemoryEntry], vectors: Mapping[str, Vectors], finished: int) -> None:
        """Make the stores hold what the journal says; where they did not, say so."""
        try:
            missing, surplus = differences(self.memories, entries)
        except StoreDamaged as error:
            if not self.journal.revision:
                raise  # there is nothing to rebuild it from
            self.messages.append(f"{error} The damaged files were set aside and rebuilt from the journal.")
            self._store.set_aside(f"damaged-{time.time_ns()}")
            missing, surplus = differences(self.memories, entries)
        if surplus and not self.journal.revision:
            raise StoreDamaged(
                f"The journal of {self.folder.name!r} is missing or empty, but its store holds "
                f"{sum(map(len, surplus.values()))} memories. Put journal.sqlite3 back into {self.folder}."
            )
        if not missing and not surplus:
            return
        self._upsert(missing, vectors)
        for tier, ids in surplus.items():
            self.memories[tier].delete(ids)
        self.messages.append(
            f"{len(missing)} memories written and {sum(map(len, surplus.values()))} removed to match the journal"
            + (f" ({finished} interrupted change{'s' if finished != 1 else ''} finished)." if finished else ".")
        )
