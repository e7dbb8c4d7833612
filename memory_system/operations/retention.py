"""Retention: which memories are kept when they leave short-term memory, in which order they leave, and why.

``ByImportance`` is the rule of the first memory system: an importance threshold, the oldest first. ``Learned`` is the
default: a logistic regression of ten signs that can be read in a memory. The weights of the seven in its text are
fitted to labelled conversations (LoCoMo, Maharana et al. 2024, arXiv 2402.17753: whether a turn was asked for later),
and ``python -m benchmarks.retention DATA`` fits them again. Those of the other three are set by hand.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from ..core.entry import MemoryEntry, rated_by_rules
from ..core.kinds import Kind
from ..core.scoring import in_range
from ..core.settings import AgentSettings, Retention, checked_retention
from ..recall.hybrid.dates import mentions_time
from ..recall.hybrid.speakers import speaker_of
from ..recall.hybrid.words import words
from .context import by_age

BESIDE = 200
"""How many earlier memories one is compared with, to see what is new in it."""
POIGNANT = 8
"""The rating, 1 to 10, from which a memory is kept whatever its signs."""


@dataclass(frozen=True)
class Sign:
    """A sign that can be read in a memory, its weight, and the words for it.

    Args:
        weight: what one unit of it adds to the log-odds of being asked for. The units are the logarithm of 1 + a count
            (``says``: words but for stop words and small talk; ``names``: capitals within a sentence; ``new``), 0 or 1
            (``numbers``, ``times``, ``self``, ``recalled``, ``cited``), a share of the words (``asks``), and how far a
            rating is from the middle, -.8 to 1 (``rated``).
        usual: its mean over the turns that it was fitted on.
        pro: the words if it counts in a memory's favour.
        con: the words if it counts against it.
    """

    weight: float
    usual: float
    pro: str
    con: str


INTERCEPT = -3.393
SIGNS: Mapping[str, Sign] = {
    "says": Sign(0.059, 2.309, "it says much", "it says little"),
    "names": Sign(0.352, 0.35, "it names who or what it is about", "it names nobody and nothing"),
    "numbers": Sign(0.41, 0.019, "it gives a number", "it gives no number"),
    "times": Sign(1.482, 0.147, "it says when", "it does not say when"),
    "asks": Sign(-1.704, 0.132, "it tells more than it asks", "it mostly asks"),
    "self": Sign(0.768, 0.67, "it is told in the first person", "nobody speaks of themselves in it"),
    "new": Sign(1.197, 0.913, "much of it is new", "little of it is new"),
}
"""The weights: LoCoMo, five conversations, 2,760 turns, 683 of them asked for (``python -m benchmarks.retention``)."""
BESIDE_THE_TEXT: Mapping[str, Sign] = {
    "recalled": Sign(math.log(2), 0.0, "it has been recalled", "nothing has recalled it"),
    "cited": Sign(math.log(8), 0.0, "a reflection or a plan rests on it", "nothing rests on it"),
    "rated": Sign(1.0, 0.0, "it is rated high", "it is rated low"),
}
"""Set, not fitted: in those conversations nothing is recalled, nothing rests on a turn, and no model rated them. Having
been recalled doubles the odds, being evidence makes them eight times as high, and the highest rating 2.7 times as high
as a middle one. The offline rules cannot predict being asked for, so their rating does not count."""
_EVERY = {**SIGNS, **BESIDE_THE_TEXT}

_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")
_COUNTS = frozenset(
    "two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand".split()  # noqa: SIM905
)
_SELF = frozenset("i i'm i've i'd i'll me my mine myself we we're we've us our ours".split())  # noqa: SIM905
_SMALL_TALK = frozenset(
    "hi hello hey hiya ok okay bye goodbye thanks thank thx welcome yes yeah yep yup no nope sure please sorry pardon "  # noqa: SIM905
    "wow oh ah aha uh um hm hmm haha hahaha hehe lol great cool nice good fine right well really".split()
)
"""Words that are said out of politeness, or to show that one is listening: they say nothing new."""
_DERIVED = frozenset({Kind.REFLECTION, Kind.PLAN, Kind.SUMMARY})
_CITING = frozenset({Kind.REFLECTION, Kind.PLAN})
"""The kinds that rest on single memories; the synopsis of a talk rests on all its turns, including small talk."""
_KEPT_READINGS = 4096
_MIDDLE = 5.0


@dataclass(frozen=True)
class Reading:
    """What a text alone shows: five of the signs, and the stems of its words, for the other two."""

    names: float
    numbers: float
    times: float
    asks: float
    first_person: float
    stems: frozenset[str]
    said: int


@lru_cache(maxsize=_KEPT_READINGS)
def read(document: str) -> Reading:
    """Read a memory's text; the speaker ("Mira: ...") is not part of what is said."""
    _speaker, text = speaker_of(document)
    sentences = [(sentence.strip(), list(words(sentence))) for sentence in _SENTENCE.findall(text)]
    said = [word for _, some in sentences for word in some]
    names = sum(word.written[0].isupper() and bool(word.stem) for _, some in sentences for word in some[1:])
    asked = sum(len(some) for sentence, some in sentences if sentence.endswith("?"))
    stems = [word.stem for word in said if word.stem and word.plain not in _SMALL_TALK]
    return Reading(
        names=math.log1p(names),
        numbers=float(any(word.plain in _COUNTS or any(map(str.isdigit, word.plain)) for word in said)),
        times=float(mentions_time(text)),
        asks=asked / max(1, len(said)),
        first_person=float(any(word.written.lower().replace("’", "'") in _SELF for word in said)),
        stems=frozenset(stems),
        said=len(stems),
    )


