"""Material from elsewhere, in the form that all readers return: who somebody is, memories, and what is left out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from ....core.change_set import ModelCall
from ....core.entry import MemoryEntry
from ....core.kinds import DECAYING, MAX_EXTRAS, MAX_ID, MAX_PEOPLE, MAX_TAGS
from ....core.languages import same_words
from ....errors import InvalidEntry, InvalidFile, MemorySystemError, Problem, kind_of
from ...pictures import PNG, bare, is_pattern, portrait
from ..dates import READ_AS_UTC, Order, in_cell
from ..events import MAX_FILE

MAX_LINE = 2000
"""The most characters in one fact of a personality."""
MAX_NAME = 200
MAX_DROPPED = 100_000
_SHORT = 200


class Origin(StrEnum):
    """What a file is, recognised from its contents."""

    CARD = "card"
    LOREBOOK = "lorebook"
    SILLYTAVERN = "sillytavern"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    CHAT = "chat"
    TABLE = "table"
    RECORDS = "records"
    PERSONA = "persona"
    GRAPH = "graph"
    STORE = "store"
    PERSONALITY = "personality"
    EXPORT = "export"
    LINES = "lines"
    PROSE = "prose"


TITLES: Mapping[Origin, str] = {
    Origin.CARD: "a Tavern character card (V1 to V3: JSON, PNG or CHARX)",
    Origin.LOREBOOK: "a lorebook",
    Origin.SILLYTAVERN: "a SillyTavern chat",
    Origin.CHATGPT: "ChatGPT's conversations.json",
    Origin.CLAUDE: "an export of Claude's conversations",
    Origin.CHAT: "a chat log of lines “Name: what was said”",
    Origin.TABLE: "a table (CSV)",
    Origin.RECORDS: "JSON or JSON lines of memories (also mem0, LangChain and LlamaIndex)",
    Origin.PERSONA: "a generative-agents persona (nodes.json, scratch.json, its folder as a ZIP, or one node a line)",
    Origin.GRAPH: "the memory.jsonl of the MCP reference server",
    Origin.STORE: "the JSON of a store: documents, metadatas and ids",
    Origin.PERSONALITY: "the JSON of a personality",
    Origin.EXPORT: "an export of this program: JSON lines, a table, or a folder of Markdown",
    Origin.LINES: "lines, each an event, with or without its date",
    Origin.PROSE: "a chapter of prose, each sentence a memory",
}
"""What each form is called, for people."""


@dataclass(frozen=True)
class Part:
    """Something that a personality says.

    Args:
        place: where it is in the material, such as "line 3" or "character_book.entries.2".
        section: the section of the personality, such as ``traits`` or ``facts``.
        value: what is written there: a text, or for ``identity`` a pair of key and value, and for sections of objects
            an object.
    """

    place: str
    section: str
    value: Any

    @property
    def text(self) -> str:
        """What it says, for people."""
        if isinstance(self.value, tuple):
            return f"{self.value[0]}: {self.value[1]}"
        if isinstance(self.value, Mapping):
            return ", ".join(str(value) for value in self.value.values())
        return str(self.value)


@dataclass(frozen=True)
class Piece:
    """A memory, and where it is in the material; one without a time happens when it is imported.

    One that is ``exact`` was exported by this program: it is imported as it is, and without a time stays timeless.
    ``of_personality`` marks a fact that does not fit in a personality.
    """

    place: str
    entry: MemoryEntry
    exact: bool = False
    of_personality: bool = False


@dataclass(frozen=True)
class Dropped:
    """Something that is left out: where it is, what it says, shortened, and why."""

    place: str
    text: str
    reason: str


@dataclass(frozen=True)
class Material:
    """What a file holds.

    Args:
        origin: its form.
        parts: what it says about who somebody is, facts included.
        pieces: the memories, in order.
        dropped: what is left out.
        notes: sentences on how it was read.
        card: the JSON of a character card as imported; its unknown parts are kept for its export.
        portrait: the picture that came with a card, reduced in size, as a data address.
        calls: the calls of a language model that read it.
    """

    origin: Origin
    parts: tuple[Part, ...]
    pieces: tuple[Piece, ...]
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    card: str | None = None
    portrait: str | None = None
    calls: tuple[ModelCall, ...] = ()

    @property
    def name(self) -> str:
        """Who it is about; empty if it does not say."""
        named = (part.value[1] for part in self.parts if part.section == "identity" and part.value[0] == "name")
        return str(next(named, ""))


@dataclass
class Gathering:
    """Material while it is read.

    Args:
        origin: its form.
        now: the world's time.
        who: for whom it is read, if known: their own words are not something that they were told.
    """

    origin: Origin
    now: datetime
    who: str = ""
    parts: list[Part] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    card: str | None = None
    portrait: str | None = None
    _said: dict[tuple[str, str], str] = field(default_factory=dict)
    _seen: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _restored: dict[str, str] = field(default_factory=dict)

    def note(self, sentence: str) -> None:
        """Add a sentence on how it was read, once."""
        self.notes[sentence] = None

    def drop(self, place: str, text: object, reason: str) -> None:
        """Leave something out.

        Raises:
            InvalidFile: too much is left out for this to count as material.
        """
        if len(self.dropped) >= MAX_DROPPED:
            raise refusal(f"more than {MAX_DROPPED:,} things in it cannot be imported; this is something else")
        said = " ".join(str(text).split())
        self.dropped.append(Dropped(place, said if len(said) <= _SHORT else f"{said[: _SHORT - 1]}…", reason))

    def identity(self, place: str, key: str, value: object) -> None:
        """Add something about who it is, such as its age; an empty value is ignored."""
        if isinstance(value, bool) or value in (None, ""):
            return
        if isinstance(value, int | float):
            self.parts.append(Part(place, "identity", (key, value)))
        elif (text := self._text(place, value)) is not None:
            if key == "name" and (len(text) > MAX_NAME or not text.isprintable()):
                self.drop(place, text, f"A name is one line of at most {MAX_NAME} characters.")
            elif len(text) > MAX_LINE:
                first, *rest = pieces_of(text)
                self.parts.append(Part(place, "identity", (key, first)))
                for piece in rest:
                    self.lines(place, "facts", piece)
            else:
                self.parts.append(Part(place, "identity", (key, " ".join(text.split()))))

    def picture(self, place: str, raw: bytes) -> None:
        """Use the picture of a card as the portrait; what cannot be one is left out."""
        try:
            if raw.startswith(PNG):
                if is_pattern(raw):
                    self.note("Its picture is the pattern of a name, which stands for no portrait.")
                    return
                raw = bare(raw)
            self.portrait = portrait(raw, MAX_FILE)
        except MemorySystemError as error:
            self.drop(place, "its picture", error.sentence)

    def lines(self, place: str, section: str, value: object) -> None:
        """Add a fact, trait or goal, in pieces if it is too long; what is said twice is left out."""
        if value in (None, ""):
            return
        text = self._text(place, value)
        for piece in [] if text is None else pieces_of(text):
            if (first := self._said.get((section, piece.casefold()))) is not None:
                self.drop(place, piece, f"It says the same as {first}.")
            else:
                self._said[section, piece.casefold()] = place
                self.parts.append(Part(place, section, piece))

    def part(self, place: str, section: str, value: Mapping[str, Any]) -> None:
        """Add a relationship, a place or something about the day."""
        self.parts.append(Part(place, section, dict(value)))

    def memory(self, where: str, document: object, /, **fields: Any) -> str | None:
        """Add a memory by its fields; returns its id, or ``None`` if they cannot be one, and are left out."""
        if not isinstance(document, str):
            self.drop(where, document, "It has no text.")
            return None
        try:
            entry = MemoryEntry(document.strip(), **_fitting(fields))
        except InvalidEntry as error:
            self.drop(where, document, error.sentence)
            return None
        return self.take(where, entry)

    def restore(self, place: str, fields: Mapping[str, Any]) -> None:
        """Add a memory that this program exported, with its id and tier; anything else is left out."""
        try:
            entry = MemoryEntry.from_dict(fields)
        except InvalidEntry as error:
            self.drop(place, fields.get("document", ""), error.sentence)
            return
        if entry.tier not in DECAYING or entry.id.startswith("static:"):
            self.drop(place, entry.document, "It is not a memory of short-term or long-term memory.")
        elif (first := self._restored.setdefault(entry.id, place)) != place:
            self.drop(place, entry.document, f"Its id is already used in {first}.")
        else:
            self.pieces.append(Piece(place, entry.accessed(None), exact=True))

    def take(self, place: str, entry: MemoryEntry) -> str:
        """Add a memory; returns its id, or that of an earlier one that says the same at the same time."""
        key = (same_words(entry.document), entry.timestamp, entry.extras.get("conversation"), entry.extras.get("turn"))
        if (at := self._seen.get(key)) is None:
            self._seen[key] = len(self.pieces)
            self.pieces.append(Piece(place, entry))
            return entry.id
        first = self.pieces[at]
        why = f"It says the same as {first.place}{', at the same time' if entry.timestamp else ''}."
        if beside := [source_id for source_id in entry.evidence if source_id not in first.entry.evidence]:
            rests = first.entry.evolve(
                evidence=(*first.entry.evidence, *beside), depth=max(entry.depth, first.entry.depth)
            )
            self.pieces[at] = Piece(first.place, rests)
            why += " What it rests on stands there."
        self.drop(place, entry.document, why)
        return first.entry.id

    def moment(self, value: object, order: Order = Order.DAY_FIRST) -> datetime | None:
        """When something happened, in any of the ways in which programs write it; ``None`` if it does not say."""
        found, zoned = _moment(value, order)
        if found is not None and not zoned:
            self.note(READ_AS_UTC)
        return found

    def material(self) -> Material:
        """What was read.

        Raises:
            InvalidFile: there is nothing in it.
        """
        if not self.parts and not self.pieces:
            why = f": {self.dropped[0].place}: {self.dropped[0].reason}" if self.dropped else ""
            raise refusal(f"there is nothing in it that can be imported{why}")
        return Material(
            self.origin, tuple(self.parts), tuple(self.pieces), tuple(self.dropped), tuple(self.notes), self.card,
            self.portrait,
        )  # fmt: skip

    def _text(self, place: str, value: object) -> str | None:
        if not isinstance(value, str):
            self.drop(place, value, f"It must be text, not {kind_of(value)}.")
            return None
        if "\x00" in value:
            self.drop(place, value.replace("\x00", ""), "It contains a control character.")
            return None
        return value.strip() or None


def refusal(message: str, line: int | None = None) -> InvalidFile:
    """The error for a file that cannot be accepted, from half a sentence."""
    return InvalidFile((Problem("", message, line),), "the material")


def made_id(*of: object) -> str:
    """An id that is the same for the same content."""
    return f"in:{hashlib.sha256(json.dumps([str(value) for value in of]).encode()).hexdigest()[:24]}"


def pieces_of(text: str, most: int = MAX_LINE) -> list[str]:
    """A text in lines of at most so many characters, cut between paragraphs, sentences or words where possible."""
    found, begin = list[str](), 0
    while begin < len(text):
        window = text[begin : begin + most]
        ends = [max((match.end() for match in re.finditer(sign, window)), default=0) for sign in _CUTS]
        cut = next((end for end in ends if end > most // 4), most) if begin + most < len(text) else most
        if line := " ".join(window[:cut].split()):
            found.append(line)
        begin += cut
    return found


_CUTS = (r"\n\s*\n", r"[.!?…。！？]['\"”’)]*\s", r"\s")
_HUMANISED = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(\d{1,2})s(?:\s*(\d{1,3})ms)?", re.ASCII
)
_NUMBER = re.compile(r"\d{9,16}(?:\.\d+)?", re.ASCII)
_MILLISECONDS = 100_000_000_000


def _moment(value: object, order: Order) -> tuple[datetime | None, bool]:
    """A moment, and whether its zone was written."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if abs(value) >= _MILLISECONDS else value
        try:
            return (datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None), True
        except (OverflowError, OSError, ValueError):
            return None, True
    if not isinstance(value, str) or not value.strip():
        return None, True
    text = value.strip()
    if found := _HUMANISED.fullmatch(text):
        year, month, day, hour, minute, second, milli = (int(group or 0) for group in found.groups())
        try:
            return datetime(year, month, day, hour, minute, second, milli * 1000, UTC), False
        except ValueError:
            return None, True
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        written = in_cell(text)
        usable = written.problem is None and (written.day_first or written.month_first) is not None
        return (written.moment(order), written.zone is not None) if usable else (None, True)
    zoned = moment.utcoffset() is not None
    return (moment if zoned else moment.replace(tzinfo=UTC)), zoned


def _fitting(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields with no more tags, people and other values than a memory may have; empty ones are left out."""
    found = {name: value for name, value in fields.items() if value not in (None, "", (), [], {})}
    for name, most in (("tags", MAX_TAGS), ("people", MAX_PEOPLE)):
        if name in found:
            found[name] = tuple(_words(found[name]))[:most]
    if "metadata" in found:
        found["metadata"] = dict(list(found["metadata"].items())[:MAX_EXTRAS])
    return found


def _words(value: object) -> Iterator[str]:
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple | set) else ()
    for word in items:
        if isinstance(word, str) and word.strip() and len(word) <= MAX_ID:
            yield word.strip()
