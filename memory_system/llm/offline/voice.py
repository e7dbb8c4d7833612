"""How a character says in its own voice what it remembers: a line of a diary or a fact of its personality.

Nothing is added to the memory but "I", "you" and the day. A line that these rules cannot turn into the first
person is left unchanged if it is a memory, and not said aloud if it describes the character from outside.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

_LONGEST = 220
"""The most characters to say of one memory, ending with a clause."""
_PAST = """asked ate beat began begged bent bit blew bought bound broke brought built burnt came caught chose cut did
dug drank drew drove fed fell felt fled flung forgave forgot fought found gave got heard held hid hung kept knelt knew
laid
lay learnt led left lent let lit lost made met paid put ran rang read rode said sang sat saw sent set sewed shook shut
slept slipped sold spent spoke stole stood stuck swam swept swore taught thought threw told took tore went woke won wore
wove wrote could cannot"""
_IRREGULAR = frozenset(_PAST.split())
_REGULAR = re.compile(r"[A-Z][a-z]{2,}ed\b")
_NO_VERB = frozenset({"Alfred", "Fred", "Mildred", "Wilfred", "Winifred", "Hundred", "Indeed", "Speed"})
_DIARY = re.compile(r"(?P<verb>[A-Z][a-z]+) (?=\S)")
_THIRD = re.compile(r"\b(?:he|she|him|her|hers|his|they|them|their|theirs|himself|herself|themselves)\b", re.IGNORECASE)
_TITLES = frozenset(
    {"father", "mother", "mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord", "old", "young", "captain"}
)
_BEFORE = re.compile(r"\b[A-Z][\w’'-]+\.? $")
"""A capitalised word right before a name: another's first name or title, or the verb that a note begins with."""
_WITH_YOU = {"was": "were", "is": "are", "has": "have", "does": "do"}
_WHERE = re.compile(
    r"(?P<where>(?:At|From|In|On|By|Through|Under|Behind|Before|After|Over|With) [^A-Z.,;:]*?[a-z]) (?P<verb>[a-z]+) "
)
"""A place before the deed, as in "From the gallery saw a light"."""
_CLAUSE_END = re.compile(r"[.;!?](?=\s|$)")
_RELATION = (
    r"(?P<other>.{{1,200}}?) is to {name}: (?P<what>[^.]+)(?:\. {name} trusts .{{1,200}}? "
    r"(?P<trust>hardly at all|little|somewhat|well|deeply) \([\d.]+ of 1\))?(?:\..*)?"
)
_ARTICLE = re.compile(r"(?:an?|the|my|no|one|two|three|self-employed|retired)\b", re.IGNORECASE)
_OUTSIDE = re.compile(r"Every day |Plan for |.{1,200}, pronouns: |Conversation of ")
"""Beginnings of texts that nobody would say aloud."""
_DIGEST = re.compile(
    r"(?:In short[ ,(][^“”\n]{1,60}: |What does [^“”\n]{1,200}\? |[^“”\n]{1,200} remembers of [^“”\n]{1,400}: |"
    r"What does this mean to [^“”\n]{1,200}: |[^“”\n]{1,200} thinks of these together: )“"
)
_INNER = re.compile(r"(?P<quote>“[^“”]*”)(?: \((?P<day>[^()]{1,40})\))?")
_WORD = r"[A-Z](?:[\w-]|['’](?!s\b))+"
_NAME = re.compile(rf"\b{_WORD}(?:\s+{_WORD})+|(?<![.!?“\"] )(?<!^)\b{_WORD}")
_OWNER = re.compile(r"['’]s$")
_VERB_FIRST = re.compile(r"^(?:\w{3,}ed|Saw|Met|Told|Lent|Gave|Took|Found|Heard|Caught|Sold|Bought|Left|Sent|Let)\b\s*")
"""How diaries begin ("Lent Tobias the key"): a verb that could be mistaken for the first half of a name."""
_CALENDAR = re.compile(
    r"^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day$|^(?:January|February|March|April|May|June|July|August|September|"
    r"October|November|December|Christmas|Easter)$"
)
_STARTS = "the this that these those there here his her its our your their she they him them you and but for nor not"
_NO_NAME = frozenset(_STARTS.split())
"""Words that begin a sentence within a sentence ("I saw: The mill wheel broke") and could be mistaken for a name."""
_SHOUTED = re.compile(r"^[A-Z]+(?:\s+[A-Z]+)+$")


