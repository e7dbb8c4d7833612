"""LedgerOpening: what is done when an agent is opened, so that what it shows is true and what is broken is rebuilt."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..core.chroma_address import ChromaAddress
from ..core.entry import Tier
from ..core.times import Clock
from ..embedding.embedder import Embedder
from ..errors import StoreError, StoreUnavailable
from ..recall.kept_tables import KeptTables, Place
from . import shutdown_note
from .journal.location import refuse_older
from .journal.moving import Journals
from .ledger_store import EMBEDDED_AT_ONCE, LedgerStore
from .projection import Stores
from .shutdown_note import Note


class LedgerOpening(LedgerStore):
    """Opens journal, store and kept tables, sees that they agree, and lets go of them again.

    Whoever calls holds the agent's lock.
    """

    def __init__(
        self,
        folder: Path,
        personality: Path,
        embedder: Embedder,
        clock: Clock,
        journals: Journals,
        chroma: ChromaAddress | None = None,
    ) -> None:
        super().__init__(folder, personality, embedder)
        self._clock = clock
        self._home = journals.of(folder)
        self._kept = KeptTables(folder)
        self._chroma = chroma

    # -- opening ---------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Open everything.

        Raises:
            JournalDamaged: the journal cannot be relied on. Nothing was changed.
            StoreError: the files cannot be used.
        """
        self._note = shutdown_note.read(self.folder)
        self._altered = self._note.altered(self.folder) if self._note is not None else []
        self._stores = Stores(self.folder / "chroma", self._chroma)
        as_left = self._note is not None and self._note.as_left(self.folder, self._stores.where)
        try:
            self._home.prepare(self._stores.claimed, thoroughly=not as_left)
            with self._home.alone():
                self.journal = self._home.open(self._clock)
                self._load_or_leave(as_left=as_left)
        except BaseException:
            self._stores.close()
            raise
        shutdown_note.opened(self.folder)

    def _load_or_leave(self, *, as_left: bool) -> None:
        try:
            self._load(as_left=as_left)
        except BaseException:
            self.journal.close()
            if not self._revision:
                self._home.abandon()
            raise

    def _load(self, *, as_left: bool) -> None:
        """Finish what was cut off, fill the tables, and see that stores and journal agree."""
        self._revision, self._access = self.journal.position()
        refuse_older(self.folder.name, self._revision, self._stores.claimed)
        behind = self._store_is_behind()
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
        try:
            self._see_store(cut_off, as_left=as_left and not behind)
        except StoreUnavailable as error:  # the journal is the truth, and nothing that is asked rests on the store
            self._stores.embedder = self.embedder.identity
            self.messages.append(
                f"{error.sentence} Until it answers, {self.folder.name!r} is shown as its journal tells, and cannot be "
                "changed; the store takes in what it lacks with the next change."
            )

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

    def _store_is_behind(self) -> bool:
        """Whether another machine, which has a store of its own, has written to the same journal since."""
        return self._home.shared and self._stores.claimed < self._revision

    # -- closing ---------------------------------------------------------------------------------------

    def _keep_tables(self) -> Note | None:
        """Write the tables; answers the note to leave when all files are let go of."""
        try:
            self._catch_up()
            self._kept.keep(self.tables, self._place())
            self._leave_store()
            return Note(self._revision, self._stores.counts(), self.embedder.identity, store=self._stores.where)
        except (OSError, StoreError):  # they are derived: opening will see to what is missing
            return None

    def _let_go(self, note: Note | None) -> None:
        self._stores.close()
        self.journal.close()
        if note is not None:
            with suppress(OSError):
                self._stores.wipe_spare()  # Chroma has written more room, with what this process held in memory
            with suppress(OSError):
                shutdown_note.write(self.folder, note)
