"""The exact top-k: the same answer as a full computation, whatever the weights, the decay, the time and the ties."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system import DecayForm, Facets, Kind, MemoryEntry, Query, Scoring, Tier, Weights
from memory_system.core import scoring as formulas
from memory_system.recall import sieve
from memory_system.recall import top_k as exact
from memory_system.recall.kept_tables import Place, load, save
from memory_system.recall.rank import answer
from memory_system.recall.table import Table
from memory_system.recall.top_k import Sought, top_measured, top_rows
from tests.conftest import NOW

WIDTH = 16
PLACE = Place(7, "a change set", 3, "an embedder")


def vectors(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Unit vectors in a few clusters, some of them equal and some missing."""
    centres = rng.standard_normal((4, WIDTH))
    drawn = centres[rng.integers(0, 4, rows)] + rng.standard_normal((rows, WIDTH)) * rng.choice(
        [0, 0.01, 0.5], (rows, 1)
    )
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def filled(rng: np.random.Generator, rows: int) -> Table:
    """A table with ties, unrated, timeless and vector-less memories, after drops and replacements."""
    table = Table()
    drawn = vectors(rng, rows)
    for number in range(rows):
        hours = float(rng.choice([0, 0.5, 1, 1.0001, 30, 4000, -5]))
        entry = MemoryEntry(
            f"Memory {number}",
            id=f"m{int(rng.integers(0, 10 * rows)):06d}",
            tier=Tier.LTM,
            kind=Kind.OBSERVATION if number % 3 else Kind.REFLECTION,
            rating=None if rng.random() < 0.1 else int(rng.integers(1, 11)),
            timestamp=None if rng.random() < 0.1 else NOW - timedelta(hours=hours),
            tags=("odd",) if number % 2 else (),
        )
        table.put(entry, None if rng.random() < 0.03 else drawn[number])
    for entry_id in list(table.ids)[: rows // 10]:
        table.drop(entry_id)
    return table


def plainly(table: Table, sought: Sought) -> list[tuple[str, float]]:
    """The definition: every score, sorted by score and id, cut at top-k."""
    relevancies = formulas.relevancy(table.vectors, sought.cue)
    totals = formulas.score(
        relevancies, table.importance, table.last_access, table.happened, sought.now, sought.scoring
    ).totals
    admitted = np.ones(len(table), bool) if sought.admitted is None else sought.admitted
    able = [
        (table.ids[row], float(totals[row]))
        for row in range(len(table))
        if admitted[row] and totals[row] > sought.threshold
    ]
    return sorted(able, key=lambda one: (-one[1], one[0]))[: sought.top_k]


def found(table: Table, sought: Sought, *, codes: bool) -> list[tuple[str, float]]:
    rows, parts = top_rows(table, sought, codes=codes)
    return [(table.ids[row], float(total)) for row, total in zip(rows, parts.totals, strict=True)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 300))
def test_similarities_are_near_the_relevancies_and_equal_for_equal_vectors(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    table = filled(rng, rows)
    cue = vectors(rng, 1)[0] if rng.random() < 0.7 else table.vectors[0].copy()
    found = table.similarities(cue)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, table.relevancies(cue), rtol=0, atol=1e-6)
    assert np.nanmax(found, initial=0.0) <= 1.0
    by_vector: dict[bytes, set[float]] = {}
    for vector, one in zip(table.vectors, found.tolist(), strict=True):
        if not math.isnan(one):
            by_vector.setdefault(vector.tobytes(), set()).add(one)
    assert all(len(some) == 1 for some in by_vector.values()), "wherever they stand"


@contextmanager
def sieved(directions: int, most: int) -> Iterator[None]:
    """Tables of any size leave out rows by their directions, and look at as many of those that are left."""
    with (
        patch.dict(sieve.Sieve.hold.__kwdefaults__, most=most),
        patch.multiple(exact, SIEVED_FROM=1, _FEW_LEFT=1.0, _TRIED=3, _SIEVED_AT_ONCE=50),
        patch.object(sieve, "DIRECTIONS", directions),
    ):
        yield


