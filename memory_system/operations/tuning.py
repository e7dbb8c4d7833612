"""Tuning: weights, decay, threshold and retention that suit labelled cues better, if that can be shown.

The cues are those of one agent, or of several with the same settings: each cue is asked of its own agent, and all are
tuned to the same values.

A labelled cue names memories that were judged right or wrong answers to it, that a saved cue must or must not recall,
or that a test of the world's story expects. The measure is how well each answer matches its labels, the F measure
2 TP / (TP + FP + right) of van Rijsbergen 1979, "Information Retrieval", chapter 7; for a cue without a right memory,
whether nothing wrong is recalled.

Labels are given to what was recalled, so any other answer has fewer memories that are known to be wrong. That would
favour every change; so memories that the settings in use do not recall and nobody judged count as wrong too (as in
TREC, where what was not judged is not relevant). To gain, right memories have to come in, or wrong ones to stay out and
leave their seats empty. A right memory that is not recalled can only be gained, though; so the expected gain of
memories drawn at random into the new seats is subtracted (as in the adjusted Rand index: Hubert and Arabie 1985,
Journal of Classification 2).

The settings are searched one at a time over a few values each, from those in use, twice over; a value is used only
if the answers match better. The gain is measured on cues that the search has not seen (5-fold
cross-validation), with a 95 % bootstrap interval over cues (the percentile method: Efron & Tibshirani 1993, "An
Introduction to the Bootstrap", chapter 13). Nothing is proposed unless the whole interval is above 0.

Retention is fitted to the same labels: the rule and threshold that keep most of the right memories of a cue, among
those remembered and those that migration forgot, without keeping more memories in all than the rule in use. It is
measured on held-out cues, and proposed, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.change_set import counted, excerpt
from ..core.decay import DecayForm
from ..core.entry import MemoryEntry
from ..core.scoring import Floats
from ..core.settings import AgentSettings, Retention
from ..llm.extractive import quote
from ..recall.cues import Judgment, SavedCue
from ..recall.forecast import Asker
from ..recall.query import Query
from .context import Progress
from .retention import rule_of

TUNE = "tune"
MIN_CUES = 20
"""How many labelled cues are needed for tuning."""
MORE_NEEDED = "more labelled cues are needed"
"""The end of the message if there are fewer, after their number."""
MAX_CUES = 200
"""The most labelled cues that are asked: the latest ones."""
FOLDS, RESAMPLES, SEED = 5, 1_000, 20_260_327
_WORSE_TOLD = 10
_WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
_SWEEPS = 2
_VALUES: Mapping[str, Sequence[Any]] = {
    "recency": _WEIGHTS,
    "importance": _WEIGHTS,
    "decay": (0.9, 0.97, 0.99, 0.995, 0.999, 0.9999),
    "decay_form": tuple(DecayForm),
    "threshold": tuple(step / 20 for step in range(1, 20)),
}
_NAMES = {
    "recency": "The weight of recency",
    "importance": "The weight of importance",
    "decay": "The decay",
    "decay_form": "The form of decay",
    "threshold": "The threshold",
}
_CHANCES = (0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3)
_RULES: Sequence[Mapping[str, Any]] = (
    *({"retention": Retention.LEARNED, "retention_threshold": chance} for chance in _CHANCES),
    *({"retention": Retention.IMPORTANCE, "migration_threshold": step / 10} for step in range(1, 10)),
)


@dataclass(frozen=True)
class Point:
    """The settings that are tuned."""

    recency: float
    importance: float
    decay: float
    decay_form: DecayForm
    threshold: float

    @classmethod
    def of(cls, settings: AgentSettings) -> Self:
        """The point that some settings are at."""
        scoring = settings.scoring
        weights = scoring.weights
        return cls(weights.recency, weights.importance, scoring.decay, scoring.decay_form, settings.threshold)

    def over(self, settings: AgentSettings) -> AgentSettings:
        """The settings with these values."""
        weights = replace(settings.scoring.weights, recency=self.recency, importance=self.importance)
        scoring = replace(settings.scoring, weights=weights, decay=self.decay, decay_form=self.decay_form)
        return replace(settings, threshold=self.threshold, scoring=scoring)


@dataclass(frozen=True)
class Labelled:
    """A cue with the ids of its right and its wrong memories, no memory in both."""

    cue: str
    right: frozenset[str]
    wrong: frozenset[str]


def labelled(
    judgments: Iterable[Judgment], saved: Iterable[SavedCue], held: Callable[[str], bool]
) -> tuple[Labelled, ...]:
    """The labels of thumbs and saved cues, per cue; memories that were forgotten or labelled both ways are left out."""
    right: dict[str, set[str]] = {}
    wrong: dict[str, set[str]] = {}
    labels = [(judgment.cue, judgment.right, judgment.wrong) for judgment in judgments] + [
        (saved_cue.cue, saved_cue.must, saved_cue.must_not) for saved_cue in saved
    ]
    for cue, good, bad in labels:
        right.setdefault(cue, set()).update(good)
        wrong.setdefault(cue, set()).update(bad)
    every = (
        Labelled(
            cue, frozenset(filter(held, right[cue] - wrong[cue])), frozenset(filter(held, wrong[cue] - right[cue]))
        )
        for cue in right
    )
    return tuple(labelled for labelled in every if labelled.right or labelled.wrong)


def enough(pool: Iterable[Labelled]) -> bool:
    """Whether enough cues have a right memory for tuning."""
    return _missing(pool) <= 0


def _missing(pool: Iterable[Labelled]) -> int:
    return MIN_CUES - sum(bool(labelled.right) for labelled in pool)


def ways(settings: AgentSettings) -> dict[str, Any]:
    """The settings for recall and retention, by name: agents with equal ones can be tuned together."""
    scoring = asdict(settings.scoring)
    weights = {f"weight of {name}": value for name, value in scoring.pop("weights").items()}
    own = {name.replace("_", " "): value for name, value in scoring.items()}
    return {"threshold": settings.threshold, **weights, **own, "retention": _rule_told(settings)}


@dataclass(frozen=True)
class Asked:
    """An agent with labelled cues, and how they are asked.

    Args:
        agent: its name.
        labels: see ``labelled``.
        settings: those in use.
        asker: asks the memory as it is now.
        query: a cue's query with the settings in use.
    """

    agent: str
    labels: Sequence[Labelled]
    settings: AgentSettings
    asker: Asker
    query: Callable[[str], Query]


@dataclass(frozen=True)
class Judged:
    """An agent, and the memories that its retention rule judges.

    Args:
        agent: its name.
        labels: see ``labelled``; those without a right memory among the entries say nothing here.
        settings: those in use.
        entries: rated memories that migration may judge, or has forgotten.
    """

    agent: str
    labels: Sequence[Labelled]
    settings: AgentSettings
    entries: Sequence[MemoryEntry]


@dataclass(frozen=True)
class Worse:
    """A labelled answer that would get worse: the agent, the cue, the memory's id, and whether it would be missing."""

    agent: str
    cue: str
    entry_id: str
    missed: bool


