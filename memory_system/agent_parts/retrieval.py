"""Retrieval: what memory answers to a cue, why, what would change that, and what was asked before."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Unpack

import numpy as np

from ..core.entry import DECAYING, MemoryEntry, MemoryId, MemoryIds, Tier, id_of
from ..core.memory import Vectors
from ..core.scoring import Measure, whole
from ..errors import EntryNotFound, InvalidParameter, ModelError, shown
from ..llm import tasks
from ..operations import edit
from ..operations.context import Bare, Ground, Progress, no_progress, refuse_uncallable
from ..operations.migration import MIGRATE
from ..operations.narrative import Hits, Narrative, tell
from ..recall.expansion import Measured
from ..recall.forecast import YEAR, Asker, Forecast, forecasts
from ..recall.hybrid import Evidence
from ..recall.measures import Hybrid
from ..recall.query import MAX_INSTANCES, OF_SETTINGS, Facets, Query, QueryOptions, query_of
from ..recall.rank import Explanation, Recall, answer
from ..recall.table import Table
from ..recall.verdicts import Candidate
from ..recall.why import Way, ways
from ..store import query_log
from ..store.journal.journal import content_hash
from .context import Context, Part

MOST_GONE = 1_000
WITHOUT_INSTANCES = "It was asked without instances."
Asked = str | Query | Recall
"""A cue, asked now with the agent's settings; a complete query; or an answer, whose query is asked again."""


