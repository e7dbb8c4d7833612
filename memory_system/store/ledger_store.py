"""LedgerStore: the store of an agent, seen to agree with its journal, and written anew where it does not."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..core.change_set import ChangeSet
from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.memory import Vectors
from ..embedding.embedder import Embedder
from ..errors import StoreDamaged, StoreUnavailable
from ..recall.kept_tables import KeptTables
from .chroma import files
from .chroma.probe import probe
from .expected_rows import Wanted, of_entries, of_table
from .journal.journal import content_hash
from .ledger_tables import LedgerTables
from .projection import AT_ONCE, Stores
from .shutdown_note import Note

EMBEDDED_AT_ONCE = 500
"""Texts without a vector that opening embeds by itself; more wait for ``reembed``."""


class LedgerStore(LedgerTables):
    """What the ledger does with its store. Whoever calls holds the agent's lock."""

    _stores: Stores
    _kept: KeptTables

    def __init__(self, folder: Path, personality: Path, embedder: Embedder) -> None:
        super().__init__(folder, personality, embedder)
        self._note: Note | None = None
        self._altered: list[str] = []
        self._store_seen = False

    # -- what Ledger does ------------------------------------------------------------------------------

    def _write_personality(self, change_set: ChangeSet) -> None:
        """Write the personality file, if a change set says so."""
        raise NotImplementedError

    # -- seen and repaired -----------------------------------------------------------------------------

    def _see_store(self, cut_off: Sequence[ChangeSet], *, as_left: bool) -> None:
        """See that the store holds what the journal says, and finish what was cut off.

        Raises:
            ForeignStore: it is another agent's.
            StoreUnavailable: its server cannot be reached; this can be done later.
            StoreError: it cannot be used.
        """
        self._stores.refuse_others(self._origin())
        self._stores.embedder = self._stored_embedder()
        self._change_over()
        if not (as_left and not cut_off and self._as_noted()):
            self._reconcile(cut_off)
        self._stores.own(self._origin)
        self._say_what_waits()
        erased = self._erase() if any(change_set.purges for change_set in cut_off) else True
        for change_set in cut_off:
            assert change_set.revision is not None, "the journal tells only what it has numbered"
            if erased or not change_set.purges:
                self.journal.mark_done(change_set.revision)
        self._store_seen = True

    def _store_at_hand(self) -> None:
        """See that the store can be written, and has been seen, before something is committed.

        Raises:
            StoreUnavailable: its server does not answer. Nothing was changed.
        """
        try:
            self._stores.refuse_unreachable()
            if not self._store_seen:
                self._see_store(self.journal.pending(), as_left=False)
        except StoreUnavailable as error:
            raise StoreUnavailable(f"{error.sentence} Nothing was changed.") from error

    def _origin(self) -> str:
        """What only an agent and its copies have in common; empty before the first change."""
        return self.journal.change_set_at(1)

    def _state(self) -> str:
        return f"{self._revision} {self.journal.change_set_at(self._revision)}"

    def _leave_store(self) -> None:
        """Note in a server's collections how they are let go of."""
        if self._store_seen:
            self._stores.leave(self._state())

    def _as_noted(self) -> bool:
        """Whether the store holds as many entries as the tables, and was closed at the same revision."""
        note, wanted = self._note, self._counts()
        if note is None or (note.revision, dict(note.counts)) != (self._revision, wanted):
            return False
        with suppress(StoreDamaged):  # which the comparison row by row will tell
            alike = self._stores.left_at(self._state()) and self._stores.counts() == wanted
            return alike and not self._stores.distances()
        return False

    def _counts(self) -> dict[str, int]:
        return {tier.value: len(table) for tier, table in self.tables.items() if tier in LIVED or len(table)}

    def _problem(self) -> str | None:
        """What is wrong with Chroma's files, asked in another process if they could be half written or damaged.

        A server looks after its own.
        """
        if self._stores.server is not None:
            return None
        folder = self._stores.folder
        problem = files.problem(folder)
        if problem is not None or not (folder / "chroma.sqlite3").exists():
            return problem
        if self._note is None or not self._note.files:
            return probe(folder)
        changed = [Path(name) for name in self._altered if name.startswith("chroma/")]
        if not self._note.clean:  # SQLite mends its own file after a kill
            changed = [path for path in changed if len(path.parts) > 2]
        return probe(folder) if changed else None

    def _reconcile(self, cut_off: Sequence[ChangeSet]) -> None:
        said = self._stores.reconcile(
            self._wanted(),
            self._wanted_in_store,
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

    def _wanted(self) -> dict[Tier, Wanted]:
        """What the store of each tier should hold."""
        if self._stores.embedder == self.embedder.identity:
            return {tier: of_table(table) for tier, table in self.tables.items()}
        held = {tier: list(table.entries) for tier, table in self.tables.items()}
        return {tier: of_entries(entries, self._wanted_in_store(entries)) for tier, entries in held.items()}

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
        for start in range(0, len(entries), AT_ONCE):
            some = entries[start : start + AT_ONCE]
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
                if self._stores.server is not None:
                    self.messages.append(
                        f"What was purged is gone from the history, and from the Chroma server at {self._stores.where}."
                        " Its files are its own: “chroma vacuum --path” with their folder takes the last bytes."
                    )
            except OSError as error:
                problem = f"{error.filename or self.folder} cannot be written: {error.strerror or error}."
        if problem is not None:
            self.messages.append(f"What was purged is gone from the history, and may still lie in its files. {problem}")
        return problem is None
