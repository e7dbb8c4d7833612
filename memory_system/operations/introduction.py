"""A personality from a paragraph about somebody: what its sentences say about them, and the rest word for word.

The rules invent nothing and lose no sentence: one that no rule understands is kept as a fact. If a language model is
set, it reads more, and the rules are the fallback.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ..core.personality import parse
from ..core.times import hour_of_day
from ..errors import InvalidParameter, MemorySystemError
from ..llm import LanguageModel
from ..llm.introduce import introduce
from ..llm.offline import OfflineModel

RULES = "plain rules"
MOST = 8_000
"""How many characters a paragraph may have."""
_CAPITAL = f"[{''.join(letter for letter in map(chr, range(ord('A'), ord('ԯ'))) if letter.isupper())}]"
"""A capital of a European language: Latin, Greek or Cyrillic."""
_NAME = rf"{_CAPITAL}[\w'’-]*(?:\s+(?:(?:de|da|di|du|la|le|van|von|of|the)\s+){{0,2}}{_CAPITAL}[\w'’-]*){{0,3}}"
_TITLE = r"(?:Dr|Mr|Mrs|Ms|St|Prof)\b\.?"
_OPENING = re.compile(
    r"\s*(?:(?:this is|meet|my name is|i am|i'm|name:)\s+)?"
    rf"(?P<name>(?-i:(?:{_TITLE}\s+)?(?!{_TITLE}){_NAME}))"
    r"(?=\s*(?:,|\(|$|\.|:|-(?!\w)|–|—|(?:is|was|works|lives|has|wants|runs|keeps)\b))",
    re.IGNORECASE,
)
_PIECE = re.compile(r'"[^"]{1,40}"|“[^”]{1,40}”|«[^»]{1,40}»|‘[^’]{1,40}’|[^\s,،、，;:(–—]+')
"""A word of a name in any script; something in quotes, such as a nickname, is one."""
_AFTER = re.compile(r"\s*(?:[,،、，(:–—]|$|-(?!\w)|(?:is|was|works|lives|has|wants|runs|keeps)\b)")
_PARTICLES = frozenset({"de", "da", "di", "du", "la", "le", "van", "von", "of", "the"})
_PIECES, _LONGEST_PIECE = 5, 40
"""How many words a name may have; fewer if nothing follows it, since they may be a sentence."""
_AGED = re.compile(r"(?:aged\s+)?(?P<age>\d{1,3})(?:[\s-]*years?[\s-]*old)?$", re.IGNORECASE)
_WORKS = re.compile(
    rf"(?:(?:an?|the)\s+)?(?P<what>[a-zà-þ][\w'’-]*(?:\s+(?!in\b|at\b|from\b|of\b|who\b|that\b)[\w'’-]+){{0,4}})"
    rf"(?:\s+(?:in|at|from|of)\s+(?P<home>{_NAME}))?(?P<more>\s.*)?$"
)
_PLACED = re.compile(rf"(?:(?:who\s+)?lives?\s+)?(?:in|from|of)\s+(?P<home>{_NAME})$")
_IS = re.compile(r"\s*(?:is|was|am)\s+(?=\d|an?\s|the\s)|\s*(?:who\s+)?works?\s+as\s+", re.IGNORECASE)
_ARE = re.compile(r"(?P<who>\S+)\s+(?:is|are|am)\s+(?P<what>[^.]+)$", re.IGNORECASE)
_WANTS = re.compile(
    r"\b(?:wants?|hopes?|longs?|dreams?|plans?|intends?|aims?|would like|means?|has sworn|swore|(?:is|am) determined)"
    r"\s+(?:to|of)\s+(?P<what>[^.;]+)",
    re.IGNORECASE,
)
_KIN = (
    r"(?:grand|step|half-|foster )?(?:mother|father|brother|sister|son|daughter|parent|child)|husband|wife|partner|"
    r"uncle|aunt|cousin|nephew|niece|twin|(?:best |oldest )?friend|neighbou?r|rival|enemy|boss|employer|apprentice|"
    r"teacher|master|mentor|landlord|landlady|lover|fianc[ée]e?|colleague|ward|patron"
)
_THEIR = r"(?:her|his|their|my)"
_KNOWS = (
    re.compile(
        rf"\b(?i:{_THEIR})\s+(?P<is>(?:[a-z]+\s+)?(?:{_KIN}))(?:,|\s+is(?:\s+called)?|\s+named)?\s+(?P<who>{_NAME})"
    ),
    re.compile(rf"\b(?P<who>{_NAME}),?\s+(?:(?:is|was)\s+)?(?i:{_THEIR})\s+(?P<is>(?:[a-z]+\s+)?(?:{_KIN}))\b"),
)
_TRUST = (
    (
        re.compile(
            r"\b(?:dis|mis)trusts?\b|\b(?:does not|doesn't|do not|don't|never|no longer|hardly)\s+trusts?\b",
            re.IGNORECASE,
        ),
        0.2,
    ),
    (re.compile(r"\btrusts?\b", re.IGNORECASE), 0.8),
)
_DAILY = re.compile(r"\b(?:every|each)\s+(?:day|morning|evening|night|afternoon)\b", re.IGNORECASE)
_AT = re.compile(
    r"\bat\s+(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d))?\s*(?P<half>am|pm)?\b(?!\s*(?:years|%))", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bMrs\.)\s+|\n+")
_FEW = 4
"""How many words a trait may have; more are a sentence."""
_NO_TRAIT = re.compile(
    r"^(?:an?|the|in|at|on|from|of|with|not sure|about|\d)\b|\b(?:who|that|which|than|because)\b", re.IGNORECASE
)
_LEAD = re.compile(r"^(?:very|quite|rather|also|always|often|both|so)\s+", re.IGNORECASE)


def introduced(text: str) -> dict[str, Any]:
    """The personality in a paragraph, as its JSON document; what is not said is left out.

    Args:
        text: such as "Rosa, 34, baker in Harrow Quay. She is stubborn. She wants to buy back the mill."

    Raises:
        InvalidParameter: the paragraph is not a text, or has more than ``MOST`` characters.
    """
    if not isinstance(text, str) or len(text) > MOST:
        raise InvalidParameter(f"The paragraph must be a text of at most {MOST:,} characters.")
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text.replace("\x00", "")) if sentence.strip()]
    found: dict[str, list[Any]] = {}
    identity: dict[str, Any] = {}
    for place, sentence in enumerate(sentences):
        if place == 0:
            identity = _identity(sentence)
            if identity.pop("whole", False):
                continue
        if not _read(sentence.rstrip(".!").strip(), found, identity):
            facts = found.setdefault("facts", [])
            if sentence not in facts:
                facts.append(sentence)
    return {"identity": identity or {"name": ""}} | found


@dataclass(frozen=True)
class Introduction:
    """A personality read from a paragraph.

    Args:
        document: as its JSON document.
        by: who read it: the language model's name, or ``"plain rules"``.
        problem: why the language model did not read it, in a sentence; empty if it did, or none is set.
    """

    document: dict[str, Any]
    by: str
    problem: str = ""


def read_introduction(text: str, model: LanguageModel) -> Introduction:
    """The personality in a paragraph, as read by a language model, or by plain rules if it fails.

    Raises:
        InvalidParameter: the paragraph is not a text, or has more than ``MOST`` characters.
    """
    by_rules = introduced(text)
    if model.name == OfflineModel.name or not text.strip():
        return Introduction(by_rules, RULES)
    try:
        answer = model.complete(introduce(text)).answer.model_dump()
        document = {name: value for name, part in answer.items() if (value := _without_empty(part))}
        document.setdefault("identity", {}).setdefault("name", by_rules["identity"].get("name", ""))
        if document["identity"]["name"]:
            parse(json.dumps(document))
    except MemorySystemError as error:
        return Introduction(by_rules, RULES, error.sentence)
    return Introduction(document, model.label)


def _without_empty(part: Any) -> Any:
    """A part of an answer without what is not in the paragraph."""
    if isinstance(part, dict):
        return {name: value for name, item in part.items() if (value := _without_empty(item)) not in (None, "", [], {})}
    return [_without_empty(item) for item in part] if isinstance(part, list) else part


def _identity(sentence: str) -> dict[str, Any]:
    """Name, age, profession and home in the first sentence; ``whole`` if nothing else is to be read in it."""
    bare = sentence.rstrip(".!").strip()
    opening = _OPENING.match(bare)
    end = opening.end("name") if opening else _end_of_name(bare)
    name = (opening["name"] if opening else bare[:end]).strip()
    if not name or name.casefold() in _PRONOUNS:
        return {"name": ""}
    identity: dict[str, Any] = {"name": name}
    rest = _IS.sub(", ", bare[end:])
    more = False
    for part in filter(None, map(str.strip, re.split(r"[,،、，;:()–—]|\s-\s|\sand\s", rest))):
        if (aged := _AGED.match(part)) and "age" not in identity:
            identity["age"] = int(aged["age"])
        elif placed := _PLACED.match(part):
            identity.setdefault("home", placed["home"].strip())
        elif "profession" not in identity and (work := _WORKS.match(part)):
            identity["profession"] = work["what"].strip()
            more = more or bool(work["more"])
            if work["home"]:
                identity.setdefault("home", work["home"].strip())
        else:
            more = True
    if more:
        identity["description"] = sentence
    return identity | {"whole": True}


def _end_of_name(sentence: str) -> int:
    """Where a name ends that is written in a script without capitals, or has quotes or a sign in it; 0 if none is."""
    end = letters = count = 0
    for piece in _PIECE.finditer(sentence):
        if (count and _AFTER.match(sentence, end)) or not _may_be_of_name(piece[0]):
            break
        letters += any(map(str.isalpha, piece[0]))
        count, end = count + 1, piece.end()
    after = _AFTER.match(sentence, end)
    most = 2 if after and after.end() == len(sentence) else _PIECES
    return end if after and letters and count <= most else 0


def _may_be_of_name(piece: str) -> bool:
    """Whether it is quoted, begins with a capital, is of a script without them, an emoji or a particle."""
    first = piece[0]
    if first in '"“«‘' or piece in _PARTICLES:
        return True
    return first.title() == first and not first.isnumeric() and "/" not in piece and len(piece) <= _LONGEST_PIECE


def _read(sentence: str, found: dict[str, list[Any]], identity: dict[str, Any]) -> bool:
    """Add what a sentence says; returns whether that is all that it says."""
    if _relationships(sentence, found):
        return True
    if (goal := _WANTS.search(sentence)) and _is_meant(sentence[: goal.start()], identity):
        found.setdefault("long_term_goals", []).append(goal["what"].strip())
        return True
    if _DAILY.search(sentence) and (at := _AT.search(sentence)) and (clock := _clock(at)):
        activity = re.sub(r"\s+", " ", _DAILY.sub("", sentence[: at.start()] + sentence[at.end() :])).strip(" ,")
        activity = re.sub(r"^(?:she|he|they|i)\s+", "", activity, flags=re.IGNORECASE)
        if activity and clock not in {item["time"] for item in found.get("routine", [])}:
            found.setdefault("routine", []).append({"time": clock, "activity": activity})
            return True
    if (trait := _ARE.match(sentence)) and _is_meant(trait["who"], identity):
        return _traits(trait["what"], found, identity)
    return False


def _is_meant(subject: str, identity: dict[str, Any]) -> bool:
    """Whether a sentence is about the one who is introduced, by its first words."""
    subject = subject.strip()
    return subject.casefold() in _PRONOUNS or (bool(subject) and subject in _beginnings(str(identity.get("name", ""))))


def _beginnings(name: str) -> set[str]:
    words = name.split()
    return {" ".join(words[:count]) for count in range(1, len(words) + 1)}


def _relationships(sentence: str, found: dict[str, list[Any]]) -> bool:
    known = found.setdefault("relationships", [])
    count = len(known)
    for pattern in _KNOWS:
        for match in pattern.finditer(sentence):
            who = match["who"].strip()
            if who.casefold() not in {other["name"].casefold() for other in known} and who.casefold() not in _PRONOUNS:
                known.append({"name": who, "relation": match["is"].strip()})
    new = known[count:]
    if len(new) == 1:
        trust = next((level for pattern, level in _TRUST if pattern.search(sentence)), None)
        if trust is not None:
            new[0]["trust"] = trust
        new[0]["notes"] = f"{sentence}."
    if not known:
        del found["relationships"]
    return len(new) == 1


_PRONOUNS = frozenset({"she", "he", "they", "i", "her", "his", "their", "my"})


def _traits(words: str, found: dict[str, list[Any]], identity: dict[str, Any]) -> bool:
    """Add adjectives, or somebody's occupation."""
    if work := re.match(r"(?:an?|the)\s+(?P<what>[a-zà-þ][\w'’ -]{1,40})$", words.strip()):
        if "profession" in identity:
            return False
        identity["profession"] = work["what"].strip()
        return True
    parts = [_LEAD.sub("", part.strip()) for part in re.split(r",|;|\band\b|\bbut\b", words) if part.strip()]
    if not parts or any(len(part.split()) > _FEW or _NO_TRAIT.search(part) for part in parts):
        return False
    traits = found.setdefault("traits", [])
    traits += [part for part in dict.fromkeys(parts) if part not in traits]
    return True


def _clock(at: re.Match[str]) -> str | None:
    hour, half = int(at["hour"]), at["half"]
    if (half and not 1 <= hour <= 12) or hour > 23:
        return None
    return f"{hour_of_day(hour, half):02}:{at['minute'] or '00'}"
