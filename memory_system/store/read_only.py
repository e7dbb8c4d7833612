"""An agent whose journal is damaged, shown from its store; and a new journal begun from that.

And an agent on a read-only disk, shown from a copy of its journal.

The store was written after the journal, change by change, so it holds every memory as it last was, with its vector.
It does not hold the history, the settings, and the times of recalls: they are read from the journal, as far as that
is still possible.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np

from ..core import personality as personalities
from ..core.change_set import Change, ChangeSet, TextChange, dump_entry, so_many
from ..core.chroma_address import StorePlace
from ..core.entry import MemoryEntry, Tier
from ..core.files import sqlite_files, within
from ..core.memory import Vectors
from ..core.times import Clock, real_clock
from ..embedding.embedder import Embedder
from ..errors import InvalidPersonality, JournalDamaged, MemorySystemError, ReadOnly, StoreDamaged, StoreError
from . import ledger_checks as checks
from . import policy
from .chroma import files, rows
from .chroma.probe import probe
from .journal.journal import Journal, content_hash
from .journal.location import JOURNAL, POINTER, JournalHome, broken_pages
from .journal.moving import Journals
from .ledger import Ledger
from .projection import Stores
from .write_lock import WriteLock

RESCUE = "rescue"
"""The operation in the history for memories read back from the store."""


def open_ledger(
    folder: Path,
    personality: Path,
    embedder: Embedder,
    clock: Clock = real_clock,
    *,
    journals: Journals | None = None,
    chroma: StorePlace | None = None,
    take_over: bool = False,
) -> Ledger:
    """An agent's ledger; a read-only one if the journal is damaged but the store is whole.

    It is also read-only if the disk is and the journal, in a file, is whole.

    See ``Ledger`` for the arguments.

    Raises:
        StoreError: the files cannot be used.
    """
    journals = journals or Journals()
    opening = partial(Ledger, folder, personality, embedder, clock, journals, chroma, take_over=take_over)
    rescuing = partial(ReadOnlyLedger, folder, personality, embedder, clock, home=journals.of(folder), chroma=chroma)
    seen = _journal_files(folder)
    try:
        return opening()
    except JournalDamaged as damage:
        rescued = rescuing(damage)
    except StoreDamaged as error:
        if not _of_read_only_disk(error) or (folder / POINTER).exists() or not (folder / JOURNAL).is_file():
            raise
        return LookedAtLedger(folder, personality, embedder, clock, error, journals.of(folder), take_over=take_over)
    if rescued.as_found == seen:
        return rescued
    rescued.close()  # a journal was begun or put back meanwhile, so the damaged one is no longer there
    try:
        return opening()
    except JournalDamaged as damage:
        return rescuing(damage)


def _journal_files(folder: Path) -> dict[str, list[int]]:
    return files.stamp(folder / JOURNAL, folder / POINTER)


class ReadOnlyLedger(Ledger):
    """What the store of an agent holds, in a separate journal in a temporary folder. It refuses every change.

    Raises:
        JournalDamaged: the store cannot be read either, or holds nothing.
    """

    def __init__(
        self,
        folder: Path,
        personality: Path,
        embedder: Embedder,
        clock: Clock,
        damage: JournalDamaged,
        home: JournalHome,
        chroma: StorePlace | None = None,
    ) -> None:
        self._begin(folder, personality, embedder)  # and no more: a ledger opens its files, which are damaged
        self._clock = clock
        self._home = home
        self._chroma = chroma
        self._closed = False
        self._file_lock = WriteLock(folder)
        self._scratch = tempfile.TemporaryDirectory(prefix="memory-rescue-", ignore_cleanup_errors=True)
        try:
            with self._file_lock.hold():
                self.as_found = _journal_files(folder)
                """The journal's files when they were found damaged."""
                self._read_back(damage)
        except BaseException:
            self._scratch.cleanup()
            raise
        count = sum(len(table) for table in self.tables.values())
        why = f"{damage.sentence} {self._state_sentence} {_what_to_do(home)}"
        self.policy = policy.ReadOnly(why, folder.name)
        self.messages.append(
            f"{why} Until then nothing can be changed. {so_many(count)} can be recalled, looked at and exported, as "
            "the store holds them."
        )

    def _read_back(self, damage: JournalDamaged) -> None:
        stored = _stored(self._home, damage, self._chroma)
        scratch = Path(self._scratch.name) / JOURNAL
        self._state_sentence = "Its history and settings are still there."
        if not _readable(self._home, scratch, self._clock):
            self._state_sentence = "Its history and settings, and when memories were recalled, cannot be read."
        self._state_sentence = f"{self._state_sentence} {stored.told}".rstrip()
        self.journal = Journal(f"sqlite:///{scratch}", self._clock)
        try:
            for pending in self.journal.pending():
                self.journal.mark_done(pending.number)
            entries = {entry_id: row[0] for tier in Tier for entry_id, row in self.journal.entries(tier).items()}
            plan = _plan(
                entries, stored.entries, self._texts_on_disk(), self._clock(), self.folder.name, self.journal.revision
            )
            self.journal.commit(plan, stored.vectors, stored.made_with or self.embedder.identity)
            self.journal.mark_done(self.journal.revision)
            self._revision, self._access = self.journal.position()
            self._fill({})
        except BaseException:
            self.journal.close()
            raise

    def _texts_on_disk(self) -> Sequence[TextChange]:
        before = self.journal.text("personality")
        with suppress(InvalidPersonality):
            text = personalities.read(self.personality_path)
            if text is not None and text != before:
                personalities.parse(text)
                return (TextChange("personality", before, text),)
        return ()

    @property
    def stamp(self) -> tuple[int, int]:
        """Always the same, since nothing changes."""
        return self._revision, self._access

    @property
    def gone(self) -> bool:
        """Whether this was closed, or there is another journal by now, such as one that was put back."""
        return self._closed or _journal_files(self.folder) != self.as_found or not self.folder.exists()

    def _refuse_closed(self) -> None:
        if self.gone:
            raise StoreError(f"The agent {self.folder.name!r} was closed, or its journal was put back. Open it again.")

    at_rest = Ledger.writing  # the files it reads are elsewhere

    def close(self, *, asleep: bool = False) -> None:  # noqa: ARG002 - nothing waits
        """Close all files; closing twice does no harm."""
        if not self._closed:
            self._closed = True
            self.journal.close()
            self._scratch.cleanup()

    def begin_new_journal(self) -> Path | None:
        """Replace the damaged journal, which is set aside, by the one that was read back; and close.

        Returns:
            Where the damaged journal is now; ``None`` if there was none.
        """
        journal, aside = self.folder / JOURNAL, self.folder / f"journal-damaged-{time.time_ns()}.sqlite3"
        with self.writing():
            origin = self.journal.origin
            self.journal.close()
            fresh = journal.with_suffix(".part")
            shutil.copyfile(Path(self._scratch.name) / JOURNAL, fresh)
            was = journal.exists()
            for part in filter(Path.exists, sqlite_files(journal)):
                part.rename(aside.with_name(aside.name + part.name.removeprefix(journal.name)))
            if (named := self.folder / POINTER).exists():
                named.rename(aside.with_suffix(".json"))
                was = True
            self._home.leave_name()
            fresh.rename(journal)
            stores = Stores(self.folder / "chroma", self._chroma)
            try:
                stores.begin_again(self._revision, origin)
            finally:
                stores.close()
        self.close()
        return aside if was else None


