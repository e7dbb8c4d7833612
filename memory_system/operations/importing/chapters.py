"""A chapter of prose as a language model reads it: one memory per event, instead of its sentences.

What it writes has to rest on sentences that it was given, according to the rules of ``grounding``. A part for which it
fails or gives an unusable answer stays as it is, one memory per sentence, and the notes say so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...core.change_set import ModelCall
from ...core.entry import MemoryEntry
from ...errors import InvalidEntry, ModelError, ModelNonsense, ModelOverflow
from ...llm import LanguageModel
from ...llm.chapter import Happened, read_chapter
from ...llm.offline import OfflineModel
from ...llm.prompts import prompts_of
from ..context import Progress, no_progress
from ..grounding import checked, names
from .forms import Dropped, Material, Origin, Piece

MOST_SENTENCES, MOST_CHARACTERS = 40, 6000
"""How much the model is given at once."""
_NOT_PROSE = "Only prose is read by a language model; this was read as it is."
_NO_MODEL = "No language model is set; each sentence is a memory."
_NOTHING = "The language model found nothing in it to remember."
_LEFT = "The language model made no memory of it."
_MISSES = 3
"""How many parts a model that has read none may fail at before the others are left as they are."""


@dataclass(frozen=True)
class _Part:
    pieces: tuple[Piece, ...]
    dropped: tuple[Dropped, ...] = ()
    problem: str = ""


def by_model(material: Material, model: LanguageModel, who: str, progress: Progress = no_progress) -> Material:
    """Prose as read by a language model; the notes say what was left as it is, and why.

    Args:
        material: the material; only prose is changed.
        model: the model that reads it.
        who: the name of the character for whom it is read.
        progress: called with the progress so far; it may raise to cancel.
    """
    if material.origin is not Origin.PROSE or model.name == OfflineModel.name:
        note = _NO_MODEL if material.origin is Origin.PROSE else _NOT_PROSE
        return dataclasses.replace(material, notes=(*material.notes, note))
    found: list[_Part] = []
    calls: list[ModelCall] = []
    parts = list(_parts(material.pieces))
    stopped = ""
    for number, part in enumerate(parts, start=1):
        if stopped:
            found.append(_Part(part, problem=stopped))
            continue
        progress((number - 1) / len(parts), f"Reading part {number} of {len(parts)} with the language model")
        task = read_chapter(who, [piece.entry.document for piece in part]).worded(prompts_of(model))
        try:
            done = model.complete(task)
        except ModelError as error:
            calls.append(ModelCall(task.name, model.name, task.prompt(), "", 0.0, error=error.sentence))
            found.append(_Part(part, problem=error.sentence))
            hopeful = any(not part.problem for part in found) or len(found) < _MISSES
            stopped = "" if isinstance(error, ModelNonsense | ModelOverflow) and hopeful else error.sentence
        else:
            calls.append(done.call)
            found.append(_read(done.answer.memories, part, who))
    problems = (
        f"Left as sentences: {_from_to(part)}. {made.problem}"
        for part, made in zip(parts, found, strict=True) if made.problem
    )  # fmt: skip
    return dataclasses.replace(
        material,
        pieces=tuple(piece for part in found for piece in part.pieces),
        dropped=(*material.dropped, *(drop for part in found for drop in part.dropped)),
        notes=(*material.notes, f"Read by {model.label}.", *problems),
        calls=tuple(calls),
    )


def _parts(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, ...]]:
    """Sentences that are read together: of one chapter, and not too many."""
    part: list[Piece] = []
    for piece in pieces:
        size = sum(len(sentence.entry.document) for sentence in (*part, piece))
        another = bool(part) and part[-1].entry.extras.get("chapter") != piece.entry.extras.get("chapter")
        if part and (another or len(part) >= MOST_SENTENCES or size > MOST_CHARACTERS):
            yield tuple(part)
            part = []
        part.append(piece)
    if part:
        yield tuple(part)


def _read(memories: Sequence[Happened], part: Sequence[Piece], who: str) -> _Part:
    """The result for a part; the part as it is if nothing in the result rests on it."""
    entries = [piece.entry for piece in part]
    among = names(entry.document for entry in entries)
    made: list[Piece] = []
    refused: list[Dropped] = []
    covered: set[str] = set()
    for memory in memories:
        rests, why = checked(memory.text, memory.because_of, entries, known=(who,), among=among)
        if not why:
            try:
                made.append(Piece(_places(rests, part), MemoryEntry(memory.text, metadata=entries[0].extras)))
            except InvalidEntry as error:
                why = error.sentence
            else:
                covered |= {entry.id for entry in rests}
        if why:
            refused.append(Dropped(_from_to(part), memory.text[:200], f"The language model made it up. {why}"))
    if not made:
        why = f"The language model wrote “{refused[0].text[:80]}”. {refused[0].reason}" if refused else _NOTHING
        return _Part(tuple(part), problem=why)
    left = tuple(Dropped(piece.place, piece.entry.document, _LEFT) for piece in part if piece.entry.id not in covered)
    return _Part(tuple(made), (*left, *refused))


def _places(rests: Sequence[MemoryEntry], part: Sequence[Piece]) -> str:
    """The positions of the sentences that a memory rests on."""
    ids = {entry.id for entry in rests}
    places = [piece.place for piece in part if piece.entry.id in ids]
    return places[0] if len(places) == 1 else f"{places[0]} to {places[-1]}"


def _from_to(part: Sequence[Piece]) -> str:
    return part[0].place if len(part) == 1 else f"{part[0].place} to {part[-1].place}"