def signs(entries: Sequence[MemoryEntry], wanted: Iterable[str]) -> dict[str, dict[str, float]]:
    """The signs of memories, by id and by the names of ``SIGNS``.

    Args:
        entries: memories in the order in which they arrived.
        wanted: the ids of those to read; words are new if none of the ``BESIDE`` memories before has them.
    """
    asked_for = set(wanted)
    found: dict[str, dict[str, float]] = {}
    window: deque[frozenset[str]] = deque()
    known: Counter[str] = Counter()
    for entry in entries:
        shown = read(entry.document)
        if entry.id in asked_for:
            new = sum(stem not in known for stem in shown.stems)
            found[entry.id] = {
                "says": math.log1p(shown.said),
                "names": shown.names,
                "numbers": shown.numbers,
                "times": shown.times,
                "asks": shown.asks,
                "self": shown.first_person,
                "new": math.log1p(new),
            }
        if entry.kind in _DERIVED:  # a summary says nothing new
            continue
        window.append(shown.stems)
        known.update(shown.stems)
        if len(window) > BESIDE:
            for stem in window.popleft():
                known[stem] -= 1
                if not known[stem]:
                    del known[stem]
    return found


def beside_the_text(entry: MemoryEntry, cited: AbstractSet[str]) -> dict[str, float]:
    """The signs of ``BESIDE_THE_TEXT`` of a memory.

    Args:
        entry: the memory.
        cited: the ids of memories that a reflection or a plan rests on.
    """
    rated = 0.0 if entry.rating is None or rated_by_rules(entry.explanation) else (entry.rating - _MIDDLE) / _MIDDLE
    return {"recalled": float(entry.last_access is not None), "cited": float(entry.id in cited), "rated": rated}


@dataclass(frozen=True)
class Verdict:
    """A rule's verdict on a memory.

    Args:
        kept: whether it goes to long-term memory when it leaves short-term memory; if not, it is forgotten.
        worth: what it is ordered by, 0 to 1: its importance, or the chance that it is asked for.
        why: the reason, as the end of a sentence.
    """

    kept: bool
    worth: float
    why: str


class Rule(Protocol):
    """How a memory that leaves short-term memory is judged."""

    @property
    def leaving(self) -> str:
        """Which memories leave first, as the second half of a sentence; empty if the oldest do."""

    def judge(self, entries: Sequence[MemoryEntry], before: Sequence[MemoryEntry]) -> dict[str, Verdict]:
        """A verdict on each memory, by id.

        Args:
            entries: rated memories, in any order.
            before: other memories that came before them, in any order.
        """

    def order(self, entries: Sequence[MemoryEntry], verdicts: Mapping[str, Verdict], size: int) -> list[MemoryEntry]:
        """The memories in the order in which they leave.

        Args:
            entries: the memories in short-term memory.
            verdicts: those on the rated entries.
            size: the most memories in short-term memory.
        """


@dataclass(frozen=True)
class ByImportance:
    """Memories above an importance, 0 to 1, are kept; the oldest leave first, of equal age the more important."""

    threshold: float
    leaving = ""

    def judge(self, entries: Sequence[MemoryEntry], _before: Sequence[MemoryEntry]) -> dict[str, Verdict]:
        """See ``Rule``."""
        return {entry.id: self.verdict(entry) for entry in entries}

    def verdict(self, entry: MemoryEntry) -> Verdict:
        """The verdict on one memory."""
        importance = entry.importance or 0
        kept = importance > self.threshold
        how = "exceeds" if kept else "does not exceed"
        return Verdict(kept, importance, f"importance {importance:.2f} {how} {self.threshold:.2f}")

    def order(self, entries: Sequence[MemoryEntry], _verdicts: Mapping[str, Verdict], _size: int) -> list[MemoryEntry]:
        """See ``Rule``."""
        return sorted(entries, key=lambda entry: (by_age(entry)[0], -(entry.importance or 0), entry.id))


