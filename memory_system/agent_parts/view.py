"""AgentView: all that can be asked of an agent's memory without changing anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import numpy as np

from ..core import personality as static_memory
from ..core.entry import MemoryEntry, Tier
from ..core.memory import Vectors
from ..core.scoring import Measure, Scoring, whole
from ..core.settings import AgentSettings
from ..core.times import Clock, moment_given
from ..embedding.embedder import Embedder
from ..errors import EntryNotFound, InvalidParameter, shown
from ..llm import LanguageModel
from ..operations import reflection
from ..recall.hybrid import Evidence, TokenStates
from ..recall.measures import Hybrid
from ..recall.query import Facets, Query
from ..recall.rank import Explanation, Measured, Recall, answer
from ..recall.table import Table
from ..store.protocols import Readable

Parsed = TypeVar("Parsed")


class AgentView:
    """The reading half of an agent's memory. Nothing here touches an access time."""

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