@dataclass(frozen=True)
class Fit:
    """What tuning found.

    Args:
        start: what is in use.
        point: what is proposed; what is in use if nothing is.
        now: how well the answers match their labels with the settings in use, 0 to 1: the mean F over cues.
        then: the same of held-out cues, with settings that were fitted without them.
        low: the lower end of the 95 % interval of what is gained on held-out cues, -1 to 1.
        high: the upper end of it.
        each: ``now`` and ``then`` of each agent's own cues, by its name.
        worse: each answer that would get worse.
    """

    start: Point
    point: Point
    now: float
    then: float
    low: float
    high: float
    each: Mapping[str, tuple[float, float]]
    worse: tuple[Worse, ...] = ()

    @property
    def shown(self) -> bool:
        """Whether the gain is shown: the whole interval is above 0."""
        return self.low > 0


@dataclass(frozen=True)
class Keeping:
    """What tuning found about retention.

    Args:
        rule: the settings that are proposed; empty if nothing is.
        now: the share of a cue's right memories that the rule in use keeps, 0 to 1, the mean over cues.
        then: the same of held-out cues, by rules that were fitted without them.
        low: the lower end of the 95 % interval of what is gained on held-out cues, -1 to 1.
        high: the upper end.
        kept: the ids of what would now be kept, by the agent's name.
        forgotten: the ids of what would now be forgotten.
    """

    rule: Mapping[str, Any]
    now: float
    then: float
    low: float
    high: float
    kept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    forgotten: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def fit_retention(pool: Sequence[Judged]) -> Keeping | None:
    """Fit the retention rule to labels; nothing is changed.

    Args:
        pool: agents with the same rule in use.

    Returns:
        what was found; ``None`` if fewer than ``MIN_CUES`` cues have labels that count.
    """
    ids = [{entry.id for entry in member.entries} for member in pool]
    rights = [
        (at, right) for at, member in enumerate(pool) for label in member.labels if (right := label.right & ids[at])
    ]
    if len(rights) < MIN_CUES:
        return None
    rules: list[Mapping[str, Any]] = [{}, *_RULES]
    kept = [[_kept(replace(member.settings, **rule), member.entries) for member in pool] for rule in rules]
    sizes = [sum(map(len, some)) for some in kept]
    able = [place for place, size in enumerate(sizes) if size <= sizes[0]]
    values = np.array([[len(right & kept[place][at]) / len(right) for at, right in rights] for place in able])

    def best(cues: NDArray[np.intp]) -> int:
        return int(np.argmax(values[:, cues].mean(axis=1)))  # the first of equals, which is the one in use

    held_out, low, high = _held_out(len(rights), lambda seen: values[best(seen)], values[0])
    now, then = float(values[0].mean()), float(held_out.mean())
    chosen = able[best(np.arange(len(rights)))]
    if low <= 0 or chosen == 0:
        return Keeping({}, now, then, low, high)
    both = [(member.agent, kept[0][at], kept[chosen][at]) for at, member in enumerate(pool)]
    more = {agent: tuple(sorted(after - before)) for agent, before, after in both}
    less = {agent: tuple(sorted(before - after)) for agent, before, after in both}
    return Keeping(rules[chosen], now, then, low, high, more, less)


