"""Narrative: memories as one text, each sentence with the ids it rests on. It changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..core.change_set import ModelCall, so_many
from ..core.entry import MemoryEntry
from ..errors import InvalidParameter, kind_of
from ..llm import LanguageModel, narrate
from ..llm.extractive import quote
from ..recall.rank import Recall
from ..recall.verdicts import Candidate
from .context import by_age
from .grounding import checked, names

Hits = Recall | Sequence[Candidate | MemoryEntry]
"""What was recalled, or chosen memories; from a ``Recall``, those in its answer."""


@dataclass(frozen=True)
class Sentence:
    """One sentence of a narrative, and the ids of the memories that it rests on."""

    text: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Dropped:
    """A sentence of the model that is left out, those of its ids that exist, and why it is left out."""

    text: str
    ids: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Narrative:
    """What memories tell.

    Args:
        text: the narrative; if there is none, a sentence that says why.
        sentences: what it is made of; empty if there is no narrative.
        dropped: what the model said beyond the memories.
        call: the prompt and the answer; ``None`` if no model was asked.
        told_by: the label of the model, which names the offline rules as such; empty if none was asked.
        left_out: ids of hits that did not fit in the prompt.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    call: ModelCall | None = None
    told_by: str = ""
    left_out: tuple[str, ...] = ()


def tell(who: str, cue: str, hits: Hits, model: LanguageModel, now: datetime) -> Narrative:
    """Join the hits into a narrative.

    The first hits have priority for the room in the prompt; they are ordered by time. A sentence is dropped if it
    rests on no memory, on one that was not given, or has names, numbers or dates that are in none of its memories.

    Args:
        who: the character's name, which may be in any sentence.
        cue: what the narrative is to answer.
        hits: see ``Hits``.
        model: who tells it.
        now: the world's time, in whose zone it says when each happened.

    Raises:
        InvalidParameter: a hit is not a memory.
        ModelError: the language model gave no usable answer.
    """
    found = list({entry.id: entry for entry in map(_entry, *_numbered(hits))}.values())
    if not found:
        return Narrative(f"Nothing was recalled for {quote(cue)}, so there is nothing to tell.")
    first, *others = narrate.parts(found)
    entries = sorted(first, key=by_age)
    done = model.complete(narrate.narrate(who, cue, entries, now))
    among = names([cue, *(entry.document for entry in entries)])
    sentences: list[Sentence] = []
    dropped: list[Dropped] = []
    for statement in done.answer.sentences:
        text = " ".join(statement.text.split())
        cites = statement.because_of
        sources, problem = checked(statement.text, cites, entries, known=(who,), among=among, now=now)
        ids = tuple(source.id for source in sources)
        if problem:
            dropped.append(Dropped(text, ids, problem))
        else:
            sentences.append(Sentence(text, ids))
    return Narrative(
        " ".join(sentence.text for sentence in sentences) or _nothing(len(entries), len(dropped)),
        tuple(sentences),
        tuple(dropped),
        done.call,
        model.label,
        tuple(entry.id for part in others for entry in part),
    )


def _nothing(count: int, dropped: int) -> str:
    if dropped:
        return f"Nothing can be told: what the language model wrote (dropped: {dropped}) does not rest on the memories."
    return f"The language model told nothing from the {so_many(count)} that it was given."


def _numbered(hits: Hits) -> tuple[Sequence[object], range]:
    items: object = hits.hits if isinstance(hits, Recall) else hits
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise InvalidParameter(f"The hits must be a Recall or a list of memories, not {kind_of(hits)}.")
    return items, range(1, len(items) + 1)


def _entry(hit: object, number: int) -> MemoryEntry:
    if isinstance(hit, Candidate):
        return hit.entry
    if isinstance(hit, MemoryEntry):
        return hit
    raise InvalidParameter(f"Hit {number} is {kind_of(hit)}; a hit is a Candidate or a MemoryEntry.")
