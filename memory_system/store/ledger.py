"""The ledger of one agent: journal, stores and tables kept in step. Applies change sets and notes recalls."""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime
from itertools import count, starmap
from pathlib import Path

from ..core.change_set import TEXTS, Change, ChangeSet, so_many
from ..core.chroma_address import StorePlace
from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.files import as_exhausted, as_store_errors, remove_parts, within
from ..core.memory import Vectors
from ..core.shared_work import Together
from ..core.times import Clock, real_clock
from ..embedding.embedder import Embedder
from ..errors import AgentGone, MemorySystemError, OtherEmbedder, StoreDamaged, StoreError, StoreUnavailable
from ..recall.kept_tables import KeptTables, Place, drop_changed
from ..recall.table import Table
from . import ledger_checks as checks
from . import shutdown_note
from .access_buffer import AccessLog, Noted
from .expected_rows import ExpectedRows, of_entries, of_table
from .journal.horizon import LettingGo
from .journal.journal import Journal, content_hash
from .journal.location import refuse_older
from .journal.moving import Journals
from .personality_file import follow_in_file, write_as_changed
from .policy import Policy
from .projection import Stores
from .query_log import Asked
from .shutdown_note import Note
from .store_queue import StoreQueue
from .turns import TableLock, Turns
from .write_lock import WriteLock

REEMBED = "reembed"
"""The operation in the history for giving memories new vectors; it changes no entry."""
EMBEDDED_AT_ONCE = 500
"""Texts without a vector that opening embeds by itself; the rest wait for ``reembed``."""
CHANGED_OVER_AT_ONCE = 500
"""Memories whose store opening rewrites by itself after a change of embedder."""
_OPENINGS = count()
"""Counts the openings of all agents in this process, so that caches never mix two openings of one agent."""
_Planned = tuple[ChangeSet, Mapping[str, Vectors]]
"""A plan, and the vectors that it needs."""


