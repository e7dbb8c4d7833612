"""AgentForesight: what would have to change for a memory to be recalled, and when those that are will be forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from .asking import Asker
from .chronicle import AgentChronicle
from .errors import EntryNotFound, InvalidParameter, shown
from .forecast import YEAR, Forecast, forecasts
from .query import Query
from .recall import Recall
from .why import Way, ways

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
