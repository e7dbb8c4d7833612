"""What a memory must be: every field checked and brought to its one form while the entry is being made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from .errors import InvalidEntry, shown
from .kinds import (
    FLAGS,
    MAX_DEPTH,
    MAX_DOCUMENT,
    MAX_EXPLANATION,
    MAX_EXTRAS,
    MAX_ID,
    MAX_TAGS,
    RANDOM_ID,
    TYPED,
    Kind,
    Scalar,
    Tier,
)
from .times import parse_time


class Normaliser:
    """Turns what was handed in into what is kept, once, while the frozen entry is being made."""

    def __init__(self, entry: Any) -> None:
        self.entry = entry

    def run(self) -> None:
        """Check and set every field.

        Raises:
            InvalidEntry: a field is not as it should be; the message names the entry and the field.
        """
        entry = self.entry
        self._set("id", self._text("id", entry.id, MAX_ID))
        self._set("document", self._text("document", entry.document, MAX_DOCUMENT))
        given = self._mapping(entry.metadata)
        self._merge(given)
        self._enum("tier", Tier)
        self._enum("kind", Kind)
        for name in ("timestamp", "last_access"):
            self._time(name)
        self._rating()
        self._set("explanation", self._text("explanation", entry.explanation, MAX_EXPLANATION, blank=True))
        for name in ("tags", "evidence"):
            self._words(name)
        for name in FLAGS:
            if not isinstance(getattr(entry, name), bool):
                self._fail(name, "must be true or false")
        if not isinstance(entry.depth, int) or isinstance(entry.depth, bool) or not 0 <= entry.depth <= MAX_DEPTH:
            self._fail("depth", f"must be a whole number from 0 to {MAX_DEPTH:,}")
        extras = self._extras(given)
        if entry.rating is not None:
            extras["importance_score"] = entry.rating / 10
        if entry.timestamp is not None:
            extras["timestamp"] = entry.timestamp.isoformat()
        self._set("metadata", MappingProxyType(extras))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self.entry, name, value)

    def _fail(self, name: str, problem: str) -> None:
        given = self.entry.id
        made_up = isinstance(given, str) and RANDOM_ID.fullmatch(given)
        which = "The memory" if made_up or not isinstance(given, str) else f"Memory {given[:60]!r}"
        raise InvalidEntry(f"{which}: {name} {problem}.")

    def _text(self, name: str, value: object, most: int, *, blank: bool = False) -> str:
        if not isinstance(value, str):
            self._fail(name, f"must be text, not {named(value)}")
            raise AssertionError
        if not blank and not value.strip():
            self._fail(name, "is empty")
        if len(value) > most:
            self._fail(name, f"has {len(value):,} characters; at most {most:,} are taken")
        if "\x00" in value or (name == "id" and not value.isprintable()):
            self._fail(name, "holds a control character")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            self._fail(name, "holds half of a surrogate pair, which is not text")
        return value

    def _mapping(self, value: object) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            self._fail("metadata", f"must be a mapping, not {named(value)}")
            raise AssertionError
        return dict(value)

    def _merge(self, given: dict[str, Any]) -> None:
        """Typed fields from the metadata, where they were not given as arguments."""
        if (score := given.pop("importance_score", None)) is not None:
            if isinstance(score, bool) or not isinstance(score, int | float):
                self._fail("importance_score", f"must be a number, not {named(score)}")
            if not 0.1 <= score <= 1:
                problem = f"is {shown(score)}; it is rating / 10, so 0.1 to 1.0 (7 is written 0.7)"
                self._fail("importance_score", problem)
            self._adopt("rating", round(score * 10, 6))
        for name in TYPED:
            if (value := given.pop(name, None)) is not None:
                if name in {"timestamp", "last_access"}:
                    value = self._parsed(name, value)
                self._adopt(name, value)

    def _adopt(self, name: str, value: Any) -> None:
        default = next(f.default for f in dataclasses.fields(self.entry) if f.name == name)
        held = getattr(self.entry, name)
        if held != default and held is not None:
            if name in {"timestamp", "last_access"}:
                same = self._parsed(name, held) == value
            elif name in {"tags", "evidence"} and isinstance(value, list | tuple) and isinstance(held, list | tuple):
                same = list(held) == list(value)
            else:
                same = held == value
            if not same:
                self._fail(name, f"is given twice, as {shown(held)} and in the metadata as {shown(value)}")
            return
        self._set(name, value)

    def _enum(self, name: str, kind: type[StrEnum]) -> None:
        value = getattr(self.entry, name)
        try:
            self._set(name, kind(value))
        except ValueError:
            self._fail(name, f"is {shown(value)}; it is one of {', '.join(kind)}")

    def _parsed(self, name: str, value: object) -> datetime:
        try:
            return parse_time(value)
        except ValueError as error:
            self._fail(name, str(error))
            raise AssertionError from error

    def _time(self, name: str) -> None:
        value = getattr(self.entry, name)
        if value is not None:
            self._set(name, self._parsed(name, value).astimezone(UTC))

    def _rating(self) -> None:
        rating = self.entry.rating
        if rating is None:
            return
        if isinstance(rating, bool) or not isinstance(rating, int | float):
            self._fail("rating", f"must be a number from 1 to 10, not {named(rating)}")
        if not 1 <= rating <= 10:
            self._fail("rating", f"is {shown(rating)}; the scale is 1 (mundane) to 10 (extremely poignant)")
        self._set("rating", int(rating) if rating == int(rating) else float(rating))

    def _words(self, name: str) -> None:
        value = getattr(self.entry, name)
        if isinstance(value, str) or not isinstance(value, list | tuple | set | frozenset):
            self._fail(name, f"must be a list of texts, not {named(value)}")
        if name == "tags" and len(value) > MAX_TAGS:
            self._fail(name, f"has {len(value)} items; at most {MAX_TAGS} are taken")
        ordered = sorted(value, key=shown) if isinstance(value, set | frozenset) else value
        words = tuple(dict.fromkeys(self._text(name, word, MAX_ID).strip() for word in ordered))
        self._set(name, words)

    def _extras(self, given: dict[str, Any]) -> dict[str, Scalar]:
        if len(given) > MAX_EXTRAS:
            self._fail("metadata", f"has {len(given)} keys of its own; at most {MAX_EXTRAS} are taken")
        extras: dict[str, Scalar] = {}
        for key, value in given.items():
            if not isinstance(key, str) or not key or len(key) > 100 or not key.isprintable():
                self._fail("metadata", "has a key that is not a short text")
            if key.startswith(("chroma:", "memory_system:", "$", "#")) or key in ("id", "document", "metadata", "tier"):
                self._fail("metadata", f"may not use the key {key!r}")
            if value is None:
                continue
            if isinstance(value, str):
                self._text(f"metadata {key!r}", value, MAX_DOCUMENT, blank=True)
            elif isinstance(value, float) and not math.isfinite(value):
                self._fail(f"metadata {key!r}", "is not a finite number")
            elif isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
                self._fail(f"metadata {key!r}", "is a number of more than 64 bits")
            elif not isinstance(value, str | int | float | bool):
                self._fail(f"metadata {key!r}", f"must be text, a number or true/false, not {named(value)}")
            extras[key] = value
        return extras


def named(value: object) -> str:
    """What a value is, for a message: "a list", "nothing"."""
    return "nothing" if value is None else f"a {type(value).__name__}"
