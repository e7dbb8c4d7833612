"""PastView: an agent as it was at a moment, to be asked and looked at, and not to be changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NoReturn

from ..core.change_set import TEXTS, ChangeSet
from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.scoring import Scoring, in_range
from ..core.times import stamp
from ..embedding.embedder import Embedder
from ..errors import ChangeSetNotFound, ReadOnlyPast
from ..llm import LanguageModel
from ..operations import edit, migration
from ..recall.hybrid import TokenStates
from ..recall.query import Facets
from ..recall.rank import Recall
from ..recall.table import Table
from ..store.journal.as_of import Moment
from ..store.journal.evidence import Evidence
from ..store.journal.history import ALL, Applied, HistoryKinds, Sought
from ..store.journal.trash import Forgotten
from ..store.ledger import Ledger
from ..store.past_tables import State
from .reader import AgentReader


class _PastJournal:
    """The history as it could be told at a revision."""

    def __init__(self, ledger: Ledger, revision: int) -> None:
        self._ledger = ledger
        self._revision = revision
        self.evidence: Evidence = ledger.journal.evidence.as_of(revision)

    def history(self, limit: int = 100, before: int | None = None, sought: Sought = ALL) -> list[Applied]:
        """The newest change sets first, at most ``limit`` of those looked for, and older than ``before`` only."""
        first = self._revision + 1
        with self._ledger.reading():
            return self._then(
                self._ledger.journal.history(limit, first if before is None else min(before, first), sought)
            )

    def get(self, revision: int) -> Applied:
        """One change set.

        Raises:
            ChangeSetNotFound: there was no such revision.
        """
        if revision > self._revision:
            raise ChangeSetNotFound(f"The history had no revision {revision} then.")
        with self._ledger.reading():
            return self._then([self._ledger.journal.get(revision)])[0]

    def _then(self, told: Sequence[Applied]) -> list[Applied]:
        """With what had been undone at the revision."""
        undone = self._ledger.journal.past.undone([one.change_set for one in told], self._revision)
        return [dataclasses.replace(one, undone_by=undone.get(one.revision)) for one in told]

    def kinds(self) -> HistoryKinds:
        """Who and what there was in the history."""
        with self._ledger.reading():
            return self._ledger.journal.told.kinds(self._revision)

    def forgotten(self, limit: int, offset: int, contains: str) -> list[Forgotten]:
        """Memories that were gone, the last forgotten first; those that have been purged since are not told."""
        with self._ledger.reading():
            return self._ledger.journal.bin.forgotten(limit, offset, contains, self._revision)

    def count_forgotten(self, contains: str) -> int:
        """How many those were."""
        with self._ledger.reading():
            return self._ledger.journal.bin.count(contains, self._revision)

    def last_version(self, entry_id: str) -> MemoryEntry | None:
        """A memory as it last was, also one that had been forgotten; ``None`` if it had never been."""
        with self._ledger.reading():
            return self._ledger.journal.past.last_version(entry_id, self._revision)


class _PastLedger:
    """What the reading half reads, of a moment."""

    def __init__(self, moment: Moment, state: State, ledger: Ledger) -> None:
        self.tables: Mapping[Tier, Table] = state.tables
        self.journal = _PastJournal(ledger, moment.revision)
        self.messages: Sequence[str] = ()
        self.revision = moment.revision
        # below zero, so that it is never a stamp of the present; which accesses had happened is told apart
        until = 0 if moment.until is None else int(moment.until.timestamp())
        self.stamp = moment.revision, -1 - moment.access - until
        self._texts = state.texts
        self._lock = state.lock

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold what the tables remember still, among threads; the rows do not change."""
        with self._lock:
            yield

    def text(self, name: str) -> str | None:
        """The text of this name as it was then."""
        return self._texts.get(name)

    @property
    def lived(self) -> Mapping[Tier, Table]:
        """The tables of what recall ranges over."""
        return {tier: self.tables[tier] for tier in LIVED}

    def texts(self) -> dict[str, str | None]:
        """All texts as they were then, by name."""
        return {name: text for name, text in self._texts.items() if text is not None or name in TEXTS}

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``."""
        held = (table.get(entry_id) for table in self.tables.values())
        return next((entry for entry in held if entry is not None), None)


class PastView(AgentReader):
    """An agent's memory as it was at a moment; ``AgentMemory.as_of`` makes it.

    Whatever can be asked of an agent is answered as it would have been then: by the texts, tiers, ratings, last
    accesses, personality, settings, saved cues and history of then, and where no time is given by the world's time of
    then. The language model and the vectors' model are those of now. Whatever would change the agent is not there;
    asking for it raises ``ReadOnlyPast``.

    Args:
        name: the agent's name.
        moment: when.
        state: what it held then.
        ledger: the agent's, of whose history only what was known then is told.
        embedder: texts to vectors.
        model: the language model.
        tokens: the token states that are shared with the agent.
        present: the class of the agent, which says what only the present one can do.
    """

    def __init__(
        self,
        name: str,
        moment: Moment,
        state: State,
        ledger: Ledger,
        *,
        embedder: Embedder,
        model: LanguageModel,
        tokens: TokenStates,
        present: type,
    ) -> None:
        super().__init__(name, _PastLedger(moment, state, ledger), embedder, model, lambda: moment.now, tokens)
        self.moment = moment
        self._present = present

    @property
    def revision(self) -> int:
        """The newest change set of then; 0 = before the first."""
        return self.moment.revision

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_") and hasattr(self._present, name):
            self._refuse()
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def _refuse(self) -> NoReturn:
        raise ReadOnlyPast(self.read_only)

    @property
    def read_only(self) -> str:
        """Why nothing can be changed, in a sentence: it is the past."""
        return (
            f"This is {self.display_name} as of {stamp(self.moment.now)}, after revision {self.moment.revision}; "
            "go back to the present to change anything."
        )

    @property
    def waiting_for_vectors(self) -> int:
        """How many memories of then have no vector of the embedder in use, and are not found by meaning."""
        with self._ledger.reading():
            return sum(len(table.rows_without_vector()) for table in self._ledger.tables.values())

    def query_memory(
        self,
        prompt: str,
        top_k: int | None = None,
        threshold: float | None = None,
        *,
        now: datetime | None = None,
        static_threshold: float | None = None,
        static_share: float | None = None,
        scoring: Scoring | None = None,
        facets: Facets | None = None,
        requery: int = 0,
        touch: bool = False,  # noqa: ARG002 - so that a game's call can be made of the past as it is
    ) -> Recall:
        """As ``AgentMemory.query_memory`` would have answered; ``touch`` is ignored, and nothing is logged."""
        query = self._query(prompt, top_k, threshold, now, static_threshold, static_share, scoring, facets, requery)
        return self.answer(query)

    def migrate_stm2ltm(
        self,
        threshold: float | None = None,
        *,
        ids: str | Sequence[str] | None = None,
        now: datetime | None = None,
        preview: bool = False,
    ) -> ChangeSet:
        """What ``AgentMemory.migrate_stm2ltm`` would have planned then.

        Raises:
            ReadOnlyPast: it is not to be a preview.
        """
        if not preview:
            self._refuse()
        ground = self._ground(now)
        limit = ground.settings.migration_threshold if threshold is None else threshold
        chosen = None if ids is None else edit.listed(ids)
        return migration.plan(ground, in_range("The threshold", limit, 0, 1), chosen)

    @property
    def personality_problem(self) -> str | None:
        """``None``: the personality of then was a good one."""
        return None

    @property
    def personality_on_disk(self) -> str | None:
        """The text of then."""
        return self.personality_text

    def acting_as(self, _author: str, _applying: object = None) -> PastView:
        """The same view, since nothing is changed."""
        return self
