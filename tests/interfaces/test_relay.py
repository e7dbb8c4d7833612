"""What another worker asks of the first one, where that one ends on the way."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from starlette.types import Message

from memory_system.interfaces.api.relay import Relay, framed, unframed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="several workers need Unix sockets")


async def _asked(folder: Path, method: str, ends: int, *, stays: bool = True) -> tuple[list[str], list[Message]]:
    """The requests that the first worker got, of which the first so many are lost, and what the answer was."""
    got: list[str] = []
    sent: list[Message] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await unframed(reader)
        assert request is not None
        got.append(request["method"])
        if not stays:
            assert await unframed(reader) is None, "who asked has left"
        elif len(got) > ends:
            body = await unframed(reader)
            assert body is not None
            assert not body["more_body"]
            writer.write(framed({"type": "http.response.start", "status": 200, "headers": []}))
            writer.write(framed({"type": "http.response.body", "body": b"told", "more_body": False}))
        writer.close()

    told = iter([{"type": "http.request", "body": b"", "more_body": False}] if stays else [])

    async def receive() -> Message:
        if (message := next(told, None)) is not None:
            return message
        if stays:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": "/v1/agents", "query_string": b"", "headers": []}
    async with await asyncio.start_unix_server(answer, folder / "asked"):
        await Relay(folder / "asked")(scope, receive, send)
    return got, sent


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_changes_nothing_is_asked_anew_where_the_worker_that_was_asked_ends(tmp_path: Path, method: str) -> None:
    got, sent = asyncio.run(_asked(tmp_path, method, 1))
    assert got == [method, method]
    assert [one.get("status", one.get("body")) for one in sent] == [200, b"told"]


@pytest.mark.parametrize(("method", "ends", "times"), [("POST", 1, 1), ("DELETE", 1, 1), ("GET", 2, 2)])
def test_what_may_have_been_done_is_not_asked_anew_and_nothing_more_than_twice(
    tmp_path: Path, method: str, ends: int, times: int
) -> None:
    got, sent = asyncio.run(_asked(tmp_path, method, ends))
    assert (got, sent[0]["status"]) == ([method] * times, 503)


def test_whoever_has_left_is_not_asked_for_anew(tmp_path: Path) -> None:
    got, _ = asyncio.run(_asked(tmp_path, "GET", 0, stays=False))
    assert got == ["GET"]
