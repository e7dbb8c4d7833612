"""The entrance of the dashboard: if sign-in is required, nothing is sent to a browser before that."""

from __future__ import annotations

import math
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, quote, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from memory_system.errors import TooMany
from memory_system.world import Role

from . import sign_in
from .visitors import COOKIE, Visitors

UPLOADS = "/_stcore/upload_file"
_OPEN = frozenset({"/_stcore/health"})
_LOOKS = frozenset({"GET", "HEAD", "OPTIONS"})
_MAX_FORM = 10_000
_REFUSED = frozenset({"clear_cache", "set_run_on_save", "debug_shutdown_runtime", "debug_disconnect_websocket"})
"""Messages to Streamlit that are for developers: they would close the world that everybody is viewing."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",  # without any referrer, browsers do not say which page sent a form, either
    "X-Content-Type-Options": "nosniff",
}


def largest_upload(path: str) -> int:
    """How many bytes the dashboard accepts at an address: an uploaded file, or a small form."""
    return 501 * 1024 * 1024 if path.startswith(UPLOADS) else _MAX_FORM


class Entrance:
    """Shows the sign-in page to those who have not signed in, and lets no viewer upload anything.

    Args:
        app: the dashboard.
        visitors: who has signed in.
    """

    def __init__(self, app: ASGIApp, visitors: Visitors) -> None:
        self.app = app
        self._visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, if allowed."""
        if scope["type"] not in ("http", "websocket") or scope["path"] in _OPEN:
            await self.app(scope, receive, send)
            return
        role = self._visitors.role(_cookie(scope))
        if scope["type"] == "websocket":
            if role is None:
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self.app(scope, _of_a_user(receive), send)
            return
        if scope["path"] in (sign_in.IN, sign_in.OUT) and self._visitors.door.locked:
            answer = await self._signing(Request(scope, receive))
        elif role is None:
            answer = _page(scope, 401 if scope["method"] in _LOOKS else 403)
        elif role is Role.VIEWER and scope["method"] not in _LOOKS:
            answer = Response("Viewers cannot change anything.", 403)
        else:
            await self.app(scope, receive, send)
            return
        for name, value in _HEADERS.items():
            answer.headers[name] = value
        await answer(scope, receive, send)

    async def _signing(self, request: Request) -> Response:
        if request.method != "POST":
            return _page(request.scope, 200)
        form = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=10)
        if request.url.path == sign_in.OUT:
            self._visitors.sign_out(_cookie(request.scope) or "")
            answer: Response = RedirectResponse(sign_in.IN, 303)
            answer.delete_cookie(COOKIE, httponly=True, samesite="lax")
            return answer
        then = _within(form.get("next", ["/"])[0])
        address = request.client.host if request.client else ""
        try:
            cookie = self._visitors.sign_in(form.get("password", [""])[0], address)
        except TooMany as error:
            answer = HTMLResponse(sign_in.page(then, error.sentence), 429)
            answer.headers["Retry-After"] = str(math.ceil(self._visitors.door.throttle.wait(address)) or 1)
            return answer
        if cookie is None:
            return HTMLResponse(sign_in.page(then, "Wrong password."), 403)
        answer = RedirectResponse(then, 303)
        secure = request.headers.get("origin", "").startswith("https://")  # behind a proxy that encrypts
        answer.set_cookie(COOKIE, cookie, httponly=True, samesite="lax", secure=secure)
        return answer


def _page(scope: Scope, status: int) -> Response:
    """The sign-in page; it leads on to the requested page."""
    path = scope["path"] if scope["path"] not in (sign_in.IN, sign_in.OUT) else "/"
    asked = scope["query_string"].decode("latin-1")
    then = _within(quote(path) + (f"?{asked}" if asked else ""))
    return HTMLResponse(sign_in.page(then), status)


def _within(link: str) -> str:
    """A link, if it leads to this dashboard; else its first page."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return "/"
    here = not parts.scheme and not parts.netloc and link.startswith("/") and not link.startswith(("//", "/\\"))
    return link if here and link.isascii() and link.isprintable() and len(link) < 4000 else "/"


def _cookie(scope: Scope) -> str | None:
    cookies: SimpleCookie = SimpleCookie()
    for name, value in scope["headers"]:
        if name == b"cookie":
            try:
                cookies.load(value.decode("latin-1"))
            except CookieError:
                continue
    return cookies[COOKIE].value if COOKIE in cookies else None


def _of_a_user(receive: Receive) -> Receive:
    """What a browser sends, without messages meant for developers."""

    async def received() -> Message:
        while True:
            message = await receive()
            if not _is_refused(message.get("bytes")):
                return message

    return received


def _is_refused(data: bytes | None) -> bool:
    if not data:
        return False
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:  # noqa: BLE001 - whatever protobuf raises: Streamlit closes a connection that sends such things
        return False
    return message.WhichOneof("type") in _REFUSED
