"""How a memory relates to a fact, by rules: it says it, a part of it, something else instead, or nothing. Pure.

A similarity score shows what a sentence is about, not what it says. What is checked here for each clause of a memory is
which parts of the fact it has: who, what was done, with what, how many, when. The rules know no grammar and no world:
a fact told in wholly different words is not found, and a language model, if there is one, reads better.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...operations.duplicates.contradictions import OPPOSITES
from .cell import Verdict
from .sentence import Claim, Clause, Part, Sort, bare_name, clauses, denies_before, hours_of, name_words, says_of

KNOWS_FROM = 0.7
"""The share of a fact that a memory has at least if it says it."""
WRONG_FROM = 0.7
"""The share that it has at least, apart from what it contradicts."""
HALF_FROM = 0.55
"""The share that it has at least if it says a part of it."""
SOFT_FROM = 0.7
"""The cosine of two words' states from which one may stand for the other."""
_SOFTLY = 0.8
_ELSEWHERE = 0.5
"""How much a part counts if it is in another clause of the same memory."""
_BESIDE = 0.75
"""How much it counts in the clause right before or after; it counts fully if only a colon is between them."""
_DIGIT = re.compile(r"\d")
NOBODY, ITSELF = "", "the character itself"
"""Markers for who does what a verb says: nobody named, or the one who remembers it."""
_DOUBTING = re.compile(
    r"\b(?:swears?|swore|claims?|claimed|insists?|insisted|maintains?|maintained|pretends?|pretended|will have it"
    r"|(?:she|he|they) makes?)\b",
    re.IGNORECASE,
)
"""The words that report what somebody else believes."""
_AS_EVER = re.compile(r"\bas (?:it should|it ought|ever|usual|always)\b", re.IGNORECASE)
_THIRD = re.compile(r"\b(?:he|she|they|him|her|them|his|their)\b", re.IGNORECASE)
_OTHERS = frozenset({"he", "she", "they", "his", "her", "their"})
_OWNS = re.compile(r"['’]s?$")
_SUBORDINATE = re.compile(r"\b(?:that|who|whom|which|how|if|whether)\b", re.IGNORECASE)
_BESIDE_VERBS = frozenset(
    {"had", "has", "have", "will", "would", "could", "can", "must", "might", "may", "should", "never", "not"}
)
_THINGS = frozenset({"it", "which", "that"})
_FROM = re.compile(r"\bfrom\s+([A-Z][\w’']*)")
_BREAKS = re.compile(r",|\b(?:and|but|while|when|where|after|before|until|that|who|as|so)\b", re.IGNORECASE)

Soft = Callable[[Part], float]
"""The best cosine of a part's words with a memory's words, -1 to 1."""


@dataclass(frozen=True)
class Remembered:
    """A memory prepared for comparison.

    Args:
        text: what it says.
        at: its time, aware of its zone; ``None`` if it has none.
        now: the time from which the days it names are counted if it has none.
        own: the words of the character's own name, in lower case: what is told without a name is about this character.
        cast: words of all known names, in lower case.
    """

    text: str
    at: datetime | None
    own: frozenset[str]
    cast: frozenset[str]
    now: datetime | None = None


@dataclass(frozen=True)
class Found:
    """How much of a fact a memory has.

    Args:
        verdict: how it relates to the fact.
        share: how much of the fact it has, 0 to 1, by the weight of its parts.
        why: the reason, in a sentence.
        doubted: whether it reports what somebody else believes.
    """

    verdict: Verdict
    share: float
    why: str
    doubted: bool = False


def weigh(claim: Claim, memory: Remembered, soft: Soft = lambda _part: 0.0) -> Found:
    """How one memory relates to a fact.

    Args:
        claim: the fact.
        memory: the memory.
        soft: how close a part that is not in it comes to some word of it.
    """
    if not claim.parts:
        return Found(Verdict.UNAWARE, 0.0, "The sentence says nothing that could be known.")
    read = clauses(memory.text, memory.at or memory.now)
    best: Found | None = None
    for place in range(len(read)):
        found = _of_clause(claim, memory, read, place, soft)
        if best is None or _order(found) > _order(best):
            best = found
    return best or Found(Verdict.UNAWARE, 0.0, "The memory is empty.")