def found_measured(table: Table, sought: Sought) -> list[tuple[str, float]]:
    """As ``found``, of relevancies that are known; what they are made of is that of the same rows."""
    relevancies = formulas.relevancy(table.vectors, sought.cue)
    rows, parts = top_measured(table, sought, relevancies, {"thirds": relevancies / 3})
    assert np.array_equal(parts.sub_parts["thirds"], relevancies[rows] / 3)
    return [(table.ids[row], float(total)) for row, total in zip(rows, parts.totals, strict=True)]


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=st.sampled_from([0, 1, 2, 7, 60, 700]),
    weights=st.tuples(*[st.sampled_from([0, 0.05, 0.25, 1, 3.7, 10])] * 3),
    decay=st.sampled_from([1e-6, 0.5, 0.99, 0.999999]),
    form=st.sampled_from(DecayForm),
    later=st.sampled_from([-4000, -1, 0, 0.9, 50, 1e5]),
    threshold=st.sampled_from([0, 0.35, 0.6, 5]),
    top_k=st.sampled_from([0, 1, 5, 50, 10_000]),
    touched=st.booleans(),
    filtered=st.sampled_from([None, "some", "all"]),
)
def test_it_is_the_full_computation(
    seed: int,
    rows: int,
    weights: tuple[float, float, float],
    decay: float,
    form: DecayForm,
    later: float,
    threshold: float,
    top_k: int,
    touched: bool,
    filtered: str | None,
) -> None:
    rng = np.random.default_rng(seed)
    table = filled(rng, rows)
    cue = vectors(rng, 1)[0] if rng.random() < 0.5 or not len(table) else np.nan_to_num(table.vectors[0])
    admitted = {None: None, "some": rng.random(len(table)) < 0.5, "all": np.zeros(len(table), bool)}[filtered]
    scoring = Scoring(Weights(*weights), decay, decay_form=form)
    sought = Sought(cue, NOW + timedelta(hours=later), scoring, threshold, top_k, admitted)
    if touched:
        found(table, sought, codes=False)  # so that something is remembered of ageing before it changes
        table.touch(table.ids[:9], NOW + timedelta(hours=3))
    for codes in (False, True):
        assert found(table, sought, codes=codes) == plainly(table, sought)
    with sieved(directions=int(rng.choice([1, 4, WIDTH])), most=max(7, rows // 3)):
        assert found(table, sought, codes=True) == plainly(table, sought)
        for number, entry_id in enumerate(list(table.ids)[: rows // 5]):  # the sieve follows what is put and dropped
            if number % 2:
                table.drop(entry_id)
            else:
                table.put(table.entries[table.row(entry_id) or 0].evolve(rating=3), vectors(rng, 1)[0])
        sought = replace(sought, admitted=None)
        right = plainly(table, sought)
        assert all(found(table, sought, codes=True) == right for _ in range(4))  # of which the last has all of it
    assert found_measured(table, sought) == plainly(table, sought)


def test_a_known_relevancy_that_passes_the_threshold_by_the_least_is_found() -> None:
    table = Table()
    table.put(MemoryEntry("lamp", id="lamp", tier=Tier.LTM, rating=7, timestamp=NOW), np.array([1, 0], np.float32))
    cue = np.array([0, 1], np.float32)
    ((_, total),) = plainly(table, Sought(cue, NOW, Scoring(), 0.0, 1))
    assert found_measured(table, Sought(cue, NOW, Scoring(), math.nextafter(total, 0), 1)) == [("lamp", total)]
    assert found_measured(table, Sought(cue, NOW, Scoring(), total, 1)) == []


def test_many_that_leave_at_once_leave_what_they_would_one_by_one_and_move_no_more_than_have_to() -> None:
    one, other = (filled(np.random.default_rng(11), 300) for _ in range(2))
    index, gone = one.texts, [*one.ids[40:], "nobody"]
    with patch.object(type(index), "move", side_effect=AssertionError("these were the last rows")):
        one.drop_all(gone)
    for entry_id in gone:
        other.drop(entry_id)
    assert sorted(one.ids) == sorted(other.ids) == sorted(index.entries[row].id for row in range(40))
    some = one.ids[::3]
    one.drop_all(some)
    assert set(one.ids) == set(other.ids) - set(some)
    sought = Sought(vectors(np.random.default_rng(12), 1)[0], NOW, Scoring(), 0.0, 20)
    assert found(one, sought, codes=True) == plainly(one, sought)
    assert [entry.id for entry in index.entries] == list(one.ids)


def test_equal_vectors_have_equal_scores_wherever_they_stand() -> None:
    table = Table()
    vector = vectors(np.random.default_rng(1), 1)[0]
    for number in range(1500):
        table.put(MemoryEntry("the same", id=f"{number:04d}", tier=Tier.LTM), vector)
    sought = Sought(vector, NOW, Scoring(), 0.0, 5)
    for codes in (False, True):
        assert [one for one, _ in found(table, sought, codes=codes)] == ["0000", "0001", "0002", "0003", "0004"]


@pytest.mark.parametrize("rows", [600, 2500])
def test_query_and_explain_agree_under_every_facet(rows: int) -> None:
    table = filled(np.random.default_rng(rows), rows)
    tables = {tier: Table() for tier in Tier} | {Tier.LTM: table}
    cue = vectors(np.random.default_rng(2), 1)[0]
    for facets in (
        Facets(),
        Facets(kinds=(Kind.REFLECTION,)),
        Facets(tags=("odd",), min_importance=0.5),
        Facets(since=NOW - timedelta(hours=2), until=NOW + timedelta(minutes=1)),
        Facets(max_importance=0.3, contains="MEMORY 1"),
        Facets(contains="nobody ever wrote this"),
    ):
        query = Query("cue", NOW, top_k=7, facets=facets)
        quick = answer(query, cue, tables, "Mira", explain=False)
        whole = answer(query, cue, tables, "Mira", explain=True)
        assert quick.hits == whole.hits
        admitted = facets.admit(table)
        wanted = plainly(table, Sought(cue, NOW, query.scoring, query.threshold, 7, admitted))
        assert [(one.entry.id, one.score.total) for one in quick] == wanted


def test_a_kept_table_answers_as_the_one_it_was_saved_from(tmp_path: Path) -> None:
    table = filled(np.random.default_rng(5), 900)
    save(tmp_path / "ltm.table", table, PLACE)
    loaded = load(tmp_path / "ltm.table")
    assert loaded is not None
    again, place = loaded
    assert place == PLACE
    assert list(again.entries) == list(table.entries)
    assert again.tags == table.tags
    sought = Sought(vectors(np.random.default_rng(6), 1)[0], NOW, Scoring(), 0.2, 20)
    for codes in (False, True):
        assert found(again, sought, codes=codes) == found(table, sought, codes=codes)
    entry = MemoryEntry("new", id="new", tier=Tier.LTM, rating=10, timestamp=NOW)
    for one in (table, again):
        one.put(entry, sought.cue)
        one.drop(one.ids[3])
        one.touch(one.ids[:5], NOW)
    assert found(again, sought, codes=True) == plainly(table, sought)
    assert sorted(again.entries, key=lambda e: e.id) == sorted(table.entries, key=lambda e: e.id)
    save(tmp_path / "ltm.table", again, PLACE)  # over the file that it is mapped from
    assert found(again, sought, codes=False) == plainly(table, sought)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "header", "missing"])
def test_a_damaged_file_is_no_table(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "ltm.table"
    save(path, filled(np.random.default_rng(8), 300), PLACE)
    whole = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "flipped":
        at = max(place for place, byte in enumerate(whole) if byte)
        whole[at] ^= 1
        path.write_bytes(whole)
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "foreign":
        path.write_bytes(b"SQLite format 3\x00" * 100)
    elif damage == "header":
        whole[40] ^= 1
        path.write_bytes(whole)
    else:
        path.unlink()
    assert load(path) is None


def test_the_bound_of_a_code_holds() -> None:
    table = filled(np.random.default_rng(3), 400)
    table.columns.code(len(table))
    used = table.columns.used(len(table))
    rows = ~np.isnan(used["vectors"][:, 0])
    error = used["vectors"][rows] - used["codes"][rows].astype(np.float64) * used["scales"][rows, None]
    assert (np.linalg.norm(error, axis=1) <= used["residuals"][rows]).all()
    assert not math.isnan(float(used["residuals"].max()))


# -- estimates and their bounds ------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    width=st.sampled_from([1, 2, 16, 384]),
    length=st.sampled_from([0.0, 1e-3, 1.0, 30.0]),
    directions=st.sampled_from([1, 4, 64]),
)
def test_no_dot_product_exceeds_what_the_directions_allow(
    seed: int, width: int, length: float, directions: int
) -> None:
    rng = np.random.default_rng(seed)
    drawn = (rng.standard_normal((90, width)) * rng.choice([0, 1e-3, 1], width) * length).astype(np.float32)
    cue = np.where(rng.random() < 0.5, drawn[3], rng.standard_normal(width)).astype(np.float32)
    true = drawn.astype(np.float64) @ cue.astype(np.float64)
    lengths = np.linalg.norm(drawn.astype(np.float64), axis=1).max(), np.linalg.norm(cue.astype(np.float64))
    rounding = 1e-6 * float(np.square(lengths).sum())
    for known in (40, len(drawn)):  # what lies further out than all that the step was made for is cut to it
        with patch.object(sieve, "DIRECTIONS", directions):
            held = sieve.Sieve.of(drawn[:known])
        while not held.hold(drawn, most=7):
            assert held.rows < len(drawn)
        asked = held.asked(cue)
        bounds = held.bounds(asked, slice(len(drawn))).astype(np.float64) + asked.error
        assert (bounds >= true - rounding).all()
    if directions >= width:
        assert (bounds <= true + 0.1 * lengths[0] * lengths[1] + rounding).all()


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), width=st.sampled_from([1, 2, 3, 384]), length=st.sampled_from([0.01, 1.0, 30.0]))
def test_an_estimated_distance_errs_by_no_more_than_it_says(seed: int, width: int, length: float) -> None:
    rng = np.random.default_rng(seed)
    table = Table()
    drawn = (rng.standard_normal((40, width)) * length).astype(np.float32)
    for number, vector in enumerate(drawn):
        table.put(MemoryEntry("lamp", id=f"m{number:02d}", tier=Tier.LTM), vector)
    cue = (rng.standard_normal(width) * rng.choice([0.1, 1, 10])).astype(np.float32)
    wide = drawn.astype(np.float64), cue.astype(np.float64)
    true_distances = np.square(wide[0] - wide[1]).sum(axis=1)
    size = float(np.square(wide[0]).sum(axis=1).max() + np.square(wide[1]).sum() + 1)
    for codes in (False, True):
        _, relevancies, error = exact._estimate(table, Sought(cue, NOW, Scoring(), 0.0, 1), codes=codes)
        apart = np.abs(1.0 / relevancies.astype(np.float64) - 1 - true_distances)
        assert (apart <= error + 8 * 2.0**-24 * size).all(), "but for the rounding of a few float32 numbers"
        assert error < (0.1 if codes else 1e-3) * size, "a bound that is met by everything would be of no use"


