"""Kept: a talk as it is read from the shelf, with so much of its past as may have room, and how it goes back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ..changes import CONVERSATION, CORE, HELD, Change, TextChange, is_text
from ..consolidation.ground import bare
from ..entry import MAX_DOCUMENT, Kind, MemoryEntry, Tier
from ..errors import ConversationNotFound, shown
from ..view import AgentView
from .functions import cut
from .messages import Message
from .shelf_entries import message_id, message_of, storable, summary_id
from .shelf_texts import dump_blocks, dump_held, dump_state, parse_blocks, parse_held, parse_state
from .strategies import STRATEGIES
from .talk import Talk


def loaded(agent: AgentView, conversation: str, *, queue: bool = True) -> Talk:
    """A talk as it is stored, with what of its past its strategy wants to show.

    Only so many messages are read as may have room in the prompt, the newest first, however many there are.

    Args:
        agent: whose talk it is, now or as it was.
        conversation: its id.
        queue: whether messages are read at all.

    Raises:
        ConversationNotFound: there is none of this id.
        StoreDamaged: what is stored is no talk.
    """
    held = agent.text(HELD + conversation) if is_text(conversation) else None
    if held is None:
        raise ConversationNotFound(f"There is no conversation {shown(conversation)}; it may have been undone.")
    talk, _ = parse_state(parse_held(Talk(conversation), held), agent.text(CONVERSATION + conversation))
    with agent.shelf(Tier.RECALL) as table:
        talk = parse_blocks(talk, agent.text(CORE + conversation), table.get(summary_id(conversation)), ())

        def read(number: int) -> Message | None:
            entry = table.get(message_id(conversation, number))
            return None if entry is None else message_of(entry)

        return replace(talk, queue=STRATEGIES[talk.settings.strategy].past(talk, read)) if queue else talk


def text_changes(agent: AgentView, talk: Talk) -> tuple[TextChange, ...]:
    """What makes the stored texts those of this talk: some fifty characters a step.

    Raises:
        InvalidParameter: a field is out of its bounds.
    """
    wanted = {HELD: dump_held(talk), CONVERSATION: dump_state(talk), CORE: dump_blocks(talk)}
    changes = (TextChange(start + talk.id, agent.text(start + talk.id), text) for start, text in wanted.items())
    return tuple(change for change in changes if change.before != change.after)


def summary_change(agent: AgentView, talk: Talk, now: datetime) -> tuple[Change, ...]:
    """What makes the stored summary that of this talk; nothing where it is."""
    before = agent.find(summary_id(talk.id))
    if talk.summary == ("" if before is None else before.document):
        return ()
    held = None if before is None else bare(before)
    if not talk.summary.strip():
        return () if held is None else (Change(held, None, "It stands for nothing any more."),)
    after = MemoryEntry(
        cut(storable(talk.summary), MAX_DOCUMENT),
        {"conversation": talk.id, "role": "summary", "until": talk.summarised},
        summary_id(talk.id),
        tier=Tier.RECALL,
        kind=Kind.SUMMARY,
        timestamp=now,
    )
    return (Change(held, after, f"It stands for the first {talk.summarised:,} messages."),)