class LookedAtLedger(ReadOnlyLedger):
    """An agent on a read-only disk, in a copy of its journal in a temporary folder. It refuses every change.

    Args:
        folder: the agent's folder.
        personality: the path of its personality file.
        embedder: what turns texts into vectors.
        clock: the real time.
        refused: why it could not be opened for writing.
        home: where its journal is.
        take_over: as for ``Ledger``; missing vectors are made in the copy.

    Raises:
        StoreDamaged: ``refused``, since the journal cannot be read either.
    """

    def __init__(
        self,
        folder: Path,
        personality: Path,
        embedder: Embedder,
        clock: Clock,
        refused: StoreDamaged,
        home: JournalHome,
        *,
        take_over: bool,
    ) -> None:
        self._begin(folder, personality, embedder)
        self._take_over, self._clock, self._home, self._closed = take_over, clock, home, False
        self._file_lock = WriteLock(folder)
        self._scratch = tempfile.TemporaryDirectory(prefix="memory-looked-at-", ignore_cleanup_errors=True)
        copy = Path(self._scratch.name) / JOURNAL
        try:
            self._as_copied = self._files()
            self._take_from(copy, refused)
        except BaseException:
            self._scratch.cleanup()
            raise
        why = f"{refused.sentence} Until then it can be recalled from, looked at and exported."
        self.policy = policy.ReadOnly(why, folder.name, damaged=False)
        self.messages.append(why)

    def _files(self) -> dict[str, list[int]]:
        log = self.folder / f"{JOURNAL}-wal"  # other programs' writes appear here first
        return files.stamp(self.folder / JOURNAL, self.folder / POINTER, log)

    @property
    def gone(self) -> bool:
        """Whether this was closed, or was changed by a machine that may write it."""
        return self._closed or self._files() != self._as_copied

    def _take_from(self, copy: Path, refused: StoreDamaged) -> None:
        if not _readable(self._home, copy, self._clock):
            raise refused
        self.journal = Journal(f"sqlite:///{copy}", self._clock)
        try:
            for pending in self.journal.pending():
                self.journal.mark_done(pending.number)
            self._revision, self._access = self.journal.position()
            self._made_by = checks.journalled_embedder(self.journal, self.embedder, {})
            self._fill({})
        except BaseException:
            self.journal.close()
            raise

    @property
    def other_embedder(self) -> str | None:
        """The identity of the embedder that made the vectors of an agent that is not taken over; else ``None``."""
        return None if self._take_over or self._made_by in ("", self.embedder.identity) else self._made_by

    def begin_new_journal(self) -> Path | None:
        """Refuse: the journal is whole, and nothing can be written.

        Raises:
            ReadOnly: always.
        """
        raise ReadOnly(self.policy.why or "")