@pytest.mark.parametrize("length", [0.1, 1.0, 10.0])
def test_the_bound_of_a_float32_product_is_no_less_than_the_proven_one(length: float) -> None:
    table = Table()
    table.put(MemoryEntry("lamp", id="lamp", tier=Tier.LTM), np.full(100, 0.3, np.float32))  # of length 3
    cue = np.full(100, length / 10, np.float32)
    _, _, error = exact._estimate(table, Sought(cue, NOW, Scoring(), 0.0, 1), codes=False)
    # twice a dot product of 100 numbers, each by less than 2 ** -24 off: 2 * 100 * 2 ** -24 * 3 * length
    proven = 3.576278686523438e-05 * length
    assert proven <= error < 1.001 * proven


def test_the_bound_of_codes_is_no_less_than_the_proven_one() -> None:
    vector = np.array([1.0] + [0.49 / 127] * 99, np.float32)  # in steps of 1/127, the 99 are lost in the code
    table = Table()
    table.put(MemoryEntry("lamp", id="lamp", tier=Tier.LTM), vector)
    _, _, error = exact._estimate(table, Sought(vector, NOW, Scoring(), 0.0, 1), codes=True)
    length, lost = float(np.linalg.norm(vector)), 0.49 / 127 * 99**0.5
    proven = 2 * ((length + lost) * lost + lost * length)
    assert 0.999 * proven <= error < 1.01 * proven


