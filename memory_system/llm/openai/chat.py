"""Chat requests to an OpenAI-compatible server, and its refusals: not all servers accept everything OpenAI does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import text_tools

_OVERFLOW = re.compile(
    r"context[_ ]length|context[_ ]window|context[_ ]size|length of the context|maximum (?:model|input|prompt) length"
    r"|max_model_len|max_seq_len|\bn_ctx\b|(?:prompt|input|request|message)s? (?:is|are) too (?:long|large)"
    r"|request too large|prompt too long|too many (?:input |prompt )?tokens|reduce the length|shorter input"
    r"|input token count|max_new_tokens.{0,20}must be|must have less than \d+ tokens"
    r"|exceeds? the (?:maximum|limit).{0,40}tokens|tokens? to keep from the initial prompt"
    r"|context the overflows|mid-generation context overflow",
    re.IGNORECASE | re.DOTALL,
)
"""The wordings of OpenAI, vLLM, SGLang, TGI, llama.cpp, Ollama, LM Studio, Groq, Gemini, Mistral and Anthropic."""
_OVERFLOW_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_TOOLS = re.compile(r"\btools?\b|tool_choice|tool-call|function[ _-]?call|\bfunctions\b", re.IGNORECASE)
_ROLES = re.compile(r"\broles?\b|alternat|system (?:message|prompt|role)|jinja|chat template", re.IGNORECASE)
_SYSTEM = re.compile(
    r"system (?:message|prompt|role)s? (?:is |are )?not (?:be )?support|only.{0,20}user.{0,20}assistant", re.IGNORECASE
)
TOO_LONG = 413
"""The status for a prompt that is too long, whatever the message."""


@dataclass(frozen=True)
class Form:
    """What a server is assumed to accept, until it refuses.

    Args:
        tools: tools as OpenAI has them; otherwise as text, see ``text_tools``.
        roles: messages in any order; otherwise user and assistant alternate after the system's.
        system: a system message; otherwise it is put at the beginning of the user's first.
        stream: answers in pieces.
        usage: the usage at the end of a stream, by ``stream_options``.
    """

    tools: bool = True
    roles: bool = True
    system: bool = True
    stream: bool = True
    usage: bool = True

    def simpler(self, said: str, *, tools: bool, streaming: bool) -> Form | None:
        """The form to try after a refusal, by the server's message; ``None`` if that gives no hint.

        Args:
            said: the error's text.
            tools: whether tools were offered.
            streaming: whether a stream was asked for.
        """
        if streaming and self.stream and self.usage and "stream_options" in said:
            return replace(self, usage=False)
        if streaming and self.stream and "stream" in said.lower():
            return replace(self, stream=False)
        if self.roles and _ROLES.search(said):
            return replace(self, tools=False, roles=False, system=not _SYSTEM.search(said))
        if tools and self.tools and _TOOLS.search(said):
            return replace(self, tools=False, roles=False)
        if self.system and not self.roles and _ROLES.search(said):
            return replace(self, system=False)
        return None

    def plainer(self, *, tools: bool, streaming: bool) -> Form | None:
        """The form to try when the refusal does not say what it is about: the rarest feature is dropped first."""
        if streaming and self.stream and self.usage:
            return replace(self, usage=False)
        if streaming and self.stream:
            return replace(self, stream=False)
        return replace(self, tools=False, roles=False) if tools and self.tools else None

    def body(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], *, streaming: bool
    ) -> dict[str, Any]:
        """The request, without the model's name."""
        asked: dict[str, Any] = {}
        sent: list[dict[str, Any]] = [dict(message) for message in messages]
        if tools and self.tools:
            asked["tools"] = [dict(tool) for tool in tools]
        elif not self.tools:
            sent = text_tools.explained(messages, tools)
        if not self.roles:
            sent = text_tools.alternating(text_tools.explained(messages, tools), system=self.system)
        asked["messages"] = sent
        if streaming and self.stream:
            asked["stream"] = True
            if self.usage:
                asked["stream_options"] = {"include_usage": True}
        return asked


def overflows(status: int | None, said: str, code: object) -> bool:
    """Whether an error says that the messages are longer than the model's context.

    Args:
        status: of HTTP; ``None`` if the error came within an answer of status 200.
        said: the error's text, as far as there is one.
        code: OpenAI's ``code``, or llama.cpp's ``type``.
    """
    if status == TOO_LONG or (isinstance(code, str) and code in _OVERFLOW_CODES):
        return True
    if status == 429:
        return "too large" in said.lower()  # more tokens in one request than the limit per minute
    return (status is None or status in (400, 422) or status >= 500) and bool(_OVERFLOW.search(said))


def told_error(body: object) -> tuple[str, object]:
    """An error's text and code, from the many forms of response bodies."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(inner, dict):
        text = inner.get("message") or inner.get("detail") or inner.get("error") or ""
        code = inner.get("code") if isinstance(inner.get("code"), str) else inner.get("type")
        return text if isinstance(text, str) else str(text), code
    return (inner, None) if isinstance(inner, str) else ("", None)
