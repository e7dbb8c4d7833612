"""Intake: events in all their forms, taken as a whole or not at all, and what became of each is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_system import AgentMemory, MemoryEntry, Tier
from memory_system.errors import InvalidEntry, InvalidFile
from memory_system.operations.importing.events import MAX_BATCH, Added
from tests.conftest import NOW

SMOKE = {"document": "Saw smoke", "id": "smoke", "rating": 6}


def add(agent: AgentMemory, events: Any, **options: Any) -> Added:
    return agent.add_short_term(events, rate=False, **options)


def told(added: Added) -> list[tuple[str, str]]:
    return [(outcome.id, outcome.action) for outcome in added.outcomes]


@pytest.fixture
def unchanged(agent: AgentMemory) -> Callable[[], bool]:
    """Whether the agent is as it was when the test began."""
    before = agent.stamp, agent.entries(Tier.STM)
    return lambda: (agent.stamp, agent.entries(Tier.STM)) == before


# -- forms ---------------------------------------------------------------------------------------------

COLUMNS = {
    "documents": ["Saw smoke", "It rained"],
    "metadatas": [{"importance_score": 0.6, "timestamp": "2026-03-27T06:00:00+00:00", "weather": "clear"}, None],
    "ids": ["smoke", None],
}


def test_an_entry_a_mapping_and_a_list_of_both_are_taken(agent: AgentMemory) -> None:
    assert told(add(agent, MemoryEntry("One", id="a"))) == [("a", "added")]
    assert told(add(agent, {"document": "Two", "id": "b"})) == [("b", "added")]
    mixed = [MemoryEntry("Three", id="c"), {"document": "Four", "id": "d"}]
    assert told(add(agent, mixed)) == [("c", "added"), ("d", "added")]
    assert [entry.document for entry in agent.entries(Tier.STM)] == ["One", "Two", "Three", "Four"]
    assert {entry.tier for entry in agent.entries(Tier.STM)} == {Tier.STM}


@pytest.mark.parametrize("as_type", [str, Path])
@pytest.mark.parametrize(
    "body",
    [
        COLUMNS,
        [{"document": "Saw smoke", "id": "smoke", "metadata": COLUMNS["metadatas"][0]}, {"document": "It rained"}],
    ],
    ids=["columns", "list"],
)
def test_a_json_file_is_taken_in_either_form(
    agent: AgentMemory, tmp_path: Path, body: Any, as_type: Callable[[Path], Any]
) -> None:
    file = tmp_path / "events.json"
    file.write_text(json.dumps(body), encoding="utf-8")
    assert len(add(agent, as_type(file)).outcomes) == 2
    smoke = agent.find("smoke")
    assert smoke is not None
    assert (smoke.rating, smoke.extras, smoke.document) == (6, {"weather": "clear"}, "Saw smoke")
    assert smoke.metadata["timestamp"] == "2026-03-27T06:00:00+00:00"


def test_columns_and_a_single_event_may_also_come_as_a_mapping_or_a_file(agent: AgentMemory, tmp_path: Path) -> None:
    assert len(add(agent, COLUMNS).outcomes) == 2
    (tmp_path / "one.json").write_text(json.dumps(SMOKE | {"id": "other"}))
    assert told(add(agent, tmp_path / "one.json")) == [("other", "added")]


def test_no_events_change_nothing(agent: AgentMemory, unchanged: Callable[[], bool]) -> None:
    for nothing in ([], (), {"documents": []}):
        added = add(agent, nothing)
        assert (added.outcomes, added.change_set.revision) == ((), None)
    assert unchanged()


def test_an_event_without_a_time_happened_now(agent: AgentMemory) -> None:
    (outcome,) = add(agent, {"document": "Saw smoke"}).outcomes
    (earlier,) = add(agent, {"document": "Saw fire"}, now=NOW.replace(hour=3)).outcomes
    (own,) = add(agent, {"document": "Saw ash", "timestamp": "2026-01-01T00:00Z"}).outcomes
    assert outcome.entry.timestamp == NOW
    assert earlier.entry.timestamp == NOW.replace(hour=3)
    assert own.entry.metadata["timestamp"] == "2026-01-01T00:00:00+00:00"


def test_an_event_has_not_been_accessed_whatever_it_says(agent: AgentMemory) -> None:
    (outcome,) = add(agent, SMOKE | {"last_access": "2026-03-27T17:00Z"}).outcomes
    assert outcome.entry.last_access is None
    assert agent.find("smoke").last_access is None  # type: ignore[union-attr]


# -- ids that are held ---------------------------------------------------------------------------------


def test_an_id_that_is_held_is_overwritten_and_the_caller_is_told(agent: AgentMemory) -> None:
    add(agent, SMOKE | {"metadata": {"weather": "clear"}})
    added = add(agent, [SMOKE | {"document": "Saw fire"}, {"document": "It rained", "id": "rain"}])
    assert told(added) == [("smoke", "overwritten"), ("rain", "added")]
    assert agent.find("smoke").document == "Saw fire"  # type: ignore[union-attr]
    assert agent.find("smoke").extras == {}  # type: ignore[union-attr]
    agent.undo(added.change_set.revision)  # type: ignore[arg-type]
    assert agent.find("smoke").extras == {"weather": "clear"}  # type: ignore[union-attr]


def test_an_id_that_is_held_is_skipped_if_asked_and_the_caller_is_told(agent: AgentMemory) -> None:
    add(agent, SMOKE)
    added = add(agent, [SMOKE | {"document": "Saw fire"}, {"document": "It rained"}], overwrite_existing=False)
    assert [outcome.action for outcome in added.outcomes] == ["skipped", "added"]
    assert added.outcomes[0].why == "The id exists already in short-term memory."
    assert added.outcomes[0].entry.document == agent.find("smoke").document == "Saw smoke"  # type: ignore[union-attr]
    assert added.unrated == (added.outcomes[1].id,)


@pytest.mark.parametrize("overwrite", [True, False])
def test_an_id_that_long_term_memory_holds_is_skipped(agent: AgentMemory, overwrite: bool) -> None:
    add(agent, SMOKE)
    agent.migrate_stm2ltm(ids=["smoke"])
    added = add(agent, SMOKE | {"document": "Saw fire"}, overwrite_existing=overwrite)
    assert told(added) == [("smoke", "skipped")]
    assert added.outcomes[0].why == "The id exists already in long-term memory."
    assert added.change_set.revision is None
    assert agent.find("smoke").document == "Saw smoke"  # type: ignore[union-attr]
    assert agent.entries(Tier.STM) == []


def test_an_id_of_the_personality_is_refused(agent: AgentMemory, unchanged: Callable[[], bool]) -> None:
    fact = agent.entries(Tier.STATIC)[0]
    for claimed in (fact.id, "static:facts:one-that-may-come:01234567"):
        with pytest.raises(InvalidEntry, match="begins with 'static:', which is reserved for facts of the personality"):
            add(agent, [SMOKE, {"document": "I am the queen", "id": claimed}])
    assert unchanged()


# -- all or nothing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([SMOKE, {"document": "x", "id": "b"}, SMOKE], "The id 'smoke' is used twice in one batch"),
        ([SMOKE, {"document": " "}, {"document": "x"}], "Event 2 of 3: .*document. is empty"),
        ([SMOKE, "Saw fire"], "Event 2 of 2: An event must be a mapping with a document, not a str"),
        ([SMOKE, None], "Event 2 of 2: An event must be a mapping with a document, not nothing"),
        ([SMOKE, {"document": "x", "rating": 11}], "Event 2 of 2: .*rating is 11"),
        ({"document": "x", "id": "a", "tier": "ltm"}, "^Memory 'a': events go to short-term memory.*write ltm memory"),
        ([SMOKE, {"document": "x", "tier": "static"}], "Event 2 of 2: .*write static memory"),
        (MemoryEntry("x", tier=Tier.LTM), "events go to short-term memory"),
        ({"document": "x", "kind": "plan"}, "a plan is made by its operation"),
        ({"document": "x", "kind": "reflection"}, "a reflection is made by its operation"),
        (7, "Events come as an entry, a mapping, a list or a file, not as an int"),
        (None, "not as nothing"),
        (b"Saw smoke", "Event 1 of 9"),
        ([SMOKE] * (MAX_BATCH + 1), "50,001 events; at most 50,000"),
        ({"documents": "x"}, "In the mapping: 'documents' must be a list"),
        ({"documents": ["x"], "ids": ["a", "b"]}, r"'ids' must be a list as long as 'documents' \(1\)"),
        ({"documents": ["x", "y"], "metadatas": {}}, r"'metadatas' must be a list as long as 'documents' \(2\)"),
        ({"documents": ["x"], "embeddings": [[1]]}, "unknown key 'embeddings'; there are documents, metadatas and ids"),
        ({"documents": ["x"], 7: [], "a": []}, "unknown key '7'"),
        ({"documents": ["x", "y"], "ids": ["a", "a"]}, "The id 'a' is used twice"),
        ({"documents": ["x", "y"], "metadatas": [{}, [1]]}, "Event 2 of 2: .*metadata must be a mapping"),
    ],
    ids=lambda one: str(one)[:30],
)
def test_a_batch_with_one_bad_event_is_refused_whole(
    agent: AgentMemory, unchanged: Callable[[], bool], events: Any, message: str
) -> None:
    with pytest.raises(InvalidEntry, match=message):
        add(agent, events)
    assert unchanged()


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (None, InvalidEntry, "events.json cannot be read as a file: No such file"),
        (b'{"documents": [\n"x"', InvalidFile, r"In events\.json: line 2: this is not JSON"),
        (b'{"documents": ["x"], "documents": []}', InvalidFile, "the key 'documents' appears twice"),
        (b"\xff\xfe", InvalidFile, "byte 0 is not UTF-8"),
        (b"7", InvalidEntry, r"events\.json has no events"),
        (b'{"documents": ["x"], "metadatas": [], "ids": ["a"]}', InvalidEntry, "In events.json: 'metadatas' must be"),
        (b'{"documents": ["x"], "embeddings": []}', InvalidEntry, "In events.json: unknown key 'embeddings'"),
        (b'[{"document": "x"}, {"document": 7}]', InvalidEntry, "Event 2 of 2: .*document. must be text, not an int"),
    ],
    ids=["missing", "broken", "twins", "binary", "no events", "unequal", "too many columns", "one bad"],
)
def test_a_file_that_cannot_be_taken_is_refused_whole(
    agent: AgentMemory,
    unchanged: Callable[[], bool],
    tmp_path: Path,
    body: bytes | None,
    error: type[Exception],
    message: str,
) -> None:
    if body is not None:
        (tmp_path / "events.json").write_bytes(body)
    with pytest.raises(error, match=message):
        add(agent, tmp_path / "events.json")
    assert unchanged()


@pytest.mark.parametrize(
    "path", ["", "x" * 5000, "a\x00b", "/", "Saw smoke over the field"], ids=lambda one: repr(one)[:20]
)
def test_a_text_that_is_no_file_is_refused_in_a_sentence(agent: AgentMemory, path: str) -> None:
    with pytest.raises(InvalidEntry, match=r"cannot be read|not the path of a file"):
        add(agent, path)
