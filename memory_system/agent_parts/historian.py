"""AgentHistorian: the agent as it was, and its recalls lived through again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime

from ..core.entry import Tier
from ..core.scoring import whole
from ..core.settings import AgentSettings
from ..core.times import Clock, moment_given
from ..embedding.embedder import Embedder
from ..errors import ChangeSetNotFound, InvalidParameter, QueryNotFound
from ..llm import LanguageModel
from ..operations import edit
from ..recall.hybrid import TokenStates
from ..recall.query import Query
from ..recall.rank import Recall, answer
from ..store.journal.as_of import Moment
from ..store.ledger import Ledger
from ..store.past_tables import Pasts
from ..store.personality_file import PersonalityFile
from ..store.query_log import Asked, LoggedQuery
from .past import PastView
from .relived import Relived, doubts, parameters
from .shifts import differences
from .tidier import AgentTidier

_MOST = 2**62


class AgentHistorian(AgentTidier):
    """The part that remembers how it was itself: every moment of its past, and what was asked of it."""

    def __init__(
        self,
        name: str,
        ledger: Ledger,
        embedder: Embedder,
        model: LanguageModel,
        clock: Clock,
        file: PersonalityFile,
        author: str,
        tokens: TokenStates | None = None,
    ) -> None:
        super().__init__(name, ledger, embedder, model, clock, file, author, tokens)
        self._pasts = Pasts()

    # -- as of -----------------------------------------------------------------------------------------

    def as_of(
        self,
        at: datetime | None = None,
        *,
        revision: int | None = None,
        access: int | None = None,
        world_time: datetime | None = None,
    ) -> PastView:
        """The agent as it was at a moment, read-only; it answers as it would have been answered then.

        A moment is given in one of three ways. A world has a clock of its own, which may stand still or be put back,
        so that the time in the story and the time at the desk are not the same.

        Args:
            at: a real time: what had been applied and recalled by then, at the desk. A time to come is the present.
            revision: a revision of the history, 0 = before the first: right after that change set.
            access: with ``revision``, the number of the last access that had happened since, as a logged query
                tells it; none had if it is not given.
            world_time: a time of the world: as it was when the world's clock last stood there, or before.

        Returns:
            A view whose ``now`` is the world's time of then. That is not kept by itself: it is taken from the last
            change set or access of the moment; where that was made within five minutes of its own real time the
            world followed the real time, and ``now`` is ``at``. For ``world_time`` it is that time.

        Raises:
            InvalidParameter: not one way, or no time with a zone.
            ChangeSetNotFound: there is no such revision.
        """
        if sum(way is not None for way in (at, revision, world_time)) != 1:
            raise InvalidParameter("A moment is a real time, 'revision' or 'world_time': one of the three.")
        if access is not None and revision is None:
            raise InvalidParameter("'access' says which accesses since a revision; give the revision too.")
        self._refresh()
        with self._ledger.reading():
            self._ledger.flush()
            moment = self._moment(at, revision, access, world_time)
        return self._view(moment)

    def _moment(
        self, at: datetime | None, revision: int | None, access: int | None, world_time: datetime | None
    ) -> Moment:
        past = self._ledger.journal.past
        if at is not None:
            return past.at_real_time(moment_given("The time", at))
        if world_time is not None:
            return past.at_world_time(moment_given("The world's time", world_time))
        number = whole("The revision", revision, 0, _MOST)
        moment = past.at_revision(number, whole("The access", 0 if access is None else access, 0, _MOST), self.now)
        if moment is None:
            raise ChangeSetNotFound(f"The history has no revision {number}.")
        return moment

    def _view(self, moment: Moment) -> PastView:
        return PastView(
            self.name,
            moment,
            self._pasts.get(self._ledger, moment),
            self._ledger,
            embedder=self._embedder,
            model=self.model,
            tokens=self._tokens,
            present=type(self),
        )

    # -- queries ---------------------------------------------------------------------------------------

    def _asked(self, query: Query, given: tuple[str, ...], *, touch: bool) -> Recall:
        """The answer to a query, noted with what it saw; the notes are written later."""
        with self._measured(query) as (cue, measured):
            logged = self.settings.query_log > 0
            found = answer(query, cue, self._ledger.lived, self.display_name, explain=False, measured=measured)
            hits = found.hits
            asked = Asked(query, hits, given, self.author, touch, self._embedder.identity) if logged else None
            lived = [hit.entry for hit in hits if hit.entry.tier is not Tier.STATIC and hit.entry.timestamp is not None]
            recalled = [entry.id for entry in lived] if touch else []
            if recalled or asked:
                self._ledger.touch(recalled, query.now, asked)
        return found

    def touch(self, ids: str | Sequence[str], *, now: datetime | None = None) -> None:
        """Let memories of STM and LTM count as recalled, which renews their recency; others are passed over.

        Raises:
            InvalidParameter: the ids are no texts, or ``now`` is no time with a zone.
        """
        with self._ledger.reading():
            held = [entry for entry_id in edit.listed(ids) if (entry := self._ledger.find(entry_id)) is not None]
            lived = [one.id for one in held if one.tier in (Tier.STM, Tier.LTM) and one.timestamp is not None]
            if lived:
                self._ledger.touch(lived, self._time(now))

    def queries(self, limit: int = 100, before: int | None = None, *, contains: str = "") -> list[LoggedQuery]:
        """What was asked through ``query_memory``, the newest first; looks with ``explain`` are not among it.

        Args:
            limit: how many at most, 1 to 100,000.
            before: only those with a lower number.
            contains: only those whose cue contains this, whatever the case.

        Raises:
            InvalidParameter: one is not as described.
        """
        if not isinstance(contains, str):
            raise InvalidParameter("'contains' must be a text.")
        most = whole("limit", limit, 1, 100_000)
        earlier = None if before is None else whole("before", before, 0, _MOST)
        room = self.settings.query_log
        with self._ledger.reading():
            self._ledger.flush()
            return self._ledger.journal.queries.newest(min(most, room), earlier, contains) if room else []

    def relive(self, number: int) -> Relived:
        """A logged query as it was answered then, beside what it would recall now, and why they differ.

        Now it is asked at the world's present time, with the settings of now in the place of those that stood for
        parameters the caller had not named. Nothing is touched or logged.

        Raises:
            QueryNotFound: there is no query of this number, or it has been dropped since.
        """
        wanted = whole("The number", number, 0, _MOST)
        with self._ledger.reading():
            self._ledger.flush()
            logged = self._ledger.journal.queries.get(wanted)
        if logged is None:
            raise QueryNotFound(f"The log has no query {number}; it keeps the last {self.settings.query_log:,}.")
        then = self.as_of(revision=logged.revision, access=logged.access).explanation(logged.query)
        now = self.explanation(_asked_now(logged, self.settings, self.now))
        ids = list(dict.fromkeys(one.entry.id for one in (*then.hits, *now.hits)))
        with self._ledger.reading():
            events = self._ledger.journal.past.events(ids, logged.revision)
        return Relived(
            logged,
            then,
            now,
            doubts(logged, then, self._embedder.identity),
            parameters(then.query, now.query),
            differences(then, now, events),
        )


def _asked_now(logged: LoggedQuery, settings: AgentSettings, now: datetime) -> Query:
    names = ("top_k", "threshold", "static_threshold", "static_share", "scoring")
    unnamed = {name: getattr(settings, name) for name in names if name not in logged.given}
    return dataclasses.replace(logged.query, now=now, **unnamed)
