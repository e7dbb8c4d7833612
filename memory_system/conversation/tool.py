"""Memory as a tool: ``memory_search``, for any agent that may call functions.

It has two forms, after Haystack's memory tools: *extractive*, the most relevant passages with the best sentence of
each marked, their source and score; and *summarising*, one text with its sources. It is a plain Python function
(``memory_search``), a tool in OpenAI's form (``MemoryTool.definition`` and ``MemoryTool.call``), and a tool of the MCP
server.

The transcript of tools: what a model asked of them and what it got, kept apart from every memory.

An agent that thinks with tools leaves more behind than what was said. None of it is a memory: it is kept here, for as
long as its owner keeps it, is never searched, and nothing of it reaches STM, LTM or a conversation.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from ..core.scoring import whole
from ..errors import InvalidParameter, MemorySystemError, ModelError, shown, there_is_no
from ..operations.narrative import Narrative
from ..recall.query import checked_cue
from .gathering import Remembering, Where, gather
from .passages import Hit, Passage, passages


@dataclass(frozen=True)
class ToolUse:
    """One use of a tool.

    Args:
        name: the name of the tool.
        arguments: as the model wrote them.
        result: the text that the model got.
        failed: whether that text is an error message.
        milliseconds: how long it took.
    """

    name: str
    arguments: str
    result: str
    failed: bool
    milliseconds: float


class ToolTranscript:
    """The last uses of one or several tools, the oldest first. Thread-safe.

    Args:
        room: how many uses are kept, at least 1; the oldest are dropped first.
    """

    def __init__(self, room: int = 1000) -> None:
        self._uses: deque[ToolUse] = deque(maxlen=max(1, room))
        self._lock = threading.Lock()

    def add(self, use: ToolUse) -> None:
        """Add one more use."""
        with self._lock:
            self._uses.append(use)

    def __iter__(self) -> Iterator[ToolUse]:
        with self._lock:
            return iter(tuple(self._uses))

    def __len__(self) -> int:
        return len(self._uses)

    def __str__(self) -> str:
        """Each use with its result, as readable text."""
        return "\n".join(f"{use.name}({use.arguments})\n  {use.result}" for use in self)


NAME = "memory_search"
MOST = 50
"""How many passages one search returns at most."""


class Form(StrEnum):
    """The form of an answer."""

    EXTRACTIVE = "extractive"
    """The most relevant passages, word for word."""
    SUMMARISING = "summarising"
    """One text with its sources."""


@dataclass(frozen=True)
class Found:
    """What a search of memory found.

    Args:
        question: what was asked.
        form: the form of the answer; see ``note``.
        passages: the most relevant first.
        narrative: the text of the form ``summarising``, sentence by sentence with the ids it rests on.
        hits: where the passages come from, in the same order.
        note: what did not work, in a sentence; empty if everything did.
    """

    question: str
    form: Form
    passages: tuple[Passage, ...]
    narrative: Narrative | None
    hits: tuple[Hit, ...]
    note: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of the memories that the answer rests on."""
        if self.narrative is None:
            return tuple(passage.id for passage in self.passages)
        return tuple(dict.fromkeys(entry_id for sentence in self.narrative.sentences for entry_id in sentence.ids))

    @property
    def summary(self) -> str:
        """The text of the form ``summarising``, with the numbers of its sources in brackets; else empty."""
        if self.narrative is None:
            return ""
        if not self.narrative.sentences:
            return self.narrative.text
        number = {entry_id: at for at, entry_id in enumerate(self.sources, start=1)}
        return " ".join(
            f"{sentence.text} {''.join(f'[{number[entry_id]}]' for entry_id in sentence.ids)}"
            for sentence in self.narrative.sentences
        )

    @property
    def text(self) -> str:
        """The answer as a model reads it."""
        if self.narrative is not None:
            whence = {passage.id: passage.source for passage in self.passages}
            listed = [f"[{at}] {whence[entry_id]}; id {entry_id}" for at, entry_id in enumerate(self.sources, start=1)]
            byline = [f"Told by {self.narrative.told_by}."] if self.narrative.told_by else []
            return "\n".join([self.summary, *(["Sources:", *listed] if listed else []), *byline])
        notes = [self.note] if self.note else []
        if not self.passages:
            return "\n".join([*notes, "Nothing in memory answers this. Ask in other words, or about something else."])
        head = "The most relevant passages, word for word; the sentence that answers best stands in [[ ]]."
        lines = [
            f"{at}. {passage.marked}\n   ({passage.source}; relevancy {passage.relevancy:.2f}, "
            f"score {passage.score:.2f}; id {passage.id})"
            for at, passage in enumerate(self.passages, start=1)
        ]
        return "\n".join([*notes, head, *lines])


