"""Interview: talk with a character and watch its memory work."""

from collections.abc import Callable

from dashboard import session, words
from dashboard.components import bulk, needs_model, tabs, widgets
from dashboard.views.interview import ablation, documents, duet, people, questions, room, strategies
from memory_system import AgentMemory, MemorySystemError

SHOWN = {  # by its word in the link
    "talk": "Talk",
    "ablation": words.MUTE_AND_ASK_AGAIN,
    "questions": "Ready questions",
    "duet": "Characters together",
    "people": "People",
    "strategies": "Strategies",
    "documents": "Documents",
}

agent = session.agent()
model = "" if needs_model.offline(agent) else f" · {widgets.plain(agent.model.label)}"
about = f"Talk, and watch the memory work{model}"
widgets.heading("Interview", about, agent)
bulk.last()
needs_model.note(agent, "talk")
shown, opened = tabs.linked(SHOWN, "talk-shown", "show")
SHOW: dict[str, Callable[[AgentMemory], None]] = {
    "talk": room.show,
    "ablation": ablation.show,
    "questions": questions.show,
    "duet": duet.show,
    "people": people.show,
    "strategies": strategies.show,
    "documents": documents.show,
}
try:
    with shown[opened]:
        SHOW[opened](agent)
except MemorySystemError as error:
    widgets.problem(error)
