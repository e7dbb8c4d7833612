"""The offline model's summary of a conversation: its most significant sentences, quoted, within the limit."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from ...core.languages import long_word
from ..tasks import Summary
from .prompt import SIGN

_BYTES = 6
"""Bytes assumed per word, so that languages without spaces are bounded too."""
_SENTENCE = 180
"""The most characters in one quotation, cut between words."""
_SPEAKER = 40
_NAMING = 4.0
"""The value of the sentence in which somebody last gave their name; a corrected name counts like any other."""
_MOST_LOOKED_AT = 400
"""The most sentences to weigh; of more, those that seem most significant by their form."""
_END = re.compile(r"(?<=[.!?…。!?])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)[\"”’)]*\s+|(?<=[。!?])|\n+")
_QUOTED = re.compile(r"^(?P<speaker>[^“”\n]{1,60}): “(?P<text>[^“”]+)”[.…]?$")
_WORD = re.compile(long_word(3, r"[^\W_]") + r"|\d+|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_NAMED = re.compile(r"(?<=\s)[A-Z][\w’'-]+")
_NUMBER = re.compile(r"\d")
_FACT = re.compile(
    r"\b(?:I['’]m|I\s+(?:am|was|have|had|live|work|like|love|hate|prefer|want|need|come|grew|used|took|will|can['’]?t)|"
    r"call\s+me|my\s+\w+(?:\s+\w+)?\s+(?:is|was|are|were|has|baked|gave|made|lives?|works?|died|loves?))\b|\bmy\b",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    r"\b(?:promise[ds]?|remember|tomorrow|next|deadline|birthday|agreed?|must|always|never)\b", re.IGNORECASE
)
_NAME = re.compile(r"\b(?:my\s+name(?:\s+is|['’]s)|call\s+me|I\s+am\s+called)\s+\w+", re.IGNORECASE)
_IDLE = re.compile(
    r"^\W*(?:hi|hello|hey|ok(?:ay)?|sure|thanks?(?:\s+you)?|yes|no|bye|good\s+(?:morning|night))\W*$", re.IGNORECASE
)
_COMMON = re.compile(
    r"^(?:the|and|for|are|was|were|you|your|that|this|with|have|has|had|not|but|what|when|where|who|how|all|can|will|"
    r"would|could|should|there|here|then|than|them|they|she|her|his|him|its|our|out|about|from|into|just|very)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Saying:
    """A speaker's sentence, with its words and the value of its form."""

    place: int
    quoted: str
    words: frozenset[str]
    form: float
    tells_name: bool


def fold(data: Mapping[str, Any]) -> Summary:
    """The most significant sentences of the old summary and of what was said since, in order, one per line.

    What the human says about themselves counts most, then names, numbers and promises, then subjects that many
    sentences are about. If somebody gives several names, the last counts. The text has at most ``words`` words, and six
    bytes for each of them, whatever the input.
    """
    sayings = _sayings(data)
    if not sayings:
        return Summary(summary="Nothing was said.")
    common = Counter(word for saying in sayings for word in saying.words)
    left, chosen = list(sayings), list[_Saying]()
    words, room, heard = int(data["words"]), int(data["words"]) * _BYTES, Counter[str]()
    while left and words > 1:
        best = max(left, key=lambda saying: (_worth(saying, common, heard, len(sayings)), saying.place))
        left.remove(best)
        needed, wide = len(best.quoted.split()), len(best.quoted.encode()) + 1
        if needed > words or wide > room:
            continue
        chosen.append(best)
        heard.update(best.words)
        words, room = words - needed, room - wide
    if not chosen:
        return Summary(summary=_within(sayings[-1].quoted, int(data["words"])))
    return Summary(summary="\n".join(saying.quoted for saying in sorted(chosen, key=lambda saying: saying.place)))


def _sayings(data: Mapping[str, Any]) -> list[_Saying]:
    """Each sentence once, at the last place where it was said; no more than can be weighed in reasonable time."""
    said: dict[str, _Saying] = {}
    humans = {str(line["speaker"]) for line in data["lines"] if line.get("human")}
    heard = [*_before(str(data["summary"]), humans), *_since(data["lines"])]
    for place, (speaker, text, human) in enumerate(heard):
        said.pop(text, None)
        said[text] = _saying(place, speaker, text, human=human)
    found = list(said.values())
    last = max((saying.place for saying in found if saying.tells_name), default=None)
    found = [replace(saying, form=saying.form + _NAMING) if saying.place == last else saying for saying in found]
    most = sorted(found, key=lambda saying: (-saying.form, -saying.place))[:_MOST_LOOKED_AT]
    return sorted(most, key=lambda saying: saying.place)


def _before(summary: str, humans: Set[str]) -> list[tuple[str, str, bool]]:
    """The sentences of an old summary: our quotations as they were, another model's sentences verbatim."""
    found = list[tuple[str, str, bool]]()
    for line in filter(None, map(str.strip, summary.splitlines())):
        if quoted := _QUOTED.match(line):
            human = quoted["speaker"] in humans if humans else bool(_FACT.search(quoted["text"]))
            found.append((quoted["speaker"], quoted["text"], human))
        else:
            found.extend(("", sentence, False) for sentence in _sentences(line))
    return found


def _since(lines: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, bool]]:
    """What was said since. The offline model's own words are quotations, and left out if others speak too."""
    own = [line for line in lines if not str(line["text"]).startswith(SIGN)]
    return [
        (str(line["speaker"]), sentence, bool(line.get("human")))
        for line in own or lines
        for sentence in _sentences(str(line["text"]).removeprefix(SIGN))
    ]


def _sentences(text: str) -> list[str]:
    split = (" ".join(sentence.split()) for sentence in _END.split(text))
    return [sentence for sentence in split if sentence and not _IDLE.match(sentence)]


def _saying(place: int, speaker: str, text: str, *, human: bool) -> _Saying:
    short = _cut(text, _SENTENCE)
    words = frozenset(word.lower() for word in _WORD.findall(short) if not _COMMON.match(word))
    naming = human and bool(_NAME.search(text))
    form = (
        2.0 * (human and bool(_FACT.search(text)))
        + 0.5 * human
        + 0.6 * min(2, len(_NAMED.findall(short)))
        + 0.5 * bool(_NUMBER.search(short))
        + 0.5 * bool(_PROMISE.search(short))
        - 0.8 * short.endswith("?")
        - 1.0 * (len(words) < 2)
    )
    plain = short.replace("“", "‘").replace("”", "’")
    return _Saying(place, f"{_cut(speaker, _SPEAKER)}: “{plain}”" if speaker else plain, words, form, naming)


def _worth(saying: _Saying, common: Counter[str], heard: Counter[str], of: int) -> float:
    """What a sentence adds: its form, and how much else is about the same, less what was chosen already."""
    if not saying.words:
        return saying.form
    central = sum(common[word] for word in saying.words) / len(saying.words) / math.sqrt(max(2, of))
    again = sum(1 for word in saying.words if heard[word]) / len(saying.words)
    return saying.form + min(1.0, central) - 2.5 * again


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = line[:most]
    return f"{head.rpartition(' ')[0] or head}…"


def _within(text: str, words: int) -> str:
    """The text cut to so many words, and bytes for them."""
    cut = " ".join(text.split()[:words])
    return cut.encode()[: words * _BYTES].decode("utf-8", "ignore").strip() or "…"
