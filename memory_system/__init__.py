"""A memory system for generative agents: static, short-term and long-term memory with explained recall.

from memory_system import World

with World() as world:
    mira = world.agent("mira")
    mira.add_short_term({"document": "Saw smoke over the north field at dawn"})
    print(mira.query_memory("Is there a fire?").context)
"""

from .agent import AgentMemory
from .changes import Change, ChangeSet
from .chroma import ChromaMemory
from .entry import Kind, MemoryEntry, Tier
from .errors import MemorySystemError
from .memory import InMemory, Memory
from .recall import Candidate, Query, Recall, Verdict
from .scoring import PRESETS, Score, Scoring, Weights
from .settings import AgentSettings, Settings
from .world import World

__all__ = [
    "PRESETS",
    "AgentMemory",
    "AgentSettings",
    "Candidate",
    "Change",
    "ChangeSet",
    "ChromaMemory",
    "InMemory",
    "Kind",
    "Memory",
    "MemoryEntry",
    "MemorySystemError",
    "Query",
    "Recall",
    "Score",
    "Scoring",
    "Settings",
    "Tier",
    "Verdict",
    "Weights",
    "World",
]
__version__ = "0.1.0"
