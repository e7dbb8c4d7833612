"""Noting: storing what was said elsewhere in a conversation, without asking a model."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Protocol

from ..agent import AgentMemory
from ..core.change_set import Change, ChangeSet, excerpt, is_text
from ..core.entry import MAX_DOCUMENT
from ..core.times import moment_given
from ..errors import InvalidEntry
from . import storage
from .context import counted
from .remembering import noted
from .steps import planned
from .storage import entry_of
from .talk import Message, Role, Talk

NOTE = "note"
"""The history's name for it: not a step, since no model was asked and there is nothing to replay."""


class StoredTalk(Protocol):
    """A stored conversation."""

    @property
    def agent(self) -> AgentMemory:
        """The agent in whose memory it is."""

    @property
    def talk(self) -> Talk:
        """The talk as it is now."""


def note(
    conversation: StoredTalk,
    *,
    heard: str = "",
    said: str = "",
    now: datetime | None = None,
    preview: bool = False,
    speaker: str = "",
) -> ChangeSet:
    """Store what was said without this system, so that it can be searched and the talk goes on from there.

    Args:
        conversation: where it is stored.
        heard: what the agent heard, at most 32,000 characters; it comes first.
        said: what the agent answered.
        now: the world's time.
        preview: whether to plan only.
        speaker: who said what the agent heard, if not the human of the conversation; at most 100 characters.

    Raises:
        InvalidEntry, InvalidParameter: there is nothing to store, or it is too long. Nothing was changed.
        ConversationNotFound: the conversation has been undone.
        StaleChange: somebody else talked at the same moment. Nothing was changed.
    """
    agent, talk = conversation.agent, conversation.talk
    moment = agent.now if now is None else moment_given("'now'", now)
    by = storage.line("The speaker", speaker) if speaker else ""
    messages: list[Message] = []
    for role, text, who in ((Role.USER, heard, by or talk.human), (Role.ASSISTANT, said, agent.display_name)):
        if not is_text(text):
            raise InvalidEntry("A message must be a text.")
        if len(text) > MAX_DOCUMENT:
            raise InvalidEntry(f"The message has {len(text):,} characters; at most {MAX_DOCUMENT:,} are allowed.")
        if text.strip():
            message = Message(talk.next_number + len(messages), role, storage.storable(text), moment, who)
            messages.append(counted(message))
    if not messages:
        raise InvalidEntry("The message is empty: say something.")
    after = dataclasses.replace(talk, queue=(*talk.queue, *messages), next_number=talk.next_number + len(messages))
    after, notes = noted(agent, after, messages, moment)
    plan = planned(
        agent,
        f"Note what was said: {excerpt(messages[0].text)}",
        moment,
        (*(Change(None, entry_of(talk.id, message), "It was said.") for message in messages), *notes),
        operation=NOTE,
        texts=storage.text_changes(agent, after, talk),
    )
    return plan if preview else agent.apply(plan)
