"""Both servers, started as ``make run`` starts them, against those who mean them harm."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from memory_system.embedding.embedder import CachedEmbedder
from memory_system.interfaces.api.guard import MAX_BODY
from memory_system.interfaces.api.serving import LARGEST_HEAD
from tests import sample_world
from tests.ports import free_port
from tests.running import Running, running
from tests.waiting import LAST_RESORT

PASSWORD, VIEWERS_PASSWORD = "the-curators-word", "the-viewers-word"
TOKEN, VIEWERS_TOKEN = "the-curators-token-1234", "the-viewers-token-12345"
SECRETS = {
    "MEMORY_PASSWORD": PASSWORD,
    "MEMORY_VIEWER_PASSWORD": VIEWERS_PASSWORD,
    "MEMORY_TOKEN": TOKEN,
    "MEMORY_VIEWER_TOKEN": VIEWERS_TOKEN,
}
LONG = LAST_RESORT
STREAM = "/_stcore/stream"
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: streamlit\r\n"
)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> dict[str, str]:
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    return sample_world.copy(template, tmp_path_factory.mktemp("running") / "world")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "serve.log"


@pytest.fixture(scope="module")
def both(places: dict[str, str], log: Path) -> Iterator[Running]:
    """Both servers, with secrets for a curator and a viewer."""
    with running(places | SECRETS, log) as started:
        yield started


def asked(url: str, path: str, method: str = "GET", **more: object) -> httpx.Response:
    return httpx.request(method, url + path, timeout=LONG, trust_env=False, **more)  # type: ignore[arg-type]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def signed_in(url: str, password: str) -> dict[str, str]:
    """The cookie of somebody who signed in to the dashboard."""
    answer = asked(url, "/sign-in", "POST", data={"password": password, "next": "/recall?agent=mira"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/recall?agent=mira")
    told = answer.headers["set-cookie"]
    assert "HttpOnly" in told
    assert "SameSite=lax" in told
    return {"Cookie": told.partition(";")[0]}


def connected(url: str) -> socket.socket:
    place = urlsplit(url)
    return socket.create_connection((place.hostname or "", place.port or 0), timeout=LONG)


def answer_to(url: str, sent: str | bytes) -> bytes:
    """The first of what a server answers to these bytes; empty if it closes the connection without a word."""
    with closing(connected(url)) as line:
        line.sendall(sent.encode() if isinstance(sent, str) else sent)
        try:
            return line.recv(65_536)
        except ConnectionResetError:
            return b""


def host_of(url: str) -> str:
    return urlsplit(url).netloc


# -- who comes in ----------------------------------------------------------------------------------------


def test_nothing_is_told_to_who_has_no_token(both: Running) -> None:
    for path in ("/v1/world", "/v1/agents", "/v1/agents/mira/history", "/v1/agents/nobody"):
        for headers in ({}, {"Authorization": TOKEN}, {"Authorization": "Basic YTpi"}):
            answer = asked(both.api, path, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "not-signed-in")
            assert answer.headers["www-authenticate"] == "Bearer"
    assert asked(both.api, "/rate", "POST", json={"memory": "a"}).status_code == 401
    assert asked(both.api, "/docs").status_code == 200


def test_nothing_is_shown_to_who_has_not_signed_in(both: Running) -> None:
    for path in ("/", "/recall?agent=mira", "/static/js/main.js", "/_stcore/host-config", "/media/x"):
        answer = asked(both.url, path)
        assert answer.status_code == 401
        assert "<h1>Sign in</h1>" in answer.text
        assert "Mira" not in answer.text
        assert "script" not in answer.text.casefold().replace("description", "")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert asked(both.url, "/_stcore/upload_file/a/b", "PUT", content=b"a").status_code == 403
    refused = answer_to(both.url, f"GET {STREAM} HTTP/1.1\r\nHost: {host_of(both.url)}\r\n{UPGRADE}\r\n")
    assert refused.startswith(b"HTTP/1.1 403")


def test_who_knows_the_password_gets_in_and_out_again(both: Running) -> None:
    cookie = signed_in(both.url, PASSWORD)
    assert "streamlit" in asked(both.url, "/", headers=cookie).text.casefold()
    opened = answer_to(
        both.url,
        f"GET {STREAM} HTTP/1.1\r\nHost: {host_of(both.url)}\r\nCookie: {cookie['Cookie']}\r\n{UPGRADE}\r\n",
    )
    assert opened.startswith(b"HTTP/1.1 101")
    assert asked(both.url, "/sign-out", "POST", headers=cookie).status_code == 303
    assert asked(both.url, "/", headers=cookie).status_code == 401


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_signing_in_leads_to_no_other_server(both: Running, elsewhere: str) -> None:
    answer = asked(both.url, "/sign-in", "POST", data={"password": PASSWORD, "next": elsewhere})
    assert answer.headers["location"] == "/"


def test_a_viewer_looks_at_everything_and_writes_nothing(both: Running) -> None:
    headers = bearer(VIEWERS_TOKEN)
    assert asked(both.api, "/v1/world", headers=headers).json()["role"] == "viewer"
    before = asked(both.api, "/v1/agents/mira", headers=bearer(TOKEN)).json()
    logged = asked(both.api, "/v1/agents/mira/queries", headers=bearer(TOKEN)).json()
    found = asked(both.api, "/v1/agents/mira/query", "POST", json={"cue": "Who has the mill key?"}, headers=headers)
    assert found.json()["hits"]
    for path, body, told in (
        ("interview", {"text": "Who has the mill key?"}, "interview"),
        ("search", {"query": "mill key", "touch": True}, "question"),
    ):
        answer = asked(both.api, f"/v1/agents/mira/{path}", "POST", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        assert told in answer.json(), answer.json()
    assert 1 <= asked(both.api, "/rate", "POST", json={"memory": "Smoke"}, headers=headers).json()["rating"] <= 10
    for path in ("/v1/prompts", "/v1/rerating", "/v1/prices", "/v1/agents/mira/spent"):
        assert asked(both.api, path, headers=headers).status_code == 200, path
    for method, path, body in (
        ("POST", "/v1/agents/mira/events", {"events": [{"document": "Smoke"}]}),
        ("POST", "/v1/agents/mira/operations/migrate", {}),
        ("POST", "/v1/agents/mira/operations/migrate?preview=true", {}),
        ("POST", "/v1/agents", {"name": "ana"}),
        ("POST", "/plan", {"agent": "mira"}),
        ("PATCH", "/v1/world", {"title": "Mine"}),
        ("PUT", "/v1/prices", {"items": {}}),
        ("DELETE", "/v1/prompts/rate", None),
        ("PATCH", "/v1/agents/mira/settings", {"top_k": 1}),
        ("PUT", "/v1/agents/mira/personality", {"personality": "{}"}),
        ("DELETE", "/v1/agents/mira", None),
        ("GET", "/v1/doctor", None),
        ("GET", "/v1/backups", None),
    ):
        answer = asked(both.api, path, method, json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed"), path
    assert asked(both.api, "/v1/agents/mira", headers=bearer(TOKEN)).json() == before
    assert asked(both.api, "/v1/agents/mira/queries", headers=bearer(TOKEN)).json() == logged
    assert asked(both.api, "/v1/world", headers=bearer(TOKEN)).json()["role"] == "curator"
    cookie = signed_in(both.url, VIEWERS_PASSWORD)
    assert asked(both.url, "/_stcore/upload_file/a/b", "PUT", content=b"a", headers=cookie).status_code == 403


# -- other names, other pages ------------------------------------------------------------------------------

FOREIGN = ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8501", "10.0.0.1", "", "[::1"]


@pytest.mark.parametrize("host", FOREIGN)
def test_another_host_name_is_refused_by_both(both: Running, host: str) -> None:
    for url, path in ((both.api, "/v1/world"), (both.url, "/"), (both.url, "/_stcore/health"), (both.url, "/sign-in")):
        told = answer_to(url, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n")
        assert told.startswith(b"HTTP/1.1 400"), (path, told[:200])
    told = answer_to(both.url, f"GET {STREAM} HTTP/1.1\r\nHost: {host}\r\n{UPGRADE}\r\n")
    assert told[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:3000", "http://127.0.0.1", "file://"]
)
def test_a_page_of_another_server_is_refused_by_both(both: Running, origin: str) -> None:
    sent = {"Origin": origin, "Content-Type": "text/plain"} | bearer(TOKEN)
    body = '{"events": [{"document": "Planted"}]}'
    answer = asked(both.api, "/v1/agents/mira/events", "POST", content=body, headers=sent)
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign-origin")
    assert "access-control-allow-origin" not in answer.headers
    assert asked(both.api, "/v1/world", headers=sent).status_code == 403
    cookie = signed_in(both.url, PASSWORD)
    form = {"password": PASSWORD}
    assert asked(both.url, "/sign-in", "POST", data=form, headers={"Origin": origin}).status_code == 403
    assert asked(both.url, "/sign-out", "POST", headers={"Origin": origin} | cookie).status_code == 403
    told = answer_to(
        both.url,
        f"GET {STREAM} HTTP/1.1\r\nHost: {host_of(both.url)}\r\nOrigin: {origin}\r\n"
        f"Cookie: {cookie['Cookie']}\r\n{UPGRADE}\r\n",
    )
    assert told.startswith(b"HTTP/1.1 403")


def test_a_pictures_address_that_leads_here_from_another_page_is_refused(both: Running) -> None:
    fetched = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    assert asked(both.api, "/v1/agents/mira/changes", headers=fetched | bearer(TOKEN)).status_code == 403
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert asked(both.api, "/docs", headers=followed).status_code == 200


# -- too much, too slow ------------------------------------------------------------------------------------


def test_bodies_and_heads_that_are_too_large_are_refused_unread(both: Running) -> None:
    large = "x" * (MAX_BODY + 1)
    assert asked(both.api, "/rate", "POST", json={"memory": large}, headers=bearer(TOKEN)).status_code == 413
    host = host_of(both.api)
    unread = (
        f"POST /rate HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 99999999999\r\n\r\n"
    )
    assert answer_to(both.api, unread).startswith(b"HTTP/1.1 413")
    assert asked(both.url, "/sign-in", "POST", content=b"password=" + b"x" * 20_000).status_code == 413
    for url in (both.api, both.url):
        heard = answer_to(url, f"GET / HTTP/1.1\r\nHost: {host_of(url)}\r\nX-Long: {'x' * (LARGEST_HEAD + 10_000)}")
        assert heard == b"" or heard.startswith(b"HTTP/1.1 4")
        assert asked(url, "/docs" if url == both.api else "/_stcore/health").status_code == 200


def trickle(url: str, begin: str, drop: str) -> Callable[[], bytes]:
    """A connection that sends a byte a second, in a thread of its own; answers what came back before it was closed."""
    heard: list[bytes] = []

    def send() -> None:
        with closing(connected(url)) as line:
            line.sendall(begin.encode())
            line.settimeout(1.0)
            until = time.monotonic() + LONG
            while time.monotonic() < until:
                try:
                    line.sendall(drop.encode())
                    if (told := line.recv(4096)) == b"":
                        return
                    heard.append(told)
                except TimeoutError:
                    continue
                except OSError:
                    return
        heard.append(b"still open")

    thread = threading.Thread(target=send)
    thread.start()

    def heard_at_the_end() -> bytes:
        thread.join()
        return b"".join(heard)

    return heard_at_the_end


def test_who_sends_a_byte_a_second_is_cut_off_and_everybody_else_is_served(both: Running) -> None:
    ways = []
    for url in (both.api, both.url):
        host = host_of(url)
        ways += [trickle(url, "", "G"), trickle(url, f"GET / HTTP/1.1\r\nHost: {host}\r\nX-A: ", "a")]
    body = "HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1000"
    of_api = f"POST /rate {body}\r\nHost: {host_of(both.api)}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    of_form = f"POST /sign-in {body}\r\nHost: {host_of(both.url)}\r\n\r\n"
    slow_bodies = [trickle(both.api, of_api, " "), trickle(both.url, of_form, "a")]
    assert asked(both.api, "/v1/world", headers=bearer(TOKEN)).status_code == 200
    assert asked(both.url, "/_stcore/health").status_code == 200
    assert all(way() in (b"", b"HTTP/1.1 400") or way().startswith(b"HTTP/1.1 400") for way in ways)
    assert all(way().startswith(b"HTTP/1.1 408") for way in slow_bodies)


# -- paths -------------------------------------------------------------------------------------------------

TRICKS = [
    "..", "../mira", "..%2Fmira", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%5c..%5cwindows", "%00", "mira%00",
    "mira%2F..%2Fjuno", "%2Fetc%2Fpasswd", "CON", "schema", "world.json", "mira.json%2F", "%ff", "~",
    "%c0%ae%c0%ae%2f", "mir%D0%B0",
]  # fmt: skip


@pytest.mark.parametrize("name", TRICKS)
def test_path_tricks_in_a_name_find_nothing_and_make_nothing(both: Running, places: dict[str, str], name: str) -> None:
    before = sorted(Path(places["MEMORY_DATABASE"]).parent.rglob("*"))
    host = host_of(both.api)
    for method, path in (("GET", ""), ("GET", "/export"), ("DELETE", "")):
        told = answer_to(
            both.api,
            f"{method} /v1/agents/{name}{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n",
        )
        assert told.split(b" ")[1][:1] in b"34", (method, path, told[:100])  # 3: the same without its last slash
        assert b"root:" not in told
    assert sorted(Path(places["MEMORY_DATABASE"]).parent.rglob("*")) == before


@pytest.mark.parametrize("name", ["../ana", "a/b", "..", "/etc/ana", "ana\x00", "con", "a\\b", "\u202eana", "mirа"])
def test_no_agent_is_made_under_a_name_that_is_a_path(both: Running, name: str) -> None:
    for path, body in (("/v1/agents", {"name": name}), ("/v1/agents/mira/copy", {"to": name})):
        answer = asked(both.api, path, "POST", json=body, headers=bearer(TOKEN))
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid-agent-name")


@pytest.mark.parametrize(
    "path", ["/../dashboard/serve.py", "/..%2f..%2fetc%2fpasswd", "/static/..%2f..%2f..%2fetc%2fpasswd", "//etc/passwd"]
)
def test_the_dashboard_hands_out_no_file_of_the_machine(both: Running, path: str) -> None:
    cookie = signed_in(both.url, PASSWORD)["Cookie"]
    told = answer_to(both.url, f"GET {path} HTTP/1.1\r\nHost: {host_of(both.url)}\r\nCookie: {cookie}\r\n\r\n")
    assert b"root:" not in told
    assert b"def main" not in told


# -- starting ----------------------------------------------------------------------------------------------


def started(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    ports = {"MEMORY_DASHBOARD_PORT": str(free_port()), "MEMORY_API_PORT": str(free_port())}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=sample_world.ROOT, env=os.environ | ports | environment,
        capture_output=True, text=True, check=False, timeout=LAST_RESORT,
    )  # fmt: skip


def test_neither_starts_for_other_machines_without_a_secret(places: dict[str, str]) -> None:
    open_to_all = places | {"MEMORY_HOST": "0.0.0.0"}
    for done in (
        started("dashboard.serve", **open_to_all, MEMORY_PASSWORD=PASSWORD),
        started("memory_system", "serve", "--host", "0.0.0.0", **places),
    ):
        assert done.returncode == 1
        assert "Set MEMORY_TOKEN (16 characters or more), or leave MEMORY_HOST at 127.0.0.1." in done.stderr
        assert "Traceback" not in done.stderr
        assert PASSWORD not in done.stdout + done.stderr


# -- last, since whoever comes with wrong secrets has to wait afterwards -------------------------------------


def test_guessers_have_to_wait_and_are_told_how_long(both: Running) -> None:
    def guess_token() -> httpx.Response:
        return asked(both.api, "/v1/world", headers=bearer("a guess"))

    def guess_password() -> httpx.Response:
        return asked(both.url, "/sign-in", "POST", data={"password": "a guess"})

    for guess in (guess_token, guess_password):
        answers = [guess() for _ in range(12)]
        stopped = [answer for answer in answers if answer.status_code == 429]
        assert stopped
        assert all(1 <= int(answer.headers["retry-after"]) <= 60 for answer in stopped)
        assert all(answer.status_code in (401, 403, 429) for answer in answers)
    assert all("Try again in" in answer.text for answer in stopped)


def test_no_secret_is_in_what_the_servers_say(both: Running, log: Path) -> None:
    assert both.url
    told = log.read_text()
    assert not any(secret in told for secret in SECRETS.values())
    assert "Traceback" not in told
