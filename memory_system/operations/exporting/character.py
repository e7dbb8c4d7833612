"""The content of an export: a character at one moment, each memory with its author and whether it still holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from ...core.change_set import entry_to_json
from ...core.entry import MemoryEntry
from ...core.personality import Personality


class Form(StrEnum):
    """A form of export; the name of its file is the agent's name, a full stop, and this."""

    CARD_PNG = "card.png"
    """A Tavern character card in a picture, V2 and V3, with its memories as a lorebook."""
    CARD = "card.json"
    """The card as JSON, V3."""
    CARD_V2 = "card-v2.json"
    """The card as JSON, V2."""
    DOSSIER = "dossier.md"
    """Who the character is and what it remembers, in Markdown, for people."""
    FOLDER = "folder.zip"
    """A folder of Markdown with front matter, a file per memory."""
    JSONL = "memories.jsonl"
    """JSON lines: the agent first, then a memory per line."""
    CSV = "memories.csv"
    """A table with a row per memory."""


@dataclass(frozen=True)
class Remembered:
    """A memory, and what the history says about it.

    Args:
        entry: the memory.
        author: who wrote its words last; empty if the history does not say.
        verified: whether a person vouches for it: wants these words, or has checked and kept it.
        stale: what has changed in what it rests on, in sentences; empty if nothing has.
    """

    entry: MemoryEntry
    author: str = ""
    verified: bool = False
    stale: tuple[str, ...] = ()


@dataclass(frozen=True)
class Character:
    """A character as it is exported.

    Args:
        name: the agent's name.
        title: what people call it.
        now: the world's time.
        personality: its static memory; ``None`` = it has none.
        text: the JSON text of that.
        facts: what static memory says, each fact as a memory.
        memories: those of short- and long-term memory, ordered by tier and id.
        card: the JSON of the card that it was made from; ``None`` = there was none.
        portrait: its picture, as stored; ``None`` = it has none.
        about: what the first line of JSON lines says.
    """

    name: str
    title: str
    now: datetime
    personality: Personality | None
    text: str | None
    facts: tuple[MemoryEntry, ...]
    memories: tuple[Remembered, ...]
    card: str | None
    portrait: str | None
    about: dict[str, Any]


@dataclass(frozen=True)
class Exported:
    """A file that was exported.

    Args:
        name: what it is called.
        media: its media type.
        content: its bytes.
        notes: sentences on what could not be included.
    """

    name: str
    media: str
    content: bytes
    notes: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether it can be printed."""
        return self.media.startswith(("text/", "application/json", "application/x-ndjson"))


def fields_of(entry: MemoryEntry) -> dict[str, Any]:
    """A memory without its text, as values of JSON and YAML; unset ones are left out."""
    fields = {name: value for name, value in entry_to_json(entry).items() if name != "document"}
    if "extras" in fields:
        fields["metadata"] = fields.pop("extras")
    return {name: str(value) if isinstance(value, StrEnum) else value for name, value in fields.items()}
