"""The whole error tree.

    MemorySystemError                  500  the base: catch it to catch everything
    ├── InvalidInput                   422  the input was refused; nothing was changed
    │   ├── InvalidEntry                    a memory: its text, time, rating, id or metadata
    │   ├── InvalidAgentName                a name that cannot become a folder and a file
    │   ├── InvalidParameter                a threshold, weight, count or time out of its range
    │   ├── InvalidBackup                   a file that is not a backup, or has been altered since
    │   └── InvalidDocument                 a JSON text; carries its problems by line and field
    │       ├── InvalidPersonality          the static memory's
    │       └── InvalidFile                 a file of events, or a document for the archive
    ├── NotFound                       404
    │   ├── AgentNotFound
    │   ├── WorldNotFound
    │   ├── EntryNotFound
    │   ├── CueNotFound                     a saved cue
    │   ├── ConversationNotFound
    │   ├── ChangeSetNotFound
    │   └── QueryNotFound                   a logged query; old ones are dropped
    ├── Conflict                       409  the request does not fit what is stored now
    │   ├── AlreadyExists
    │   ├── ReadOnlyPast                    an agent as it was cannot be changed
    │   ├── Immutable                       static memory belongs to its author, not to the agent
    │   ├── Protected                       a person protected the memory; unprotect it first
    │   ├── StaleChange                     what was planned no longer fits; plan it again
    │   └── StaleRevision              412  an edit was based on another revision than the present one
    ├── NotSignedIn                    401  a server needs to know who is asking
    ├── NotAllowed                     403  the caller may read but not change anything
    ├── TooMany                        429  more at once than one server accepts
    ├── ModelError                     502  a language model failed to help; what was stored is kept
    │   ├── BudgetSpent                402  the call would exceed the agent's budget
    │   ├── ModelUnavailable           503  refused, not found, no credit, wrong key
    │   ├── ModelTimeout               504  no complete answer within the deadline
    │   ├── ModelOverflow              413  the prompt is longer than the model's context
    │   └── ModelNonsense              502  an answer, but not of the requested form
    │       └── UnknownLanguage        422  a text in a language that the model cannot read
    ├── EmbedderError                  500  no vectors: weights missing, or not what they should be
    ├── ExtraMissing                   501  a feature whose packages were not installed
    └── StoreError                     500
        ├── ServerUnavailable          503  a server that is needed cannot be reached, or its reply makes no sense
        ├── StoreUnavailable           503  the server that keeps memories cannot be reached, or takes too long
        ├── Exhausted                  503  the machine is out of memory, threads or file handles
        ├── StoreBusy                  503  another process holds the agent for longer than we wait
        ├── StoreDamaged               500  files that cannot be opened or do not agree
        │   └── JournalDamaged              the journal's: what the store holds is shown read-only
        ├── ReadOnly                   409  its journal is damaged and its store shown, or its disk is read-only
        ├── OtherEmbedder              409  the agent's vectors were made by another embedder than the chosen one
        ├── AgentGone                  409  the agent was closed, renamed, deleted or replaced
        └── ForeignStore               409  files that were not made by this system

Every error carries an HTTP ``status``, a short machine-readable ``code`` and a sentence for people that
says what was wrong, where, and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

_SHOWN = 60
"""Characters of a value in a message."""


def shown(value: object) -> str:
    """A value as a message shows it, cut short; handles whole numbers of thousands of digits, which have no text."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    if len(text) <= _SHOWN:
        return text
    end = text[-1] if text[-1] in "'\")]}>" else ""
    return f"{text[: _SHOWN - 1 - len(end)]}…{end}"


FROM_ELSEWHERE = (Exception, SystemExit)
"""What code of another package may raise. A program is not ended by it, only by its user (``KeyboardInterrupt``)."""


def words_of(error: BaseException) -> str:
    """An error of another package as a message shows it: its type and its text on one line, with a full stop."""
    try:
        text = " ".join(str(error).split())[:300]
    except Exception:  # noqa: BLE001 - it may be unable to say even that
        text = ""
    told = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return told if told.endswith((".", "!", "?", "…")) else f"{told}."


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """The end of a message that suggests names like an unknown one; empty where none is alike."""
    there = {name.casefold(): name for name in names}
    near = get_close_matches(name[:_SHOWN].casefold(), there, n=1, cutoff=0.7) if isinstance(name, str) else []
    return f" Did you mean {str(there[near[0]])!r}?" if near else ""


def quoted_words(said: str) -> list[str]:
    """The words in single quotation marks in a message of a library, such as those that it accepts."""
    return re.findall(r"'([^']*)'", said)


def there_is_no(what: str, name: object, names: Iterable[str]) -> str:
    """The sentence for an unknown name: which names exist, and which may be meant."""
    there = tuple(names)
    return f"There is no {what} {shown(name)}; there are {', '.join(there)}.{did_you_mean(name, there)}"


