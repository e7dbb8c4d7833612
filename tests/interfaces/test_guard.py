"""What a server refuses before it reads a request, and how much and how slowly it reads of one."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from memory_system import Settings
from memory_system.interfaces.api import guard
from memory_system.interfaces.api.guard import Guard, Hosts, largest_body
from tests.asgi import Exchange, ask


async def length_of_body(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers how many bytes came in."""
    length, more = 0, True
    while more:
        message = await receive()
        length, more = length + len(message.get("body", b"")), message.get("more_body", False)
    await PlainTextResponse(str(length))(scope, receive, send)


def up_to_ten(_path: str) -> int:
    return 10


def sent(body: Sequence[bytes | float], *, ends: bool = True, app: object = length_of_body, **headers: str) -> Exchange:
    """What came of a body, at an address that takes ten bytes."""
    return asyncio.run(ask(Guard(app, largest=up_to_ten), body=body, ends=ends, **headers))  # type: ignore[arg-type]


def test_an_address_takes_two_megabytes_and_fifty_of_a_stream_or_a_document() -> None:
    assert largest_body("/v1/agents/mira/query") == 2_000_000
    assert largest_body("/v1/agents/mira/events.ndjson") == 50_000_000
    assert largest_body("/v1/agents/mira/documents") == 50_000_000
    assert largest_body("/v1/agents/mira/documents/7") == 2_000_000


# -- too large ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [[b"0123456789"], [b"012345", b"6789"], [b"", b"0123456789", b""]])
def test_a_body_of_just_the_most_is_taken(body: list[bytes]) -> None:
    assert sent(body, content_length="10").body == "10"
    assert sent(body).body == "10"


@pytest.mark.parametrize("length", ["11", "99999999999", "9" * 5000])
def test_a_body_that_says_it_is_larger_is_refused_before_the_app_hears_of_it(length: str) -> None:
    heard = []

    async def listens(scope: Scope, _receive: Receive, _send: Send) -> None:
        heard.append(scope["path"])

    answer = sent([b"0123456789", b"0"], content_length=length, app=listens)
    assert answer.status == 413
    assert answer.headers["connection"] == "close"
    assert "A body may have 10 bytes at most." in answer.body
    assert heard == []


@pytest.mark.parametrize("length", ["", "-1", "1e9", "ten"])
def test_a_length_that_is_no_number_is_passed_over_and_the_bytes_are_counted(length: str) -> None:
    assert sent([b"0123456789"], content_length=length).body == "10"
    assert sent([b"0123456789", b"0"], content_length=length).status == 413


def test_a_body_that_says_it_is_smaller_than_it_is_is_refused_where_it_grows_too_large() -> None:
    answer = sent([b"012345", b"67890", b"more", b"to come"], content_length="5")
    assert answer.status == 413
    assert answer.headers["connection"] == "close"
    assert answer.received == 4, "what was on its way is read, so that the sender listens"


def test_an_app_is_handed_nothing_of_what_is_too_much() -> None:
    handed = []

    async def keeps(scope: Scope, receive: Receive, send: Send) -> None:
        async def receiving() -> Message:
            message = await receive()
            handed.append(message["body"])
            return message

        await length_of_body(scope, receiving, send)

    assert sent([b"012345", b"67890", b"more"], app=keeps).status == 413
    assert handed == [b"012345"]


def test_nothing_is_read_on_where_the_body_ended_with_what_was_too_much() -> None:
    answer = sent([b"012345", b"67890"])
    assert (answer.status, answer.received) == (413, 2)


def test_what_an_app_makes_of_a_refused_body_is_not_what_is_answered() -> None:
    async def answers_400(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await length_of_body(scope, receive, send)
        except Exception:  # noqa: BLE001 - as a framework does with whatever is raised while it reads
            await PlainTextResponse("unreadable", 400)(scope, receive, send)

    assert sent([b"01234567890"], app=answers_400).status == 413


def test_an_app_that_has_answered_is_not_answered_for_a_second_time() -> None:
    async def answers_first(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("done")(scope, receive, send)
        await receive()

    assert sent([b"01234567890"], app=answers_first).status == 200


def test_of_a_body_that_is_refused_no_more_is_read_on_than_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_READ_ON", 20)
    answer = sent([b"0123456789"] * 5, content_length="50")
    assert (answer.status, answer.received) == (413, 2)


def test_a_body_that_is_refused_and_stops_coming_in_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_PAUSE", 0.01)
    answer = sent([b"0123456789", b"0"], ends=False, content_length="50")
    assert (answer.status, answer.received) == (413, 3)


# -- too slow ----------------------------------------------------------------------------------------------


def test_a_body_that_does_not_come_in_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.05)
    answer = sent([], ends=False)
    assert answer.status == 408
    assert answer.headers["connection"] == "close"
    assert "The body did not arrive." in answer.body
    assert answer.received == 1, "nothing more is waited for"


def test_a_body_may_begin_within_the_time_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 1000.0)
    assert sent([0.01, b"0123456789"]).body == "10"


