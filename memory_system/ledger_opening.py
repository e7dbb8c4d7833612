"""LedgerOpening: what is done when an agent is opened, so that what it shows is true and what is broken is rebuilt."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from . import chroma_files, closing_note
from .changes import ChangeSet
from .closing_note import Note
from .embedding import Embedder
from .entry import MemoryEntry, Tier
from .errors import StoreDamaged, StoreError
from .journal import Journal, content_hash
from .journal_check import refuse_damaged, refuse_older
from .kept_tables import KeptTables
from .ledger_tables import LedgerTables
from .memory import Vectors
from .probe import probe
from .stores import Stores
from .table_file import Place
from .times import Clock

JOURNAL = "journal.sqlite3"
_AT_ONCE = 1000
"""Memories that are written to a new store together."""
EMBEDDED_AT_ONCE = 500
"""Texts without a vector that opening embeds by itself; more wait for ``reembed``."""


class LedgerOpening(LedgerTables):
    """Opens journal, store and kept tables, sees that they agree, and lets go of them again.

    Whoever calls holds the agent's lock.
    """

    def __init__(
        self, folder: Path, personality: Path, embedder: Embedder, clock: Clock, durability: str = "full"
    ) -> None:
        super().__init__(folder, personality, embedder)
        self._clock = clock
        self._durability = durability
        self._kept = KeptTables(folder)
        self._stores: Stores
        self._note: Note | None = None
        self._altered: list[str] = []

    # -- what Ledger does ------------------------------------------------------------------------------

    def _write_personality(self, change_set: ChangeSet) -> None:
        """Write the personality file, if a change set says so."""
        raise NotImplementedError

    # -- opening ---------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Open everything.

        Raises:
            JournalDamaged: the journal cannot be relied on. Nothing was changed.
            StoreError: the files cannot be used.
        """
        path = self.folder / JOURNAL
        self._note = closing_note.read(self.folder)
        as_left = self._note is not None and self._note.as_left(self.folder)
        self._altered = self._note.altered(self.folder) if self._note is not None else []
        self._stores = Stores(self.folder / "chroma")
        try:
            refuse_damaged(path, self._stores.claimed, thoroughly=not as_left)
            made = not path.exists() or not path.stat().st_size
            self._open_journal(path, made)
            try:
                self._load(as_left=as_left)
            except BaseException:
                self.journal.close()
                if made and not self._revision:
                    path.unlink(missing_ok=True)
                raise
        except BaseException:
            self._stores.close()
            raise
        closing_note.opened(self.folder)

    def _open_journal(self, path: Path, made: bool) -> None:
        try:
            self.journal = Journal(f"sqlite:///{path}", self._clock, self._durability)
        except BaseException:
            if made:
                path.unlink(missing_ok=True)
            raise

    def _load(self, *, as_left: bool) -> None:
        """Finish what was cut off, fill the tables, and see that stores and journal agree."""
        self._revision, self._access = self.journal.position()
        refuse_older(self.folder.name, self._revision, self._stores.claimed)
        self._stores.claim(self._revision)
        cut_off = self.journal.pending()
        for change_set in cut_off:
            self._write_personality(change_set)
        kept = self._kept.open(self._place(), self.journal.change_set_at)
        self.tables |= kept
        self._fill([tier for tier in Tier if tier not in kept])
        if kept:  # what came after they were kept; for the tables just filled this changes nothing
            self._revision, self._access = self._kept.shown()
            self._catch_up()
        self._stores.embedder = self._stored_embedder()
        self._change_over()
        if not (as_left and not cut_off and self._as_noted()):
            self._reconcile(cut_off)
        self._say_what_waits()
        erased = self._erase() if any(change_set.purges for change_set in cut_off) else True
        for change_set in cut_off:
            assert change_set.revision is not None, "the journal tells only what it has numbered"
            if erased or not change_set.purges:
                self.journal.mark_done(change_set.revision)

    def _place(self) -> Place:
        newest = self.journal.change_set_at(self._revision)
        return Place(self._revision, newest, self._access, self.embedder.identity)

    def _fill(self, tiers: Iterable[Tier]) -> None:
        """Fill tables from the journal; a few texts without a vector are embedded, more are left for later."""
        held = {tier: self.journal.entries(tier) for tier in tiers}
        rows = [row for of_tier in held.values() for row in of_tier.values()]
        vectors = self.journal.vectors({key for _, key in rows}, self.embedder.identity)
        missing = {key: entry.document for entry, key in rows if key not in vectors}
        if 0 < len(missing) <= EMBEDDED_AT_ONCE:
            fresh = dict(zip(missing, self.embedder.embed(list(missing.values())), strict=True))
            self.journal.kept.keep(fresh, self.embedder.identity)
            vectors |= fresh
            self.messages.append(f"{len(fresh)} memories had no vector of {self.embedder.identity}; they have it now.")
        for tier, of_tier in held.items():
            accesses = self.journal.last_access_of(list(of_tier))
            for entry, key in of_tier.values():
                last = accesses.get(entry.id)
                self.tables[tier].put(entry if last is None else entry.evolve(last_access=last), vectors.get(key))

    # -- the store -------------------------------------------------------------------------------------

    def _as_noted(self) -> bool:
        """Whether the store holds as many entries as the tables, and was closed at the same revision."""
        note, wanted = self._note, self._counts()
        if note is None or (note.revision, dict(note.counts)) != (self._revision, wanted):
            return False
        with suppress(StoreDamaged):  # which the comparison row by row will tell
            return self._stores.counts() == wanted and not self._stores.distances()
        return False

    def _counts(self) -> dict[str, int]:
        return {tier.value: len(table) for tier, table in self.tables.items()}

    def _problem(self) -> str | None:
        """What is wrong with Chroma's files, asked in another process if they could be half written or damaged."""
        folder = self._stores.folder
        problem = chroma_files.problem(folder)
        if problem is not None or not (folder / "chroma.sqlite3").exists():
            return problem
        if self._note is None or not self._note.files:
            return probe(folder)
        changed = [Path(name) for name in self._altered if name.startswith("chroma/")]
        if not self._note.clean:  # SQLite mends its own file after a kill
            changed = [path for path in changed if len(path.parts) > 2]
        return probe(folder) if changed else None

    def _reconcile(self, cut_off: Sequence[ChangeSet]) -> None:
        entries = [entry for table in self.tables.values() for entry in table.entries]
        said = self._stores.reconcile(
            entries,
            self._wanted_in_store(entries),
            revision=self.journal.revision,
            finished=len(cut_off),
            problem=self._problem(),
        )
        self.messages += said
        self._say_what_was_changed(said)

    def _say_what_was_changed(self, said: Sequence[str]) -> None:
        """Tell of index files that something else changed: when Chroma writes them, its database changes too."""
        note, changed = self._note, [name for name in self._altered if name.startswith("chroma/")]
        if said or note is None or not note.clean or note.revision != self._revision:
            return
        if changed and "chroma/chroma.sqlite3" not in changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            self.messages.append(f"{changed[0]}{more} was changed since the agent was closed; what it holds is right.")

    def _stored_embedder(self) -> str:
        """The identity of what made the vectors in the store: noted there, or what most in the journal are of."""
        noted = self._stores.made_with
        if noted is not None:
            return noted
        if not self.without_vector():
            return self.embedder.identity
        return next(iter(self.journal.kept.embedders()), self.embedder.identity)

    def _change_over(self) -> None:
        """Give a small store the vectors of the embedder in use, when there are vectors of it for all."""
        few = sum(self._counts().values()) <= EMBEDDED_AT_ONCE
        if self._stores.embedder != self.embedder.identity and few and not self.without_vector():
            aside = self._stores.set_aside("replaced", self.embedder.identity)
            shutil.rmtree(aside, ignore_errors=True)  # the journal keeps the vectors that it held
            self._note = None

    def _wanted_in_store(self, entries: Sequence[MemoryEntry]) -> dict[str, Vectors]:
        """The vectors that the store should hold of these entries, by content hash."""
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
        """The vectors of a change set as the store keeps them, which may still hold those of another embedder."""
        if self._stores.embedder == self.embedder.identity:
            return vectors
        after = [change.after for change in applied.changes if change.after]
        return self.journal.vectors([content_hash(entry.document) for entry in after], self._stores.embedder)

    def _say_what_waits(self) -> None:
        """Tell of vectors and distances that are not what is in use, and what to do."""
        waiting, other = len(self.without_vector()), self._stores.embedder
        held = sum(self._counts().values())
        if other != self.embedder.identity or waiting:
            without = f"{waiting:,} of {held:,} memories have no vector of it and are not found by meaning"
            self.messages.append(
                f"The vectors of {self.folder.name!r} were made with {other}, and {self.embedder.identity} is in use: "
                f"{without if waiting else 'Chroma still holds the old ones'}. "
                "agent.reembed() makes them anew; it can be stopped and goes on where it was."
            )
        for tier, distance in self._stores.distances().items():
            self.messages.append(
                f"The store of {tier.upper()} ranks by the distance {distance!r} instead of 'l2'. Recall does not rest "
                "on it; agent.reembed() makes the store anew."
            )

    def _store_anew(self, why: str, embedder: str, progress: Callable[[float], None]) -> Path:
        """Write a new store in the place of the old one; answers where that lies now."""
        aside = self._stores.set_aside(why, embedder)
        self._stores.claim(self._revision)
        entries = [entry for table in self.tables.values() for entry in table.entries]
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            self._stores.upsert(some, self._wanted_in_store(some))
            progress((start + len(some)) / len(entries))
        return aside

    def _erase(self) -> bool:
        """See that no byte is left of what has been purged; can be repeated. Answers whether that is done.

        What cannot be done yet is told, and tried again with the next change or opening.
        """
        problem = self.journal.compact()
        if problem is None:
            try:
                self._kept.drop()
                self._store_anew("purged", self._stores.embedder, lambda _share: None)
                self._stores.wipe_spare()
                for aside in self.folder.glob(f"{self._stores.folder.name}-purged-*"):
                    shutil.rmtree(aside)
            except OSError as error:
                problem = f"{error.filename or self.folder} cannot be written: {error.strerror or error}."
        if problem is not None:
            self.messages.append(f"What was purged is gone from the history, and may still lie in its files. {problem}")
        return problem is None

    # -- closing ---------------------------------------------------------------------------------------

    def _keep_tables(self) -> Note | None:
        """Write the tables; answers the note to leave when all files are let go of."""
        try:
            self._catch_up()
            self._kept.keep(self.tables, self._place())
            return Note(self._revision, self._stores.counts(), self.embedder.identity)
        except (OSError, StoreError):  # they are derived: opening will see to what is missing
            return None

    def _let_go(self, note: Note | None) -> None:
        self._stores.close()
        self.journal.close()
        if note is not None:
            with suppress(OSError):
                closing_note.write(self.folder, note)
