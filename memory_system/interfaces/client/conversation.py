"""Conversations over HTTP: from Python only the line of the import changes.

from memory_system.interfaces.client import RemoteWorld as World
from memory_system.interfaces.client.conversation import Conversation  # for: from memory_system.conversation import ...

with World() as world:
    talk = Conversation.begin(world.agent("mira"), human="John")
    print(talk.step("My name is John. Who has the mill key?", heard=print).answer)
"""

from ...conversation import Action, Duet, Group, Step, Strategy, TalkSettings
from .asking import RemoteInterview as Interview
from .asking import (
    archival_search,
    conversation_search,
    conversation_search_date,
    describe_person,
    documents,
    load_document,
    memory_search,
    memory_tool,
    passages,
    people,
    reflect_on_person,
    remove_document,
    sittings,
    trust_over_time,
    whisper,
)
from .talking import RemoteConversation as Conversation

__all__ = [
    "Action",
    "Conversation",
    "Duet",
    "Group",
    "Interview",
    "Step",
    "Strategy",
    "TalkSettings",
    "archival_search",
    "conversation_search",
    "conversation_search_date",
    "describe_person",
    "documents",
    "load_document",
    "memory_search",
    "memory_tool",
    "passages",
    "people",
    "reflect_on_person",
    "remove_document",
    "sittings",
    "trust_over_time",
    "whisper",
]
