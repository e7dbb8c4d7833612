"""Interview: talk with a character and watch its memory work."""

from collections.abc import Callable

from dashboard import (
    session,
    tabs,
    talk_ablation,
    talk_documents,
    talk_duet,
    talk_questions,
    talk_room,
    talk_strategies,
    widgets,
    words,
)
from memory_system import AgentMemory, MemorySystemError

SHOWN = {  # by its word in the link
    "talk": "Talk",
    "ablation": words.MUTE_AND_ASK_AGAIN,
    "questions": "Ready questions",
    "duet": "Two characters",
    "strategies": "Strategies",
    "documents": "Documents",
}

agent = session.agent()
widgets.heading("Interview", f"Talk, and watch the memory work · {widgets.plain(agent.model.label)}", agent)
widgets.said()
shown, opened = tabs.linked(SHOWN, "talk-shown", "show")
SHOW: dict[str, Callable[[AgentMemory], None]] = {
    "talk": talk_room.show,
    "ablation": talk_ablation.show,
    "questions": talk_questions.show,
    "duet": talk_duet.show,
    "strategies": talk_strategies.show,
    "documents": talk_documents.show,
}
try:
    with shown[opened]:
        SHOW[opened](agent)
except MemorySystemError as error:
    widgets.problem(error)
