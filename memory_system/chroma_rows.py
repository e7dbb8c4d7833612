"""A memory as a row of Chroma, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .changes import entry_to_json
from .entry import MemoryEntry
from .errors import ForeignStore

_ENTRY = "memory_system:entry"
"""The metadata key of what the named keys do not hold; the caller's own keys cannot begin like this."""


def metadata(entry: MemoryEntry) -> dict[str, Any]:
    """What Chroma keeps beside the document: the fields one filters by, and the entry to read back."""
    shown: dict[str, Any] = {**entry.metadata, "kind": entry.kind.value}
    if entry.tags:
        shown["tags"] = list(entry.tags)
    body = entry_to_json(entry)
    del body["document"]
    shown[_ENTRY] = json.dumps(body, ensure_ascii=False)
    return shown


def bodies(documents: Any, metadatas: Any) -> Iterator[dict[str, Any]]:
    """The entries of some rows, as ``changes.entry_to_json`` tells them.

    Raises:
        ForeignStore: a row was not written by this system.
    """
    for document, about in zip(documents or [], metadatas or [], strict=True):
        try:
            body = json.loads((about or {})[_ENTRY])
            yield {**body, "id": body["id"], "document": document}
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ForeignStore("A row in Chroma was not written by this system.") from error
