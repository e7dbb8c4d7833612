"""The wire: requests with their retries, and problems turned back into the errors that they were.

What is not given is not sent, so that the server's own settings apply.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from enum import Enum
from typing import Any
from urllib.parse import quote

import httpx

from ...agent_parts.importing import as_address
from ...core.entry import MemoryEntry
from ...errors import InvalidDocument, InvalidParameter, MemorySystemError, Problem, ServerUnavailable, shown
from ...operations.context import Progress, no_progress

EVENTS = "text/event-stream"
Hear = Callable[[str, Any], None]
"""Called with the name of an event and its content."""
_TRIES, _PAUSE = 3, 0.2
_LONGEST_AUTHOR = 60
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
_UNKNOWN = " It is not known whether it was done: check before you do it again."


def segment(text: str) -> str:
    """A name or an id as one part of an address.

    Raises:
        InvalidParameter: it is not a text, or cannot be sent.
    """
    if not isinstance(text, str) or not text:
        raise InvalidParameter(f"A name or an id must be a text that is not empty, not {shown(text)}.")
    _refuse(text, "The name or id")
    quoted = quote(text, safe="")
    return quoted.replace(".", "%2E") if quoted in (".", "..") else quoted  # or httpx treats it as a step up the path


class Wire:
    """One server. Thread-safe; connections are kept open.

    Args:
        address: such as ``http://127.0.0.1:5000``.
        timeout: seconds that one answer may take; an operation waits for the language model.
        token: this program's token, if the server requires one.
    """

    def __init__(self, address: str, timeout: float | None = 90.0, token: str = "") -> None:
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise InvalidParameter(
                "The token holds a character that cannot be sent; it is plain letters, digits, signs."
            )
        _refuse_address(address)
        _refuse_timeout(timeout)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.Client(base_url=address, timeout=timeout, trust_env=False, headers=headers)
        self._address = address
        self._said: dict[str, str] = {}
        self._world: dict[str, str] = {}

    def acting_as(self, author: str) -> Wire:
        """The same connections, with this author for what is done over them."""
        other = copy.copy(self)
        other._said = {"Memory-Author": quote(author[:_LONGEST_AUTHOR])}
        return other

    def meant_for(self, world: str) -> Wire:
        """The same connections, for requests to this world only."""
        other = copy.copy(self)
        other._world = {"Memory-World": quote(world)}
        return other

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def get(self, path: str, **query: Any) -> Any:
        """The value at an address."""
        return self._answer("GET", path, query=query)

    def file(self, path: str, **query: Any) -> tuple[bytes, Mapping[str, str]]:
        """The bytes at an address, and the headers with them."""
        answer = self._asked("GET", path, query=query)
        return answer.content, answer.headers

    def ask(self, path: str, body: Any) -> Any:
        """The answer to a question that changes at most when memories were last recalled."""
        return self._answer("POST", path, body)

    def write(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """The result of a write. It has a key of its own, so that an attempt that broke off is never done twice."""
        return self._answer(method, path, body, query, {"Idempotency-Key": uuid.uuid4().hex})

    def stream(self, method: str, path: str, body: Any, hear: Hear, **query: Any) -> Any:
        """The answer to what may take long, reported as it progresses.

        If ``hear`` raises, it ends, and what was not applied by then is not applied.
        """
        with closing(self._lines(method, path, body, {"Accept": EVENTS}, query)) as lines:
            for kind, data in events(lines):
                if kind == "answer":
                    return data
                if kind == "problem":
                    raise raised(data["code"], data["detail"])
                hear(kind, data)
        unknown = "" if method == "GET" else _UNKNOWN
        raise ServerUnavailable(f"The server at {self._address} stopped before it had answered.{unknown}")

    def lines(self, path: str, **query: Any) -> Iterator[str]:
        """The lines of an answer, as they come."""
        return self._lines("GET", path, None, {}, query)

    def _lines(
        self, method: str, path: str, body: Any, headers: Mapping[str, str], query: Mapping[str, Any]
    ) -> Generator[str]:
        sent = _sent(body, query, {**self._world, **self._said, **headers})
        try:
            with self._opened().stream(method, path, **sent) as answer:
                if answer.is_error:
                    answer.read()
                    raise _error(answer)
                rest = ""
                for text in answer.iter_text():
                    *whole, rest = (rest + text).split("\n")  # memories may contain other characters that end lines
                    yield from whole
                if rest:
                    yield rest
        except httpx.HTTPError as error:
            raise self._unreachable(error, method != "GET" and not isinstance(error, _NOT_SENT)) from error

    def _answer(self, method: str, path: str, *more: Any, **named: Any) -> Any:
        answer = self._asked(method, path, *more, **named)
        return answer.json() if answer.content else None

    def _asked(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        sent = _sent(body, query or {}, {**self._world, **self._said, **(headers or {})})
        writes, maybe_done = "Idempotency-Key" in sent["headers"], False
        for left in reversed(range(_TRIES)):
            try:
                answer = self._opened().request(method, path, **sent)
            except httpx.HTTPError as error:
                maybe_done |= writes and not isinstance(error, _NOT_SENT)
                if not left or isinstance(error, httpx.TimeoutException):
                    raise self._unreachable(error, maybe_done) from error
                time.sleep(_PAUSE)
                continue
            if answer.is_error:
                raise _error(answer)
            return answer
        raise AssertionError("the last try answers or raises")

    def _opened(self) -> httpx.Client:
        if self._client.is_closed:
            raise ServerUnavailable(f"The connection to {self._address} was closed here. Make a new one.")
        return self._client

    def _unreachable(self, error: httpx.HTTPError, maybe_done: bool) -> ServerUnavailable:
        why, unknown = str(error).rstrip(".") or type(error).__name__, _UNKNOWN if maybe_done else ""
        if isinstance(error, httpx.ReadTimeout):
            longest = f"{self._client.timeout.read:g} seconds"
            sentence = (
                f"The server at {self._address} did not answer within {longest}; 'timeout=' says how long to wait."
            )
            return ServerUnavailable(f"{sentence}{unknown}")
        return ServerUnavailable(f"The server at {self._address} cannot be reached: {why}. Is it running?{unknown}")


def _refuse_address(address: object) -> None:
    with suppress(TypeError, httpx.InvalidURL):
        parts = httpx.URL(address)  # type: ignore[arg-type]  # it checks what it is
        reached = parts.scheme in ("http", "https") and parts.host
        if isinstance(address, str) and reached and not parts.query and not parts.fragment:
            return
    raise InvalidParameter(f"The address of a server must be like http://127.0.0.1:5000, not {shown(address)}.")


def _refuse_timeout(timeout: object) -> None:
    a_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if timeout is not None and not (a_number and 0 < float(timeout) < math.inf):  # type: ignore[arg-type]
        raise InvalidParameter(f"'timeout' must be a number of seconds above 0, not {shown(timeout)}.")


def long(wire: Wire, method: str, path: str, body: Any, progress: Progress, **query: Any) -> Any:
    """A long request: with progress reports if there is a callback, else an ordinary request."""
    if progress is no_progress:
        return wire.get(path, **query) if method == "GET" else wire.write(method, path, body, **query)

    def hear(kind: str, data: Any) -> None:
        if kind == "progress":
            progress(data["done"], data["doing"])

    return wire.stream(method, path, body, hear, **query)


def events(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The server-sent events of these lines, each with its content."""
    kind = ""
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)


