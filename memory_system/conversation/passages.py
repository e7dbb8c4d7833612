"""Passages: the part of a memory, message or document that answers a question, and the sentence that answers best.

Also the positions of sentences in a text, and how well each answers a question.

A sentence is judged by late interaction: how well the question's words are met by its tokens, which know the text
around them (MaxSim after Khattab and Zaharia 2020, ColBERT, arXiv 2004.12832). Names in the question are left out,
since every sentence of a memory is about them. This method was chosen on 23 pairs of question and sentence written for
it: it marks the right sentence for 21, the cosine of question and sentence for 15.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..core.entry import MAX_DOCUMENT, Kind, MemoryEntry, Tier
from ..core.times import stamp
from ..embedding.embedder import Embedder
from ..recall.hybrid import TokenStates
from ..recall.hybrid.words import words
from ..recall.verdicts import NAMES
from .documents import whence

Span = tuple[int, int]
"""Where something begins and ends in a text: characters, the end after the last."""
Parted = tuple[str, Sequence[Span]]
"""A text and its sentences."""

_ABBREVIATED = r"(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\be\.g\.)(?<!\bi\.e\.)"
_END = re.compile(rf"(?<=[.!?…]){_ABBREVIATED}[\"”’»)\]]*(?=\s)|(?<=[。！？])[」』”’）]*|[\r\n]+")
"""What follows a sentence; Chinese and Japanese put no space between two."""
_AT_ONCE = 800
"""How many characters are read together: the embedder reads only 256 tokens of a text."""


def sentences(text: str) -> list[Span]:
    """The position of each sentence of a text, in order, without the white space around it; empty for a blank text."""
    ends = [match.end() for match in _END.finditer(text)]
    bounds = [0, *ends, len(text)]
    trimmed = (_trimmed(text, start, end) for start, end in pairwise(bounds))
    return [(start, end) for start, end in trimmed if start < end]


def relevances(question: str, texts: Sequence[Parted], embedder: Embedder) -> list[NDArray[np.float64]]:
    """How well each sentence of each text answers a question, shape (sentences,) for each text, -1 to 1.

    The texts are read together, which takes half as long as one by one. For an embedder without token states, the
    vectors of the sentences are used instead.

    Raises:
        EmbedderError: a text could not be embedded.
    """
    tokens = TokenStates.of(embedder)  # not the agent's, which stores what it reads in a file
    if not tokens.available:
        return _by_vectors(question, texts, embedder)
    parts = [(place, part) for place, (_, spans) in enumerate(texts) for part in _together(spans)]
    asked, *read = tokens.get([question, *(texts[place][0][part[0][0] : part[-1][1]] for place, part in parts)])
    question_vectors = asked.vectors[_asked_for(question, asked.spans[:, 0])]
    found: list[list[float]] = [[] for _ in texts]
    for (place, part), states in zip(parts, read, strict=True):
        begins, vectors = states.spans[:, 0].astype(np.intp) + part[0][0], states.vectors
        for start, end in part:
            inside = vectors[(begins >= start) & (begins < end)]
            met = (inside @ question_vectors.T).max(axis=0).mean() if len(inside) and len(question_vectors) else -1.0
            found[place].append(float(met))
    return [np.array(scores) for scores in found]


def _by_vectors(question: str, texts: Sequence[Parted], embedder: Embedder) -> list[NDArray[np.float64]]:
    parts = [text[start:end] for text, spans in texts for start, end in spans]
    asked, *read = embedder.embed([question, *parts])
    cosines = iter([float(vector @ asked) for vector in read])
    return [np.array([next(cosines) for _ in spans]) for _, spans in texts]


def _asked_for(question: str, begins: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """The tokens of a question that matter: neither stop words nor names; all if there are no others.

    A name is a word with a capital within the question.
    """
    counting = np.zeros(len(begins), np.bool_)
    for number, word in enumerate(words(question)):
        if word.stem and not (number and word.written[0].isupper()):
            counting |= (begins >= word.start) & (begins < word.end)
    return counting if counting.any() else np.ones(len(begins), np.bool_)


def _together(spans: Sequence[Span]) -> list[list[Span]]:
    """The sentences in their order, in parts that can be read as one text."""
    parts: list[list[Span]] = []
    for span in spans:
        if parts and span[1] - parts[-1][0][0] <= _AT_ONCE:
            parts[-1].append(span)
        else:
            parts.append([span])
    return parts


def _trimmed(text: str, start: int, end: int) -> Span:
    said = text[start:end]
    return start + len(said) - len(said.lstrip()), end - (len(said) - len(said.rstrip()))


MAX_PASSAGE = 1000
"""How many characters a passage has; of a longer memory it is the part around the sentence that answers best."""


@dataclass(frozen=True)
class Passage:
    """A passage that answers a question.

    Args:
        id: the id of the memory, message or piece of a document that it is from.
        text: literally, at most 1,000 characters.
        sentence: the position in ``text`` of the sentence that answers best; in characters, the end after the last.
        source: where it comes from, in words.
        score: how well it answers, 0 to 30; see ``Score.total``. What does not fade is scored by relevancy alone.
        relevancy: how well its content answers, 0 to 1.
        tier: where it is.
        kind: what it is.
        at: when it happened or was said; ``None`` = timeless.
        whole: whether ``text`` is the whole memory.
    """

    id: str
    text: str
    sentence: Span
    source: str
    score: float
    relevancy: float
    tier: Tier
    kind: Kind
    at: datetime | None
    whole: bool

    @property
    def marked(self) -> str:
        """The passage on one line, with its best sentence in double square brackets."""
        start, end = self.sentence
        before, best, after = (
            " ".join(part.replace("[[", "[").replace("]]", "]").split())
            for part in (self.text[:start], self.text[start:end], self.text[end:])
        )
        return " ".join(part for part in (before, f"[[{best}]]", after) if part)

    @property
    def best(self) -> str:
        """The sentence that answers best."""
        return self.text[slice(*self.sentence)]


@dataclass(frozen=True)
class Hit:
    """What was found: a memory, a message or a piece of a document, with its score and its relevancy."""

    entry: MemoryEntry
    score: float
    relevancy: float

    @property
    def told(self) -> MemoryEntry:
        """The text of the entry; for a message with its speaker."""
        speaker = self.entry.extras.get("speaker")
        if self.entry.tier is not Tier.RECALL or not speaker:
            return self.entry
        return self.entry.evolve(document=f"{speaker}: {self.entry.document}"[:MAX_DOCUMENT])


def passages(question: str, hits: Sequence[Hit], embedder: Embedder, now: datetime) -> tuple[Passage, ...]:
    """The part of each hit that answers a question; it says when that was in the zone of ``now``, the world's time.

    Raises:
        EmbedderError: a sentence could not be embedded.
    """
    parted = [(text, sentences(text) or [(0, len(text))]) for text in (hit.entry.document for hit in hits)]
    asked = iter(relevances(question, [pair for pair in parted if len(pair[1]) > 1], embedder))
    best = [int(next(asked).argmax()) if len(spans) > 1 else 0 for _, spans in parted]
    return tuple(_passage(hit, spans, at, now) for hit, (_, spans), at in zip(hits, parted, best, strict=True))


def _passage(hit: Hit, spans: list[Span], best: int, now: datetime) -> Passage:
    entry = hit.entry
    first, last = _around(spans, best)
    begin, end = spans[first][0], min(spans[last][1], spans[first][0] + MAX_PASSAGE)
    if first == 0 and last == len(spans) - 1 and len(entry.document) <= MAX_PASSAGE:
        begin, end = 0, len(entry.document)
    return Passage(
        id=entry.id,
        text=entry.document[begin:end],
        sentence=(spans[best][0] - begin, min(spans[best][1], end) - begin),
        source=source_of(entry, now),
        score=hit.score,
        relevancy=hit.relevancy,
        tier=entry.tier,
        kind=entry.kind,
        at=entry.timestamp,
        whole=(begin, end) == (0, len(entry.document)),
    )


def source_of(entry: MemoryEntry, now: datetime) -> str:
    """Where something comes from: who said it, which document and page, or which memory, and when, in a time's zone."""
    when = stamp(entry.timestamp, now) if entry.timestamp else "timeless"
    match entry.tier:
        case Tier.STATIC:
            return "personality"
        case Tier.ARCHIVE:
            return whence(entry)
        case Tier.RECALL:
            return f"said by {entry.extras.get('speaker') or 'nobody'}, {when}"
        case _:
            return f"{NAMES[entry.tier]} memory, {entry.kind.value}, {when}"


def _around(spans: list[Span], best: int) -> tuple[int, int]:
    """The first and the last of the sentences around one that fit in a passage with it."""
    first = last = best
    while True:
        size_before = spans[last][1] - spans[first - 1][0] if first else MAX_PASSAGE + 1
        size_after = spans[last + 1][1] - spans[first][0] if last + 1 < len(spans) else MAX_PASSAGE + 1
        if min(size_before, size_after) > MAX_PASSAGE:
            return first, last
        if size_before <= MAX_PASSAGE and (best - first <= last - best or size_after > MAX_PASSAGE):
            first -= 1
        else:
            last += 1
