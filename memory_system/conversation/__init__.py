"""Conversations: what an agent says and hears, in a context that never overflows.

from memory_system import World
from memory_system.conversation import Conversation

with World() as world:
    talk = Conversation.begin(world.agent("mira"), human="John")
    print(talk.step("My name is John. Who has the mill key?").answer)
"""

from .conversation import Conversation
from .documents import load_document, remove_document
from .duet import Duet
from .interview import Interview, sit, whisper
from .noting import note
from .searching import archival_search, conversation_search, conversation_search_date
from .steps import Step
from .talk import Blocks, Strategy, Talk, TalkSettings
from .tool import MemoryTool, memory_search

__all__ = [
    "Blocks",
    "Conversation",
    "Duet",
    "Interview",
    "MemoryTool",
    "Step",
    "Strategy",
    "Talk",
    "TalkSettings",
    "archival_search",
    "conversation_search",
    "conversation_search_date",
    "load_document",
    "memory_search",
    "note",
    "remove_document",
    "sit",
    "whisper",
]