@pytest.mark.parametrize("codes", [False, True])
@pytest.mark.parametrize(
    ("weight", "best"),
    [(1, "dear"), (2, "near"), (3, "near")],  # 1.0 + 0.5 against 0.1 + 1.0; 1.0 + 1.0 against 0.1 + 2.0
)
def test_the_weight_of_relevancy_decides_as_worked_by_hand(codes: bool, weight: float, best: str) -> None:
    table = Table()
    cue = np.array([1, 0], np.float32)
    for name, rating, vector in (("dear", 10, [0, 0]), ("near", 1, [1, 0])):  # of relevancy 1/2 and 1
        entry = MemoryEntry("lamp", id=name, tier=Tier.LTM, rating=rating, timestamp=NOW)
        table.put(entry, np.array(vector, np.float32))
    ((found_id, _),) = found(table, Sought(cue, NOW, Scoring(Weights(0, 1, weight)), 0.0, 1), codes=codes)
    assert found_id == best


def estimating_as_badly_as_allowed(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator, error: float) -> None:
    """Let each distance and each score be estimated too high or too low by as much as the bounds allow for."""

    def estimate(table: Table, sought: Sought, _: object, *, codes: bool) -> tuple[np.ndarray, np.ndarray, float]:
        rounding = 64 * 2.0**-24 * (sum(vars(sought.scoring.weights).values()) + 1.0) * 0.9
        true = formulas.relevancy(table.vectors, sought.cue)
        up = rng.choice([-1.0, 1.0], len(table))  # a score too high, and a distance too short, or the other way
        relevancies = 1.0 / np.maximum(1.0 / true - up * error, 1.0)
        parts = formulas.score(
            relevancies, table.importance, table.last_access, table.happened, sought.now, sought.scoring
        )
        return parts.totals + up * rounding, relevancies, error

    monkeypatch.setattr(exact, "_estimate", estimate)


