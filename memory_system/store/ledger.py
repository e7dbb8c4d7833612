"""The ledger of one agent: journal, stores and tables kept in step. Applies change sets, and nothing else writes.

Two processes may hold the same agent: writes take a file lock, and whoever comes later picks up from the
journal what the other wrote.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path

from ..core import personality as personalities
from ..core.change_set import TEXTS, ChangeSet
from ..core.chroma_address import ChromaAddress
from ..core.files import as_store_errors
from ..core.memory import Vectors
from ..core.times import Clock, real_clock
from ..embedding.embedder import Embedder
from ..errors import AgentGone, InvalidPersonality, StaleChange, StoreDamaged, StoreError, StoreUnavailable
from .access_buffer import AccessLog, Noted
from .journal.moving import Journals
from .ledger_checks import refuse_broken
from .ledger_turns import LedgerTurns
from .query_log import Asked
from .write_lock import WriteLock


class Ledger(LedgerTurns):
    """Everything that is stored of one agent.

    Args:
        folder: the agent's folder; made if it is missing.
        personality: the path of its personality file.
        embedder: what turns texts into vectors.
        clock: the real time, for the journal.
        journals: where journals are; in the agents' folders if not given.
        chroma: the Chroma server that keeps the store; files in the folder if not given.

    Raises:
        JournalDamaged: the journal cannot be relied on; ``read_only.opened`` shows what the store holds.
        StoreError: the files cannot be used.
    """

    def __init__(
        self,
        folder: Path,
        personality: Path,
        embedder: Embedder,
        clock: Clock = real_clock,
        journals: Journals | None = None,
        chroma: ChromaAddress | None = None,
    ) -> None:
        super().__init__(folder, personality, embedder, clock, journals or Journals(), chroma)
        self._closed = False
        self._inode = 0
        self._accesses = AccessLog(self._write_accesses, self.messages.append, clock, self._lock)
        folder.mkdir(parents=True, exist_ok=True)
        self._file_lock = WriteLock(folder)
        with self._lock, self._file_lock.held():
            self._open()
            self._inode = self._home.anchor.stat().st_ino
        atexit.register(self._accesses.flush_at_exit)  # for a program that ends without closing

    def close(self) -> None:
        """Write what waits, and let go of all files; closing twice does no harm.

        Raises:
            MemorySystemError: the last accesses could not be written. The files are let go of all the same.
        """
        if self._closed:
            return
        atexit.unregister(self._accesses.flush_at_exit)
        note = None
        try:
            if self._inode and not self.gone:
                self._accesses.flush()
                with suppress(StoreError), self.writing():
                    self._catch_up()
                    self._take_over_missed()
                    note = self._keep_tables()
        finally:
            self._closed = True
            with suppress(StoreError), self._file_lock.held() if note else nullcontext():
                self._let_go(note)

    @property
    def gone(self) -> bool:
        """Whether this was closed, or its journal has been moved, deleted or replaced by somebody else."""
        try:
            return self._closed or self._home.anchor.stat().st_ino != self._inode
        except PermissionError:  # it may well be there; what can still be read is shown
            return False
        except OSError:
            return True

    def _refuse_closed(self) -> None:
        if self._inode and self.gone:
            raise AgentGone(
                f"The agent {self.folder.name!r} was closed, renamed, deleted or replaced. Open it again by its name."
            )

    def refuse_read_only(self) -> None:
        """Do nothing where something can be written.

        Raises:
            ReadOnly: the agent is shown from its store, since its journal is damaged.
        """

    # -- what is known ---------------------------------------------------------------------------------

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

    def texts(self) -> dict[str, str | None]:
        """All texts by name; ``None`` where one that every agent may have is not there."""
        with self.reading():
            return dict.fromkeys(TEXTS) | self.journal.texts()

    # -- writing ---------------------------------------------------------------------------------------

    def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Carry out a plan, once; answers it with its revision.

        Raises:
            InvalidParameter: it is no change set, or does not hang together. Nothing was changed.
            Conflict: it was planned for another agent. Nothing was changed.
            StaleChange: what it touches has changed since it was planned. Nothing was changed.
            EmbedderError: a new text could not be embedded. Nothing was changed.
            StoreUnavailable: the server that keeps the store does not answer. Nothing was changed, if the sentence
                says so.
            StoreError: files cannot be written. If the sentence says that the change is kept, the journal has it and
                it is finished at the next write; otherwise nothing was changed.
        """
        refuse_broken(change_set, self.folder.name)
        self.refuse_read_only()
        self._refuse_closed()
        if not change_set:
            return change_set
        vectors = self._vectors_of(change_set)
        with self.writing(), as_store_errors(f"The agent {self.folder.name!r}"):
            self._accesses.flush()  # what comes back by this change keeps the accesses it had
            self._catch_up()
            self._store_at_hand()
            with _nothing_changed():
                self._finish_cut_off()
                self._take_over_missed()
            self._refuse_foreign_edit(change_set)
            self._refuse_unwritable(change_set)
            applied = self.journal.commit(change_set, vectors, self.embedder.identity)
            if applied.revision is not None and applied.revision > self._revision:
                self._show(applied, vectors)
                with _kept_all_the_same(self.folder.name):
                    whole = self._carry_out(applied, vectors)
                if whole:
                    # a disk may be full by now: the change stands, and this is done once more by the next write
                    with suppress(StoreDamaged):
                        self.journal.mark_done(applied.revision)
        return applied

    def note(self, change_set: ChangeSet) -> ChangeSet:
        """Write something into the history that changes no memory."""
        self.refuse_read_only()
        with self.writing():
            self._catch_up()
            noted = self.journal.commit(change_set, {}, self.embedder.identity)
            assert noted.revision is not None, "what is committed is numbered"
            self._catch_up()
            self.journal.mark_done(noted.revision)
        return noted

    def keep_vectors(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors of texts that are held, by content hash, and show them."""
        with self.writing():
            self._catch_up()
            self.journal.kept.keep(vectors, self.embedder.identity)
            self._take_in_vectors()

    def make_store_anew(self, progress: Callable[[float], None]) -> Path | None:
        """Write the store anew if it holds vectors of another embedder, or ranks by another distance.

        Answers where the old store lies; ``None`` if nothing had to be done. After a kill, opening writes the rest.
        """
        with self.writing():
            self._catch_up()
            self._store_at_hand()
            if self._stores.embedder == self.embedder.identity and not self._stores.distances():
                return None
            return self._store_anew("replaced", self.embedder.identity, progress)

    def flush(self) -> None:
        """Write what waits of recalls, now."""
        self._accesses.flush()

    def touch(self, entry_ids: Sequence[str], at: datetime, asked: Asked | None = None) -> None:
        """Note what was recalled at the world's time ``at``, and asked; it is on disk within half a second."""
        with self._lock:
            self._refuse_closed()
            self._touched(entry_ids, at)
            self._accesses.note(entry_ids, at, asked, (self._revision, self._access))

    def _write_accesses(self, take: Callable[[], Sequence[Noted]]) -> None:
        """Without the lock on the folder, so that no reader waits for another program that writes.

        What is written is taken in by the next reading as anybody's, since another program may have written between.
        """
        with self._lock:
            if not self.gone:  # deleted, or in other hands: there is nothing left to write to
                self._catch_up()
                self.journal.touch(take())

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

    def _refuse_unwritable(self, change_set: ChangeSet) -> None:
        """Try the folder of the personality and the agent's own before anything is committed."""
        for text in change_set.texts:
            if text.name == "personality" and text.after is not None:
                personalities.refuse_unwritable(self.personality_path, text.after)
        if not os.access(self.folder, os.W_OK):
            raise StoreDamaged(f"{self.folder} cannot be written. Nothing was changed.")

    def _finish_cut_off(self) -> None:
        """Carry out what a process that died had committed: whoever holds the lock knows that nobody else is at it."""
        for cut_off in self.journal.pending():
            assert cut_off.revision is not None, "the journal tells only what it has numbered"
            if self._carry_out(cut_off, self._vectors_of(cut_off)):
                self.journal.mark_done(cut_off.revision)

    def _take_over_missed(self) -> None:
        """Carry out what another machine wrote, which has the same journal and another store."""
        if self._store_is_behind():
            for missed in self.journal.since(self._stores.claimed):
                self._carry_out(missed, self._vectors_of(missed))

    def _carry_out(self, applied: ChangeSet, vectors: Mapping[str, Vectors]) -> bool:
        """Steps 2 and 3, the files included; each can be repeated without harm. Answers whether all is done.

        Others may read while the store, which takes longest, is written: recall does not ask it.
        """
        self._write_personality(applied)
        assert applied.revision is not None, "only what has been committed is carried out"
        wanted = self._for_store(applied, vectors)
        with self._others_reading():
            self._stores.carry_out(applied.changes, wanted, applied.revision)
            self._stores.own(self._origin)
        return self._erase() if applied.purges else True

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


@contextmanager
def _nothing_changed() -> Iterator[None]:
    """What a server that goes away keeps from being made up for is not the change that was asked for."""
    try:
        yield
    except StoreUnavailable as error:
        raise StoreUnavailable(f"{error.sentence} Nothing was changed.") from error


@contextmanager
def _kept_all_the_same(agent: str) -> Iterator[None]:
    """What fails after the commit is told as what it is: the change stands, and only the store is behind."""
    try:
        with as_store_errors(f"The agent {agent!r}"):
            yield
    except StoreError as error:
        kind = StoreUnavailable if isinstance(error, StoreUnavailable) else StoreDamaged
        raise kind(
            f"{error.sentence} The change is kept in the journal all the same, and the store takes it in at the next "
            "write."
        ) from error