def _order(found: Found) -> tuple[int, float]:
    rank = {Verdict.KNOWS: 3, Verdict.WRONG: 2, Verdict.HALF: 1, Verdict.UNAWARE: 0}[found.verdict]
    return rank, found.share


def may_say(claim: Claim, text: str, own: Collection[str]) -> float:
    """A first, quick measure of how much of a fact is in a text, 0 to 1."""
    stems = {form for clause in clauses(text, None) for form in clause.stems}
    names = {name for clause in clauses(text, None) for name, _ in clause.names}
    met = sum(
        part.weight
        for part in claim.parts
        if part.forms & stems or (part.sort is Sort.NAME and part.forms & (names | set(own)))
    )
    return met / sum(part.weight for part in claim.parts) if claim.parts else 0.0


def _of_clause(claim: Claim, memory: Remembered, read: Sequence[Clause], place: int, soft: Soft) -> Found:
    clause = read[place]
    met: dict[Part, float] = {}
    against: list[str] = []
    for part in claim.parts:
        value, problem = _met(part, clause, memory, read, place)
        elsewhere = 0.0
        if not value:
            there = [(_met(part, clause, memory, read, at)[0], at) for at, clause in enumerate(read) if at != place]
            elsewhere = max((degree for degree, _ in there), default=0.0)
            if part.sort in (Sort.NAME, Sort.WORD, Sort.WHEN):
                value = max((degree * _joined(read, at, place, part) for degree, at in there), default=0.0)
            if part.sort in (Sort.NUMBER, Sort.DAY, Sort.CLOCK) and elsewhere and not problem:
                value = elsewhere
        said = part.sort is Sort.VERB and elsewhere  # another clause says it, with its own subject
        if not value and not said and _may_be_like(claim, part, read) and soft(part) >= SOFT_FROM:
            value = _SOFTLY
        met[part] = value
        against += [problem] if problem else []
    total = sum(part.weight for part in claim.parts)
    share = sum(part.weight * met[part] for part in claim.parts) / total
    doubted = _DOUBTING.search(clause.text) is not None
    stands = _verb_place(claim, clause)
    agent = _agent(clause, stands, memory) if stands is not None else NOBODY
    other = (
        ""
        if stands is None or _subject_before(claim, clause, memory, stands)
        else _by_another(claim, clause, memory, met, agent)
    )
    if other:
        if not _is_that_thing(claim, met):
            return Found(Verdict.UNAWARE, share, "It is about something else that somebody did.", doubted)
        against.insert(0, other)
        share = min(share, 1 - 1 / total)
    lacks = _lacks(claim, met)
    if stands is not None and denies_before(clause.text, stands) != claim.denied:
        if share < KNOWS_FROM or lacks:
            return Found(Verdict.UNAWARE, share, "It denies something else.", doubted)
        against.append("One says it, the other denies it.")
    opposed: tuple[Part, ...] = ()
    if not against:
        contradiction, opposed = _otherwise(claim, clause, met, memory)
        against += [contradiction] if contradiction else []
    if against and (other or _is_about_it(claim, met, opposed)):
        return Found(Verdict.WRONG, share, against[0], doubted)
    if share >= KNOWS_FROM and not against and not lacks:
        return Found(Verdict.KNOWS, share, "It says all that matters of it.", doubted)
    half = share - _is_taken_for_granted(claim, clause, memory, agent) / total
    if half >= HALF_FROM and _has_something(claim, met, memory, agent):
        lacking = ", ".join(f"“{part.said}”" for part in claim.parts if met[part] < _ELSEWHERE)
        return Found(
            Verdict.HALF, share, f"It says nothing of {lacking}." if lacking else "It says a part of it.", doubted
        )
    return Found(Verdict.UNAWARE, share, "It is about something else.", doubted)


