"""The storage of conversations: listing them, reading messages, and removing one.

Messages are entries of recall memory; only a few numbers in a text of the journal change with each step, so that a step
costs the same however long the talk has been.

The texts that store a conversation are written in one form only and read strictly: ``talk:<id>`` says how it is held,
``conversation:<id>`` how far it is, and ``core:<id>`` what its core memory says. Default values are left out, so that a
step writes some fifty characters.

A message is converted to an entry of recall memory, and back. A talk is read with as much of its past as may fit in the
prompt, and written back.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..agent import AgentMemory
from ..core.change_set import (
    CONVERSATION,
    CORE,
    HELD,
    Change,
    ChangeSet,
    TextChange,
    counted,
    in_quotes,
    is_text,
    paired,
)
from ..core.entry import MAX_DOCUMENT, Kind, MemoryEntry, Scalar, Tier
from ..core.json_source import parse_strict
from ..core.scoring import whole
from ..core.times import moment_given
from ..errors import ConversationNotFound, InvalidDocument, InvalidParameter, StaleChange, StoreDamaged, shown
from ..llm.base import ToolCall
from ..operations.context import bare
from ..operations.importing.turns import MAX_SPEAKER
from .actions import Action, cut
from .strategies import STRATEGIES
from .talk import Blocks, Message, Remember, Role, Talk, TalkSettings

MAX_NAME = 200
"""How many characters a conversation's title, and the name of the agent's partner, may have."""
MAX_BLOCK = 20_000
_MOST_BYTES = 2_000_000
_MOST_NUMBER = 99_999_999
"""How many messages a conversation may have: their ids have eight digits."""
_SETTINGS = TalkSettings()
_NUMBERS = {
    "summarised": _MOST_NUMBER,
    "next_number": _MOST_NUMBER,
    "remembered": _MOST_NUMBER,
    "noted": _MOST_NUMBER,
    "ceiling": 10_000_000,
}


def dump_held(talk: Talk) -> str:
    """The settings of a conversation.

    Raises:
        InvalidParameter: the title or the name is not a text, or has more than 200 characters.
    """
    with_whom = (("name of whom the agent talks with", name) for name in (talk.human, *talk.others))
    for what, name in (("title", talk.title), *with_whom):
        if not is_text(name) or len(name) > MAX_NAME or "\x00" in name:
            raise InvalidParameter(f"The {what} must be a text of at most {MAX_NAME} characters.")
    fields = dataclasses.asdict(talk.settings)
    settings = {name: value for name, value in fields.items() if value != getattr(_SETTINGS, name)}
    actions = [action.told for action in talk.actions]
    more = {"settings": settings, "actions": actions, "others": list(talk.others)}
    return _dumped({"title": talk.title, "human": talk.human, **{name: value for name, value in more.items() if value}})


def dump_state(talk: Talk) -> str:
    """How far a conversation is: the first message of its queue, the number of the next one, and the like."""
    first = talk.queue[0].number if talk.queue else talk.next_number
    fresh = Talk(talk.id)
    names = (*_NUMBERS, "warned", "scale")
    fields = {name: getattr(talk, name) for name in names if getattr(talk, name) != getattr(fresh, name)}
    if talk.paused_until is not None:
        fields["paused_until"] = talk.paused_until.isoformat()
    return _dumped({"first": first, **fields})


def dump_blocks(talk: Talk) -> str:
    """The text of a conversation's core memory.

    Raises:
        InvalidParameter: a block is not a text, or has more than 20,000 characters.
    """
    blocks = dataclasses.asdict(talk.blocks)
    for name, text in blocks.items():
        if not is_text(text) or len(text) > MAX_BLOCK:
            raise InvalidParameter(f"The block {name!r} must be a text of at most {MAX_BLOCK:,} characters.")
    return _dumped(blocks)


def parse_held(talk: Talk, text: str) -> Talk:
    """The conversation with what ``dump_held`` wrote.

    Raises:
        StoreDamaged: the text is not as ``dump_held`` writes it.
    """
    body = _body_of(talk, text, {"title", "human", "settings", "actions", "others"})
    try:
        settings = TalkSettings(**body.pop("settings", {}))
        actions = tuple(Action(**action) for action in body.pop("actions", []))
        others = tuple(body.pop("others", []))
        found = replace(talk, settings=settings, actions=actions, others=others, **body)
        dump_held(found)
    except (TypeError, InvalidParameter) as error:
        raise _damaged(talk, str(error)) from error
    return found


def actions_of(plan: ChangeSet, talk: Talk) -> tuple[Action, ...]:
    """What the agent could do in a step: from its change set, or as it was before.

    Raises:
        StoreDamaged: the change set does not store a conversation.
    """
    text = next((text.after for text in plan.texts if text.name == HELD + talk.id), None)
    return talk.actions if text is None else parse_held(Talk(talk.id), text).actions


def parse_state(talk: Talk, text: str | None) -> tuple[Talk, int]:
    """The conversation with what ``dump_state`` wrote, and the number of the first message of its queue.

    Raises:
        StoreDamaged: the text is not as ``dump_state`` writes it.
    """
    body = _body_of(talk, text or '{"first":0}', {"first", "warned", "scale", "paused_until", *_NUMBERS})
    first = body.pop("first", 0)
    numbers = {**body, "first": first}
    for name, most in {**_NUMBERS, "first": _MOST_NUMBER}.items():
        value = numbers.get(name, 0)
        if type(value) is not int or not 0 <= value <= most:
            raise _damaged(talk, f"{name!r} is {shown(value)}")
    if type(body.get("warned", False)) is not bool:
        raise _damaged(talk, "'warned' is not true or false")
    scale = body.get("scale", 1.0)
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0.01 <= scale <= 100:
        raise _damaged(talk, f"'scale' is {shown(scale)}")
    try:
        paused = (
            moment_given("'paused_until'", datetime.fromisoformat(body["paused_until"]))
            if "paused_until" in body
            else None
        )
    except (TypeError, ValueError, InvalidParameter) as error:
        raise _damaged(talk, f"'paused_until' is {shown(body['paused_until'])}") from error
    if first > body.get("next_number", 0):
        raise _damaged(talk, "its queue begins after its last message")
    return replace(talk, **body | {"paused_until": paused}), first


def parse_blocks(talk: Talk, text: str | None, summary: MemoryEntry | None, queue: Sequence[Message]) -> Talk:
    """The conversation with what ``dump_blocks`` wrote, with its summary and its queue.

    Raises:
        StoreDamaged: the text is not as ``dump_blocks`` writes it.
    """
    body = _body_of(talk, text or "{}", {"persona", "human"})
    found = replace(
        talk, blocks=Blocks(**body), summary=summary.document if summary is not None else "", queue=tuple(queue)
    )
    try:
        dump_blocks(found)
    except InvalidParameter as error:
        raise _damaged(talk, str(error)) from error
    return found


def _dumped(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _body_of(talk: Talk, text: str, names: set[str]) -> dict[str, Any]:
    try:
        body, _ = parse_strict(text, f"the conversation {talk.id}", _MOST_BYTES, InvalidDocument)
    except InvalidDocument as error:
        raise _damaged(talk, error.sentence) from error
    if not isinstance(body, dict) or not body.keys() <= names:
        raise _damaged(talk, f"expected an object with {', '.join(sorted(names))}")
    return body


def _damaged(talk: Talk, why: str) -> StoreDamaged:
    return StoreDamaged(f"The stored record of the conversation {shown(talk.id)} is not as it was written: {why:.300}")


_CALLS = "calls"
_PIECE = MAX_DOCUMENT
"""How many characters one value of an entry's metadata may have."""
_MOST_PIECES = 40


