"""``/v1``: everything that Python can do, over a real socket."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import httpx
import pytest

from memory_system import AgentMemory, DecayForm, Tier, World
from memory_system.errors import AgentNotFound, ChangeSetNotFound, Conflict, TooMany
from memory_system.interfaces.api import feed
from memory_system.interfaces.api.deps import Desk, Previews
from memory_system.interfaces.serialize import plain
from memory_system.maintenance import InUse, export
from memory_system.recall.verdicts import Verdict
from memory_system.world import knows
from tests.fake_server import FakeServer, says
from tests.served import served_api
from tests.waiting import LAST_RESORT, until

MIRA = "/v1/agents/mira"
Remember = Callable[..., str]


def told(answer: httpx.Response, status: int = 200) -> Any:
    """The body, if the answer has this status."""
    assert answer.status_code == status, answer.text
    return answer.json()


def code(answer: httpx.Response, status: int) -> str:
    """The code of a problem."""
    assert answer.headers["content-type"] == "application/problem+json"
    return str(told(answer, status)["code"])


# -- what is asked -----------------------------------------------------------------------------------------


def test_a_query_answers_what_python_answers(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    remember("Lent Tobias the brass key.", hours_ago=30)
    here = agent.explain("Who has the key?", top_k=3)
    there = told(api.post(f"{MIRA}/query", json={"cue": "Who has the key?", "top_k": 3, "touch": False}))
    assert [(hit["entry"]["id"], hit["score"]["total"]) for hit in there["hits"]] == [
        (hit.entry.id, hit.score.total) for hit in here.hits
    ]
    assert there["context"] == here.context
    assert there["hits"][0]["score"]["total"] == reduce(add, there["hits"][0]["score"]["parts"].values())


def test_looking_changes_nothing_and_asking_counts_as_access(
    api: httpx.Client, agent: AgentMemory, remember: Remember
) -> None:
    held = remember("Lent Tobias the brass key.", hours_ago=30)
    told(api.post(f"{MIRA}/explain", json={"cue": "Who has the key?"}))
    assert agent.find(held).last_access is None  # type: ignore[union-attr]
    told(api.post(f"{MIRA}/query", json={"cue": "Who has the brass key?"}))
    assert agent.find(held).last_access is not None  # type: ignore[union-attr]
    (logged,) = told(api.get(f"{MIRA}/queries"))["items"]
    assert (logged["cue"], logged["author"]) == ("Who has the brass key?", "API")


def test_an_explanation_says_of_each_memory_why_not(api: httpx.Client, remember: Remember) -> None:
    remember("Swept the yard.", hours_ago=500, rating=1)
    body = told(api.post(f"{MIRA}/explain", json={"cue": "Who has the key?", "top_k": 1}))
    assert len(body["hits"]) + len(body["candidates"]) == body["total"]
    assert all(one["because"].endswith(".") for one in body["candidates"])
    assert told(api.post(f"{MIRA}/explain", json={"cue": "key", "limit": 0}))["candidates"] == []


def test_the_past_answers_as_it_would_have_then(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    remember("Lent Tobias the brass key.")
    revision = agent.stamp[0]
    remember("Tobias gave the brass key to Anna.")
    body = {"cue": "Who has the brass key?", "as_of": {"revision": revision}}
    documents = [hit["entry"]["document"] for hit in told(api.post(f"{MIRA}/query", json=body))["hits"]]
    assert "Lent Tobias the brass key." in documents
    assert "Tobias gave the brass key to Anna." not in documents
    assert told(api.get(f"{MIRA}/as-of", params={"revision": revision}))["stm"] == 1
    assert len(told(api.get(f"{MIRA}/memories", params={"tier": "stm", "revision": revision}))["items"]) == 1
    assert code(api.get(f"{MIRA}/as-of"), 422) == "invalid-parameter"


# -- events ------------------------------------------------------------------------------------------------


def test_events_come_singly_in_batches_and_as_lines(api: httpx.Client, agent: AgentMemory) -> None:
    one = told(api.post(f"{MIRA}/events", json={"events": [{"document": "Saw smoke at dawn.", "rating": 8}]}))
    assert [outcome["action"] for outcome in one["outcomes"]] == ["added"]
    many = [{"document": f"Baked loaf {n}.", "id": f"loaf-{n}", "rating": 2} for n in range(30)]
    assert len(told(api.post(f"{MIRA}/events", json={"events": many}))["outcomes"]) == 30
    lines = "\n".join(json.dumps({"document": f"Sold loaf {n}.", "rating": 2}) for n in range(40)) + "\n\n"
    stream = api.post(f"{MIRA}/events.ndjson", content=lines, headers={"Content-Type": "application/x-ndjson"})
    assert len(told(stream)["outcomes"]) == 40
    assert len(agent.entries(Tier.STM)) == 71
    assert {told_.change_set.author for told_ in agent.history(3)} == {"API"}


def test_an_event_is_rated_on_arrival_or_stored_unrated(
    api: httpx.Client, agent: AgentMemory, server: FakeServer
) -> None:
    agent.model = server.model()
    server.close()
    body = told(api.post(f"{MIRA}/events", json={"events": [{"document": "Lent the key."}]}))
    assert body["unrated"] == [body["outcomes"][0]["id"]]
    assert [entry.rating for entry in agent.entries(Tier.STM)] == [None]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('{"document": "a"}\n{"document": ', "line 2"),
        ('{"document": "a"}\n[1]', "Line 2"),
        ('{"document": "a"}\n{"text": "b"}', "Event 2 of 2"),
        ('{"document": "a", "id": "x"}\n{"document": "b", "id": "x"}', "'x' is used twice"),
        ("\xff", "UTF-8"),
    ],
)
def test_a_stream_with_one_wrong_line_changes_nothing(
    api: httpx.Client, agent: AgentMemory, lines: str, problem: str
) -> None:
    content = lines.encode("latin-1")
    answer = api.post(f"{MIRA}/events.ndjson", content=content, headers={"Content-Type": "application/x-ndjson"})
    assert problem in told(answer, 422)["detail"]
    assert agent.entries(Tier.STM) == []


def test_a_stream_of_another_media_type_is_refused(api: httpx.Client, agent: AgentMemory) -> None:
    answer = api.post(f"{MIRA}/events.ndjson", content='{"document": "a"}', headers={"Content-Type": "text/plain"})
    assert code(answer, 415) == "http-error"
    assert agent.entries(Tier.STM) == []


def test_only_a_stream_may_be_larger_than_two_megabytes(api: httpx.Client, agent: AgentMemory) -> None:
    lines = "\n".join(json.dumps({"document": "word " * 6000, "id": str(n), "rating": 1}) for n in range(80))
    assert len(lines) > 2_000_000
    stream = {"Content-Type": "application/x-ndjson"}
    assert code(api.post(f"{MIRA}/events", content=lines, headers=stream), 413) == "too-large"
    assert len(told(api.post(f"{MIRA}/events.ndjson", content=lines, headers=stream))["outcomes"]) == 80


# -- operations --------------------------------------------------------------------------------------------


def test_a_preview_changes_nothing_and_applying_it_does_what_it_showed(
    api: httpx.Client, agent: AgentMemory, remember: Remember
) -> None:
    ids = [remember(f"Number {n} of the loaves.", rating=9, hours_ago=n) for n in range(3)]
    before = agent.stamp[0]
    shown = told(api.post(f"{MIRA}/operations/migrate", params={"preview": True}, json={"ids": ids}))
    assert (shown["revision"], len(shown["changes"]), shown["expires_in"]) == (None, 3, 3600)
    assert (agent.stamp[0], agent.entries(Tier.LTM)) == (before, [])
    assert told(api.get(f"{MIRA}/previews/{shown['id']}"))["title"] == shown["title"]
    address = f"{MIRA}/previews/{shown['id']}/apply"
    done = told(api.post(address, json={"without": ids[:1]}))
    assert (done["revision"], len(done["changes"])) == (before + 1, 2)
    assert sorted(entry.id for entry in agent.entries(Tier.LTM)) == sorted(ids[1:])
    assert told(api.post(address, json={"without": ids[:1]}))["revision"] == before + 1
    assert code(api.post(address, json={}), 409) == "conflict"
    assert agent.stamp[0] == before + 1


def test_a_preview_that_no_longer_fits_is_refused(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    held = remember("Lent Tobias the key.")
    shown = told(api.post(f"{MIRA}/operations/forget", params={"preview": True}, json={"ids": [held]}))
    agent.edit(held, rating=9)
    assert code(api.post(f"{MIRA}/previews/{shown['id']}/apply", json={}), 409) == "stale-change"
    assert api.delete(f"{MIRA}/previews/{shown['id']}").status_code == 204
    assert code(api.get(f"{MIRA}/previews/{shown['id']}"), 404) == "change-set-not-found"


def test_previews_give_way_to_newer_ones_and_to_time(agent: AgentMemory, remember: Remember) -> None:
    now = [0.0]
    previews = Previews(seconds=60, most=2, clock=lambda: now[0])
    plans = [agent.forget(remember(f"Memory {n}."), preview=True) for n in range(3)]
    for plan in plans:
        previews.keep("mira", plan)
    with pytest.raises(ChangeSetNotFound, match="1 minutes"):
        previews.get("mira", plans[0].id)
    assert previews.get("mira", plans[2].id) == plans[2]
    with pytest.raises(ChangeSetNotFound):
        previews.get("tobias", plans[2].id)
    previews.apply("mira", plans[2].id, (), agent.apply)
    with pytest.raises(Conflict):
        previews.apply("mira", plans[2].id, [plans[2].changes[0].entry_id], agent.apply)
    now[0] = 61
    with pytest.raises(ChangeSetNotFound):
        previews.get("mira", plans[2].id)


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("migrate", {"threshold": 0.1}),
        ("reflect", {}),
        ("summarise", {"k": 2}),
        ("plan", {}),
        ("reset", {}),
        ("remember-conversation", {"turns": [{"speaker": "Tobias", "text": "I have the key."}]}),
        ("save-cue", {"name": "key", "cue": "Who has the key?"}),
        ("undo-back-to", {"revision": 1}),
    ],
)
def test_every_operation_can_be_previewed_and_done(
    api: httpx.Client, agent: AgentMemory, remember: Remember, operation: str, body: dict[str, Any]
) -> None:
    for n in range(4):
        remember(f"Told Tobias about loaf {n}.", rating=n + 1, hours_ago=n)
    agent.migrate_stm2ltm(ids=[entry.id for entry in agent.entries(Tier.STM)[:2]])
    before = agent.stamp[0]
    shown = told(api.post(f"{MIRA}/operations/{operation}", params={"preview": True}, json=body))
    assert (shown["revision"], agent.stamp[0]) == (None, before)
    done = told(api.post(f"{MIRA}/operations/{operation}", json=body))
    assert done["revision"] == (before + 1 if done["changes"] or done["texts"] else None)


def test_undo_and_redo_and_what_stands_in_their_way(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    held = remember("Lent Tobias the key.")
    edited = told(api.patch(f"{MIRA}/memories/{held}", json={"rating": 9}))["revision"]
    undone = told(api.post(f"{MIRA}/operations/undo", json={"revision": edited}))
    assert undone["undoes"] == edited
    assert told(api.get(f"{MIRA}/memories/{held}"))["rating"] == 5
    told(api.post(f"{MIRA}/operations/redo", json={"revision": edited}))
    told(api.patch(f"{MIRA}/memories/{held}", json={"rating": 2}))
    (clash,) = told(api.get(f"{MIRA}/history/{edited}/conflicts"))["items"]
    assert clash["key"] == held
    history = told(api.get(f"{MIRA}/history", params={"memory": held}))["items"]
    assert [one["change_set"]["revision"] for one in history] == sorted(
        (one["change_set"]["revision"] for one in history), reverse=True
    )
    assert code(api.get(f"{MIRA}/history/999"), 404) == "change-set-not-found"


# -- revisions, keys, cursors ------------------------------------------------------------------------------


def test_an_edit_made_on_a_stale_revision_gets_a_412(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    held = remember("Lent Tobias the key.")
    loaded = api.get(f"{MIRA}/memories/{held}")
    assert loaded.headers["etag"] == f'"{agent.stamp[0]}"'
    remember("A game writes meanwhile.")
    stale = {"If-Match": loaded.headers["etag"]}
    refused = [
        api.patch(f"{MIRA}/memories/{held}", json={"rating": 9}, headers=stale),
        api.delete(f"{MIRA}/memories/{held}", headers=stale),
        api.patch(f"{MIRA}/settings", json={"stm_size": 9}, headers=stale),
        api.put(f"{MIRA}/personality", json={"text": "{}"}, headers=stale),
        api.post(f"{MIRA}/operations/reset", json={}, headers=stale),
        api.delete(MIRA, headers=stale),
    ]
    assert [code(answer, 412) for answer in refused] == ["stale-revision"] * 6
    assert agent.find(held).rating == 5  # type: ignore[union-attr]
    fresh = {"If-Match": api.get(MIRA).headers["etag"]}
    done = api.patch(f"{MIRA}/memories/{held}", json={"rating": 9}, headers=fresh)
    assert done.headers["etag"] == f'"{told(done)["revision"]}"'


def test_an_edit_may_be_made_on_one_of_several_revisions(
    api: httpx.Client, agent: AgentMemory, remember: Remember
) -> None:
    address = f"{MIRA}/memories/{remember('Lent Tobias the key.')}"

    def edited(tags: str) -> httpx.Response:
        return api.patch(address, json={"rating": 9}, headers={"If-Match": tags})

    now = agent.stamp[0]
    for stale in (f'"{now - 1}"', f'"{now + 1}", "x,y"', f'W/"{now}"'):
        assert code(edited(stale), 412) == "stale-revision"
    assert "without W/" in edited(f'W/"{now}"').json()["detail"]
    for wrong in (str(now), f'"{now}', f'"{now}" or "8"', ",", f"*, '{now}'"):
        assert "not a list of ETags" in edited(wrong).json()["detail"]
        assert code(edited(wrong), 422) == "invalid-parameter"
    assert agent.stamp[0] == now, "nothing was changed"
    for fits in (f'"x,y" ,, W/"3",\t"{now}"', "*"):
        assert edited(fits).status_code == 200


def test_of_ten_edits_made_on_one_revision_one_wins(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    held = remember("Lent Tobias the key.")
    loaded = {"If-Match": api.get(MIRA).headers["etag"]}
    with ThreadPoolExecutor(10) as pool:
        answers = pool.map(
            lambda n: api.patch(f"{MIRA}/memories/{held}", json={"explanation": f"By {n}."}, headers=loaded), range(10)
        )
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 9


def test_a_write_that_is_sent_again_with_its_key_is_done_once(api: httpx.Client, agent: AgentMemory) -> None:
    key = {"Idempotency-Key": "dawn-7"}
    body = {"events": [{"document": "Saw smoke at dawn.", "rating": 8}]}
    first = api.post(f"{MIRA}/events", json=body, headers=key)
    again = api.post(f"{MIRA}/events", json=body, headers=key)
    assert told(again) == told(first)
    assert again.headers["idempotent-replayed"] == "true"
    assert len(agent.entries(Tier.STM)) == 1
    other = {"events": [{"document": "Saw rain.", "rating": 3}]}
    assert code(api.post(f"{MIRA}/events", json=other, headers=key), 409) == "conflict"
    assert len(agent.entries(Tier.STM)) == 1


def test_twenty_writes_of_one_key_at_once_are_one_write(api: httpx.Client, agent: AgentMemory) -> None:
    body = {"events": [{"document": "Saw smoke at dawn.", "rating": 8}]}
    with ThreadPoolExecutor(20) as pool:
        answers = list(
            pool.map(lambda _: api.post(f"{MIRA}/events", json=body, headers={"Idempotency-Key": "dawn"}), range(20))
        )
    assert len({answer.text for answer in answers}) == 1
    assert len(agent.history(100, operation="add")) == 1


def test_two_idempotency_keys_are_refused(api: httpx.Client, agent: AgentMemory) -> None:
    before = agent.stamp
    for second in ("noon", ""):
        keys = [("Idempotency-Key", "dawn"), ("Idempotency-Key", second)]
        body = {"events": [{"document": "Dawn.", "rating": 3}]}
        assert code(api.post(f"{MIRA}/events", json=body, headers=keys), 422) == "invalid-parameter"
    assert agent.stamp == before


def test_a_write_that_failed_may_be_tried_again_with_its_key(api: httpx.Client, agent: AgentMemory) -> None:
    key = {"Idempotency-Key": "later"}
    assert code(api.delete(f"{MIRA}/memories/one", headers=key), 404) == "entry-not-found"
    agent.add_short_term({"document": "Saw smoke.", "id": "one", "rating": 5})
    assert told(api.delete(f"{MIRA}/memories/one", headers=key))["operation"] == "forget"


def test_events_sent_again_after_a_restart_are_not_doubled(world: World, agent: AgentMemory) -> None:
    body = {"events": [{"document": "Saw smoke.", "rating": 5}, {"document": "Saw rain.", "rating": 2}]}
    for _ in range(2):
        with served_api(world) as address:
            told(httpx.post(f"{address}{MIRA}/events", json=body, headers={"Idempotency-Key": "k"}, trust_env=False))
    assert len(agent.entries(Tier.STM)) == 2


def test_events_sent_again_after_a_restart_take_nothing_back_that_was_made_of_them_since(
    world: World, agent: AgentMemory
) -> None:
    key, events = {"Idempotency-Key": "k"}, [{"document": f"Saw {what}.", "rating": 5} for what in ("smoke", "rain")]
    body = {"events": [*events, {"document": "Saw snow.", "rating": 5, "id": "snow"}]}
    with served_api(world) as address:
        first = told(httpx.post(f"{address}{MIRA}/events", json=body, headers=key, trust_env=False))
    smoke, rain, snow = (one["id"] for one in first["outcomes"])
    agent.edit(smoke, document="Saw fog.")
    agent.edit(snow, rating=9)
    agent.forget(rain)
    before = agent.stamp
    with served_api(world) as address:
        again = httpx.post(f"{address}{MIRA}/events", json=body, headers=key, trust_env=False)
        other = httpx.post(f"{address}{MIRA}/events", json={"events": events}, headers=key, trust_env=False)
    assert told(again)["outcomes"] == first["outcomes"]
    assert code(other, 409) == "conflict"
    assert agent.stamp == before


def test_what_was_done_to_a_deleted_character_is_neither_told_nor_done_to_another(
    api: httpx.Client, agent: AgentMemory
) -> None:
    key, body = {"Idempotency-Key": "k"}, {"events": [{"document": "Edda is ill.", "rating": 5}]}

    def sent() -> httpx.Response:
        return api.post(f"{MIRA}/events", json=body, headers=key)

    told(sent())
    gone = told(api.delete(MIRA, headers={"Idempotency-Key": "d"}))
    assert told(api.delete(MIRA, headers={"Idempotency-Key": "d"})) == gone, "it is told again that it was deleted"
    assert "The character has since been deleted" in sent().json()["detail"]
    told(api.post("/v1/bin/restore", json={"name": "mira"}))
    assert told(sent())["outcomes"], "it is there again"
    told(api.delete(MIRA))
    told(api.post("/v1/agents", json={"name": "mira", "personality": {"identity": {"name": "Mira"}}}), 201)
    assert code(sent(), 409) == "conflict"
    assert told(api.get(MIRA))["stm"] == 0


def test_what_was_renamed_is_told_again(api: httpx.Client, agent: AgentMemory) -> None:
    key = {"Idempotency-Key": "k"}
    first = told(api.post(f"{MIRA}/rename", json={"to": "edda"}, headers=key))
    assert told(api.post(f"{MIRA}/rename", json={"to": "edda"}, headers=key)) == first


@pytest.mark.parametrize("restarted", [False, True], ids=["while it runs", "after a restart"])
def test_what_was_purged_since_is_neither_told_nor_done_again(
    world: World, agent: AgentMemory, restarted: bool
) -> None:
    event = {"document": "Edda is ill.", "rating": 5}
    writes = (f"{MIRA}/events", {"events": [event]}), ("/v1/events", {"events": [event | {"agent": "mira"}]})

    def sent(address: str) -> list[httpx.Response]:
        key = {"Idempotency-Key": "k"}, {"Idempotency-Key": "m"}
        return [
            httpx.post(f"{address}{path}", json=body, headers=one, trust_env=False)
            for (path, body), one in zip(writes, key, strict=True)
        ]

    def again(address: str) -> None:
        one, many = sent(address)
        assert code(one, 409) == "conflict"
        assert "Edda" not in one.text + many.text
        assert "has since been purged for good" in one.text
        assert "has since been purged for good" in many.text

    with served_api(world) as address:
        for answer in sent(address):
            told(answer)
        ids = [one.id for one in agent.entries(Tier.STM)]
        assert len(ids) == 2
        agent.forget(ids)
        agent.purge(ids)
        if not restarted:
            again(address)
    if restarted:
        with served_api(world) as address:
            again(address)
    assert not agent.entries(Tier.STM)


def test_a_preview_shows_nothing_that_was_purged_since(
    api: httpx.Client, agent: AgentMemory, remember: Remember
) -> None:
    for done in (False, True):
        held = remember(f"Edda is ill, {done}.")
        plan = told(api.post(f"{MIRA}/operations/forget", params={"preview": "true"}, json={"ids": [held]}))
        address = f"{MIRA}/previews/{plan['id']}"
        if done:
            told(api.post(f"{address}/apply", json={}))
        else:
            agent.forget([held])
        agent.purge([held])
        answers = [api.post(f"{address}/apply", json={})] if done else []
        for answer in (*answers, api.get(address)):
            assert code(answer, 404) == "change-set-not-found"
            assert "Edda" not in answer.text


def test_cursors_lead_through_a_whole_list(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    ids = sorted(remember(f"Number {n}.") for n in range(7))
    found, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        query = {"tier": "stm", "limit": 3} | ({"cursor": cursor} if cursor else {})
        page = told(api.get(f"{MIRA}/memories", params=query))
        found, cursor, pages = found + [one["id"] for one in page["items"]], page["next"], pages + 1
    assert (found, pages) == (ids, 3)
    revisions, cursor = [], None
    while not revisions or cursor:
        page = told(api.get(f"{MIRA}/history", params={"limit": 3} | ({"cursor": cursor} if cursor else {})))
        revisions += [one["change_set"]["revision"] for one in page["items"]]
        cursor = page["next"]
    assert revisions == list(range(agent.stamp[0], 0, -1))


def test_a_cursor_of_the_longest_id_in_any_script_is_taken(
    api: httpx.Client, agent: AgentMemory, remember: Remember
) -> None:
    ids = sorted(remember(f"Number {n}.", id="\U0001f9c0" * 199 + str(n)) for n in range(3))
    page = told(api.get(f"{MIRA}/memories", params={"tier": "stm", "limit": 2}))
    page = told(api.get(f"{MIRA}/memories", params={"tier": "stm", "cursor": page["next"]}))
    assert [one["id"] for one in page["items"]] == ids[2:]


def test_a_cursor_of_another_tier_or_agent_is_refused(
    api: httpx.Client, agent: AgentMemory, remember: Remember, world: World
) -> None:
    world.create_agent("tobias")
    for number in range(3):
        remember(f"Number {number}.")
    cursor = told(api.get(f"{MIRA}/memories", params={"tier": "stm", "limit": 1}))["next"]
    for of, tier in ((MIRA, "ltm"), (MIRA.replace("mira", "tobias"), "stm")):
        answer = api.get(f"{of}/memories", params={"tier": tier, "cursor": cursor})
        assert code(answer, 422) == "invalid-parameter"
    cursor = told(api.get(f"{MIRA}/history", params={"limit": 1}))["next"]
    answer = api.get(f"{MIRA.replace('mira', 'tobias')}/history", params={"cursor": cursor})
    assert code(answer, 422) == "invalid-parameter"


@pytest.mark.parametrize("cursor", ["x", "!!", "WyJoaXN0b3J5Iiwz", "WyJtZW1vcmllcyIsM10"])
def test_a_cursor_that_is_none_is_refused(api: httpx.Client, agent: AgentMemory, cursor: str) -> None:
    answer = api.get(f"{MIRA}/memories", params={"tier": "stm", "cursor": cursor})
    assert code(answer, 422) == "invalid-parameter"


# -- agents and worlds -------------------------------------------------------------------------------------


def test_agents_are_made_copied_renamed_deleted_and_brought_back(api: httpx.Client, world: World) -> None:
    assert told(api.post("/v1/agents", json={"name": "ana"}), 201)["agent"] == "ana"
    assert code(api.post("/v1/agents", json={"name": "ANA"}), 409) == "already-exists"
    assert code(api.post("/v1/agents", json={"name": "../x"}), 422) == "invalid-agent-name"
    told(api.post("/v1/agents/ana/copy", json={"to": "bea"}), 201)
    told(api.post("/v1/agents/bea/rename", json={"to": "cleo"}))
    deleted = told(api.delete("/v1/agents/cleo"))
    assert [one["name"] for one in told(api.get("/v1/agents"))["items"]] == ["ana"]
    assert told(api.get("/v1/bin"))["items"] == [deleted]
    told(api.post("/v1/bin/restore", json={"name": "cleo"}))
    assert world.agents() == ["ana", "cleo"]
    assert code(api.post("/v1/bin/restore", json={"name": "cleo"}), 404) == "agent-not-found"


def test_settings_and_personality_are_read_and_changed(api: httpx.Client, agent: AgentMemory) -> None:
    assert told(api.get(f"{MIRA}/settings"))["stm_size"] == 20
    told(api.patch(f"{MIRA}/settings", json={"stm_size": 50, "scoring": {"decay": 0.9}}))
    assert (agent.settings.stm_size, agent.settings.scoring.decay) == (50, 0.9)
    text = told(api.get(f"{MIRA}/personality"))["text"]
    changed = json.dumps(json.loads(text) | {"traits": ["late riser"]})
    shown = told(api.put(f"{MIRA}/personality", params={"preview": True}, json={"text": changed}))
    assert agent.personality_text == text
    told(api.post(f"{MIRA}/previews/{shown['id']}/apply", json={}))
    assert agent.personality_text == changed
    wrong = api.put(f"{MIRA}/personality", json={"text": '{"identity": {}}'})
    assert code(wrong, 422) == "invalid-personality"


def test_the_world_tells_its_clock_and_lets_it_stand(api: httpx.Client, world: World, agent: AgentMemory) -> None:
    about = told(api.get("/v1/world"))
    assert (about["name"], about["standing"], about["agents"]) == ("mem_test", "2026-03-27T18:00:00+00:00", 1)
    told(api.patch("/v1/world", json={"standing": "2026-04-01T08:00:00+02:00", "title": "Harrow Quay"}))
    assert world.standing is not None
    assert world.standing.isoformat() == "2026-04-01T08:00:00+02:00"
    assert world.about.title == "Harrow Quay"
    assert told(api.patch("/v1/world", json={"standing": None}))["standing"] is None
    (served,) = told(api.get("/v1/worlds"))["items"]
    assert (served["name"], served["served"]) == ("mem_test", True)


def test_an_export_is_what_the_command_line_writes(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    remember("Lent Tobias the key.")
    answer = api.get(f"{MIRA}/export", params={"vectors": True})
    assert answer.text.splitlines() == list(export.lines(agent, vectors=True))
    assert answer.headers["content-type"].startswith("application/x-ndjson")


# -- looked into -------------------------------------------------------------------------------------------


def test_lineage_staleness_and_suspicions_are_told(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    ids = [remember(f"Tobias has the brass key, told number {n}.", rating=n + 1, hours_ago=n) for n in range(3)]
    agent.migrate_stm2ltm(ids=ids)
    agent.summarize_and_forget(3)
    (summary,) = agent.entries(Tier.LTM)
    kin = told(api.get(f"{MIRA}/lineage", params={"memory": summary.id}))["kin"]
    assert {one["entry"]["id"] for one in kin if one["forgotten"]} == set(ids)
    assert told(api.get(f"{MIRA}/stale"))["items"] == []
    for n in range(2):
        remember("Lent Tobias the brass key.", hours_ago=n)
    (pair,) = [one for one in told(api.get(f"{MIRA}/suspicions"))["items"] if one["similarity"] == 1]
    told(api.post(f"{MIRA}/operations/merge", json={"ids": pair["ids"]}))
    assert len(agent.entries(Tier.STM)) == 1
    assert code(api.get(f"{MIRA}/lineage", params={"memory": "x"}), 404) == "entry-not-found"


def test_recall_is_tested_and_foreseen(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    held = remember("Lent Tobias the brass key.", hours_ago=3)
    cue = {"name": "key", "cue": "Who has the brass key?", "must": [held]}
    told(api.post(f"{MIRA}/operations/save-cue", json=cue))
    told(api.post(f"{MIRA}/operations/judge", json={"cue": cue["cue"], "id": held, "verdict": True}))
    (checked,) = told(api.get(f"{MIRA}/cues"))["items"]
    assert (checked["passed"], checked["missing"]) == (True, [])
    assert told(api.get(f"{MIRA}/judgments"))["items"][0]["right"] == [held]
    forecasts = told(api.post(f"{MIRA}/forecast", json={"cue": cue["cue"], "days": 30}))["items"]
    assert held in {one["id"] for one in forecasts}
    ways = told(api.post(f"{MIRA}/ways", json={"cue": cue["cue"], "id": held, "threshold": 2}))["items"]
    assert ways
    assert [way["size"] for way in ways] == sorted(way["size"] for way in ways)
    told(api.post(f"{MIRA}/query", json={"cue": cue["cue"]}))
    (logged,) = told(api.get(f"{MIRA}/queries"))["items"]
    relived = told(api.get(f"{MIRA}/queries/{logged['number']}/relived"))
    assert [hit["entry"]["id"] for hit in relived["then"]["hits"]] == logged["hits"]


def test_a_rehearsal_is_begun_compared_kept_from_and_dropped(
    api: httpx.Client, world: World, agent: AgentMemory, remember: Remember
) -> None:
    held = remember("Lent Tobias the brass key.")
    branched = told(api.post(f"{MIRA}/rehearsals", json={"purpose": "what if"}), 201)["agent"]
    branch = f"/v1/agents/{branched}"
    told(api.patch(f"{branch}/memories/{held}", json={"rating": 9}))
    told(api.patch(f"{branch}/settings", json={"stm_size": 7}))
    apart = told(api.get(f"{branch}/comparison"))
    assert [(one["id"], one["mine"]["rating"], one["clash"]) for one in apart["memories"]] == [(held, 9, False)]
    assert [one["name"] for one in apart["texts"]] == ["settings"]
    shown = told(api.post(f"{branch}/keep", params={"preview": True}, json={"ids": [held]}))
    assert shown["agent"] == "mira"
    told(api.post(f"{MIRA}/previews/{shown['id']}/apply", json={}))
    assert told(api.get(f"{MIRA}/memories/{held}"))["rating"] == 9
    assert told(api.get(f"{MIRA}/settings"))["stm_size"] == 20
    assert [one["name"] for one in told(api.get(f"{MIRA}/rehearsals"))["items"]] == [branched]
    told(api.post(f"{branch}/drop"))
    assert world.agents() == ["mira"]
    assert code(api.get(f"{MIRA}/comparison"), 409) == "conflict"


# -- changes as they happen --------------------------------------------------------------------------------


def test_changes_are_told_as_they_happen(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    heard: list[tuple[str, dict[str, Any]]] = []
    listening = threading.Event()

    def listen() -> None:
        with api.stream("GET", f"{MIRA}/changes", timeout=LAST_RESORT) as stream:
            kind = ""
            for line in stream.iter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    heard.append((kind, json.loads(value)))
                    listening.set()
                    if kind == "change":
                        return

    thread = threading.Thread(target=listen)
    thread.start()
    assert listening.wait(LAST_RESORT)
    before = agent.stamp[0]
    agent.add_short_term({"document": "Written in the game.", "rating": 5})
    thread.join(LAST_RESORT)
    assert [kind for kind, _ in heard] == ["now", "change"]
    assert (heard[0][1]["revision"], heard[1][1]["revision"]) == (before, before + 1)


def test_whoever_comes_back_misses_no_change(api: httpx.Client, agent: AgentMemory, remember: Remember) -> None:
    for n in range(3):
        remember(f"Number {n}.")
    last = agent.stamp[0]
    headers = {"Last-Event-ID": str(last - 2)}
    lines = api.get(f"{MIRA}/changes", params={"seconds": 2}, headers=headers).text.splitlines()
    assert [line for line in lines if line.startswith("id: ")] == [f"id: {last - 1}", f"id: {last}"]
    assert code(api.get("/v1/agents/nobody/changes"), 404) == "agent-not-found"


def test_whoever_heard_more_than_a_restored_agent_has_hears_what_comes_next(
    api: httpx.Client, agent: AgentMemory, remember: Remember
) -> None:
    revision = agent.stamp[0]
    with api.stream("GET", f"{MIRA}/changes", headers={"Last-Event-ID": "9000"}, timeout=LAST_RESORT) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        remember("The bell rang.")
        assert f'data: {{"revision": {revision}, "from": {revision}}}' in lines
        assert f"id: {revision + 1}" in lines


def test_more_listeners_than_one_server_takes_are_sent_away(
    api: httpx.Client, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MOST_LISTENERS", 1)
    with api.stream("GET", f"{MIRA}/changes") as first:
        lines = first.iter_lines()  # held, since letting go of it ends the listening
        assert next(lines) == "retry: 2000"
        assert code(api.get(f"{MIRA}/changes"), 429) == "too-many"
    until(lambda: api.get(f"{MIRA}/changes", params={"seconds": 0.1}).status_code == 200)  # whoever left makes room


def test_whoever_listens_is_told_that_the_agent_is_gone(api: httpx.Client, world: World, agent: AgentMemory) -> None:
    with api.stream("GET", f"{MIRA}/changes", timeout=LAST_RESORT) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        world.delete_agent("mira")
        assert "event: gone" in lines


def test_whoever_listens_does_not_hear_another_agent_of_the_same_name(
    api: httpx.Client, world: World, remember: Remember
) -> None:
    remember("She heard the bell.")
    with api.stream("GET", f"{MIRA}/changes", timeout=LAST_RESORT) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        with world.lock:  # so fast that nobody looks in between
            world.delete_agent("mira")
            world.create_agent("mira").add_short_term({"document": "Another heard it.", "rating": 5})
        assert "event: gone" in lines
        assert "agent-gone" in next(lines)


def test_listeners_who_come_all_at_once_are_counted(world: World, agent: AgentMemory) -> None:
    feeds = feed.Feed(Desk(lambda: world, InUse(lambda: world)))

    async def come(number: int) -> object:
        try:
            return await feeds.listen("mira" if number else "nobody", None, None)
        except (AgentNotFound, TooMany) as error:
            return error.code

    async def all_at_once() -> list[object]:
        return await asyncio.gather(*map(come, range(feed.MOST_LISTENERS + 3)))

    came = asyncio.run(all_at_once())
    assert came[0] == "agent-not-found"
    assert [one for one in came[1:] if isinstance(one, str)] == ["too-many"] * 3


def test_the_loop_answers_while_a_language_model_thinks(
    api: httpx.Client, world: World, agent: AgentMemory, server: FakeServer
) -> None:
    agent.model = world.model = server.model()
    released = threading.Event()

    class Thinking:
        name = label = "slow"

        def complete(self, task: Any, deadline: float | None = None) -> Any:
            released.wait(LAST_RESORT)
            return server.model().complete(task, deadline)

    server.on("rate", says({"explanation": "x", "rating": 5}))
    world.model = Thinking()
    with ThreadPoolExecutor(30) as pool:
        slow = [pool.submit(api.post, "/rate", json={"memory": f"Memory {n}."}) for n in range(20)]
        told(api.post(f"{MIRA}/query", json={"cue": "Who has the key?"}))
        assert not any(one.done() for one in slow)
        released.set()
        assert [one.result().status_code for one in slow] == [200] * 20


@pytest.mark.parametrize("address", ["query", "explain"])
def test_a_part_of_a_scoring_changes_that_part_only(api: httpx.Client, agent: AgentMemory, address: str) -> None:
    own = plain(agent.settings.scoring)
    body = {"cue": "Who has the key?", "scoring": {"weights": {"recency": 0.5}}}
    used = told(api.post(f"{MIRA}/{address}", json=body))["query"]["scoring"]
    assert used == {**own, "weights": {**own["weights"], "recency": 0.5}}
    assert (used["measure"], used["decay"]) == ("hybrid", 0.999)


def test_settings_keep_what_a_part_of_a_scoring_leaves_out(api: httpx.Client, agent: AgentMemory) -> None:
    own = agent.settings.scoring
    told(api.patch(f"{MIRA}/settings", json={"scoring": {"decay": 0.9, "decay_form": "spaced"}}))
    assert agent.settings.scoring == replace(own, decay=0.9, decay_form=DecayForm.SPACED)


def test_every_route_has_a_readable_operation_id_of_its_own(api: httpx.Client) -> None:
    paths = told(api.get("/openapi.json"))["paths"]
    ids = [operation["operationId"] for methods in paths.values() for operation in methods.values()]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) and "v1" not in name for name in ids)
    assert {"migrate", "post_agent_query", "get_agent_memories", "get_agent_memory", "delete_agent"} <= set(ids)
    assert {"know", "unknow", "group"} <= set(ids)


def test_every_form_of_the_description_has_a_plain_name_of_its_own(api: httpx.Client) -> None:
    """Generators of clients leave out the second of two forms of one title, and every answer that is made of it."""
    described = told(api.get("/openapi.json"))
    schemas = described["components"]["schemas"]
    assert all(name.isalnum() and form.get("title", name) == name for name, form in schemas.items())
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(described)))
    assert named <= schemas.keys()
    verdicts = schemas["Verdict"]["enum"], schemas["KnowingVerdict"]["enum"]
    assert verdicts == ([one.value for one in Verdict], [one.value for one in knows.Verdict])
    assert "system" in schemas["MessageRole"]["enum"]
    assert schemas["Role"]["enum"] == ["curator", "viewer"]


def test_an_agent_is_made_of_its_personality_as_an_object_or_as_text(api: httpx.Client, world: World) -> None:
    personality = {"identity": {"name": "Ana Holm"}}
    for name, given in (("ana", personality), ("ana2", json.dumps(personality))):
        api.post("/v1/agents", json={"name": name, "personality": given}).raise_for_status()
        assert world.agent(name).display_name == "Ana Holm"
    wrong = api.post("/v1/agents", json={"name": "bo", "personality": {"identity": {}}})
    assert code(wrong, 422) == "invalid-personality"
