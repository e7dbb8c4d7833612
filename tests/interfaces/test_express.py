"""Plain queries and events go a shorter way than other requests, and nobody can tell by the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.core.change_set import dump_entry
from memory_system.interfaces.api.routes.memories import add_plainly, answered

MIRA = "/v1/agents/mira/query"
THE_LONG_WAY = {"Content-Type": "application/json; charset=utf-8"}
"""What is not plain is not taken by the short way."""
THE_SHORT_WAY = {"Content-Type": "application/json"}

BODIES: list[Any] = [
    {"cue": "Who has the key?"},
    {"cue": "Who has the key?", "touch": False, "top_k": 2, "threshold": 0},
    {"cue": "yesterday", "now": "2026-03-27T18:00:00+05:30", "requery": 2, "instances": ["Friday"]},
    {"cue": "Who has the key?", "expand": 2},
    {
        "cue": "key",
        "scoring": {"measure": "similarity", "weights": {"recency": 0}},
        "facets": {"kinds": ["observation"]},
    },
    {"cue": "key", "as_of": {"revision": 1}},
    {"cue": "key", "as_of": {"revision": 10_000}},
    {"cue": "   "},
    {"cue": ""},
    {"cue": "key", "top_k": "5"},
    {"cue": "key", "top_k": 10**30},
    {"cue": "key", "threshold": 31},
    {"cue": "key", "unknown": 1},
    {"cue": "\ud800"},
    {},
    [],
    None,
    "key",
]
RAW = [
    b"",
    b"{",
    b'{"cue": NaN}',
    b'{"cue": "key", "threshold": Infinity}',
    b'{"cue": "a", "cue": "key"}',
    b"\xff",
    b"[" * 9000,
]


def answer(api: httpx.Client, body: bytes, headers: dict[str, str], path: str = MIRA) -> tuple[int, Any, Any, Any]:
    """Status, type, tag and body, but for how long it took."""
    found = api.post(path, content=body, headers=headers)
    told = found.json()
    told.pop("milliseconds", None)
    return found.status_code, found.headers["content-type"], found.headers.get("etag"), told


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose memory was asked by the short way."""
    taken: list[str] = []

    def noted(*given: Any) -> Any:
        taken.append(given[1])
        return answered(*given)

    monkeypatch.setattr("memory_system.interfaces.api.express.answered", noted)
    return taken


def test_both_ways_answer_the_same(api: httpx.Client, remember: Callable[..., str], ways: list[str]) -> None:
    remember("Lent Tobias the brass key.", hours_ago=30)
    remember("Baked forty loaves.", hours_ago=3, rating=None)
    everything = json.dumps({"cue": "key", "threshold": 0, "top_k": 10}).encode()
    answer(api, everything, THE_LONG_WAY)  # so that both find all of it recalled just now
    for body in [*(json.dumps(body).encode() for body in BODIES), *RAW]:
        ways.clear()
        long_way = answer(api, body, THE_LONG_WAY)
        assert ways == [], body
        assert answer(api, body, THE_SHORT_WAY) == long_way, body
        asks_a_model = b'"expand": 2' in body
        short = not asks_a_model and (long_way[0] in (200, 404) or b'"   "' in body)
        assert ways == ["mira"] * short, body


def test_a_plain_query_goes_the_short_way_and_anything_else_does_not(
    api: httpx.Client, agent: AgentMemory, ways: list[str]
) -> None:
    plain = {"cue": "key"}
    assert api.post(MIRA, json=plain).status_code == 200
    assert ways == ["mira"]
    assert api.post(MIRA, json=plain, headers={"Idempotency-Key": "one"}).status_code == 200
    assert api.post(f"{MIRA}?x=1", json=plain).status_code == 422, "there is no such parameter"
    assert api.post("/v1/agents/mira/explain", json=plain).status_code == 200
    assert api.get(MIRA).status_code == 405
    assert api.post(f"{MIRA}/", json=plain, follow_redirects=False).status_code in (307, 404)
    assert ways == ["mira"]


