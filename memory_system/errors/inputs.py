"""What was handed in cannot be taken."""

from __future__ import annotations

from dataclasses import dataclass

from .base import MemorySystemError


class InvalidInput(MemorySystemError, ValueError):
    """Raise when the caller can mend it by handing in something else. Nothing was changed."""

    status = 422
    code = "invalid-input"


class InvalidEntry(InvalidInput):
    """Raise for one memory that cannot be taken; the message names which one and which field."""

    code = "invalid-entry"


class InvalidAgentName(InvalidInput):
    """Raise before a name is used to build any path."""

    code = "invalid-agent-name"


class InvalidParameter(InvalidInput):
    """Raise for a number or time out of its range; the message gives the range."""

    code = "invalid-parameter"


class InvalidBackup(InvalidInput):
    """Raise for a file that cannot be restored, before anything is changed."""

    code = "invalid-backup"


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a document: where (1-based line, dotted field) and what."""

    field: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = ", ".join(part for part in (f"line {self.line}" if self.line else "", self.field) if part)
        return f"{where}: {self.message}" if where else self.message


class InvalidDocument(InvalidInput):
    """Raise for a JSON text that cannot be taken; ``problems`` lists all that was found."""

    code = "invalid-document"

    def __init__(self, problems: tuple[Problem, ...], source: str) -> None:
        self.problems = problems
        shown = "; ".join(str(problem) for problem in problems[:3])
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        super().__init__(f"In {source}: {shown}{more}")


class InvalidPersonality(InvalidDocument):
    """Raise for a personality that does not fit the schema."""

    code = "invalid-personality"


class InvalidFile(InvalidDocument):
    """Raise for a file of events that is no JSON, or a document that cannot be read."""

    code = "invalid-file"