def _is_about_it(claim: Claim, met: Mapping[Part, float], opposed: Sequence[Part] = ()) -> bool:
    """Whether what a clause contradicts is about the same thing: it has the names, and most of the other words."""
    words = [
        part for part in claim.parts if part.sort not in (Sort.NUMBER, Sort.CLOCK, Sort.DAY) and part not in opposed
    ]
    names = [part for part in words if part.sort is Sort.NAME]
    weight = sum(part.weight for part in words)
    if 2 * sum(met[part] >= _ELSEWHERE for part in names) < len(names) or not _has_subject(claim, met):
        return False
    content = any(part.sort is not Sort.NAME and met[part] >= _ELSEWHERE for part in claim.parts)
    return content and sum(part.weight * met[part] for part in words) >= WRONG_FROM * weight


def _has_subject(claim: Claim, met: Mapping[Part, float]) -> bool:
    """Whether some word before the verb is there, if the fact's subject is such a word."""
    verb = claim.of(Sort.VERB)
    before = [part for part in claim.of(Sort.WORD) if verb and part.start < verb[0].start]
    return claim.subject is not None or not before or any(met[part] >= _ELSEWHERE for part in before)


def _has_something(claim: Claim, met: Mapping[Part, float], memory: Remembered, agent: str) -> bool:
    """Whether a clause has something specific to the fact: more than names, and more than a verb."""
    there = [part for part in claim.parts if met[part] >= _ELSEWHERE and not _is_own(part, memory)]
    things = [part for part in claim.parts if part.sort not in (Sort.NAME, Sort.VERB, Sort.WHEN)]
    verb = claim.of(Sort.VERB)
    does = bool(verb) and met[verb[0]] >= _SOFTLY
    if does and claim.subject is not None and met[claim.subject] >= 1.0 and len(there) > _is_own(claim.subject, memory):
        return True
    if len(there) < 2 or (things and not any(part in there for part in things)):
        return False
    if not does:
        return True
    if not _has_subject(claim, met) and agent != NOBODY:
        return False
    if claim.subject is not None and met[claim.subject] < _ELSEWHERE:
        return any(part.exact for part in things) and sum(met[part] for part in things) >= 0.75 * len(things)
    return True


def _is_taken_for_granted(claim: Claim, clause: Clause, memory: Remembered, agent: str) -> bool:
    """Whether the fact is about the character, whom a clause neither names nor shows as the one who did it."""
    if claim.subject is None or not _is_own(claim.subject, memory) or agent == ITSELF:
        return False
    return not any(_is_called(clause, run[-1], memory.own, memory) for run, _, _ in clause.runs)


def _joined(read: Sequence[Clause], at: int, place: int, part: Part) -> float:
    """How much a part counts in one clause if it is in another."""
    if abs(at - place) > 1:
        return _ELSEWHERE
    first = read[min(at, place)].text.rstrip()
    return 1.0 if first.endswith(":") and part.sort is not Sort.NAME else _BESIDE


def _is_own(part: Part, memory: Remembered) -> bool:
    return part.sort is Sort.NAME and (part.forms <= memory.own or (bool(memory.own) and memory.own <= part.forms))


def _lacks(claim: Claim, met: Mapping[Part, float]) -> bool:
    """Whether something essential to knowing the fact is missing."""
    for part in claim.parts:
        least = {Sort.NAME: 0.25, Sort.VERB: _SOFTLY}.get(part.sort)
        if part is claim.subject:
            least = 1.0
        if part.sort in (Sort.NUMBER, Sort.CLOCK, Sort.DAY):
            least = 1.0
        if least is not None and met[part] < least:
            return True
    words = claim.of(Sort.WORD)
    if 2 * sum(met[part] >= _SOFTLY for part in words) < len(words) or not _has_subject(claim, met):
        return True
    verb = claim.of(Sort.VERB)
    after = [phrase for phrase in claim.phrases if verb and phrase[0].start > verb[0].start]
    return any(
        (len(phrase) > 1 or phrase in after[:1]) and all(met[part] < _ELSEWHERE for part in phrase)
        for phrase in claim.phrases
    )


