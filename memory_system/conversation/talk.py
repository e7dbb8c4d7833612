"""Talk: everything a conversation needs to go on, as a value; what was said before is in recall memory.

Messages: what was said in a conversation, function calls and their results included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from ..core.change_set import is_text, short
from ..core.scoring import in_range, whole
from ..errors import InvalidParameter, shown
from ..llm.base import ToolCall
from .actions import Action

SEND = "send_message"
"""The function by which an agent speaks."""


SCENE = "Scene"
"""The speaker of what sets a scene, such as that two characters meet; it is neither of the two."""


UNPROMPTED = "(heartbeat)"
"""The speaker of the notice that lets an agent speak unprompted; no person says it."""


NOBODY = "You"
"""Whom an agent talks with, if no name is given."""


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
        text: what is said, also if it is said by calling ``send_message``; in a message that only calls other
            functions, what the model thought aloud, usually nothing.
        at: the world's time, aware of its zone.
        speaker: the name of the speaker; empty for notices and results of functions.
        calls: the functions that an assistant calls.
        call_id: in a tool's message, the call that it answers.
        tokens: how long it is; see ``tokens``.
        thought: what an assistant thought aloud in addition to what it says by ``send_message``; nobody hears it.
        action: in a tool's message, what was done in the game; see ``FunctionRun``.
    """

    number: int
    role: Role
    text: str
    at: datetime
    speaker: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tokens: int = 0
    thought: str = ""
    action: str = ""

    @property
    def sends(self) -> bool:
        """Whether it speaks by calling ``send_message``."""
        return any(call.name == SEND for call in self.calls)

    @property
    def said(self) -> str:
        """What the other side hears of it: not notices, results and thoughts."""
        heard = (self.role is Role.USER and self.speaker != UNPROMPTED) or (
            self.role is Role.ASSISTANT and (self.sends or not self.calls)
        )
        return self.text if heard else ""

    def openai(self) -> Mapping[str, Any]:
        """The message in the form of chat completions; what a call already says is not repeated."""
        body: dict[str, Any] = {"role": self.role.value, "content": self.thought if self.sends else self.text}
        if self.calls:
            body["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        if self.role is Role.TOOL:
            body["tool_call_id"] = self.call_id
        return body


LEAST_VIRTUAL = 1800
"""The least number of tokens: with fewer, functions and core memory leave no room to talk."""
MAX_TEMPLATE = 4000
TRANSCRIPT = "{transcript}"
"""The placeholder in a template for what is to be summarised."""


class Strategy(StrEnum):
    """How a conversation's past gets into the prompt."""

    BUFFER = "buffer"
    """Everything that was said."""
    WINDOW = "window"
    """The last messages."""
    SUMMARY = "summary"
    """One summary of all, renewed every few turns, and what was said since."""
    VIRTUAL = "virtual"
    """MemGPT's virtual context (arXiv 2310.08560, section 2): core memory, a queue, a recursive summary, functions."""


class Remember(StrEnum):
    """What a talk leaves in memory, in addition to its messages."""

    SYNOPSIS = "synopsis"
    """What was said as one memory, or several for a long talk; when the talk is left, a synopsis replaces them."""
    TURNS = "turns"
    """Each turn as a memory, and a synopsis when the talk is left."""
    NOTHING = "nothing"
    """Nothing of its own accord."""


class Mode(StrEnum):
    """What a conversation leaves behind."""

    PLAY = "play"
    """A normal talk that is remembered."""
    INTERVIEW = "interview"
    """Asks without leaving a trace."""


@dataclass(frozen=True)
class TalkSettings:
    """The settings of a conversation.

    Args:
        strategy: how its past gets into the prompt.
        budget: the most tokens in a prompt, 500 to 1,000,000; at least 1,800 for ``virtual``, whose functions alone
            need 1,000.
        warn_at: the share of the budget at which the model is warned of memory pressure, 0 to 1.
        evict_at: the share at which the oldest half of the queue goes into the summary, 0 to 1, above ``warn_at``.
        window: how many messages the strategy ``window`` keeps, 1 to 10,000.
        summary_frequency: after how many turns the strategy ``summary`` summarises again, 1 to 1,000.
        template: the prompt that summarises; ``{transcript}`` stands for what is summarised; empty = the default.
        block_limit: the most characters in a block of core memory, 100 to 20,000.
        most_calls: the most functions that the model may call in one step, 1 to 100.
        recalled: how many memories of the agent's life each message brings to mind, 0 to 50.
        remember: what the talk leaves in memory; an interview leaves nothing.
        heartbeat: minutes of the world's time without a word after which the agent may speak unprompted, if time
            passes by ``world.advance``: 1 to 10,080, or 0 for never.

    Raises:
        InvalidParameter: one is out of its range.
    """

    strategy: Strategy = Strategy.VIRTUAL
    budget: int = 8000
    warn_at: float = 0.7
    evict_at: float = 1.0
    window: int = 20
    summary_frequency: int = 3
    template: str = ""
    block_limit: int = 2000
    most_calls: int = 12
    recalled: int = 5
    remember: Remember = Remember.SYNOPSIS
    heartbeat: int = 0

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "strategy", Strategy(self.strategy))
        except ValueError as error:
            raise InvalidParameter(
                f"There is no strategy {shown(self.strategy)}; there are {', '.join(Strategy)}."
            ) from error
        try:
            object.__setattr__(self, "remember", Remember(self.remember))
        except ValueError as error:
            raise InvalidParameter(
                f"'remember' must be one of {', '.join(Remember)}, not {shown(self.remember)}."
            ) from error
        least = LEAST_VIRTUAL if self.strategy is Strategy.VIRTUAL else 500
        warn = in_range("'warn_at'", self.warn_at, 0, 1)
        checked = {
            "budget": whole("The budget", self.budget, least, 1_000_000),
            "warn_at": warn,
            "evict_at": in_range("'evict_at'", self.evict_at, 0, 1),
            "window": whole("The window", self.window, 1, 10_000),
            "summary_frequency": whole("'summary_frequency'", self.summary_frequency, 1, 1000),
            "block_limit": whole("'block_limit'", self.block_limit, 100, 20_000),
            "most_calls": whole("'most_calls'", self.most_calls, 1, 100),
            "recalled": whole("'recalled'", self.recalled, 0, 50),
            "heartbeat": whole("'heartbeat'", self.heartbeat, 0, 10_080),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if not self.warn_at < self.evict_at:
            raise InvalidParameter("'evict_at' must be above 'warn_at', so that the model is warned first.")
        if not is_text(self.template) or len(self.template) > MAX_TEMPLATE:
            raise InvalidParameter(f"The template must be a text of at most {MAX_TEMPLATE:,} characters.")
        if self.template and TRANSCRIPT not in self.template:
            raise InvalidParameter(f"The template must hold {TRANSCRIPT}, which stands for what is to be summarised.")

    @property
    def block_room(self) -> int:
        """The most characters a block may really have: two of them must leave room for the talk in a small budget."""
        return max(100, min(self.block_limit, (self.budget - 1300) // 2))


def title_of(name: str, moment: datetime) -> str:
    """The title of a talk without one: whom it is with, and when it began."""
    return f"With {short(name, 150)}, {moment.day} {moment:%b %Y, %H:%M}"


def checked_settings(settings: object) -> TalkSettings:
    """The settings, the defaults for ``None``.

    Raises:
        InvalidParameter: they are not settings.
    """
    if settings is None:
        return TalkSettings()
    if not isinstance(settings, TalkSettings):
        raise InvalidParameter("The settings must be TalkSettings(strategy=..., budget=..., ...).")
    return settings


@dataclass(frozen=True)
class Blocks:
    """Core memory: texts in every prompt of the strategy ``virtual``, which the agent may edit."""

    persona: str = ""
    human: str = ""


@dataclass(frozen=True)
class Talk:
    """A conversation as it is.

    Args:
        id: of the conversation.
        title: what it is called.
        human: the name of the person the agent talks with.
        settings: its settings.
        blocks: core memory.
        summary: what was evicted, in words; empty before the first eviction.
        summarised: how many messages, from the first, the summary covers.
        queue: the messages that are in the prompt, oldest first.
        next_number: the number of the next message.
        warned: whether the model was warned of memory pressure since the last eviction.
        remembered: messages before this number have gone into a synopsis.
        noted: the number of the first message in the note that was taken last.
        scale: what an estimate of tokens is multiplied by: what the server counted, divided by what was estimated.
        ceiling: the most tokens in a prompt, learnt from a server that refused longer ones; 0 = not known.
        actions: what the agent could do in the game at the last step.
        others: the names of all with whom the agent talks, if there are several.
        paused_until: the world's time before which it has no heartbeat, at its own wish; ``None`` if it may have one.
    """

    id: str
    title: str = ""
    human: str = NOBODY
    settings: TalkSettings = field(default_factory=TalkSettings)
    blocks: Blocks = field(default_factory=Blocks)
    summary: str = ""
    summarised: int = 0
    queue: tuple[Message, ...] = ()
    next_number: int = 0
    warned: bool = False
    remembered: int = 0
    noted: int = 0
    scale: float = 1.0
    ceiling: int = 0
    actions: tuple[Action, ...] = ()
    others: tuple[str, ...] = ()
    paused_until: datetime | None = None

    @property
    def people(self) -> tuple[str, ...]:
        """The names of all with whom the agent talks."""
        return self.others or (self.human,)

    @property
    def budget(self) -> int:
        """The most tokens in a prompt: as set, or fewer if the server accepts no more."""
        return min(self.settings.budget, self.ceiling or self.settings.budget)

    @property
    def synopsis_id(self) -> str:
        """The id of the memory that its last synopsis became; empty before the first."""
        return f"synopsis-{self.id}-{self.remembered}" if self.remembered else ""
