"""Remembering: what a talk leaves in memory, so that recall finds it at once.

With each step what was said goes into a note in STM: one memory that grows with the talk, says who said what, and
rests on the messages; a long talk makes several. When the talk is left, one synopsis of what it shows replaces them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..agent import AgentMemory
from ..core.change_set import Change, ModelCall, counted
from ..core.entry import DECAYING, MAX_DOCUMENT, Kind, MemoryEntry, Source, Tier
from ..core.kinds import MAX_PEOPLE
from ..llm.offline.model import OfflineModel
from ..llm.offline.prompt import SIGN
from ..operations import synopsis
from ..operations.context import Ground, Progress, bare, rated
from ..operations.importing.turns import MAX_TURNS
from .actions import cut
from .storage import message_id
from .talk import NOBODY, SCENE, Message, Remember, Talk

ROOM = 1500
"""How many characters a note has; after that another one begins, so that each is about few things."""
_LINE = 600
"""How many characters of one message are in a note; the message itself has the rest."""
_SOMEBODY = "Somebody"
"""The speaker if no name is given; in the memory of a character "You" would be somebody else."""
_CITED = re.compile(r"(?<=[”)]) (?:\[[^\[\]\n]{1,200}\]|\(who I am\)|\(core memory\))|(?<=\w) \[\d{1,4}\](?=[.;])")
"""The source of a quotation by the offline rules, which is for the reader of the talk and is not remembered."""
_SAID = "It was said in a talk."

Slice = Callable[[int, int], tuple[Message, ...]]
"""Messages from a number on, up to a limit."""


@dataclass(frozen=True)
class Remembered:
    """What a synopsis does to memory.

    Args:
        talk: as it is afterwards.
        changes: the synopsis, and the notes that it replaces; empty if the talk shows nothing.
        calls: of language models.
        notes: further remarks.
        said: how many messages it was made from.
    """

    talk: Talk
    changes: tuple[Change, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    notes: tuple[str, ...] = ()
    said: int = 0


def noted(agent: AgentMemory, talk: Talk, messages: Sequence[Message], now: datetime) -> tuple[Talk, list[Change]]:
    """The talk with what was just said noted in memory, according to its settings; no language model is asked.

    Args:
        agent: whose talk it is.
        talk: as it is after the step.
        messages: those of the step.
        now: the world's time.
    """
    said = _said(messages)
    if not said or talk.settings.remember is Remember.NOTHING:
        return talk, []
    if talk.settings.remember is Remember.TURNS:
        who = agent.display_name
        turns = [
            _known(turn_of(talk, message, f"turn-{talk.id}", who=who), agent, talk, [message], now) for message in said
        ]
        return talk, [Change(None, _by_rules(agent, turn, turn.document), _SAID) for turn in turns]
    lines = [_line(message, agent.display_name, _LINE) for message in said]
    entry = agent.find(_note_id(talk.id, talk.noted))
    ids = tuple(message_id(talk.id, message.number) for message in said)
    if entry is not None and not entry.protected and len(entry.document) + sum(map(len, lines)) <= ROOM:
        before = bare(entry)
        text = "\n".join([before.document, *lines])
        grown = before.evolve(document=text, evidence=(*before.evidence, *ids), timestamp=now)
        grown = _known(grown, agent, talk, said, now)
        return talk, [Change(before, _by_rules(agent, grown, "\n".join(lines)), _SAID)]
    talk = replace(talk, noted=said[0].number)
    who = synopsis.listed(list(dict.fromkeys((*map(_speaker, talk.people), agent.display_name))))
    note = MemoryEntry(
        "\n".join([f"Conversation of {who}, {now.day} {now:%B %Y}.", *lines]),
        {"conversation": talk.id},
        _note_id(talk.id, talk.noted),
        kind=Kind.CONVERSATION,
        timestamp=now,
        tags=("talk",),
        evidence=ids,
        depth=1,
    )
    note = _known(note, agent, talk, said, now)
    return talk, [Change(None, _by_rules(agent, note, "\n".join(lines)), _SAID)]


def _known(entry: MemoryEntry, agent: AgentMemory, talk: Talk, said: Sequence[Message], now: datetime) -> MemoryEntry:
    """A memory of what was said, with who told it, who is in it, and where the agent is by its plan or routine."""
    speakers = [_speaker(message.speaker) for message in said if not message.action]
    tellers = [speaker for speaker in speakers if speaker != agent.display_name]
    met = dict.fromkeys((*entry.people, *tellers, *map(_speaker, talk.people)))
    people = [person for person in met if person != _SOMEBODY]
    doing = None if entry.place or entry.people else agent.plan_now(now).doing
    return entry.evolve(
        source=Source.TOLD if tellers else entry.source,
        people=tuple(people[:MAX_PEOPLE]),
        place=doing.place if doing else entry.place,
    )


def notes_of(agent: AgentMemory, talk_id: str) -> tuple[str, ...]:
    """The ids of the notes of a talk that are in STM, which the prompt of the talk itself does not need."""
    with agent.contents.shelf(Tier.STM) as table:
        return tuple(
            entry_id for entry_id in table.ids if entry_id.startswith((f"note-{talk_id}-", f"turn-{talk_id}-"))
        )


def synopsis_of(agent: AgentMemory, talk: Talk, messages: Slice, now: datetime, progress: Progress) -> Remembered:
    """What a talk shows since its last synopsis, as one memory that rests on its messages; see ``synopsis.entry``.

    Args:
        agent: whose talk it is.
        talk: as it is now.
        messages: reads them.
        now: the world's time.
        progress: called with the progress so far.
    """
    said = _said(messages(max(talk.remembered, talk.next_number - MAX_TURNS), MAX_TURNS))
    if not said:
        return Remembered(talk)
    turns = [turn_of(talk, message, who=agent.display_name) for message in said]
    speakers = list(dict.fromkeys(str(turn.extras["speaker"]) for turn in turns))
    ground = Ground(
        agent.display_name,
        now,
        agent.stamp[0],
        agent.author,
        (),
        (),
        agent.settings,
        agent.model,
        lambda _cue, _top_k: [],
        progress,
        agent.name,
    )
    reading = synopsis.read(ground, turns, speakers)
    if not reading.shown:
        return Remembered(talk, (), tuple(reading.calls), reading.notes, len(said))
    entry, call = rated(synopsis.entry(reading.shown, turns, speakers, now), agent.model)
    notes, left = list(_notes(agent, talk)), replace(talk, remembered=talk.next_number)
    entry = _known(
        entry.evolve(id=left.synopsis_id, place=next((note.place for note in notes), "")),
        agent, talk, said, said[-1].at,
    )  # fmt: skip
    made = Change(None, entry, f"What the talk shows, from {counted(len(turns), 'message')}.")
    gone = (Change(bare(note), None, "The synopsis of the talk takes its place.") for note in notes)
    return Remembered(left, (made, *gone), (*reading.calls, call), reading.notes, len(said))


def turn_of(talk: Talk, message: Message, start: str = "", *, who: str) -> MemoryEntry:
    """A message as a memory of the agent ``who``; by its own id, or one that begins with ``start``."""
    speaker = who if message.action else _speaker(message.speaker)
    entry_id = message_id(start or talk.id, message.number)
    return MemoryEntry(
        _line(message, who, MAX_DOCUMENT)[:MAX_DOCUMENT],
        {"conversation": talk.id, "turn": message.number, "speaker": speaker},
        entry_id,
        kind=Kind.CONVERSATION,
        timestamp=message.at,
        evidence=(message_id(talk.id, message.number),) if start else (),
        depth=1 if start else 0,
    )


def _notes(agent: AgentMemory, talk: Talk) -> Iterator[MemoryEntry]:
    """The notes of a talk, in whichever tier; not those that a person has edited."""
    for tier in DECAYING:
        with agent.contents.shelf(tier) as table:
            ids = [entry_id for entry_id in table.ids if entry_id.startswith(f"note-{talk.id}-")]
        for entry in filter(None, map(agent.find, ids)):
            if not (entry.pinned or entry.protected or entry.authored):
                yield entry


def _said(messages: Sequence[Message]) -> list[Message]:
    """The messages that are remembered: what was said, and what was done."""
    return [message for message in messages if (message.said.strip() and message.speaker != SCENE) or message.action]


def _line(message: Message, who: str, most: int) -> str:
    """Who said what, or what the agent did and the result."""
    if message.action:
        body = json.loads(message.text)
        result = body.get("message") or body.get("result") or "done"
        came = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        how = "tried" if body["status"] == "Failed" else "did"
        return f"{who} {how} {message.action}: {cut(came, most)}"
    return f"{_speaker(message.speaker)}: {cut(_text(message), most)}"


def _text(message: Message) -> str:
    said = message.said.strip()
    by_rules = said.removeprefix(SIGN).strip()
    return _CITED.sub("", by_rules) if by_rules and by_rules != said else said


def _speaker(name: str) -> str:
    return _SOMEBODY if name == NOBODY else name


def _note_id(talk_id: str, number: int) -> str:
    return f"note-{message_id(talk_id, number)}"


def _by_rules(agent: AgentMemory, entry: MemoryEntry, new: str) -> MemoryEntry:
    """Rated by the offline rules, since a step does not wait for a model again: the highest rating of its parts."""
    judged, _ = rated(MemoryEntry(new), OfflineModel(agent.embedder))
    if entry.rating is not None and entry.rating >= (judged.rating or 0):
        return entry
    return entry.evolve(rating=judged.rating, explanation=judged.explanation)
