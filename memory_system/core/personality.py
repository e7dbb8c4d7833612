"""The static memory's JSON: its schema, validation with line and field, facts in words, and the atomic save."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from ..errors import InvalidEntry, InvalidParameter, InvalidPersonality, Problem, kind_of
from .entry import Kind, MemoryEntry, Tier
from .files import beside, read_at_most
from .json_source import LineIndex, parse_strict

MAX_PROBLEMS = 100
"""Reported at once; the others show once these are fixed."""
MAX_BYTES = 1_000_000
"""A larger file is refused before it is parsed."""

MAX_PORTRAIT = 200_000
"""Characters of a portrait; one of 256 by 256 pixels has a tenth of that."""
_PORTRAIT = re.compile(r"data:image/webp;base64,UklGR[A-Za-z0-9+/]+={0,2}")

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Short = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
ClockTime = Annotated[str, StringConstraints(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
Lines = Annotated[list[Line], Field(default_factory=list, max_length=500)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Identity(BaseModel):
    """Who the agent is. Other short keys (home, pronouns, ...) may be added."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Line | int | float] = Field(init=False)

    name: Short
    age: int | None = Field(None, ge=0, le=100_000)
    profession: Short | None = None
    description: Line | None = None


class Relationship(_Part):
    """Whom the agent knows, and how far it trusts them: 0 (not at all) to 1 (blindly)."""

    name: Short
    relation: Short | None = None
    trust: float | None = Field(None, ge=0, le=1)
    notes: Line | None = None


class Place(_Part):
    """A place of the agent's world, and the place that it lies in, as a room does in a house."""

    place: Short
    description: Line
    within: Short | None = None


class RoutineItem(_Part):
    """What the agent usually does at a time of day (HH:MM, the world's time)."""

    time: ClockTime
    until: ClockTime | None = None
    activity: Line
    place: Short | None = None

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> RoutineItem:
        if self.until is not None and self.until <= self.time:
            raise ValueError("'until' must be later than 'time'; split what goes past midnight in two")
        return self


class Personality(_Part):
    """An agent's static memory: immutable to the agent, never decays."""

    schema_ref: str | None = Field(None, alias="$schema")
    identity: Identity
    traits: Lines
    long_term_goals: Lines
    relationships: list[Relationship] = Field(default_factory=list, max_length=500)
    societal_rules: Lines
    environment: list[Place] = Field(default_factory=list, max_length=500)
    routine: list[RoutineItem] = Field(default_factory=list, max_length=500)
    facts: Lines


def _placed(place: Place) -> str:
    return f"{place.place} (in {place.within})" if place.within else place.place


