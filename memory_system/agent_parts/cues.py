"""Cues: saved cues that must stay answered, and judgments of recalled memories; journalled and undoable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from ..core.change_set import ChangeSet, TextChange, excerpt
from ..core.entry import DECAYING, LIVED, MemoryEntry, MemoryId, MemoryIds, Tier, id_of
from ..core.memory import Vectors
from ..core.presets import PRESETS
from ..core.scoring import Measure
from ..core.settings import AgentSettings
from ..errors import CueNotFound, EntryNotFound, InvalidParameter, shown, there_is_no
from ..operations import edit, tuning
from ..operations.context import Progress, no_progress, refuse_uncallable
from ..operations.migration import MIGRATE
from ..recall.cues import (
    MAX_IDS,
    Judgment,
    SavedCue,
    dump_cues,
    dump_judgments,
    judgment_of,
    judgments_jsonl,
    name_key,
    parse_cues,
    parse_judgments,
    with_cue,
    with_verdict,
)
from ..recall.expansion import Measured, Relevancy
from ..recall.forecast import Asker
from ..recall.measures import Hybrid
from ..recall.query import Facets, Query, checked_cue
from ..recall.rank import by_vectors
from ..recall.table import Table
from ..recall.versus import MOST_JUDGED, Versus, versus
from .context import Part
from .retrieval import MOST_GONE, Retrieval

OWN_SETTINGS = "settings"
"""The name that selects the agent's own settings, next to the names of the presets."""
_WORDS = {True: "right", False: "wrong"}


def _measured_once(hybrid: Hybrid) -> Callable[[Query, Vectors, Mapping[Tier, Table]], Measured]:
    """Measures relevancy over unchanging tables, once per cue whatever its other parameters."""
    relevancies: dict[tuple[str, Tier], Relevancy] = {}

    def measure(query: Query, cue: Vectors, tables: Mapping[Tier, Table]) -> Measured:
        def measured(tier: Tier, table: Table) -> Relevancy:
            if (query.cue, tier) not in relevancies:
                if query.scoring.measure is Measure.HYBRID:
                    relevancies[query.cue, tier] = hybrid.measure(query, cue, tables)(tier, table)
                else:
                    relevancies[query.cue, tier] = by_vectors(query.scoring.measure, table, cue)
            return replace(relevancies[query.cue, tier], parts={})

        return measured

    return measure


