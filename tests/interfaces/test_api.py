"""The HTTP API, asked over a real socket."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from memory_system import AgentMemory, Kind, Tier, World
from memory_system.interfaces.api.problems import in_words
from memory_system.interfaces.api.schemas.bodies import (
    EventsBody,
    GroupBody,
    NewAgent,
    SayBody,
    TalkSettingsBody,
    WorldBody,
)
from memory_system.interfaces.forms import Body
from tests.fake_server import FakeServer, error, says


def _problem(answer: httpx.Response, status: int, code: str) -> str:
    """The detail, if the answer is a problem in the agreed form."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body.keys() == {"type", "title", "status", "code", "detail"}
    assert (body["status"], body["code"]) == (status, code)
    assert body["detail"].endswith((".", "?"))
    return str(body["detail"])


@pytest.mark.parametrize("connected", [False, True], ids=["offline", "OpenAI"])
def test_rate_answers_in_one_shape_whatever_the_model(
    api: httpx.Client, world: World, server: FakeServer, connected: bool
) -> None:
    if connected:
        world.model = server.model()
        server.on("rate", says({"explanation": "A promise.", "rating": 7, "more": "is left out"}))
    answer = api.post("/rate", json={"memory": "Lent Tobias the key."})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json().keys() == {"rating", "explanation"}
    assert isinstance(answer.json()["rating"], int)
    assert 1 <= answer.json()["rating"] <= 10
    assert answer.json()["explanation"]
    assert not connected or answer.json() == {"rating": 7, "explanation": "A promise."}


@pytest.mark.parametrize("connected", [False, True], ids=["offline", "OpenAI"])
def test_plan_answers_in_one_shape_whatever_the_model(
    api: httpx.Client, world: World, server: FakeServer, agent: AgentMemory, connected: bool
) -> None:
    if connected:
        agent.model = server.model()
        action = {"start": "19:00", "end": "20:00", "activity": "eats at the inn", "place": "Three Herons"}
        server.on("plan", says({"actions": [action]}))
    answer = api.post("/plan", json={"agent": "mira"})
    assert answer.status_code == 200
    body = answer.json()
    (plan,) = agent.entries(Tier.LTM)
    action = {"start": "19:00", "end": "20:00", "activity": "eats at the inn", "place": "Three Herons"}
    assert body["actions"] == [{"id": plan.id, **action}]
    assert body["now"] == "2026-03-27T18:00:00Z"
    assert (body["agent"], body["notes"]) == ("mira", [])
    told = agent.history(1)[0]
    assert (told.revision, told.change_set.author) == (body["revision"], "API")


def test_plan_takes_a_time_of_its_own_and_a_preview_stores_nothing(api: httpx.Client, agent: AgentMemory) -> None:
    answer = api.post("/plan", json={"agent": "mira", "now": "2026-04-01T04:00:00+02:00", "preview": True})
    body = answer.json()
    assert [action["start"] for action in body["actions"]] == ["04:30", "19:00"]
    assert body["now"] == "2026-04-01T04:00:00+02:00"
    assert body["revision"] is None
    assert agent.entries(Tier.LTM) == []


def test_plan_of_a_prompt_is_the_models_own_json_and_stores_nothing(
    api: httpx.Client, world: World, server: FakeServer, agent: AgentMemory
) -> None:
    prompt = {"memory": "You are Mira.\nMeet Tobias at the mill at 20:00 tonight.\nWhat do you do today?"}
    (action,) = api.post("/plan", json=prompt).json()["actions"]
    assert (action["start"], action["end"]) == ("20:00", "20:30")
    assert "Tobias" in action["activity"]
    world.model = server.model()
    server.on("prompt", says({"mood": "calm", "steps": [1, {"go": "mill"}]}))
    assert api.post("/plan", json=prompt).json() == {"mood": "calm", "steps": [1, {"go": "mill"}]}
    server.on("prompt", says('{"mood": NaN}'))
    _problem(api.post("/plan", json=prompt), 502, "model-nonsense")
    assert agent.entries(Tier.LTM) == []


