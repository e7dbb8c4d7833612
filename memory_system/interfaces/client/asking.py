"""Asking an agent on a server: interviews, whispers, people, documents, and searches of what was said."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ...conversation import Step, TalkSettings
from ...conversation.context import Context
from ...conversation.documents import Loaded
from ...conversation.functions import Page
from ...conversation.people import Person, TrustPoint
from ...conversation.stepping import Told as Hearing
from ...conversation.stepping import untold
from ...conversation.talk import Message
from ...core.entry import MemoryEntry
from ...core.files import as_store_errors
from ...core.saved_interviews import Sitting
from ...errors import InvalidParameter, shown
from ...llm.base import Heard, unheard
from ...operations.context import Progress, no_progress
from ...operations.edit import listed
from ..serialize import RemoteChangeSet, read
from .agent import RemoteAgent
from .talking import RemoteConversation, answered
from .wire import long, present_fields, segment


class RemoteInterview:
    """A talk that leaves no trace; the server keeps it for an hour after the last question.

    Args:
        agent: whom one talks with.
        settings: how it is held.
        human: the name of whom the agent talks with.
        conversation: a conversation to go on from, as it is; its settings and name are used then.
    """

    def __init__(
        self,
        agent: RemoteAgent,
        settings: TalkSettings | None = None,
        *,
        human: str = "You",
        conversation: RemoteConversation | None = None,
    ) -> None:
        self.agent = agent
        self.transcript: tuple[Message, ...] = ()
        wire, of = agent.reached
        self._wire, self._path = wire, f"{of}/interview"
        self._begun = present_fields(settings=settings, human=human, conversation=conversation and conversation.id)

    def context(self, now: datetime | None = None) -> Context:
        """As ``Interview.context``."""
        return read(Context, self._wire.ask(f"{self._path}/context", self._begun | present_fields(now=now)))

    def step(
        self,
        text: str,
        *,
        now: datetime | None = None,
        heard: Heard = unheard,
        told: Hearing = untold,
        muted: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> Step:
        """As ``Interview.step``."""
        done = self._asked(text, now, heard, told, muted, without, keep=True)
        self.transcript += done.messages
        return done

    def ask_again(
        self, text: str, *, now: datetime | None = None, muted: Sequence[str] = (), without: Sequence[str] = ()
    ) -> Step:
        """As ``Interview.ask_again``: the talk stays as it is."""
        return self._asked(text, now, unheard, untold, muted, without, keep=False)

    def _asked(
        self,
        text: str,
        now: datetime | None,
        heard: Heard,
        told: Hearing,
        muted: Sequence[str],
        without: Sequence[str],
        *,
        keep: bool,
    ) -> Step:
        body = present_fields(text=text, now=now, muted=listed(muted), without=listed(without), keep=keep)
        done = answered(self._wire, self._path, self._begun | body, heard, told)
        self._begun = {"interview": done["interview"]}
        return read(Step, done)


def whisper(agent: RemoteAgent, text: str, *, now: datetime | None = None, preview: bool = False) -> RemoteChangeSet:
    """As ``memory_system.conversation.whisper``: plant a thought."""
    wire, of = agent.reached
    address = f"{of}/operations/whisper"
    return read(
        RemoteChangeSet, wire.write("POST", address, present_fields(text=text, now=now), preview=str(preview).lower())
    )


def people(agent: RemoteAgent) -> tuple[Person, ...]:
    """As ``memory_system.conversation.people``: everybody whom the agent knows."""
    wire, of = agent.reached
    return tuple(read(Person, item) for item in wire.get(f"{of}/people")["items"])


def describe_person(
    agent: RemoteAgent,
    name: str,
    text: str,
    *,
    trust: float | None = None,
    now: datetime | None = None,
    preview: bool = False,
) -> RemoteChangeSet:
    """As ``memory_system.conversation.describe_person``: write down what an agent knows of a person."""
    wire, of = agent.reached
    body = present_fields(name=name, text=text, trust=trust, now=now)
    address = f"{of}/operations/describe-person"
    return read(RemoteChangeSet, wire.write("POST", address, body, preview=str(preview).lower()))


def reflect_on_person(
    agent: RemoteAgent,
    name: str,
    *,
    now: datetime | None = None,
    preview: bool = False,
    progress: Progress = no_progress,
) -> RemoteChangeSet:
    """As ``memory_system.conversation.reflect_on_person``: think a person over."""
    wire, of = agent.reached
    address = f"{of}/operations/reflect-on-person"
    said = present_fields(preview=str(preview).lower())
    return read(RemoteChangeSet, long(wire, "POST", address, present_fields(name=name, now=now), progress, **said))


def trust_over_time(agent: RemoteAgent, person: str) -> tuple[TrustPoint, ...]:
    """As ``memory_system.conversation.trust_over_time``: how trust in a person went."""
    wire, of = agent.reached
    return tuple(read(TrustPoint, item) for item in wire.get(f"{of}/trust", person=person)["items"])


_PAGE = 5


def load_document(
    agent: RemoteAgent,
    source: str | Path | bytes,
    *,
    name: str | None = None,
    now: datetime | None = None,
    preview: bool = False,
    progress: Progress = no_progress,
) -> RemoteChangeSet:
    """As ``memory_system.conversation.load_document``; a file is read here, not on the server."""
    wire, of = agent.reached
    raw = source if isinstance(source, bytes) else _read(source)
    called = name if name is not None or isinstance(source, bytes) else Path(source).name
    if called is None:
        raise InvalidParameter("A document that comes as bytes needs a name, such as “cakes.pdf”.")
    said = present_fields(name=called, now=now, preview=str(preview).lower())
    return read(RemoteChangeSet, long(wire, "POST", f"{of}/documents", raw, progress, **said))


def documents(agent: RemoteAgent) -> tuple[Loaded, ...]:
    """The documents in an agent's archive, by name."""
    wire, of = agent.reached
    return tuple(read(Loaded, item) for item in wire.get(f"{of}/documents")["items"])