def test_names_are_refused_alike(api: httpx.Client, agent: AgentMemory) -> None:
    body = json.dumps({"cue": "key"}).encode()
    for name in ["nobody", "MIRA", "..", "a" * 65, "%2e%2e%2fmira", "mi%00ra", "%F0%9F%A6%8A"]:
        path = f"/v1/agents/{name}/query"
        assert answer(api, body, THE_SHORT_WAY, path) == answer(api, body, THE_LONG_WAY, path), name


def test_the_guard_stands_before_both_ways(api: httpx.Client, agent: AgentMemory, ways: list[str]) -> None:
    foreign = api.post(MIRA, json={"cue": "key"}, headers={"Host": "evil.example"})
    assert (foreign.status_code, foreign.json()["code"]) == (400, "foreign-host")
    large = json.dumps({"cue": "key", "facets": {"contains": "x" * 2_000_000}}).encode()
    assert answer(api, large, THE_SHORT_WAY)[0] == 413

    def pieces() -> Any:
        for start in range(0, len(large), 65_536):
            yield large[start : start + 65_536]

    assert api.post(MIRA, content=pieces(), headers=THE_SHORT_WAY).status_code == 413
    assert ways == []


def test_a_query_that_touches_is_logged_and_counts_as_access_once(
    api: httpx.Client, agent: AgentMemory, remember: Callable[..., str]
) -> None:
    held = remember("Lent Tobias the brass key.", hours_ago=30)
    assert api.post(MIRA, json={"cue": "Who has the brass key?"}).status_code == 200
    assert agent.find(held).last_access is not None  # type: ignore[union-attr]
    (logged,) = agent.queries()
    assert (logged.query.cue, logged.author) == ("Who has the brass key?", "API")
    assert held in [hit.entry_id for hit in logged.hits]


def test_what_was_written_is_found_by_the_next_query_while_many_ask(
    api: httpx.Client, world: World, agent: AgentMemory
) -> None:
    def asking(_: int) -> int:
        return sum(api.post(MIRA, json={"cue": "Who has the key?"}).status_code == 200 for _ in range(20))

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(asking, number) for number in range(6)]
        for number in range(8):
            event = {"document": f"The key number {number} is under the mat.", "rating": 9, "id": f"key{number}"}
            assert api.post("/v1/agents/mira/events", json={"events": [event]}).status_code == 200
            found = api.post(MIRA, json={"cue": event["document"], "top_k": 20, "threshold": 0}).json()
            assert f"key{number}" in [hit["entry"]["id"] for hit in found["hits"]]
        assert [one.result() for one in asked] == [20] * 6
    assert len(agent.queries(1000)) == 128


