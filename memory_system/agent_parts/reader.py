"""What can be asked of an agent, as it is now or as it was, without changing anything."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

import numpy as np

from ..core import personality as static_memory
from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.memory import Vectors
from ..core.presets import PRESETS
from ..core.scoring import Measure, Scoring, whole
from ..core.settings import AgentSettings
from ..core.times import Clock, moment_given
from ..embedding.embedder import Embedder
from ..errors import EntryNotFound, InvalidParameter, shown
from ..llm import LanguageModel
from ..operations import edit, reflection
from ..operations import provenance as lineage
from ..operations.context import Bare, Ground, Progress
from ..operations.narrative import Hits, Narrative, tell
from ..operations.provenance import Lineage
from ..recall.cues import Judgment, SavedCue, judgment_of, judgments_jsonl, parse_cues, parse_judgments
from ..recall.forecast import YEAR, Asker, Forecast, forecasts
from ..recall.hybrid import Evidence, TokenStates
from ..recall.measures import Hybrid
from ..recall.query import Facets, Query, checked_cue
from ..recall.rank import Explanation, Measured, Recall, answer
from ..recall.table import Table
from ..recall.why import Way, ways
from ..store import staleness
from ..store.journal.history import Applied, HistoryKinds, Sought
from ..store.journal.trash import Forgotten
from ..store.protocols import Readable
from ..store.staleness import Stale

Parsed = TypeVar("Parsed")
Asked = str | Query | Recall
"""A cue, asked now with the agent's settings; a query that is complete; or an answer, whose query is asked again."""

OWN_SETTINGS = "settings"
"""The name, among those of the presets, under which the agent's own settings are tried."""


def no_progress(_done: float, _doing: str) -> None:
    """For callers who do not want to be told how far a long operation is."""