def names_in(texts: Sequence[str], who: str) -> list[str]:
    """The names in the texts, the most frequent first, without the character's own and those of the calendar."""
    found = (dict.fromkeys(_NAME.findall(_VERB_FIRST.sub("", text))) for text in texts)
    counted = Counter(_OWNER.sub("", name) for names in found for name in names if 2 < len(name) <= 60)
    strange = {
        name: count
        for name, count in counted.items()
        if not _CALENDAR.search(name) and not _SHOUTED.match(name) and name.lower() not in _NO_NAME
    }
    own = set(who.split()) | {who}
    names = [name for name, _ in sorted(strange.items(), key=lambda item: (-item[1], item[0])) if name not in own]
    whole = [name for name in names if not any(name != other and name in other.split() for other in names)]
    return whole or names


def is_digest(text: str) -> bool:
    """Whether a memory is one of these rules' own summaries or reflections, which quote other memories."""
    return _DIGEST.match(text) is not None


def inner(text: str) -> list[tuple[str, str]]:
    """What a digest quotes, without marks and nested quotations, each with its day; empty for none."""
    if not is_digest(text):
        return []
    found = [(match["quote"].strip("“”"), match["day"] or "") for match in _INNER.finditer(text)]
    whole = [(quoted, day) for quoted, day in found if not _quotes_again(quoted)]
    return whole or found


def _quotes_again(quoted: str) -> bool:
    return _DIGEST.match(quoted.replace("‘", "“")) is not None


def fact(text: str, who: str, human: str = "") -> str:
    """A line of the personality in the first person, without its full stop; empty if no rule can turn it.

    Args:
        text: such as "Mira works as: baker".
        who: the name of the character.
        human: the name of the person it talks with; empty for nobody, or several.
    """
    if not who:
        return ""
    name, line = re.escape(who), " ".join(text.split()).rstrip(".")
    for form, say in _facts(name, human):
        if found := re.fullmatch(form, line, re.DOTALL):
            return say(found)
    return ""


def _facts(name: str, human: str) -> list[tuple[str, Callable[[re.Match[str]], str]]]:
    return [
        (rf"The name is {name}", lambda match: f"My name is {match.string.removeprefix('The name is ')}"),
        (rf"{name} is (?P<age>\d+) years old", lambda match: f"I am {match['age']} years old"),
        (rf"{name} works as: (?P<what>.+)", lambda match: f"I work as {_a(match['what'])}"),
        (rf"{name}, (?P<what>birthplace|home): (?P<where>.+)", lambda match: f"My {match['what']} is {match['where']}"),
        (rf"A long-term goal of {name}: (?P<what>.+)", _goal),
        (rf"{name} is: (?P<what>.+)", lambda match: f"What I am like: {match['what']}"),
        (rf"A rule where {name} lives: (?P<what>.+)", lambda match: f"Where I live we say: {match['what']}"),
        (_RELATION.format(name=name), lambda match: _relation(match, human)),
    ]


def _a(what: str) -> str:
    return what if _ARTICLE.match(what) else f"{'an' if what[0].lower() in 'aeiou' else 'a'} {what}"


def _goal(found: re.Match[str]) -> str:
    what = found["what"].removeprefix("To ")
    return "" if _THIRD.search(what) else f"I want to {what[0].lower()}{what[1:]}"


def _relation(found: re.Match[str], human: str) -> str:
    other, what = found["other"], _a(found["what"])
    if human and other == human:
        return f"You are {what} to me"
    trust = f", and I trust {other} {found['trust']}" if found["trust"] else ""
    return f"{other} is {what} to me{trust}"