def json_schema() -> dict[str, Any]:
    """The published JSON schema (a test keeps ``agent_personalities/schema.json`` equal to it)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Personality.model_json_schema()}


def as_text(given: object) -> str:
    """A personality as the JSON that is stored, from such JSON or a dict.

    Raises:
        InvalidParameter: it is neither.
    """
    if isinstance(given, Mapping):
        try:
            return json.dumps(given, ensure_ascii=False, indent=2) + "\n"
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidParameter(f"The personality cannot be written as JSON: {error}.") from error
    if not isinstance(given, str):
        raise InvalidParameter(f"The personality must be a dict or JSON text, not {kind_of(given)}.")
    return given


def parse(text: str | bytes, source: str = "the personality") -> Personality:
    """The personality in a JSON text.

    Args:
        text: UTF-8, at most a megabyte.
        source: how errors name it, such as its file name.

    Raises:
        InvalidPersonality: everything that is wrong with it, with line and field.
    """
    document, decoded = parse_strict(text, source, MAX_BYTES, InvalidPersonality)
    if not isinstance(document, dict):
        kind = "a list" if isinstance(document, list) else "a single value"
        raise InvalidPersonality(
            (Problem("", f"it is {kind} at the top; it must be an object with an 'identity'", 1),), source
        )
    try:
        personality = Personality.model_validate(document)
    except ValidationError as error:
        lines = LineIndex(decoded)
        by_field: dict[str, Problem] = {}  # a value that may be of several types is reported once
        for detail in error.errors(include_url=False, include_input=False):
            problem = _problem(lines, detail)
            by_field.setdefault(problem.field, problem)
            if len(by_field) == MAX_PROBLEMS:
                break
        raise InvalidPersonality(tuple(by_field.values()), source) from error
    if problems := tuple(islice(_no_memories(personality, decoded), MAX_PROBLEMS)):
        raise InvalidPersonality(problems, source)
    return personality


def _problem(lines: LineIndex, detail: Any) -> Problem:
    path = detail["loc"]
    if path[:1] == ("identity",):
        path = path[:2]  # what follows one of the author's own keys is the type that was tried
    field = ".".join(str(part + 1) if isinstance(part, int) else part for part in path)
    message = {
        "int_type": "this must be a whole number",
        "int_parsing": "this must be a whole number",
        "float_type": "this must be a number",
        "string_type": "this must be text",
        "list_type": "this must be a list",
        "dict_type": "this must be an object",
        "model_type": "this must be an object",
        "extra_forbidden": "there is no such field; put free facts under 'facts'",
        "missing": "this field is required",
        "string_too_short": "this is empty",
        "string_pattern_mismatch": "this must be a time of day like 07:30",
    }.get(detail["type"])
    limit = next((detail["ctx"][key] for key in ("le", "ge", "max_length") if key in detail.get("ctx", {})), None)
    if detail["type"] == "less_than_equal":
        message = f"this may be {limit:g} at most"
    elif detail["type"] == "greater_than_equal":
        message = f"this may be {limit:g} at least"
    elif detail["type"] == "string_too_long":
        message = f"this may have {limit:,} characters at most"
    if message is None:
        words = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
        message = f"this {words[0].lower()}{words[1:]}" if detail["msg"].startswith("Input") else words
    return Problem(field, message, lines.of(path))


def _no_memories(personality: Personality, text: str) -> Iterator[Problem]:
    """Facts that no memory can hold, and those that would be the same memory.

    Their ids are derived from their text or from the person they are about.
    """
    seen: dict[str, str] = {}
    lines = LineIndex(text)
    for path, entry_id, words in _facts(personality):
        field = ".".join(str(part + 1) if isinstance(part, int) else part for part in path)
        try:
            _memory(path, entry_id, words)
        except InvalidEntry as error:
            yield Problem(field, f"this cannot be remembered: {error.sentence.rstrip('.')}", lines.of(path))
        if entry_id in seen:
            yield Problem(field, f"this says the same as {seen[entry_id]}", lines.of(path))
        seen.setdefault(entry_id, field)


def facts(personality: Personality) -> list[MemoryEntry]:
    """Each fact as one memory in readable words, with an id that stays the same while its subject does."""
    return [_memory(path, entry_id, words) for path, entry_id, words in _facts(personality)]


def personal(personality: Personality, most: int = 2000) -> str:
    """Who somebody is, in words, to judge how much an event means to them; at most ``most`` characters.

    That is identity, goals, relationships, traits and facts; places, rules and the daily routine are left out.
    """
    lines, left = list[str](), most
    sections = ("identity", "long_term_goals", "relationships", "traits", "facts")
    entries = facts(personality)
    for fact in (entry for section in sections for entry in entries if entry.extras["section"] == section):
        left -= len(fact.document) + 1
        if left < 0:
            break
        lines.append(" ".join(fact.document.split()))
    return "\n".join(lines)


_Path = tuple[str | int, ...]


def _memory(path: _Path, entry_id: str, words: str) -> MemoryEntry:
    return MemoryEntry(words, {"section": str(path[0])}, entry_id, tier=Tier.STATIC, kind=Kind.FACT)


def _facts(personality: Personality) -> Iterator[tuple[_Path, str, str]]:
    """Every fact as (path in the JSON, id, words)."""
    who = personality.identity.name
    yield from _identity(personality.identity)
    for section, words in (
        ("traits", "{who} is: {text}"),
        ("long_term_goals", "A long-term goal of {who}: {text}"),
        ("societal_rules", "A rule where {who} lives: {text}"),
        ("facts", "{text}"),
    ):
        for row, text in enumerate(getattr(personality, section)):
            yield (section, row), _id(section, text), words.format(who=who, text=text)
    for row, other in enumerate(personality.relationships):
        yield ("relationships", row), _id("relationships", other.name), _relationship(who, other)
    for row, place in enumerate(personality.environment):
        yield ("environment", row), _id("environment", place.place), f"{_placed(place)}: {place.description}"
    for row, item in enumerate(personality.routine):
        span = f"from {item.time} to {item.until}" if item.until else f"at {item.time}"
        where = f" ({item.place})" if item.place else ""
        yield ("routine", row), _id("routine", item.time), f"Every day {span}, {who}: {item.activity}{where}"


def _identity(identity: Identity) -> Iterator[tuple[_Path, str, str]]:
    who = identity.name
    yield ("identity", "name"), _id("identity", "name"), f"The name is {who}."
    if identity.age is not None:
        yield ("identity", "age"), _id("identity", "age"), f"{who} is {identity.age} years old."
    if identity.profession:
        yield (
            ("identity", "profession"),
            _id("identity", "profession"),
            f"{who} works as: {identity.profession}.",
        )
    if identity.description:
        yield ("identity", "description"), _id("identity", "description"), identity.description
    for key, value in (identity.__pydantic_extra__ or {}).items():
        yield ("identity", key), _id("identity", key), f"{who}, {key.replace('_', ' ')}: {value}"


def _relationship(who: str, other: Relationship) -> str:
    parts = [f"{other.name} is to {who}: {other.relation}." if other.relation else f"{who} knows {other.name}."]
    if other.trust is not None:
        parts.append(trusts(who, other.name, other.trust))
    if other.notes:
        parts.append(other.notes)
    return " ".join(parts)


def trusts(who: str, other: str, trust: float) -> str:
    """A sentence about how far somebody trusts another, from 0 to 1."""
    limits = ((0.2, "hardly at all"), (0.4, "little"), (0.6, "somewhat"), (0.8, "well"))
    words = next((words for limit, words in limits if trust < limit), "deeply")
    return f"{who} trusts {other} {words} ({trust:g} of 1)."


def _id(section: str, subject: str) -> str:
    readable = re.sub(r"[^\w]+", "-", subject.casefold()).strip("-")[:40]
    return f"static:{section}:{readable}:{hashlib.sha256(subject.casefold().encode()).hexdigest()[:8]}"


def dump(personality: Personality) -> str:
    """The JSON text of a personality, as it is saved: indented, without empty fields."""
    body = personality.model_dump(by_alias=True, exclude_none=True)
    return json.dumps(body, ensure_ascii=False, indent=2) + "\n"


def is_portrait(text: str) -> bool:
    """Whether a text is a portrait as it is stored: a data URL of a WebP picture, and nothing else."""
    return len(text) <= MAX_PORTRAIT and _PORTRAIT.fullmatch(text) is not None


def refuse_no_portrait(text: str | None) -> None:
    """Do nothing if it is a portrait or ``None``.

    Raises:
        InvalidParameter: it is something else.
    """
    if text is not None and not is_portrait(text):
        raise InvalidParameter(
            f"A portrait is a WebP picture as 'data:image/webp;base64,...', of at most {MAX_PORTRAIT:,} characters."
        )


MAX_CARD = 20_000_000
"""Characters of a character card that is stored."""


def refuse_no_card(text: str | None) -> None:
    """Do nothing if it is the JSON of a character card or ``None``.

    Raises:
        InvalidParameter: it is something else.
    """
    if text is None:
        return
    try:
        card = json.loads(text) if len(text) <= MAX_CARD else None
    except (ValueError, RecursionError):
        card = None
    if not isinstance(card, dict):
        raise InvalidParameter(f"A card is a JSON object of at most {MAX_CARD:,} characters.")


def read(path: Path) -> str | None:
    """The text of a personality file, or ``None`` if there is none.

    Raises:
        InvalidPersonality: it cannot be read, is a symbolic link, is too large, or not UTF-8.
    """
    if path.is_symlink():
        wrong = "it cannot be read: it is a symbolic link, which may lead anywhere; put the file itself there"
        raise InvalidPersonality((Problem("", wrong),), path.name)
    try:
        raw = read_at_most(path, MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidPersonality((Problem("", f"it cannot be read: {error.strerror or error}"),), path.name) from error
    if len(raw) > MAX_BYTES:
        raise InvalidPersonality((Problem("", "it is larger than a megabyte"),), path.name)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = Problem("", f"byte {error.start} is not UTF-8; save the file as UTF-8")
        raise InvalidPersonality((problem,), path.name) from error


def write(path: Path, text: str | None) -> None:
    """Save the text so that a reader sees the old file or the new one, never half; ``None`` removes the file."""
    if text is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with beside(path, text, durable=True) as scratch:
        scratch.chmod(0o644)
        scratch.replace(path)


def refuse_unwritable(path: Path, text: str) -> None:
    """Do nothing if the text could be saved there now.

    Raises:
        OSError: it could not, such as for lack of space or of permission.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with beside(path, text, durable=True):
        pass
