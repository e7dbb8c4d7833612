"""Passages: what of a memory, message or document answers a question, and the sentence in it that answers best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..embedding import Embedder
from ..entry import MAX_DOCUMENT, Kind, MemoryEntry, Tier
from ..times import stamp
from ..verdicts import NAMES
from .documents_entries import whence
from .sentences import Span, relevances, sentences

MAX_PASSAGE = 1000
"""Characters of a passage; of a longer memory it is the part around the sentence that answers best."""


@dataclass(frozen=True)
class Passage:
    """A passage that answers a question.

    Args:
        id: of the memory, message or piece of a document that it is from.
        text: as that has it, at most 1,000 characters.
        sentence: where the sentence that answers best stands in ``text``; in characters, the end after the last.
        source: where it comes from, in words for people.
        score: how well it answers, 0 to 30; see ``Score.total``. What does not fade is scored by relevancy alone.
        relevancy: how well what it says answers, 0 to 1.
        tier: where it is.
        kind: what it is.
        at: when it happened or was said; ``None`` = timeless.
        whole: whether ``text`` is all that the memory says.
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
        """The entry as it can be told: of a message also who says it."""
        speaker = self.entry.extras.get("speaker")
        if self.entry.tier is not Tier.RECALL or not speaker:
            return self.entry
        return self.entry.evolve(document=f"{speaker}: {self.entry.document}"[:MAX_DOCUMENT])


def passages(question: str, hits: Sequence[Hit], embedder: Embedder) -> tuple[Passage, ...]:
    """What of each hit answers a question.

    Raises:
        EmbedderError: a sentence could not be embedded.
    """
    parted = [(text, sentences(text) or [(0, len(text))]) for text in (hit.entry.document for hit in hits)]
    asked = iter(relevances(question, [one for one in parted if len(one[1]) > 1], embedder))
    best = [int(next(asked).argmax()) if len(spans) > 1 else 0 for _, spans in parted]
    return tuple(_passage(hit, spans, at) for hit, (_, spans), at in zip(hits, parted, best, strict=True))


def _passage(hit: Hit, spans: list[Span], best: int) -> Passage:
    entry = hit.entry
    first, last = _around(spans, best)
    begin, end = spans[first][0], min(spans[last][1], spans[first][0] + MAX_PASSAGE)
    if first == 0 and last == len(spans) - 1 and len(entry.document) <= MAX_PASSAGE:
        begin, end = 0, len(entry.document)
    return Passage(
        id=entry.id,
        text=entry.document[begin:end],
        sentence=(spans[best][0] - begin, min(spans[best][1], end) - begin),
        source=source_of(entry),
        score=hit.score,
        relevancy=hit.relevancy,
        tier=entry.tier,
        kind=entry.kind,
        at=entry.timestamp,
        whole=(begin, end) == (0, len(entry.document)),
    )


def source_of(entry: MemoryEntry) -> str:
    """Where something comes from: who said it, which document and page, or which memory, and when."""
    when = stamp(entry.timestamp) if entry.timestamp else "timeless"
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
    """The first and the last of the sentences around one that have room in a passage with it."""
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