class Retrieval(Part):
    """What memory answers to a cue."""

    # -- asked -----------------------------------------------------------------------------------------

    def query(
        self, cue: str, top_k: int | None = None, threshold: float | None = None, **options: Unpack[QueryOptions]
    ) -> Query:
        """A query with the agent's settings for what is not given.

        Raises:
            InvalidParameter: a parameter is out of its range.
        """
        now, most = self.context.time(options.pop("now", None)), options.pop("expand", 0)
        whole("expand", most, 0, MAX_INSTANCES)
        if (facets := options.get("facets")) is not None:
            options["facets"] = self._climbing(facets)
        query = query_of(cue, self.context.settings, now, {"top_k": top_k, "threshold": threshold, **options})
        return self._expanded(query, most) if most else query

    def _expanded(self, query: Query, most: int) -> Query:
        """The same query with up to this many instances named by the language model; without any if it names none."""
        context = self.context
        try:
            answered = context.model.complete(tasks.expand(context.display_name, query.cue, most)).answer
        except ModelError as error:
            return dataclasses.replace(query, unexpanded=f"{WITHOUT_INSTANCES} {error}")
        instances = [*query.instances, *(" ".join(instance.split()) for instance in answered.instances[:most])]
        fresh: dict[str, str] = {}
        for instance in instances:
            if instance.casefold() != query.cue.casefold():
                fresh.setdefault(instance.casefold(), instance)
        if not fresh:
            return dataclasses.replace(query, unexpanded="The language model names no instances of this cue.")
        return dataclasses.replace(query, instances=tuple(fresh.values())[:MAX_INSTANCES])

    def _climbing(self, facets: Facets) -> Facets:
        """The same facets, which also admit what happened in places inside the one asked for."""
        if self.context.knows is None or not isinstance(facets, Facets) or not facets.places:
            return facets
        inside = self.context.knows.knowledge.lying_in(facets.places)
        return dataclasses.replace(facets, places=tuple(dict.fromkeys((*facets.places, *inside))))

    def query_memory(
        self,
        prompt: str,
        top_k: int | None = None,
        threshold: float | None = None,
        *,
        touch: bool = True,
        **options: Unpack[QueryOptions],
    ) -> Recall:
        """The answer to a cue, logged with what it saw; the log is written later."""
        parameters = {"top_k": top_k, "threshold": threshold, **options}
        named = tuple(name for name in OF_SETTINGS if parameters.get(name) is not None)
        query, context = self.query(prompt, top_k, threshold, **options), self.context
        if context.policy.why is not None:
            return self.answer(query)
        with self._measured(query) as (cue, tables, measured):
            found = answer(query, cue, tables, context.display_name, explain=False, measured=measured)
            hits, identity = found.hits, context.embedder.identity
            logged = context.settings.query_log > 0
            asked = query_log.Asked(query, hits, named, context.author, bool(touch), identity) if logged else None
            lived = [hit.entry for hit in hits if hit.entry.tier is not Tier.STATIC and hit.entry.timestamp is not None]
            recalled = [entry.id for entry in lived] if touch else []
            if recalled or asked:
                context.writer().touch(recalled, query.now, asked)
        return found

    def explain(
        self, prompt: str, top_k: int | None = None, threshold: float | None = None, **options: Unpack[QueryOptions]
    ) -> Explanation:
        """As ``query_memory``, with every memory as a candidate and the reason for its verdict; touches nothing.

        Raises:
            InvalidParameter: a parameter is out of its range.
            OtherEmbedder: the agent's vectors were made by an embedder other than the chosen one.
        """
        return self.explanation(self.query(prompt, top_k, threshold, **options))

    def explanation(self, query: Query) -> Explanation:
        """Every memory with its verdict, for a complete query; touches nothing."""
        with self._measured(query) as (cue, lived, measured):
            return answer(query, cue, lived, self.context.display_name, explain=True, measured=measured)

    def answer(self, query: Query) -> Recall:
        """What a complete query recalls; touches nothing."""
        with self._measured(query) as (cue, lived, measured):
            return answer(query, cue, lived, self.context.display_name, explain=False, measured=measured)

    def evidence(self, query: Query, entry_id: MemoryId) -> Evidence | None:
        """What in a memory matched the cue, if relevancy is measured by more than similarity; touches nothing."""
        if query.scoring.measure is not Measure.HYBRID:
            return None
        with self._measured(query) as (cue, lived, _):
            return self.context.hybrid.evidence(query, cue, lived, id_of(entry_id))

    @contextmanager
    def _measured(self, query: Query) -> Iterator[tuple[Vectors, Mapping[Tier, Table], Measured | None]]:
        """The cue's vector, the tables that are searched, and the relevancy measure, while the tables do not change."""
        if not isinstance(query, Query):
            raise InvalidParameter(f"The argument must be a Query, as 'query' makes it from a cue, not {shown(query)}.")
        self.context.refresh()
        self.context.ledger.refuse_other_embedder()
        cue = self.context.cue_vectors([query.cue, *query.instances])[0]
        with self.context.ledger.reading():
            lived = self._lived(query)
            yield cue, lived, self._measure(query, cue, lived)

    def _lived(self, query: Query) -> Mapping[Tier, Table]:
        return self.context.lived(query.now)

    def _measure(
        self, query: Query, cue: Vectors, lived: Mapping[Tier, Table], hybrid: Hybrid | None = None
    ) -> Measured | None:
        vectors = [cue, *self.context.cue_vectors(query.instances)] if query.instances else [cue]
        return (hybrid or self.context.hybrid).measured(query, vectors, lived)

    def touch(self, ids: MemoryIds, *, now: datetime | None = None) -> None:
        """Count memories of STM and LTM as recalled, which renews their recency; others are skipped.

        Raises:
            InvalidParameter: the ids are not texts, or ``now`` is not a time with a zone.
        """
        context, present = self.context, self.context.present()
        moment = context.time(now)
        with present.reading():
            entries = [entry for entry_id in edit.ids_of(ids) if (entry := present.find(entry_id)) is not None]
            lived = [entry.id for entry in entries if entry.tier in DECAYING and entry.timestamp is not None]
            if lived and context.policy.why is None:
                context.writer().touch(lived, moment)

    def similar(self, entry_id: MemoryId, top_k: int = 5) -> list[tuple[MemoryEntry, float]]:
        """The STM and LTM memories nearest in meaning to one, with their cosine (-1 to 1), nearest first.

        Raises:
            EntryNotFound: there is no such memory.
        """
        whole("top_k", top_k, 1, 100)
        entry_id = id_of(entry_id)
        with self.context.ledger.reading():
            entry = self.context.ledger.find(entry_id)
            if entry is None:
                raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
            vector = self.context.ledger.tables[entry.tier].vector(entry_id)
            found: list[tuple[MemoryEntry, float]] = []
            for tier in DECAYING:
                table = self.context.ledger.tables[tier]
                if not vector.size or table.vectors.shape[1] != vector.size:
                    continue  # nothing has a vector to compare, or not yet
                cosines = table.vectors @ vector
                nearest = np.argsort(-cosines, kind="stable")[: top_k + 1]
                found += [(table.entries[row], float(cosines[row])) for row in nearest if np.isfinite(cosines[row])]
        found = [(other, cosine) for other, cosine in found if other.id != entry_id]
        return sorted(found, key=lambda pair: (-pair[1], pair[0].id))[:top_k]

    def narrate(self, cue: str, hits: Hits) -> Narrative:
        """The hits joined into one narrative that keeps when each happened; changes and stores nothing.

        Every sentence carries the ids it rests on; one that rests on none, or says more than they do, is
        moved to ``dropped`` with the reason. Offline it is a dated, ordered digest of quotations.

        Args:
            cue: what the narrative is to answer, 1 to 32,000 characters.
            hits: what ``query_memory`` returned, or a list of candidates or memories, the best first.

        Raises:
            InvalidParameter: the cue is empty or too long, or a hit is not a memory.
            ModelError: the language model gave no usable answer.
        """
        asked = self.query(cue)
        return tell(self.context.display_name, asked.cue, hits, self.context.model, asked.now)

    def would_have_answered(self, asked: Asked) -> tuple[Candidate, ...]:
        """What migration forgot that would be recalled if it were remembered still, the best first; touches nothing.

        Each is shown as it would be in the answer if all were restored. Only the last 1,000 that migration forgot are
        searched; a memory that was purged, or whose vector another embedder made, cannot be found.
        """
        query = self._meant(asked)
        with self._measured(query) as (cue, lived, _):
            gone = self.context.ledger.journal.forgotten(MOST_GONE, 0, "", MIGRATE)
            if not gone:
                return ()
            tables, hybrid = self._unforgotten([memory.entry for memory in gone], lived)
            measured = self._measure(query, cue, tables, hybrid)
            found = answer(query, cue, tables, self.context.display_name, explain=False, measured=measured)
        ids = {memory.entry.id for memory in gone}
        return tuple(hit for hit in found if hit.entry.id in ids)

    def _unforgotten(
        self, gone: Sequence[MemoryEntry], lived: Mapping[Tier, Table]
    ) -> tuple[Mapping[Tier, Table], Hybrid]:
        """The tables with these memories back where they were, and what measures them."""
        context, journal = self.context, self.context.ledger.journal
        key = context.ledger.stamp, lived[Tier.STATIC], tuple(entry.id for entry in gone)
        if context.unforgotten is None or context.unforgotten[0] != key:
            tiers = {entry.tier for entry in gone}
            tables = {tier: table.copied() if tier in tiers else table for tier, table in lived.items()}
            hashes = {entry.id: content_hash(entry.document) for entry in gone}
            vectors = journal.vectors(hashes.values(), context.embedder.identity)
            accesses = journal.last_access_of(list(hashes))
            for entry in gone:
                tables[entry.tier].put(entry.accessed(accesses.get(entry.id)), vectors.get(hashes[entry.id]))
            context.unforgotten = key, tables, Hybrid(context.tokens)
        return context.unforgotten[1:]

    # -- what would change an answer ---------------------------------------------------------------------

    def ways(self, asked: Asked, entry_id: MemoryId) -> tuple[Way, ...]:
        """The smallest single changes that would recall a memory, the smallest first, each verified by running it.

        Empty if it is recalled already, or if no single change is enough.

        Raises:
            EntryNotFound: there is no such memory.
        """
        query = self._meant(asked)
        with self._asking([query.cue]) as asker:
            return ways(asker, query, id_of(entry_id))

    def forecast(self, asked: Asked, horizon: timedelta = YEAR) -> tuple[Forecast, ...]:
        """When each recalled memory drops out of the answer, if nothing is added and nothing is accessed.

        Args:
            asked: what is asked, at the time from which to look ahead.
            horizon: how far to look ahead, a minute to 36,525 days.

        Raises:
            InvalidParameter: the horizon is out of its range.
        """
        query = self._meant(asked)
        with self._asking([query.cue]) as asker:
            return forecasts(asker, query, horizon)

    def forecast_of(
        self, entry_id: MemoryId, cues: Sequence[Asked], horizon: timedelta = YEAR
    ) -> tuple[tuple[Query, Forecast], ...]:
        """For each cue that recalls a memory, when the memory drops out of the answer, in the order of the cues.

        Raises:
            EntryNotFound: there is no such memory.
            InvalidParameter: the horizon is out of its range.
        """
        entry_id = id_of(entry_id)
        if isinstance(cues, str | Query | Recall):
            cues = (cues,)
        if not isinstance(cues, Sequence):
            raise InvalidParameter(f"'cues' must be a list of cues or queries, not {shown(cues)}.")
        queries = [self._meant(asked) for asked in cues]
        with self._asking([query.cue for query in queries]) as asker:
            if self.context.held_or_known(entry_id) is None:
                raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
            return tuple(
                (query, found) for query in queries for found in forecasts(asker, query, horizon, only=[entry_id])
            )

    @contextmanager
    def _asking(self, cues: Sequence[str]) -> Iterator[Asker]:
        """A function that asks about these cues while the tables do not change."""
        self.context.refresh()
        self.context.ledger.refuse_other_embedder()
        vectors = dict(zip(cues, self.context.cue_vectors(cues), strict=True)) if cues else {}
        with self.context.ledger.reading():
            yield Asker(self.context.ledger.lived, vectors, self.context.display_name, self._measure, self._lived)

    def _meant(self, asked: Asked) -> Query:
        if isinstance(asked, Recall):
            return asked.query
        return asked if isinstance(asked, Query) else self.query(asked)


