"""Who comes in at the API: the token that is wanted, what a viewer may ask for, and who has to wait."""

from __future__ import annotations

import asyncio

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from memory_system import Settings
from memory_system.interfaces.api.auth import Entrance, asking
from memory_system.interfaces.reads import READS
from memory_system.world.auth import Door, Role, Throttle
from tests.asgi import Exchange, ask

CURATOR, VIEWER = "curators-token-1234", "viewers-token-12345"
SECRETS = Door.of_api(Settings(token=CURATOR, viewer_token=VIEWER)).secrets  # type: ignore[arg-type]
MIRA = "/v1/agents/mira"


async def role_of_who_asks(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(asking())(scope, receive, send)


def locked(*times: float) -> Entrance:
    """The entrance of a server that wants a token, whose clock tells these times and then the last of them."""
    left = list(times or (100.0,))
    return Entrance(role_of_who_asks, Door(SECRETS, throttle=Throttle(lambda: left.pop(0) if left[1:] else left[0])))


def came(method: str, path: str, token: str | None = None, entrance: Entrance | None = None) -> Exchange:
    headers = {} if token is None else {"authorization": token}
    return asyncio.run(ask(entrance or locked(), path, method=method, **headers))  # type: ignore[arg-type]


def test_without_a_secret_everybody_may_do_everything() -> None:
    answer = came("DELETE", MIRA, entrance=Entrance(role_of_who_asks, Door()))
    assert (answer.status, answer.body) == (200, "curator")


def test_where_everybody_is_a_viewer_nobody_changes_anything() -> None:
    entrance = Entrance(role_of_who_asks, Door(most=Role.VIEWER))
    assert came("GET", MIRA, entrance=entrance).body == "viewer"
    assert came("DELETE", MIRA, entrance=entrance).status == 403


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json"])
def test_how_the_api_is_asked_is_told_to_everybody(path: str) -> None:
    assert came("GET", path).status == 200


@pytest.mark.parametrize(
    "token", [None, "", "Bearer", "Bearer ", CURATOR, f"Basic {CURATOR}", f"Token {CURATOR}"], ids=str
)
def test_who_brings_no_token_is_told_how_one_is_sent(token: str | None) -> None:
    answer = came("GET", MIRA, token)
    assert answer.status == 401
    assert (answer.headers["www-authenticate"], answer.headers["connection"]) == ("Bearer", "close")
    assert "Authorization: Bearer" in answer.body


@pytest.mark.parametrize("wrong", ["guessed-token-1234", CURATOR[:-1], f"{CURATOR} x"])
def test_a_token_that_is_none_of_the_servers_opens_nothing(wrong: str) -> None:
    answer = came("GET", MIRA, f"Bearer {wrong}")
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "not a token of this server" in answer.body


@pytest.mark.parametrize("sent", ["Bearer {}", "bearer {}", "BEARER  {}"])
@pytest.mark.parametrize(("token", "role"), [(CURATOR, "curator"), (VIEWER, "viewer")])
def test_a_right_token_gives_its_role_however_bearer_is_spelt(sent: str, token: str, role: str) -> None:
    answer = came("GET", MIRA, sent.format(token))
    assert (answer.status, answer.body) == (200, role)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", MIRA),
        ("HEAD", MIRA),
        ("OPTIONS", MIRA),
        ("POST", f"{MIRA}/query"),
        ("POST", f"{MIRA}/interview"),
        ("POST", "/rate"),
    ],
)
def test_a_viewer_may_look_and_ask(method: str, path: str) -> None:
    assert came(method, path, f"Bearer {VIEWER}").status == 200


