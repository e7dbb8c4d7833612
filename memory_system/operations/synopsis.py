"""Synopsis: what a conversation shows, as one memory in addition to the turns it rests on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest

from ..core.change_set import Change, ChangeSet, ModelCall
from ..core.entry import Kind, MemoryEntry, Scalar, Tier
from ..core.times import in_zone
from ..errors import ModelError
from ..llm import narrate
from ..llm.prompts import prompts_of
from .context import Ground
from .grounding import checked, names

SORTS = {
    "told": "Told",
    "asked": "Asked",
    "done": "Done",
    "felt": "Felt",
    "preferred": "Preferred",
    "reasons": "Why",
}
"""What a conversation may show, with the word before it in the synopsis."""
NOT_WRITTEN = "No synopsis was written"
MOST = 8
"""How many statements of one sort; in a long conversation they are taken from all its parts in turn."""
_NOTED = 5
"""How many dropped statements the notes quote."""
_SPEAKERS = 4


@dataclass(frozen=True)
class _Statement:
    text: str
    turns: tuple[MemoryEntry, ...]


Part = dict[str, list[_Statement]]


@dataclass(frozen=True)
class Read:
    """What a conversation was found to show, by sort; empty if the model failed, as ``notes`` say."""

    shown: Part
    calls: tuple[ModelCall, ...]
    notes: tuple[str, ...]


def plan(ground: Ground, added: ChangeSet) -> ChangeSet:
    """The change set that adds a conversation's turns, with its synopsis.

    The synopsis goes to STM, like every experience: migration moves it to LTM, or forgets it, by its importance,
    which is that of its most important turn. It is of the kind summary, not conversation, so that reflection does not
    weigh the same talk twice. Unlike a summary of LTM it replaces nothing: its turns stay, and later changes to them
    do not affect it.

    If the model fails, only the synopsis is missing; the notes say so.

    Args:
        ground: what to plan on.
        added: the plan that adds the turns, in their order.
    """
    turns = [change.after for change in added.changes if change.after is not None]
    speakers = list(dict.fromkeys(str(turn.extras["speaker"]) for turn in turns))
    title = f"Remember a conversation of {listed(speakers)}: {len(turns)} turn{'s' if len(turns) != 1 else ''}"
    base = dataclasses.replace(added, operation="conversation", title=title)
    failure = next((call.error for call in added.calls if call.error), None)
    synopsis = Read({}, (), tuple(_notes(failure, {}, [], []))) if failure else read(ground, turns, speakers)
    changes = list(base.changes)
    if synopsis.shown:
        reason = f"What the conversation shows, from its {len(turns)} turn{'s' if len(turns) != 1 else ''}."
        changes.append(Change(None, entry(synopsis.shown, turns, speakers, ground.now), reason))
    notes = (*added.notes, *synopsis.notes)
    return dataclasses.replace(base, changes=tuple(changes), calls=(*base.calls, *synopsis.calls), notes=notes)


def read(ground: Ground, turns: Sequence[MemoryEntry], speakers: Sequence[str]) -> Read:
    """Ask the language model what a conversation shows, part by part; what it cannot show is dropped.

    Args:
        ground: what to plan on.
        turns: the turns in their order.
        speakers: who speaks.
    """
    failure: str | None = None
    calls: list[ModelCall] = []
    dropped: list[str] = []
    found: list[Part] = []
    parts = list(narrate.parts(turns))
    for number, part in enumerate(parts):
        ground.progress(number / len(parts), f"Reading part {number + 1} of {len(parts)} of the conversation")
        task = narrate.read_conversation(ground.who, part, ground.now).worded(prompts_of(ground.model))
        try:
            done = ground.model.complete(task)
        except ModelError as error:
            failure = error.sentence
            calls.append(ModelCall(task.name, ground.model.name, task.prompt(), "", 0.0, error=failure))
            break
        calls.append(done.call)
        found.append(_kept(done.answer, part, (ground.who, *speakers), dropped, ground.now))
    ground.progress(1.0, "Read the conversation")  # so that a cancel during the model's answer takes effect
    shown = {} if failure else _merged(found)
    return Read(shown, tuple(calls), tuple(_notes(failure, shown, found, dropped)))


def entry(shown: Part, turns: Sequence[MemoryEntry], speakers: Sequence[str], now: datetime) -> MemoryEntry:
    """The memory of what a conversation shows: at the time of its latest turn, resting on all of them.

    It says on which day that was in the zone of ``now``, the world's time.
    """
    times = [turn.timestamp for turn in turns if turn.timestamp is not None]
    ends = (in_zone(moment, now.tzinfo) for moment in (min(times), max(times)))
    days = list(dict.fromkeys(f"{moment.day} {moment:%B %Y}" for moment in ends))
    lines = [f"Conversation of {listed(speakers)}, {' to '.join(days)}."]
    lines += [
        f"{word}: {' '.join(statement.text for statement in shown[sort])}"
        for sort, word in SORTS.items()
        if sort in shown
    ]
    conversation = str(turns[0].extras["conversation"])
    metadata: dict[str, Scalar] = {
        "conversation": conversation,
        "covers_from": min(times).isoformat(),
        "covers_until": max(times).isoformat(),
    }
    for sort, statements in shown.items():
        places = {int(turn.extras["turn"]) for statement in statements for turn in statement.turns}
        metadata[f"{sort}_turns"] = " ".join(map(str, sorted(places)))
    highest = max((turn.rating for turn in turns if turn.rating is not None), default=None)
    return MemoryEntry(
        "\n".join(lines),
        metadata,
        f"synopsis-{conversation}",
        tier=Tier.STM,
        kind=Kind.SUMMARY,
        timestamp=max(times),
        rating=highest,
        explanation="" if highest is None else f"As important as the most important of its {len(turns)} turns.",
        tags=("synopsis",),
        evidence=tuple(turn.id for turn in turns),
        depth=1 + max(turn.depth for turn in turns),
    )


def _kept(
    answer: narrate.Shown, part: Sequence[MemoryEntry], known: Sequence[str], dropped: list[str], now: datetime
) -> Part:
    """The statements that rest on turns; the others go to ``dropped``, each as a sentence for the notes."""
    among = names(turn.document for turn in part)
    kept: Part = {}
    for sort in SORTS:
        for statement in getattr(answer, sort):
            text = " ".join(statement.text.split())
            sources, problem = checked(text, statement.because_of, part, known=known, among=among, now=now)
            if problem:
                dropped.append(f"“{text if len(text) <= 80 else f'{text[:79]}…'}” was dropped. {problem}")
            else:
                ended = text if text[-1] in '.!?…”"' else f"{text}."
                kept.setdefault(sort, []).append(_Statement(ended, tuple(sources)))
    return kept


def _merged(found: Sequence[Part]) -> Part:
    """Of each sort at most ``MOST`` statements, from all parts in turn, in the order of the conversation."""
    merged: Part = {}
    for sort in SORTS:
        rounds = zip_longest(*(part.get(sort, []) for part in found))
        distinct = {
            statement.text.casefold(): statement for some in rounds for statement in some if statement is not None
        }
        if chosen := list(distinct.values())[:MOST]:
            merged[sort] = sorted(
                chosen, key=lambda statement: min(int(turn.extras["turn"]) for turn in statement.turns)
            )
    return merged


def _notes(failure: str | None, shown: Part, found: Sequence[Part], dropped: Sequence[str]) -> Iterator[str]:
    if failure:
        yield f"{NOT_WRITTEN}: {failure}"
        return
    if not shown:
        yield f"{NOT_WRITTEN}: nothing was found that the conversation shows."
    yield from dropped[:_NOTED]
    if len(dropped) > _NOTED:
        yield f"{len(dropped) - _NOTED} more statements were dropped; the answers stand in the calls."
    left_out = sum(map(len, (s for part in found for s in part.values()))) - sum(map(len, shown.values()))
    if left_out:
        yield f"{left_out} statements found no room in the synopsis, which has at most {MOST} of a sort."


def listed(speakers: Sequence[str]) -> str:
    """The names as a list in words; if there are many, the first few and a number."""
    if len(speakers) > _SPEAKERS:
        return f"{', '.join(speakers[:_SPEAKERS])} and {len(speakers) - _SPEAKERS} more"
    return " and ".join(filter(None, (", ".join(speakers[:-1]), speakers[-1])))
