"""Messages: what was said in a conversation, function calls and their results included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from ..llm.chat import ToolCall

SEND = "send_message"
"""The function by which an agent speaks."""


SCENE = "Scene"
"""The speaker of what sets a scene, such as that two characters meet; nobody of the two."""


class Role(StrEnum):
    """Who a message is from, in the words of OpenAI's chat completions."""

    SYSTEM = "system"
    """A notice of this system's own: memory pressure, that somebody came or left."""
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True)
class Message:
    """One message of a conversation.

    Args:
        number: its place in the conversation, from 0; never given twice.
        role: whom it is from.
        text: what is said, also where it is said by calling ``send_message``; of a message that calls other functions
            only, what the model thought aloud, mostly nothing.
        at: the world's time, aware of its zone.
        speaker: the name of who says it; empty for notices and results of functions.
        calls: the functions that an assistant calls.
        call_id: of a tool's message, the call that it answers.
        tokens: how long it is; see ``tokens``.
    """

    number: int
    role: Role
    text: str
    at: datetime
    speaker: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tokens: int = 0

    @property
    def sends(self) -> bool:
        """Whether it speaks by calling ``send_message``."""
        return any(call.name == SEND for call in self.calls)

    @property
    def said(self) -> str:
        """What the other one hears of it: nothing of notices, results and thoughts."""
        heard = self.role is Role.USER or (self.role is Role.ASSISTANT and (self.sends or not self.calls))
        return self.text if heard else ""

    def openai(self) -> Mapping[str, Any]:
        """The message as chat completions take it; what a call says already is not said twice."""
        body: dict[str, Any] = {"role": self.role.value, "content": "" if self.sends else self.text}
        if self.calls:
            body["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        if self.role is Role.TOOL:
            body["tool_call_id"] = self.call_id
        return body
