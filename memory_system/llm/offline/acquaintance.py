"""Learning about a person without a language model: quotations, and trust by a list of deeds.

A deed counts if the person is named shortly before it in the same sentence ("Tobias kept his word"); "not" or
"never" reverses it. This is a list of English words, not a judgment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from ...core.memory import Vectors
from ..extractive import choose, quote, short
from ..narrate import Known, Learned
from .spoken import is_talk, sayings

_MOST = 2
"""The most quotations from one reflection."""
_STEP = 0.02
"""How much one deed changes trust for each point of the memory's rating (1-10), on the scale of 0 to 1."""
_UNRATED = 5
_NEUTRAL = 0.5
_WORD = r"(?:promise|word|secret|oath|bargain)s?\b"
_OF = r"\s+(?:\w+\s+){0,2}"
_GOOD = (
    r"help(?:s|ed)?|save[sd]?|rescue[sd]?|protect(?:s|ed)?|defend(?:s|ed)?|comfort(?:s|ed)?|forgave|forgives?|"
    r"repaid|repay|paid\s+back|(?:gave|brought|gives?|brings?)" + _OF + r"back|returned|shared?|lent|lends?|"
    r"apologi[sz]ed?|told" + _OF + r"truth|stood\s+by|(?:kept|keeps?)" + _OF + _WORD
)
_BAD = (
    r"lie[sd]?|cheat(?:s|ed)?|stole|steals?|rob(?:s|bed)?|betray(?:s|ed)?|deceive[sd]?|trick(?:s|ed)?|"
    r"threaten(?:s|ed)?|insult(?:s|ed)?|attack(?:s|ed)?|hit|hurt|abandon(?:s|ed)?|mock(?:s|ed)?|swindle[sd]?|"
    r"blackmail(?:s|ed)?|(?:broke|breaks?|forgot|forgets?)" + _OF + _WORD
)
_DEED = rf"(?P<between>(?:[\w'’]+,?\s+){{0,4}}?)(?:(?P<good>{_GOOD})|(?P<bad>{_BAD}))\b"
_NOT = re.compile(r"\b(?:not|never|cannot|refused\s+to)\b|n['’]t\b", re.IGNORECASE)
_ANOTHER = re.compile(r"\b(?:I|we|me|us|who|whom|she|they|and)\b")
"""Words between a name and a deed that may give the deed another subject."""
_NAME = r"(?:[^\W\da-z_][\w'’-]*\s?){1,4}"
"""The name of a speaker, as it precedes a turn."""
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")


def learn(data: Mapping[str, Any], embed: Callable[[Sequence[str]], Vectors]) -> Known:
    """The most significant sentences about the person, quoted with their day; and trust by what they did."""
    person, records = str(data["person"]), data["records"]
    known = "\n".join(str(line["text"]) for line in data["known"])
    pattern = "|".join(sorted({re.escape(person), re.escape(person.split(maxsplit=1)[0])}, key=len, reverse=True))
    named = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)
    deed = re.compile(rf"(?<!\w)(?:{pattern})\s+{_DEED}", re.IGNORECASE)
    said = [
        (sentence.strip(), record)
        for record in records
        for sentence in _SENTENCE.split(str(record["text"]))
        if named.search(sentence) and not sentence.startswith("Conversation of ")
    ]
    others = re.compile(rf"(?!(?:{pattern}): )(?:{re.escape(str(data['character']))}|{_NAME}): ")
    sentences = [
        *(
            (sentence, record)
            for sentence, record in said
            if not is_talk(str(record["text"])) and not others.match(str(record["text"]))
        ),
        *(
            (f"{speaker}: {sentence}" if speaker else sentence, record)
            for record in records
            for speaker, sentence in sayings(str(record["text"]))
            if speaker.casefold() == person.casefold() or (not speaker and named.search(sentence))
        ),
    ]
    whole = [(sentence, record) for sentence, record in sentences if _is_whole(sentence, str(record["text"]))]
    return Known(learned=_quoted(whole, known, embed), **_trust(said, deed, data["trust"]))


def _is_whole(sentence: str, text: str) -> bool:
    """Whether no part of a sentence is cut off: by its record, in a quotation, or by quoting it."""
    cut = text.endswith("…") and text.endswith(sentence)
    return not cut and sentence.count("“") == sentence.count("”") and short(sentence) == " ".join(sentence.split())


def _quoted(said: list[tuple[str, Any]], known: str, embed: Callable[[Sequence[str]], Vectors]) -> list[Learned]:
    fresh = [(quote(sentence), record) for sentence, record in said if quote(sentence) not in known]
    if not fresh:
        return []
    worth = np.array([(record["rating"] or _UNRATED) / 10 for _, record in fresh])
    rows = sorted(choose(embed([text for text, _ in fresh]), worth, _MOST))
    found = {
        f"{text} ({when.day} {when:%B %Y}).": record["number"]
        for text, record in (fresh[row] for row in rows)
        for when in (datetime.fromisoformat(record["when"]),)
    }
    return [Learned(text=text, because_of=[number]) for text, number in found.items()]


def _trust(said: list[tuple[str, Any]], deed: re.Pattern[str], trust: float | None) -> dict[str, Any]:
    step, numbers, words = 0.0, list[int](), list[str]()
    for sentence, record in said:
        for found in deed.finditer(sentence):
            between = found["between"]
            if _ANOTHER.search(between):
                continue
            kind = bool(found["good"]) is not bool(_NOT.search(between))
            step += (1 if kind else -1) * _STEP * (record["rating"] or _UNRATED)
            numbers.append(record["number"])
            words.append(" ".join((found["good"] or found["bad"]).split()))
    if not numbers:
        return {}
    became = min(1.0, max(0.0, (_NEUTRAL if trust is None else trust) + step))
    deeds = ", ".join(f"“{text}”" for text in dict.fromkeys(words))
    return {
        "trust": became,
        "why": f"Offline rules: by the words {deeds}."[:600],
        "because_of": list(dict.fromkeys(numbers)),
    }
