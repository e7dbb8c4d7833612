"""Reads: conversations, interviews and documents, and searches of them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import AwareDatetime, Field, StringConstraints

from ...agent import AgentMemory
from ...conversation import Conversation, MemoryTool, archival_search, conversation_search, conversation_search_date
from ...conversation import memory_search as searched
from ...conversation.comparing import Lines
from ...conversation.context import Context
from ...conversation.documents import Loaded, documents, passages
from ...conversation.functions import Page
from ...conversation.gathering import Where
from ...conversation.interview import sittings
from ...conversation.people import Person, TrustPoint, people, trust_over_time
from ...conversation.replaying import Replay
from ...conversation.storage import Listed, conversations, loaded
from ...conversation.talk import Message, Talk
from ...conversation.tool import Found
from ...core.kinds import MAX_ID
from ...core.saved_interviews import Sitting
from ...operations.importing.turns import MAX_SPEAKER
from ...recall.query import MAX_CUE
from .. import cursors
from ..forms import (
    Id,
    Says,
    SearchBody,
)
from ..serialize import Json, Shape, items, pages
from .memories import ENTRIES
from .read import Form, OfTime, Read, Some, page


class OfTalk(Form):
    """A conversation."""

    conversation: Annotated[Id, Says("The conversation's id.")]


class OfTalkHead(OfTalk):
    """A conversation, and whether its messages are wanted."""

    queue: Annotated[bool, Says("With the messages that its strategy shows.")] = False


class OfMessages(OfTalk):
    """Which messages."""

    start: Annotated[Annotated[int, Field(ge=-(2**31), le=2**31)], Says("Below 0 it counts from the end.")] = 0
    limit: Annotated[Annotated[int, Field(ge=1, le=10_000)], Says("How many at most.")] = 100
    cursor: Annotated[
        Annotated[str, StringConstraints(max_length=cursors.MAX_CURSOR)] | None, Says("The 'next' of the page before.")
    ] = None


class OfPerson(Form):
    """A person whom the agent knows."""

    person: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=MAX_SPEAKER)],
        Says("The name by which the agent knows them."),
    ]


class OfContext(OfTalk, OfTime):
    """A conversation, and when."""


class OfReplay(OfTalk):
    """A step of a conversation."""

    revision: Annotated[Annotated[int, Field(ge=1, le=2**62)] | None, Says("Of the step; the last if not given.")] = (
        None
    )


class OfDocument(Some):
    """A document."""

    document: Annotated[Id, Says("The document's id.")]


class OfPage(Form):
    """Which page of what was found."""

    page: Annotated[Annotated[int, Field(ge=0, le=10**9)], Says("Which page, from 0.")] = 0
    size: Annotated[Annotated[int, Field(ge=1, le=100)], Says("Results on a page.")] = 5
    at: Annotated[AwareDatetime | None, Says("What had been said by this time.")] = None


class OfArchive(OfPage):
    """What is looked for."""

    query: Annotated[Annotated[str, StringConstraints(min_length=1, max_length=MAX_CUE)], Says("What is looked for.")]


_AMONG = Says("One conversation by its id; all if not given.")


_Among = Annotated[str, StringConstraints(max_length=MAX_ID)]


_Date = Annotated[str, StringConstraints(min_length=1, max_length=60)]


class OfSaid(OfArchive):
    """What is looked for, and in which conversation."""

    conversation: Annotated[_Among | None, _AMONG] = None


class OfDates(OfPage):
    """Between which dates."""

    start: Annotated[_Date, Says("A date such as 2026-03-27, or a time.")]
    end: Annotated[_Date, Says("A date such as 2026-03-27, or a time.")]
    conversation: Annotated[_Among | None, _AMONG] = None


_TOOL = Shape(
    "ToolTold",
    "``memory_search`` as a tool in the form of OpenAI's chat completions.",
    {"type": str, "function": dict[str, object]},
)


def _messages(agent: AgentMemory, form: OfMessages) -> Json:
    talk, of = Conversation.open(agent, form.conversation), f"messages of {agent.name} in {form.conversation}"
    first = form.start if form.cursor is None else cursors.number_after(of, form.cursor)
    found = talk.messages(first, form.limit)
    end = found[-1].number + 1 if found else 0
    more = found and end < talk.head.next_number
    return {"items": found, "next": cursors.cursor(of, end) if more else None}


def _searched(agent: AgentMemory, form: SearchBody) -> Found:
    within = tuple(Where) if form.within is None else form.within
    return searched(agent, form.query, form=form.form, top_k=form.top_k, within=within, touch=form.touch)


_of_talks = partial(Read, tag="conversations")
"""A read of conversations."""


_search = partial(Read, tag="searches")
"""A read that searches."""

READS = (
    _of_talks(
        "conversations",
        "Conversations",
        "The agent's conversations, the one in which something was said last first.",
        Form,
        lambda agent, _form: {"items": conversations(agent)},
        items("Conversations", "An agent's conversations, the one in which something was said last first.", Listed),
        "conversations",
        call="conversation.Conversation.all",
    ),
    _of_talks(
        "conversation",
        "A conversation",
        "The state of a conversation: settings, core memory, summary.",
        OfTalkHead,
        lambda agent, form: loaded(agent, form.conversation, queue=form.queue),
        Talk,
        "conversations/{conversation}",
        "talk-1",
        call="conversation.Conversation.head",
    ),
    _of_talks(
        "messages",
        "Messages of a conversation",
        "Messages by number, the oldest first, function calls and their results included.",
        OfMessages,
        _messages,
        pages(
            "Messages",
            "Messages by number, the oldest first; ``next`` is the cursor of those after them, ``null`` at the end.",
            Message,
        ),
        "conversations/{conversation}/messages",
        "talk-1 --start -20",
        call="conversation.Conversation.messages",
    ),
    _of_talks(
        "context",
        "The prompt of a conversation",
        "What is in the prompt right now, section by section, before a message.",
        OfContext,
        lambda agent, form: Conversation.open(agent, form.conversation).context(form.now),
        Context,
        "conversations/{conversation}/context",
        "talk-1",
        call="conversation.Conversation.context",
    ),
    _of_talks(
        "lines",
        "What was said in a conversation",
        "The last 200 lines that were said to the agent, each once, and how they query memory.",
        OfTalk,
        lambda agent, form: Conversation.open(agent, form.conversation).lines(),
        Lines,
        "conversations/{conversation}/lines",
        "talk-1",
        call="conversation.Conversation.lines",
    ),
    _of_talks(
        "replay",
        "Replay a step",
        "Replay a step without the model, on the memory as it was then; nothing is changed.",
        OfReplay,
        lambda agent, form: Conversation.open(agent, form.conversation).replay(form.revision),
        Replay,
        "conversations/{conversation}/replay",
        "talk-1 --revision 12",
        slow=True,
        call="conversation.Conversation.replay",
    ),
    _of_talks(
        "people",
        "Whom an agent knows",
        "Everybody whom the agent knows, by its personality or from talks, with what it knows of them.",
        Form,
        lambda agent, _form: {"items": people(agent)},
        items("People", "Everybody whom an agent knows: whom it talked with last first.", Person),
        "people",
        call="conversation.people",
    ),
    _of_talks(
        "trust",
        "Trust over time",
        "How far the agent trusted a person, 0 to 1, change by change, with the reasons and the ids of the evidence.",
        OfPerson,
        lambda agent, form: {"items": trust_over_time(agent, form.person)},
        items(
            "Trust", "How trust in a person developed, the oldest change first; an undo is a change, too.", TrustPoint
        ),
        "trust",
        "'Tobias Finch'",
        call="conversation.trust_over_time",
        nothing="There is no record of trust in a person of this name.",
    ),
    _of_talks(
        "interviews",
        "Saved interviews",
        "The interviews that are kept, the oldest first.",
        Form,
        lambda agent, _form: {"items": sittings(agent)},
        items("Sittings", "The interviews that are kept, the oldest first.", Sitting),
        "interviews",
        call="conversation.sittings",
    ),
    Read(
        "documents",
        "Documents",
        "The documents in the agent's archive, by name.",
        Form,
        lambda agent, _form: {"items": documents(agent)},
        items("Documents", "The documents in an agent's archive, by name.", Loaded),
        "documents",
        tag="documents",
        call="conversation.documents",
    ),
    Read(
        "passages",
        "Passages of a document",
        "The passages of a document, in their order.",
        OfDocument,
        lambda agent, form: page(f"passages of {form.document} of {agent.name}", passages(agent, form.document), form),
        ENTRIES,
        "documents/{document}",
        "document-1",
        tag="documents",
        call="conversation.passages",
    ),
    _search(
        "search-conversations",
        "Search conversations",
        "What was said in conversations that answers a query, by text and meaning, the best first.",
        OfSaid,
        lambda agent, form: conversation_search(
            agent, form.query, form.page, conversation=form.conversation, at=form.at, size=form.size
        ),
        Page,
        "search/conversations",
        "'the key'",
        tool="conversation_search",
        call="conversation.conversation_search",
    ),
    _search(
        "search-dates",
        "Search conversations by date",
        "What was said between two dates or times, both included, the oldest first.",
        OfDates,
        lambda agent, form: conversation_search_date(
            agent, form.start, form.end, form.page, conversation=form.conversation, at=form.at, size=form.size
        ),
        Page,
        "search/dates",
        "2026-03-27 2026-03-28",
        tool="conversation_search_date",
        call="conversation.conversation_search_date",
    ),
    _search(
        "search-archive",
        "Search life and documents",
        "What in the agent's life and documents answers a query, the best first.",
        OfArchive,
        lambda agent, form: archival_search(agent, form.query, form.page, at=form.at, size=form.size),
        Page,
        "search/archive",
        "'the key'",
        tool="archival_memory_search",
        call="conversation.archival_search",
    ),
    _search(
        "search-tool",
        "Memory search as a tool",
        "``memory_search`` as a tool in the form of OpenAI's chat completions, for ``tools=[...]``.",
        Form,
        lambda agent, _form: MemoryTool(agent).definition(),
        _TOOL,
        "search",
        call="conversation.memory_tool",
    ),
    _search(
        "search",
        "Search memory",
        "What memory holds to answer a question: a call of that tool. With ``touch`` it counts as accessed.",
        SearchBody,
        _searched,
        Found,
        "search",
        "'Who has the key?' --form summarising",
        asks=True,
        slow=True,
        tool="memory_search",
        call="conversation.memory_search",
    ),
)
