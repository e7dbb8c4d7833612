"""Streamlit's own files go out compressed, once compressed and kept; nothing else is touched."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient

from dashboard.server import static
from dashboard.server.static import Compressed

SCRIPT = b"export const words = 'a brass key, a lamp, a mill';\n" * 500


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A server with some files at /static, and a page elsewhere; it fails if a file is compressed twice."""
    (tmp_path / "large.js").write_bytes(SCRIPT)
    (tmp_path / "small.js").write_bytes(b"export {};")
    (tmp_path / "picture.png").write_bytes(SCRIPT)
    compress, seen = gzip.compress, set[bytes]()

    def once(body: bytes, *arguments: int, **more: int) -> bytes:
        assert body not in seen, "it was compressed before"
        seen.add(body)
        return compress(body, *arguments, **more)

    monkeypatch.setattr(static.gzip, "compress", once)

    def elsewhere(_request: Request) -> Response:
        return PlainTextResponse(SCRIPT)

    routes = [Mount("/static", StaticFiles(directory=tmp_path)), Route("/elsewhere", elsewhere)]
    with TestClient(Starlette(routes=routes, middleware=[Middleware(Compressed)])) as opened:
        yield opened


def asked(client: TestClient, path: str, encoding: str = "gzip, deflate, br", **headers: str) -> httpx.Response:
    """What is answered to a browser that takes these encodings."""
    return client.get(path, headers={"accept-encoding": encoding, **headers})


def test_a_file_goes_out_compressed_and_is_compressed_once(client: TestClient) -> None:
    for _ in range(3):
        answer = asked(client, "/static/large.js")
        assert answer.content == SCRIPT, "the client unpacks it"
        assert answer.headers["content-encoding"] == "gzip"
        assert int(answer.headers["content-length"]) < len(SCRIPT) / 10
        assert answer.headers["vary"] == "Accept-Encoding"


def test_who_takes_no_gzip_or_asks_for_a_part_gets_it_as_it_is(client: TestClient) -> None:
    assert "content-encoding" not in asked(client, "/static/large.js", "identity").headers
    part = asked(client, "/static/large.js", range="bytes=0-9")
    assert (part.status_code, part.content) == (206, SCRIPT[:10])
    assert "content-encoding" not in client.head("/static/large.js").headers


def test_a_browser_that_has_it_is_sent_nothing(client: TestClient) -> None:
    tag = asked(client, "/static/large.js").headers["etag"]
    again = asked(client, "/static/large.js", **{"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("accepted", "is_taken"),
    [
        ("gzip", True), ("GZIP;q=0.001", True), ("br, gzip ; q=1.0", True), ("*", True), ("br;q=1, *;q=0.5", True),
        ("gzip;q=0", False), ("gzip;q=0.000, *", False), ("notgzip", False), ("gzipped, br", False), ("*;q=0", False),
        ("identity", False), ("", False),
    ],
)  # fmt: skip
def test_gzip_goes_to_who_asks_for_it_by_name_or_for_anything(
    client: TestClient, accepted: str, is_taken: bool
) -> None:
    answer = asked(client, "/static/large.js", accepted)
    assert ("content-encoding" in answer.headers) is is_taken
    assert (answer.content, answer.headers["vary"]) == (SCRIPT, "Accept-Encoding")


def test_the_two_forms_of_a_file_have_tags_of_their_own_and_each_is_known_again(client: TestClient) -> None:
    tags = {encoding: asked(client, "/static/large.js", encoding).headers["etag"] for encoding in ("gzip", "identity")}
    assert tags["gzip"] == tags["identity"][:-1] + '-gzip"'
    for encoding, tag in tags.items():
        for known in (tag, f'"other", W/{tag}'):
            again = asked(client, "/static/large.js", encoding, **{"if-none-match": known})
            assert (again.status_code, again.headers["etag"], again.headers["vary"]) == (304, tag, "Accept-Encoding")
    assert asked(client, "/static/large.js", "identity", **{"if-none-match": tags["gzip"]}).status_code == 200


@pytest.mark.parametrize("path", ["/static/small.js", "/static/picture.png", "/static/none.js", "/elsewhere"])
def test_small_files_pictures_and_all_else_are_left_alone(client: TestClient, path: str) -> None:
    assert "content-encoding" not in asked(client, path).headers


def test_a_file_that_has_changed_is_compressed_anew(client: TestClient, tmp_path: Path) -> None:
    asked(client, "/static/large.js")
    (tmp_path / "large.js").write_bytes(SCRIPT.upper() + b"//")
    assert asked(client, "/static/large.js").content == SCRIPT.upper() + b"//"


def test_what_is_kept_has_its_room(client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Compressed(lambda *_: None)  # type: ignore[arg-type, return-value]
    monkeypatch.setattr(static, "_ROOM", 25)
    for number in range(4):
        kept._keep(("path", str(number)), b"0123456789")
    assert [tag for _, tag in kept._kept] == ["2", "3"]
    assert kept._size == 20