@dataclass(frozen=True)
class Learned:
    """Memories that are likely enough to be asked for are kept; of the older half, the least likely leave first.

    Ratings of ``POIGNANT`` or more are always kept. What the signs cannot judge is judged by importance: texts whose
    letters are mostly not Latin, and reflections, plans and summaries, which nobody said.

    Args:
        threshold: the chance, 0 to 1, that has to be exceeded.
        otherwise: the rule for what the signs cannot judge.
    """

    threshold: float
    otherwise: ByImportance
    leaving = ", and of its older half the least likely to be asked for leaves first"

    def judge(self, entries: Sequence[MemoryEntry], before: Sequence[MemoryEntry]) -> dict[str, Verdict]:
        """See ``Rule``."""
        readable = {entry.id for entry in entries if entry.kind not in _DERIVED and _is_latin(entry.document)}
        known = {entry.id: entry for entry in (*before, *entries)}.values()
        found = signs(sorted(known, key=by_age), readable)
        cited = {evidence for entry in known if entry.kind in _CITING for evidence in entry.evidence}
        return {
            entry.id: self._verdict(entry, found[entry.id] | beside_the_text(entry, cited))
            if entry.id in readable
            else self.otherwise.verdict(entry)
            for entry in entries
        }

    def _verdict(self, entry: MemoryEntry, shown: Mapping[str, float]) -> Verdict:
        chance = chance_of(shown)
        if chance <= self.threshold and (entry.rating or 0) >= POIGNANT:
            return Verdict(True, chance, f"rated {entry.rating:g}, and what is rated {POIGNANT} or more is kept")
        kept = chance > self.threshold
        how = "exceeds" if kept else "does not exceed"
        speaks = {name: sign.weight * (shown[name] - sign.usual) for name, sign in _EVERY.items()}
        name = max(speaks, key=lambda name: speaks[name] if kept else -speaks[name])
        said = _EVERY[name].pro if kept else _EVERY[name].con
        why = f"the chance that it is asked for, {percent(chance)}, {how} {percent(self.threshold)}: {said}"
        return Verdict(kept, chance, why)

    def order(self, entries: Sequence[MemoryEntry], verdicts: Mapping[str, Verdict], size: int) -> list[MemoryEntry]:
        """See ``Rule``."""
        aged = sorted(entries, key=by_age)
        older = len(aged) - (size + 1) // 2
        return [
            *sorted(aged[:older], key=lambda entry: verdicts[entry.id].worth if entry.id in verdicts else 0.0),
            *aged[older:],
        ]


def chance_of(shown: Mapping[str, float]) -> float:
    """The chance, 0 to 1, that a memory with these signs is asked for."""
    return 1 / (1 + math.exp(-INTERCEPT - sum(_EVERY[name].weight * value for name, value in shown.items())))


def percent(share: float) -> str:
    """A share as people read it: whole per cents, and tenths below ten."""
    return f"{share:.0%}" if share >= 0.1 else f"{share * 100:.2g} %".replace(" ", "")


def rule_of(
    settings: AgentSettings, threshold: float | None = None, retention: Retention | None = None
) -> ByImportance | Learned:
    """The rule in an agent's settings, or another one for this call.

    Args:
        settings: the agent's.
        threshold: the threshold to exceed; the rule's own setting if not given.
        retention: the rule; if not given, the one in the settings, or importance if a threshold is given.

    Raises:
        InvalidParameter: the threshold is out of its range, or there is no such rule.
    """
    if threshold is not None:
        threshold = in_range("The threshold", threshold, 0, 1)
        retention = Retention.IMPORTANCE if retention is None else retention
    if checked_retention(settings.retention if retention is None else retention) is Retention.IMPORTANCE:
        return ByImportance(settings.migration_threshold if threshold is None else threshold)
    otherwise = ByImportance(settings.migration_threshold)
    return Learned(settings.retention_threshold if threshold is None else threshold, otherwise)


def _is_latin(text: str) -> bool:
    letters = [letter for letter in text[:1000] if letter.isalpha()]
    if text.isascii() or not letters:
        return True
    return 2 * sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters) >= len(letters)
