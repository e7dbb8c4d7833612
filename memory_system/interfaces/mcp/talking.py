"""The tools of talking for MCP clients: MemGPT's functions on the client's own conversation, and a talk with the agent.

Each client has one conversation with each agent, found by the client's name for itself. What it writes there is a
change set like any other; reading does not begin a conversation.

The forms for talking over MCP, for core memory, and for searches.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from itertools import count
from typing import Annotated, Any, Literal, TypedDict

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from ...agent import AgentMemory
from ...conversation.actions import HEARTBEAT, cut
from ...conversation.conversation import Conversation
from ...conversation.external import AgentExternal
from ...conversation.functions import Functions, Page
from ...conversation.noting import note
from ...conversation.playing import ARCHIVAL, first_blocks
from ...conversation.searching import archival_search, conversation_search, conversation_search_date
from ...conversation.stepping import Told
from ...conversation.steps import Step
from ...conversation.storage import conversations
from ...conversation.talk import Blocks, Talk, TalkSettings
from ...core.authors import authored_by
from ...core.change_set import counted
from ...core.entry import MAX_DOCUMENT
from ...errors import InvalidEntry, InvalidParameter, ModelError
from ...llm.base import Heard, ToolCall
from .forms import Nothing, Stored
from .remembering import stored
from .tool import Answer, Arguments, Caller, Cue, Tool

Message = Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]
Heartbeat = Annotated[bool, Field(description="Taken for the sake of MemGPT's schema; you decide when to go on.")]


class TalkArguments(Arguments):
    """What is said."""

    message: Message = Field(description="What you say to the character.")


class Used(BaseModel):
    """A function that the character called while it thought, and what it got."""

    name: str
    arguments: str
    result: str
    milliseconds: float


class Talked(Answer):
    """The answer, the functions that were called on the way, and the change in the history."""

    answer: str
    functions: list[Used]
    recalled: list[str]
    conversation: str
    revision: int | None
    notes: list[str]

    def as_text(self) -> str:
        """The answer; or that there is none if the character stays silent."""
        return "\n".join([self.answer or "(silence)", *(f"({note})" for note in self.notes)])


class SendArguments(Arguments):
    """What was said to the other one, and what the other one had said."""

    message: Message = Field(description="What you say to the other one.")
    heard: str = Field("", max_length=MAX_DOCUMENT, description="What the other one had said before, word for word.")
    request_heartbeat: Heartbeat = False


class Sent(Answer):
    """How many messages the conversation holds, and the change in the history."""

    conversation: str
    messages: int
    revision: int | None

    def as_text(self) -> str:
        """A sentence that it is kept."""
        return f"Kept; the conversation holds {counted(self.messages, 'message')} (revision {self.revision})."


class AppendArguments(Arguments):
    """A block of core memory, and what to add."""

    name: Literal["persona", "human"] = Field(description="The block: 'persona' is about you, 'human' the other one.")
    content: str = Field(max_length=MAX_DOCUMENT, description="What to add, on a line of its own.")
    request_heartbeat: Heartbeat = False


class ReplaceArguments(Arguments):
    """A block of core memory, and which of its words are to be others."""

    name: Literal["persona", "human"] = Field(description="The block: 'persona' is about you, 'human' the other one.")
    old_content: str = Field(max_length=MAX_DOCUMENT, description="The exact text to replace.")
    new_content: str = Field(max_length=MAX_DOCUMENT, description="What stands there instead; empty to delete.")
    request_heartbeat: Heartbeat = False


class Core(Answer):
    """Core memory as it is now; ``room`` is how many characters each block may have."""

    persona: str
    human: str
    room: int
    revision: int | None

    def as_text(self) -> str:
        """Both blocks as JSON, so that neither can pass for the other."""
        return json.dumps({"persona": self.persona, "human": self.human}, ensure_ascii=False, indent=1)


class QueryArguments(Arguments):
    """What to look for, page by page."""

    query: Cue = Field(description="What to look for.")
    page: int = Field(0, ge=0, le=10**6, description="Which page of the results, from 0.")
    request_heartbeat: Heartbeat = False


class DateArguments(Arguments):
    """Between which dates."""

    start_date: Annotated[str, StringConstraints(max_length=100)] = Field(description="ISO 8601, such as 2026-03-27.")
    end_date: Annotated[str, StringConstraints(max_length=100)] = Field(description="ISO 8601, such as 2026-03-28.")
    page: int = Field(0, ge=0, le=10**6, description="Which page of the results, from 0.")
    request_heartbeat: Heartbeat = False


class InsertArguments(Arguments):
    """What to remember."""

    content: Message = Field(description="The event, in words.")
    request_heartbeat: Heartbeat = False


class Result(BaseModel):
    """One thing that was found: what it says, when it was said or happened, and who said it or where it is.

    ``score`` says how well it answers, and is comparable within its own kind of source only.
    """

    id: str
    text: str
    when: AwareDatetime | None
    source: str
    score: float


class Results(Answer):
    """One page of what was found, of ``total`` in all; pages count from 0."""

    results: list[Result]
    page: int
    pages: int
    total: int

    def as_text(self) -> str:
        """What was found, one per line."""
        if not self.results:
            return f"Nothing was found on page {self.page} of {self.pages}."
        lines = [
            f"- [{result.when.isoformat() if result.when else 'always'}; {result.source}] {result.text}"
            for result in self.results
        ]
        head = f"{len(self.results)} of {self.total} results, page {self.page} of 0 to {self.pages - 1}."
        return "\n".join([head, *lines])


_TURN = "conversation"
_RESULT_ROOM = 20_000
"""The most characters in the results of one search."""


class _Listening(TypedDict):
    """The callbacks that follow a step."""

    heard: Heard
    told: Told


def _talk(caller: Caller, agent: AgentMemory, arguments: TalkArguments) -> Talked:
    _refuse_empty(arguments.message)
    conversation = _own(caller, agent)
    return _talked(conversation, conversation.step(arguments.message, **_listening(caller)), "What you said")


def _heartbeat(caller: Caller, agent: AgentMemory, _given: Nothing) -> Talked:
    conversation = _own(caller, agent)
    return _talked(conversation, conversation.heartbeat(**_listening(caller)), "The heartbeat")


def _listening(caller: Caller) -> _Listening:
    """Callbacks that report function calls to the client, as progress with no known end, and end a cancelled call."""
    counted = count(1)
    return {
        "heard": lambda _piece: caller.still_wanted(),
        "told": lambda run: caller.progress(1 - 1 / (next(counted) + 1), f"Called {run.name}"),
    }


def _talked(conversation: Conversation, step: Step, what: str) -> Talked:
    revision = step.change_set.revision if step.change_set else None
    if step.problem:
        raise ModelError(f"{step.problem} {what} is kept, as revision {revision}.")
    return Talked(
        answer=step.answer,
        functions=[
            Used(
                name=function.name,
                arguments=function.arguments,
                result=function.result,
                milliseconds=function.milliseconds,
            )
            for function in step.functions
        ],
        recalled=[hit.entry.id for hit in step.recalled],
        conversation=conversation.id,
        revision=revision,
        notes=list(step.notes),
    )


def _send(caller: Caller, agent: AgentMemory, arguments: SendArguments) -> Sent:
    _refuse_empty(arguments.message)
    conversation = _own(caller, agent)
    done = note(conversation, heard=arguments.heard, said=arguments.message)
    return Sent(conversation=conversation.id, messages=conversation.head.next_number, revision=done.revision)


def _core(caller: Caller, agent: AgentMemory, _given: Nothing) -> Core:
    talk = _own_talk(caller, agent) or _fresh(agent)
    return _core_of(talk.blocks, talk.settings.block_room, None)


def _edit(function: str, edit: AppendArguments | ReplaceArguments, caller: Caller, agent: AgentMemory) -> Core:
    talk = _own_talk(caller, agent) or _fresh(agent)
    room = talk.settings.block_room
    arguments = json.dumps(edit.model_dump(exclude={HEARTBEAT}))
    run = Functions(AgentExternal(agent, agent.now), room, _RESULT_ROOM).run(
        ToolCall("mcp", function, arguments), talk.blocks
    )
    if run.failed:
        raise InvalidParameter(str(_read(run.result)["message"]))
    done = _own(caller, agent).edit_core(edit.name, getattr(run.blocks, edit.name))
    return _core_of(run.blocks, room, done.revision)


def _append(caller: Caller, agent: AgentMemory, arguments: AppendArguments) -> Core:
    return _edit("core_memory_append", arguments, caller, agent)


def _replace(caller: Caller, agent: AgentMemory, arguments: ReplaceArguments) -> Core:
    return _edit("core_memory_replace", arguments, caller, agent)


def _search(_caller: Caller, agent: AgentMemory, arguments: QueryArguments) -> Results:
    return _page(conversation_search(agent, arguments.query, arguments.page))


def _search_dates(_caller: Caller, agent: AgentMemory, arguments: DateArguments) -> Results:
    return _page(conversation_search_date(agent, arguments.start_date, arguments.end_date, arguments.page))


def _archive(_caller: Caller, agent: AgentMemory, arguments: QueryArguments) -> Results:
    return _page(archival_search(agent, arguments.query, arguments.page))


def _insert(_caller: Caller, agent: AgentMemory, arguments: InsertArguments) -> Stored:
    return stored(agent.add_short_term({"document": arguments.content, "tags": (ARCHIVAL,)}))


def _title(caller: Caller) -> str:
    return authored_by("Over MCP:", caller.client) if caller.client else "Over MCP"


def _own_talk(caller: Caller, agent: AgentMemory) -> Talk | None:
    """The client's own conversation with an agent, without its messages; ``None`` before the first."""
    title = _title(caller)
    conversation_id = next((listed.id for listed in conversations(agent) if listed.title == title), None)
    return None if conversation_id is None else Conversation.open(agent, conversation_id).head


