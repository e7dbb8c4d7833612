"""AgentForesight: what would have to change for a memory to be recalled, and when those that are will be forgotten.

AgentChronicle: what the history of an agent tells, and what is in its bin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from ..core.scoring import whole
from ..errors import EntryNotFound, InvalidParameter, shown
from ..recall.forecast import YEAR, Asker, Forecast, forecasts
from ..recall.query import Query
from ..recall.rank import Recall
from ..recall.why import Way, ways
from ..store.journal.history import Applied, HistoryKinds, Sought
from ..store.journal.trash import Forgotten
from .view import AgentView


class AgentChronicle(AgentView):
    """The part that tells what has happened."""

    def history(
        self,
        limit: int = 100,
        before: int | None = None,
        *,
        contains: str = "",
        author: str = "",
        operation: str = "",
        entry_id: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Applied]:
        """Applied change sets, the newest first.

        Args:
            limit: how many at most, 1 to 10,000.
            before: only those older than this revision: the last of a page, to turn to the next.
            contains: words in the title, the reason, the author or a memory's text before or after, in any case.
            author: exactly this one; ``history_kinds`` tells which there are.
            operation: exactly this kind, such as ``migrate``.
            entry_id: only those that changed this memory.
            since: applied at this real time or later.
            until: applied before this real time.

        Raises:
            InvalidParameter: a value is out of its range.
        """
        older = None if before is None else whole("before", before, 0, 2**62)
        sought = Sought(contains, author, operation, entry_id, since, until)
        with self._ledger.reading():
            return self._ledger.journal.history(whole("limit", limit, 1, 10_000), older, sought)

    def change(self, revision: int) -> Applied:
        """One applied change set.

        Raises:
            ChangeSetNotFound: the history has no such revision.
        """
        number = whole("The revision", revision, 1, 2**62)
        with self._ledger.reading():
            return self._ledger.journal.get(number)

    def history_kinds(self) -> HistoryKinds:
        """Who is behind the changes of the history, and of what kinds they are, each with how many."""
        with self._ledger.reading():
            return self._ledger.journal.kinds()

    def forgotten(self, limit: int = 100, contains: str = "", *, offset: int = 0) -> list[Forgotten]:
        """The bin: memories that are gone and can be restored, the last forgotten first.

        Args:
            limit: how many at most, 1 to 10,000.
            contains: words in their text, in any case; all if none are given.
            offset: how many to pass over, to turn a page.

        Raises:
            InvalidParameter: a value is out of its range.
        """
        words = Sought(contains).contains
        most, start = whole("limit", limit, 1, 10_000), whole("offset", offset, 0, 2**62)
        with self._ledger.reading():
            return self._ledger.journal.forgotten(most, start, words)

    def count_forgotten(self, contains: str = "") -> int:
        """How many memories are in the bin, of those with these words."""
        words = Sought(contains).contains
        with self._ledger.reading():
            return self._ledger.journal.count_forgotten(words)


Asked = str | Query | Recall
"""A cue, asked now with the agent's settings; a query that is complete; or an answer, whose query is asked again."""


class AgentForesight(AgentChronicle):
    """The foreseeing half of reading. Each answer comes of one state of the memory; nothing is touched."""

    def ways(self, asked: Asked, entry_id: str) -> tuple[Way, ...]:
        """The smallest single changes that would recall a memory, the smallest first, each verified by running it.

        None if it is recalled as it is, or if no single change is enough.

        Raises:
            EntryNotFound: there is no such memory.
        """
        query = self._meant(asked)
        with self._asking([query.cue]) as asker:
            return ways(asker, query, entry_id)

    def forecast(self, asked: Asked, horizon: timedelta = YEAR) -> tuple[Forecast, ...]:
        """When each memory that is recalled falls out of the answer, if nothing is added and nothing is accessed.

        Args:
            asked: what is asked, at the time from which on is looked ahead.
            horizon: how far, a minute to 36,525 days.

        Raises:
            InvalidParameter: the horizon is no such span of time.
        """
        query = self._meant(asked)
        with self._asking([query.cue]) as asker:
            return forecasts(asker, query, horizon)

    def forecast_of(
        self, entry_id: str, cues: Sequence[Asked], horizon: timedelta = YEAR
    ) -> tuple[tuple[Query, Forecast], ...]:
        """For each cue in whose answer a memory is, when it falls out of it, in the order of the cues.

        Raises:
            EntryNotFound: there is no such memory.
            InvalidParameter: the horizon is no such span of time.
        """
        if isinstance(cues, str | Query | Recall):
            cues = (cues,)
        if not isinstance(cues, Sequence):
            raise InvalidParameter(f"'cues' must be a list of cues or queries, not {shown(cues)}.")
        queries = [self._meant(asked) for asked in cues]
        with self._asking([query.cue for query in queries]) as asker:
            if self._ledger.find(entry_id) is None:
                raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
            return tuple(
                (query, found) for query in queries for found in forecasts(asker, query, horizon, only=[entry_id])
            )

    @contextmanager
    def _asking(self, cues: Sequence[str]) -> Iterator[Asker]:
        """Asks about these cues while the tables are held still."""
        self._refresh()
        vectors = dict(zip(cues, self._embedder.embed(cues), strict=True)) if cues else {}
        with self._ledger.reading():
            yield Asker(self._ledger.lived, vectors, self.display_name, self._measure)

    def _meant(self, asked: Asked) -> Query:
        if isinstance(asked, Recall):
            return asked.query
        return asked if isinstance(asked, Query) else self._query(asked)
