"""A memory system for generative agents: static, short-term and long-term memory with explained recall.

from memory_system import World

with World() as world:
    mira = world.agent("mira")
    mira.add_short_term({"document": "Saw smoke over the north field at dawn"})
    print(mira.query_memory("Where did I see smoke?").context)
"""

from . import quiet as quiet  # first: what follows takes a second or more to load
from .agent import AgentMemory
from .changes import Change, ChangeSet
from .chroma import ChromaMemory
from .entry import Kind, MemoryEntry, Tier
from .errors import MemorySystemError
from .facets import Facets
from .memory import InMemory, Memory
from .narrative import Narrative, Sentence
from .presets import PRESETS, Preset
from .query import Query
from .recall import Recall
from .scoring import Measure, Score, Scoring, Weights
from .settings import AgentSettings, Settings
from .verdicts import Candidate, Verdict
from .world import World

__all__ = [
    "PRESETS",
    "AgentMemory",
    "AgentSettings",
    "Candidate",
    "Change",
    "ChangeSet",
    "ChromaMemory",
    "Facets",
    "InMemory",
    "Kind",
    "Measure",
    "Memory",
    "MemoryEntry",
    "MemorySystemError",
    "Narrative",
    "Preset",
    "Query",
    "Recall",
    "Score",
    "Scoring",
    "Sentence",
    "Settings",
    "Tier",
    "Verdict",
    "Weights",
    "World",
]
__version__ = "0.2.0"
