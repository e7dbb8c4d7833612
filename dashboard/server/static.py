"""Streamlit's own files, compressed once and kept: they make up nine tenths of what a browser loads the first time.

Streamlit sends them as they are, since Starlette would compress them again for each browser.
"""

from __future__ import annotations

import asyncio
import gzip
import re
from collections import OrderedDict

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FOLDER = "/static/"
_LEVEL = 9
_SMALLEST = 1_000
_ROOM = 32_000_000
"""Bytes of compressed files that are kept; all of Streamlit's files need about a third of it."""
_TEXTS = ("text/", "application/javascript", "application/json", "image/svg+xml", "application/wasm")

_WEIGHT = re.compile(r"q\s*=\s*([01](?:\.\d{0,3})?)")
_SUFFIX, _QUOTE = "-gzip", '"'


class Compressed:
    """Answers with a compressed file if the browser accepts one. Nothing but Streamlit's public files is touched.

    Args:
        app: the dashboard.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._kept: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._size = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and compress the response if allowed."""
        if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith(FOLDER):
            await self.app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        taken = "range" not in asked and takes_gzip(",".join(asked.getlist("accept-encoding")))
        if not taken:

            async def varied(message: Message) -> None:
                await send(_varying(message) if message["type"] == "http.response.start" else message)

            await self.app(scope, receive, varied)
            return
        start: Message | None = None
        body = bytearray()

        async def gathered(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _may_be(message):
                start = message
            elif start is None:
                varying = message["type"] == "http.response.start"
                await send(_varying(message, asked.get("if-none-match", "")) if varying else message)
            elif message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    await self._answer(scope["path"], start, bytes(body), send)

        # a server that could send a file by itself would leave nothing to compress
        extensions = {
            name: value for name, value in scope.get("extensions", {}).items() if name != "http.response.pathsend"
        }
        headers = [(name, _plain(value) if name == b"if-none-match" else value) for name, value in scope["headers"]]
        await self.app({**scope, "headers": headers, "extensions": extensions}, receive, gathered)

    async def _answer(self, path: str, start: Message, body: bytes, send: Send) -> None:
        headers = MutableHeaders(raw=list(start["headers"]))
        key = (path, headers["etag"])
        smaller = self._kept.get(key)
        if smaller is None:
            smaller = await asyncio.to_thread(gzip.compress, body, _LEVEL, mtime=0)
            self._keep(key, smaller)
        else:
            self._kept.move_to_end(key)
        headers["ETag"] = _tag(headers["etag"])
        headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(smaller))
        headers.add_vary_header("Accept-Encoding")
        await send({**start, "headers": headers.raw})
        await send({"type": "http.response.body", "body": smaller})

    def _keep(self, key: tuple[str, str], smaller: bytes) -> None:
        if key not in self._kept:
            self._size += len(smaller)
        self._kept[key] = smaller
        while self._size > _ROOM:
            self._size -= len(self._kept.popitem(last=False)[1])


def takes_gzip(accepted: str) -> bool:
    """Whether an ``Accept-Encoding`` asks for gzip, by its name or by ``*``; a weight of 0 means no."""
    weights: dict[str, float] = {}
    for coding in accepted.split(","):
        name, *parameters = (part.strip().lower() for part in coding.split(";"))
        weight = 1.0
        for parameter in parameters:
            if found := _WEIGHT.fullmatch(parameter):
                weight = float(found[1])
        weights[name] = weight
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _tag(plain: str) -> str:
    """The tag of the compressed form of a file, so that caches can distinguish the two forms."""
    return f"{plain.removesuffix(_QUOTE)}{_SUFFIX}{_QUOTE}"


def _plain(tags: bytes) -> bytes:
    """Tags of compressed forms as those of the files, on which Streamlit's own answer depends."""
    return tags.replace(f"{_SUFFIX}{_QUOTE}".encode(), _QUOTE.encode())


def _varying(start: Message, known: str = "") -> Message:
    """The beginning of an uncompressed answer; a header tells caches that a text may come in another form.

    Args:
        start: what the answer begins with.
        known: the ``If-None-Match`` of a client that accepts gzip: "not modified" is answered with the tag of its copy.
    """
    headers = MutableHeaders(raw=list(start["headers"]))
    unchanged = start["status"] == 304
    if unchanged or headers.get("content-type", "").startswith(_TEXTS):
        headers.add_vary_header("Accept-Encoding")
    if unchanged and "etag" in headers and _tag(headers["etag"]) in known:
        headers["ETag"] = _tag(headers["etag"])
    return {**start, "headers": headers.raw}


def _may_be(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    return (
        start["status"] == 200
        and "content-encoding" not in headers
        and "etag" in headers
        and headers.get("content-type", "").startswith(_TEXTS)
        and int(headers.get("content-length", 0)) >= _SMALLEST
    )