def _met(part: Part, clause: Clause, memory: Remembered, read: Sequence[Clause], place: int) -> tuple[float, str]:
    """How much of a part a clause has, 0 to 1; and what it says instead."""
    match part.sort:
        case Sort.NAME:
            return _named(part, clause, memory, read, place), ""
        case Sort.VERB | Sort.WORD:
            return float(bool(part.forms & clause.stems) or _derived(part, clause)), ""
        case Sort.WHEN:
            return float(bool(part.forms & clause.stems) or _at_that_hour(part, memory.at)), ""
        case Sort.CLOCK:
            return _one_of(part, clause.clocks, "time")
        case Sort.DAY:
            return _on_the_day(part, clause, memory.at)
    (form,) = part.forms
    if form.startswith("span:"):
        value, problem = _one_of(part, frozenset(f"span:{span}" for span in clause.spans), "length of time")
        return value, problem
    number, _, unit = form.partition(" ")
    if any(figure == number and (not unit or not of or of == unit) for figure, of in clause.numbers):
        return 1.0, ""
    others = sorted(figure for figure, of in clause.numbers if unit and of == unit)
    return 0.0, f"One says {part.said}, the other {others[0]}." if others else ""


def _one_of(part: Part, there: Collection[str], what: str) -> tuple[float, str]:
    if part.forms & set(there):
        return 1.0, ""
    return 0.0, f"The memory gives another {what} than {part.said}." if there else ""


def _on_the_day(part: Part, clause: Clause, at: datetime | None) -> tuple[float, str]:
    assert part.day is not None
    said = part.day.words.casefold()
    if any(part.day.overlaps(stretch) or said == stretch.words.casefold() for stretch in clause.days):
        return 1.0, ""
    if at is not None and part.day.start <= at.timestamp() < part.day.end and not clause.days:
        return 1.0, ""
    fixed = [stretch for stretch in clause.days if not stretch.relative and _DIGIT.search(stretch.words)]
    return 0.0, f"One says {part.day.words}, the other {fixed[0].words}." if fixed and _DIGIT.search(said) else ""


def _at_that_hour(part: Part, at: datetime | None) -> bool:
    hours = hours_of(part.said)
    if at is None or hours is None:
        return False
    first, last = hours
    return first <= at.hour < last if first < last else at.hour >= first or at.hour < last


def _may_be_like(claim: Claim, part: Part, read: Sequence[Clause]) -> bool:
    """Whether another word of a memory may stand for the part: not an opposite of it, however close in meaning.

    An opposite may if it tells the other side: somebody who bought something from Odo says what Odo sold.
    """
    if part.sort not in (Sort.WORD, Sort.VERB):
        return False
    against = {opposite for form in part.forms for opposite in OPPOSITES.get(form, frozenset())}
    if not any(found in against for clause in read for _, found, _ in clause.words):
        return True
    givers = [bare_name(match[1]) for clause in read for match in _FROM.finditer(clause.text)]
    return (
        part.sort is Sort.VERB and claim.subject is not None and any(giver in claim.subject.forms for giver in givers)
    )


def _derived(part: Part, clause: Clause) -> bool:
    """Whether a word of the clause is derived from the part's: "owner" of "own"."""
    return any(
        len(form) >= 3 and found.startswith(form) and found[len(form) :] in ("er", "r", "or")
        for form in part.forms
        if not form.startswith("=") and part.sort is Sort.VERB
        for found in clause.stems
    )


def _named(part: Part, clause: Clause, memory: Remembered, read: Sequence[Clause], place: int) -> float:
    if _is_own(part, memory):
        return 1.0
    ends = {bare_name(word) for word in (part.said.split()[0], part.said.split()[-1])}
    best = 0.0
    for run, at, owns in clause.runs:
        called = set(run) if len(run) == 1 or at or run[0] in memory.cast else set(run[1:])
        if part.forms <= called or (called and called <= part.forms and called & ends):
            best = max(best, _ELSEWHERE if owns and not _OWNS.search(part.said) else 1.0)
    if best:
        return best
    if place and _THIRD.search(clause.text) and not ({name for name, _ in clause.names} & memory.cast):
        before = [name for name, _ in read[place - 1].names if name in memory.cast]
        return float(bool(before) and before[0] in part.forms)
    return 0.0


