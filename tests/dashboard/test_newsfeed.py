"""The socket that tells an open page of changes: who may listen, what is told, and that it ends with the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from dashboard.server import newsfeed
from dashboard.server.newsfeed import PATH, Newsfeed
from dashboard.server.visitors import COOKIE, SECONDS, Visitors
from memory_system import AgentMemory, Settings, World
from memory_system.world.auth import Door
from tests.conftest import NOW
from tests.waiting import until

LATER = NOW + timedelta(hours=1)
PASSWORD = "a long password of one's own"


@dataclass
class Told:
    """A feed and a client that listens to it."""

    feed: Newsfeed
    client: TestClient

    def listen(self, agent: str = "mira", cookie: str = "") -> WebSocketTestSession:
        return self.client.websocket_connect(
            f"{PATH}?agent={agent}", headers={"cookie": f"{COOKIE}={cookie}"} if cookie else {}
        )


def revision(socket: WebSocketTestSession) -> int:
    """The agent's revision in what is told next."""
    return int(socket.receive_text().split(" ")[0])


@pytest.fixture
def serve(world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Visitors], Told]]:
    """Serves the news of the world to these visitors."""
    monkeypatch.setattr(newsfeed, "LOOK_SECONDS", 0.01)
    opened: list[TestClient] = []

    def begin(visitors: Visitors) -> Told:
        feed = Newsfeed(lambda: world, visitors)
        client = TestClient(Starlette(routes=[WebSocketRoute(PATH, feed.listen)]))
        client.__enter__()
        opened.append(client)
        return Told(feed, client)

    yield begin
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def anybody(settings: Settings) -> Visitors:
    """Those of a dashboard without a password."""
    return Visitors(Door.of_dashboard(settings))


def test_the_revision_is_told_at_once_and_whenever_it_is_another(
    serve: Callable[[Visitors], Told], anybody: Visitors, agent: AgentMemory, remember: Callable[..., str]
) -> None:
    with serve(anybody).listen() as socket:
        assert revision(socket) == agent.stamp[0]
        remember("A game saw smoke over the mill.")
        assert revision(socket) == agent.stamp[0]
        remember("A game heard a dog bark.")
        assert revision(socket) == agent.stamp[0]


def test_a_clock_that_is_set_is_told_and_one_that_runs_is_not(
    serve: Callable[[Visitors], Told], anybody: Visitors, world: World, remember: Callable[..., str]
) -> None:
    with serve(anybody).listen() as socket:
        told = [socket.receive_text()]
        world.stand_at(LATER)
        told.append(socket.receive_text())
        world.use_zone("Asia/Kolkata")
        told.append(socket.receive_text())
        world.play(60)
        told.append(socket.receive_text())
        remember("The clock runs, and this is the next that is told.")
        last = socket.receive_text()
    assert len(set(told)) == len(told)
    assert last.split(" ")[1:] == told[-1].split(" ")[1:]


def test_nothing_is_said_while_nothing_changes(
    serve: Callable[[Visitors], Told], anybody: Visitors, agent: AgentMemory, remember: Callable[..., str]
) -> None:
    told = serve(anybody)
    with told.listen() as socket, told.listen() as another:
        first = [revision(one) for one in (socket, another)]
        remember("A game saw smoke over the mill.")
        assert [revision(one) for one in (socket, another)] == [agent.stamp[0]] * 2
        assert first == [agent.stamp[0] - 1] * 2, "the next that was said was the change"


def test_who_closes_the_page_is_listened_for_no_more(serve: Callable[[Visitors], Told], anybody: Visitors) -> None:
    told = serve(anybody)
    with told.listen() as socket:
        socket.receive_text()
        assert told.feed.listening == 1
    until(lambda: told.feed.listening == 0)


def test_an_agent_that_is_not_there_has_no_news(serve: Callable[[Visitors], Told], anybody: Visitors) -> None:
    with serve(anybody).listen("nobody") as socket, pytest.raises(WebSocketDisconnect):
        socket.receive_text()


def test_who_signs_out_or_stays_away_hears_no_more(
    serve: Callable[[Visitors], Told], settings: Settings, agent: AgentMemory
) -> None:
    now = [0.0]
    visitors = Visitors(
        Door.of_dashboard(settings.model_copy(update={"password": SecretStr(PASSWORD)})), clock=lambda: now[0]
    )
    told = serve(visitors)
    for leaves in (lambda cookie: visitors.sign_out(cookie), lambda _: now.__setitem__(0, now[0] + SECONDS + 1)):
        cookie = visitors.sign_in(PASSWORD, "127.0.0.1")
        assert cookie is not None
        with told.listen(cookie=cookie) as socket:
            assert revision(socket) == agent.stamp[0]
            leaves(cookie)
            with pytest.raises(WebSocketDisconnect):
                socket.receive_text()
    with told.listen() as socket, pytest.raises(WebSocketDisconnect):
        socket.receive_text()