def _kept(settings: AgentSettings, entries: Sequence[MemoryEntry]) -> frozenset[str]:
    verdicts = rule_of(settings).judge(entries, ())
    return frozenset(entry_id for entry_id, verdict in verdicts.items() if verdict.kept)


def _held_out(count: int, fitted: Callable[[NDArray[np.intp]], Floats], before: Floats) -> tuple[Floats, float, float]:
    """The values of cues that the fit has not seen, shape (n,), and the 95 % interval of what they gain.

    Args:
        count: how many cues there are.
        fitted: the values of all cues, shape (n,), after fitting on some of them.
        before: the values with the settings in use, shape (n,).
    """
    order = np.random.default_rng(SEED).permutation(count)
    values = np.empty(count)
    for fold in range(FOLDS):
        unseen = order[fold::FOLDS]
        values[unseen] = fitted(np.setdiff1d(order, unseen))[unseen]
    gains = values - before
    draws = np.random.default_rng(SEED).integers(count, size=(RESAMPLES, count))
    low, high = np.percentile(gains[draws].mean(axis=1), (2.5, 97.5))
    return values, float(low), float(high)


def fit(pool: Sequence[Asked], progress: Progress) -> Fit:
    """Fit weights, decay and threshold to labels; nothing is changed.

    Args:
        pool: one agent or several, with the same ``ways``; together with ``enough`` labels.
        progress: called with the progress so far; it may raise to cancel.
    """
    tried = _Tried(pool, progress)
    start, before = tried.start, tried.values(tried.start)
    held_out, low, high = _held_out(len(before), lambda seen: tried.values(_searched(tried, start, seen)), before)
    each, end = {}, 0
    for member in pool:
        own = slice(end, end := end + len(member.labels))
        each[member.agent] = float(before[own].mean()), float(held_out[own].mean())
    found = Fit(start, start, float(before.mean()), float(held_out.mean()), low, high, each)
    best = _searched(tried, start, np.arange(len(before))) if found.shown else start
    if best == start:
        return replace(found, low=min(found.low, 0.0))
    return replace(found, point=best, worse=tuple(tried.worse(start, best)))


def _searched(tried: _Tried, start: Point, rows: NDArray[np.intp]) -> Point:
    """The best point found by changing one value at a time; the first of equals, so that little changes."""
    best, value = start, float(tried.values(start)[rows].mean())
    for _ in range(_SWEEPS):
        before = best
        for name, options in _VALUES.items():
            for option in options:
                point = replace(best, **{name: option})
                if (reached := float(tried.values(point)[rows].mean())) > value + 1e-9:
                    best, value = point, reached
        if best == before:
            break
    return best