def _of_read_only_disk(error: StoreDamaged) -> bool:
    return isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.EROFS


def _what_to_do(home: JournalHome) -> str:
    return f"{home.put_back}, or let “python -m memory_system doctor --repair” begin a new one."


@dataclass(frozen=True)
class _Stored:
    """What a store holds.

    Args:
        entries: the memories.
        vectors: their vectors by content hash, as far as there are any.
        made_with: the identity of what made those; ``None`` if it was not noted.
        told: in sentences, what was wrong with the index and what could not be read.
    """

    entries: list[MemoryEntry]
    vectors: dict[str, Vectors]
    made_with: str | None
    told: str = ""


def _stored(home: JournalHome, damage: JournalDamaged, server: StorePlace | None) -> _Stored:
    """What the store holds; if an index is damaged or lacks rows, the contents of Chroma's own database."""
    chroma, what_to_do = home.folder / "chroma", _what_to_do(home)
    with closing(Stores(chroma, server)) as stores:
        made_with = stores.made_with
        problem = None if server is not None else _problem(chroma)
        by_index = _by_index(stores) if problem is None else _Stored([], {}, None)
    found = replace(by_index, made_with=made_with)
    counts = {} if server is not None else rows.counts(chroma)
    if problem is not None or sum(counts.values()) > len(found.entries):
        try:
            found = _by_database(found, chroma, problem)
        except StoreDamaged as error:
            why = f"{problem}. {error.sentence}" if problem else error.sentence
            raise JournalDamaged(f"{damage.sentence} Its store cannot be read either: {why} {what_to_do}") from damage
    if not found.entries:
        raise JournalDamaged(f"{damage.sentence} Its store holds nothing either. {what_to_do}") from damage
    return found


