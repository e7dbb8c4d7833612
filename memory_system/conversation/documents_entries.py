"""A passage of a document as an entry of the archive, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..entry import Kind, MemoryEntry, Scalar, Tier
from .splitting import Passage


@dataclass(frozen=True)
class Source:
    """The document that passages are of.

    Args:
        id: of the document.
        name: what it is called, such as its file's name.
        form: ``text``, ``markdown`` or ``pdf``.
        sha256: of its bytes, in hexadecimal digits.
        loaded: when it was loaded, by the world's time.
        pages: how many pages it has; 0 where it has none.
    """

    id: str
    name: str
    form: str
    sha256: str
    loaded: datetime
    pages: int = 0


def passage_id(document: str, number: int) -> str:
    """The id of a passage; in the order of the ids passages stand as in the document."""
    return f"{document}-{number:06}"


def entry_of(source: Source, passage: Passage, count: int) -> MemoryEntry:
    """The entry that keeps a passage. It has no time, so that it never fades; the first tells of the whole document."""
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
    """Where a passage stands, in words: the document, its page and its heading."""
    extras = entry.extras
    told = [str(extras.get("source", "a document"))]
    if "page" in extras:
        told.append(f"page {extras['page']}")
    if "heading" in extras:
        told.append(f"“{extras['heading']}”")
    return ", ".join(told)