def _fresh(agent: AgentMemory) -> Talk:
    """A conversation as it would begin."""
    talk = Talk("", settings=TalkSettings())
    return dataclasses.replace(talk, blocks=first_blocks(agent, talk, None, None))


def _refuse_empty(message: str) -> None:
    """Raise if nothing is said, before a conversation is begun."""
    if not message.strip():
        raise InvalidEntry("The message is empty: say something.")


def _own(caller: Caller, agent: AgentMemory) -> Conversation:
    """The client's own conversation with an agent, begun if there is none."""
    talk = _own_talk(caller, agent)
    if talk is not None:
        return Conversation.open(agent, talk.id)
    return Conversation.begin(agent, title=_title(caller))


def _core_of(blocks: Blocks, room: int, revision: int | None) -> Core:
    return Core(persona=blocks.persona, human=blocks.human, room=room, revision=revision)


def _read(result: str) -> Mapping[str, Any]:
    answer: Mapping[str, Any] = json.loads(result)
    return answer


def _page(page: Page) -> Results:
    share = _RESULT_ROOM // max(1, len(page.found))
    return Results(
        results=[
            Result(id=hit.entry_id, text=cut(hit.text, share), when=hit.when, source=hit.source, score=hit.score)
            for hit in page.found
        ],
        page=page.number,
        pages=-(-page.total // page.size),
        total=page.total,
    )


TALK_TOOLS = (
    Tool(
        "talk",
        "Talk with the character",
        "Say something to the character and hear its answer; it thinks with its own model and its own memory. What is "
        "said is kept in your conversation with it.",
        TalkArguments,
        Talked,
        _talk,
        turn=_TURN,
    ),
    Tool(
        "heartbeat",
        "Let the character speak unprompted",
        "Say nothing: the character may open your conversation with it, go on by itself, or stay silent, in which case "
        "its answer is empty.",
        Nothing,
        Talked,
        _heartbeat,
        turn=_TURN,
    ),
    Tool(
        "core_memory",
        "Read core memory",
        "The two blocks that should always stand in your prompt: 'persona', who you are, and 'human', whom you talk "
        "with.",
        Nothing,
        Core,
        _core,
        looks=True,
    ),
    Tool(
        "core_memory_append",
        "Add to core memory",
        "Add a line to a block of core memory.",
        AppendArguments,
        Core,
        _append,
        turn=_TURN,
    ),
    Tool(
        "core_memory_replace",
        "Rewrite core memory",
        "Replace exact text in a block of core memory, such as a name that was wrong.",
        ReplaceArguments,
        Core,
        _replace,
        turn=_TURN,
    ),
    Tool(
        "send_message",
        "Say something",
        "Keep in the conversation what you say to the other one, and what the other one had said, so that "
        "conversation_search finds it again.",
        SendArguments,
        Sent,
        _send,
        turn=_TURN,
    ),
    Tool(
        "conversation_search",
        "Search conversations",
        "Search all that was ever said, by words and meaning.",
        QueryArguments,
        Results,
        _search,
        looks=True,
    ),
    Tool(
        "conversation_search_date",
        "Search conversations by date",
        "What was said between two dates.",
        DateArguments,
        Results,
        _search_dates,
        looks=True,
    ),
    Tool(
        "archival_memory_insert",
        "Store an event",
        "Remember an event, in short-term memory as any other.",
        InsertArguments,
        Stored,
        _insert,
    ),
    Tool(
        "archival_memory_search",
        "Search life and documents",
        "Search the agent's life and the documents that were loaded for it.",
        QueryArguments,
        Results,
        _archive,
        looks=True,
    ),
)
"""MemGPT's functions by their known names; ``request_heartbeat`` is ignored: clients go on by themselves."""