def test_a_day_that_is_over_is_an_empty_plan_with_a_note(api: httpx.Client, agent: AgentMemory) -> None:
    body = api.post("/plan", json={"agent": "mira", "now": "2026-03-27T23:58:00Z"}).json()
    assert (body["actions"], body["revision"]) == ([], None)
    assert "Nothing is left to do today" in body["notes"][0]


RATE_BODIES: dict[str, Any] = {
    "no body": b"",
    "no JSON": b"{memory: ",
    "a list": b'["Lent the key."]',
    "a text": b'"Lent the key."',
    "null": b"null",
    "a missing field": b"{}",
    "an unknown field": b'{"memory": "a", "agent": "mira"}',
    "a number": b'{"memory": 5}',
    "a truth value": b'{"memory": true}',
    "nothing": b'{"memory": null}',
    "an object": b'{"memory": {"document": "a"}}',
    "empty": b'{"memory": ""}',
    "blank": b'{"memory": " \\n "}',
    "a megabyte": json.dumps({"memory": "word " * 200_000}).encode(),
    "a control character": b'{"memory": "a\\u0000b"}',
    "half a surrogate pair": b'{"memory": "a\\ud800b"}',
    "NaN": b'{"memory": NaN}',
}
PLAN_BODIES: dict[str, Any] = {
    "no body": b"",
    "a list": b'["mira"]',
    "a missing field": b'{"now": "2026-03-27T18:00:00Z"}',
    "an unknown field": b'{"agent": "mira", "prompt": "x"}',
    "a number": b'{"agent": 5}',
    "an empty agent": b'{"agent": ""}',
    "a time without zone": b'{"agent": "mira", "now": "2026-03-27T18:00:00"}',
    "a time in words": b'{"agent": "mira", "now": "tonight"}',
    "a time in a list": b'{"agent": "mira", "now": []}',
    "a preview in words": b'{"agent": "mira", "preview": "perhaps"}',
    "a year before 1": b'{"agent": "mira", "now": "0001-01-01T00:00:00+14:00"}',
}


def _post(api: httpx.Client, path: str, content: bytes) -> httpx.Response:
    return api.post(path, content=content, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize(
    ("path", "content"),
    [
        *(pytest.param("/rate", body, id=f"rate-{name}") for name, body in RATE_BODIES.items()),
        *(pytest.param("/plan", body, id=f"plan-{name}") for name, body in PLAN_BODIES.items()),
    ],
)
def test_a_wrong_body_is_refused_in_words(api: httpx.Client, agent: AgentMemory, path: str, content: bytes) -> None:
    answer = _post(api, path, content)
    assert answer.status_code == 422, answer.text
    detail = _problem(answer, 422, answer.json()["code"])
    assert answer.json()["code"] in ("invalid-input", "invalid-entry", "invalid-parameter")
    assert len(detail) < 1000
    assert "Request" not in detail  # the name of a class says nothing
    assert agent.entries(Tier.LTM) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{}", "agent: It is missing; or memory: It is missing."),
        (b'{"agent": 5}', "agent: It must be a text."),
        (b'{"memory": 5}', "memory: It must be a text."),
        (b'{"agent": "mira", "foo": 1}', "foo: There is no such field."),
        (b"[]", 'It must be an object: {"name": value}.'),
    ],
)
def test_of_a_body_of_two_forms_the_likeliest_is_told(api: httpx.Client, content: bytes, told: str) -> None:
    assert _post(api, "/plan", content).json()["detail"] == f"The body is not valid. {told}"


@pytest.mark.parametrize("path", ["/rate", "/v1/agents/mira/query"])
def test_a_number_of_thousands_of_digits_is_told(api: httpx.Client, agent: AgentMemory, path: str) -> None:
    detail = _problem(_post(api, path, b'{"cue": ' + b"9" * 5000 + b"}"), 400, "http-error")
    assert detail == "The body cannot be read: it holds a whole number of thousands of digits."