def memory_search(
    agent: Remembering,
    question: str,
    *,
    form: Form | str = Form.EXTRACTIVE,
    top_k: int | None = None,
    within: Collection[Where | str] = tuple(Where),
    touch: bool = False,
    now: datetime | None = None,
) -> Found:
    """The answer of an agent's memory to a question: from its life, its conversations, and its documents.

    See ``gathering`` for what counts. If the language model fails to write the text, the passages are returned, and
    ``note`` says why.

    Args:
        agent: whose memory; also as it was at a moment (``as_of``).
        question: 1 to 32,000 characters.
        form: ``extractive`` or ``summarising``.
        top_k: most memories to use, 1 to 50; the agent's setting if not given.
        within: where to search: ``life``, ``conversations``, ``documents``; everywhere if not given.
        touch: whether memories found in its life count as accessed now, which renews their recency.
        now: the world's time.

    Raises:
        InvalidParameter: the question is empty or too long, or another parameter is not as described.
    """
    try:
        style = Form(form)
    except ValueError as error:
        raise InvalidParameter(there_is_no("form", form, Form)) from error
    where = _places(within)
    if not isinstance(touch, bool):
        raise InvalidParameter(f"'touch' must be true or false, not {shown(touch)}.")
    cue = checked_cue(question)
    most = min(max(agent.settings.top_k, 1), MOST) if top_k is None else whole("top_k", top_k, 1, MOST)
    hits = gather(agent, cue, most, where, now)
    if touch and agent.read_only is None:
        agent.touch([hit.entry.id for hit in hits], now=now)
    found = passages(cue, hits, agent.embedder, agent.now if now is None else now)
    if style is Form.EXTRACTIVE:
        return Found(cue, style, found, None, hits)
    try:
        return Found(cue, style, found, agent.narrate(cue, [hit.told for hit in hits]), hits)
    except ModelError as error:
        note = f"No summary could be made: {error.sentence} These are the passages instead."
        return Found(cue, style, found, None, hits, note)


def _places(within: object) -> frozenset[Where]:
    listed = [within] if isinstance(within, str) else within
    if not isinstance(listed, Collection) or not listed or any(place not in tuple(Where) for place in listed):
        raise InvalidParameter(f"'within' must be a list of one or more of {', '.join(Where)}, not {shown(within)}.")
    return frozenset(Where(place) for place in listed)


class MemoryTool:
    """``memory_search`` over one agent's memory, as a tool for a model that can call tools. Thread-safe.

    Args:
        agent: whose memory.
        form: the form of the answer, if the model does not choose.
        top_k: most memories to use, 1 to 50, if the model does not choose; the agent's setting if not given.
        within: where to search; see ``memory_search``.
        touch: whether memories found in its life count as accessed, which renews their recency.
        transcript: where its uses are recorded, apart from the memory; one of its own if not given.

    Raises:
        InvalidParameter: one is not as described.
    """

    def __init__(
        self,
        agent: Remembering,
        *,
        form: Form | str = Form.EXTRACTIVE,
        top_k: int | None = None,
        within: Collection[Where | str] = tuple(Where),
        touch: bool = False,
        transcript: ToolTranscript | None = None,
    ) -> None:
        if form not in tuple(Form):
            raise InvalidParameter(there_is_no("form", form, Form))
        self.agent = agent
        self.form = Form(form)
        self.top_k = None if top_k is None else whole("top_k", top_k, 1, MOST)
        self.within = _places(within)
        self.touch = touch
        self.transcript = ToolTranscript() if transcript is None else transcript

    def definition(self) -> dict[str, Any]:
        """The tool in the form of OpenAI's chat completions, for ``tools=[...]``."""
        who = self.agent.display_name
        return {
            "type": "function",
            "function": {
                "name": NAME,
                "description": (
                    f"Search the memory of {who} for what answers a question. 'extractive' answers the most relevant "
                    "passages word for word, with the best sentence of each marked; 'summarising' answers one text "
                    "that names its sources."
                ),
                "parameters": {
                    "type": "object",
                    "properties": {
                        "query": {"type": "string", "description": "The question, in a sentence or a few words."},
                        "form": {
                            "type": "string",
                            "enum": list(Form),
                            "description": f"The form of the answer; {self.form.value} if not given.",
                        },
                        "top_k": {
                            "type": "integer",
                            "minimum": 1,
                            "maximum": MOST,
                            "description": "How many memories to answer from, at most.",
                        },
                    },
                    "required": ["query"],
                    "additionalProperties": False,
                },
            },
        }

    def __call__(self, query: str, form: Form | str | None = None, top_k: int | None = None) -> str:
        """The answer as a text.

        Raises:
            InvalidParameter: see ``memory_search``.
        """
        found = memory_search(
            self.agent,
            query,
            form=self.form if form is None else form,
            top_k=self.top_k if top_k is None else top_k,
            within=self.within,
            touch=self.touch,
        )
        return found.text

    def call(self, arguments: str | Mapping[str, Any]) -> str:
        """The answer to a model's call, recorded in ``transcript``; if the call is wrong, the answer says how.

        Args:
            arguments: the JSON text as the model wrote it, or its parsed value.
        """
        started = time.perf_counter()
        written = arguments if isinstance(arguments, str) else _written(arguments)
        try:
            result, failed = self(**_checked(arguments)), False
        except MemorySystemError as error:
            result, failed = error.sentence, True
        self.transcript.add(ToolUse(NAME, written, result, failed, (time.perf_counter() - started) * 1000))
        return result


def _written(arguments: object) -> str:
    """Arguments that did not come as text, as the transcript records them."""
    if not isinstance(arguments, Mapping):
        return str(arguments)
    return json.dumps({str(name): value for name, value in arguments.items()}, default=str)


def _checked(arguments: str | Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name.

    Raises:
        InvalidParameter: they are not a JSON object, lack the query, or name something unknown.
    """
    try:
        values = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError) as error:
        raise InvalidParameter(f"The arguments of {NAME} are not JSON: {str(error)[:100]}.") from error
    if not isinstance(values, Mapping):
        raise InvalidParameter(f'The arguments of {NAME} must be a JSON object, like {{"query": "..."}}.')
    if unknown := [name for name in values if name not in ("query", "form", "top_k")]:
        raise InvalidParameter(f"{NAME} has no argument {shown(unknown[0])}; there are query, form and top_k.")
    if "query" not in values:
        raise InvalidParameter(f"{NAME} needs the argument 'query': what to look for.")
    return dict(values)
