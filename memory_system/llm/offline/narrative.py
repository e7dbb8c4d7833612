"""The offline model's narrative and synopsis: quotations, dated and in order. It joins nothing on its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ...core.memory import Vectors
from ..extractive import centrality, choose, quote
from ..narrate import Shown, Statement, Story
from .spoken import is_filler
from .voice import inner

_QUOTE = 200
"""The most characters in a quotation, cut between words."""
_MOST = 3
"""The most quotations of one sort from one part of a conversation."""
_MOST_TOLD = 8
"""The most quotations of statements that are of no other sort."""
_FEWEST_WORDS = 3
"""A sentence of fewer words ("Really?") shows nothing."""
_SPEAKER = 60
"""The most characters of a speaker's name before a quotation."""
_ABBREVIATED = r"(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)"
_SENTENCE_END = re.compile(rf"(?<=[.!?…]){_ABBREVIATED}[\"”’)]*\s+|\n+")
_I = r"\b(?:I|we)\s+(?:(?:really|always|also|just|still|never|quite|much|so|do|don['’]t|do\s+not|have|had)\s+)*"
_QUESTION = re.compile(r"\?[\"”’)]*$")
_PREFERENCE = re.compile(
    rf"{_I}(?:like|love|prefer|hate|enjoy|dislike|adore|favour)\b|\b(?:I|we)\s+can(?:['’]t|not)\s+stand\b"
    r"|\bmy\s+favou?rite\b",
    re.IGNORECASE,
)
_FEELING = re.compile(
    r"\b(?:I\s+(?:am|was|feel|felt|have\s+been|had\s+been)|I['’](?:m|ve\s+been))\s+(?:(?:not|so|very|really|quite|too|"
    r"still|a\s+bit|rather|just|feeling)\s+)*(?:afraid|alone|angry|anxious|ashamed|bored|calm|confused|content|"
    r"delighted|desperate|disappointed|embarrassed|excited|exhausted|frightened|furious|glad|grateful|guilty|happy|"
    r"heartbroken|hopeful|hurt|jealous|lonely|miserable|nervous|overwhelmed|proud|relieved|sad|scared|shocked|sorry|"
    r"stressed|surprised|terrified|thankful|thrilled|tired|unhappy|upset|worried)\b",
    re.IGNORECASE,
)
"""A short list on purpose: what speakers say about themselves in a word for a feeling."""
_REASON = re.compile(
    r"(?:\bbe|['’])cause\b|\b(?:the\s+reason|that\s+is\s+why|that['’]s\s+why|which\s+is\s+why|so\s+that|as\s+a\s+result)\b",
    re.IGNORECASE,
)
_DEED = re.compile(
    r"\b(?:I|we)(?:['’]ve|\s+have)?\s+(?:(?:already|just|also|then)\s+)*(?:\w{2,}ed|bought|brought|built|came|caught|"
    r"chose|did|drove|found|gave|got|heard|kept|lent|left|lost|made|met|paid|put|read|ran|said|sat|saw|sent|sold|spoke|"
    r"spent|stood|taught|told|took|went|won|wrote)\b",
    re.IGNORECASE,
)
_SORTS = (
    ("asked", _QUESTION),
    ("preferred", _PREFERENCE),
    ("felt", _FEELING),
    ("reasons", _REASON),
    ("done", _DEED),
)
"""A sentence is of the first sort that it fits, so that nothing is quoted twice; without a sort it is a statement."""

Embed = Callable[[list[str]], Vectors]


def digest(data: Mapping[str, Any]) -> Story:
    """Each record quoted with its date and time, in the given order."""
    statements = [
        Statement(text=f"{_dated(record['when'])}: {_quoted(record['text'])}.", because_of=[record["number"]])
        for record in data["records"]
    ]
    return Story(sentences=statements)


def read_conversation(data: Mapping[str, Any], embed: Embed) -> Shown:
    """Sentences that show something by their form, quoted with their speaker; the most central if there are many."""
    found: dict[str, list[tuple[str, Statement]]] = {sort: [] for sort, _ in (*_SORTS, ("told", None))}
    for turn in data["turns"]:
        for sentence in _sentences(turn["text"]):
            sort = next((sort for sort, form in _SORTS if form.search(sentence)), "told")
            speaker = f"{_cut(turn['speaker'], _SPEAKER)}{' asked' if sort == 'asked' else ''}"
            said = Statement(text=f"{speaker}: {_quoted(sentence)}.", because_of=[turn["number"]])
            found[sort].append((sentence, said))
    most = {"told": _MOST_TOLD}
    return Shown(**{sort: _telling(statements, most.get(sort, _MOST), embed) for sort, statements in found.items()})


def _telling(found: Sequence[tuple[str, Statement]], most: int, embed: Embed) -> list[Statement]:
    rows: Sequence[int] = range(len(found))
    if len(found) > most:
        vectors = embed([sentence for sentence, _ in found])
        rows = sorted(choose(vectors, centrality(vectors), most))
    return [found[row][1] for row in rows]


def _sentences(text: str) -> list[str]:
    return [s.strip() for s in _SENTENCE_END.split(text) if len(s.split()) >= _FEWEST_WORDS and not is_filler(s)]


def _dated(when: str) -> str:
    if when == "always":
        return "Always"
    moment = datetime.fromisoformat(when)
    return f"{moment.day} {moment:%B %Y, %H:%M}"


def _quoted(text: str) -> str:
    quoted = inner(text)
    return quote(_cut(quoted[0][0] if quoted else text, _QUOTE))


def _cut(text: str, most: int) -> str:
    """The text on one line, cut between words so that no name or number is halved."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = line[:most]
    return f"{head.rpartition(' ')[0] or head}…"