class _Tried:
    """The result for every label under other settings; each setting is tried once."""

    def __init__(self, pool: Sequence[Asked], progress: Progress) -> None:
        self.start = Point.of(pool[0].settings)
        self._cues = [(member, label, member.query(label.cue)) for member in pool for label in member.labels]
        self._progress = progress
        self._results: dict[Point, tuple[Floats, list[frozenset[str]]]] = {}
        self._shown = self._recalled(self.start)
        sizes = {member.agent: sum(map(len, member.asker.tables.values())) for member in pool}
        self._memories = [sizes[member.agent] for member, *_ in self._cues]

    def values(self, point: Point) -> Floats:
        """How well each cue's answer matches its labels, shape (n,), 0 to 1."""
        return self._asked(point)[0]

    def worse(self, start: Point, then: Point) -> Iterator[Worse]:
        """The labels that are right at the one point and wrong at the other."""
        answers = zip(self._cues, self._asked(start)[1], self._asked(then)[1], strict=True)
        for (asked, label, _), before, after in answers:
            yield from (
                Worse(asked.agent, label.cue, entry_id, True) for entry_id in sorted(label.right & before - after)
            )
            yield from (
                Worse(asked.agent, label.cue, entry_id, False) for entry_id in sorted(label.wrong & after - before)
            )

    def _asked(self, point: Point) -> tuple[Floats, list[frozenset[str]]]:
        if point not in self._results:
            most = 1 + _SWEEPS * sum(map(len, _VALUES.values()))
            self._progress(min(0.99, len(self._results) / most), f"tried {len(self._results)} settings")
            recalled = self._recalled(point)
            cues = zip(self._cues, recalled, self._shown, self._memories, strict=True)
            matches = [_match(label, found, shown, memories) for (_, label, _), found, shown, memories in cues]
            self._results[point] = np.array(matches), recalled
        return self._results[point]

    def _recalled(self, point: Point) -> list[frozenset[str]]:
        answers = []
        for member, _, query in self._cues:
            settings = point.over(member.settings)
            asked = replace(query, threshold=settings.threshold, scoring=settings.scoring)
            answers.append(frozenset(hit.entry.id for hit in member.asker.answer(asked)))
        return answers


def _match(labels: Labelled, recalled: frozenset[str], shown: frozenset[str], memories: int) -> float:
    """The F measure of an answer, less what newcomers drawn from all memories would score.

    What is neither judged nor shown by the settings in use counts as wrong.
    """
    newcomers, wrong = len(recalled - shown), len(recalled - labels.right - (shown - labels.wrong))
    if not labels.right:
        return float(not wrong)
    by_chance = len(labels.right - shown) * newcomers / max(1, memories - len(shown))
    found = len(labels.right & recalled) - by_chance
    return 2 * found / (len(labels.right & recalled) + wrong + len(labels.right))


@dataclass(frozen=True)
class Proposal:
    """What a fit proposes, in words and in settings.

    Args:
        title: what it is.
        notes: what was found, in sentences.
        found: the fit; ``None`` if there were too few labels.
        keeping: the fit of retention; ``None`` if there were too few labels for it.
    """

    title: str
    notes: tuple[str, ...]
    found: Fit | None = None
    keeping: Keeping | None = None

    def __bool__(self) -> bool:
        """Whether anything is proposed."""
        return self.found is not None and (self.found.point != self.found.start or bool(self._rule))

    def over(self, settings: AgentSettings) -> AgentSettings:
        """An agent's settings with the proposed values in place of their own."""
        assert self.found is not None, "nothing is proposed without a fit"
        return replace(self.found.point.over(settings), **self._rule)

    def told_of(self, agent: str, document: Callable[[str], str]) -> tuple[str, ...]:
        """What would get worse, be kept and be forgotten for one agent, in sentences.

        Args:
            agent: its name.
            document: the text of the memory with an id.
        """
        assert self.found is not None, "nothing is proposed without a fit"
        worse = [worse for worse in self.found.worse if worse.agent == agent]
        sentences = [
            f"Worse: {excerpt(answer.cue)} {'no longer recalls' if answer.missed else 'now recalls'} "
            f"{quote(document(answer.entry_id))}."
            for answer in worse[:_WORSE_TOLD]
        ]
        if len(worse) > _WORSE_TOLD:
            sentences.append(f"Worse: {len(worse) - _WORSE_TOLD} more answers.")
        sentences = sentences or ["No labelled answer gets worse."]
        for what, ids in (("kept", self.keeping.kept), ("forgotten", self.keeping.forgotten)) if self.keeping else ():
            own = ids.get(agent, ())
            sentences += [f"Would now be {what}: {quote(document(entry_id))}." for entry_id in own[:_WORSE_TOLD]]
            sentences += [f"Would now be {what}: {len(own) - _WORSE_TOLD} more."] if len(own) > _WORSE_TOLD else []
        return tuple(sentences)

    @property
    def _rule(self) -> Mapping[str, Any]:
        return self.keeping.rule if self.keeping else {}