def spoken(text: str, who: str, human: str = "") -> str:
    """A memory as the character would say it, without its full stop; empty for what nobody says aloud.

    Args:
        text: the memory.
        who: the name of the character.
        human: the name of the person it talks with, who is then "you"; empty for nobody, or several.
    """
    line = " ".join(text.split())
    if _OUTSIDE.match(line) or is_digest(line):
        return ""
    if sentence := fact(line, who, human):
        return sentence
    if who and re.match(rf"(?:A long-term goal of )?{re.escape(who)}(?:,| is:|:| works as:| is to )", line):
        return ""
    line = re.sub("[“”]", '"', re.sub("[‘’]", "'", line))
    named = _called(human)
    if named and named.search(line):
        clauses = list(_until(_CLAUSE_END, line))
        kept = next((place for place, clause in enumerate(clauses) if _THIRD.search(clause)), len(clauses))
        line = _to("".join(clauses[:kept]), named)
        if not line:
            return ""
    line = _clause(line)
    first = _DIARY.match(line)
    if first and _is_past(first["verb"]):
        return f"I {line[0].lower()}{line[1:]}"
    if (where := _WHERE.match(line)) and where["verb"] in _IRREGULAR:
        return f"{where['where']} I {line[where.start('verb') :]}"
    return line


def _until(end: re.Pattern[str], line: str) -> Iterator[str]:
    """The parts of a line, each with its terminator."""
    last = 0
    for found in end.finditer(line):
        yield line[last : found.end()]
        last = found.end()
    yield line[last:]


def in_diary_voice(said: str) -> bool:
    """Whether the text begins with the character's own deed, so that a day may precede it."""
    return re.match(r"I [a-z]+ ", said) is not None


def _is_past(verb: str) -> bool:
    return verb.lower() in _IRREGULAR or (_REGULAR.fullmatch(verb) is not None and verb not in _NO_VERB)


def asked_about(names: Sequence[str], text: str) -> Iterator[tuple[str, str]]:
    """Those of the names that are within a sentence of the text, in the form for a question ("the Three Herons")."""
    for name in names:
        found = re.search(rf"[a-z,] (?P<the>the )?{re.escape(name)}(?!\w)(?P<more> [a-z])?", text)
        if found and not (found["the"] and found["more"]) and not re.match("I['’]", name):
            yield name, f"{found['the'] or ''}{name}"


def _clause(line: str) -> str:
    """As many clauses as fit; a single long one is cut between words."""
    if len(line) <= _LONGEST:
        return line.rstrip(" .;")
    ends = [match.start() for match in _CLAUSE_END.finditer(line[:_LONGEST])]
    if ends and ends[-1] >= 20:
        end = ends[-1]
        return line[: end + 1] if line[end] in "!?" else line[:end]
    return f"{line[: _LONGEST - 1].rpartition(' ')[0] or line[: _LONGEST - 1]}…"


def _called(human: str) -> re.Pattern[str] | None:
    """Where somebody is named, in whole or in part, with the word that follows; ``None`` for nobody."""
    parts = [part for part in human.split() if len(part) > 2 and part.lower() not in _TITLES]
    if not parts:
        return None
    *first_names, family = map(re.escape, parts)
    called = "|".join((re.escape(human), *first_names, f"(?P<family>{family})"))
    return re.compile(
        rf"(?<![\w’'-])(?:{called})(?P<own>['’]s?(?!\w))?(?:(?P<gap> )(?P<next>[\w’']+))?(?![\w’'])", re.IGNORECASE
    )


def _to(line: str, named: re.Pattern[str]) -> str:
    """The line with "you" for the listener; empty if its verbs do not go with "you"."""
    for match in named.finditer(line):
        after = match["next"] or "x"
        before = _BEFORE.search(line[: match.start()])
        word = before[0].strip(" .") if before else ""
        if word.lower() in _TITLES or (word and match["family"] and not _is_past(word)):
            return ""  # "Mrs Marsh", or somebody else of the same family, as "Hester Marsh"
        if after[0].isupper() or (not match["own"] and after.endswith("s") and after not in _WITH_YOU):
            return ""  # somebody else of the same first name, or "Tobias says"

    def you(match: re.Match[str]) -> str:
        word = "your" if match["own"] else "you"
        after = match["next"] or ""
        after = after if match["own"] else _WITH_YOU.get(after, after)
        begins = not line[: match.start()].strip() or line[: match.start()].rstrip()[-1] in ".!?"
        return f"{word.capitalize() if begins else word}{match['gap'] or ''}{after}"

    return named.sub(you, line)


def day_of(when: str) -> str:
    """The day in words ("26 March"), from a time in ISO form or as prompts write it; empty if unknown."""
    for form in ("", "%a %d %b %Y"):
        try:
            moment = datetime.strptime(when.partition(",")[0], form) if form else datetime.fromisoformat(when)
        except ValueError:
            continue
        return f"{moment.day} {moment:%B}"
    return ""
