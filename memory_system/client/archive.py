"""Documents of an agent on a server, and searches of what was said, lived and loaded."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any

from ..consolidation.ground import Progress
from ..conversation.documents import Loaded
from ..conversation.functions import Page
from ..errors import InvalidParameter
from ..files import as_store_errors
from ..reader import no_progress
from . import reading
from .agent import RemoteAgent
from .reading import RemoteChangeSet
from .sending import given
from .wire import long, segment

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
    said = given(name=called, now=now, preview=str(preview).lower())
    return reading.change_set(long(wire, "POST", f"{of}/documents", raw, progress, **said))


def documents(agent: RemoteAgent) -> tuple[Loaded, ...]:
    """The documents in an agent's archive, by name."""
    wire, of = agent.reached
    return tuple(reading.value(Loaded, one) for one in wire.get(f"{of}/documents")["items"])


def remove_document(
    agent: RemoteAgent, document: str, *, now: datetime | None = None, preview: bool = False
) -> RemoteChangeSet:
    """As ``memory_system.conversation.remove_document``."""
    wire, of = agent.reached
    said = given(now=now, preview=str(preview).lower())
    return reading.change_set(wire.write("DELETE", f"{of}/documents/{segment(document)}", None, **said))


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
    asked = given(query=question, form=form, top_k=top_k, within=None if within is None else list(within), touch=touch)
    told: dict[str, Any] = wire.ask(f"{of}/search", asked)
    return told


def _found(agent: RemoteAgent, where: str, **asked: Any) -> Page:
    wire, of = agent.reached
    return reading.value(Page, wire.get(f"{of}/search/{where}", **given(**asked)))


def _read(source: str | Path) -> bytes:
    with as_store_errors(f"The document {str(source)!r:.80}"):
        return Path(source).read_bytes()
