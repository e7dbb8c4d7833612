"""What a message reveals by its form: the speaker's name, facts about them, and what it asks about."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...core.languages import JOINERS, MARKS

_MORE = rf"[\w’'{MARKS}{JOINERS}-]*"
_CAPITAL = rf"[A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f]{_MORE}"
_SPELLED = rf"(?P<name>{_CAPITAL}(?:\s+{_CAPITAL}){{0,2}}|[^\W\d_]{_MORE})"
_NAMES = (
    re.compile(
        rf"(?i:\bmy\s+(?:(?:real|full|first)\s+)?name(?:\s+is|['’]s)(?:\s+(?:actually|really|now))?)\s+{_SPELLED}"
    ),
    re.compile(rf"(?i:\b(?:just\s+|please\s+)?call\s+me|\bI\s+am\s+called|\bI['’]m\s+called)\s+{_SPELLED}"),
    re.compile(rf"(?i:^\s*(?:hi|hello|hey)\b[\s,.!]*(?:there\b[\s,.!]*)?I(?:['’]m|\s+am))\s+{_SPELLED}\s*[.!,]?\s*$"),
    re.compile(rf"(?i:\b(?:it['’]s|it\s+is|I['’]m|I\s+am))\s+{_SPELLED}\s*,\s+not\s+[A-Z]"),
    re.compile(
        rf"(?i:\bmein\s+name\s+ist|\bich\s+hei(?:ß|ss)e|\bje\s+m['’]appelle|\bme\s+llamo|\bmi\s+nombre\s+es)\s+{_SPELLED}"
    ),
    re.compile(r"(?:我叫|我的名字(?:是|叫))(?P<name>[\w·]{1,12}?)(?=[，。！,.!\s]|$)"),
)
_PARTICLES = """a an and at but for hard in is it long my no not of on or so spelled that the there to too unusual very
what who written wrong"""
_NO_NAME = frozenset(_PARTICLES.split())
_AFTER_SMALL = re.compile(r"\s*(?:[.,;:!?)…]|and\b|but\b|not\b|$)")
"""What may follow a name in lower case; "my name is hard to spell" contains no name."""
_OWN = re.compile(
    r"^(?:the\s+)?(?:(?:human|user|person)(?:['’]s)?\s+)?(?:first\s+)?name(?:\s+is|\s*:)\s*"
    r"(?P<name>[^\n.,;]{1,80}?)\s*(?=[.,;]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_KIN = (
    r"mother|mom|mum|mama|father|dad|papa|parents?|brothers?|sisters?|sons?|daughters?|wife|husband|partner|"
    r"girlfriend|boyfriend|friends?|best\s+friend|uncle|aunt|grand\w+|cousins?|child(?:ren)?|kids?|bab(?:y|ies)|boss|"
    r"dogs?|cats?|horse|neighbou?r|teacher|colleague|job|hobby|birthday|hometown|home|house|village|age|surname"
)
_FACT = re.compile(
    rf"\bmy\s+(?:\w+\s+)?(?:{_KIN})\b|\bmy\s+favou?rite\b"
    r"|\bI(?:['’]m|\s+am)\s+(?:an?\s+\w|from\b|allergic|married|single|vegetarian|vegan|left-handed|\d|afraid\s+of)"
    r"|\bI\s+(?:(?:really|always|never|do\s*n['’]t|don['’]t|also|still)\s+)*(?:like|love|hate|prefer|enjoy|dislike|adore"
    r"|live|work|study|speak|play|own|have\s+(?:an?|two|three|four|\d+)\b|come\s+from|grew\s+up|was\s+born|moved\s+to)\b",
    re.IGNORECASE,
)
_KEEP = re.compile(
    r"(?:^|[.!;:,]\s+|\bplease\s+)(?:remember|note|keep\s+in\s+mind|do\s*n(?:['’]|o)t\s+forget|never\s+forget)\s*(?:this\s*:|that\b|:)\s*(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)
_ASKS = re.compile(
    r"[?？]|^\s*(?:\w+[,.]\s+)?(?:and\s+|but\s+|so\s+)?(?:what|who|whom|whose|when|where|why|how|which"
    r"|do(?!\s+not\b)|does|did|is|are|was|were|can|could|will|would|have|has|should|tell\s+me|remind\s+me|describe)\b|\bdo\s+you\s+(?:still\s+)?(?:remember|recall|know)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"[?？]\s*$|^\s*(?:what|who|whose|when|where|why|how|which|do(?!\s+not\b)|does|did|can|could"
    r"|tell\s+me|introduce|describe)\b"
    r"|\bdo\s+you\s+(?:still\s+)?(?:remember|recall|know)\b",
    re.IGNORECASE,
)
"""A sentence that asks, and so says nothing about the speaker; people leave out question marks."""
_ASKS_NAME = re.compile(
    r"\bmy\s+(?:own\s+|real\s+|first\s+)?name\b|\bwho\s+(?:am\s+I|I\s+am)\b|\b(?:what|how)\s+(?:do|should|will)\s+you\s+call\s+me\b"
    r"|\bam\s+I\s+called\b|我(?:叫什么|是谁|的名字)",
    re.IGNORECASE,
)
_GREETS = re.compile(
    r"^\W*(?:hi|hello|hey|howdy|greetings|good\s+(?:morning|day|evening|afternoon))\b(?:\W+[\w’']+){0,4}\W*$",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\b(?:I|me|my|mine|we|us|our)\b|[我咱]", re.IGNORECASE)
_SAID = re.compile(
    r"\b(?:did|have|were)\s+you\s+(?:just\s+)?(?:say|said|saying|tell|told|mention|mentioned)\b|\b(?:was|been)\s+said\b"
    r"|\b(?:this|our)\s+(?:talk|conversation|chat)\b|说过",
    re.IGNORECASE,
)
_ASKS_WHO = re.compile(
    r"\bwho\s+are\s+you\b|\b(?:introduce|describe|(?:tell|talk)\b.{0,20}\babout)\s+yourself\b|\bintroduction\s+of\s+yourself\b"
    r"|\bwhat(?:\s+is|['’]s)\s+your\s+name\b|你是谁|你叫什么",
    re.IGNORECASE,
)
_DAY = re.compile(r"\b(?P<iso>\d{4}-\d{2}-\d{2})\b|\b(?P<word>today|yesterday|(?:this|last)\s+week)\b", re.IGNORECASE)
_WORD = re.compile(rf"[^\W_]{_MORE}")
_CARRIES_NOTHING = """a about actually again all also am an and any anybody anyone anything are as at be been but by
call called can chat conversation could did discuss discussed do does else ever for from had has have hello hey hi how
i i'm if in into is it it's its just know last lately many me mention mentioned much my name no not now of ok okay on
once or our please recall remember remind said say should so some somebody someone something spoke still sure talk
talked talking tell than that the their them then there they thing this time to today told too up us was we week well
were what what's when where which who whom whose why will with would yes yesterday yet you your"""
_EMPTY = frozenset(_CARRIES_NOTHING.split())
_ALSO = (
    (
        re.compile(r"\bfor\s+a\s+living\b|\byour\s+(?:job|trade|occupation|profession|work)\b", re.IGNORECASE),
        "works profession",
    ),
    (re.compile(r"\bmatters?\b|\bimportant\s+to\s+you\b|\byou\s+want\s+most\b", re.IGNORECASE), "goal"),
    (
        re.compile(r"\b(?:going|have|want|plan)\s+to\s+do\b|\bwill\s+you\b|\byour\s+plans?\b", re.IGNORECASE),
        "plan promised",
    ),
)
"""The wording of questions that people ask a character, and that of memories that answer them."""
_SENTENCE = re.compile(r"(?<=[.!?…。！？])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bDr\.)\s*|\n+")
_CLAUSE = re.compile(r",\s+(?=(?:and\s+|but\s+|so\s+)?(?:I\b|I['’]|my\b|we\b|our\b|it\b|you\b))", re.IGNORECASE)
_QUOTATION = re.compile(r"“[^“”]*”|\"[^\"\n]*\"")
_LONGEST = 160
_MOST_FACTS = 4
_READ = 8000
"""How many characters of a message are searched for facts."""