def kind_of(value: object) -> str:
    """The type of a value, for a message: "an int", "a list", "nothing"."""
    name = type(value).__name__
    if value is None or name == "bytes":
        return "nothing" if value is None else name
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def problem_words(problem: Mapping[str, Any]) -> str:
    """What pydantic finds wrong with one field, in words that say what to do."""
    kind = str(problem["type"])
    if kind.startswith("datetime_"):
        kind = "datetime"
    if (template := _PROBLEMS.get(kind)) is None:
        return str(problem["msg"]).removeprefix("Value error, ").rstrip(".")
    about = problem.get("ctx", {})
    if about.get("min_length") == 1:
        return "It is empty"
    return template.format(**{name: _grouped(value) for name, value in about.items()})


def _grouped(value: object) -> object:
    """A number with thousands separators, for a sentence."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value:,}" if isinstance(value, int | float) else value


_LIKE = "like 2026-03-27T18:00:00+00:00"
_NUMBER, _WHOLE, _OBJECT = "It must be a number", "It must be a whole number", 'It must be an object: {{"name": value}}'
_PROBLEMS = {
    "missing": "It is missing",
    "extra_forbidden": "There is no such field",
    "timezone_aware": f"The zone is missing; write it {_LIKE}",
    "datetime": f"It must be a time; write it {_LIKE}",
    "string_type": "It must be a text",
    "string_unicode": "It contains half of a surrogate pair, which is not text",
    "string_too_short": "It must have {min_length} characters or more",
    "string_too_long": "It must have {max_length} characters or fewer",
    "path_type": "It must be the path of a folder",
    "list_type": "It must be a list",
    "too_short": "It must have {min_length} items or more, not {actual_length}",
    "too_long": "It must have {max_length} items or fewer, not {actual_length}",
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "bool_type": "It must be true or false",
    "bool_parsing": "It must be true or false",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": "It has thousands of digits",
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "greater_than_equal": "It must be {ge} or more",
    "greater_than": "It must be more than {gt}",
    "less_than_equal": "It must be {le} or less",
    "less_than": "It must be less than {lt}",
    "enum": "It must be {expected}",
    "literal_error": "It must be {expected}",
    "string_pattern_mismatch": "It must match the pattern {pattern}",
}
"""By the type of a problem; pydantic's context fills the braces."""


class MemorySystemError(Exception):
    """The base: catch it to catch everything that this package raises on purpose."""

    status = 500
    code = "internal"

    @property
    def sentence(self) -> str:
        """The message for people."""
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Unpickle to the same error, as in a pool of processes: some are made of more than a sentence."""
        return _raised_elsewhere, (type(self), self.args, self.__dict__)


def _raised_elsewhere(kind: type[MemorySystemError], arguments: tuple[object, ...], more: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(more)
    return error


class ExtraMissing(MemorySystemError):
    """Raise when a feature's packages are not installed.

    Args:
        what: what needs them, as the beginning of a sentence.
        extra: the extra that installs them.
    """

    status = 501
    code = "extra-missing"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs packages that are not installed. Run: pip install 'memory-system[{extra}]'")


class InvalidInput(MemorySystemError, ValueError):
    """Raise when the caller can fix it by passing something else. Nothing was changed."""

    status = 422
    code = "invalid-input"


class InvalidEntry(InvalidInput):
    """Raise for one memory that is refused; the message names which one and which field."""

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
    """Raise for a JSON text that is refused; ``problems`` lists all that was found."""

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
    """Raise for a file of events that is not JSON, or a document that cannot be read."""

    code = "invalid-file"


class ModelError(MemorySystemError):
    """Raise when a language model did not help. The message holds no key."""

    status = 502
    code = "model-error"
    usage: tuple[int, int] | None = None
    """Tokens sent and received all the same, as far as the server counted them."""


class BudgetSpent(ModelError):
    """Raise before a call that may use more than is left of the agent's budget; the model was not asked."""

    status = 402
    code = "budget-spent"


