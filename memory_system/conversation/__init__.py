"""Conversations: what an agent says and hears, in a context that never overflows.

from memory_system import World
from memory_system.conversation import Conversation

with World() as world:
    talk = Conversation.begin(world.agent("mira"), human="John")
    print(talk.step("My name is John. Who has the mill key?").answer)
"""

from . import documents, interview
from .actions import MAX_ACTIONS, Action
from .comparing import MAX_MESSAGES, Compared, Fate, Lines, compare, lines_of
from .context import CORE, INSTRUCTIONS, NEW, QUEUE, RECALLED, SUMMARY, TOOLS, Context, Section
from .conversation import MAX_TITLE, Conversation
from .documents import Loaded, load_document, remove_document, whence
from .duet import MAX_TURNS, MOST_IN_A_GROUP, Duet, Group, Said
from .functions import DEFINITIONS, FunctionRun
from .interview import CATEGORIES, Difference, Interview, sit, whisper
from .noting import note
from .people import Person, TrustPoint, describe_person, people, reflect_on_person, trust_over_time
from .playing import checked_blocks
from .replaying import last_step
from .searching import archival_search, conversation_search, conversation_search_date
from .steps import Step
from .talk import (
    LEAST_VIRTUAL,
    MAX_TEMPLATE,
    NOBODY,
    SEND,
    TRANSCRIPT,
    Blocks,
    Message,
    Remember,
    Role,
    Strategy,
    Talk,
    TalkSettings,
)
from .tool import MemoryTool, memory_search

__all__ = [
    "CATEGORIES",
    "CORE",
    "DEFINITIONS",
    "INSTRUCTIONS",
    "LEAST_VIRTUAL",
    "MAX_ACTIONS",
    "MAX_MESSAGES",
    "MAX_TEMPLATE",
    "MAX_TITLE",
    "MAX_TURNS",
    "MOST_IN_A_GROUP",
    "NEW",
    "NOBODY",
    "QUEUE",
    "RECALLED",
    "SEND",
    "SUMMARY",
    "TOOLS",
    "TRANSCRIPT",
    "Action",
    "Blocks",
    "Compared",
    "Context",
    "Conversation",
    "Difference",
    "Duet",
    "Fate",
    "FunctionRun",
    "Group",
    "Interview",
    "Lines",
    "Loaded",
    "MemoryTool",
    "Message",
    "Person",
    "Remember",
    "Role",
    "Said",
    "Section",
    "Step",
    "Strategy",
    "Talk",
    "TalkSettings",
    "TrustPoint",
    "archival_search",
    "checked_blocks",
    "compare",
    "conversation_search",
    "conversation_search_date",
    "describe_person",
    "documents",
    "interview",
    "last_step",
    "lines_of",
    "load_document",
    "memory_search",
    "note",
    "people",
    "reflect_on_person",
    "remove_document",
    "sit",
    "trust_over_time",
    "whence",
    "whisper",
]