def ground(
    context: Context,
    now: datetime | None = None,
    progress: Progress = no_progress,
    *,
    recalls: bool = True,
    newest: int | None = None,
) -> Ground:
    """What an operation plans on.

    Args:
        context: the agent's.
        now: the world's time.
        progress: called with the progress so far.
        recalls: whether it recalls anything, or asks a model for something that is then stored.
        newest: how many of LTM's newest memories it reads, so that the others need not be copied; all if not given.

    Raises:
        OtherEmbedder: it recalls, and the agent's vectors were made by an embedder other than the chosen one.
    """
    moment = context.time(now)
    refuse_uncallable(progress=progress)
    context.refresh()
    if recalls:
        context.ledger.refuse_other_embedder()
    asking = Retrieval(context)

    def recall(cue: str, top_k: int) -> list[MemoryEntry]:
        # the best of all tiers: an operation reads without a threshold and without an order of tiers
        scored = asking.explanation(asking.query(cue, top_k, now=moment)).candidates
        return [candidate.entry for candidate in scored.best(top_k)]

    with context.ledger.reading():
        tables = context.ledger.tables
        return Ground(
            context.display_name,
            moment,
            context.ledger.revision,
            context.author,
            Bare(tables[Tier.STM].entries.copied()),
            Bare(tables[Tier.LTM].entries.copied() if newest is None else _newest(tables[Tier.LTM], newest)),
            context.settings,
            context.model,
            recall,
            progress,
            context.name,
            context.at_once,
        )


def _newest(table: Table, count: int) -> list[MemoryEntry]:
    """Entries that include the ``count`` newest; those without a time count as the oldest."""
    ages = -table.columns["timestamp"][: len(table)]  # NaN, which means no time, sorts as the greatest in numpy
    oldest = np.partition(ages, count - 1)[count - 1] if 0 < count < len(ages) else np.nan
    rows = np.flatnonzero(~(ages > oldest)) if count else ()
    return [table.entries[int(row)] for row in rows]