def _by_index(stores: Stores) -> _Stored:
    entries: dict[str, MemoryEntry] = {}
    vectors: dict[str, Vectors] = {}
    for memory in stores.memories.values():  # the later tier last: a move writes there before it deletes here
        stored = memory.snapshot()
        for entry, vector in zip(stored.entries, stored.vectors, strict=True):
            entries[entry.id] = entry
            if np.any(vector):
                vectors[content_hash(entry.document)] = vector
    return _Stored(list(entries.values()), vectors, None)


def _by_database(by_index: _Stored, chroma: Path, problem: str | None) -> _Stored:
    """The rows of Chroma's database, with the vectors that can still be obtained.

    Raises:
        StoreDamaged: it cannot be read in full.
    """
    database_rows = rows.read(chroma)
    known = {entry.id for entry in by_index.entries}
    lacking = sum(entry.id not in known for entry in database_rows.entries)
    vectors = dict(by_index.vectors)
    for entry in database_rows.entries:
        if entry.id not in known and entry.id in database_rows.vectors and np.any(database_rows.vectors[entry.id]):
            vectors[content_hash(entry.document)] = database_rows.vectors[entry.id]
    entries = list({entry.id: entry for entry in (*by_index.entries, *database_rows.entries)}.values())
    without = sum(content_hash(entry.document) not in vectors for entry in entries)
    what = f"Chroma's index is damaged ({problem})" if problem else f"Chroma's index lacks {so_many(lacking)}"
    sentences = [f"{what}, so they were read from its database."]
    if without:
        sentences.append(f"The vectors of {so_many(without)} could not be read; they are made again from the texts.")
    if database_rows.unreadable:
        names = ", ".join(database_rows.unreadable[:3])
        sentences.append(f"{len(database_rows.unreadable)} rows could not be read ({names}).")
    return replace(by_index, entries=entries, vectors=vectors, told=" ".join(sentences))


def _problem(chroma: Path) -> str | None:
    """What is wrong with Chroma's files; ``None`` if they can be read."""
    if not (chroma / files.DATABASE).exists():
        return files.problem(chroma) or "chroma.sqlite3 is missing"
    return files.problem(chroma) or probe(chroma)


def _readable(home: JournalHome, copy: Path, clock: Clock) -> bool:
    """Copy a journal, if what can be read of it is consistent."""
    journal = home.folder / JOURNAL
    if not home.anchor.is_file() or not home.anchor.stat().st_size:
        return False
    try:
        home.copy_into(copy)
        for ending in ("", "-wal"):
            if (part := journal.with_name(journal.name + ending)).is_file():
                shutil.copyfile(part, copy.with_name(copy.name + ending))
        if broken_pages(copy) is None:
            with closing(Journal(f"sqlite:///{copy}", clock)) as opened:
                for tier in Tier:
                    opened.entries(tier)
                opened.history(1)
            return True
    except (OSError, MemorySystemError, ValueError, KeyError, TypeError):
        pass
    for file in within(copy.parent, f"{copy.name}*"):
        file.unlink()
    return False


def _plan(
    old_entries: dict[str, MemoryEntry],
    stored: Sequence[MemoryEntry],
    texts: Sequence[TextChange],
    now: datetime,
    agent: str,
    revision: int,
) -> ChangeSet:
    """The change set that makes a journal say what the store holds."""
    reason = "read back from the store, since the journal is damaged"
    entries = {entry.id: entry for entry in stored}
    changes = [
        Change(old_entries.get(entry_id), entry, reason)
        for entry_id, entry in entries.items()
        if dump_entry(old_entries.get(entry_id)) != dump_entry(entry)
    ]
    changes += [Change(entry, None, reason) for entry_id, entry in old_entries.items() if entry_id not in entries]
    title = f"Read {so_many(len(entries))} back from the store"
    return ChangeSet(RESCUE, title, tuple(changes), now, revision, author="repair", texts=tuple(texts), agent=agent)