def test_bytes_that_came_in_earn_time_for_those_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.05)
    monkeypatch.setattr(guard, "SLOWEST", 0.01)  # bytes a second: each byte may take 100 seconds
    assert sent([b"01234", 0.2, b"56789"]).body == "10"


def test_a_few_bytes_earn_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.05)
    monkeypatch.setattr(guard, "SLOWEST", 1000)
    assert sent([b"01234", 0.4, b"56789"]).status == 408


@pytest.mark.parametrize(("seconds", "status"), [(70, 200), (115, 408)])
def test_a_million_bytes_may_take_ten_seconds_and_a_hundred(
    monkeypatch: pytest.MonkeyPatch, seconds: float, status: int
) -> None:
    now = [0.0]
    monkeypatch.setattr(guard, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def slowly(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        now[0] = seconds
        await length_of_body(scope, receive, send)

    app = Guard(slowly, largest=lambda _path: 2_000_000)
    assert asyncio.run(ask(app, body=[b"x" * 1_000_000, 0.01, b"x"])).status == status


def test_who_has_sent_all_may_wait_as_long_as_the_answer_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.05)
    monkeypatch.setattr(guard, "SLOWEST", 1000)

    async def until_left(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await PlainTextResponse("heard to the end")(scope, receive, send)

    assert sent([b"0123456789"], app=until_left).body == "heard to the end"


async def stopped(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Is told to end, as a server does with what still runs when it stops."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(3600)


def test_what_a_stopping_server_breaks_off_is_answered_in_a_sentence() -> None:
    broken = sent([b"12345"], app=stopped)
    told = json.loads(broken.body)
    assert (broken.status, told["code"]) == (503, "server-unavailable")
    assert told["detail"].startswith("The server was stopped before it had answered.")


def test_who_leaves_in_the_midst_of_a_body_is_no_fault_of_the_server() -> None:
    """Each of them stood in the server's log as an exception of sixty lines."""

    async def reads_it_all(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(await Request(scope, receive).body())(scope, receive, send)

    assert sent([b"01234"], ends=False, app=reads_it_all).sent == []


# -- from elsewhere ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:8000"}, 200),
        ({"host": "localhost:8000", "origin": "http://localhost:8000"}, 200),
        ({"host": "rebound.example.com"}, 400),
        ({"host": ""}, 400),
        ({"host": "LocalHost:8000", "origin": "HTTP://LOCALHOST:8000"}, 200),
        ({"host": "localhost:8000", "origin": "http://localhost:9000"}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"origin": "http://elsewhere.example.com"}, 403),
        ({"origin": "null"}, 403),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, 403),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, 200),
        ({"sec_fetch_site": "same-origin", "sec_fetch_mode": "no-cors"}, 200),
    ],
)
def test_only_this_servers_names_and_pages_are_answered(headers: dict[str, str], status: int) -> None:
    assert asyncio.run(ask(Guard(length_of_body), **headers)).status == status  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"host": "rebound.example.com"}, "websocket.close"),
        ({"origin": "http://elsewhere.example.com"}, "websocket.close"),
        ({}, "websocket.accept"),
    ],
)
def test_a_websocket_from_elsewhere_is_closed_and_ones_own_is_opened(headers: dict[str, str], kind: str) -> None:
    async def accepts(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})

    (message,) = asyncio.run(ask(Guard(accepts), kind="websocket", **headers)).sent  # type: ignore[arg-type]
    assert message["type"] == kind
    assert message.get("code") == (1008 if kind == "websocket.close" else None)


def test_what_is_no_request_is_passed_on() -> None:
    async def starts(scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": f"{scope['type']}.startup.complete"})

    exchange = asyncio.run(ask(Guard(starts), kind="lifespan", host="rebound.example.com"))
    assert [message["type"] for message in exchange.sent] == ["lifespan.startup.complete"]


# -- the names of a server ---------------------------------------------------------------------------------


def test_a_server_on_this_machine_answers_to_its_own_names_and_those_that_were_added() -> None:
    hosts = Hosts.of(Settings(host="127.0.0.1", hosts=" Mill.example, ,quay.example"))
    for host in (
        "localhost",
        "LOCALHOST:8000",
        "127.0.0.1:80",
        "[::1]:8000",
        "[::1]",
        "mill.example",
        "quay.example:1",
    ):
        assert hosts.answers(host), host
    for host in ("", "[", "10.0.0.1", "localhost.example", "mill.example.org", socket.gethostname() + ".example"):
        assert not hosts.answers(host), host
    assert hosts.plain() == ["127.0.0.1", "::1", "localhost", "mill.example", "quay.example", "testserver"]


def test_a_server_that_others_reach_answers_to_its_name_and_to_every_address_in_digits() -> None:
    hosts = Hosts.of(Settings(host="Harbour.example", hosts="mill.example"))
    for host in (
        "harbour.example",
        socket.gethostname(),
        "mill.example",
        "10.0.0.1:8000",
        "[fe80::1]:8000",
        "localhost",
    ):
        assert hosts.answers(host), host
    for host in ("elsewhere.example", "10.0.0.1.elsewhere.example", "[nonsense]"):
        assert not hosts.answers(host), host
    assert hosts.plain() == ["*"], "those who know names only are told every one"
