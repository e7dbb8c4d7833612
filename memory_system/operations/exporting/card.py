"""A character as a Tavern character card, V2 and V3, with a lorebook of what it remembers.

According to the same specifications as ``importing/forms/cards``. What came with an imported card stays: unknown
``extensions`` (which the specification says MUST NOT be destroyed), greetings, notes, and each entry of its lorebook
that the character still knows, with its own keys. Everything else goes into entries of the lorebook, which say what
they are under ``extensions.memory_system``, so that importing the card gives the same character.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...core import personality as static_memory
from ...core.languages import long_word, same_words
from ...core.times import stamp
from ..importing.forms.cards import MAX_ENTRIES, OURS, is_of_a_list, parts_of
from ..importing.forms.material import Part
from ..macros import without_macros
from ..pictures import as_png, with_texts
from .character import Character, Form, fields_of

_TEXTS = (
    *("description", "personality", "scenario", "first_mes", "mes_example", "creator_notes", "system_prompt"),
    *("post_history_instructions", "creator", "character_version"),
)
_OF_V3 = frozenset({
    "assets", "nickname", "creator_notes_multilingual", "source", "group_only_greetings", "creation_date",
    "modification_date",
})  # fmt: skip
_SAID = ("description", "personality", "scenario", "mes_example")
"""What a character is made of when a card is imported, besides its lorebook."""
_EMBEDDED = "embeded://"
"""How the specification spells the address of a file next to a card."""
_NAME = re.compile(r"(?<![.!?:…] )(?<!^)\b[A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+)*")
_WORD = re.compile(long_word(4, r"[^\W\d_]"))
_MOST_KEYS = 8


def written(character: Character, form: Form) -> tuple[bytes, tuple[str, ...]]:
    """The card in one of its three forms, and sentences on what is not in it."""
    card = _Card(character)
    v3, v2 = (_json(card.document(version)) for version in (3, 2))
    if form is Form.CARD_PNG:
        texts = {"chara": base64.b64encode(v2), "ccv3": base64.b64encode(v3)}
        return with_texts(as_png(character.name, character.portrait), texts), tuple(card.notes)
    return (v3 if form is Form.CARD else v2), tuple(card.notes)


def _json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


class _Card:
    """A card while it is assembled."""

    def __init__(self, character: Character) -> None:
        self.character = character
        self.notes: list[str] = []
        card = json.loads(character.card) if character.card else {}
        self.base: dict[str, Any] = card["data"] if isinstance(card.get("data"), dict) else card
        self.known = _known(character)
        self.statements: set[tuple[str, str]] = set()
        """What the texts and entries of the imported card already say: section, and words or key."""
        self.data = self._data()

    def document(self, version: int) -> dict[str, Any]:
        """The card in a version of the specification, 2 or 3."""
        spec = {"spec": f"chara_card_v{version}", "spec_version": f"{version}.0"}
        left = () if version == 3 else _OF_V3
        return {**spec, "data": {key: value for key, value in self.data.items() if key not in left}}

    def _data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"name": without_macros(self.character.title)}
        data |= {name: _text(self.base.get(name)) for name in _TEXTS}
        for name in _SAID:
            if not self._still_said(name):
                data[name] = ""
        data |= {"alternate_greetings": [], "tags": [], "group_only_greetings": [], "extensions": {}}
        data |= {
            key: value for key, value in self.base.items() if key not in data or isinstance(data[key], list | dict)
        }
        for name, kind in (
            ("extensions", dict),
            ("tags", list),
            ("alternate_greetings", list),
            ("group_only_greetings", list),
        ):
            data[name] = data[name] if isinstance(data[name], kind) else kind()
        if isinstance(assets := data.get("assets"), list):
            data["assets"] = [asset for asset in assets if _EMBEDDED not in str(asset)]
            if lost := len(assets) - len(data["assets"]):
                self.notes.append(f"Files beside the imported card were not kept: {lost}.")
        if not data["description"]:
            data["description"] = without_macros(self._identity().get("description", ""))
            self.statements |= {_key(Part("", "identity", ("description", self._identity().get("description", ""))))}
        if not data["personality"]:
            data["personality"] = ", ".join(map(without_macros, self._listed()))
        if nickname := self._identity().get("nickname"):
            data["nickname"] = without_macros(str(nickname))
        data["character_book"] = self._book()
        return data

    def _identity(self) -> dict[str, Any]:
        personality = self.character.personality
        return {} if personality is None else personality.identity.model_dump(exclude_none=True)

    def _listed(self) -> Iterator[str]:
        """The traits that can be written in one list."""
        for trait in self.character.personality.traits if self.character.personality else ():
            if is_of_a_list(trait):
                self.statements.add(("traits", same_words(trait)))
                yield trait

    def _still_said(self, name: str) -> bool:
        """Whether all that a text of the imported card said of the character still holds; if so, it is a statement."""
        return self._all_known(parts_of(self.base, {name: self.base.get(name)}, self.character.now))

    def _all_known(self, parts: Sequence[Part]) -> bool:
        said = {_key(part) for part in parts}
        if not said <= self.known:
            return False
        self.statements |= said
        return True

    def _book(self) -> dict[str, Any]:
        base_book = self.base.get("character_book")
        book: dict[str, Any] = dict(base_book) if isinstance(base_book, dict) else {"name": self.character.title}
        book.setdefault("extensions", {})
        entries = [entry for entry in _listed_entries(book.get("entries")) if self._keeps(entry)]
        entries += [_entry(**part) for part in self._of_personality()]
        memories = list(self._of_memories())
        if (many := len(entries) + len(memories) - MAX_ENTRIES) > 0:
            self.notes.append(
                f"A lorebook has {MAX_ENTRIES:,} entries at most; {many:,} less important memories are left out."
            )
            memories.sort(key=lambda memory: -memory["priority"])
            memories = memories[:-many]
        entries += [_entry(**memory) for memory in memories]
        for number, entry in enumerate(entries, start=1):
            entry.setdefault("extensions", {})
            entry.setdefault("use_regex", False)
            entry.setdefault("insertion_order", number)
        book["entries"] = entries
        return book

    def _keeps(self, entry: Mapping[str, Any]) -> bool:
        """Whether an entry of the imported card stays: it is switched off, or the character knows what it says."""
        ours = entry.get("extensions")
        if isinstance(ours, Mapping) and OURS in ours:
            return False  # it is written again
        parts = parts_of(self.base, {"character_book": {"entries": [entry]}}, self.character.now)
        return self._all_known(parts)

    def _of_personality(self) -> Iterator[dict[str, Any]]:
        """What the personality says and the card does not, each with what it is."""
        personality = self.character.personality
        if personality is None:
            return
        body = personality.model_dump(exclude_none=True)
        seen: dict[str, int] = {}
        for fact in static_memory.facts(personality):
            section = str(fact.extras["section"])
            at = seen[section] = seen.get(section, -1) + 1
            value = list(list(body["identity"].items())[at]) if section == "identity" else body[section][at]
            if section == "identity" and value[0] == "name":
                continue
            if _key(Part("", section, tuple(value) if section == "identity" else value)) in self.statements:
                continue
            text = f"{value}" if section == "facts" else fact.document
            ours = {"section": section, "said": text} | ({} if section == "facts" else {"value": value})
            always = section in ("identity", "traits", "long_term_goals", "societal_rules")
            yield {"text": text, "keys": keys_of(text, _named(section, value)), "ours": ours, "constant": always}

    def _of_memories(self) -> Iterator[dict[str, Any]]:
        """What is remembered, the oldest first, and what is timeless before it."""
        entries = [memory.entry for memory in self.character.memories]
        entries = [
            entry
            for entry in entries
            if entry.timestamp or ("facts", same_words(entry.document)) not in self.statements
        ]
        for entry in sorted(entries, key=lambda entry: (entry.timestamp is not None, entry.timestamp or 0, entry.id)):
            before = f"{stamp(entry.timestamp)}: " if entry.timestamp else ""
            yield {
                "text": before + entry.document,
                "keys": keys_of(entry.document, (*entry.people, entry.place, *entry.tags)),
                "ours": {**fields_of(entry), "before": before},
                "priority": round((entry.rating or 0) * 10),
            }


def _known(character: Character) -> set[tuple[str, str]]:
    """What the character knows of itself: section, and words or the key of an identity."""
    found = {("facts", same_words(memory.entry.document)) for memory in character.memories}
    if character.personality is not None:
        for section, value in character.personality.model_dump(exclude_none=True).items():
            values = value.items() if isinstance(value, dict) else value if isinstance(value, list) else ()
            found |= {_key(Part("", section, item)) for item in values}
    return found


def _key(part: Part) -> tuple[str, str]:
    if part.section == "identity":
        return "identity", f"{part.value[0]}={same_words(str(part.value[1]))}"
    return part.section, same_words(part.value if isinstance(part.value, str) else json.dumps(part.value))


def _named(section: str, value: Any) -> tuple[str, ...]:
    names = {"relationships": "name", "environment": "place", "routine": "place"}
    return (str(value.get(names[section], "")),) if section in names else ()


def keys_of(text: str, named: Iterable[str] = ()) -> list[str]:
    """The words by which a program looks up an entry: the people and things named, else its longest words."""
    found = dict.fromkeys(name for name in named if name)
    found |= dict.fromkeys(_NAME.findall(text))
    if not found:
        found = dict.fromkeys(sorted(_WORD.findall(text), key=len, reverse=True)[:3])
    return [without_macros(key) for key in found][:_MOST_KEYS]


def _entry(
    text: str, keys: list[str], ours: Mapping[str, Any], constant: bool = False, priority: int = 100
) -> dict[str, Any]:
    return {
        "keys": keys, "content": without_macros(text), "extensions": {OURS: dict(ours)}, "enabled": True,
        "case_sensitive": False, "name": keys[0] if keys else "", "priority": priority, "constant": constant,
        "position": "before_char",
    }  # fmt: skip


def _listed_entries(entries: object) -> list[dict[str, Any]]:
    listed = entries.values() if isinstance(entries, dict) else entries if isinstance(entries, list) else ()
    return [dict(entry) for entry in listed if isinstance(entry, dict)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
