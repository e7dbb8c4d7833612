"""A character as Markdown: a dossier for people, and a folder of pages with front matter, one per memory."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime

from ...core.entry import MemoryEntry
from ...core.personality import Personality
from ...core.times import stamp
from ..front_matter import on_a_line, written
from ..importing.forms.ours import ABOUT, MEMORIES, PAGES, PERSONALITY
from .character import Character, Remembered, fields_of

_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the archive, so that the same memories are the same bytes."""
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_OTHER = re.compile(r"[^a-z0-9._-]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
"""Names that cannot be files on Windows."""
_SHORT = 80


def folder(character: Character) -> bytes:
    """An archive of the folder. A page keeps its name while its memory keeps its id."""
    about = {"format": PAGES, "agent": character.name}
    files = {ABOUT: json.dumps(about, ensure_ascii=False, indent=2) + "\n"}
    if character.text is not None:
        files[PERSONALITY] = character.text
    for memory in character.memories:
        files[f"{MEMORIES}/{page_name(memory.entry.id)}"] = page(memory)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in sorted(files.items()):
            info = zipfile.ZipInfo(name, _FIRST_DAY)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o100644 << 16
            archive.writestr(info, text.encode("utf-8"))
    return buffer.getvalue()


def page_name(entry_id: str) -> str:
    """What the page of a memory is called: its id, or as much of it as any file system accepts and a checksum."""
    if _PLAIN.fullmatch(entry_id) and not entry_id.endswith(".") and not _RESERVED.fullmatch(entry_id):
        return f"{entry_id}.md"
    short = _OTHER.sub("-", entry_id.lower()).strip("-.")[:60]
    return f"{short or 'memory'}~{hashlib.sha256(entry_id.encode()).hexdigest()[:10]}.md"


def page(one: Remembered) -> str:
    """The page of a memory."""
    header = fields_of(one.entry)
    header |= {"author": one.author} if one.author else {}
    header |= {"verified": True} if one.verified else {}
    header |= {"stale": list(one.stale)} if one.stale else {}
    return written(header, one.entry.document)


def dossier(character: Character) -> str:
    """Who the character is and what it remembers, day by day."""
    blocks = [f"# {on_a_line(character.title)}", f"As of {stamp(character.now)}."]
    if character.personality is not None:
        blocks += _who(character.personality)
    blocks += _memories(character)
    return "\n\n".join(blocks) + "\n"


def _who(personality: Personality) -> Iterator[str]:
    identity = personality.identity.model_dump(exclude_none=True)
    identity.pop("name")
    if description := identity.pop("description", None):
        yield on_a_line(str(description))
    yield from _section("Who", (f"{key.replace('_', ' ').capitalize()}: {value}" for key, value in identity.items()))
    yield from _section("Traits", personality.traits)
    yield from _section("Goals", personality.long_term_goals)
    people = (
        ": ".join(filter(None, (relationship.name, relationship.relation)))
        + (f" (trust {relationship.trust:g} of 1)" if relationship.trust is not None else "")
        + (f". {relationship.notes}" if relationship.notes else "")
        for relationship in personality.relationships
    )
    yield from _section("Relationships", people)
    yield from _section("Rules", personality.societal_rules)
    places = (
        f"{place.place}{f' (in {place.within})' if place.within else ''}: {place.description}"
        for place in personality.environment
    )
    yield from _section("Places", places)
    day = (
        f"{item.time}{f' to {item.until}' if item.until else ''}: {item.activity}"
        f"{f' ({item.place})' if item.place else ''}"
        for item in personality.routine
    )
    yield from _section("A usual day", day)
    yield from _section("Knows", personality.facts)


def _section(title: str, items: Iterator[str] | Sequence[str]) -> Iterator[str]:
    if listed := [f"- {on_a_line(item)}" for item in items]:
        yield f"## {title}"
        yield "\n".join(listed)


def _memories(character: Character) -> Iterator[str]:
    """The memories by day, the oldest first; those without a time before them."""
    by_id = {memory.entry.id: memory.entry for memory in character.memories}
    days: dict[str, list[str]] = {}
    for memory in sorted(character.memories, key=lambda memory: (_when(memory.entry), memory.entry.id)):
        at = memory.entry.timestamp
        day = f"{at:%A} {at.day} {at:%B %Y}" if at else "At any time"
        days.setdefault(day, []).append(_line(memory, by_id))
    if days:
        yield "## Remembers"
    for day, lines in days.items():
        yield f"### {day}"
        yield "\n".join(lines)


def _when(entry: MemoryEntry) -> float:
    return float("-inf") if entry.timestamp is None else entry.timestamp.timestamp()


def _line(memory: Remembered, by_id: dict[str, MemoryEntry]) -> str:
    entry = memory.entry
    said = [entry.kind.value, "not rated" if entry.rating is None else f"importance {entry.rating:g} of 10"]
    said += [f"{entry.source.value} by {entry.people[0]}"] if entry.source and entry.people[:1] else []
    said += [entry.place] if entry.place else []
    said += ["verified"] if memory.verified else []
    said += [f"rests on {len(entry.evidence)}"] if entry.evidence else []
    clock = f"**{_clock(entry.timestamp)}** " if entry.timestamp else ""
    line = f"- {clock}{on_a_line(entry.document)} _({on_a_line('; '.join(said))})_"
    for beside in (by_id[source_id] for source_id in entry.evidence if source_id in by_id):
        text = beside.document if len(beside.document) <= _SHORT else f"{beside.document[: _SHORT - 1]}…"
        line += f"\n    - from: {on_a_line(text)}"
    for why in memory.stale:
        line += f"\n    - stale: {on_a_line(why)}"
    return line


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M} {moment.tzname() or moment.strftime('%z')}"
