"""Files and servers of the store that cannot be used."""

from __future__ import annotations

from .base import MemorySystemError


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


class AgentGone(StoreError):
    """Raise when an agent that is held was closed, renamed, deleted or replaced; ask for it again."""

    status = 409
    code = "agent-gone"


class ForeignStore(StoreError):
    """Raise when files were not made by this system, before anything in them is run."""

    status = 409
    code = "foreign-store"
