"""A real OpenAI-compatible server on 127.0.0.1 that answers what a test told it to, in order."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from memory_system.llm.openai import OpenAIModel

KEY = "sk-test-0123456789abcdef"

Reply = Callable[["_Handler"], None]


def body(status: int, payload: bytes | str | dict[str, Any], content_type: str = "application/json") -> Reply:
    """Answers this status and payload; a mapping is sent as JSON."""
    raw = json.dumps(payload) if isinstance(payload, dict) else payload
    data = raw.encode() if isinstance(raw, str) else raw

    def send(handler: _Handler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return send


def completion(content: object, **message: object) -> dict[str, Any]:
    """A chat completion with this content."""
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
    }


def says(content: object) -> Reply:
    """A chat completion; a mapping is its JSON text."""
    return body(200, completion(json.dumps(content) if isinstance(content, dict) else content))


def error(status: int, message: str = "it went wrong") -> Reply:
    """An error in the form of OpenAI's."""
    return body(status, {"error": {"message": message, "type": "test", "code": None}})


def silent(seconds: float) -> Reply:
    """Takes the request and says nothing for this long."""

    def wait(handler: _Handler) -> None:
        handler.server.stopping.wait(seconds)  # type: ignore[attr-defined]

    return wait


def trickling(seconds: float) -> Reply:
    """Sends one byte every tenth of a second, so that no read ever times out."""

    def drip(handler: _Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        until = time.monotonic() + seconds
        while time.monotonic() < until and not handler.server.stopping.wait(0.1):  # type: ignore[attr-defined]
            handler.wfile.write(b" ")
            handler.wfile.flush()

    return drip


def only(*, json_object: bool, text: bool, refusal: int, reply: Reply) -> Reply:
    """Refuses ``response_format`` but for the forms that are taken."""

    def choose(handler: _Handler) -> None:
        form = handler.asked.get("response_format", {}).get("type", "text")
        taken = {"json_schema": False, "json_object": json_object, "text": text}[form]
        (reply if taken else error(refusal, "response_format is not supported"))(handler)

    return choose


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked: dict[str, Any]

    def do_POST(self) -> None:
        self.asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fake: FakeServer = self.server.fake  # type: ignore[attr-defined]
        self.close_connection = True
        try:
            fake.next_reply(self.asked)(self)
        except (BrokenPipeError, ConnectionResetError):
            return  # the client had enough

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Keep quiet."""


class FakeServer:
    """Answers from a queue; when that is empty, by the task's name (``on``), and else with an error 500."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._queue: deque[Reply] = deque()
        self._tasks: dict[str, Reply] = {}
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.fake = self  # type: ignore[attr-defined]
        self._http.stopping = threading.Event()  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base address, as in OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def queue(self, *replies: Reply) -> None:
        """Answer the next requests so."""
        self._queue.extend(replies)

    def on(self, task: str, reply: Reply) -> None:
        """Answer requests for this task so, as long as nothing is queued; "*" stands for all others."""
        self._tasks[task] = reply

    def next_reply(self, asked: dict[str, Any]) -> Reply:
        """What to answer to this request."""
        with self._lock:
            self.requests.append(asked)
            if self._queue:
                return self._queue.popleft()
        task = asked.get("response_format", {}).get("json_schema", {}).get("name", "*")
        return self._tasks.get(task) or self._tasks.get("*") or error(500, f"nothing is scripted for {task}")

    def forms(self) -> list[str]:
        """The form that each request asked for."""
        return [asked.get("response_format", {}).get("type", "text") for asked in self.requests]

    def model(self, *, deadline: float = 10.0, key: str = KEY) -> OpenAIModel:
        """The language model that asks this server."""
        return OpenAIModel(model="fake", key=key, base_url=self.url, deadline=deadline)

    def close(self) -> None:
        """Stop; whoever asks afterwards is refused."""
        self._http.stopping.set()  # type: ignore[attr-defined]
        self._http.shutdown()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