@pytest.mark.parametrize("content", [b"\xff\xfe{", b"[" * 100_000], ids=["no UTF-8", "100,000 brackets"])
def test_a_body_that_no_parser_takes_is_a_problem_too(api: httpx.Client, content: bytes) -> None:
    answer = _post(api, "/rate", content)
    assert 400 <= answer.status_code < 500
    _problem(answer, answer.status_code, answer.json()["code"])


def test_a_missing_field_is_named(api: httpx.Client) -> None:
    assert "memory: It is missing" in _problem(_post(api, "/rate", b"{}"), 422, "invalid-input")


def test_a_body_that_is_not_said_to_be_json_or_is_none_is_told_so(api: httpx.Client, agent: AgentMemory) -> None:
    unsaid = api.post("/v1/agents/mira/query", data={"cue": "key"})
    assert "Content-Type: application/json" in _problem(unsaid, 422, "invalid-input")
    assert "not JSON: expecting value, at character 8" in _problem(
        _post(api, "/v1/agents/mira/query", b'{"cue": }'), 422, "invalid-input"
    )


@pytest.mark.parametrize(
    ("address", "body", "meant"),
    [
        ("/v1/agents/mira/query", {"cue": "key", "topk": 3}, "'top_k'"),
        ("/v1/agents/mira/query", {"cue": "key", "scoring": {"weights": {"recencey": 1}}}, "'recency'"),
        ("/v1/agents/mira/query", {"cue": "key", "facets": {"kinds": ["plann"]}}, "'plan'"),
        ("/v1/agents/mira/events", {"events": [{"documnet": "Saw smoke."}]}, "'document'"),
        ("/plan", {"agnet": "mira"}, "'agent'"),
    ],
)
def test_a_field_or_a_word_that_there_is_not_leads_to_what_is_meant(
    api: httpx.Client, agent: AgentMemory, address: str, body: dict[str, Any], meant: str
) -> None:
    told = _problem(api.post(address, json=body), 422, "invalid-input")
    assert told.endswith(f" Did you mean {meant}?")
    assert meant not in _problem(api.post("/v1/agents/mira/query", json={"cue": "key", "zzz": 3}), 422, "invalid-input")


def test_an_agent_that_there_is_not_leads_to_the_one_that_is_meant(api: httpx.Client, agent: AgentMemory) -> None:
    told = _problem(api.post("/v1/agents/mria/query", json={"cue": "key"}), 404, "agent-not-found")
    assert told.endswith(" Did you mean 'mira'?")


@pytest.mark.parametrize(
    ("address", "body", "twin"),
    [
        ("/v1/agents/mira/query", '{"cue": "a", "cue": "key"}', "cue"),
        ("/v1/agents/mira/events", '{"events": [{"document": "a", "document": "b"}]}', "document"),
        ("/v1/agents/mira/operations/migrate", '{"threshold": 3, "threshold": 4}', "threshold"),
        ("/rate", '{"memory": "a", "memory": "b"}', "memory"),
    ],
)
def test_a_key_that_stands_twice_is_refused_and_named(
    api: httpx.Client, agent: AgentMemory, address: str, body: str, twin: str
) -> None:
    before = agent.revision
    told = _problem(_post(api, address, body.encode()), 422, "invalid-input")
    assert f"The key '{twin}' appears twice" in told
    assert agent.revision == before


@pytest.mark.parametrize(
    ("method", "address", "told"),
    [
        ("POST", "operations/migrate?preveiw=true", "query.preveiw: There is no such parameter; there are preview."),
        ("GET", "memories?tier=stm&contains=key", "query.contains: There is no such parameter; there are "),
        ("GET", "settings?x=1", "query.x: There is no such parameter; this address has none."),
    ],
)
def test_a_parameter_that_an_address_does_not_have_is_refused(
    api: httpx.Client, agent: AgentMemory, method: str, address: str, told: str
) -> None:
    before = agent.stamp
    answer = api.request(method, f"/v1/agents/mira/{address}", json={} if method == "POST" else None)
    assert told in _problem(answer, 422, "invalid-input")
    assert agent.stamp == before


