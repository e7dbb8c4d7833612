"""The journal: what every store is rebuilt from. Change sets, entries, vectors and accesses in one database.

Applying a change set is (1) commit it here, (2) upsert into the store, (3) delete from the store, (4) mark
it done. The commit is the moment of truth: before it nothing has happened, after it the change stands, and
opening the agent finishes what was cut off.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from .accesses import Noted
from .changes import ChangeSet, dump_entry, load_entry, short
from .entry import MemoryEntry, Tier
from .errors import ChangeSetNotFound, JournalDamaged, StaleChange
from .journal_bin import Bin, Forgotten
from .journal_connections import Connections
from .journal_evidence import Evidence
from .journal_notes import QueryLog, write_notes
from .journal_past import PastReader
from .journal_purge import purge, refuse_purged
from .journal_rows import head_of, slices
from .journal_tables import ACCESSES, CHANGE_SETS, CHANGES, ENTRIES, TEXTS, pour, upsert
from .journal_told import ALL, Applied, HistoryKinds, Sought, Teller
from .journal_vectors import KeptVectors, content_hash, keep
from .memory import Vectors
from .times import Clock

__all__ = ["Applied", "Journal", "content_hash"]


class Journal:
    """One agent's journal. Writers hold the agent's lock; readers need none.

    Args:
        place: the database's address, or an engine, as for ``journal_tables.connect``.
        clock: the real time.
        durability: what a commit survives, one of ``DURABILITY``.
    """

    def __init__(self, place: str | sa.Engine, clock: Clock, durability: str = "full") -> None:
        self._connections = Connections(place, durability)
        self._read, self._write = self._connections.read, self._connections.write
        self._clock = clock
        self.past = PastReader(self._read)
        self.told = Teller(self._read)
        self.bin = Bin(self._read)
        self.queries = QueryLog(self._read)
        self.kept = KeptVectors(self._read, self._write)
        self.evidence = Evidence(self._read)

    def close(self) -> None:
        """Let go of the file."""
        self._connections.close()

    # -- writing ---------------------------------------------------------------------------------------

    def commit(self, change_set: ChangeSet, vectors: Mapping[str, Vectors], embedder: str) -> ChangeSet:
        """Step 1: record the change set and make it the truth; answers it with its revision.

        A change set that was committed before is answered as it stands: it is applied once.

        Args:
            change_set: what to record.
            vectors: the vector, shape (d,), of each new text, by content hash.
            embedder: the identity of what made the vectors.

        Raises:
            StaleChange: an entry or text it touches is no longer as it was when this was planned.
        """
        with self._write() as db:
            known = db.scalar(sa.select(CHANGE_SETS.c.revision).where(CHANGE_SETS.c.id == change_set.id))
            if known is not None:
                return dataclasses.replace(change_set, revision=int(known))
            self._refuse_stale(db, change_set)
            inserted = db.execute(sa.insert(CHANGE_SETS).values(head_of(change_set, self._clock())))
            revision = int(inserted.inserted_primary_key[0])  # type: ignore[index]
            self._record(db, revision, change_set)
            keep(db, vectors, embedder)
        return dataclasses.replace(change_set, revision=revision)

    def _refuse_stale(self, db: sa.Connection, change_set: ChangeSet) -> None:
        held = self._bodies(db, [change.entry_id for change in change_set.changes])
        for change in change_set.changes:
            if held.get(change.entry_id) != dump_entry(change.before):
                document = (change.before or change.after).document  # type: ignore[union-attr]
                raise StaleChange(f"The memory “{document[:60]}” has changed since this was planned. Preview it again.")
        for text in change_set.texts:
            now = db.scalar(sa.select(TEXTS.c.body).where(TEXTS.c.name == text.name))
            if now != text.before:
                raise StaleChange(f"What is kept as {text.name} has changed since this was planned. Look at it again.")
        refuse_purged(db, change_set)
        for body in self._bodies(db, change_set.purges).values():
            raise StaleChange(f"“{short(_loaded(body).document)}” is remembered. Forget it first, then purge it.")

    def _record(self, db: sa.Connection, revision: int, change_set: ChangeSet) -> None:
        rows = [
            {
                "revision": revision,
                "position": position,
                "entry_id": change.entry_id,
                "before": dump_entry(change.before),
                "after": dump_entry(change.after),
                "reason": change.reason,
            }
            for position, change in enumerate(change_set.changes)
        ]
        if rows:
            db.execute(sa.insert(CHANGES), rows)
        if gone := [change.entry_id for change in change_set.changes if change.after is None]:
            for ids in slices(gone):
                db.execute(sa.delete(ENTRIES).where(ENTRIES.c.id.in_(ids)))
        held = [
            {
                "id": change.after.id,
                "tier": change.after.tier.value,
                "body": dump_entry(change.after),
                "hash": content_hash(change.after.document),
            }
            for change in change_set.changes
            if change.after is not None
        ]
        upsert(db, ENTRIES, held)
        for text in change_set.texts:
            if text.after is None:
                db.execute(sa.delete(TEXTS).where(TEXTS.c.name == text.name))
            else:
                upsert(db, TEXTS, [{"name": text.name, "body": text.after}])
        if change_set.purges:
            purge(db, revision, change_set.purges)

    def mark_done(self, revision: int) -> None:
        """Step 4: the store holds this change. Where the power fails before this is on the disk, it is done again."""
        self._connections.mark_done(revision)

    def compact(self) -> str | None:
        """Write the file or the tables anew, so that no byte is left in them of what was deleted.

        Returns:
            Why it is not done yet, in a sentence; ``None`` where it is.
        """
        return self._connections.compact()

    def copy_to(self, target: Journal) -> int:
        """Copy every row as of one moment into a new and empty journal; answers how many there are.

        Raises:
            StoreError: it cannot be read or written, or not all rows arrived. Nothing was copied.
        """
        with self._read() as source, target._write() as db:
            return pour(source, db)

    def touch(self, notes: Sequence[Noted]) -> int:
        """Record which memories were recalled and what was asked; answers the newest access number."""
        with self._write() as db:
            return write_notes(db, notes)

    # -- reading ---------------------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """The number of the newest change set; 0 when nothing has happened yet."""
        with self._read() as db:
            return int(db.scalar(sa.select(sa.func.max(CHANGE_SETS.c.revision))) or 0)

    def position(self) -> tuple[int, int]:
        """The newest revision and the newest access number, 0 where there is none: what a reader compares."""
        newest = (sa.func.max(CHANGE_SETS.c.revision), sa.func.max(ACCESSES.c.number))
        row = self._connections.poll(sa.select(*(sa.select(one).scalar_subquery() for one in newest)))
        return row[0] or 0, row[1] or 0

    def seen(self) -> int | None:
        """A number that changes when anything is committed to this file, by whomever; ``None`` if it cannot be told."""
        return self._connections.seen()

    def change_set_at(self, revision: int) -> str:
        """The id of the change set of a revision; empty if there is none."""
        with self._read() as db:
            return db.scalar(sa.select(CHANGE_SETS.c.id).where(CHANGE_SETS.c.revision == revision)) or ""

    def entries(self, tier: Tier) -> dict[str, tuple[MemoryEntry, str]]:
        """All entries of a tier as they should be now, with the content hash of their text, by id."""
        query = sa.select(ENTRIES.c.id, ENTRIES.c.body, ENTRIES.c.hash).where(ENTRIES.c.tier == tier.value)
        with self._read() as db:
            rows = db.execute(query).all()
        return {row.id: (_loaded(row.body), row.hash) for row in rows}

    def vectors(self, hashes: Iterable[str], embedder: str) -> dict[str, Vectors]:
        """The kept vectors, shape (d,), of these content hashes; those never embedded are left out."""
        return self.kept.of(hashes, embedder)

    def last_accesses(self, after: int = 0) -> tuple[dict[str, datetime], int]:
        """The latest access of each memory recalled since access number ``after``, and the newest number."""
        query = sa.select(ACCESSES.c.entry_id, sa.func.max(ACCESSES.c.at), sa.func.max(ACCESSES.c.number))
        with self._read() as db:
            rows = db.execute(query.where(ACCESSES.c.number > after).group_by(ACCESSES.c.entry_id)).all()
        # times are kept in UTC and in one form, so that the latest is the greatest text
        return {row[0]: datetime.fromisoformat(row[1]) for row in rows}, max((row[2] for row in rows), default=after)

    def last_access_of(self, ids: Sequence[str]) -> dict[str, datetime]:
        """The latest access of each of these memories; those never recalled are left out."""
        found: dict[str, datetime] = {}
        if not ids:
            return found
        query = sa.select(ACCESSES.c.entry_id, sa.func.max(ACCESSES.c.at)).group_by(ACCESSES.c.entry_id)
        with self._read() as db:
            for some in slices(ids):
                for row in db.execute(query.where(ACCESSES.c.entry_id.in_(some))):
                    found[row[0]] = datetime.fromisoformat(row[1])
        return found

    def text(self, name: str) -> str | None:
        """The text of this name (``personality``, ``settings``) as it should be now."""
        with self._read() as db:
            return db.scalar(sa.select(TEXTS.c.body).where(TEXTS.c.name == name))

    def texts(self) -> dict[str, str | None]:
        """All texts as they should be now, by name."""
        with self._read() as db:
            return {row.name: row.body for row in db.execute(sa.select(TEXTS))}

    def pending(self) -> list[ChangeSet]:
        """Change sets that were committed and not marked done, oldest first."""
        return [told.change_set for told in self.told.of(CHANGE_SETS.c.done.is_(False))]

    def since(self, revision: int) -> list[ChangeSet]:
        """Change sets after this revision, oldest first."""
        return [told.change_set for told in self.told.of(CHANGE_SETS.c.revision > revision)]

    def get(self, revision: int) -> Applied:
        """One change set.

        Raises:
            ChangeSetNotFound: the journal has no such revision.
        """
        told = self.told.of(CHANGE_SETS.c.revision == revision)
        if not told:
            raise ChangeSetNotFound(f"The history has no revision {revision}.")
        return told[0]

    def history(self, limit: int = 100, before: int | None = None, sought: Sought = ALL) -> list[Applied]:
        """The newest change sets first, at most ``limit`` of those looked for, and older than ``before`` only."""
        older = () if before is None else (CHANGE_SETS.c.revision < before,)
        return self.told.of(*sought.where(), *older, newest=limit)

    def kinds(self) -> HistoryKinds:
        """Who and what there is in the history."""
        return self.told.kinds()

    def forgotten(self, limit: int, offset: int, contains: str) -> list[Forgotten]:
        """Memories that are gone and not purged, the last forgotten first."""
        return self.bin.forgotten(limit, offset, contains)

    def count_forgotten(self, contains: str) -> int:
        """How many those are."""
        return self.bin.count(contains)

    def last_version(self, entry_id: str) -> MemoryEntry | None:
        """A memory as it last was, also one that has been forgotten; ``None`` if it never was."""
        with self._read() as db:
            row = db.execute(
                sa.select(CHANGES.c.before, CHANGES.c.after)
                .where(CHANGES.c.entry_id == entry_id)
                .order_by(CHANGES.c.revision.desc(), CHANGES.c.position.desc())
                .limit(1)
            ).first()
        return None if row is None else load_entry(row.after or row.before)

    def _bodies(self, db: sa.Connection, ids: Sequence[str]) -> dict[str, str]:
        held: dict[str, str] = {}
        for some in slices(ids):
            query = sa.select(ENTRIES.c.id, ENTRIES.c.body).where(ENTRIES.c.id.in_(some))
            held |= {row.id: row.body for row in db.execute(query)}
        return held


def _loaded(body: str) -> MemoryEntry:
    try:
        entry = load_entry(body)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JournalDamaged(f"The journal holds a memory that is none: {error!s:.100}.") from error
    assert entry is not None, "a held entry has a body"
    return entry