class ModelUnavailable(ModelError):
    """Raise when the server refuses, is not there, or wants another key; asking again now is no use.

    Args:
        sentence: the message for people.
        retry_after: seconds after which the server asks to be tried again, if it said so.
    """

    status = 503
    code = "model-unavailable"

    def __init__(self, sentence: str, *, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.retry_after = retry_after


class ModelTimeout(ModelError):
    """Raise when the deadline passed without a complete answer."""

    status = 504
    code = "model-timeout"


class ModelOverflow(ModelError):
    """Raise when the prompt is longer than the model's context; a shorter message may be answered."""

    status = 413
    code = "model-overflow"


class ModelNonsense(ModelError):
    """Raise when an answer does not have the requested form."""

    code = "model-nonsense"


class UnknownLanguage(ModelNonsense):
    """Raise when a text is in a language that the model cannot read; it can help with others."""

    status = 422
    code = "unknown-language"


class EmbedderError(MemorySystemError):
    """Raise when texts cannot be turned into vectors."""

    code = "embedder-error"


class NotFound(MemorySystemError, LookupError):
    """Raise when nothing has the name or id."""

    status = 404
    code = "not-found"


class AgentNotFound(NotFound):
    """Raise when a world has no such agent."""

    code = "agent-not-found"


class WorldNotFound(NotFound):
    """Raise when the folder of all worlds has no such world."""

    code = "world-not-found"


class EntryNotFound(NotFound):
    """Raise when an agent has no such memory."""

    code = "entry-not-found"


class CueNotFound(NotFound):
    """Raise when an agent has no saved cue of this name."""

    code = "cue-not-found"


class ConversationNotFound(NotFound):
    """Raise when an agent has no conversation of this id."""

    code = "conversation-not-found"


class ChangeSetNotFound(NotFound):
    """Raise when the journal has no such revision."""

    code = "change-set-not-found"


class QueryNotFound(NotFound):
    """Raise when an agent's log has no query of this number, or has dropped it."""

    code = "query-not-found"


class Conflict(MemorySystemError):
    """Raise when the request is well formed but does not fit what is stored now."""

    status = 409
    code = "conflict"


class AlreadyExists(Conflict):
    """Raise when a name or id is taken."""

    code = "already-exists"


class ReadOnlyPast(Conflict):
    """Raise when a past state of an agent is asked to do what only the present one can."""

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


class StaleRevision(Conflict):
    """Raise when an edit is based on a named revision, and the agent has changed since."""

    status = 412
    code = "stale-revision"


class NotSignedIn(MemorySystemError):
    """Raise when a server needs a password or a token, and it is missing or wrong."""

    status = 401
    code = "not-signed-in"


class NotAllowed(MemorySystemError):
    """Raise when a viewer tries to change something. Nothing was changed."""

    status = 403
    code = "not-allowed"


class TooMany(MemorySystemError):
    """Raise when a server is asked for more than it accepts, or too often; asking again later may help."""

    status = 429
    code = "too-many"


class StoreError(MemorySystemError):
    """Raise when the files under the database folder cannot be used."""

    code = "store-error"


class ServerUnavailable(StoreError):
    """Raise in a client when its server cannot be reached; whether the last write was done is not known."""

    status = 503
    code = "server-unavailable"


class StoreUnavailable(StoreError):
    """Raise when the server that keeps memories for us does not answer as it should; the journal loses nothing."""

    status = 503
    code = "store-unavailable"


class Exhausted(StoreError):
    """Raise when memory, threads or file handles run out; the same call works once some are free."""

    status = 503
    code = "exhausted"


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
    """Raise on writing to an agent whose journal is damaged, or whose disk is read-only."""

    status = 409
    code = "read-only"


class AgentGone(StoreError):
    """Raise when an open agent was closed, renamed, deleted or replaced; ask for it again."""

    status = 409
    code = "agent-gone"


class OtherEmbedder(StoreError):
    """Raise when an agent's vectors were made by another embedder than the chosen one, and nobody asked to re-embed."""

    status = 409
    code = "other-embedder"


class ForeignStore(StoreError):
    """Raise when files were not made by this system, before anything in them is run."""

    status = 409
    code = "foreign-store"


__all__ = [
    "AgentGone",
    "AgentNotFound",
    "AlreadyExists",
    "BudgetSpent",
    "ChangeSetNotFound",
    "Conflict",
    "ConversationNotFound",
    "CueNotFound",
    "EmbedderError",
    "EntryNotFound",
    "Exhausted",
    "ExtraMissing",
    "ForeignStore",
    "Immutable",
    "InvalidAgentName",
    "InvalidBackup",
    "InvalidDocument",
    "InvalidEntry",
    "InvalidFile",
    "InvalidInput",
    "InvalidParameter",
    "InvalidPersonality",
    "JournalDamaged",
    "MemorySystemError",
    "ModelError",
    "ModelNonsense",
    "ModelOverflow",
    "ModelTimeout",
    "ModelUnavailable",
    "NotAllowed",
    "NotFound",
    "NotSignedIn",
    "OtherEmbedder",
    "Problem",
    "Protected",
    "QueryNotFound",
    "ReadOnly",
    "ReadOnlyPast",
    "ServerUnavailable",
    "StaleChange",
    "StaleRevision",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreUnavailable",
    "TooMany",
    "UnknownLanguage",
    "WorldNotFound",
    "did_you_mean",
    "shown",
    "there_is_no",
]