def message_id(talk_id: str, number: int) -> str:
    """The id of a message; ids sort in the order in which messages were said."""
    return f"{talk_id}-{number:08}"


def summary_id(talk_id: str) -> str:
    """The id of the summary of what has left a conversation's prompt."""
    return f"{talk_id}-summary"


def entry_of(talk_id: str, message: Message) -> MemoryEntry:
    """The entry that stores a message.

    What either side said is of the kind ``conversation``; thoughts, notices, and the results of functions are of the
    kind ``procedure``, so that a search for what was said skips them.

    Raises:
        InvalidParameter: its text has more than 32,000 characters, or its calls more than 40 times as many.
    """
    text = storable(message.text)
    if len(text) > MAX_DOCUMENT:
        raise InvalidParameter(
            f"This message has {len(text):,} characters; at most {MAX_DOCUMENT:,} can be said at once. Say it in "
            "parts, or load it as a document."
        )
    extras: dict[str, Scalar] = {
        "conversation": talk_id,
        "number": message.number,
        "turn": message.number,  # by which a search knows its neighbours, see relevancy.neighbours
        "role": message.role.value,
    }
    more: dict[str, Scalar] = {
        "speaker": storable(message.speaker)[:200],
        "call_id": message.call_id,
        "thought": message.thought,
        "action": storable(message.action),
        "tokens": message.tokens,
    }
    extras |= {name: value for name, value in more.items() if value}
    if message.calls:
        extras |= _pieces(message)
    document = text
    if not text.strip():
        extras["text"] = text
        names = ", ".join(dict.fromkeys(call.name for call in message.calls))
        document = storable(f"(calls {names:.200})" if names else "(nothing)")
    kind = Kind.CONVERSATION if message.said.strip() else Kind.PROCEDURE
    return MemoryEntry(
        document, extras, message_id(talk_id, message.number), tier=Tier.RECALL, kind=kind, timestamp=message.at
    )


