"""The ledger of one agent: journal, stores and tables kept in step. Applies change sets, and nothing else writes.

Two processes may hold the same agent: writes take a file lock, and whoever comes later picks up from the
journal what the other wrote.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from . import personality as personalities
from .accesses import Access, AccessLog
from .changes import ChangeSet
from .embedding import Embedder
from .entry import MemoryEntry, Tier
from .errors import InvalidPersonality, StaleChange, StoreDamaged, StoreError
from .files import as_store_errors
from .journal import Journal, content_hash
from .journal_tables import refuse_foreign
from .kept_tables import FROM_ROWS, KeptTables
from .ledger_checks import refuse_broken
from .memory import Vectors
from .stores import Stores
from .table import Table
from .table_file import Place
from .times import Clock, real_clock
from .write_lock import WriteLock

_JOURNAL = "journal.sqlite3"


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
        self._seen: int | None = None
        self._lock = threading.RLock()
        self._accesses = AccessLog(self._write_accesses, self.messages.append)
        self._kept = KeptTables(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._file_lock = WriteLock(folder)
        with self.writing():
            refuse_foreign(folder / _JOURNAL)
            self.journal = Journal(f"sqlite:///{folder / _JOURNAL}", clock)
            self._stores = Stores(folder / "chroma")
            self._revision, self._access, self._touches = 0, 0, 0
            try:
                self._load()
            except BaseException:
                self.close()
                raise
            self._inode = (folder / _JOURNAL).stat().st_ino
        atexit.register(self._accesses.flush_at_exit)  # for a program that ends without closing

    def close(self) -> None:
        """Write what waits, and let go of all files; closing twice does no harm.

        Raises:
            MemorySystemError: the last accesses could not be written. The files are let go of all the same.
        """
        if self._closed:
            return
        atexit.unregister(self._accesses.flush_at_exit)
        try:
            if self._inode and not self.gone:
                self._accesses.flush()
                self._keep_tables()
        finally:
            self._closed = True
            self._stores.close()
            self.journal.close()

    def _keep_tables(self) -> None:
        with suppress(OSError, StoreError), self.writing():  # they are derived: opening will see to what is missing
            self._catch_up()
            self._kept.close(self.tables, self._place(), self._stores.counts())

    def _place(self) -> Place:
        newest = self.journal.change_set_at(self._revision)
        return Place(self._revision, newest, self._access, self.embedder.identity)

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
            with self._file_lock.held():
                yield

    # -- what is known ---------------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """The revision that the tables show."""
        return self._revision

    @property
    def stamp(self) -> tuple[int, int]:
        """Changes with every applied change set and every access: a key for caches."""
        return self._revision, self._touches

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
            self._accesses.flush()  # what comes back by this change keeps the accesses it had
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
        """Note that these memories were recalled at the world's time ``at``; it is on disk within half a second."""
        if not entry_ids:
            return
        with self._lock:
            self._refuse_closed()
            self._touched(entry_ids, at)
            self._accesses.add([(entry_id, at) for entry_id in entry_ids])

    def _touched(self, entry_ids: Sequence[str], at: datetime) -> None:
        self._touches += sum(table.touch(entry_ids, at) for table in self.tables.values())

    def _write_accesses(self, accesses: Sequence[Access]) -> None:
        """Without the agent's locks, so that nobody waits for it: the next reading takes them in as anybody's."""
        if not self.gone:  # deleted, or in other hands: there is nothing left to write to
            self.journal.touch(accesses)

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
        self._stores.carry_out(applied.changes, vectors)

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
        """Take in what other processes wrote since; costs next to nothing when there is nothing."""
        seen = self.journal.seen()
        if seen is not None and seen == self._seen:
            return
        revision, access = self.journal.position()
        if revision != self._revision:
            for applied in self.journal.since(self._revision):
                self._show(applied, self._vectors_of(applied))
        if access != self._access:
            self._take_in_accesses()
        self._seen = seen

    def _take_in_accesses(self) -> None:
        accesses, self._access = self.journal.last_accesses(self._access)
        for entry_id, at in accesses.items():
            self._touched([entry_id], at)

    def _load(self) -> None:
        """Finish what was cut off, fill the tables, and see that stores and journal agree."""
        self._stores.claim()
        cut_off = self.journal.pending()
        for change_set in cut_off:
            self._write_personality(change_set)
        self._revision, self._access = self.journal.position()
        kept = self._kept.open(self._place(), self.journal.change_set_at)
        self.tables |= kept
        for tier in Tier:
            if tier not in kept:
                self._fill(tier)
        if kept:  # what came after they were kept; for the tables just filled this changes nothing
            self._revision, self._access = self._kept.shown()
            self._catch_up()
        self._reconcile(cut_off)
        for change_set in cut_off:
            assert change_set.revision is not None, "the journal tells only what it has numbered"
            self.journal.mark_done(change_set.revision)

    def _fill(self, tier: Tier) -> None:
        entries = self.journal.entries(tier)
        vectors = self.journal.vectors({key for _, key in entries.values()}, self.embedder.identity)
        vectors |= self.vectors([entry.document for entry, key in entries.values() if key not in vectors])
        accesses = self.journal.last_access_of(list(entries))
        for entry, key in entries.values():
            last = accesses.get(entry.id)
            self.tables[tier].put(entry if last is None else entry.evolve(last_access=last), vectors[key])

    def _reconcile(self, cut_off: Sequence[ChangeSet]) -> None:
        if not cut_off and any(len(table) >= FROM_ROWS for table in self.tables.values()):
            wanted = {tier.value: len(table) for tier, table in self.tables.items()}
            with suppress(StoreDamaged):  # which the comparison below will tell
                if self._stores.counts() == wanted and self._kept.settled(self._revision, wanted):
                    return
        entries = (entry for table in self.tables.values() for entry in table.entries)
        self.messages += self._stores.reconcile(
            entries, self.vectors, revision=self.journal.revision, finished=len(cut_off)
        )

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
