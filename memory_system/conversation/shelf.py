"""The shelf: which conversations there are, some messages of one, and how one is taken away.

Messages are entries of recall memory (``shelf_entries``); what changes with each step is a few numbers in a text of the
journal (``shelf_texts``), so that a step costs the same however long the talk has been.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..changes import CONVERSATION, CORE, HELD, Change, ChangeSet, TextChange
from ..consolidation.ground import bare
from ..entry import Tier
from ..scoring import whole
from ..view import AgentView
from .kept import loaded
from .messages import Message
from .shelf_entries import message_id, message_of
from .shelf_texts import parse_held, parse_state
from .talk import Talk

MOST_AT_ONCE = 100_000
"""Messages that are read at once."""


@dataclass(frozen=True)
class Listed:
    """A conversation in a list.

    Args:
        id: of the conversation.
        title: what it is called.
        human: whom the agent talks with.
        begun: when, by the world's time; ``None`` where nothing has been said.
        last: when something was said last; ``None`` where nothing has been said.
        messages: how many messages it has, notices and results of functions included.
    """

    id: str
    title: str
    human: str
    begun: datetime | None
    last: datetime | None
    messages: int


def conversations(agent: AgentView) -> tuple[Listed, ...]:
    """An agent's conversations, the one in which something was said last first; those without a message at the end.

    Raises:
        StoreDamaged: what is kept of one is not as it was written.
    """
    texts = agent.texts()
    found = []
    with agent.shelf(Tier.RECALL) as table:
        for name, text in texts.items():
            if text is None or not name.startswith(HELD):
                continue
            talk_id = name.removeprefix(HELD)
            talk = parse_state(parse_held(Talk(talk_id), text), texts.get(CONVERSATION + talk_id))[0]
            ends = [table.get(message_id(talk_id, number)) for number in (0, talk.next_number - 1)]
            begun, last = (entry.timestamp if entry is not None else None for entry in ends)
            found.append(Listed(talk_id, talk.title, talk.human, begun, last, talk.next_number))
    return tuple(sorted(found, key=lambda one: (-one.last.timestamp() if one.last else 0.0, one.title, one.id)))


def read(agent: AgentView, talk_id: str, start: int = 0, count: int = 100) -> tuple[Message, ...]:
    """Messages of a conversation in their order, by number; takes as long as there are messages asked for.

    Args:
        agent: whose conversation.
        talk_id: which.
        start: the number of the first, 0 or more.
        count: how many numbers to look at, 0 to 100,000; one that is missing is passed over.

    Raises:
        InvalidParameter: one is out of its range.
        StoreDamaged: a message is not as it was written.
    """
    first = whole("The first message", start, 0, 2**62)
    most = whole("The number of messages", count, 0, MOST_AT_ONCE)
    with agent.shelf(Tier.RECALL) as table:
        held = [table.get(message_id(talk_id, number)) for number in range(first, first + most)] if len(table) else []
    return tuple(message_of(entry) for entry in held if entry is not None)


def removal(agent: AgentView, talk_id: str, *, author: str = "script") -> ChangeSet:
    """Plan to take a conversation away, with all its messages; undoing it brings all back.

    What the agent remembers of it, such as a synopsis, stays. ``agent.purge`` with the ids of its changes then takes
    what was said out of the history.

    Raises:
        ConversationNotFound: the agent has none of this id.
    """
    talk = loaded(agent, talk_id, queue=False)
    with agent.shelf(Tier.RECALL) as table:
        ids = sorted(entry_id for entry_id in table.ids if entry_id.startswith(f"{talk_id}-"))
        held = [entry for entry_id in ids if (entry := table.get(entry_id)) is not None]
    gone = [Change(bare(entry), None, "Its conversation was removed.") for entry in held]
    title = f"Remove the conversation “{talk.title or talk.human}”"
    kept = agent.texts()
    names = (start + talk_id for start in (HELD, CONVERSATION, CORE))
    taken = tuple(TextChange(name, kept[name], None) for name in names if kept.get(name) is not None)
    revision = agent.stamp[0]
    return ChangeSet(
        "remove conversation", title, tuple(gone), agent.now, revision, author=author, texts=taken, agent=agent.name
    )
