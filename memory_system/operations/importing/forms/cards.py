"""Character cards of Tavern, V1 to V3, and lorebooks: who somebody is, and what they know of their world.

According to the specifications of malfoyslastname/character-card-spec-v2 and kwaroran/character-card-spec-v3. What is
written for a language model is a stranger's instruction, and never becomes something that the character knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ....core.personality import Personality
from ...macros import as_said
from .material import MAX_LINE, Gathering, Origin, Part, refusal

MAX_ENTRIES = 10_000
"""The most entries of a lorebook that are read."""
OURS = "memory_system"
"""The name under ``extensions`` of an entry for what only this program uses, in a card that it wrote."""
_SECTIONS = frozenset(Personality.model_fields) - {"schema_ref"}
_SPECS = ("chara_card_v2", "chara_card_v3")
_OF_V1 = frozenset({"description", "personality", "scenario", "first_mes", "mes_example"})
_CHARACTER = re.compile(r"\{\{\s*char\s*\}\}|<(?:char|bot)>", re.IGNORECASE)
_USER = re.compile(r"\{\{\s*user\s*\}\}|<user>", re.IGNORECASE)
_DECORATOR = re.compile(r"^@@@?[A-Za-z_].*(?:\n|$)", re.MULTILINE)
_EXAMPLE = re.compile(r"<START>", re.IGNORECASE)
_TRAITS = re.compile(r"[,;\n]+")
_MOST_WORDS = 8
"""The most words in a trait; a longer one is a sentence."""
_OTHER_PERSON = "the other person"
_KEPT = "it is kept with the card"
_LEFT = {
    "first_mes": f"A greeting begins a talk; it has not happened. {_KEPT.capitalize()}.",
    "system_prompt": f"An instruction to a language model, not something that a character knows; {_KEPT}.",
    "post_history_instructions": f"An instruction to a language model, not something that a character knows; {_KEPT}.",
    "creator_notes": f"It is about the card, not about the character; {_KEPT}.",
    "creator": f"It is about the card, not about the character; {_KEPT}.",
    "character_version": f"It is about the card, not about the character; {_KEPT}.",
    "tags": f"It is about the card, not about the character; {_KEPT}.",
    "alternate_greetings": f"A greeting begins a talk; it has not happened. {_KEPT.capitalize()}.",
    "group_only_greetings": f"A greeting begins a talk; it has not happened. {_KEPT.capitalize()}.",
}
_TAKEN = {"name", "nickname", "character_book", "extensions", "assets", *_OF_V1}
"""What is read from a card; ``assets`` reads its files and pictures."""
_OF_FILES = frozenset({"creation_date", "modification_date", "source", "creator_notes_multilingual"})


def is_card(value: Mapping[str, Any]) -> bool:
    """Whether an object is a character card, of whatever version."""
    if value.get("spec") in _SPECS and isinstance(value.get("data"), dict):
        return True
    card = value.get("data") if isinstance(value.get("data"), dict) else value
    assert isinstance(card, Mapping), "one of the two"
    return "name" in card and len(_OF_V1 & set(card)) >= 2


def is_lorebook(value: Mapping[str, Any]) -> bool:
    """Whether an object is a lorebook on its own."""
    if value.get("spec") == "lorebook_v3" and isinstance(value.get("data"), dict):
        return True
    entries = value.get("entries")
    first = next(iter(entries.values() if isinstance(entries, dict) else entries or ()), None) if entries else None
    return isinstance(first, dict) and "content" in first and bool({"key", "keys", "insertion_order"} & set(first))


def read_card(value: Mapping[str, Any], into: Gathering) -> None:
    """Read a card.

    Raises:
        InvalidFile: it has no name, or its lorebook is too large.
    """
    within = isinstance(value.get("data"), dict)
    data: Mapping[str, Any] = value["data"] if within else value
    at = "data." if within else ""
    name = data.get("name")
    if not isinstance(name, str) or not name.strip():
        raise refusal("the card has no name")
    said = _Said(name.strip(), data)
    spec = str(value.get("spec", ""))
    into.note(f"The card is of version {str(value.get('spec_version') or spec[-1:] or '1')[:10]}.")
    into.identity(f"{at}name", "name", name)
    into.identity(f"{at}nickname", "nickname", said.plain(data.get("nickname")))
    into.identity(f"{at}description", "description", said.plain(data.get("description")))
    _personality(f"{at}personality", said.plain(data.get("personality")), into)
    into.lines(f"{at}scenario", "facts", said.plain(data.get("scenario")))
    if isinstance(examples := said.plain(data.get("mes_example")), str):
        for number, example in enumerate(_EXAMPLE.split(examples), start=1):
            if example.strip():
                spoken = " / ".join(line.strip() for line in example.splitlines() if line.strip())
                into.lines(f"{at}mes_example.{number}", "facts", f"How {said.name} speaks: {spoken}")
    for field, content in data.items():
        if field in _LEFT:
            for place, text in _texts(f"{at}{field}", content):
                into.drop(place, text, _LEFT[field])
        elif within and field not in _TAKEN | _OF_FILES and content not in (None, "", [], {}):
            into.drop(f"{at}{field}", content, f"No specification says what this is; {_KEPT}.")
    if data.get("extensions"):
        names = ", ".join(map(str, list(data["extensions"])[:5])) if isinstance(data["extensions"], dict) else ""
        into.note(f"Kept with the card for when it is exported: extensions ({names})."[:300])
    if isinstance(data.get("character_book"), dict):
        _read_book(data["character_book"], f"{at}character_book", said, into)


def with_extensions(card: str, held: str | None) -> str:
    """An imported card, plus the ``extensions`` of the stored one that it lacks: nothing else keeps those.

    Args:
        card: JSON.
        held: the JSON of the card that the character has; ``None`` = it has none.
    """
    after, before = json.loads(card.removeprefix("\ufeff")), json.loads(held or "{}")
    ours, theirs = (_data_of(document) for document in (after, before))
    kept, lost = (fields.get("extensions") for fields in (ours, theirs))
    lacking = {key: value for key, value in lost.items() if key not in (kept or {})} if isinstance(lost, dict) else {}
    if not lacking or not isinstance(kept, dict | None):
        return card
    ours["extensions"] = {**(kept or {}), **lacking}
    return json.dumps(after, ensure_ascii=False)


def _data_of(card: Any) -> dict[str, Any]:
    fields = card.get("data") if isinstance(card, dict) else None
    return fields if isinstance(fields, dict) else card if isinstance(card, dict) else {}


def parts_of(card: Mapping[str, Any], said: Mapping[str, Any], now: datetime) -> list[Part]:
    """The parts of a character that a few fields of a card become, its names aside.

    Args:
        card: the card's data, whose names replace ``{{char}}``.
        said: those fields.
        now: the world's time.
    """
    name = card.get("name")
    named = {"name": name if isinstance(name, str) and name.strip() else "somebody", "nickname": card.get("nickname")}
    into = Gathering(Origin.CARD, now)
    read_card({"spec": _SPECS[1], "data": {**named, **said}}, into)
    return [part for part in into.parts if part.section != "identity" or part.value[0] not in named]


def read_lorebook(value: Mapping[str, Any], into: Gathering) -> None:
    """Read a lorebook on its own, also in SillyTavern's own form.

    Raises:
        InvalidFile: it has too many entries.
    """
    data = value["data"] if value.get("spec") == "lorebook_v3" else value
    _read_book(data, "lorebook", _Said(into.who or "the character", data), into)


class _Said:
    """The texts of a card, with names in place of the macros for the character and for who talks with it."""

    def __init__(self, name: str, data: Mapping[str, Any]) -> None:
        self.name = name
        nickname = data.get("nickname")
        self._called = nickname.strip() if isinstance(nickname, str) and nickname.strip() else name

    def plain(self, text: object) -> object:
        return as_said(self.named(text)).strip() if isinstance(text, str) else text

    def named(self, text: str) -> str:
        """A text with names in place of macros; escaped macros stay as they are."""
        return _USER.sub(lambda _: _OTHER_PERSON, _CHARACTER.sub(lambda _: self._called, text))


def is_of_a_list(trait: str) -> bool:
    """Whether a trait can be written in a list of traits and read back as the same."""
    return not _TRAITS.search(trait) and trait.strip(" .\t") == trait and _is_short(trait)


def _is_short(trait: str) -> bool:
    return len(trait.split()) <= _MOST_WORDS


def _personality(place: str, text: object, into: Gathering) -> None:
    """Traits if it is a list of them, else one per sentence."""
    if not isinstance(text, str):
        into.lines(place, "traits", text)
        return
    parts = [part.strip(" .\t") for part in _TRAITS.split(text) if part.strip(" .\t")]
    listed = len(parts) > 1 and all(map(_is_short, parts))
    for trait in parts if listed else [text]:
        into.lines(place, "traits", trait)


def _read_book(book: Mapping[str, Any], at: str, said: _Said, into: Gathering) -> None:
    entries = book.get("entries") or []
    if not isinstance(entries, dict | list):
        into.drop(f"{at}.entries", entries, "It is not a list of entries.")
        return
    listed = list(entries.items()) if isinstance(entries, dict) else list(enumerate(entries, start=1))
    if len(listed) > MAX_ENTRIES:
        raise refusal(f"the lorebook has {len(listed):,} entries; at most {MAX_ENTRIES:,} are allowed")
    for number, entry in listed:
        place = f"{at}.entries.{number}"
        if not isinstance(entry, dict):
            into.drop(place, entry, "It is not an entry of a lorebook.")
            continue
        content = entry.get("content")
        if not isinstance(content, str):
            into.drop(place, content, "It has no text.")
            continue
        whole = as_said(_DECORATOR.sub("", said.named(content)))
        text = whole.strip()
        if entry.get("enabled") is False or entry.get("disable") is True:
            into.drop(place, text, "It is switched off in the lorebook.")
        elif not text:
            into.drop(place, content or _title(entry), "It has no text.")
        elif not _restored(place, entry, whole, into):
            into.lines(place, "facts", _about(entry, text, said))


def _restored(place: str, entry: Mapping[str, Any], text: str, into: Gathering) -> bool:
    """Restore what this program exported as what it was, unless its text has been changed since."""
    beside = entry.get("extensions")
    ours = beside.get(OURS) if isinstance(beside, Mapping) else None
    if not isinstance(ours, Mapping):
        return False
    if "id" in ours:
        before = str(ours.get("before", ""))
        fields = {name: value for name, value in ours.items() if name != "before"}
        into.restore(place, {**fields, "document": text.removeprefix(before)})
        return True
    section, value = ours.get("section"), ours.get("value", text)
    if ours.get("said") != text or section not in _SECTIONS:
        return False
    if section == "identity":
        if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and value[0].isidentifier():
            into.identity(place, value[0], value[1])
    elif isinstance(value, Mapping):
        into.part(place, section, value)
    else:
        into.parts.append(Part(place, section, value))
    return True


def _about(entry: Mapping[str, Any], text: str, said: _Said) -> str:
    """What an entry says, with what it is about if its text does not say so."""
    keys = entry.get("keys", entry.get("key"))
    listed = keys if isinstance(keys, list) and not entry.get("use_regex") else []
    named = [one for one in listed if isinstance(one, str) and one.strip()]
    title = _title(entry)
    names = [str(said.plain(name)) for name in (title, *named) if name]
    if not names or any(name.casefold() in text.casefold() for name in names) or len(names[0]) > MAX_LINE // 10:
        return text
    return f"{names[0]}: {text}"


def _title(entry: Mapping[str, Any]) -> str:
    return next((title.strip() for title in (entry.get("name"), entry.get("comment")) if isinstance(title, str)), "")


def _texts(place: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, list):
        yield from ((f"{place}.{number}", item) for number, item in enumerate(value, start=1) if item not in (None, ""))
    elif value not in (None, "", {}):
        yield place, value
