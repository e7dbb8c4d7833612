"""What is not there, does not fit what is stored, or may not be asked."""

from __future__ import annotations

from .base import MemorySystemError


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


class ConversationNotFound(NotFound):
    """Raise when an agent has no conversation of this id."""

    code = "conversation-not-found"


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


class StaleRevision(Conflict):
    """Raise when the caller named the revision that an edit was made on, and the agent has moved on."""

    status = 412
    code = "stale-revision"


class NotSignedIn(MemorySystemError):
    """Raise when a server wants a password or a token, and there is none or a wrong one."""

    status = 401
    code = "not-signed-in"


class NotAllowed(MemorySystemError):
    """Raise when a viewer would change something. Nothing was changed."""

    status = 403
    code = "not-allowed"


class TooMany(MemorySystemError):
    """Raise when a server is asked for more than it takes, or too often; asking again later may help."""

    status = 429
    code = "too-many"