@dataclass(frozen=True)
class CueResult:
    """What became of a saved cue when it was asked.

    Args:
        saved: the cue.
        missing: ids that it must recall and did not, those of memories that are gone included.
        unwanted: ids that it must not recall and did.
        gone: ids that it names, in either list, of memories that are forgotten.
        recalled: ids of the answer, in its order.
    """

    saved: SavedCue
    missing: tuple[str, ...]
    unwanted: tuple[str, ...]
    gone: tuple[str, ...]
    recalled: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether all was recalled that must be, and nothing that must not."""
        return not self.missing and not self.unwanted


@dataclass(frozen=True)
class Precision:
    """How many of the at most ``top_k`` memories recalled for a cue were judged right, wrong, or not at all."""

    right: int
    wrong: int
    unjudged: int
    top_k: int

    @property
    def value(self) -> float | None:
        """The share of the right among the judged, 0 to 1; ``None`` if none was judged."""
        judged = self.right + self.wrong
        return self.right / judged if judged else None


class AgentReader:
    """What can be asked of an agent, as it is now or as it was, without changing anything."""

    def __init__(
        self,
        name: str,
        ledger: Readable,
        embedder: Embedder,
        model: LanguageModel,
        clock: Clock,
        tokens: TokenStates | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self._ledger = ledger
        self._embedder = embedder
        self._clock = clock
        self._tokens = tokens or TokenStates.of(embedder)
        self._hybrid = Hybrid(self._tokens)
        self._parsed_texts: dict[str, tuple[str | None, Any]] = {}

    def _refresh(self) -> None:
        """Called before anything is read; the writing half takes in what was edited on disk."""

    @property
    def now(self) -> datetime:
        """The world's time."""
        return self._clock()

    @property
    def embedder(self) -> Embedder:
        """What turns this agent's texts into vectors."""
        return self._embedder

    @property
    def stamp(self) -> tuple[int, int]:
        """A key for caches: changes with every change set and every access, whichever process made it."""
        self._refresh()
        with self._ledger.reading():
            return self._ledger.stamp

    @property
    def messages(self) -> tuple[str, ...]:
        """What was found and repaired when the agent was opened, in sentences for people."""
        return tuple(self._ledger.messages)

    @property
    def display_name(self) -> str:
        """The name in the personality, such as "Mira Holloway"; the agent's name where there is none."""
        return self.personality.identity.name if self.personality else self.name

    @property
    def settings(self) -> AgentSettings:
        """The agent's own settings."""
        return self._parsed("settings", AgentSettings.from_json)

    @property
    def personality_text(self) -> str | None:
        """The JSON text of the static memory in use."""
        return self._ledger.text("personality")

    @property
    def personality(self) -> static_memory.Personality | None:
        """The static memory in use; ``None`` where there is none yet."""
        return self._parsed("personality", lambda text: static_memory.parse(text) if text else None)

    def _parsed(self, name: str, parse: Callable[[str | None], Parsed]) -> Parsed:
        """What a text of the journal says, parsed once for as long as it stays the same."""
        text = self._ledger.text(name)
        held = self._parsed_texts.get(name)
        if held is None or held[0] != text:
            held = self._parsed_texts[name] = (text, parse(text))
        value: Parsed = held[1]
        return value

    def text(self, name: str) -> str | None:
        """A text that is kept beside memories, such as ``conversation:`` and an id; ``None`` where there is none."""
        self._refresh()
        return self._ledger.text(name)

    def texts(self) -> dict[str, str | None]:
        """Personality, settings, saved cues, judgments and the states of conversations as they are kept, by name."""
        self._refresh()
        return self._ledger.texts()

    def entries(self, tier: Tier) -> list[MemoryEntry]:
        """All memories of a tier, ordered by id; touches nothing."""
        self._refresh()
        try:
            wanted = Tier(tier)
        except ValueError as error:
            raise InvalidParameter(f"There is no tier {shown(tier)}; there are {', '.join(Tier)}.") from error
        with self._ledger.reading():
            return sorted(self._ledger.tables[wanted].entries, key=lambda entry: entry.id)

    @property
    def tokens(self) -> TokenStates:
        """The token states that relevancies are computed from."""
        return self._tokens

    def embedded(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts, shape (n, d), by the embedder in use; they are not stored."""
        return self._embedder.embed(texts)

    @contextmanager
    def shelf(self, tier: Tier) -> Iterator[Table]:
        """The table of a tier, held still for as long as it is looked at. It is not to be changed."""
        self._refresh()
        with self._ledger.reading():
            yield self._ledger.tables[tier]

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``; touches nothing."""
        self._refresh()
        with self._ledger.reading():
            return self._ledger.find(entry_id)

    def last_version(self, entry_id: str) -> MemoryEntry:
        """A memory as it is, or as it was before it was forgotten.

        Raises:
            EntryNotFound: the agent never had it.
        """
        entry = self.find(entry_id)
        if entry is None and isinstance(entry_id, str) and entry_id.isprintable():
            entry = self._ledger.journal.last_version(entry_id)
        if entry is None:
            raise EntryNotFound(f"{self.name} never had a memory {shown(entry_id)}.")
        return entry

    def similar(self, entry_id: str, top_k: int = 5) -> list[tuple[MemoryEntry, float]]:
        """The STM and LTM memories nearest in meaning to one, with their cosine (-1 to 1), nearest first.

        Raises:
            EntryNotFound: there is no such memory.
        """
        whole("top_k", top_k, 1, 100)
        with self._ledger.reading():
            entry = self._ledger.find(entry_id)
            if entry is None:
                raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
            vector = self._ledger.tables[entry.tier].vector(entry_id)
            found: list[tuple[MemoryEntry, float]] = []
            for tier in (Tier.STM, Tier.LTM):
                table = self._ledger.tables[tier]
                cosines = table.vectors @ vector if len(table) else np.zeros(0)
                nearest = np.argsort(-cosines, kind="stable")[: top_k + 1]
                found += [(table.entries[row], float(cosines[row])) for row in nearest if np.isfinite(cosines[row])]
        found = [(other, cosine) for other, cosine in found if other.id != entry_id]
        return sorted(found, key=lambda one: (-one[1], one[0].id))[:top_k]

    def get_stats(self, now: datetime | None = None) -> dict[str, Any]:
        """Counts, settings and what is in use, as plain values; touches nothing."""
        settings = self.settings
        stm, ltm = self.entries(Tier.STM), self.entries(Tier.LTM)
        return {
            "agent": self.name,
            "static": len(self.entries(Tier.STATIC)),
            "stm": len(stm),
            "stm_size": settings.stm_size,
            "ltm": len(ltm),
            "unrated": sum(1 for entry in (*stm, *ltm) if entry.rating is None),
            "reflection_weight": reflection.weight((*stm, *ltm)),
            "reflection_trigger": settings.reflection_trigger,
            "revision": self._ledger.revision,
            "model": self.model.label,
            "embedder": self._embedder.identity,
            "now": self._time(now).isoformat(),
        }

    def explain(
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
    ) -> Explanation:
        """As ``query_memory``, with every memory as a candidate and the reason for its verdict; touches nothing."""
        query = self._query(prompt, top_k, threshold, now, static_threshold, static_share, scoring, facets, requery)
        return self.explanation(query)

    def explanation(self, query: Query) -> Explanation:
        """Every memory with its verdict, for a query that is complete; touches nothing."""
        with self._measured(query) as (cue, measured):
            return answer(query, cue, self._ledger.lived, self.display_name, explain=True, measured=measured)

    def answer(self, query: Query) -> Recall:
        """What a query that is complete recalls; touches nothing."""
        with self._measured(query) as (cue, measured):
            return answer(query, cue, self._ledger.lived, self.display_name, explain=False, measured=measured)

    def _query(
        self,
        prompt: str,
        top_k: int | None = None,
        threshold: float | None = None,
        now: datetime | None = None,
        static_threshold: float | None = None,
        static_share: float | None = None,
        scoring: Scoring | None = None,
        facets: Facets | None = None,
        requery: int = 0,
    ) -> Query:
        """A query whose parameters are the agent's settings where they are not given."""
        settings = self.settings
        return Query(
            prompt,
            self._time(now),
            settings.top_k if top_k is None else top_k,
            settings.threshold if threshold is None else threshold,
            settings.static_threshold if static_threshold is None else static_threshold,
            settings.static_share if static_share is None else static_share,
            settings.scoring if scoring is None else scoring,
            Facets() if facets is None else facets,
            requery,
        )

    def evidence(self, query: Query, entry_id: str) -> Evidence | None:
        """What of a memory met the cue, where relevancy is measured by more than similarity; touches nothing."""
        if query.scoring.measure is not Measure.HYBRID:
            return None
        with self._measured(query) as (cue, _):
            return self._hybrid.evidence(query, cue, self._ledger.lived, entry_id)

    @contextmanager
    def _measured(self, query: Query) -> Iterator[tuple[Vectors, Measured | None]]:
        """The cue's vector, and how its relevancy is measured, while the tables are held still."""
        self._refresh()
        cue = self._embedder.embed([query.cue])[0]
        with self._ledger.reading():
            yield cue, self._measure(query, cue)

    def _measure(self, query: Query, cue: Vectors) -> Measured | None:
        hybrid = query.scoring.measure is Measure.HYBRID
        return self._hybrid.measure(query, cue, self._ledger.lived) if hybrid else None

    def _time(self, now: datetime | None) -> datetime:
        return self._clock() if now is None else moment_given("'now'", now)

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

    def lineage(self, entry_id: str, depth: int = 4) -> Lineage:
        """What a memory rests on and what rests on it, through summaries to forgotten originals.

        Of what was built on it and is forgotten only that is told which leads to something in recall.

        Args:
            entry_id: a memory, which may be forgotten.
            depth: how many steps to go each way, 1 to 20.

        Raises:
            EntryNotFound: the agent never had it.
            InvalidParameter: the depth is out of its range.
        """
        steps = whole("depth", depth, 1, 20)
        entry = self.last_version(entry_id)
        with self._ledger.reading():
            flagged = {one.entry.id for one in self.stale()}
            return lineage.trace(
                entry,
                steps,
                self._versions,
                lambda some: self._ledger.journal.evidence.built_on([one.id for one in some]),
                held=lambda one: self._ledger.find(one) is not None,
                stale=flagged,
            )

    def stale(self) -> tuple[Stale, ...]:
        """The memories in recall that rest on what was edited or deleted since, those most lately derived first.

        That is since they were derived, derived again, or looked at and kept. Edited is what says something else or
        happened at another time. What moved between tiers, or was forgotten by migration, by the summary that stands
        for it or by a new plan of its day, has not changed.
        """
        self._refresh()
        with self._ledger.reading():
            found = self._ledger.journal.evidence.stale()
            held = [(one, self._ledger.find(one.entry.id)) for one in found]
        return tuple(dataclasses.replace(one, entry=entry) for one, entry in held if entry is not None)

    def stale_of(self, entry_id: str) -> Stale | None:
        """What has changed of what a memory rests on; ``None`` if nothing has."""
        return next((one for one in self.stale() if one.entry.id == entry_id), None)

    def built_on(self, entry_id: str) -> list[MemoryEntry]:
        """The reflections, summaries and plans in recall that rest on a memory, the oldest first."""
        with self._ledger.reading():
            known = [entry_id] if isinstance(entry_id, str) else []
            ids = [other for _, other in self._ledger.journal.evidence.built_on(known)]
            held = [entry for one in ids if (entry := self._ledger.find(one)) is not None]
        found = [entry for entry in held if entry_id in entry.evidence and entry.tier is not Tier.STATIC]
        return sorted(found, key=lambda entry: (str(entry.metadata.get("timestamp", "")), entry.id))

    def _versions(self, ids: Collection[str]) -> Mapping[str, MemoryEntry]:
        held = {one: entry for one in ids if (entry := self._ledger.find(one)) is not None}
        return held | self._ledger.journal.evidence.last_versions([one for one in ids if one not in held])

    def _sources(self, entry: MemoryEntry) -> Sequence[MemoryEntry]:
        """What a memory rests on as it is or last was, without what was deleted and what never was."""
        with self._ledger.reading():
            traces = self._ledger.journal.evidence.traces(entry.evidence)
            versions = self._versions(entry.evidence)
        left = (one for one in entry.evidence if not staleness.deleted(traces.get(one, ())))
        return [versions[one] for one in left if one in versions]

    author = ""
    """Who is behind what is planned."""
    _at_once = 1

    @property
    def saved_cues(self) -> tuple[SavedCue, ...]:
        """The saved cues, in the order in which they were first saved."""
        return self._parsed("cues", parse_cues)

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """What was said of the answers to each cue, in the order in which the cues were first judged."""
        return self._parsed("judgments", parse_judgments)

    def narrate(self, cue: str, hits: Hits) -> Narrative:
        """The hits joined into one narrative that keeps when each happened; changes and stores nothing.

        Every sentence carries the ids it rests on; one that rests on none, or says more than they do, is
        dropped, and kept in ``dropped`` with the reason. Offline it is a dated, ordered digest of quotations.

        Args:
            cue: what the narrative is to answer, 1 to 32,000 characters.
            hits: what ``query_memory`` answered, or a list of candidates or memories, the best first.

        Raises:
            InvalidParameter: the cue is empty or too long, or a hit is no memory.
            ModelError: the language model did not help.
        """
        return tell(self.display_name, self._query(cue).cue, hits, self.model)

    def check_cues(self, now: datetime | None = None) -> list[CueResult]:
        """Ask every saved cue with the agent's settings, and say which are answered as they must be; touches nothing.

        Raises:
            InvalidParameter: ``now`` is no time with a zone.
        """
        moment = self._time(now)
        return [self._checked(saved, moment) for saved in self.saved_cues]

    def precision(
        self,
        cue: str,
        presets: Sequence[str] | None = None,
        *,
        now: datetime | None = None,
        top_k: int | None = None,
    ) -> dict[str, Precision]:
        """How much of what each preset recalls for a cue was judged right; touches nothing.

        A preset is tried with its own thresholds, and with the agent's top-k and share of static memory.

        Args:
            cue: what memory is asked.
            presets: names of ``PRESETS``, and ``settings`` for the agent's own; all of them if not given.
            now: the world's time.
            top_k: most memories to recall; the agent's setting if not given.

        Raises:
            InvalidParameter: there is no such preset, or another parameter is out of its range.
        """
        names = (*PRESETS, OWN_SETTINGS) if presets is None else edit.listed(presets)
        moment = self._time(now)
        held = judgment_of(self.judgments, checked_cue(cue))
        found = {}
        for name in names:
            query = self._tried(cue, name, moment, top_k)
            verdicts = [held.verdict(hit.entry.id) if held else None for hit in self.answer(query)]
            found[name] = Precision(verdicts.count(True), verdicts.count(False), verdicts.count(None), query.top_k)
        return found

    def judgments_jsonl(self, *, memories: bool = False) -> str:
        """The judgments as JSON lines, as ``python -m memory_system evaluate`` reads them.

        With ``memories`` every memory stands in a line before them, so that the file can be evaluated by itself;
        what was judged and is forgotten is then left out.
        """
        entries = [entry for tier in LIVED for entry in self.entries(tier)] if memories else None
        return judgments_jsonl(self.judgments, entries)

    def _tried(self, cue: str, name: str, now: datetime, top_k: int | None) -> Query:
        if name == OWN_SETTINGS:
            return self._query(cue, top_k, now=now)
        preset = PRESETS.get(name)
        if preset is None:
            raise InvalidParameter(
                f"There is no preset {shown(name)}; there are {', '.join((*PRESETS, OWN_SETTINGS))}."
            )
        return self._query(cue, top_k, now=now).by(preset)

    def _checked(self, saved: SavedCue, now: datetime) -> CueResult:
        recalled = tuple(hit.entry.id for hit in self.answer(self._query(saved.cue, now=now)))
        with self._ledger.reading():
            gone = tuple(one for one in (*saved.must, *saved.must_not) if self._ledger.find(one) is None)
        missing = tuple(one for one in saved.must if one not in recalled)
        unwanted = tuple(one for one in saved.must_not if one in recalled)
        return CueResult(saved, missing, unwanted, gone, recalled)

    def _ground(self, now: datetime | None, progress: Progress = no_progress) -> Ground:
        moment = self._time(now)
        self._refresh()

        def recall(cue: str, top_k: int) -> list[MemoryEntry]:
            # the best of all tiers: what an operation reads needs no threshold, and no tier comes first
            scored = self.explanation(self._query(cue, top_k, now=moment)).candidates
            return [one.entry for one in scored.best(top_k)]

        with self._ledger.reading():
            tables = self._ledger.tables
            return Ground(
                self.display_name,
                moment,
                self._ledger.revision,
                self.author,
                Bare(tables[Tier.STM].entries.copied()),
                Bare(tables[Tier.LTM].entries.copied()),
                self.settings,
                self.model,
                recall,
                progress,
                self.name,
                self._at_once,
            )