@dataclass(frozen=True)
class Listened:
    """What a message reveals.

    Args:
        name: how the speaker says they are called; empty if they do not.
        greets: whether it is only a greeting.
        facts: what they say about themselves, in their words.
        keep: what they want remembered; empty if nothing.
        asks: whether it asks something.
        asks_name: whether it asks for the speaker's own name.
        asks_who: whether it asks who the character is.
        about_talk: whether it asks about the speaker, or about what was said.
        day: the day that it asks about, a date or "today", "yesterday", "this week", "last week"; empty if none.
        words: the significant words, in order.
    """

    name: str
    greets: bool
    facts: tuple[str, ...]
    keep: str
    asks: bool
    asks_name: bool
    asks_who: bool
    about_talk: bool
    day: str
    words: tuple[str, ...]


def listen(message: str) -> Listened:
    """Analyse a message by its form. Quotations are other people's words, and say nothing about the speaker."""
    text = _QUOTATION.sub(" ", message[:_READ])
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]
    questions = [sentence for sentence in sentences if _ASKS.search(sentence)]
    statements = [sentence for sentence in sentences if not _QUESTION.search(sentence)]
    asked = " ".join(questions)
    day = _DAY.search(asked)
    about = words(_DAY.sub(" ", asked))
    return Listened(
        name_in(statements),
        bool(_GREETS.match(text)),
        tuple(_facts(statements)),
        _keep(" ".join(statements)),
        bool(questions),
        bool(_ASKS_NAME.search(asked)),
        bool(_ASKS_WHO.search(asked)),
        bool(_FIRST.search(asked) or _SAID.search(asked)),
        " ".join((day["iso"] or day["word"]).lower().split()) if day else "",
        _also(text, about if len(about) > 1 else words(_DAY.sub(" ", text)) or _quotes(message, day)),
    )


