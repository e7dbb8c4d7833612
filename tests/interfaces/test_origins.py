"""Pages of other servers: none may ask the API, but those of the origins that are allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from memory_system import AgentMemory, Settings, World
from memory_system.errors import InvalidParameter
from memory_system.interfaces.api import create_app
from memory_system.interfaces.cli.run import settings_for
from memory_system.world.auth import Door
from tests.command_line import COMMANDS

GAME = "https://game.example"
TOKEN = "the-curators-token-1234"
ASKS = {"Origin": GAME, "Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization"}


def client(world: World, *origins: str) -> TestClient:
    """The API that lets in whoever has the token, and pages of these origins."""
    door = Door.of_api(Settings(token=TOKEN))  # type: ignore[arg-type]
    return TestClient(create_app(lambda: world, door, origins=origins), base_url="http://127.0.0.1")


def test_a_preflight_of_an_allowed_page_is_answered_without_a_token(world: World) -> None:
    told = client(world, "http://localhost:8080", GAME).options("/v1/agents/mira/settings", headers=ASKS)
    assert told.status_code == 200
    assert told.headers["access-control-allow-origin"] == GAME
    assert "PATCH" in told.headers["access-control-allow-methods"]
    assert "authorization" in told.headers["access-control-allow-headers"].lower()
    assert "access-control-allow-credentials" not in told.headers


@pytest.mark.parametrize("origins", [(), ("https://other.example",), ("https://game.example:8443",)])
def test_no_other_page_is_answered(world: World, agent: AgentMemory, origins: tuple[str, ...]) -> None:
    asked = client(world, *origins)
    for told in (
        asked.options("/v1/agents/mira/settings", headers=ASKS),
        asked.get("/v1/agents", headers={"Origin": GAME, "Authorization": f"Bearer {TOKEN}"}),
    ):
        assert (told.status_code, told.json()["code"]) == (403, "foreign-origin")
        assert "access-control-allow-origin" not in told.headers


def test_an_allowed_page_reads_the_answer_its_revision_and_its_problems(world: World, agent: AgentMemory) -> None:
    asked, head = client(world, GAME), {"Origin": GAME, "Authorization": f"Bearer {TOKEN}"}
    body = {"events": [{"document": "Saw smoke.", "rating": 4}]}
    answers = [
        asked.post("/v1/agents/mira/events", json=body, headers=head),
        asked.get("/v1/agents/nobody", headers=head),
        asked.get("/v1/agents", headers={"Origin": GAME}),
    ]
    assert [one.status_code for one in answers] == [200, 404, 401]
    assert {one.headers["access-control-allow-origin"] for one in answers} == {GAME}
    assert "ETag" in answers[0].headers["access-control-expose-headers"]


def test_origins_are_a_setting_and_an_option(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Settings().allowed_origins == ()
    monkeypatch.setenv("MEMORY_ORIGINS", " https://Game.example/ , http://localhost:8080,")
    assert Settings().allowed_origins == (GAME, "http://localhost:8080")
    assert settings_for(tmp_path, origins=["http://127.0.0.1:3000", GAME]).allowed_origins == (
        "http://127.0.0.1:3000",
        GAME,
    )
    for command in ("serve", "run"):
        assert "--origin" in {word for one in COMMANDS[command].params for word in one.opts}


@pytest.mark.parametrize("wrong", ["*", "null", "game.example", "https://game.example/play", "ftp://game.example"])
def test_what_is_no_origin_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidParameter, match="is not an origin"):
        Settings(origins=wrong)