def _pieces(message: Message) -> dict[str, Scalar]:
    # ASCII only, so that anything a model wrote can be stored as it is
    text = json.dumps([[call.id, call.name, call.arguments] for call in message.calls])
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    if len(pieces) > _MOST_PIECES:
        raise InvalidParameter(
            f"The calls of this message have {len(text):,} characters; at most {_MOST_PIECES * _PIECE:,} are kept."
        )
    return {f"{_CALLS}_{place}" if place else _CALLS: piece for place, piece in enumerate(pieces)}


def message_of(entry: MemoryEntry) -> Message:
    """The message that an entry stores.

    Raises:
        StoreDamaged: it stores none.
    """
    extras: dict[str, Any] = entry.extras
    try:
        text = "".join(str(extras[f"{_CALLS}_{place}" if place else _CALLS]) for place in _places(extras))
        calls = tuple(ToolCall(*map(_text, call)) for call in json.loads(text or "[]"))
        return Message(
            _number(extras["number"]),
            Role(extras["role"]),
            _text(extras.get("text", entry.document)),
            _known(entry.timestamp),
            _text(extras.get("speaker", "")),
            calls,
            _text(extras.get("call_id", "")),
            _number(extras.get("tokens", 0)),
            _text(extras.get("thought", "")),
            _text(extras.get("action", "")),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreDamaged(f"The message {shown(entry.id)} is not as it was written: {error!s:.100}.") from error


def _places(extras: dict[str, Any]) -> range:
    most = next((place for place in range(1, _MOST_PIECES) if f"{_CALLS}_{place}" not in extras), _MOST_PIECES)
    return range(most if _CALLS in extras else 0)


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{shown(value)} is not a number")
    return value


def _known(at: datetime | None) -> datetime:
    if at is None:
        raise TypeError("it has no time")
    return at


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{shown(value)} is not text")
    return value


def storable(text: str) -> str:
    """The text with a placeholder for what cannot be stored: NUL, and halves of surrogate pairs."""
    return paired(text.replace("\x00", "\ufffd"))


def loaded(agent: AgentMemory, conversation: str, *, queue: bool = True) -> Talk:
    """A talk as it is stored, with the part of its past that its strategy wants to show.

    Only as many messages are read as may fit in the prompt, the newest first, however many there are.

    Args:
        agent: whose talk it is, now or as it was.
        conversation: its id.
        queue: whether messages are read at all.

    Raises:
        ConversationNotFound: there is no conversation of this id.
        StoreDamaged: what is stored is not a talk.
    """
    text = agent.text(HELD + conversation) if is_text(conversation) else None
    if text is None:
        raise ConversationNotFound(f"There is no conversation {shown(conversation)}; it may have been undone.")
    with agent.contents.shelf(Tier.RECALL) as table:
        stored = text, agent.text(CONVERSATION + conversation), agent.text(CORE + conversation)
        talk = _parsed(conversation, *stored, table.get(summary_id(conversation)))

        def read(number: int) -> Message | None:
            entry = table.get(message_id(conversation, number))
            return None if entry is None else message_of(entry)

        return replace(talk, queue=STRATEGIES[talk.settings.strategy].past(talk, read)) if queue else talk


def _parsed(conversation: str, held: str, state: str | None, core: str | None, summary: MemoryEntry | None) -> Talk:
    talk, _ = parse_state(parse_held(Talk(conversation), held), state)
    return parse_blocks(talk, core, summary, ())


def text_changes(agent: AgentMemory, talk: Talk, before: Talk | None = None) -> tuple[TextChange, ...]:
    """The changes that make the stored texts those of this talk: some fifty characters per step.

    Args:
        agent: whose talk it is.
        talk: as it is to be stored.
        before: as it was read to begin with; ``None`` if it is new.

    Raises:
        InvalidParameter: a field is out of its bounds.
        StaleChange: it is not stored as it was before.
    """
    after = {HELD: dump_held(talk), CONVERSATION: dump_state(talk), CORE: dump_blocks(talk)}
    stored = {start: agent.text(start + talk.id) for start in after}
    if before is not None:
        read = _parsed(talk.id, stored[HELD] or "{}", stored[CONVERSATION], stored[CORE], None)
        if replace(read, summary=before.summary, queue=before.queue) != before:
            raise StaleChange(
                "Somebody else changed this talk at the same moment, so nothing was changed. Try it again."
            )
    changes = (TextChange(start + talk.id, stored[start], text) for start, text in after.items())
    return tuple(change for change in changes if change.before != change.after)


def brought_together(before: Talk, after: Talk, present: Talk) -> Talk:
    """A talk after a step, with what others have changed since the step began: settings, core memory, a synopsis.

    Args:
        before: as it was when the step began.
        after: as the step leaves it.
        present: as it is stored by now.

    Raises:
        StaleChange: others talked, or changed what the step changed, so that one of them would be lost.
    """
    if present.next_number != before.next_number:
        raise StaleChange("Somebody else talked at the same moment, so nothing was changed. Say it again.")
    others = {}
    for name in (field.name for field in dataclasses.fields(Talk) if field.name != "queue"):
        was, ours, theirs = (getattr(talk, name) for talk in (before, after, present))
        if theirs in (was, ours):
            continue
        if ours != was:
            raise StaleChange(
                "Somebody else changed the same in this talk at the same moment, so nothing was changed. Say it again."
            )
        others[name] = theirs
    return replace(after, **others)


def summary_change(agent: AgentMemory, talk: Talk, now: datetime) -> tuple[Change, ...]:
    """The change that makes the stored summary that of this talk; empty if it is already."""
    before = agent.find(summary_id(talk.id))
    if talk.summary == ("" if before is None else before.document):
        return ()
    entry = None if before is None else bare(before)
    if not talk.summary.strip():
        return () if entry is None else (Change(entry, None, "It stands for nothing any more."),)
    after = MemoryEntry(
        cut(storable(talk.summary), MAX_DOCUMENT),
        {"conversation": talk.id, "role": "summary", "until": talk.summarised},
        summary_id(talk.id),
        tier=Tier.RECALL,
        kind=Kind.SUMMARY,
        timestamp=now,
    )
    return (Change(entry, after, f"It stands for the first {counted(talk.summarised, 'message')}."),)


MOST_AT_ONCE = 100_000
"""How many messages are read at once."""


@dataclass(frozen=True)
class Listed:
    """A conversation in a list.

    Args:
        id: the conversation's.
        title: its title.
        human: whom the agent talks with.
        begun: when, by the world's time; ``None`` if nothing has been said.
        last: when something was last said; ``None`` if nothing has been said.
        messages: how many messages it has, including notices and results of functions.
        others: the names of all with whom the agent talks, if there are several.
    """

    id: str
    title: str
    human: str
    begun: datetime | None
    last: datetime | None
    messages: int
    others: tuple[str, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        """The names of all with whom the agent talks."""
        return self.others or (self.human,)


def conversations(agent: AgentMemory) -> tuple[Listed, ...]:
    """An agent's conversations, the most recently used first; those without a message at the end.

    Raises:
        StoreDamaged: the record of one is not as it was written.
    """
    found = [conversation for conversation, _ in _kept(agent)]
    times = Counter(conversation.last for conversation in found if conversation.last)

    def place(conversation: Listed) -> tuple[float, int, str, str]:
        if conversation.last is None:
            return 0.0, 0, conversation.title, conversation.id
        # several were used at the same time while the world's clock was stopped
        revision = _said_in(agent, conversation) if times[conversation.last] > 1 else 0
        return -conversation.last.timestamp(), -revision, conversation.title, conversation.id

    return tuple(sorted(found, key=place))


def _said_in(agent: AgentMemory, listed: Listed) -> int:
    """The revision in which the last message of a conversation was said; 0 if the history does not show it."""
    acts = agent.history(1, entry_id=message_id(listed.id, listed.messages - 1))
    return acts[0].revision if acts else 0


def beating(agent: AgentMemory) -> tuple[tuple[Listed, Talk], ...]:
    """The conversations in which the agent may speak unprompted as time passes, by their ids.

    Raises:
        StoreDamaged: the record of one is not as it was written.
    """
    return tuple(sorted((pair for pair in _kept(agent) if pair[1].settings.heartbeat), key=lambda pair: pair[0].id))


def unremembered(agent: AgentMemory) -> tuple[Listed, ...]:
    """The conversations with something in them that is still to go into memory, by their ids.

    Raises:
        StoreDamaged: the record of one is not as it was written.
    """
    found = (
        conversation
        for conversation, talk in _kept(agent)
        if talk.remembered < talk.next_number and talk.settings.remember is not Remember.NOTHING
    )
    return tuple(sorted(found, key=lambda conversation: conversation.id))


def _kept(agent: AgentMemory) -> list[tuple[Listed, Talk]]:
    texts = agent.texts()
    found = []
    with agent.contents.shelf(Tier.RECALL) as table:
        for name, text in texts.items():
            if text is None or not name.startswith(HELD):
                continue
            talk_id = name.removeprefix(HELD)
            talk = parse_state(parse_held(Talk(talk_id), text), texts.get(CONVERSATION + talk_id))[0]
            ends = [table.get(message_id(talk_id, number)) for number in (0, talk.next_number - 1)]
            begun, last = (entry.timestamp if entry is not None else None for entry in ends)
            found.append((Listed(talk_id, talk.title, talk.human, begun, last, talk.next_number, talk.others), talk))
    return found


def read(agent: AgentMemory, talk_id: str, start: int = 0, count: int = 100) -> tuple[Message, ...]:
    """Messages of a conversation in their order, by number; the time depends only on how many are requested.

    Args:
        agent: whose conversation.
        talk_id: which.
        start: the number of the first, 0 or more.
        count: how many numbers to read, 0 to 100,000; missing ones are skipped.

    Raises:
        InvalidParameter: one is out of its range.
        StoreDamaged: a message is not as it was written.
    """
    first = whole("The first message", start, 0, 2**62)
    most = whole("The number of messages", count, 0, MOST_AT_ONCE)
    with agent.contents.shelf(Tier.RECALL) as table:
        entries = (
            [table.get(message_id(talk_id, number)) for number in range(first, first + most)] if len(table) else []
        )
    return tuple(message_of(entry) for entry in entries if entry is not None)


def removal(agent: AgentMemory, talk_id: str, *, author: str = "script") -> ChangeSet:
    """Plan to remove a conversation with all its messages; undoing it brings everything back.

    What the agent remembers of it, such as a synopsis, stays. ``agent.purge`` with the ids of its changes then removes
    what was said from the history.

    Raises:
        ConversationNotFound: the agent has no conversation of this id.
    """
    talk = loaded(agent, talk_id, queue=False)
    with agent.contents.shelf(Tier.RECALL) as table:
        ids = sorted(entry_id for entry_id in table.ids if entry_id.startswith(f"{talk_id}-"))
        entries = [entry for entry_id in ids if (entry := table.get(entry_id)) is not None]
    gone = [Change(bare(entry), None, "Its conversation was removed.") for entry in entries]
    title = f"Remove the conversation {in_quotes(talk.title or talk.human)}"
    kept = agent.texts()
    names = (start + talk_id for start in (HELD, CONVERSATION, CORE))
    taken = tuple(TextChange(name, kept[name], None) for name in names if kept.get(name) is not None)
    revision = agent.stamp[0]
    return ChangeSet(
        "remove conversation", title, tuple(gone), agent.now, revision, author=author, texts=taken, agent=agent.name
    )


def line(name: str, text: object, most: int = MAX_SPEAKER) -> str:
    """A name on one line.

    Raises:
        InvalidParameter: it is not a name, or longer than ``most`` characters.
    """
    if not isinstance(text, str) or not text.strip() or not text.strip().isprintable() or len(text.strip()) > most:
        raise InvalidParameter(f"{name} must be on one line, of 1 to {most} characters.")
    return text.strip()