@dataclass(frozen=True)
class CueResult:
    """The result of asking a saved cue.

    Args:
        saved: the cue.
        missing: ids that it must recall and did not, including those of forgotten memories.
        unwanted: ids that it must not recall and did.
        gone: ids of forgotten memories that it names, in either list.
        recalled: ids of the answer, in order.
    """

    saved: SavedCue
    missing: tuple[str, ...]
    unwanted: tuple[str, ...]
    gone: tuple[str, ...]
    recalled: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether everything was recalled that must be, and nothing that must not."""
        return not self.missing and not self.unwanted


@dataclass(frozen=True)
class Tunable:
    """What an agent can be tuned on, read at one moment.

    Args:
        at: the world's time at which the cues are asked.
        revision: the agent's revision at that moment.
        held: the text of its settings.
        settings: the settings in that text.
        labels: its labelled cues; see ``tuning.labelled``.
        tables: what it remembers; empty if nothing is asked.
        of_retention: the same cues, with what migration forgot among their memories.
        entries: what its rule of retention judges; empty if nothing is asked.
    """

    at: datetime
    revision: int
    held: str | None
    settings: AgentSettings
    labels: Sequence[tuning.Labelled]
    tables: Mapping[Tier, Table] = field(default_factory=dict)
    of_retention: Sequence[tuning.Labelled] = ()
    entries: Sequence[MemoryEntry] = ()


@dataclass(frozen=True)
class Precision:
    """How many of the up to ``top_k`` memories recalled for a cue were judged right, wrong, or not at all."""

    right: int
    wrong: int
    unjudged: int
    top_k: int

    @property
    def value(self) -> float | None:
        """The share of right ones among the judged, 0 to 1; ``None`` if none was judged."""
        judged = self.right + self.wrong
        return self.right / judged if judged else None


class Cues(Part):
    """Cues saved by name, and thumbs up or down."""

    @property
    def saved_cues(self) -> tuple[SavedCue, ...]:
        """The saved cues, in the order in which they were first saved."""
        return self.context.parsed("cues", parse_cues)

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """The judgments on the answers to each cue, in the order in which the cues were first judged."""
        return self.context.parsed("judgments", parse_judgments)

    def check_cues(self, now: datetime | None = None) -> list[CueResult]:
        """Ask every saved cue with the agent's settings, and say which are answered as they must be; touches nothing.

        Raises:
            InvalidParameter: ``now`` is not a time with a zone.
        """
        moment = self.context.time(now)
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
        moment = self.context.time(now)
        judgment = judgment_of(self.judgments, checked_cue(cue))
        found = {}
        for name in names:
            query = self._tried(cue, name, moment, top_k)
            verdicts = [
                judgment.verdict(hit.entry.id) if judgment else None for hit in Retrieval(self.context).answer(query)
            ]
            found[name] = Precision(verdicts.count(True), verdicts.count(False), verdicts.count(None), query.top_k)
        return found

    def versus(
        self,
        first: str,
        second: str,
        *,
        now: datetime | None = None,
        top_k: int | None = None,
        cues: Sequence[str] | None = None,
        without: Sequence[str] = (),
    ) -> Versus:
        """On how many of the last 200 judged cues one preset is better than another, and what is missing to decide.

        Args:
            first: a name of ``PRESETS``, or ``settings`` for the agent's own.
            second: the same, for the other.
            now: the world's time at which the cues are asked.
            top_k: most memories to recall; the agent's setting if not given.
            cues: only these count; all judged ones if not given. ``Conversation.versus`` counts those of a talk.
            without: ids of memories to leave out, for this call only.

        Raises:
            InvalidParameter: there is no such preset, or another parameter is out of its range.
        """
        moment, facets = self.context.time(now), Facets(without=tuple(edit.listed(without, "'without'")))

        def tried(cue: str, name: str) -> Query:
            return replace(self._tried(cue, name, moment, top_k), facets=facets)

        def recalled(cue: str, name: str) -> list[str]:
            return [hit.entry.id for hit in Retrieval(self.context).answer(tried(cue, name))]

        tried("any", first), tried("any", second)  # names are checked first
        counted = None if cues is None else {cue.strip() for cue in edit.listed(cues, "'cues'")}
        judged = [judgment for judgment in self.judgments if counted is None or judgment.cue in counted][-MOST_JUDGED:]
        return versus((judgment, recalled(judgment.cue, first), recalled(judgment.cue, second)) for judgment in judged)

    def tune(
        self, *, now: datetime | None = None, preview: bool = False, progress: Progress = no_progress
    ) -> ChangeSet:
        """Fit weights, decay, threshold and retention to labels, if the gain can be shown.

        Labels are the thumbs, the saved cues, and what the tests of the world's story expect it to recall at present.

        The change set gives the gain on held-out labels with its interval, and the answers that get worse. It is empty,
        and says why, if there are too few labels or the gain is not shown; see ``operations.tuning``. Each cue is asked
        under some 100 to 200 settings.

        Args:
            now: the world's time at which the cues are asked.
            preview: whether to plan only.
            progress: called with the progress so far; it may raise to cancel.

        Raises:
            InvalidParameter: ``now`` is not a time with a zone.
            InvalidDocument: something in the file of the story's tests is wrong.
            OtherEmbedder: the agent's vectors were made by an embedder other than the chosen one.
        """
        refuse_uncallable(progress=progress)
        tunable = self.tunable(now, tuning.enough)
        found = kept = None
        if tuning.enough(tunable.labels):
            found = tuning.fit([self.asked(tunable)], progress)
            kept = tuning.fit_retention([self.judged(tunable)])
        proposal = tuning.proposed(tunable.labels, tunable.settings, found, kept)
        return self.context.done(self.tuned(tunable, proposal), preview)

    def tunable(
        self,
        now: datetime | None,
        asked: Callable[[Sequence[tuning.Labelled]], bool],
        most: int = tuning.MAX_CUES,
    ) -> Tunable:
        """What the agent can be tuned on.

        Args:
            now: the world's time at which the cues are asked.
            asked: called with the labels: whether the cues will be asked; if so, all that is needed for it is read.
            most: how many labelled cues to use, the last ones.

        Raises:
            InvalidParameter: ``now`` is not a time with a zone.
            InvalidDocument: something in the file of the story's tests is wrong.
            OtherEmbedder: the agent's vectors were made by an embedder other than the chosen one.
        """
        context, moment = self.context, self.context.time(now)
        context.refresh()
        context.ledger.refuse_other_embedder()
        with context.ledger.reading():
            saved = (*self.saved_cues, *self._of_the_story())
            labels = tuning.labelled(
                self.judgments, saved, lambda entry_id: context.held_or_known(entry_id) is not None
            )
            first = max(0, len(labels) - most)
            found = Tunable(
                moment, context.ledger.revision, context.ledger.text("settings"), context.settings, labels[first:]
            )
            if not asked(found.labels):
                return found
            tables = {tier: table.copied() for tier, table in context.lived(moment).items()} if found.labels else {}
            entries = self._judged_by_retention()
            ids = {entry.id for entry in entries}
            of_retention = tuning.labelled(self.judgments, saved, ids.__contains__)
        last = of_retention[max(0, len(of_retention) - most) :]
        return replace(found, tables=tables, of_retention=last, entries=entries)

    def asked(self, tunable: Tunable) -> tuning.Asked:
        """The labelled cues, ready to be asked under other settings."""
        context, cues = self.context, [label.cue for label in tunable.labels]
        vectors = dict(zip(cues, context.cue_vectors(cues), strict=True))
        asker = Asker(tunable.tables, vectors, context.display_name, _measured_once(Hybrid(context.tokens)))
        query = partial(Retrieval(context).query, now=tunable.at)
        return tuning.Asked(context.name, tunable.labels, tunable.settings, asker, query)

    def judged(self, tunable: Tunable) -> tuning.Judged:
        """What the rule of retention judges, ready to be judged by other rules."""
        return tuning.Judged(self.context.name, tunable.of_retention, tunable.settings, tunable.entries)

    def tuned(self, tunable: Tunable, proposal: tuning.Proposal) -> ChangeSet:
        """The change set of a proposal for this agent; empty if nothing is proposed."""
        context, notes = self.context, proposal.notes
        planned = partial(context.plan, tuning.TUNE, proposal.title, revision=tunable.revision)
        if not proposal:
            return planned(notes=notes)
        text = TextChange("settings", tunable.held, proposal.over(tunable.settings).to_json())
        own = proposal.told_of(context.name, lambda entry_id: context.last_version(entry_id).document)
        return planned(texts=(text,), notes=(*notes, *own))

    def _of_the_story(self) -> list[SavedCue]:
        """What the tests of the world's story expect to be recalled at present, as saved cues."""
        tests = () if self.context.knows is None else self.context.knows.to_be_recalled()
        entries = [entry for tier in LIVED for entry in self.context.entries(tier)] if tests else []
        documents = {entry.id: entry.document.casefold() for entry in entries}
        found = []
        for number, (cue, recalls) in enumerate(tests, start=1):
            words = recalls.casefold()
            must = [recalls] if recalls in documents else [name for name, said in documents.items() if words in said]
            if must:
                found.append(SavedCue(f"test {number}", cue, tuple(must[:MAX_IDS])))
        return found

    def _judged_by_retention(self) -> list[MemoryEntry]:
        """What migration may judge, and what it last forgot: rated, and neither pinned, protected nor authored."""
        entries = [entry for tier in DECAYING for entry in self.context.entries(tier)]
        gone = [memory.entry for memory in self.context.ledger.journal.forgotten(MOST_GONE, 0, "", MIGRATE)]
        every = {entry.id: entry for entry in (*gone, *entries)}.values()
        return [entry for entry in every if entry.rating and not (entry.pinned or entry.protected or entry.authored)]

    def judgments_jsonl(self, *, memories: bool = False) -> str:
        """The judgments as JSON lines, as ``python -m memory_system evaluate`` reads them.

        With ``memories`` every memory precedes them on a line of its own, so that the file can be evaluated by itself;
        judged memories that are forgotten are then left out.
        """
        entries = [entry for tier in LIVED for entry in self.context.entries(tier)] if memories else None
        return judgments_jsonl(self.judgments, entries)

    def _tried(self, cue: str, name: str, now: datetime, top_k: int | None) -> Query:
        named = name if isinstance(name, str) else ""
        if named == OWN_SETTINGS:
            return Retrieval(self.context).query(cue, top_k, now=now)
        preset = PRESETS.get(named)
        if preset is None:
            raise InvalidParameter(there_is_no("preset", name, (*PRESETS, OWN_SETTINGS)))
        return Retrieval(self.context).query(cue, top_k, now=now).by(preset)

    def _checked(self, saved: SavedCue, now: datetime) -> CueResult:
        recalled = tuple(
            hit.entry.id for hit in Retrieval(self.context).answer(Retrieval(self.context).query(saved.cue, now=now))
        )
        gone = tuple(entry_id for entry_id in (*saved.must, *saved.must_not) if self.context.find(entry_id) is None)
        missing = tuple(entry_id for entry_id in saved.must if entry_id not in recalled)
        unwanted = tuple(entry_id for entry_id in saved.must_not if entry_id in recalled)
        return CueResult(saved, missing, unwanted, gone, recalled)

    def save_cue(
        self,
        name: str,
        cue: str,
        must: MemoryIds = (),
        must_not: MemoryIds = (),
        *,
        preview: bool = False,
    ) -> ChangeSet:
        """Save a cue by name, with what it must and must not recall; one of the same name is replaced.

        Args:
            name: 1 to 80 characters, whose case does not matter.
            cue: what memory is asked, 1 to 32,000 characters.
            must: memories, or their ids, that have to be recalled, at most 100.
            must_not: memories, or their ids, that must not be, at most 100; forgotten ones are allowed.
            preview: whether to plan only.

        Raises:
            InvalidParameter: a name, cue or list is not as described, or 200 cues are saved already.
            EntryNotFound: an id in ``must`` has no memory, or one in ``must_not`` never had one.
            StaleChange: others kept changing the saved cues meanwhile. Nothing was changed.
        """
        saved = SavedCue(name, cue, tuple(edit.ids_of(must)), tuple(edit.ids_of(must_not)))
        return self.context.planned_and_done(lambda: self._saving(saved), preview)

    def _saving(self, saved: SavedCue) -> ChangeSet:
        for entry_id in saved.must:
            if self.context.find(entry_id) is None:
                raise EntryNotFound(f"There is no memory {shown(entry_id)}, so it cannot be one that must be recalled.")
        for entry_id in saved.must_not:
            self.context.last_version(entry_id)
        before = self.context.ledger.text("cues")
        cues = parse_cues(before)
        after = with_cue(cues, saved)
        text = before if after == cues else dump_cues(after)
        return self._keeping(TextChange("cues", before, text), f"Save the cue “{saved.name}”")

    def remove_cue(self, name: str, *, preview: bool = False) -> ChangeSet:
        """Remove a saved cue; the case of the name does not matter.

        Raises:
            CueNotFound: there is no saved cue of this name.
        """
        return self.context.planned_and_done(lambda: self._removing(name), preview)

    def _removing(self, name: str) -> ChangeSet:
        key = name_key(name)
        before = self.context.ledger.text("cues")
        cues = parse_cues(before)
        removed = next((cue for cue in cues if name_key(cue.name) == key), None)
        if removed is None:
            raise CueNotFound(f"{self.context.name} has no saved cue {shown(name)}.")
        text = dump_cues([cue for cue in cues if cue is not removed])
        return self._keeping(TextChange("cues", before, text), f"Remove the cue “{removed.name}”")

    def judge(self, cue: str, entry_id: MemoryId, verdict: bool | None, *, preview: bool = False) -> ChangeSet:
        """Say that a memory is a right (true) or a wrong (false) answer to a cue, or take that back (``None``).

        Raises:
            InvalidParameter: the cue or the verdict is not valid, or the list of judgments is full.
            EntryNotFound: there is no such memory (unless a judgment is taken back).
            StaleChange: others kept judging meanwhile. Nothing was changed.
        """
        return self.context.planned_and_done(lambda: self._judging(cue, id_of(entry_id), verdict), preview)

    def _judging(self, cue: str, entry_id: str, verdict: bool | None) -> ChangeSet:
        asked = checked_cue(cue).strip()
        if verdict is not None and not isinstance(verdict, bool):
            raise InvalidParameter(f"The verdict must be True, False, or None to take it back, not {shown(verdict)}.")
        if not isinstance(entry_id, str):
            raise InvalidParameter(f"The id of a memory must be text, not {shown(entry_id)}.")
        entry = self.context.find(entry_id) if verdict is not None else self.context.last_version(entry_id)
        if entry is None:
            raise EntryNotFound(f"There is no memory {shown(entry_id)}, so it cannot be judged.")
        before = self.context.ledger.text("judgments")
        judgments = parse_judgments(before)
        after = with_verdict(judgments, asked, entry.id, verdict)
        text = before if after == judgments else dump_judgments(after)
        what = f"{excerpt(entry.document)} for {excerpt(asked)}"
        title = f"Take back the judgment of {what}" if verdict is None else f"Judge {what}: {_WORDS[verdict]}"
        return self._keeping(TextChange("judgments", before, text), title)

    def _keeping(self, text: TextChange, title: str) -> ChangeSet:
        texts = (text,) if text.before != text.after else ()
        return self.context.plan(text.name, title if texts else "Nothing to change", texts=texts)