class Ledger:
    """Everything stored of one agent. Many read while one writes, except while the tables change.

    Args:
        folder: the agent's folder; created if missing.
        personality: the path of its personality file.
        embedder: what turns texts into vectors.
        clock: the real time, for the journal.
        journals: where journals are; in the agents' folders if not given.
        chroma: the Chroma server that keeps the store; files in the folder if not given.
        take_over: whether opening an agent whose vectors were made by another embedder replaces them by those of this
            one; if not, it can be inspected and re-embedded, but recalls and changes nothing until then.

    Raises:
        JournalDamaged: the journal cannot be relied on; ``read_only.open_ledger`` shows what the store holds.
        StoreError: the files cannot be used.
    """

    journal: Journal
    _stores: Stores

    def __init__(
        self,
        folder: Path,
        personality: Path,
        embedder: Embedder,
        clock: Clock = real_clock,
        journals: Journals | None = None,
        chroma: StorePlace | None = None,
        *,
        take_over: bool = False,
    ) -> None:
        self._begin(folder, personality, embedder)
        self._take_over = take_over
        self._note: Note | None = None
        self._altered: list[str] = []
        self._told_by_note = self._store_seen = False
        self._clock, self._chroma = clock, chroma
        self._home = (journals or Journals()).of(folder)
        self._kept = KeptTables(folder)
        self._closed, self._inode, self._process = False, 0, os.getpid()
        self._accesses = AccessLog(self._write_accesses, self.messages.append, clock, self._lock)
        folder.mkdir(parents=True, exist_ok=True)
        self._file_lock = WriteLock(folder)
        with self._lock, self._file_lock.hold():
            self._open()
            self._inode = self._home.anchor.stat().st_ino
        atexit.register(self._flush_at_exit)  # for a program that ends without closing

    def _begin(self, folder: Path, personality: Path, embedder: Embedder) -> None:
        """What is known of an agent before anything of it is opened."""
        self.folder = folder
        self.personality_path = personality
        self.embedder = embedder
        self.messages: list[str] = []
        """What was found and repaired when the agent was opened, in sentences for people."""
        self.policy = Policy()
        self.tables: dict[Tier, Table] = {tier: Table() for tier in Tier}
        self._take_over = True
        self._texts: dict[str, str | None] = {}
        self._revision, self._access, self._touches = 0, 0, next(_OPENINGS) << 40
        self._seen: int | None = None
        self._torn = False
        self._behind = StoreQueue(
            self._take_in, self._tidy, self.settle, self.messages.append, lambda: self._stores.is_crowded_out
        )
        self._lock = TableLock()
        self.turns = Turns(folder.name, self._lock, self._refuse_closed, self._catch_up, self._others_out)
        self._letting_go = LettingGo(lambda: self.journal.horizon, self.text, self.settle, self.policy, self.turns)
        self._together = Together(self._apply, self._by_itself, self.turns.writing, self.turns.others_reading)

    def close(self, *, asleep: bool = False) -> None:
        """Write whatever is waiting, and close all files; closing twice does no harm.

        Args:
            asleep: whether a few changes that the store lacks may wait until the agent is opened again.

        Raises:
            MemorySystemError: the last accesses could not be written. The files are closed all the same.
        """
        if self._closed:
            return
        atexit.unregister(self._flush_at_exit)
        self._letting_go.stop()
        note = None
        try:
            if self._inode and not self.gone:
                self._accesses.flush()
                with suppress(StoreError), self.turns.writing():
                    if not (asleep and self._told_by_note and self._behind.may_wait(self.journal)):
                        self.settle()
                    note = self._keep_tables()
        finally:
            with self.turns.taken():  # even if the agent is gone, since the background may still be writing
                with self._lock:  # readers finish first
                    self._closed = True
                self._behind.forget()
                with suppress(StoreError), self._file_lock.hold() if note else nullcontext():
                    self._let_go(note)

    @property
    def gone(self) -> bool:
        """Whether this was closed, or another program moved, deleted or replaced its journal."""
        try:
            return self._closed or self._home.anchor.stat().st_ino != self._inode
        except PermissionError:  # it may well still exist; what can be read is shown
            return False
        except OSError:
            return True

    def _refuse_closed(self) -> None:
        if self._inode and self.gone:
            raise AgentGone(
                f"The agent {self.folder.name!r} was closed, renamed, deleted or replaced. Open it again by its name."
            )

    @property
    def other_embedder(self) -> str | None:
        """The identity of the embedder that made the vectors of an agent that is not taken over; else ``None``."""
        if self._take_over or self._stores.embedder in ("", self.embedder.identity):
            return None
        return self._stores.embedder if any(map(len, self.tables.values())) else None

    def refuse_other_embedder(self) -> None:
        """Do nothing if the agent's vectors were made by the embedder in use.

        Raises:
            OtherEmbedder: they were made by another one.
        """
        if (others := self.other_embedder) is not None:
            raise OtherEmbedder(self._why_not(others))

    def _why_not(self, others: str) -> str:
        return checks.why_not(self.folder.name, others, self.embedder.identity)

    # -- what is known ---------------------------------------------------------------------------------

    @property
    def stamp(self) -> tuple[int, int]:
        """Changes with every applied change set and every access: a key for caches."""
        return self._revision, self._touches

    def text(self, name: str) -> str | None:
        """The current text of this name (``personality``, ``settings``)."""
        with self.reading():
            if name not in self._texts:
                self._texts = self.journal.texts_with(name) | self._texts
            return self._texts[name]

    def texts(self) -> dict[str, str | None]:
        """All texts by name; ``None`` if one that every agent may have does not exist."""
        with self.reading():
            return dict.fromkeys(TEXTS) | self.journal.texts()

    # -- writing ---------------------------------------------------------------------------------------

    def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Carry out a plan, once; return it with its revision.

        Raises:
            InvalidParameter: it is not a change set, or is inconsistent. Nothing was changed.
            Conflict: it was planned for another agent. Nothing was changed.
            OtherEmbedder: the agent's vectors were made by another embedder. Nothing was changed.
            StaleChange: what it touches has changed since it was planned. Nothing was changed.
            EmbedderError: a new text could not be embedded. Nothing was changed.
            StoreUnavailable: the server that keeps the store does not answer. Nothing was changed, if the sentence
                says so.
            StoreError: files cannot be written. If the sentence says that the change is kept, the journal has it and
                it is finished at the next write; otherwise nothing was changed.
        """
        checks.refuse_broken(change_set, self.folder.name)
        self.policy.refuse()
        self._refuse_closed()
        self.refuse_other_embedder()
        if not change_set:
            return change_set
        with as_exhausted(f"The agent {self.folder.name!r}"):
            vectors = self._vectors_of(change_set)
        done = (self._together.at_once if self.turns.mine else self._together.ask)((change_set, vectors))
        self._behind.ease(len(change_set.changes))
        return done

    def _apply(self, plans: Sequence[_Planned]) -> list[ChangeSet | Exception]:
        """Carry out plans, in a turn, with one commit."""
        with as_store_errors(f"The agent {self.folder.name!r}"):
            self._accesses.flush()  # a memory that this change brings back keeps its accesses
            self._catch_up()
            self._store_at_hand()
            with checks.nothing_changed():
                self._finish_cut_off()
                self._take_over_missed()
            personality = self.text("personality")
            for change_set, _ in plans:
                checks.refuse_foreign_edit(change_set, personality, self.personality_path)
                checks.refuse_unwritable(change_set, self.personality_path, self.folder)
            vectors = {key: vector for _, of_one in plans for key, vector in of_one.items()}
            sets, ours = [plan for plan, _ in plans], self.embedder.identity
            committed = self.journal.commit_together(sets, vectors, ours, alone=self._stores.in_journal)
        done = [self._committed(applied, vectors) for applied in committed]
        self._letting_go.look(self._revision, now=any(plan.texts for plan in sets))  # it catches up: all is shown
        return done

    def _committed(self, applied: ChangeSet, vectors: Mapping[str, Vectors]) -> ChangeSet | Exception:
        """Steps 2 to 4, unless it is shown already; return it, or the error."""
        if applied.revision is None or applied.revision <= self._revision:
            return applied
        try:
            with checks.kept_all_the_same(self.folder.name):
                with self._whole_or_anew():
                    self._show(applied, vectors)
                if self._follows(applied):
                    write_as_changed(self.personality_path, applied)
                    if applied.texts or not self._stores.in_journal:
                        self._behind.add(applied, vectors)
                elif self.settle() and self._carry_out(applied, vectors):
                    self._behind.taken_in(applied.revision, self.journal, tidy=self._stores.is_tidy)
        except MemorySystemError as error:
            return error
        return applied

    def _by_itself(self, plan: _Planned) -> bool:
        """Whether a plan must be committed separately: it cannot follow later, or contains more than changes."""
        return bool(plan[0].texts or plan[0].purges) or not self._follows(plan[0])

    def _follows(self, applied: ChangeSet) -> bool:
        """Whether the store may follow later; a server, or one of several stores of a journal, is written at once."""
        ours = self._stores.in_journal or (self._stores.place is None and not self._home.shared)
        return ours and not applied.purges and self._stores.embedder == self.embedder.identity

    def note(self, change_set: ChangeSet) -> ChangeSet:
        """Write something into the history that changes no memory."""
        self.policy.refuse()
        with self.turns.writing():
            self._catch_up()
            noted = self.journal.commit(change_set, {}, self.embedder.identity)
            self._catch_up()
            self.journal.mark_done(noted.number)
        return noted

    def keep_vectors(self, vectors: Mapping[str, Vectors]) -> None:
        """Store vectors of existing texts, by content hash, and show them."""
        with self.turns.writing():
            self._catch_up()
            self.journal.kept.keep(vectors, self.embedder.identity)
            self._take_in_vectors()

    def make_store_anew(self, progress: Callable[[float], None]) -> Path | None:
        """Rewrite the store if it holds vectors of another embedder, or ranks by another distance.

        Returns where the old store is now; ``None`` if nothing had to be done. After a kill, opening writes the rest.
        """
        with self.writing():
            self._catch_up()
            self._store_at_hand()
            if self._stores.embedder == self.embedder.identity and not self._stores.distances():
                return None
            return self._store_anew("replaced", self.embedder.identity, progress)

    def flush(self) -> None:
        """Write the waiting recalls, now."""
        if self.policy.why is None:
            self._accesses.flush()

    def touch(self, entry_ids: Sequence[str], at: datetime, asked: Asked | None = None) -> None:
        """Note what was recalled at the world's time ``at``, and asked; it is on disk within half a second.

        If nothing can be written, recalls leave no trace.
        """
        if self.policy.why is not None:
            return
        with self._lock:
            self._refuse_closed()
            self._touched(entry_ids, at)
            self._accesses.note(entry_ids, at, asked, (self._revision, self._access))

    def _write_accesses(self, take: Callable[[], Sequence[Noted]]) -> None:
        """Write without the folder's lock: no reader waits for another program, which sees this like any write."""
        with self._lock:
            if not self.gone:  # deleted, or in other hands: there is nothing left to write to
                self._catch_up()
                self.journal.touch(take())

    def _finish_cut_off(self) -> None:
        """Make the store follow what another process has committed, which may have died since.

        With the lock held, no other process is at work. What this one committed can wait, unless it failed.
        """
        if self._behind.has_all_pending(self.journal):
            if self._behind.must_settle:
                self.settle()
            return
        for cut_off in self.journal.pending():
            if self._carry_out(cut_off, self._vectors_of(cut_off)):
                self.journal.mark_done(cut_off.number)
        self._behind.forget()

    def _take_in(self, changes: Sequence[Change], vectors: Mapping[str, Vectors], revision: int) -> None:
        """Make the store follow what is shown already. Others may read meanwhile: recall does not use it."""
        with self.turns.others_reading():
            self._stores.carry_out(changes, vectors, revision)

    def _tidy(self) -> bool:
        with self.turns.others_reading():
            return self._stores.tidy()

    def _flush_at_exit(self) -> None:
        if os.getpid() != self._process:  # forked: the waiting writes and the files are its parent's
            return
        self._accesses.flush_at_exit()
        self._behind.settle_at_exit()

    def _take_over_missed(self) -> None:
        """Carry out what another machine wrote, which shares the journal and has another store."""
        missed = () if self._stores.in_journal else self._missed()
        untold = missed and self._stores.claimed < self.journal.horizon.floor
        for change_set in missed:
            self._carry_out(change_set, self._vectors_of(change_set))
        if untold:
            self._reconcile(())

    def _carry_out(self, applied: ChangeSet, vectors: Mapping[str, Vectors]) -> bool:
        """Steps 2 and 3, including the files; each can be repeated without harm. Returns whether everything is done."""
        write_as_changed(self.personality_path, applied)
        self._take_in(applied.changes, self._for_store(applied, vectors), applied.number)
        self._stores.own(lambda: self.journal.origin)
        return self._erase() if applied.purges else True

    @property
    def revision(self) -> int:
        """The revision that the tables show."""
        return self._revision

    @property
    def lived(self) -> dict[Tier, Table]:
        """The tables that recall ranges over: those of ``LIVED``."""
        return {tier: self.tables[tier] for tier in LIVED}

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``."""
        entries = (table.get(entry_id) for table in self.tables.values())
        return next((entry for entry in entries if entry is not None), None)

    def vectors(self, texts: Sequence[str], at_hand: Mapping[str, Vectors]) -> dict[str, Vectors]:
        """The vector of each text by content hash: already known, from the journal, or embedded now."""
        by_hash = {content_hash(text): text for text in texts}
        known = {**at_hand, **self.journal.vectors(by_hash.keys() - at_hand.keys(), self.embedder.identity)}
        if missing := {key: text for key, text in by_hash.items() if key not in known}:
            known |= zip(missing, checks.embedded(self.embedder, list(missing.values()), self.tables), strict=True)
        return known

    def without_vector(self) -> list[MemoryEntry]:
        """The memories without a vector of this embedder, which are not found by meaning."""
        return [table.entries[row] for table in self.tables.values() for row in table.rows_without_vector()]

    def _vectors_of(self, *change_sets: ChangeSet) -> dict[str, Vectors]:
        """The vectors that change sets need; an unchanged text without one stays without."""
        with self._lock:
            waiting = {entry.id for entry in self.without_vector()}
            others = self.other_embedder is not None
            at_hand = checks.vectors_at_hand(change_sets, {} if others else self.tables)
        fresh, left = checks.texts_of(change_sets, waiting, all_stay=others)
        return self.vectors(fresh, at_hand) | self.journal.vectors(map(content_hash, left), self.embedder.identity)

    def _show(self, applied: ChangeSet, vectors: Mapping[str, Vectors]) -> None:
        """Bring the tables up to an applied change set."""
        back = [change.entry_id for change in applied.changes if change.before is None]
        accesses = self.journal.last_access_of(back)  # a memory that comes back keeps its last access
        before = {change.entry_id: self.find(change.entry_id) for change in applied.changes}
        for tier, table in self.tables.items():
            table.drop_all(one.entry_id for one in applied.changes if one.before and one.before.tier is tier)
        for change in applied.changes:
            if change.after is not None:
                old_entry = before[change.entry_id]
                entry = change.after.accessed(old_entry.last_access if old_entry else accesses.get(change.entry_id))
                self.tables[entry.tier].put(entry, vectors.get(content_hash(entry.document)))
        if applied.operation == REEMBED:
            self._take_in_vectors()
        if applied.purges:
            self._texts.clear()  # some may have quoted it
        self._texts |= {text.name: text.after for text in applied.texts}
        self._revision = applied.number

    def _take_in_vectors(self) -> None:
        """Show the vectors that the journal has by now."""
        waiting = self.without_vector()
        known = self.journal.vectors_of([entry.document for entry in waiting], self.embedder.identity)
        for entry, vector in zip(waiting, known, strict=True):
            if vector is not None:
                self.tables[entry.tier].put(entry, vector)

    def _catch_up(self) -> None:
        """Read what other processes wrote since; costs next to nothing if there is nothing."""
        seen = self.journal.seen()
        if seen is not None and seen == self._seen and not self._torn:
            return
        revision, access = self.journal.position()
        with self._whole_or_anew():
            missed = self.journal.known_since(self._revision) if revision != self._revision else []
            if self._torn or missed is None:
                self._fill_anew()
            elif missed:
                vectors = self._vectors_of(*missed)
                for applied in missed:
                    self._show(applied, vectors)
                    if self._home.shared and self.policy.why is None:
                        follow_in_file(self.personality_path, applied)
        if access != self._access:
            self._take_in_accesses()
        self._seen = seen

    @contextmanager
    def _whole_or_anew(self) -> Iterator[None]:
        """If a change of the tables is interrupted, as by lack of memory, they are filled again before the next use."""
        try:
            yield
        except BaseException:
            self._torn = True
            raise

    def _fill_anew(self) -> None:
        """Fill all tables from the journal, which is authoritative."""
        self.tables |= {tier: Table() for tier in Tier}
        self._texts.clear()
        self._revision, self._access = self.journal.position()
        self._fill({})
        self._touches += 1
        self._torn = False

    def _take_in_accesses(self) -> None:
        accesses, self._access = self.journal.last_accesses(self._access)
        for entry_id, at in accesses.items():
            self._touched([entry_id], at)

    def _touched(self, entry_ids: Sequence[str], at: datetime) -> None:
        self._touches += sum(table.touch(entry_ids, at) for table in self.tables.values())

    # -- seen and repaired -----------------------------------------------------------------------------

    def _see_store(self, cut_off: Sequence[ChangeSet], *, as_left: bool) -> None:
        """Check that the store holds what the journal says, and finish interrupted work.

        Raises:
            ForeignStore: it is another agent's.
            StoreUnavailable: its server cannot be reached; this can be done later.
            StoreError: it cannot be used.
        """
        self._stores.refuse_others(lambda: self.journal.origin)
        made_with = self._stores.made_with
        self._stores.embedder = made_with or checks.journalled_embedder(self.journal, self.embedder, self.tables)
        self._change_over()
        if as_left and shutdown_note.tells(self._note, cut_off) and self._as_noted():
            self._behind.take_up(cut_off, self.journal.vectors(checks.hashes_of(cut_off), self.embedder.identity))
            cut_off = ()  # left for the next opening
        else:
            self._reconcile(cut_off)
        self._stores.own(lambda: self.journal.origin)
        self._say_what_waits()
        erased = self._erase() if any(change_set.purges for change_set in cut_off) else True
        for change_set in cut_off:
            if erased or not change_set.purges:
                self.journal.mark_done(change_set.number)
        self._store_seen = True

    def _store_at_hand(self) -> None:
        """Check that the store can be written, and has been checked, before something is committed.

        Raises:
            StoreUnavailable: its server does not answer. Nothing was changed.
        """
        with checks.nothing_changed():
            self._stores.refuse_unreachable()
            made = self._stores.made_with if self._stores.place is None else None
            if made is not None and made != self._stores.embedder:
                raise OtherEmbedder(self._why_not(made))
            if not self._store_seen:
                self._see_store(self.journal.pending(), as_left=False)

    def _state(self) -> str:
        return f"{self._revision} {self.journal.change_set_at(self._revision)}"

    def _as_noted(self) -> bool:
        """Whether the store holds as many entries as the tables, and was closed at the same revision."""
        note, counts = self._note, self._counts()
        if note is None or (note.revision, dict(note.counts)) != (self._revision, counts):
            return False
        if note.ours and self._stores.place is None:  # files that nobody has written since need not be opened
            self._told_by_note = True
            return True
        with suppress(StoreDamaged):  # the comparison row by row reports it
            alike = self._stores.left_at(self._state()) and self._stores.counts() == counts
            return alike and not self._stores.distances()
        return False

    def _counts(self) -> dict[str, int]:
        return {tier.value: len(table) for tier, table in self.tables.items() if tier in LIVED or len(table)}

    def _reconcile(self, cut_off: Sequence[ChangeSet]) -> None:
        files = self._stores.folder, self._note, self._altered
        said = self._stores.reconcile(
            self._expected_rows(),
            self._expected_vectors,
            revision=self._revision,
            cut_off=cut_off,
            problem=None if self._stores.place else checks.store_problem(*files),
        )
        self.messages += said
        if not said and (note := self._note) is not None and note.clean and note.revision == self._revision:
            self.messages += shutdown_note.said_of(self._altered)

    def _change_over(self) -> None:
        """Give a small store the vectors of the embedder in use, if there are vectors of it for everything."""
        few = sum(self._counts().values()) <= CHANGED_OVER_AT_ONCE
        changed = self._stores.embedder != self.embedder.identity and self.other_embedder is None
        if changed and few and not self.without_vector():
            aside = self._stores.set_aside("replaced", self.embedder.identity)
            shutil.rmtree(aside, ignore_errors=True)  # the journal keeps the vectors that it held
            self._note = None

    def _expected_rows(self) -> dict[Tier, ExpectedRows]:
        if self._stores.embedder == self.embedder.identity:
            return {tier: of_table(table) for tier, table in self.tables.items()}
        by_tier = {tier: list(table.entries) for tier, table in self.tables.items()}
        return {tier: of_entries(entries, self._expected_vectors(entries)) for tier, entries in by_tier.items()}

    def _expected_vectors(self, entries: Sequence[MemoryEntry]) -> dict[str, Vectors]:
        """The vectors that the store should hold for these entries, by content hash."""
        hashes = {content_hash(entry.document) for entry in entries}
        if self._stores.embedder != self.embedder.identity:
            return self.journal.vectors(hashes, self._stores.embedder)
        waiting = {entry.id for entry in self.without_vector()}
        return {
            content_hash(entry.document): self.tables[entry.tier].vector(entry.id)
            for entry in entries
            if entry.id not in waiting
        }

    def _for_store(self, applied: ChangeSet, vectors: Mapping[str, Vectors]) -> Mapping[str, Vectors]:
        """The vectors of a change set as the store keeps them, possibly still those of another embedder."""
        if self._stores.embedder == self.embedder.identity:
            return vectors
        return self.journal.vectors(checks.hashes_of([applied]), self._stores.embedder)

    def _say_what_waits(self) -> None:
        """Report vectors and distances that differ from those in use, and what to do."""
        waiting, other = len(self.without_vector()), self._stores.embedder
        total, ours = sum(self._counts().values()), self.embedder.identity
        if self.other_embedder is not None:
            self.messages.append(self._why_not(other))
        elif other != ours or waiting:
            self.messages.append(checks.what_waits(self.folder.name, other, ours, waiting, total))
        if not self._told_by_note:
            self.messages += starmap(checks.by_another_distance, self._stores.distances().items())

    def _store_anew(self, why: str, embedder: str, progress: Callable[[float], None]) -> Path:
        """Write a new store in place of the old one; return where the old one is now."""
        entries = [entry for table in self.tables.values() for entry in table.entries]
        aside = self._stores.set_aside(why, embedder)
        self._behind.forget()
        self._stores.fill(entries, self._expected_vectors, self._revision, progress)
        return aside

    def _erase(self) -> bool:
        """Make sure that not a byte of purged data is left; can be repeated. Returns whether that is done.

        What cannot be done yet is reported, and tried again with the next change or opening.
        """
        problem = self.journal.compact()
        if problem is None:
            try:
                self._kept.drop()
                self._store_anew("purged", self._stores.embedder, lambda _share: None)
                self._stores.wipe_spare()
                for aside in within(self.folder, f"{self._stores.folder.name}-purged-*"):
                    shutil.rmtree(aside)
                if self._stores.server is not None:
                    self.messages.append(checks.purged_on_server(self._stores.where))
            except OSError as error:
                problem = f"{error.filename or self.folder} cannot be written: {error.strerror or error}."
        if problem is not None:
            self.messages.append(f"What was purged is gone from the history, and may still lie in its files. {problem}")
        return problem is None

    # -- opening ---------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Open everything.

        Raises:
            JournalDamaged: the journal cannot be relied on. Nothing was changed.
            StoreError: the files cannot be used.
        """
        remove_parts(self.folder)
        self._note = shutdown_note.read(self.folder)
        lying = shutdown_note.files_of(self.folder)
        self._altered = self._note.altered(lying) if self._note is not None else []
        self._stores = Stores(self.folder / "chroma", self._chroma)
        as_left = self._note is not None and self._note.as_left(lying, self._stores.where)
        try:
            self._home.prepare(self._stores.claimed, thoroughly=not as_left)
            with self._home.alone():
                self.journal = self._home.open(self._clock)
                try:
                    with self.journal.one_by_one():
                        self._load(as_left=as_left)
                except BaseException:
                    self.journal.close()
                    if not self._revision:
                        self._home.abandon()
                    raise
        except BaseException:
            self._stores.close()
            raise
        shutdown_note.opened(self.folder)

    def _load(self, *, as_left: bool) -> None:
        """Finish interrupted work, fill the tables, and check that stores and journal agree."""
        self._seen = self.journal.seen()
        self._revision, self._access = self.journal.position()
        refuse_older(self.folder.name, self._revision, self._stores.claimed)
        missed = self._missed()
        self._stores.claim(self._revision, as_left=as_left)
        cut_off = self.journal.pending()
        for change_set in (*missed, *cut_off):
            write_as_changed(self.personality_path, change_set)
        self._fill(self._kept.open(self._place(), self.journal.change_set_at, self.journal.vectors_of))
        try:
            self._see_store(cut_off, as_left=as_left and not missed)
        except StoreUnavailable as error:  # the journal is authoritative, and no query depends on the store
            journalled = checks.journalled_embedder(self.journal, self.embedder, self.tables)
            self._stores.embedder = self.embedder.identity if self._take_over else journalled
            self.messages.append(
                f"{error.sentence} Until it answers, {self.folder.name!r} is shown as its journal tells, and cannot be "
                "changed; the store takes in what it lacks with the next change."
            )

    def _place(self) -> Place:
        return Place(self._revision, self.journal.change_set_at(self._revision), self._access, self.embedder.identity)

    def _fill(self, kept: Mapping[Tier, Table]) -> None:
        """Fill tables from the journal: saved ones with what came since.

        A few texts without a vector are embedded, more are left for later.
        """
        self.tables |= kept
        shown, access = self._kept.shown() if kept else (self._revision, self._access)
        by_tier = self.journal.entries_of([tier for tier in Tier if tier not in kept], shown)
        if shown != self._revision:
            drop_changed(kept, self.journal.changed_since(shown), by_tier)
        rows = [row for of_tier in by_tier.values() for row in of_tier.values()]
        vectors = self.journal.vectors({key for _, key in rows}, self.embedder.identity)
        missing = {key: entry.document for entry, key in rows if key not in vectors}
        if 0 < len(missing) <= EMBEDDED_AT_ONCE and (
            self._take_over or checks.journalled_embedder(self.journal, self.embedder, {}) == self.embedder.identity
        ):
            made = checks.embedded(self.embedder, list(missing.values()), self.tables, *vectors.values())
            fresh = dict(zip(missing, made, strict=True))
            self.journal.kept.keep(fresh, self.embedder.identity)
            vectors |= fresh
            self.messages.append(f"Vectors of {self.embedder.identity} were made for {so_many(len(fresh))}.")
        accesses = self.journal.last_access_of([entry.id for entry, _ in rows])
        for entry, key in rows:
            last = accesses.get(entry.id)
            self.tables[entry.tier].put(entry if last is None else entry.accessed(last), vectors.get(key))
        if kept:
            self._take_in_vectors()
        if access != self._access:
            self._access = access
            self._take_in_accesses()

    def _missed(self) -> Sequence[ChangeSet]:
        """What another machine, which has files of its own, has written to the same journal since."""
        behind = self._home.shared and self._stores.claimed < self._revision
        return self.journal.kept_since(self._stores.claimed) if behind else ()

    def _keep_tables(self) -> Note | None:
        """Write the tables; return the note to leave when all files are closed."""
        try:
            self._catch_up()
            self._take_over_missed()
            self._kept.keep(self.tables, self._place())
            self._stores.see_others()
            if self._store_seen:  # notes on a server's store are kept there
                self._stores.leave(self._state, self._revision)
            note, made_by = self._note, self.embedder.identity
            alike = note is not None and (note.revision, note.embedder) == (self._revision, made_by)
            if self._told_by_note and note is not None and (alike or len(self._behind)):
                return note.later(self._revision, self._counts(), made_by, self._behind.revisions)
            counts, ours = self._stores.counts(), not self._stores.distances()
            return Note(self._revision, counts, made_by, store=self._stores.where, ours=ours)
        except (OSError, StoreError):  # they are derived: opening restores what is missing
            return None

    def _let_go(self, note: Note | None) -> None:
        self._stores.close()
        self.journal.close()
        if note is not None:
            with suppress(OSError):
                self._stores.wipe_spare()  # Chroma has written spare space, with what this process had in memory
            with suppress(OSError):
                shutdown_note.write(self.folder, note)

    def reading(self) -> AbstractContextManager[None]:
        """Hold the tables still, after reading what other processes wrote; nested readings read no more."""
        return self.turns.reading()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer of this agent, whose store has followed as far as it can.

        Raises:
            StoreError: as for ``Turns.writing``.
        """
        with self.turns.writing():
            with suppress(StoreError):  # whatever it lacks is in the journal, which a copy of the files includes
                self.settle()
            yield

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """As ``writing``; within it the files are those of a closed agent, for copying; they are reopened afterwards.

        Raises:
            StoreError: as for ``Turns.writing``, or they cannot be opened again: it stays closed.
        """
        with self.writing():
            self._accesses.flush()
            self._let_go(self._keep_tables())
            self._closed = True
            try:
                yield
            finally:
                self._open()
                self._closed = False

    @contextmanager
    def _others_out(self) -> Iterator[None]:
        with self._file_lock.hold(), self._home.alone():
            yield

    def settle(self, most: int | None = None) -> bool:
        """Make the store follow completely, or by about ``most`` changes; return whether it then lacks nothing.

        Raises:
            StoreError: it cannot be written; the journal has it.
        """
        with self.turns.writing(), as_store_errors(f"The agent {self.folder.name!r}"):
            return self._behind.settle(self.journal, most)