@pytest.mark.parametrize(
    ("body", "given", "told"),
    [
        (
            EventsBody,
            {"events": [{"document": ""}, 5]},
            "events.0.document: It is empty; events.1: It must be an object",
        ),
        (
            EventsBody,
            {"events": [{"document": "x", "importance_score": 0}]},
            "importance_score: It must be 0.1 or more.",
        ),
        (EventsBody, {"events": [{"document": "x" * 32_001}]}, "document: It must have 32,000 characters or fewer."),
        (EventsBody, {"events": [{"document": "x", "source": "smelt"}]}, "source: It must be 'saw', 'heard', 'told'"),
        (GroupBody, {"agents": ["ana"]}, "agents: It must have 3 items or more, not 1."),
        (TalkSettingsBody, {"window": 1.5}, "window: It must be a whole number."),
        (WorldBody, {"speed": float("nan")}, "speed: It must be a number."),
        (
            NewAgent,
            {"name": "ana", "personality": 5},
            "personality: It must be a text; personality: It must be an object",
        ),
        (SayBody, {"text": "\ud800"}, "text: It contains half of a surrogate pair, which is not text."),
    ],
    ids=lambda given: str(given)[:40],
)
def test_what_is_wrong_with_a_body_is_told_in_plain_words(body: type[Body], given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as refused:
        body.model_validate(given)
    assert told in in_words(refused.value.errors())


def test_a_language_that_the_offline_rules_cannot_read_is_named(api: httpx.Client) -> None:
    foreign = api.post("/rate", json={"memory": "昨晚磨坊着火了。"})
    assert "Chinese" in _problem(foreign, 422, "unknown-language")


def test_an_unknown_agent_is_not_found_and_not_made(api: httpx.Client, world: World, agent: AgentMemory) -> None:
    detail = _problem(api.post("/plan", json={"agent": "nobody"}), 404, "agent-not-found")
    assert "'nobody'. There are mira." in detail
    assert str(world.folder) not in detail, "whoever asks is told nothing of the server's files"
    assert world.agents() == ["mira"]


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "mira\x00", "con", " "])
def test_a_name_that_leads_elsewhere_is_refused(api: httpx.Client, world: World, name: str) -> None:
    _problem(api.post("/plan", json={"agent": name}), 422, "invalid-agent-name")
    assert not (world.folder.parent / "x").exists()


def test_an_address_or_method_that_is_not_there_is_a_problem(api: httpx.Client) -> None:
    _problem(api.get("/nowhere"), 404, "http-error")
    _problem(api.get("/rate"), 405, "http-error")


@pytest.mark.parametrize(
    ("method", "address", "takes"),
    [
        ("DELETE", "/v1/agents", "GET, POST"),
        ("OPTIONS", "/v1/agents", "GET, POST"),
        ("PUT", "/v1/agents/mira/memories/x", "DELETE, GET, PATCH"),
        ("HEAD", "/rate", "POST"),
    ],
)
def test_all_methods_that_an_address_takes_are_told(api: httpx.Client, method: str, address: str, takes: str) -> None:
    answer = api.request(method, address)
    assert (answer.status_code, answer.headers["Allow"]) == (405, takes)


@pytest.mark.parametrize("at", ["2026-03-01T00:00:00+00:00", "2026-03-01T02:00:00.5%2B02:00", "2026-03-01T02:00+0200"])
def test_the_sign_of_a_zone_may_stand_in_an_address_as_it_is(api: httpx.Client, agent: AgentMemory, at: str) -> None:
    answer = api.get(f"/v1/agents/mira/memories?tier=stm&world_time={at}")
    assert (answer.status_code, answer.json()) == (200, {"items": [], "next": None})


