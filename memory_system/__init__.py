"""A memory system for generative agents: static, short-term and long-term memory with explained recall.

from memory_system import World

with World() as world:
    mira = world.agent("mira")
    mira.add_short_term({"document": "Saw smoke over the north field at dawn"})
    print(mira.query_memory("Where did I see smoke?").context)
"""

from . import quiet as quiet  # first: what follows takes about a second to load
from .agent import AgentMemory
from .core.change_set import Change, ChangeSet
from .core.decay import DecayForm
from .core.entry import Kind, MemoryEntry, Source, Tier
from .core.memory import InMemory, Memory
from .core.presets import PRESETS, Preset
from .core.scoring import Measure, Passing, Score, Scoring, Seats, Weights
from .core.settings import AgentSettings, RatedBy, Replan, Retention, Settings
from .errors import MemorySystemError
from .operations.narrative import Narrative, Sentence
from .recall.query import Facets, Query
from .recall.rank import Recall
from .recall.verdicts import Candidate, Verdict
from .store.chroma.store import ChromaMemory
from .world.world import World

__all__ = [
    "PRESETS",
    "AgentMemory",
    "AgentSettings",
    "Candidate",
    "Change",
    "ChangeSet",
    "ChromaMemory",
    "DecayForm",
    "Facets",
    "InMemory",
    "Kind",
    "Measure",
    "Memory",
    "MemoryEntry",
    "MemorySystemError",
    "Narrative",
    "Passing",
    "Preset",
    "Query",
    "RatedBy",
    "Recall",
    "Replan",
    "Retention",
    "Score",
    "Scoring",
    "Seats",
    "Sentence",
    "Settings",
    "Source",
    "Tier",
    "Verdict",
    "Weights",
    "World",
]
__version__ = "0.2.0"
quiet.loaded()
