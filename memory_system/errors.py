"""The whole error tree.

    MemorySystemError                  500  something the caller may catch at one place
    ├── InvalidInput                   422  what was handed in cannot be taken; nothing was changed
    │   ├── InvalidEntry                    a memory: its text, time, rating, id or metadata
    │   ├── InvalidAgentName                a name that cannot become a folder and a file
    │   ├── InvalidParameter                a threshold, weight, count or time out of its range
    │   ├── InvalidBackup                   a file that is no backup, or no longer as it was made
    │   └── InvalidDocument                 a JSON text; carries its problems by line and field
    │       ├── InvalidPersonality          the static memory's
    │       └── InvalidFile                 a file of events
    ├── NotFound                       404
    │   ├── AgentNotFound
    │   ├── EntryNotFound
    │   ├── CueNotFound                     a saved cue
    │   ├── ChangeSetNotFound
    │   └── QueryNotFound                   a logged query; old ones are dropped
    ├── Conflict                       409  the world moved on since the caller looked
    │   ├── AlreadyExists
    │   ├── ReadOnlyPast                    an agent as it was cannot be changed
    │   ├── Immutable                       static memory belongs to its author, not to the agent
    │   ├── Protected                       a person protected the memory; unprotect it first
    │   └── StaleChange                     what was planned no longer fits; plan it again
    ├── ModelError                     502  a language model that did not help; what was stored stays stored
    │   ├── ModelUnavailable           503  refused, not found, no credit, wrong key
    │   ├── ModelTimeout               504  no complete answer within the deadline
    │   └── ModelNonsense              502  an answer, but not of the form that was asked for
    ├── EmbedderError                  500  no vectors: weights missing, or not what they should be
    └── StoreError                     500
        ├── StoreBusy                  503  another process holds the agent for longer than we wait
        ├── StoreDamaged               500  files that cannot be opened or do not agree
        │   └── JournalDamaged              the journal's: what the store holds is shown read-only
        ├── ReadOnly                   409  the agent is shown from its store, since its journal is damaged
        └── ForeignStore               409  files that were not made by this system

Every error carries an HTTP ``status``, a short machine-readable ``code`` and a sentence for people that
says what was wrong, where, and what to do.
"""

from __future__ import annotations

from dataclasses import dataclass


def shown(value: object) -> str:
    """A value for a message, cut short; a whole number of thousands of digits has no text at all."""
    try:
        return f"{value!r:.60}"
    except ValueError:
        return "a number of thousands of digits"


class MemorySystemError(Exception):
    """Catch this to catch everything that this package raises on purpose."""

    status = 500
    code = "internal"

    @property
    def sentence(self) -> str:
        """The message for people."""
        return str(self)


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
    """Raise for a file of events that is no JSON."""

    code = "invalid-file"


class NotFound(MemorySystemError, LookupError):
    """Raise when a name or id leads nowhere."""

    status = 404
    code = "not-found"


class AgentNotFound(NotFound):
    """Raise when a world has no such agent."""

    code = "agent-not-found"


class EntryNotFound(NotFound):
    """Raise when an agent has no such memory."""

    code = "entry-not-found"


class CueNotFound(NotFound):
    """Raise when an agent has no saved cue of this name."""

    code = "cue-not-found"


class ChangeSetNotFound(NotFound):
    """Raise when the journal has no such revision."""

    code = "change-set-not-found"


class QueryNotFound(NotFound):
    """Raise when an agent's log has no query of this number, or no longer."""

    code = "query-not-found"


class Conflict(MemorySystemError):
    """Raise when the request is well formed but does not fit what is stored now."""

    status = 409
    code = "conflict"


class AlreadyExists(Conflict):
    """Raise when a name or id is taken."""

    code = "already-exists"


class ReadOnlyPast(Conflict, AttributeError):
    """Raise when an agent as it was is told to do what only the present one can; it has no such attribute."""

    code = "read-only-past"


class Immutable(Conflict):
    """Raise when an operation would write the static memory of an agent."""

    code = "immutable"


class Protected(Conflict):
    """Raise when a memory that a person protected would be changed, moved or forgotten."""

    code = "protected"


class StaleChange(Conflict):
    """Raise when an entry that a change set touches has changed since it was planned."""

    code = "stale-change"


class ModelError(MemorySystemError):
    """Raise when a language model did not help. The message holds no key."""

    status = 502
    code = "model-error"


class ModelUnavailable(ModelError):
    """Raise when the server refuses, is not there, or wants another key; asking again now is no use."""

    status = 503
    code = "model-unavailable"


class ModelTimeout(ModelError):
    """Raise when the deadline passed without a complete answer."""

    status = 504
    code = "model-timeout"


class ModelNonsense(ModelError):
    """Raise when an answer came but is not of the form that was asked for."""

    code = "model-nonsense"


class EmbedderError(MemorySystemError):
    """Raise when texts cannot be turned into vectors."""

    code = "embedder-error"


class StoreError(MemorySystemError):
    """Raise when the files under the database folder cannot be used."""

    code = "store-error"


class StoreBusy(StoreError):
    """Raise when another process holds the agent's lock for longer than we are willing to wait."""

    status = 503
    code = "store-busy"


class StoreDamaged(StoreError):
    """Raise when files cannot be opened or do not agree with each other."""

    code = "store-damaged"


class JournalDamaged(StoreDamaged):
    """Raise when the journal is missing, emptied, cut or older than the store that was written after it."""

    code = "journal-damaged"


class ReadOnly(StoreError):
    """Raise when something would be written to an agent whose journal is damaged. Nothing was changed."""

    status = 409
    code = "read-only"


class ForeignStore(StoreError):
    """Raise when files were not made by this system, before anything in them is run."""

    status = 409
    code = "foreign-store"