@pytest.mark.parametrize("weights", [(0.25, 0.25, 1), (0, 0, 1), (1, 3, 0.2), (0, 0, 10)], ids=str)
@pytest.mark.parametrize("error", [0.0, 1e-3, 0.3, 2.0])
@pytest.mark.parametrize("alike", [True, False], ids=["all alike", "of all sorts"])
def test_estimates_that_err_as_much_as_they_may_change_no_answer(
    monkeypatch: pytest.MonkeyPatch, weights: tuple[float, float, float], error: float, alike: bool
) -> None:
    rng = np.random.default_rng(11)
    estimating_as_badly_as_allowed(monkeypatch, rng, error)
    for round_ in range(12):
        table = Table()
        drawn = vectors(rng, 60)
        for number in range(60):
            vector = drawn[0] + rng.standard_normal(WIDTH).astype(np.float32) * 1e-6 if alike else drawn[number]
            entry = MemoryEntry("lamp", id=f"m{number:02d}", tier=Tier.LTM, rating=5, timestamp=NOW)
            table.put(entry, vector)
        cue = drawn[0] if round_ % 2 else drawn[1]
        scores = sorted((total for _, total in plainly(table, Sought(cue, NOW, Scoring(Weights(*weights)), 0.0, 60))))
        for threshold in (0.0, scores[30], scores[-3]):  # which some scores meet exactly
            for top_k in (1, 5, 59, 60, 61):
                sought = Sought(cue, NOW, Scoring(Weights(*weights)), threshold, top_k)
                assert found(table, sought, codes=False) == plainly(table, sought)


@pytest.mark.parametrize(("rows", "codes"), [(300, False), (2000, False), (6000, True), (6000, None)])
@pytest.mark.parametrize("top_k", [1, 3, 10])
def test_few_scores_are_computed_exactly(
    monkeypatch: pytest.MonkeyPatch, rows: int, codes: bool | None, top_k: int
) -> None:
    rng = np.random.default_rng(4)
    table = Table()
    for number in range(rows):
        vector = rng.standard_normal(64)
        entry = MemoryEntry("lamp", id=f"m{number:04d}", tier=Tier.LTM, rating=5, timestamp=NOW)
        table.put(entry, (vector / np.linalg.norm(vector)).astype(np.float32))
    computed: list[int] = []
    parts_of = exact.parts_of
    monkeypatch.setattr(
        exact, "parts_of", lambda table, rows, sought: computed.append(len(rows)) or parts_of(table, rows, sought)
    )
    cue = table.vectors[rows // 2]
    sought = Sought(cue, NOW, Scoring(), 0.0, top_k)
    found_rows, parts = top_rows(table, sought, codes=codes)
    assert [(table.ids[row], total) for row, total in zip(found_rows, parts.totals, strict=True)] == plainly(
        table, sought
    )
    assert computed[0] <= 3 * top_k


def test_of_known_relevancies_recency_is_worked_out_where_it_may_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table()
    for number in range(100):
        entry = MemoryEntry("lamp", id=f"m{number:02d}", tier=Tier.LTM, rating=5, timestamp=NOW)
        table.put(entry, np.ones(1, np.float32))
    computed: list[int] = []
    score = formulas.score
    monkeypatch.setattr(
        formulas, "score", lambda relevancies, *more: computed.append(len(relevancies)) or score(relevancies, *more)
    )
    sought = Sought(np.ones(1, np.float32), NOW, Scoring(Weights(0.25, 0.25, 1)), 0.0, 3)
    rows, _ = top_measured(table, sought, np.arange(100) / 100, {})
    assert rows == [99, 98, 97]
    assert computed[0] < 30, "recency may count a quarter"


def test_codes_are_scanned_where_there_are_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    estimate = exact._estimate
    monkeypatch.setattr(
        exact,
        "_estimate",
        lambda table, sought, _left, *, codes: asked.append(codes) or estimate(table, sought, codes=codes),
    )
    monkeypatch.setattr(exact, "CODES_FROM", 30)
    drawn = vectors(np.random.default_rng(1), 31)
    table = Table()
    for number, vector in enumerate(drawn):
        table.put(MemoryEntry("lamp", id=f"m{number:02d}", tier=Tier.LTM), vector)
        top_rows(table, Sought(drawn[0], NOW, Scoring(), 0.0, 1))
    assert asked == [False] * 29 + [True] * 2
