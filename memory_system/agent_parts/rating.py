"""Rating: rating unrated memories, and what the agent's calls of language models used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from filelock import FileLock, Timeout

from ..core.change_set import ChangeSet
from ..core.entry import DECAYING, MemoryEntry, MemoryId, MemoryIds
from ..core.files import as_store_errors
from ..core.scoring import whole
from ..core.settings import RatedBy
from ..errors import Conflict, ModelError, StaleChange
from ..llm.offline.model import OfflineModel
from ..llm.usage import Spent
from ..operations import edit
from ..operations.context import Progress, by_age, no_progress, refuse_uncallable, within
from ..operations.rating import STOPPED, rated_later
from .context import Context, Part
from .retrieval import ground

LOCK = ".rating.lock"
"""A lock in the world's folder: only one job at a time rates its unrated memories."""
_PIECES = 4
"""How many rounds of calls make a change set: the ratings are stored that often."""


@dataclass(frozen=True)
class Rerated:
    """The result of rating unrated memories.

    Args:
        rated: ids that have a rating now.
        failed: ids that the model was asked about, but gave no rating for.
        left: how many are still unrated, including those.
        stopped: why it ended before all were asked about, in a sentence; empty if it did not.
        problem: the error of the model that ended it.
    """

    rated: tuple[str, ...]
    failed: tuple[str, ...]
    left: int
    stopped: str = ""
    problem: ModelError | None = None


def arriving(context: Context, entries: Sequence[MemoryEntry], wait: bool | None) -> tuple[Sequence[MemoryEntry], bool]:
    """Arriving events: as they are if they wait for the model, or marked for rating later; and which it is.

    Args:
        context: whose events they are.
        entries: the events.
        wait: whether they wait; according to the agent's ``rated_by`` if ``None``.
    """
    by = context.settings.rated_by
    waits = by is RatedBy.MODEL if wait is None else wait
    if waits or (by is not RatedBy.NOBODY and context.bare_model.name == OfflineModel.name):
        return entries, True
    rules = None if by is RatedBy.NOBODY else OfflineModel(context.embedder)
    return [rated_later(entry, rules) for entry in entries], False


class Rating(Part):
    """Ratings, and what they cost."""

    def rate_again(self, ids: MemoryIds, *, preview: bool = False, progress: Progress = no_progress) -> ChangeSet:
        """Rate memories, or those of these ids, (again); those that the model cannot rate stay as they are."""
        return self.context.done(edit.rate_again(ground(self.context, None, progress), self.context.find, ids), preview)

    @property
    def spent(self) -> tuple[Spent, ...]:
        """What its calls of language models used so far, by model and task; the offline rules use nothing.

        Raises:
            StoreError: the count cannot be read.
        """
        self.context.present()
        return self.context.account.spent() if self.context.account is not None else ()

    def unrated(self) -> list[MemoryEntry]:
        """The memories of STM and LTM without a rating, the oldest first; touches nothing."""
        self.context.refresh()
        with self.context.ledger.reading():
            tables = [self.context.ledger.tables[tier] for tier in DECAYING]
            found = [table.entries[row] for table in tables for row in table.rows_without_rating()]
        return sorted((entry for entry in found if not entry.protected), key=by_age)

    def _waiting(self, *, only_wanted: bool) -> list[MemoryEntry]:
        """The memories of STM and LTM that are to be rated, or have no rating, the oldest first."""
        self.context.refresh()
        found: list[MemoryEntry] = []
        with self.context.ledger.reading():
            for table in (self.context.ledger.tables[tier] for tier in DECAYING):
                rows = {table.row(entry_id) for entry_id in table.to_rate}
                rows |= set() if only_wanted else set(table.rows_without_rating())
                found += [table.entries[row] for row in rows if row is not None]
        return sorted(found, key=by_age)

    def rate_unrated(
        self,
        *,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
        only_wanted: bool = False,
        but: MemoryIds | Set[MemoryId] = (),
        most: int | None = None,
    ) -> Rerated:
        """Rate the memories without a rating, several at a time, stored in pieces.

        If it is stopped or killed, or the model fails, the next call goes on from there.

        Args:
            progress: called with the share done, 0 to 1, and what is being done.
            cancelled: called now and then, to ask whether to stop.
            only_wanted: whether to leave alone those that were added with ``rate=False``.
            but: memories to leave alone, or their ids.
            most: how many to ask about, the oldest first, 1 to 1,000,000; all if not given.

        Raises:
            InvalidParameter: ``most`` is out of its range, or ``but`` has a value that is not an id.
            Conflict: unrated memories of this world are being rated already, here or by another program.
            ReadOnly: the agent can only be read.
            StoreError: files cannot be written; the pieces before stay.
        """
        refuse_uncallable(progress=progress, cancelled=cancelled)
        limit = 10**6 if most is None else whole("most", most, 1, 10**6)
        ids: Any = list(but) if isinstance(but, Set) else but
        left_alone = set(edit.ids_of(ids, "'but'"))
        with self._alone_at_it():
            return self._rate_unrated(progress, cancelled, only_wanted=only_wanted, but=left_alone, most=limit)

    def _rate_unrated(
        self, progress: Progress, cancelled: Callable[[], bool], *, only_wanted: bool, but: set[str], most: int
    ) -> Rerated:
        def waiting() -> list[MemoryEntry]:
            found = self._waiting(only_wanted=only_wanted)
            return [entry for entry in found if entry.id not in but and not entry.protected]

        rated: list[str] = []
        failed: list[str] = []
        stopped, problem = "", None
        asked_about = 0
        count = min(most, len(waiting()))
        while not stopped and (some := waiting()[: min(_PIECES * self.context.at_once, most - asked_about)]):
            if cancelled():
                stopped = STOPPED
                break
            begun, share = min(1.0, asked_about / count), len(some) / count
            asked_about += len(some)
            on = ground(self.context, None, within(progress, begun, begun + share))
            plan, asked = edit.rate_entries(on, some, cancelled)
            refused = {entry.id for entry in some if entry.document in asked.refused or entry.protected}
            kept = tuple(
                memory for memory in plan.kept if memory.entry_id in refused
            )  # the others wait, and are asked about
            stored = self._store(replace(plan, kept=kept))
            rated += stored
            failed += [entry.id for entry in some if entry.document in asked.failed]
            but |= {entry.id for entry in some} if not asked.stopped else set()
            stopped, problem = asked.stopped, asked.problem
        return Rerated(tuple(rated), tuple(failed), len(self.unrated()), stopped, problem)

    def _store(self, plan: ChangeSet) -> list[str]:
        """Apply it; what somebody else has changed meanwhile is left to them."""
        try:
            return [change.entry_id for change in self.context.apply(plan).changes]
        except StaleChange:
            fresh = {
                change.entry_id for change in plan.changes if self.context.ledger.find(change.entry_id) == change.before
            }
            again = plan.without({change.entry_id for change in plan.changes} - fresh)
            return [change.entry_id for change in self.context.apply(again).changes]

    @contextmanager
    def _alone_at_it(self) -> Iterator[None]:
        lock = FileLock(self.context.writer().folder.parent / LOCK, thread_local=False)
        with as_store_errors("The world's folder"):
            try:
                lock.acquire(timeout=0)
            except Timeout as error:
                raise Conflict(
                    "Unrated memories of this world are being rated already, here or by another program. Wait until it "
                    "is done, or stop it."
                ) from error
        try:
            yield
        finally:
            lock.release()