@pytest.mark.parametrize("address", ["/", "/docs", "/v1/agents", "/v1/agents/mira"])
def test_what_can_be_read_can_be_asked_for_its_head(api: httpx.Client, agent: AgentMemory, address: str) -> None:
    assert api.head(address).headers == api.get(address).headers


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1"])
def test_a_foreign_host_header_is_refused(api: httpx.Client, host: str) -> None:
    answer = api.post("/rate", json={"memory": "a"}, headers={"Host": host})
    assert _problem(answer, 400, "foreign-host") == "This server answers to its own names only; MEMORY_HOSTS adds one."
    assert api.get("/docs", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("how", ["gzip", "GZIP", "br, gzip", "x" * 500])
def test_a_compressed_body_is_said_not_to_be_read(api: httpx.Client, agent: AgentMemory, how: str) -> None:
    packed = gzip.compress(b'{"memory": "Made the bed."}')
    sent = {"Content-Type": "application/json", "Content-Encoding": how}
    told = _problem(api.post("/rate", content=packed, headers=sent), 415, "compressed")
    assert "Send it as it is" in told
    assert len(told) < 200
    plain = {"Content-Type": "application/json", "Content-Encoding": "identity"}
    assert api.post("/rate", content=gzip.decompress(packed), headers=plain).status_code == 200


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "in chunks"])
def test_a_body_of_three_megabytes_is_refused(api: httpx.Client, agent: AgentMemory, chunked: bool) -> None:
    body = json.dumps({"memory": "x" * 3_000_000}).encode()
    content = (body[start : start + 65_536] for start in range(0, len(body), 65_536)) if chunked else body
    answer = api.post("/rate", content=content, headers={"Content-Type": "application/json"})
    assert ("content-length" in answer.request.headers) is not chunked
    assert _problem(answer, 413, "too-large") == "A body may have 2,000,000 bytes at most."
    assert api.post("/rate", json={"memory": "Made the bed."}).status_code == 200, "the server goes on"


def test_the_documentation_is_a_page_that_fetches_nothing_from_elsewhere(api: httpx.Client) -> None:
    answer = api.get("/docs")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "http://" not in answer.text
    assert "https://" not in answer.text
    assert "<script" not in answer.text
    for path in ("POST /rate", "POST /plan", "/openapi.json", "PATCH /v1/agents/{name}/settings", "If-Match"):
        assert path in answer.text


def test_twenty_plans_of_one_agent_at_once_are_all_answered(
    api: httpx.Client, world: World, agent: AgentMemory
) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: api.post("/plan", json={"agent": "mira"}), range(20)))
    assert [answer.status_code for answer in answers] == [200] * 20
    revisions = {answer.json()["revision"] for answer in answers}
    assert len(revisions) == 20
    last = max(answers, key=lambda answer: answer.json()["revision"]).json()
    assert [entry.id for entry in agent.entries(Tier.LTM)] == [action["id"] for action in last["actions"]]


def test_a_model_that_is_down_is_a_503_and_nothing_is_planned(
    api: httpx.Client, world: World, server: FakeServer, agent: AgentMemory
) -> None:
    world.model = agent.model = server.model()
    server.close()
    assert "cannot be reached" in _problem(api.post("/rate", json={"memory": "a"}), 503, "model-unavailable")
    _problem(api.post("/plan", json={"agent": "mira"}), 503, "model-unavailable")
    assert [entry for entry in agent.entries(Tier.LTM) if entry.kind is Kind.PLAN] == []


def test_a_model_that_answers_nonsense_is_a_502(api: httpx.Client, world: World, server: FakeServer) -> None:
    world.model = server.model()
    server.on("rate", says("seven"))
    _problem(api.post("/rate", json={"memory": "a"}), 502, "model-nonsense")
    server.on("rate", error(401, "bad key sk-test-0123456789abcdef"))
    assert "sk-test" not in _problem(api.post("/rate", json={"memory": "a"}), 503, "model-unavailable")


def test_the_documented_answers_are_those_given(api: httpx.Client) -> None:
    described = api.get("/openapi.json").json()
    assert {"/rate", "/plan", "/v1/agents/{name}/query"} <= set(described["paths"])
    assert "application/problem+json" in described["paths"]["/rate"]["post"]["responses"]["503"]["content"]
