"""A client of the HTTP API with the calls of ``AgentMemory``: moving from in-process to HTTP is one line.

from memory_system.interfaces.client import RemoteWorld  # instead of: from memory_system import World

with RemoteWorld("http://127.0.0.1:5000") as world:
    mira = world.agent("mira")
    mira.add_short_term({"document": "Saw smoke over the north field at dawn"})
    print(mira.query_memory("Where did I see smoke?").context)
"""

from ..serialize import RemoteChangeSet, RemoteExplanation
from .agent import RemoteAgent
from .awaited import AsyncAgent, AsyncConversation, AsyncDuet, AsyncGroup, AsyncInterview, AsyncView, AsyncWorld
from .talking import RemoteConversation
from .view import RemoteView
from .world import Answered, RemoteBackup, RemoteWorld

__all__ = [
    "Answered",
    "AsyncAgent",
    "AsyncConversation",
    "AsyncDuet",
    "AsyncGroup",
    "AsyncInterview",
    "AsyncView",
    "AsyncWorld",
    "RemoteAgent",
    "RemoteBackup",
    "RemoteChangeSet",
    "RemoteConversation",
    "RemoteExplanation",
    "RemoteView",
    "RemoteWorld",
]
