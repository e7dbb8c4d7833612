"""AgentReader: the rest of reading: saved cues asked again, presets compared, a narrative told, and plans' ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.presets import PRESETS
from ..errors import InvalidParameter, shown
from ..operations import edit
from ..operations.context import Bare, Ground, Progress
from ..operations.narrative import Hits, Narrative, tell
from ..recall.cues import Judgment, SavedCue, judgment_of, judgments_jsonl, parse_cues, parse_judgments
from ..recall.query import Query, checked_cue
from .genealogist import AgentGenealogist

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


class AgentReader(AgentGenealogist):
    """The last of the reading parts: what is asked of saved cues, judgments and presets. Nothing is touched."""

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
