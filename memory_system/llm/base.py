"""The interface of a language model: a task in, a validated answer and a trace of the call out.

The interface of a language model that converses: messages and tools in, a text or calls of tools out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypedDict, TypeVar, Unpack

from pydantic import BaseModel

from ..core.change_set import ModelCall
from ..errors import ModelNonsense
from .prompts import Prompts, prompts_of
from .tasks import Task

Heard = Callable[[str], None]
"""Called with each piece of an answer's text as it arrives."""

TASK = "talk"
"""The name of a call in traces."""
SPOKEN = ("send_message", "message")
"""The tool by which a character speaks, and its argument for what is said."""

NOTICES = ("You may open the talk with", "Nobody has said anything for")
"""How a heartbeat's message to a character begins: before anything was said, and afterwards."""


def unheard(_piece: str) -> None:
    """Listen to nothing."""


@dataclass(frozen=True)
class ToolCall:
    """A tool call by the model.

    Args:
        id: what its result has to refer to.
        name: as the model wrote it; such a tool need not exist.
        arguments: the JSON text as the model wrote it; it need not be JSON.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Usage:
    """How many tokens the server counted."""

    prompt: int
    completion: int

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(self.prompt + other.prompt, self.completion + other.completion)


@dataclass(frozen=True)
class Reply:
    """One answer of the model: ``text`` may be empty if there are calls; ``usage`` is ``None`` if not reported."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage | None
    call: ModelCall


class Hearing(TypedDict, total=False):
    """The options of ``ChatModel.chat`` besides messages and tools; see there."""

    deadline: float | None
    heard: Heard


class ChatModel(Protocol):
    """A model for conversations. Implementations are safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's name for traces."""

    @property
    def label(self) -> str:
        """What the dashboard shows as in use, in a few words; a fallback is named as one."""

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        deadline: float | None = None,
        heard: Heard = unheard,
    ) -> Reply:
        """The next message of a conversation.

        Args:
            messages: in the form of OpenAI's chat completions: ``role`` and ``content``, ``tool_calls`` of an
                assistant's message, ``tool_call_id`` of a tool's.
            tools: definitions in OpenAI's form, ``{"type": "function", "function": {...}}``.
            deadline: seconds until an answer is no use; the model's default if not given.
            heard: called with the text piece by piece as it arrives, in the caller's thread. If ``send_message`` is
                among the tools, its argument is the text; anything else that the model writes alongside calls is
                thought, not said, and not passed on.

        Raises:
            ModelOverflow: the messages are longer than the model's context.
            ModelUnavailable, ModelTimeout, ModelNonsense: as for ``LanguageModel.complete``.
        """


def speaks_by_tool(tools: Sequence[Mapping[str, Any]]) -> bool:
    """Whether ``send_message`` is among the tools, so that the model speaks only by calling it."""
    return any(tool.get("function", {}).get("name") == SPOKEN[0] for tool in tools)


def traced(
    model: str,
    messages: Sequence[Mapping[str, Any]],
    text: str,
    calls: tuple[ToolCall, ...],
    usage: Usage | None,
    milliseconds: float,
) -> Reply:
    """A reply with its trace. The trace's prompt holds what is new since the model's last message, as JSON."""
    spoken = [place for place, message in enumerate(messages) if message.get("role") == "assistant"]
    new = messages[spoken[-1] + 1 if spoken else 0 :]
    said = {
        "text": text,
        "calls": [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls],
        "usage": {"prompt": usage.prompt, "completion": usage.completion} if usage else None,
    }
    return Reply(
        text,
        calls,
        usage,
        ModelCall(
            TASK,
            model,
            json.dumps([dict(message) for message in new], ensure_ascii=False),
            json.dumps(said, ensure_ascii=False),
            milliseconds,
            usage.prompt + usage.completion if usage else None,
        ),
    )


def relived(call: ModelCall) -> Reply:
    """The reply in its trace, without asking the model again.

    Raises:
        ModelNonsense: the trace is of something else, or was not written by ``traced``.
    """
    try:
        said = json.loads(call.answer)
        calls = tuple(ToolCall(str(made["id"]), str(made["name"]), str(made["arguments"])) for made in said["calls"])
        usage = Usage(int(said["usage"]["prompt"]), int(said["usage"]["completion"])) if said["usage"] else None
        return Reply(str(said["text"]), calls, usage, call)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelNonsense(
            f"The trace of {call.model} does not tell of a reply, so it cannot be lived again."
        ) from error


Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True)
class Completion(Generic[Answer]):
    """A validated answer, its prompt and raw text, and the tokens that the server counted, if it did."""

    answer: Answer
    call: ModelCall
    usage: Usage | None = None


class LanguageModel(ChatModel, Protocol):
    """A model that answers tasks, and converses. Implementations are safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's name for traces, such as ``gpt-4o-mini`` or ``offline``."""

    @property
    def label(self) -> str:
        """What the dashboard shows as in use, in a few words; a fallback is named as one."""

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:
        """The answer to a task.

        Args:
            task: what is asked, with the form that the answer must have.
            deadline: seconds until an answer is no use, retries included; the model's default if not given.

        Raises:
            ModelUnavailable: the server refuses or is not there.
            ModelTimeout: the deadline passed.
            ModelNonsense: the answer does not have the form, even after asking again.
        """


Done = TypeVar("Done", Completion[Any], Reply)


class StandIn:
    """A language model that wraps another one, and passes all calls on to it.

    Args:
        inner: the wrapped model.
    """

    def __init__(self, inner: LanguageModel) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        """The model's name for traces."""
        return self.inner.name

    @property
    def label(self) -> str:
        """What the dashboard shows as in use."""
        return self.inner.label

    @property
    def prompts(self) -> Prompts:
        """The prompts of the model's world."""
        return prompts_of(self.inner)

    @property
    def who(self) -> str:
        """Whose memories are rated, in words."""
        return str(getattr(self.inner, "who", ""))

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:
        """As ``LanguageModel.complete``."""
        return self.passed(lambda: self.inner.complete(task, deadline), task.messages())

    def chat(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), **how: Unpack[Hearing]
    ) -> Reply:
        """As ``ChatModel.chat``."""
        return self.passed(lambda: self.inner.chat(messages, tools, **how), messages, tools)

    def passed(self, ask: Callable[[], Done], *_sent: Sequence[Mapping[str, Any]]) -> Done:
        """Pass a call on.

        Args:
            ask: asks the model.
            _sent: the messages and the tools that it is sent.
        """
        return ask()
