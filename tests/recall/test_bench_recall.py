"""The recall benchmark's own arithmetic; the peers themselves need an environment of their own and are not started."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks import before, recall
from benchmarks.peers import base, corpus, ours, scans
from benchmarks.peers.generative_agents import Node, cosine, retrieve, scaled


def small(count: int = 300, cues: int = 4) -> corpus.Corpus:
    return corpus.made(count, cues)


def test_the_corpus_is_the_same_in_each_run() -> None:
    one, other = small(), small()
    assert np.array_equal(one.vectors, other.vectors)
    assert np.array_equal(one.importance, other.importance)
    ages = [held.now.timestamp() - held.last_access for held in (one, other)]
    assert np.array_equal(ages[0], ages[1])


def test_the_corpus_is_of_unit_vectors_and_true_ranges() -> None:
    held = small()
    for vectors in (held.vectors, held.cues):
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert set(np.round(10 * held.importance)) <= set(range(1, 11))
    age = held.now.timestamp() - held.last_access
    assert age.min() >= 0
    assert age.max() < corpus.WEEKS * 7 * 86_400


def test_every_text_leads_to_its_vector() -> None:
    held = small()
    assert np.array_equal(held.vector(held.texts[7]), held.vectors[7])
    assert np.array_equal(held.vector(held.cue(3)), held.cues[3])


def test_the_exact_answer_is_the_classic_score_worked_by_hand() -> None:
    held = small(4, 1)
    across = np.zeros((4, corpus.WIDTH), np.float32)
    across[[0, 1, 2, 3], [0, 1, 0, 1]] = 1  # 0 and 2 are the cue itself, 1 and 3 at right angles to it
    cue = np.zeros((1, corpus.WIDTH), np.float32)
    cue[0, 0] = 1
    now = held.now.timestamp()
    worked = dataclasses.replace(
        held,
        vectors=across,
        cues=cue,
        importance=np.array([0.1, 1.0, 0.5, 0.1]),
        last_access=now - 3600 * np.array([100.0, 1.0, 100.0, 100.0]),
        texts=[],
        rows={},
    )
    # a hundred hours: .25 * .99**100 = .0915. Row 0: .0915 + .025 + 1; row 1: .25 + .25 + 1/3; row 2: .0915 + .125 + 1
    assert math.isclose(0.25 * 0.99**100, 0.0915, abs_tol=1e-4)
    assert corpus.exact(worked) == [[2, 0, 1, 3]]


def test_an_hour_is_fresh_and_a_second_more_is_not() -> None:
    held = small(2, 1)
    same = np.stack([held.vectors[0]] * 2)
    ages = np.array([3601.0, 3600.0])
    worked = dataclasses.replace(
        held,
        vectors=same,
        importance=np.array([0.5, 0.5]),
        last_access=held.now.timestamp() - ages,
        texts=[],
        rows={},
    )
    assert corpus.exact(worked) == [[1, 0]]


def test_the_share_counts_what_was_found_in_any_order() -> None:
    assert corpus.share([5, 4, 9], [4, 5]) == 1
    assert corpus.share([4, 9, 8], [4, 5]) == 0.5
    assert corpus.share([], [4]) == 0
    assert corpus.share([], []) == 1


def test_our_side_gives_the_exact_answer(tmp_path: Path) -> None:
    held = small()
    system = ours.Recall(held, tmp_path, corpus.Budget(60))
    assert [system.rows(number, system.ask(number)) for number in range(4)] == corpus.exact(held)


def test_the_numpy_int8_scan_is_near_the_float32_one(tmp_path: Path) -> None:
    held = small(1100)  # two blocks and a rest
    budget = corpus.Budget(60)
    wide, narrow = scans.Float32(held, tmp_path, budget).ask(0), scans.Int8(held, tmp_path, budget).ask(0)
    lengths = np.abs(held.vectors).max(axis=1) * np.abs(held.cues[0]).max() / 127**2
    assert np.allclose(narrow * lengths, wide, atol=0.03)


def test_generative_agents_retrieval_worked_by_hand() -> None:
    hour = 3600.0
    nodes = [
        Node(0 * hour, 1, [1.0, 0.0]),  # recency 0, importance 0, relevancy 1: 1.0
        Node(10 * hour, 1, [0.0, 1.0]),  # recency 1, importance 0, relevancy 0: 1.0, and comes later
        Node(10 * hour, 10, [0.0, 2.0]),  # recency 1, importance 1, relevancy 0: 2.0
        Node(10 * hour, 4, [3.0, 3.0]),  # recency 1, importance 1/3, relevancy .707: 2.04
    ]
    assert retrieve(nodes, [2.0, 0.0], 10 * hour, 3) == [3, 2, 0]
    assert [node.last_accessed / hour for node in nodes] == [10, 10, 10, 10]


def test_generative_agents_parts_are_scaled_to_their_range() -> None:
    assert scaled({0: 2.0, 1: 4.0, 2: 3.0}) == {0: 0.0, 1: 1.0, 2: 0.5}
    assert scaled({0: 2.0, 1: 2.0}) == {0: 0.5, 1: 0.5}
    assert math.isclose(cosine([3.0, 0.0], [1.0, 1.0]), math.sqrt(0.5))


def test_what_takes_too_long_to_fill_says_how_far_it_came() -> None:
    with pytest.raises(corpus.TooSlow, match=r"over 0 s \(10 of 100 in"):
        list(corpus.Budget(0).batches(100, 10))


def test_batches_cover_all_rows_once() -> None:
    parts = list(corpus.Budget(60).batches(25, 10))
    assert [row for part in parts for row in range(part.start, part.stop)] == list(range(25))


def test_a_line_shows_a_missed_target() -> None:
    line = recall.Line("x", "X", "distance", 10, times=[4.0, 2.0, 3.0], shares=[0.2, 0.4], target=3)
    assert line.markdown(1.0) == "| X | distance | 3 | 4 | 3 | 3 | 30 % |"
    assert line.markdown(2.0) == "| X | distance | 3 | 4 | 1.5 | 3 (missed) | 30 % |"
    assert "| late |" in dataclasses.replace(line, note="late").markdown(1.0)


def test_every_system_has_a_name_of_its_own() -> None:
    names = [system.name for system in base.SYSTEMS]
    assert len(set(names)) == len(names)
    assert names[0] == base.OURS.name


def test_a_version_is_asked_beside_an_earlier_one() -> None:
    both = [before.started(before.ROOT, "answer", 300) for _ in range(2)]
    try:
        assert all(before.took(one) > 0 for one in both)
    finally:
        for one in both:
            before.ended(one)
    assert [one.returncode for one in both] == [0, 0]