# -- who did it ----------------------------------------------------------------------------------------


def _verb_place(claim: Claim, clause: Clause) -> int | None:
    """The position of the fact's verb in a clause."""
    verbs = claim.of(Sort.VERB)
    if not verbs:
        return None
    return next((start for bare, _, start in clause.words if says_of(bare) & verbs[0].forms), None)


def _agent(clause: Clause, stands: int, memory: Remembered) -> str:
    """Who does what the verb says: a name, "he" or "she", ``ITSELF``, or ``NOBODY`` if nobody is named."""
    if clause.begins_with(stands):
        return ITSELF
    nearest = _right_before(clause, stands)
    if nearest in memory.cast and any(nearest == run[-1] for run, at, owns in clause.runs if at < stands and not owns):
        return nearest
    if any(nearest == run[-1] and len(run) > 1 and at < stands and not owns for run, at, owns in clause.runs):
        return nearest  # somebody the world does not know
    ends = [*(match.start() for match in _BREAKS.finditer(clause.text, 0, stands)), stands]
    begins = [0, *(match.end() for match in _BREAKS.finditer(clause.text, 0, stands))]
    for begin, end in zip(reversed(begins), reversed(ends), strict=True):
        words = [word for word, _, at in clause.words if begin <= at < end]
        if not words or words[-1] in _THINGS:  # in "before it broke" the words before it say more
            continue
        if "i" in words:
            return ITSELF
        runs = [run for run, at, owns in clause.runs if begin <= at < end and not owns]
        named = [word for run in runs for word in run if word in memory.cast]
        if found := named or [word for word in words if word in _OTHERS]:
            return found[0]
        break
    subordinate = _SUBORDINATE.search(clause.text, 0, stands) or re.match(r"\w+ing\b", clause.text[stands:])
    return ITSELF if not subordinate and clause.words and clause.begins_with(clause.words[0][2]) else NOBODY


def _right_before(clause: Clause, stands: int) -> str:
    """The word right before a verb and the words that belong to it; empty if there is none."""
    before = [bare for bare, _, at in clause.words if at < stands and bare not in _BESIDE_VERBS]
    return before[-1] if before else ""


def _subject_before(claim: Claim, clause: Clause, memory: Remembered, stands: int) -> bool:
    """Whether the fact's subject, if it is a name, is right before the verb, even if a reporter comes before that."""
    subject = claim.subject
    return subject is not None and _is_called(clause, _right_before(clause, stands), subject.forms, memory)


def _is_called(clause: Clause, word: str, name: Collection[str], memory: Remembered) -> bool:
    """Whether a word is in a name that may be this one: the same or a part of it, and not a relative's.

    "Cid Low" may be "Cid", and "Low" may be "Cid Low"; "Cid Finch" is not "Bob Finch".
    """
    run = next((run for run, _, owns in clause.runs if word in run and not owns), (word,))
    called = {word, *(other for other in run if other in memory.cast)}
    return called <= set(name) or set(name) <= called


def _by_another(claim: Claim, clause: Clause, memory: Remembered, met: Mapping[Part, float], agent: str) -> str:
    """What is said if somebody other than the fact's subject does the same; empty if not."""
    subject = claim.subject
    verbs = claim.of(Sort.VERB)
    if agent == NOBODY or not verbs or met[verbs[0]] < _ELSEWHERE:
        return ""
    if subject is None:
        before = [part for part in claim.of(Sort.WORD) if part.start < verbs[0].start]
        missing = before and not any(met[part] >= _ELSEWHERE for part in before)
        return f"There it is {agent}." if missing and agent == ITSELF else ""
    written = re.search(rf"\b{re.escape(agent)}\w*", clause.text, re.IGNORECASE)
    problem = f"There it is {written[0] if written else agent}, not {subject.said}."
    if _is_own(subject, memory):
        return (
            ""
            if agent == ITSELF or (agent in memory.own and _is_called(clause, agent, memory.own, memory))
            else problem
        )
    if agent == ITSELF:
        return problem
    if agent in memory.cast:
        return "" if _is_called(clause, agent, subject.forms, memory) else problem
    return problem if met[subject] < 1.0 else ""  # "she" may stand for the subject


