"""What tests of conversations share: an agent that talks through a scripted server, and the script of its answers."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any

from memory_system import AgentMemory
from tests import fake_server
from tests.fake_server import FakeServer, calling, says, talks


def answers(text: str, **more: Any) -> fake_server.Reply:
    """A reply that says this with ``send_message``."""
    return talks(None, calling("send_message", {"message": text}), **more)


def calls(*named: tuple[str, object], heartbeat: bool = True) -> fake_server.Reply:
    """A reply that calls these functions with these arguments, and asks to continue."""
    made = []
    for number, (name, given) in enumerate(named):
        asked = isinstance(given, Mapping) and heartbeat and name != "send_message"
        arguments = {**given, "request_heartbeat": True} if asked and isinstance(given, Mapping) else given
        made.append(calling(name, arguments, number))
    return talks(None, *made)


def talking(agent: AgentMemory, server: FakeServer) -> AgentMemory:
    """The agent, whose language model is the server; it rates everything 5, sums up with a word, and says "Yes."."""
    agent.model = server.model()
    server.on("rate", says({"explanation": "So so.", "rating": 5}))
    server.on("fold", says({"summary": "They talked."}))
    server.on("*", answers("Yes."))
    return agent


def script(server: FakeServer, *replies: fake_server.Reply) -> None:
    """Give these replies to what is said next, in order, and then "Yes."; other requests to the model do not count."""
    left = deque(replies)

    def reply(handler: Any) -> None:
        (left.popleft() if left else answers("Yes."))(handler)

    server.on("*", reply)


def sent(server: FakeServer, number: int = -1) -> str:
    """One request as text, including the functions; the last one by default."""
    return json.dumps(server.requests[number]["messages"], ensure_ascii=False)


def chats(server: FakeServer) -> list[dict[str, Any]]:
    """The requests that were part of a talk, not tasks."""
    return [asked for asked in server.requests if "response_format" not in asked]
