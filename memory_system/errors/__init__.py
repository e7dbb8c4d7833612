"""The whole error tree.

    MemorySystemError                  500  something the caller may catch at one place
    ├── InvalidInput                   422  what was handed in cannot be taken; nothing was changed
    │   ├── InvalidEntry                    a memory: its text, time, rating, id or metadata
    │   ├── InvalidAgentName                a name that cannot become a folder and a file
    │   ├── InvalidParameter                a threshold, weight, count or time out of its range
    │   ├── InvalidBackup                   a file that is no backup, or no longer as it was made
    │   └── InvalidDocument                 a JSON text; carries its problems by line and field
    │       ├── InvalidPersonality          the static memory's
    │       └── InvalidFile                 a file of events, or a document for the archive
    ├── NotFound                       404
    │   ├── AgentNotFound
    │   ├── EntryNotFound
    │   ├── CueNotFound                     a saved cue
    │   ├── ConversationNotFound
    │   ├── ChangeSetNotFound
    │   └── QueryNotFound                   a logged query; old ones are dropped
    ├── Conflict                       409  the world moved on since the caller looked
    │   ├── AlreadyExists
    │   ├── ReadOnlyPast                    an agent as it was cannot be changed
    │   ├── Immutable                       static memory belongs to its author, not to the agent
    │   ├── Protected                       a person protected the memory; unprotect it first
    │   ├── StaleChange                     what was planned no longer fits; plan it again
    │   └── StaleRevision              412  an edit was made on another revision than the present one
    ├── NotSignedIn                    401  a server wants to know who asks
    ├── NotAllowed                     403  who asks may look, and not change anything
    ├── TooMany                        429  more at once than one server takes
    ├── ModelError                     502  a language model that did not help; what was stored stays stored
    │   ├── BudgetSpent                402  the agent's budget has no room for the call
    │   ├── ModelUnavailable           503  refused, not found, no credit, wrong key
    │   ├── ModelTimeout               504  no complete answer within the deadline
    │   ├── ModelOverflow              413  what was sent is longer than the model's context
    │   └── ModelNonsense              502  an answer, but not of the form that was asked for
    ├── EmbedderError                  500  no vectors: weights missing, or not what they should be
    ├── ExtraMissing                   501  a feature whose packages were not installed
    └── StoreError                     500
        ├── ServerUnavailable          503  a server that is needed cannot be reached, or answers what is no answer
        ├── StoreUnavailable           503  the server that keeps memories cannot be reached, or takes too long
        ├── StoreBusy                  503  another process holds the agent for longer than we wait
        ├── StoreDamaged               500  files that cannot be opened or do not agree
        │   └── JournalDamaged              the journal's: what the store holds is shown read-only
        ├── ReadOnly                   409  the agent is shown from its store, since its journal is damaged
        ├── AgentGone                  409  the agent that is held was closed, renamed, deleted or replaced
        └── ForeignStore               409  files that were not made by this system

Every error carries an HTTP ``status``, a short machine-readable ``code`` and a sentence for people that
says what was wrong, where, and what to do.
"""

from __future__ import annotations

from .base import ExtraMissing, MemorySystemError, shown
from .inputs import (
    InvalidAgentName,
    InvalidBackup,
    InvalidDocument,
    InvalidEntry,
    InvalidFile,
    InvalidInput,
    InvalidParameter,
    InvalidPersonality,
    Problem,
)
from .models import BudgetSpent, EmbedderError, ModelError, ModelNonsense, ModelOverflow, ModelTimeout, ModelUnavailable
from .requests import (
    AgentNotFound,
    AlreadyExists,
    ChangeSetNotFound,
    Conflict,
    ConversationNotFound,
    CueNotFound,
    EntryNotFound,
    Immutable,
    NotAllowed,
    NotFound,
    NotSignedIn,
    Protected,
    QueryNotFound,
    ReadOnlyPast,
    StaleChange,
    StaleRevision,
    TooMany,
)
from .stores import (
    AgentGone,
    ForeignStore,
    JournalDamaged,
    ReadOnly,
    ServerUnavailable,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreUnavailable,
)

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
    "shown",
]