def test_a_viewer_may_ask_every_read_whose_question_is_sent_as_a_body() -> None:
    asked = {
        read.name: came("POST", f"{MIRA}/{read.address}", f"Bearer {VIEWER}").status for read in READS if read.asks
    }
    assert asked.keys() >= {"explain", "precision", "search"}
    assert set(asked.values()) == {200}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{MIRA}/events"),
        ("DELETE", MIRA),
        ("PATCH", f"{MIRA}/settings"),
        ("PUT", f"{MIRA}/personality"),
        ("POST", f"{MIRA}/query/more"),
        ("POST", f"/v2{MIRA}/query"),
        ("POST", "/v1/agents/mira/rehearsals/query"),
        ("POST", "/rate/all"),
    ],
)
def test_a_viewer_may_change_nothing_and_a_curator_may(method: str, path: str) -> None:
    refused = came(method, path, f"Bearer {VIEWER}")
    assert refused.status == 403
    assert refused.headers["connection"] == "close"
    assert came(method, path, f"Bearer {CURATOR}").body == "curator"


def test_who_asked_is_forgotten_with_the_answer() -> None:
    async def one_after_the_other() -> list[Role]:
        heard = [asking()]
        for token in (CURATOR, VIEWER):
            answer = await ask(locked(), MIRA, method="GET", authorization=f"Bearer {token}")
            heard += [Role(answer.body), asking()]
        return heard

    viewer = Role.VIEWER
    assert asyncio.run(one_after_the_other()) == [viewer, Role.CURATOR, viewer, viewer, viewer]


def test_who_asked_is_forgotten_where_the_answer_fails_too() -> None:
    async def fails(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise RuntimeError("the disk is gone")

    async def asked() -> Role:
        with pytest.raises(RuntimeError, match="the disk is gone"):
            await ask(Entrance(fails, Door()), MIRA)
        return asking()

    assert asyncio.run(asked()) is Role.VIEWER


def test_what_is_no_request_needs_no_token() -> None:
    async def starts(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "lifespan.startup.complete"})

    assert asyncio.run(ask(Entrance(starts, Door(SECRETS)), kind="lifespan")).sent


def test_who_comes_without_a_token_has_guessed_nothing_and_does_not_wait() -> None:
    entrance = locked()
    assert {came("GET", MIRA, entrance=entrance).status for _ in range(10)} == {401}
    assert came("GET", MIRA, f"Bearer {CURATOR}", entrance).status == 200


def test_after_five_wrong_tokens_even_the_right_one_has_to_wait() -> None:
    entrance = locked(100.0)
    assert [came("GET", MIRA, "Bearer a-guess", entrance).status for _ in range(5)] == [401] * 5
    answer = came("GET", MIRA, f"Bearer {CURATOR}", entrance)
    assert answer.status == 429
    assert (answer.headers["retry-after"], answer.headers["connection"]) == ("1", "close")
    assert came("GET", "/docs", entrance=entrance).status == 200


def test_the_seconds_to_wait_are_rounded_up_and_never_none() -> None:
    # a wrong token asks the clock once, and once more from the second on
    nine_looks = [100.0] * 9
    for looks, told in (((100.0, 100.0), "1"), ((100.2, 100.3), "1"), ((100.9, 101.5), "1")):
        entrance = locked(*nine_looks, *looks)
        for _ in range(5):
            came("GET", MIRA, "Bearer a-guess", entrance)
        assert came("GET", MIRA, f"Bearer {CURATOR}", entrance).headers["retry-after"] == told
    entrance = locked(*nine_looks, 102.0, 102.0, 102.5)  # the sixth wrong one doubles the wait: until 104
    for _ in range(6):
        came("GET", MIRA, "Bearer a-guess", entrance)
    assert came("GET", MIRA, f"Bearer {CURATOR}", entrance).headers["retry-after"] == "2"


def test_each_address_waits_for_itself() -> None:
    entrance = locked()

    def from_address(client: tuple[str, int] | None, token: str) -> int:
        async def elsewhere(scope: Scope, receive: Receive, send: Send) -> None:
            await entrance(dict(scope, client=client), receive, send)

        return asyncio.run(ask(elsewhere, MIRA, method="GET", authorization=f"Bearer {token}")).status

    assert [from_address(("10.0.0.1", port), "a-guess") for port in range(5)] == [401] * 5
    assert from_address(("10.0.0.1", 50_000), CURATOR) == 429
    assert from_address(("10.0.0.2", 0), CURATOR) == 200
    assert from_address(None, CURATOR) == 200
