"""MemoryEntry: what goes in comes out, and what cannot be a memory is refused with the field's name."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from unittest.mock import ANY

import numpy as np
import pytest

from memory_system import Kind, MemoryEntry, Tier
from memory_system.core.entry import MADE_ID, new_id
from memory_system.errors import InvalidEntry

WHEN = datetime(2026, 3, 27, 18, 0, tzinfo=UTC)
FULL = MemoryEntry(
    "Lent Tobias the key",
    {"place": "Bakery", "count": 3},
    "m1",
    tier=Tier.LTM,
    kind=Kind.CONVERSATION,
    timestamp=WHEN,
    last_access=WHEN + timedelta(hours=1),
    rating=7,
    explanation="It matters.",
    tags=("key",),
    pinned=True,
    authored=True,
    evidence=("m0",),
    depth=1,
)


def test_an_importance_score_between_the_ratings_is_kept_without_rounding_noise() -> None:
    assert MemoryEntry("x", {"importance_score": 0.57}).rating == 5.7  # 0.57 * 10 is 5.699999999999999


def test_numbers_and_truth_values_of_numpy_are_kept_as_plain_ones() -> None:
    entry = MemoryEntry(
        "Saw smoke",
        {"seen": np.int64(3), "far": np.float32(0.5), "at_dawn": np.bool_(True), "kind_of": np.str_("thick")},
        rating=np.int64(7),
        tags=[np.str_("fire")],
        pinned=np.bool_(True),
        depth=np.int32(1),
    )
    assert entry.extras == {"seen": 3, "far": 0.5, "at_dawn": True, "kind_of": "thick"}
    assert (entry.rating, entry.tags, entry.pinned, entry.depth) == (7, ("fire",), True, 1)
    kept = [*entry.extras.values(), entry.rating, *entry.tags, entry.pinned, entry.depth]
    assert [type(one) for one in kept] == [int, float, bool, str, int, str, bool, int]
    assert MemoryEntry("Saw smoke", {"importance_score": np.float32(0.7)}).rating == 7


def test_a_document_is_enough() -> None:
    entry = MemoryEntry("Saw smoke")
    assert (entry.document, dict(entry.metadata), entry.tier, entry.kind) == ("Saw smoke", {}, "stm", "observation")
    assert entry.importance is entry.rating is entry.timestamp is entry.last_access is None
    assert entry.id != MemoryEntry("Saw smoke").id


def test_typed_fields_are_read_from_the_metadata() -> None:
    entry = MemoryEntry(
        "Saw smoke",
        {
            "importance_score": 0.7,
            "timestamp": "2026-03-27T19:00:00+01:00",
            "kind": "conversation",
            "tags": ["fire", "fire", " dawn "],
            "pinned": True,
            "weather": "clear",
        },
    )
    assert (entry.rating, entry.importance, entry.timestamp) == (7, 0.7, WHEN)
    assert (entry.kind, entry.tags, entry.pinned) == (Kind.CONVERSATION, ("fire", "dawn"), True)
    assert entry.extras == {"weather": "clear"}


def test_the_metadata_always_shows_importance_and_time() -> None:
    entry = MemoryEntry("Saw smoke", {"weather": "clear"}, rating=7, timestamp=WHEN)
    assert dict(entry.metadata) == {
        "weather": "clear",
        "importance_score": 0.7,
        "timestamp": "2026-03-27T18:00:00+00:00",
    }
    assert MemoryEntry(entry.document, entry.metadata, entry.id) == entry


@pytest.mark.parametrize("rating", range(1, 11))
def test_a_rating_and_its_importance_score_are_two_ways_to_say_one_thing(rating: int) -> None:
    assert MemoryEntry("x", {"importance_score": rating / 10}).rating == rating
    assert MemoryEntry("x", rating=rating).importance == rating / 10
    assert MemoryEntry("x", {"importance_score": rating / 10}, rating=rating).rating == rating


@pytest.mark.parametrize(
    "when", [WHEN, "2026-03-27T18:00Z", " 2026-03-27 18:00:00+00:00", WHEN.timestamp(), WHEN.astimezone(timezone.max)]
)
def test_a_time_may_come_in_several_forms_and_is_kept_in_utc(when: object) -> None:
    entry = MemoryEntry("x", timestamp=when)  # type: ignore[arg-type]
    assert entry.timestamp == WHEN
    assert entry.timestamp.tzinfo is UTC


def test_the_same_value_given_twice_is_taken_once() -> None:
    entry = MemoryEntry("x", {"timestamp": "2026-03-27T19:00:00+01:00", "tags": ["a"]}, timestamp=WHEN, tags=("a",))
    assert (entry.timestamp, entry.tags) == (WHEN, ("a",))


def test_evolve_changes_what_is_named_and_keeps_the_rest() -> None:
    other = FULL.evolve(rating=None, timestamp=None)
    assert dict(other.metadata) == {"place": "Bakery", "count": 3}
    assert other == dataclasses.replace(FULL, metadata=FULL.extras, rating=None, timestamp=None)
    assert other.evolve(rating=7, timestamp=WHEN) == FULL
    assert FULL.evolve(metadata={"place": "Mill"}).extras == {"place": "Mill"}
    with pytest.raises(InvalidEntry, match="rating"):
        FULL.evolve(rating=11)


def test_an_entry_can_be_copied_and_pickled() -> None:
    assert copy.deepcopy(FULL) == pickle.loads(pickle.dumps(FULL)) == FULL


def test_an_entry_is_frozen_and_so_is_its_metadata() -> None:
    given = {"place": "Bakery"}
    entry = MemoryEntry("x", given)
    given["place"] = "Mill"
    assert entry.metadata["place"] == "Bakery"
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.document = "y"  # type: ignore[misc]
    with pytest.raises(TypeError):
        entry.metadata["place"] = "Mill"  # type: ignore[index]
    assert hash(FULL) == hash(FULL.evolve())


def test_an_event_comes_from_a_mapping() -> None:
    event = {"document": "x", "importance_score": 0.3, "metadata": {"a": 1}, "id": "e1", "tags": ["t"]}
    entry = MemoryEntry.from_dict(event)
    assert (entry.id, entry.rating, entry.extras, entry.tags) == ("e1", 3, {"a": 1}, ("t",))
    assert event["metadata"] == {"a": 1}
    assert MemoryEntry.from_dict({"document": "x", "metadata": None, "id": None}).extras == {}


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (["x"], "must be a mapping with a document, not a list"),
        (None, "not nothing"),
        ({}, "has no document"),
        ({"text": "x"}, "has no document"),
        ({"document": "x", "mood": "glad"}, "Unknown field 'mood'.*under 'metadata'"),
        ({"document": "x", "metadata": [1]}, "metadata must be a mapping, not a list"),
        ({"document": "x", "metadata": [1], "importance_score": 0.5}, "metadata must be a mapping, not a list"),
        ({"document": "x", "importance_score": 0.5, "rating": 7}, "rating is given twice"),
        ({"document": "x", "importance_score": 0.5, "metadata": {"rating": 7}}, "rating is given twice"),
    ],
)
def test_what_is_no_event_is_refused(event: object, message: str) -> None:
    with pytest.raises(InvalidEntry, match=message):
        MemoryEntry.from_dict(event)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "document. is empty"),
        (" \n\t\u2003", "document. is empty"),
        (None, "document. must be text, not nothing"),
        (7, "document. must be text, not an int"),
        (b"x", "document. must be text, not bytes"),
        ("x" * 1_000_000, "1,000,000 characters; at most 32,000"),
        ("a\x00b", "control character"),
        ("a\ud800b", "half of a surrogate pair"),
    ],
    ids=["empty", "blank", "none", "number", "bytes", "1 MB", "NUL", "surrogate"],
)
def test_a_document_that_is_no_text_is_refused(document: object, message: str) -> None:
    with pytest.raises(InvalidEntry, match=f"Memory 'm7': .*{message}"):
        MemoryEntry(document, id="m7")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "entry_id", ["", "  ", "x" * 300, "a\nb", "a\x00", "a\u202eb", "a\ud800", None, 7], ids=lambda one: ascii(one)[:12]
)
def test_an_id_that_is_no_short_printable_text_is_refused(entry_id: object) -> None:
    with pytest.raises(InvalidEntry, match="id ") as caught:
        MemoryEntry("x", id=entry_id)  # type: ignore[arg-type]
    assert len(caught.value.sentence) < 150


@pytest.mark.parametrize("rating", [0, 11, -1, 0.999, 10.001, True, "7", math.nan, math.inf, 10**400, [7]], ids=str)
def test_a_rating_off_the_scale_is_refused(rating: object) -> None:
    with pytest.raises(InvalidEntry, match=r"rating (is|must be)"):
        MemoryEntry("x", rating=rating)  # type: ignore[arg-type]


@pytest.mark.parametrize("score", [7, 0, 0.05, 1.01, -0.5, math.nan, 10**400], ids=str)
def test_an_importance_score_off_the_scale_is_told_how_it_is_written(score: float) -> None:
    with pytest.raises(InvalidEntry, match=r"importance_score is .*0\.1 to 1\.0 \(7 is written 0\.7\)"):
        MemoryEntry("x", {"importance_score": score})


@pytest.mark.parametrize("score", [True, "0.7", [0.7]])
def test_an_importance_score_that_is_no_number_is_refused(score: object) -> None:
    with pytest.raises(InvalidEntry, match="importance_score must be a number"):
        MemoryEntry("x", {"importance_score": score})  # type: ignore[dict-item]


@pytest.mark.parametrize("field", ["timestamp", "last_access"])
@pytest.mark.parametrize(
    ("when", "message"),
    [
        (datetime(2026, 3, 27, 18, 0), r"has no zone; add one, like 2026-03-27T18:00:00\+00:00"),
        ("2026-03-27T18:00:00", "has no zone"),
        ("2026-03-27", "has no zone"),
        ("yesterday", "write it like"),
        ("2026-02-30T00:00Z", "write it like"),
        ("", "write it like"),
        (True, "not true or false"),
        (math.nan, "not a finite number"),
        (10**400, "not a Unix time"),
        (1_774_634_400_000, "not a Unix time in seconds"),
        ([2026], "must be a time, not a list"),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=14))), "outside the years"),
    ],
    ids=lambda one: str(one)[:20],
)
def test_a_time_without_a_zone_or_that_is_none_is_refused(field: str, when: object, message: str) -> None:
    for given in ({field: when}, {"metadata": {field: when}}):
        with pytest.raises(InvalidEntry, match=f"{field} .*{message}"):
            MemoryEntry("x", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("metadata", "typed"),
    [
        ({"importance_score": 0.6}, {"rating": 7}),
        ({"rating": 6}, {"rating": 7}),
        ({"importance_score": 0.6, "rating": 7}, {}),
        ({"timestamp": "2026-03-27T18:00:01+00:00"}, {"timestamp": WHEN}),
        ({"kind": "plan"}, {"kind": Kind.SUMMARY}),
        ({"tags": ["a"]}, {"tags": ("b",)}),
    ],
)
def test_a_field_given_twice_that_disagrees_is_refused(metadata: dict, typed: dict) -> None:
    with pytest.raises(InvalidEntry, match="is given twice"):
        MemoryEntry("x", metadata, **typed)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (["a"], "metadata must be a mapping"),
        ({"a": math.nan}, "metadata 'a' is not a finite number"),
        ({"a": -math.inf}, "metadata 'a' is not a finite number"),
        ({"a": [1, [2]]}, "metadata 'a' must be text, a number or true/false, not a list"),
        ({"a": {"b": 1}}, "metadata 'a' must be text, a number or true/false, not a dict"),
        ({"a": 2**70}, "metadata 'a' is a number of more than 64 bits"),
        ({"a": "x\x00"}, "metadata 'a' contains a control character"),
        ({"a": "\udfff"}, "metadata 'a' contains half of a surrogate pair"),
        ({"a": "x" * 32_001}, "metadata 'a' has 32,001 characters"),
        ({"chroma:x": 1}, "may not use the key 'chroma:x'"),
        ({"memory_system:x": 1}, "may not use the key 'memory_system:x'"),
        ({"document": "y"}, "may not use the key 'document'"),
        ({"tier": "ltm"}, "may not use the key 'tier'"),
        ({"": 1}, "a key that is not a short text"),
        ({7: 1}, "a key that is not a short text"),
        ({"k" * 101: 1}, "a key that is not a short text"),
        ({"a\x00": 1}, "a key that is not a short text"),
        ({str(number): number for number in range(51)}, "51 keys of its own; at most 50"),
    ],
    ids=lambda one: str(one)[:25],
)
def test_metadata_that_cannot_be_kept_is_refused(metadata: dict, message: str) -> None:
    with pytest.raises(InvalidEntry, match=message):
        MemoryEntry("x", metadata)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "dream"}, "kind is 'dream'; it must be one of observation, conversation"),
        ({"tier": "mtm"}, "tier is 'mtm'; it must be one of static, stm, ltm"),
        ({"tags": "key"}, "tags must be a list of texts, not a str"),
        ({"tags": [7]}, "tags must be text"),
        ({"tags": [" "]}, "tags is empty"),
        ({"tags": [str(n) for n in range(51)]}, "51 items; at most 50"),
        ({"evidence": "m0"}, "evidence must be a list of texts"),
        ({"tags": np.array(["a", "b"])}, "tags must be a list of texts"),
        ({"people": np.array([])}, "people must be a list of texts"),
        ({"evidence": ANY}, "evidence must be a list of texts"),
        ({"pinned": 1}, "pinned must be true or false"),
        ({"authored": "yes"}, "authored must be true or false"),
        ({"depth": -1}, "depth must be a whole number"),
        ({"depth": True}, "depth must be a whole number"),
        ({"explanation": None}, "explanation must be text"),
        ({"explanation": "x" * 4001}, "explanation has 4,001 characters"),
    ],
    ids=lambda one: str(one)[:25],
)
def test_a_typed_field_of_another_type_is_refused(fields: dict, message: str) -> None:
    with pytest.raises(InvalidEntry, match=message):
        MemoryEntry("x", **fields)


@pytest.mark.parametrize("made", ["{}", "{}-0007", "plan-{}", "synopsis-{}-8"])
def test_an_error_names_no_id_that_was_made_up(made: str) -> None:
    with pytest.raises(InvalidEntry, match=r"^The memory: its text \(document\) is empty"):
        MemoryEntry("", id=made.format(new_id()))


def test_an_id_made_later_sorts_later_even_where_the_computers_clock_runs_back(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10**18, 10**18, 9 * 10**17, 2 * 10**18])
    monkeypatch.setattr("time.time_ns", lambda: next(clock))
    ids = [MemoryEntry("Saw smoke").id for _ in range(4)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 4
    assert all(MADE_ID.fullmatch(one) for one in ids)


def test_ids_that_many_threads_make_at_once_differ() -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda _: new_id(), range(4000)))
    assert len(set(ids)) == 4000