def _is_that_thing(claim: Claim, met: Mapping[Part, float]) -> bool:
    """Whether a clause is about the very thing that the fact is about, not another such thing."""
    verb = claim.of(Sort.VERB)[0]
    rest = [part for part in claim.parts if part.start > verb.start]
    things = [part for part in rest if part.sort is not Sort.NAME]
    return any(part.exact for part in things) and sum(met[part] for part in rest) >= 0.75 * len(rest)


# -- what is said in its place ---------------------------------------------------------------------------


def _otherwise(
    claim: Claim, clause: Clause, met: Mapping[Part, float], memory: Remembered
) -> tuple[str, tuple[Part, ...]]:
    """What a clause says against words of the fact, and those: an opposite, another place, or that nothing changed."""
    lacking = [part for part in claim.of(Sort.WORD, Sort.VERB) if met[part] < _ELSEWHERE]
    said = {form for part in claim.parts for form in part.forms}
    there = {found: (bare, at) for bare, found, at in clause.words if found}
    for part in lacking:
        for form in sorted(part.forms):
            for opposite in sorted(OPPOSITES.get(form, frozenset()) | _FAILING.get(form, frozenset())):
                if opposite in there and opposite not in said:
                    bare, at = there[opposite]
                    if part.sort is Sort.WORD or _is_subject(claim, clause, _agent(clause, at, memory), memory):
                        return f"One says “{part.said}”, the other “{bare}”.", (part,)
    if place := _elsewhere(claim, clause, met):
        return f"One says “{' '.join(part.said for part in place)}”, the other that it was elsewhere then.", place
    names = [part for part in claim.of(Sort.NAME) if met[part] >= 1.0]
    if lacking and names and (match := _AS_EVER.search(clause.text)):
        return f"The memory says that it was “{match[0]}”.", ()
    return "", ()


_FAILING = {
    "work": frozenset({"fail", "break", "broke", "broken"}), "fail": frozenset({"work"}), "pass": frozenset({"fail"}),
}  # fmt: skip
"""Words that contradict what is said of a thing that works or fails, by stem."""
_STOOD = re.compile(r"\b(?:was|were|is|are|been|stayed|spent)\s+(?:\w+\s+)?(?:in|at|on|inside|aboard|with)\b")


_HALF_DAYS = re.compile(r"\b(?:noon|midnight)\b")


def _elsewhere(claim: Claim, clause: Clause, met: Mapping[Part, float]) -> tuple[Part, ...]:
    """The words for a place in the fact, if a clause says that the same was elsewhere at that very time.

    Nobody is in two places at once; so everything but the place must be in the clause, including the time.
    """
    stands = _STOOD.search(claim.text)
    whens = claim.of(Sort.WHEN, Sort.CLOCK, Sort.DAY)
    halves = [set(_HALF_DAYS.findall(text.casefold())) for text in (claim.text, clause.text)]
    if all(halves) and not halves[0] & halves[1]:
        return ()  # only twelve hours of a clock are compared
    if stands is None or claim.of(Sort.VERB) or not whens or not _STOOD.search(clause.text):
        return ()
    until = min((when.start for when in whens if when.start > stands.end()), default=len(claim.text))
    place = tuple(part for part in claim.of(Sort.WORD) if stands.end() <= part.start < until)
    rest = [part for part in claim.parts if part not in place]
    other = bool(place) and not any(met[part] >= _ELSEWHERE for part in place)
    return place if other and all(met[part] >= _ELSEWHERE for part in rest) else ()


def _is_subject(claim: Claim, clause: Clause, agent: str, memory: Remembered) -> bool:
    if claim.subject is None:
        return agent == NOBODY
    own = _is_own(claim.subject, memory)
    return own if agent == ITSELF else _is_called(clause, agent, memory.own if own else claim.subject.forms, memory)


def own_words(display: str, name: str) -> frozenset[str]:
    """The words of a character's names."""
    return name_words(display) or name_words(name)
