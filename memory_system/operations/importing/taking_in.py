"""What an agent takes from material: what is new becomes a personality and memories, the rest gets a reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from ...core import personality as static_memory
from ...core.change_set import ChangeSet, short
from ...core.entry import MemoryEntry
from ...core.kinds import HAPPENED, Kind, Tier
from ...core.languages import same_words
from ...errors import InvalidPersonality
from .forms import Material, Part, Piece
from .forms.material import made_id

MOST_FACTS = 400
"""The most facts that material adds to a personality; further ones become timeless memories, kept as they are."""
MOST_OTHERS = 500
_KEYED = {"relationships": "name", "environment": "place", "routine": "time"}
MERGEABLE = "They can be merged on the Tidy page."
_TWICE = "The same words are stored already."
_ROUNDS = 5


class Take(StrEnum):
    """What is taken from material."""

    PERSONALITY = "personality"
    """Who it is: name, traits, goals, relationships, places and the routine of a day."""
    FACTS = "facts"
    MEMORIES = "memories"


@dataclass(frozen=True)
class Becomes:
    """What becomes of one thing in some material.

    Args:
        place: where it is, such as "line 3".
        becomes: ``personality``, ``fact``, ``memory`` or ``dropped``.
        text: what it says.
        why: why it is dropped; else the section of the personality, or the kind and the tier of the memory.
        when: when it happened; ``None`` = it has no time of its own.
        people: who is in it.
        source: how it became known.
        rating: 1 to 10; ``None`` = it is still to be rated.
        id: the memory's id; empty for anything else.
    """

    place: str
    becomes: str
    text: str
    why: str = ""
    when: datetime | None = None
    people: tuple[str, ...] = ()
    source: str = ""
    rating: float | None = None
    id: str = ""


@dataclass(frozen=True)
class Preview:
    """What would become of some material, line by line.

    Args:
        form: the form it was recognised as.
        title: the name of that form.
        name: who it is about; empty if it does not say.
        rows: everything in it, in order.
        notes: sentences on how it was read.
    """

    form: str
    title: str
    name: str
    rows: tuple[Becomes, ...]
    notes: tuple[str, ...]

    @property
    def dropped(self) -> tuple[Becomes, ...]:
        """What is left out."""
        return tuple(row for row in self.rows if row.becomes == "dropped")


@dataclass(frozen=True)
class Imported:
    """What was taken in, and what became of each line.

    Args:
        change_set: what was done, or would be; ``None`` = only a preview for a character who does not exist yet.
        material: what was read, line by line.
    """

    change_set: ChangeSet | None
    material: Preview


@dataclass(frozen=True)
class Taken:
    """What an agent takes.

    Args:
        rows: what becomes of each thing.
        document: its new personality; ``None`` = unchanged.
        pieces: the events for STM.
        kept: the memories that are stored as they are: what was worked out elsewhere, and facts without a time.
        portrait: its new picture; ``None`` = unchanged.
        notes: sentences about the whole.
    """

    rows: tuple[Becomes, ...]
    document: dict[str, Any] | None
    pieces: tuple[Piece, ...]
    kept: tuple[Piece, ...]
    portrait: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Inventory:
    """What the agent has already, as far as that decides what is new.

    Args:
        document: its personality.
        named_by_file: whether its name is only that of its file, and may be replaced.
        find: the memory with an id, or ``None``.
        words: when each memory happened, by its normalised words.
        portrait: its picture.
    """

    document: Mapping[str, Any] = field(default_factory=dict)
    named_by_file: bool = True
    find: Callable[[str], MemoryEntry | None] = lambda _entry_id: None
    words: Mapping[str, Sequence[datetime | None]] = field(default_factory=dict)
    portrait: str | None = None


def words_of(entries: Iterable[MemoryEntry]) -> dict[str, list[datetime | None]]:
    """The normalised words of memories, with the times at which they happened."""
    found: dict[str, list[datetime | None]] = {}
    for entry in entries:
        found.setdefault(same_words(entry.document), []).append(entry.timestamp)
    return found


def taken(material: Material, inventory: Inventory, now: datetime, take: Iterable[Take]) -> Taken:
    """What is taken from material, given what the agent has; nothing it has is changed or overwritten.

    Args:
        material: the material.
        inventory: what the agent has.
        now: the world's time, used for what has no time of its own.
        take: which parts of it are wanted.
    """
    takes = frozenset(take)
    rows = [Becomes(drop.place, "dropped", drop.text, drop.reason) for drop in material.dropped]
    merging = _Personality(inventory)
    lore = _merged(material.parts, merging, takes, rows)
    refused = merging.settle()
    for part in merging.taken:
        if (why := refused.get(id(part), "")) == "":
            becomes = "fact" if part.section == "facts" else "personality"
            rows.append(Becomes(part.place, becomes, part.text, part.section))
        else:
            rows.append(Becomes(part.place, "dropped", part.text, why))
    portrait = _pictured(material, inventory, rows, wanted=Take.PERSONALITY in takes)
    again = 0
    pieces: list[Piece] = []
    kept: list[Piece] = []
    for piece in (*material.pieces, *map(_lore, lore)):
        if Take.MEMORIES not in takes and not piece.of_personality:
            rows.append(Becomes(piece.place, "dropped", piece.entry.document, _unwanted(Take.MEMORIES)))
        elif why := _is_held(piece.entry, inventory):
            rows.append(Becomes(piece.place, "dropped", piece.entry.document, why))
        else:
            again += same_words(piece.entry.document) in inventory.words
            entry = piece.entry if piece.exact else piece.entry.evolve(timestamp=piece.entry.timestamp or now)
            arrives = entry.tier is Tier.STM and entry.kind in HAPPENED
            (pieces if arrives else kept).append(Piece(piece.place, entry))
            rows.append(_row(piece.place, piece.entry))
    notes = list(material.notes)
    untimed = [piece for piece in material.pieces if piece.entry.timestamp is None and not piece.exact]
    undated = len(untimed) if Take.MEMORIES in takes else 0
    if undated:
        notes.append(f"Without a time of their own, and so now: {undated:,}.")
    if lore:
        notes.append(f"A personality is given {MOST_FACTS} facts; {len(lore):,} more become timeless memories.")
    if again:
        notes.append(f"Said at another time already: {again:,}. {MERGEABLE}")
    notes += _counted(row for row in rows if row.becomes == "dropped")
    return Taken(tuple(rows), merging.document(refused), tuple(pieces), tuple(kept), portrait, tuple(notes))


_PICTURE = "its picture"
_CALLED = {
    Take.PERSONALITY: "Who it is was",
    Take.FACTS: "The facts of it were",
    Take.MEMORIES: "The memories of it were",
}


def _merged(parts: Iterable[Part], merging: _Personality, takes: Container[Take], rows: list[Becomes]) -> list[Part]:
    """Add what is requested to a personality, and list what is not; returns the facts that do not fit in it."""
    lore: list[Part] = []
    for part in parts:
        of = Take.FACTS if part.section == "facts" else Take.PERSONALITY
        if of not in takes:
            rows.append(Becomes(part.place, "dropped", part.text, _unwanted(of)))
        elif (why := merging.add(part)) == _FULL:
            lore.append(part)
        elif why:
            rows.append(Becomes(part.place, "dropped", part.text, why))
    return lore


def _pictured(material: Material, inventory: Inventory, rows: list[Becomes], *, wanted: bool) -> str | None:
    """The imported portrait; adds its row."""
    if material.portrait is None:
        return None
    same = inventory.portrait == material.portrait
    why = (
        _unwanted(Take.PERSONALITY) if not wanted
        else "" if inventory.portrait is None
        else "The same is known already." if same
        else "The character has a portrait already."
    )  # fmt: skip
    rows.append(Becomes("picture", "dropped" if why else "personality", _PICTURE, why or "portrait"))
    return None if why else material.portrait


def _unwanted(take: Take) -> str:
    return f"{_CALLED[take]} not wanted."


def _row(place: str, entry: MemoryEntry) -> Becomes:
    tier = "long-term" if entry.tier is Tier.LTM else "short-term"
    return Becomes(
        place, "memory", entry.document, f"{entry.kind.value}, {tier}", entry.timestamp, entry.people,
        entry.source.value if entry.source else "", entry.rating, entry.id,
    )  # fmt: skip


def _lore(part: Part) -> Piece:
    """A fact that does not fit in the personality, as a memory that no operation forgets or rewrites."""
    entry = MemoryEntry(
        part.text, id=made_id("fact", same_words(part.text)), tier=Tier.LTM, kind=Kind.FACT, authored=True
    )
    return Piece(part.place, entry, exact=True, of_personality=True)


def _is_held(entry: MemoryEntry, inventory: Inventory) -> str:
    """Why a memory is not taken, in a sentence; empty if it is."""
    if (same := inventory.find(entry.id)) is not None:
        if same_words(same.document) == same_words(entry.document):
            return _TWICE
        return "Its id is that of another memory."
    times = inventory.words.get(same_words(entry.document), ())
    return _TWICE if times and (entry.timestamp is None or entry.timestamp in times) else ""


def _counted(dropped: Iterable[Becomes]) -> list[str]:
    """How much is left out, a note per reason; all repetitions count as one reason."""
    reasons = Counter("It appears twice." if row.why.startswith("It says the same as") else row.why for row in dropped)
    notes = [f"Left out: {count:,} ({short(reason.rstrip('.'), 120)})." for reason, count in reasons.most_common(5)]
    more = sum(reasons.values()) - sum(count for _, count in reasons.most_common(5))
    return [*notes, *([f"Left out: {more:,} for other reasons."] if more else [])]


_FULL = "full"


class _Personality:
    """A personality to which parts are added."""

    def __init__(self, inventory: Inventory) -> None:
        self._before = json.loads(json.dumps(inventory.document)) if inventory.document else {}
        self._named_by_file = inventory.named_by_file
        self._name = str(self._before.get("identity", {}).get("name", ""))
        self.taken: list[Part] = []
        self._said: dict[str, set[str]] = {}
        for section, items in self._before.items():
            if isinstance(items, list):
                self._said[section] = {_key(section, item) for item in items}
        self._identity = {key: value for key, value in self._before.get("identity", {}).items() if value is not None}

    def add(self, part: Part) -> str:
        """Add a part, or say why not; ``_FULL`` if another fact does not fit."""
        if part.section == "identity":
            return self._add_identity(part)
        said = self._said.setdefault(part.section, set())
        if (key := _key(part.section, part.value)) in said:
            return f"{'One of this name' if part.section in _KEYED else 'The same'} is known already."
        if part.section == "facts" and len(said) >= MOST_FACTS:
            return _FULL
        if len(said) >= MOST_OTHERS:
            return f"A personality has at most {MOST_OTHERS} of these."
        said.add(key)
        self.taken.append(part)
        return ""

    def _add_identity(self, part: Part) -> str:
        key, value = part.value
        current = self._identity.get(key)
        if current is not None and not (key == "name" and self._named_by_file):
            if str(current).casefold() == str(value).casefold():
                return "The same is known already."
            sentence = f"The character has another: {short(str(current))}"
            return sentence if sentence.endswith((".", "…")) else f"{sentence}."
        self._identity[key] = value
        self.taken.append(part)
        return ""

    def settle(self) -> dict[int, str]:
        """Why accepted parts cannot be kept, by the identity of each; empty if all can."""
        refused: dict[int, str] = {}
        for _ in range(_ROUNDS):
            document = self.document(refused)
            if document is None:
                break
            try:
                static_memory.parse(json.dumps(document, ensure_ascii=False), "the material")
            except InvalidPersonality as error:
                found = {id(part): why for part, why in self._blamed(error, refused)}
                if not found:
                    raise
                refused |= found
            else:
                break
        return refused

    def _blamed(self, error: InvalidPersonality, refused: Mapping[int, str]) -> Iterable[tuple[Part, str]]:
        for problem in error.problems:
            section, _, rest = problem.field.partition(".")
            why = f"{problem.message[:1].upper()}{problem.message[1:]}."
            parts = [part for part in self.taken if part.section == section and id(part) not in refused]
            if section == "identity":
                yield from ((part, why) for part in parts if part.value[0] == rest.partition(".")[0])
                continue
            number = rest.partition(".")[0]
            before = len(self._before.get(section, ()))
            if number.isdecimal() and 0 <= int(number) - 1 - before < len(parts):
                yield parts[int(number) - 1 - before], why

    def document(self, refused: Mapping[int, str]) -> dict[str, Any] | None:
        """The whole personality with all accepted parts that were not refused; ``None`` if there are none."""
        good = [part for part in self.taken if id(part) not in refused]
        if not good:
            return None
        found: dict[str, Any] = json.loads(json.dumps(self._before))
        identity = found.setdefault("identity", {})
        identity.setdefault("name", self._name or "Nobody")
        for part in good:
            if part.section == "identity":
                identity[part.value[0]] = part.value[1]
            else:
                found.setdefault(part.section, []).append(part.value)
        return found


def _key(section: str, value: Any) -> str:
    named = value.get(_KEYED.get(section, ""), value) if isinstance(value, Mapping) else value
    return same_words(str(named))