def passages(agent: RemoteAgent, document: str) -> tuple[MemoryEntry, ...]:
    """The passages of a document, in their order."""
    return tuple(read(MemoryEntry, page) for page in agent.pages(f"documents/{segment(document)}"))


def sittings(agent: RemoteAgent) -> tuple[Sitting, ...]:
    """The interviews that are kept, the oldest first."""
    wire, of = agent.reached
    return tuple(read(Sitting, item) for item in wire.get(f"{of}/interviews")["items"])


def memory_tool(agent: RemoteAgent) -> dict[str, Any]:
    """``memory_search`` as a tool in the form of OpenAI's chat completions."""
    wire, of = agent.reached
    tool: dict[str, Any] = wire.get(f"{of}/search")
    return tool


def remove_document(
    agent: RemoteAgent, document: str, *, now: datetime | None = None, preview: bool = False
) -> RemoteChangeSet:
    """As ``memory_system.conversation.remove_document``."""
    wire, of = agent.reached
    said = present_fields(now=now, preview=str(preview).lower())
    return read(RemoteChangeSet, wire.write("DELETE", f"{of}/documents/{segment(document)}", None, **said))


def conversation_search(
    agent: RemoteAgent,
    query: str,
    page: int = 0,
    *,
    conversation: str | None = None,
    at: datetime | None = None,
    size: int = _PAGE,
) -> Page:
    """As ``memory_system.conversation.conversation_search``."""
    return _found(agent, "conversations", query=query, page=page, conversation=conversation, at=at, size=size)


def conversation_search_date(
    agent: RemoteAgent,
    start: str | datetime,
    end: str | datetime,
    page: int = 0,
    *,
    conversation: str | None = None,
    at: datetime | None = None,
    size: int = _PAGE,
) -> Page:
    """As ``memory_system.conversation.conversation_search_date``."""
    return _found(agent, "dates", start=start, end=end, page=page, conversation=conversation, at=at, size=size)


def archival_search(
    agent: RemoteAgent, query: str, page: int = 0, *, at: datetime | None = None, size: int = _PAGE
) -> Page:
    """As ``memory_system.conversation.archival_search``."""
    return _found(agent, "archive", query=query, page=page, at=at, size=size)


def memory_search(
    agent: RemoteAgent,
    question: str,
    *,
    form: str = "extractive",
    top_k: int | None = None,
    within: Collection[str] | None = None,
    touch: bool = False,
) -> dict[str, Any]:
    """What ``memory_system.conversation.memory_search`` finds, as plain values: ``text``, ``sources``, ``passages``."""
    wire, of = agent.reached
    asked = present_fields(
        query=question, form=form, top_k=top_k, within=None if within is None else list(within), touch=touch
    )
    answer: dict[str, Any] = wire.ask(f"{of}/search", asked)
    return answer


def _found(agent: RemoteAgent, where: str, **asked: Any) -> Page:
    wire, of = agent.reached
    return read(Page, wire.get(f"{of}/search/{where}", **present_fields(**asked)))


def _read(source: str | Path) -> bytes:
    with as_store_errors(f"The document {shown(str(source))}"):
        return Path(source).read_bytes()