def _sent(body: Any, query: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """A request's parts; values that are ``None`` are not sent.

    Raises:
        InvalidParameter: a number or a text cannot be sent.
    """
    sent: dict[str, Any] = {"params": {name: value for name, value in query.items() if value is not None}}
    _refuse(sent["params"])
    sent["headers"] = dict(headers)
    if isinstance(body, bytes):
        sent |= {"content": body}
        sent["headers"].setdefault("Content-Type", "application/x-ndjson")
    elif body is not None:
        try:
            text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError):
            _refuse(body)
            raise
        sent |= {"content": text}
        sent["headers"].setdefault("Content-Type", "application/json")
    return sent


def _refuse(value: Any, where: str = "") -> None:
    """Raise for the part of a value that cannot be sent, saying where it is.

    Raises:
        InvalidParameter: a number is NaN or infinite, a text has half a surrogate pair, or JSON has no equivalent.
    """
    if isinstance(value, Mapping):
        for name, part in value.items():
            _refuse(name, "A name of a field")
            _refuse(part, f"{where}.{name}" if where else f"{name}")
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            _refuse(part, f"{where}.{number}" if where else f"{number}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidParameter(f"{where or 'It'} is {value}, which is not a finite number.")
    elif isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InvalidParameter(f"{where or 'It'} contains half of a surrogate pair, which is not text.") from error
    elif value is not None and not isinstance(value, int | float | Enum):
        plain_kinds = "it is not a text, number, time or list"
        raise InvalidParameter(f"{where or 'It'}: {shown(value)} cannot be sent: {plain_kinds}.")


def _error(answer: httpx.Response) -> MemorySystemError:
    """The error that the server raised."""
    try:
        problem = answer.json()
        code, detail = str(problem["code"]), str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        return ServerUnavailable(f"The server answered {answer.status_code} without saying why. Is it a memory system?")
    return raised(code, detail)


def raised(code: str, detail: str) -> MemorySystemError:
    """The error that a problem describes."""
    kind = _kinds(MemorySystemError).get(code, MemorySystemError)
    error = kind.__new__(kind, detail)  # some need more than a sentence, and the rest is not on the wire
    error.args = (detail,)
    if isinstance(error, InvalidDocument):
        error.problems = (Problem("", detail),)
    return error


def _kinds(root: type[MemorySystemError]) -> dict[str, type[MemorySystemError]]:
    found = {root.code: root}
    for kind in root.__subclasses__():
        for code, subclass in _kinds(kind).items():
            found.setdefault(code, subclass)
    return found


def plain(value: Any) -> Any:
    """A value as JSON has it: times as text, tuples as lists, and dataclasses by their fields.

    Raises:
        InvalidParameter: JSON has no equivalent.
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        return [plain(item) for item in value]
    raise InvalidParameter(f"{shown(value)} cannot be sent: it is not a text, number, time or list.")


def filed(material: bytes | str) -> str:
    """A file as it is sent: its text, or an address that contains it."""
    return as_address(material) if isinstance(material, bytes) else material


def present_fields(**fields: Any) -> dict[str, Any]:
    """The fields that are not ``None``."""
    return {name: plain(value) for name, value in fields.items() if value is not None}


_UNSENT = ("tier", "last_access", "depth", "metadata")
"""The fields of a memory that an event does not have."""


def event(entry: MemoryEntry) -> dict[str, Any]:
    """An event."""
    said = {field.name: getattr(entry, field.name) for field in dataclasses.fields(entry) if field.name not in _UNSENT}
    return present_fields(**said, metadata=entry.extras)
