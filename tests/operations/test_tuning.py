"""Tuning: what labels teach is proposed and proved on others; too few, or random ones, change nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest

from memory_system import AgentMemory, AgentSettings, MemoryEntry, Query, Scoring, Seats, Tier, Weights, World
from memory_system.core.settings import Retention
from memory_system.operations.context import no_progress
from memory_system.operations.tuning import (
    MIN_CUES,
    Asked,
    Fit,
    Judged,
    Keeping,
    Labelled,
    Point,
    fit,
    fit_retention,
    labelled,
)
from memory_system.recall.cues import Judgment, SavedCue
from memory_system.recall.forecast import Asker
from memory_system.recall.table import Table
from memory_system.world.knows import Sort, StoryTest
from tests.conftest import NOW

Remember = Callable[..., str]
Rng = np.random.Generator
PLAIN = Scoring(Weights(0, 0, 1), seats=Seats.RANKING)


def asker_over(rng: Rng, cues: int, memories: int = 60) -> Asker:
    """Memories and cues that are all about as relevant to each other."""
    tables = {tier: Table() for tier in Tier}
    drawn = rng.standard_normal((memories + cues, 6)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    for number in range(memories):
        when = NOW - timedelta(hours=float(rng.integers(2, 900)))
        rating = int(rng.integers(1, 11))
        entry = MemoryEntry(f"y {number}", id=f"m{number:03d}", tier=Tier.LTM, rating=rating, timestamp=when)
        tables[Tier.LTM].put(entry, drawn[number])
    return Asker(tables, {f"cue {number}": drawn[memories + number] for number in range(cues)}, "Mira")


def asked(settings: AgentSettings) -> Callable[[str], Query]:
    return lambda cue: Query(
        cue, NOW, settings.top_k, settings.threshold, settings.static_threshold, scoring=settings.scoring
    )


def as_wanted(asker: Asker, wanted: AgentSettings) -> list[Labelled]:
    """Labels of somebody who wants what other settings recall, and no more than that of what stands near it."""
    labels = []
    for cue in asker.vectors:
        query = asked(wanted)(cue)
        ranking = [hit.entry.id for hit in asker.answer(Query(cue, NOW, 12, 0.0, scoring=wanted.scoring))]
        right = {hit.entry.id for hit in asker.answer(query)}
        labels.append(Labelled(cue, frozenset(right), frozenset(set(ranking) - right)))
    return labels


def at_random(rng: Rng, asker: Asker, settings: AgentSettings) -> list[Labelled]:
    """Thumbs on what is recalled, and on what is not, as they fall."""
    labels = []
    for cue in asker.vectors:
        shown = [hit.entry.id for hit in asker.answer(Query(cue, NOW, 10, 0.0, scoring=settings.scoring))]
        thumbs = rng.random(len(shown)) < 0.4
        right = frozenset(itertools.compress(shown, thumbs))
        labels.append(Labelled(cue, right, frozenset(shown) - right))
    return labels


def fitted(labels: list[Labelled], settings: AgentSettings, asker: Asker) -> Fit:
    return fit([Asked("mira", labels, settings, asker, asked(settings))], no_progress)


OWN = AgentSettings(scoring=PLAIN, threshold=0.3)


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        (AgentSettings(scoring=Scoring(Weights(0, 1, 1), seats=Seats.RANKING), threshold=0.3), "importance"),
        (AgentSettings(scoring=Scoring(Weights(1, 0, 1), 0.995, seats=Seats.RANKING), threshold=0.3), "recency"),
    ],
)
def test_what_labels_teach_is_found_and_holds_for_cues_that_were_not_seen(wanted: AgentSettings, name: str) -> None:
    asker = asker_over(np.random.default_rng(1), 30)
    found = fitted(as_wanted(asker, wanted), OWN, asker)
    assert found.shown
    assert found.then > found.now + 0.1
    assert getattr(found.point, name) >= 0.25
    unseen = asker_over(np.random.default_rng(2), 30)
    before, after = (
        np.mean(
            [
                len({hit.entry.id for hit in unseen.answer(asked(settings)(one.cue))} & one.right)
                for one in as_wanted(unseen, wanted)
            ]
        )
        for settings in (OWN, found.point.over(OWN))
    )
    assert after > before + 1, "of five right memories"


def test_settings_that_answer_all_labels_stay() -> None:
    asker = asker_over(np.random.default_rng(3), 25)
    found = fitted(as_wanted(asker, OWN), OWN, asker)
    assert (found.point, found.now, found.worse) == (Point.of(OWN), 1.0, ())
    assert not found.shown


def elsewhere(rng: Rng, asker: Asker, settings: AgentSettings) -> list[Labelled]:
    """What is recalled is wrong, what is right is drawn from all: any other answer has fewer that are known wrong."""
    names = asker.tables[Tier.LTM].ids
    labels = []
    for cue in asker.vectors:
        wrong = {hit.entry.id for hit in asker.answer(asked(settings)(cue))}
        right = set(rng.choice(names, 2)) - wrong
        labels.append(Labelled(cue, frozenset(map(str, right)), frozenset(wrong)))
    return labels


@pytest.mark.parametrize("labels_of", [at_random, elsewhere])
@pytest.mark.parametrize("seed", range(4))
def test_random_labels_change_nothing(labels_of: Callable[..., list[Labelled]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    asker = asker_over(rng, 25, 40)
    found = fitted(labels_of(rng, asker, OWN), OWN, asker)
    assert not found.shown
    assert found.point == Point.of(OWN)


def test_what_nobody_judged_is_no_better_than_what_is_wrong() -> None:
    asker = asker_over(np.random.default_rng(7), 25)
    labels = []
    for cue in asker.vectors:
        first, *others = [hit.entry.id for hit in asker.answer(asked(OWN)(cue))]
        labels.append(Labelled(cue, frozenset([first]), frozenset(others)))
    found = fitted(labels, OWN, asker)
    assert (found.point.recency, found.point.importance) == (0, 0), "other memories in the other seats are no gain"


def kept_by(labels: list[Labelled], settings: AgentSettings, entries: list[MemoryEntry]) -> Keeping | None:
    return fit_retention([Judged("mira", labels, settings, entries)])


def rated(number: int) -> MemoryEntry:
    """Every third is small talk that was rated 7; the others tell much, and were rated 1."""
    small = number % 3 == 0
    said = "What is it?" if small else f"I moved to Oslo with Ana on {number % 28 + 1} May 2021"
    when = NOW - timedelta(hours=number)
    return MemoryEntry(said, id=f"m{number:03d}", tier=Tier.LTM, rating=7 if small else 1, timestamp=when)


def test_what_is_asked_for_teaches_what_is_kept_and_keeps_no_more_than_before() -> None:
    entries = [rated(number) for number in range(3 * MIN_CUES)]
    small = {entry.id for entry in entries if entry.rating == 7}
    labels = [Labelled(f"cue {one}", frozenset([one]), frozenset()) for one in sorted(small)]
    found = kept_by(labels, AgentSettings(), entries)
    assert found is not None
    assert (found.now, found.then, found.low) == (0, 1, 1)
    assert found.rule["retention"] is Retention.IMPORTANCE
    assert set(found.kept["mira"]) == small
    assert set(found.forgotten["mira"]) == {entry.id for entry in entries} - small
    assert kept_by(labels[1:], AgentSettings(), entries) is None
    as_it_is = kept_by(labels, AgentSettings(retention=Retention.IMPORTANCE), entries)
    assert as_it_is is not None
    assert (as_it_is.now, as_it_is.rule) == (1, {})


@pytest.mark.parametrize("seed", range(8))
def test_random_labels_leave_retention_as_it_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    entries = [rated(number) for number in range(90)]
    labels = [Labelled(f"cue {one}", frozenset([f"m{rng.integers(90):03d}"]), frozenset()) for one in range(40)]
    found = kept_by(labels, AgentSettings(), entries)
    assert found is not None
    assert found.rule == {}


def test_what_gets_worse_is_told_by_cue_and_memory() -> None:
    asker = asker_over(np.random.default_rng(1), 30)
    wanted = AgentSettings(scoring=Scoring(Weights(0, 1, 1), seats=Seats.RANKING), threshold=0.3)
    labels = as_wanted(asker, wanted)
    odd = Labelled("cue 0", frozenset(hit.entry.id for hit in asker.answer(asked(OWN)("cue 0"))), frozenset())
    found = fitted([odd, *labels[1:]], OWN, asker)
    recalled = {hit.entry.id for hit in asker.answer(asked(found.point.over(OWN))("cue 0"))}
    assert {one.entry_id for one in found.worse if one.missed and one.cue == "cue 0"} == odd.right - recalled
    assert odd.right - recalled


def test_labels_are_those_of_thumbs_and_saved_cues_together() -> None:
    judged = [Judgment("key", ("a", "b"), ("c",)), Judgment("lost", ("gone",))]
    saved = [SavedCue("one", "key", ("c", "d"), ("e",)), SavedCue("two", "mill", ("a",))]
    found = labelled(judged, saved, lambda entry_id: entry_id != "gone")
    assert found == (
        Labelled("key", frozenset("abd"), frozenset("e")),
        Labelled("mill", frozenset("a"), frozenset()),
    )


# -- an agent's --------------------------------------------------------------------------------------------

THINGS = (
    "anchor", "basket", "candle", "drum", "easel", "flute", "goblet", "hammer",
    "inkwell", "jug", "kettle", "ladder", "mirror", "needle", "oven", "pump",
    "quilt", "rope", "saddle", "trumpet", "umbrella", "violin", "wagon", "yoke",
)  # fmt: skip


@pytest.fixture
def judged(agent: AgentMemory, remember: Remember) -> AgentMemory:
    """Of two memories of each thing the more important one is right, and relevancy prefers the other."""
    agent.configure(scoring=Scoring(Weights(0, 0, 1), seats=Seats.RANKING), top_k=1, threshold=0.3, stm_size=100)
    for thing in THINGS:
        right = remember(f"The old {thing} was sold at last", id=f"{thing}-right", rating=9, hours_ago=5)
        wrong = remember(f"What became of the {thing}", id=f"{thing}-wrong", rating=1, hours_ago=5)
        agent.judge(f"What became of the {thing}?", right, verdict=True)
        agent.judge(f"What became of the {thing}?", wrong, verdict=False)
    return agent


def test_a_proposal_is_applied_and_undone_as_any_other(judged: AgentMemory) -> None:
    before = judged.settings
    preview = judged.tune(preview=True)
    assert judged.settings == before
    assert preview.texts
    assert any("interval" in note for note in preview.notes)
    done = judged.apply(preview)
    assert judged.settings.scoring.weights.importance > 0
    cue = f"What became of the {THINGS[0]}?"
    assert [hit.entry.id for hit in judged.explain(cue)] == [f"{THINGS[0]}-right"]
    assert done.revision is not None
    judged.undo(done.revision)
    assert judged.settings == before


def test_what_tests_of_the_story_want_recalled_at_present_counts_as_labels(
    world: World, agent: AgentMemory, remember: Remember
) -> None:
    things = THINGS[: MIN_CUES + 1]
    ids = {thing: remember(f"The {thing} was sold to Juno.") for thing in things}
    tests = [
        StoryTest(thing, Sort.RECALLS, f"What became of the {thing}?", agent.name, recalls=ids[thing])
        for thing in things[: MIN_CUES - 2]
    ]
    tests += [
        StoryTest("words", Sort.RECALLS, "What became of another?", agent.name, recalls=f"the {things[-1]} WAS"),
        StoryTest("then", Sort.RECALLS, "What of it then?", agent.name, recalls=ids[things[0]], by=1),
        StoryTest("gone", Sort.RECALLS, "What is gone?", agent.name, recalls="no memory says this"),
        StoryTest("other", Sort.RECALLS, "What has another?", "somebody", recalls=ids[things[0]]),
        StoryTest("knows", Sort.KNOWS, "Juno has it.", agent.name),
    ]
    world.keep_tests(tests)
    assert "1 more" in agent.tune(preview=True).title
    agent.judge("Who bought it?", ids[things[0]], verdict=True)
    assert "more labelled" not in agent.tune(preview=True).title


def test_with_too_few_labels_it_says_how_many_are_missing(agent: AgentMemory, remember: Remember) -> None:
    assert f"{MIN_CUES} more" in agent.tune().title
    agent.judge("Who has the key?", remember("Tobias has the brass key"), verdict=True)
    before = agent.revision
    done = agent.tune()
    assert f"{MIN_CUES - 1} more" in done.title
    assert not done
    assert agent.revision == before