def proposed(
    labels: Sequence[Labelled],
    settings: AgentSettings,
    found: Fit | None,
    keeping: Keeping | None,
    what: str = "Tune",
) -> Proposal:
    """What a fit proposes; nothing, with the reason, if there were too few labels or no gain is shown.

    Args:
        labels: the labels.
        settings: the tuned settings in use.
        found: the fit; ``None`` if there were too few labels.
        keeping: the fit of retention; ``None`` if there were too few labels for it.
        what: what is done, as the beginning of the title.
    """
    notes = [f"Labelled: {in_words(labels)}."]
    if found is None:
        missing = _missing(labels)
        notes.append(
            f"Tuning needs {MIN_CUES} cues with a right memory: {missing} more have to be judged on Recall, or saved "
            "with what they must recall."
        )
        return Proposal(f"Nothing is tuned: {missing} {MORE_NEEDED}", tuple(notes))
    notes.append(
        f"The labelled answers match by {found.now:.0%} with the settings in use (F measure), and by {found.then:.0%} "
        f"when tuned without them: {_gain(found.then - found.now)} points (95 % interval {_gain(found.low)} to "
        f"{_gain(found.high)})."
    )
    title = f"{what}: {_gain(found.then - found.now)} points on held-out cues"
    if found.point == found.start:
        rule = bool(keeping and keeping.rule)
        title = f"{what}: another rule of what is kept" if rule else "Nothing is tuned: no gain shows on held-out cues"
        changed = "nothing of recall is changed" if rule else "nothing is proposed"
        notes.append(f"The gain does not show on cues that were held out, so {changed}.")
    notes += _told_of(keeping, settings) if keeping else ()
    before, after = vars(found.start), vars(found.point)
    notes += [
        f"{words} {before[name]} → {after[name]}." for name, words in _NAMES.items() if before[name] != after[name]
    ]
    return Proposal(title, tuple(notes), found, keeping)


def in_words(labels: Sequence[Labelled]) -> str:
    """How many cues were labelled, and with how many memories."""
    wrongs, rights = (sum(len(getattr(label, name)) for label in labels) for name in ("wrong", "right"))
    wrong = counted(wrongs, "wrong memory", "wrong memories")
    return f"{counted(len(labels), 'cue')} with {rights:,} right and {wrong}"


def _told_of(keeping: Keeping, settings: AgentSettings) -> Iterator[str]:
    """What was found about retention, in sentences."""
    yield (
        f"Of the right memories {keeping.now:.0%} are kept by the rule of retention in use, and {keeping.then:.0%} by "
        f"one that was tuned without them and keeps no more: {_gain(keeping.then - keeping.now)} points (95 % interval "
        f"{_gain(keeping.low)} to {_gain(keeping.high)})."
    )
    if keeping.rule:
        yield f"Retention {_rule_told(settings)} → {_rule_told(replace(settings, **keeping.rule))}."
    else:
        yield "So retention stays as it is."


def _rule_told(settings: AgentSettings) -> str:
    if settings.retention is Retention.LEARNED:
        return f"learned, above {settings.retention_threshold:g}"
    return f"by importance, above {settings.migration_threshold:g}"


def _gain(share: float) -> str:
    return f"{100 * share:+.1f}"
