"""A real OpenAI-compatible server on 127.0.0.1 that answers what a test told it to, in order."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType, TracebackType
from typing import Any, Self

from memory_system.llm.openai.model import OpenAIModel
from tests.waiting import LAST_RESORT

KEY = "sk-test-0123456789abcdef"

Reply = Callable[["_Handler"], None]


def body(
    status: int,
    payload: bytes | str | dict[str, Any],
    content_type: str = "application/json",
    *,
    headers: Mapping[str, str] = MappingProxyType({}),
    cut: int | None = None,
) -> Reply:
    """A reply with this status and payload; a mapping is sent as JSON.

    Args:
        status: the HTTP status.
        payload: what is sent.
        content_type: the declared type.
        headers: further headers.
        cut: after how many bytes the connection breaks off, if it does.
    """
    raw = json.dumps(payload) if isinstance(payload, dict) else payload
    data = raw.encode() if isinstance(raw, str) else raw

    def send(handler: _Handler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data[:cut])

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


def error(
    status: int,
    message: str = "it went wrong",
    code: str | None = None,
    *,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Reply:
    """An error in the form of OpenAI's."""
    return body(status, {"error": {"message": message, "type": "test", "code": code}}, headers=headers)


def overflow() -> Reply:
    """OpenAI's answer to messages that are longer than the model's context."""
    told = "This model's maximum context length is 2000 tokens. However, your messages resulted in 2345 tokens."
    return error(400, told, "context_length_exceeded")


def calling(name: str, arguments: object, number: int = 0) -> dict[str, Any]:
    """A call of a tool; arguments other than text are sent as JSON text."""
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": given}}


def talks(content: str | None = None, *calls: dict[str, Any], usage: tuple[int, int] | None = (50, 7)) -> Reply:
    """An answer with calls of tools, whole or as a stream, as requested; see ``calling``.

    Args:
        content: the text, if any.
        calls: the calls of tools.
        usage: tokens of prompt and completion to report, ``None`` to report none.
    """

    def send(handler: _Handler) -> None:
        counts = {} if usage is None else dict(zip(("prompt_tokens", "completion_tokens"), usage, strict=True))
        if handler.asked.get("stream"):
            wanted = bool(handler.asked.get("stream_options", {}).get("include_usage"))
            streamed(*pieces(content, *calls), *([_counted(counts)] if counts and wanted else []))(handler)
            return
        whole = completion(content, **({"tool_calls": list(calls)} if calls else {}))
        whole["usage"] = counts or None
        body(200, whole)(handler)

    return send


def pieces(content: str | None, *calls: dict[str, Any]) -> list[dict[str, Any]]:
    """The chunks of a stream: text by words, arguments by seven characters."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in re.findall(r"\S+\s*|\s+", content or "")]
    for index, call in enumerate(calls):
        function = call["function"]
        deltas.append(
            {"tool_calls": [{**call, "index": index, "function": {"name": function["name"], "arguments": ""}}]}
        )
        cut = [function["arguments"][at : at + 7] for at in range(0, len(function["arguments"]), 7)]
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": part}}]} for part in cut]
    chunks = [_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    return [*chunks, _chunk([{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}])]


def streamed(
    *chunks: object, pause: float = 0.0, broken: bool = False, held_until: threading.Event | None = None
) -> Reply:
    """A stream of events; a text is sent as it is, anything else as JSON.

    Args:
        chunks: what is sent, in order.
        pause: seconds between them.
        broken: whether the connection breaks instead of ending.
        held_until: what has to happen before the second half is sent, if anything.
    """

    def send(handler: _Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        if broken:
            handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        for number, chunk in enumerate(chunks):
            if held_until is not None and number == len(chunks) // 2:
                held_until.wait(LAST_RESORT)
            data = chunk if isinstance(chunk, str) else json.dumps(chunk)
            handler.wfile.write(f"data: {data}\n\n".encode())
            handler.wfile.flush()
            if pause and handler.server.stopping.wait(pause):  # type: ignore[attr-defined]
                return
        if not broken:
            handler.wfile.write(b"data: [DONE]\n\n")

    return send


def unless(refused: Callable[[dict[str, Any]], bool], refusal: Reply, reply: Reply) -> Reply:
    """Refuses a request if the condition holds, else replies."""

    def choose(handler: _Handler) -> None:
        (refusal if refused(handler.asked) else reply)(handler)

    return choose


def _chunk(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": choices}


def _counted(counts: dict[str, int]) -> dict[str, Any]:
    return {**_chunk([]), "usage": counts}


def silent(seconds: float) -> Reply:
    """Accepts the request and sends nothing for this long."""

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
    """Refuses ``response_format`` except for the accepted forms."""

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
        fake.keys.append(self.headers.get("Authorization", ""))
        try:
            fake.next_reply(self.asked)(self)
        except (BrokenPipeError, ConnectionResetError):
            return  # the client has left

    def do_GET(self) -> None:
        fake: FakeServer = self.server.fake  # type: ignore[attr-defined]
        self.close_connection = True
        fake.keys.append(self.headers.get("Authorization", ""))
        try:
            fake.listing(self)
        except (BrokenPipeError, ConnectionResetError):
            return  # the client has left

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Keep quiet."""


class _Http(ThreadingHTTPServer):
    request_queue_size = 64  # many may connect at once
    daemon_threads = True


class FakeServer:
    """Answers from a queue; when that is empty, by the task's name (``on``), and else with an error 500."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        """The Authorization header of each request."""
        self.listing: Reply = body(200, {"object": "list", "data": [{"id": "fake"}, {"id": "fake-large"}]})
        """The answer to GET /models."""
        self._queue: deque[Reply] = deque()
        self._tasks: dict[str, Reply] = {}
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.fake = self  # type: ignore[attr-defined]
        self._http.stopping = threading.Event()  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base address, as in OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def queue(self, *replies: Reply) -> None:
        """Answer the next requests with these replies."""
        self._queue.extend(replies)

    def on(self, task: str, reply: Reply) -> None:
        """Give this reply to requests for this task, as long as nothing is queued; "*" means all others."""
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

    def model(self, name: str = "fake", *, deadline: float = 60.0, key: str = KEY) -> OpenAIModel:
        """A language model that uses this server, which answers at once unless a test is about waiting."""
        return OpenAIModel(model=name, key=key, base_url=self.url, deadline=deadline)

    def close(self) -> None:
        """Stop; later requests are refused."""
        self._http.stopping.set()  # type: ignore[attr-defined]
        self._http.shutdown()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