EVENTS = "/v1/agents/mira/events"
ADDED: list[Any] = [
    {"events": [{"document": "Lent Tobias the brass key.", "id": "key", "rating": 7}]},
    {"events": [{"document": "Baked forty loaves.", "id": "loaves"}, {"document": "Sold them.", "id": "sold"}]},
    {"documents": ["A heron stood on the weir."], "metadatas": [{"rating": 3}], "ids": ["heron"]},
    {"events": [{"document": "It rained.", "id": "rain"}], "rate": False, "now": "2026-03-27T18:00:00"},
    {"events": [{"document": "It rained.", "id": "rain"}], "now": "2026-03-27T18:00:00+05:30", "wait": True},
    {"events": [{"document": "Again.", "id": "key", "rating": 2}], "overwrite_existing": False},
    {"events": [{"document": f"Loaf {number}.", "id": f"loaf-{number}", "rating": 1} for number in range(50)]},
    {"events": []},
    {"events": [{"document": "", "id": "empty"}]},
    {"events": [{"document": "x", "rating": 11}]},
    {"events": [{"document": "x", "colour": "red"}]},
    {"events": [{"document": "x", "timestamp": "noon"}]},
    {"events": [{"document": "x"}], "documents": ["y"]},
    {"ids": ["a"]},
    {"events": [{"document": "\ud800"}]},
    {"events": {"document": "x"}},
    {"events": [{"document": "x"}], "now": "noon"},
    {"unknown": 1},
    {},
    [],
]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose events were taken by the short way."""
    taken: list[str] = []

    def noted(*given: Any) -> Any:
        found = add_plainly(*given)
        if found is not None:
            taken.append(given[1])
        return found

    monkeypatch.setattr("memory_system.interfaces.api.express.add_plainly", noted)
    return taken


def test_events_are_answered_and_kept_alike_on_both_ways(
    api: httpx.Client, world: World, agent: AgentMemory, written: list[str]
) -> None:
    def came(headers: dict[str, str], body: bytes) -> tuple[Any, ...]:
        before = agent.stamp[0]
        status, kind, etag, told = answer(api, body, headers, EVENTS)
        done = told.pop("change_set", {})
        done = {name: done.get(name) for name in ("operation", "title", "changes", "author", "reason", "notes")}
        held = [dump_entry(entry) for entry in agent.entries(Tier.STM)]
        if agent.stamp[0] != before:
            agent.undo(agent.history(1)[0].revision)
        return status, kind, bool(etag), told, done, held

    for body in [*(json.dumps(body).encode() for body in ADDED), *RAW]:
        written.clear()
        long_way = came(THE_LONG_WAY, body)
        assert written == [], body
        assert came(THE_SHORT_WAY, body) == long_way, body
        if long_way[0] == 200:
            asks_a_model = b'"loaves"' in body or b'"wait": true' in body
            assert written == ["mira"] * (not asks_a_model), body


def test_events_that_take_a_header_or_may_take_long_go_the_long_way(
    api: httpx.Client, agent: AgentMemory, written: list[str]
) -> None:
    plain = {"events": [{"document": "Lent Tobias the brass key.", "rating": 7}]}
    assert api.post(EVENTS, json=plain).status_code == 200
    assert written == ["mira"]
    assert api.post(EVENTS, json=plain, headers={"Idempotency-Key": "one"}).status_code == 200
    assert api.post(EVENTS, json=plain, params={"preview": "true"}).status_code == 200
    assert api.post(EVENTS, json=plain, headers={"Accept": "text/event-stream"}).status_code == 200
    assert api.post(EVENTS, json=plain, headers={"Memory-Author": "a" * 601}).status_code == 422
    assert api.post(EVENTS, json=plain, headers={"Memory-World": "x" * 601}).status_code == 422
    twice = [("Content-Type", "text/plain"), ("Content-Type", "application/json")]
    assert api.post(EVENTS, content=json.dumps(plain), headers=twice).status_code == 422
    many = {"events": [{"document": f"Loaf {number}.", "rating": 1} for number in range(51)]}
    assert api.post(EVENTS, json=many).status_code == 200
    assert written == ["mira"]
    assert len(agent.entries(Tier.STM)) == 3 + 51


def test_on_the_short_way_too_the_history_tells_who_did_it(
    api: httpx.Client, agent: AgentMemory, written: list[str], ways: list[str]
) -> None:
    who = {"Memory-Author": "Zo%C3%AB%27s%20game"}
    plain = {"events": [{"document": "Lent Tobias the brass key.", "rating": 7}]}
    assert api.post(EVENTS, json=plain, headers=who).status_code == 200
    assert api.post(EVENTS, json=plain).status_code == 200
    assert api.post(MIRA, json={"cue": "key"}, headers=who).status_code == 200
    assert (written, ways) == (["mira", "mira"], ["mira"])
    assert [one.change_set.author for one in agent.history(2)] == ["API", "API Zoë's game"]
    assert agent.queries()[0].author == "API Zoë's game"


def test_events_of_many_connections_are_all_there(api: httpx.Client, agent: AgentMemory, written: list[str]) -> None:
    def adding(one: int) -> int:
        events = ({"document": f"Loaf {one} {number}.", "rating": 1} for number in range(10))
        return sum(api.post(EVENTS, json={"events": [event]}).status_code == 200 for event in events)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(adding, range(8))) == [10] * 8
    assert len(agent.entries(Tier.STM)) == len(written) == 80