def _keep(text: str) -> str:
    """What is to be remembered; after a mere "remember that", what was said before it."""
    found = _KEEP.search(text)
    if found is None:
        return ""
    content = found["what"] if _WORD.search(found["what"]) else text[: found.start()]
    return " ".join(content.split())[:1000] if _WORD.search(content) else ""


def _quotes(message: str, day: re.Match[str] | None) -> tuple[str, ...]:
    """The words of a message that consists only of a quotation."""
    return () if day else words(message[:_READ])


def words(text: str) -> tuple[str, ...]:
    """The significant words of a text, each once, as they are written."""
    found = (word.rstrip("'’").removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text))
    return tuple(dict.fromkeys(word for word in found if word.lower().replace("’", "'") not in _EMPTY))


def _also(text: str, found: tuple[str, ...]) -> tuple[str, ...]:
    """The words, and those in which an answer may be worded; "living" says nothing about how one earns it."""
    more = [word for form, added in _ALSO if form.search(text) for word in added.split()]
    kept = [word for word in found if not (more and word.lower() in ("living", "matters", "going"))]
    return tuple(dict.fromkeys([*kept, *more]))


def name_in(sentences: list[str]) -> str:
    """The name by which somebody introduces themselves, the last if there are several; empty if none."""
    found = ""
    for sentence in sentences:
        for form in _NAMES:
            for match in form.finditer(sentence):
                found = _name(match, sentence) or found
    return found


def only_asks(text: str) -> bool:
    """Whether a text consists only of questions, so that it answers none."""
    return all(_QUESTION.search(sentence) for sentence in sentences_of(text))


def known_name(block: str) -> re.Match[str] | None:
    """Where a block of core memory gives the other person's name; its group ``name`` is the name."""
    return _OWN.search(block)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text."""
    return [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]


def _name(match: re.Match[str], sentence: str) -> str:
    name = match["name"].strip("’'-.")
    if not name or len(name) > 60 or name.split()[0].lower() in _NO_NAME:
        return ""
    if name[0].islower():
        if not _AFTER_SMALL.match(sentence, match.end("name")):
            return ""
        name = name[0].upper() + name[1:]
    return name


def _facts(sentences: list[str]) -> list[str]:
    found = list[str]()
    for sentence in sentences:
        for clause in _CLAUSE.split(sentence):
            fact = " ".join(clause.split()).strip(" .!;,")
            if _FACT.search(fact) and len(fact) <= _LONGEST and fact not in found:
                found.append(fact)
    return found[:_MOST_FACTS]
