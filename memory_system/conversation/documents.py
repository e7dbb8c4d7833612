"""Documents: text, Markdown and PDF that a person loads for an agent to look things up in. They do not fade.

A document is one change set, so that one undo takes it back. Its passages are found by ``archival_search``; recall
never finds them, since the agent did not experience them.

A passage of a document is an entry of the archive.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..agent import AgentMemory
from ..core.change_set import Change, ChangeSet, counted
from ..core.entry import Kind, MemoryEntry, Scalar, Tier, new_id
from ..core.times import moment_given, parse_time
from ..errors import AlreadyExists, EntryNotFound, InvalidParameter, StoreDamaged, shown
from ..operations.context import Progress, bare, no_progress, refuse_uncallable
from .document_reading import Document, Passage, read_document


@dataclass(frozen=True)
class Source:
    """The document that passages are from.

    Args:
        id: the document's.
        name: such as its file's name.
        form: ``text``, ``markdown`` or ``pdf``.
        sha256: of its bytes, in hexadecimal digits.
        loaded: when it was loaded, by the world's time.
        pages: how many pages it has; 0 if it has none.
    """

    id: str
    name: str
    form: str
    sha256: str
    loaded: datetime
    pages: int = 0


def passage_id(document: str, number: int) -> str:
    """The id of a passage; ids sort in the order of the document."""
    return f"{document}-{number:06}"


def entry_of(source: Source, passage: Passage, count: int) -> MemoryEntry:
    """The entry for a passage. It has no time, so that it never fades; the first one describes the whole document."""
    extras: dict[str, Scalar] = {
        "source": source.name,
        "source_id": source.id,
        "number": passage.number,
        "place": passage.place,
    }
    if passage.page:
        extras["page"] = passage.page
    if passage.heading:
        extras["heading"] = passage.heading
    if not passage.number:
        extras |= {
            "form": source.form,
            "sha256": source.sha256,
            "loaded": source.loaded.isoformat(),
            "pages": source.pages,
            "passages": count,
        }
    return MemoryEntry(
        passage.text, extras, passage_id(source.id, passage.number), tier=Tier.ARCHIVE, kind=Kind.FACT, authored=True
    )


def whence(entry: MemoryEntry) -> str:
    """Where a passage is from, in words: the document, its page and its heading."""
    extras = entry.extras
    pieces = [str(extras.get("source", "a document"))]
    if "page" in extras:
        pieces.append(f"page {extras['page']}")
    if "heading" in extras:
        pieces.append(f"“{extras['heading']}”")
    return ", ".join(pieces)


MAX_PASSAGES = 50_000
"""The limit for all documents of one agent."""
_AT_ONCE = 32
"""How many passages are embedded between two progress reports."""
_READING = 0.2
"""The share of the progress that counts for reading."""


@dataclass(frozen=True)
class Loaded:
    """A document that an agent can look things up in.

    Args:
        id: the document's.
        name: its name.
        form: ``text``, ``markdown`` or ``pdf``.
        loaded: when, by the world's time.
        passages: how many it was split into.
        pages: how many it has; 0 if it has none.
        sha256: of its bytes, in hexadecimal digits.
    """

    id: str
    name: str
    form: str
    loaded: datetime
    passages: int
    pages: int
    sha256: str


def load_document(
    agent: AgentMemory,
    source: str | Path | bytes,
    *,
    name: str | None = None,
    now: datetime | None = None,
    preview: bool = False,
    progress: Progress = no_progress,
) -> ChangeSet:
    """Load a document into an agent's archive, as one change set.

    Args:
        agent: who gets it.
        source: the path of a file, or its content: text or Markdown in UTF-8, or a PDF.
        name: the file's name if not given. It must be given with bytes.
        now: the world's time.
        preview: whether to plan only.
        progress: called with the share done, 0 to 1; it may raise to cancel, and nothing is changed.

    Returns:
        The change set, applied or planned; its notes list pages that could not be read.

    Raises:
        InvalidFile: it cannot be accepted: protected, broken, too large, of another kind, or without text.
        InvalidParameter: it has no name, or it would exceed the agent's limit for documents.
        AlreadyExists: the agent has it already.
        EmbedderError: a passage could not be embedded.
        ReadOnly: the agent can only be read.
    """
    refuse_uncallable(progress=progress)
    moment = agent.now if now is None else moment_given("'now'", now)
    read = read_document(source, name, lambda share: progress(_READING * share, f"Reading {name or 'it'}"))
    archive = documents(agent)
    if (same := next((document for document in archive if document.sha256 == read.sha256), None)) is not None:
        raise AlreadyExists(f"{agent.name} has this document already, as “{same.name}”.")
    if sum(document.passages for document in archive) + len(read.passages) > MAX_PASSAGES:
        raise InvalidParameter(
            f"{agent.name} would have more than {MAX_PASSAGES:,} passages of documents. Remove a document first."
        )
    texts = [passage.text for passage in read.passages]
    for start in range(0, 0 if preview else len(texts), _AT_ONCE):
        progress(_READING + (1 - _READING) * start / len(texts), f"{start:,} of {counted(len(texts), 'passage')}")
        agent.contents.embedded(texts[start : start + _AT_ONCE])  # the embedder has them cached when it is applied
    plan = _planned(agent, read, moment)
    return plan if preview else agent.apply(plan)


def _planned(agent: AgentMemory, read: Document, now: datetime) -> ChangeSet:
    source = Source(new_id(), read.name, read.form, read.sha256, now, read.pages)
    entries = [entry_of(source, passage, len(read.passages)) for passage in read.passages]
    unread = ", ".join(map(str, read.unread[:20]))
    notes = (f"What could not be read, page by page: {unread}.",) if unread else ()
    count = f"{len(entries):,} passage{'s' if len(entries) != 1 else ''}"
    changes = tuple(Change(None, entry, "A passage of the document.") for entry in entries)
    return _plan(agent, "load document", f"Load “{read.name}”: {count}", changes, now, notes)


def documents(agent: AgentMemory) -> tuple[Loaded, ...]:
    """The documents in an agent's archive, by name.

    Raises:
        StoreDamaged: the record of one is not as it was written.
    """
    with agent.contents.shelf(Tier.ARCHIVE) as table:
        firsts = [table.get(entry_id) for entry_id in table.ids if entry_id.endswith(passage_id("", 0))]
    found = [_loaded(entry) for entry in firsts if entry is not None]
    return tuple(sorted(found, key=lambda document: (document.name.casefold(), document.id)))


def _loaded(entry: MemoryEntry) -> Loaded:
    extras = entry.extras
    try:
        return Loaded(
            str(extras["source_id"]),
            str(extras["source"]),
            str(extras["form"]),
            parse_time(extras["loaded"]),
            int(extras["passages"]),
            int(extras["pages"]),
            str(extras["sha256"]),
        )
    except (KeyError, ValueError) as error:
        raise StoreDamaged(
            f"The stored record of the document {shown(entry.id)} is not as it was written: {error}."
        ) from error


def passages(agent: AgentMemory, document: str) -> tuple[MemoryEntry, ...]:
    """The passages of a document in their order.

    Raises:
        EntryNotFound: the agent has no such document.
    """
    with agent.contents.shelf(Tier.ARCHIVE) as table:
        beginning = f"{document}-"
        ids = sorted(entry_id for entry_id in table.ids if entry_id.startswith(beginning))
        found = tuple(entry for entry_id in ids if (entry := table.get(entry_id)) is not None)
    if not found:
        raise EntryNotFound(f"{agent.name} has no document {shown(document)}.")
    return found


def remove_document(
    agent: AgentMemory, document: str, *, now: datetime | None = None, preview: bool = False
) -> ChangeSet:
    """Take a document out of an agent's archive, as one change set; ``undo`` brings it back.

    ``agent.purge`` with the ids of its changes then removes it from the history, too.

    Raises:
        EntryNotFound: the agent has no such document.
    """
    moment = agent.now if now is None else moment_given("'now'", now)
    entries = passages(agent, document)
    changes = tuple(Change(bare(entry), None, "Its document was removed.") for entry in entries)
    plan = _plan(agent, "remove document", f"Remove “{entries[0].extras.get('source', document)}”", changes, moment)
    return plan if preview else agent.apply(plan)


def _plan(
    agent: AgentMemory,
    operation: str,
    title: str,
    changes: tuple[Change, ...],
    now: datetime,
    notes: tuple[str, ...] = (),
) -> ChangeSet:
    return ChangeSet(operation, title, changes, now, agent.stamp[0], author=agent.author, notes=notes, agent=agent.name)
