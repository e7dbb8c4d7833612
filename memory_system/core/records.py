"""Records: a short list of frozen dataclasses as JSON text, read strictly."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..errors import InvalidDocument, InvalidInput, InvalidParameter, Problem, shown
from .json_source import parse_strict

Record = TypeVar("Record")


@dataclass(frozen=True)
class Records(Generic[Record]):
    """How a list of records is written and read.

    Args:
        kind: the dataclass of one, which checks its own fields and keeps lists as tuples.
        called: what several of them are called.
        most: how many there may be.
        max_bytes: how long the text may be, in UTF-8.
        key: the key that must be unique.
    """

    kind: type[Record]
    called: str
    most: int
    max_bytes: int
    key: Callable[[Record], str]

    def parse(self, text: str | None) -> tuple[Record, ...]:
        """The records of a text that ``dump`` wrote; none for ``None``.

        Raises:
            InvalidDocument: everything that is wrong with it, by position in the list.
        """
        if text is None:
            return ()
        source = f"the {self.called}"
        value, _ = parse_strict(text, source, self.max_bytes, InvalidDocument)
        if not isinstance(value, list):
            raise InvalidDocument((Problem("", "expected a list of objects"),), source)
        records: list[Record] = []
        problems: list[Problem] = []
        for number, item in enumerate(value, start=1):
            try:
                records.append(self._made(item))
            except InvalidInput as error:
                problems.append(Problem(f"number {number}", error.sentence))
        if not problems and (problem := self._problem(records)) is not None:
            problems.append(Problem("", problem))
        if problems:
            raise InvalidDocument(tuple(problems), source)
        return tuple(records)

    def dump(self, records: Sequence[Record]) -> str:
        """One line of JSON, with sorted keys so that equal lists have equal texts.

        Raises:
            InvalidParameter: there are too many, two are the same, or the text is too long.
        """
        if (problem := self._problem(records)) is not None:
            raise InvalidParameter(f"These {self.called} cannot be kept: {problem}.")
        fields = [{name: getattr(record, name) for name in self._names} for record in records]
        text = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        if (size := len(text.encode("utf-8"))) > self.max_bytes:
            raise InvalidParameter(
                f"The {self.called} would take {size:,} bytes; at most {self.max_bytes:,} are kept. Remove some first."
            )
        return text

    @property
    def _names(self) -> list[str]:
        kind: Any = self.kind
        return [field.name for field in dataclasses.fields(kind)]

    def _made(self, value: object) -> Record:
        names = self._names
        if not isinstance(value, dict):
            raise InvalidParameter(f"Expected an object with {', '.join(names)}.")
        if unknown := sorted(set(value) - set(names)):
            raise InvalidParameter(f"There is no field {shown(unknown[0])}; there are {', '.join(names)}.")
        if missing := [name for name in names if name not in value]:
            raise InvalidParameter(f"There is no {missing[0]!r}.")
        return self.kind(**value)

    def _problem(self, records: Sequence[Record]) -> str | None:
        if len(records) > self.most:
            return f"there are {len(records):,}, and at most {self.most:,} are kept"
        seen: set[str] = set()
        for record in records:
            key = self.key(record)
            if key in seen:
                return f"{shown(key)} appears twice"
            seen.add(key)
        return None
