"""The offline model's quotations: which sources are about a question, and how they are cited.

The offline model in a conversation: plain rules that look up, note down and quote. Nothing is made up.

A message is answered in at most a few turns. First what it says about the speaker goes into core memory. Then, if it
asks something, the answer is searched for: a name in core memory, what was said by ``conversation_search``, the
character's life among the memories that came to mind and by ``archival_memory_search``. Finally the result is
quoted, with who said it and when, or with the number of the memory. Only functions that are offered are called;
without any, the rules quote what is in the prompt.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any

import numpy as np

from ...core.memory import Vectors
from ...recall.hybrid import Cue, asked_for
from ..base import NOTICES, SPOKEN, ToolCall
from ..extractive import quote, short
from .listening import Listened, known_name, listen, name_in, only_asks, sentences_of, words
from .prompt import PERSONA, SIGN, Prompt, Source, read
from .voice import asked_about, day_of, fact, in_diary_voice, names_in, spoken

_APPEND, _REPLACE = "core_memory_append", "core_memory_replace"
_SEARCH, _DATES = "conversation_search", "conversation_search_date"
_ARCHIVE, _INSERT = "archival_memory_search", "archival_memory_insert"
_ORDER = {_APPEND: 0, _REPLACE: 0, _INSERT: 1, _DATES: 2, _SEARCH: 2, _ARCHIVE: 3}
"""The order in which functions are called for one message."""
_PAGES = 3
"""The most pages of a search to read."""
_BEAT = "request_heartbeat"
_INTRODUCED = 4
"""How many facts of the static memory a character introduces itself with."""
_QUERY = 8
_NAMED_AT_MOST = 40
"""The most characters in a name or word that is asked about."""
_ASKED_BACK = re.compile(r"\bWhat do you (?:know|remember) of (?P<the>the )?(?P<name>[^?]{1,60})\?")
_DESCRIBES = re.compile(r"[^.:]{1,80}: ")
"""A place with its description."""
_PLAIN_FACT = re.compile(
    r"The name is |.{1,200} is \d+ years old|.{1,200}, (?:birthplace|home|pronouns): |.{1,200} is: "
)
"""Something that answers a question, but that nobody says unasked."""
_SPAN_TOLD = re.compile(r"(?:In the week|From \d|Between \d|On \d|Yesterday|Today)\b")
"""The beginning of a memory that itself says when it was."""
_THIRD = re.compile(r"\b(?:he|she|him|her|hers|his)\b", re.IGNORECASE)
_WHO_IS = re.compile(r"\bwho(?:\s+is|['’]s)\s+(?P<name>[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*){0,3})", re.IGNORECASE)
_SMALL = frozenset({"A", "An", "The", "You", "Your"})


@dataclass(frozen=True)
class Said:
    """An answer of the rules: a text, or calls."""

    text: str
    calls: tuple[ToolCall, ...]


def answer(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], embed: Embed) -> Said:
    """The next message of a conversation, by the rules.

    Args:
        messages: in OpenAI's form.
        tools: those that may be called.
        embed: makes unit vectors of texts.
    """
    prompt = read(messages, tools)
    if prompt.message.startswith(NOTICES):
        return _unprompted(prompt, len(messages))
    heard = listen(prompt.message)
    if prompt.by_rules:
        asked = [sentence for sentence in sentences_of(prompt.message) if sentence.endswith("?")]
        about = words(" ".join(asked)) or words(prompt.message)
        heard = replace(heard, name="", facts=(), keep="", greets=False, asks=False, words=about or heard.words)
    calls = _noting(prompt, heard) or _keeping(prompt, heard) or _looking_up(prompt, heard, messages)
    if calls:
        return Said(
            "", tuple(_call(name, arguments, len(messages), place) for place, (name, arguments) in enumerate(calls))
        )
    return _spoken(prompt, _answer(prompt, heard, embed), len(messages))


def _unprompted(prompt: Prompt, length: int) -> Said:
    """What to say at a heartbeat: something that came to mind and has not been said, or nothing."""
    lived = [source for source in prompt.recalled if source.when != "always"]
    new = unquoted(lived, _talk_texts(prompt))
    if not new or prompt.made:
        return Said("", ())
    name = "" if prompt.human == "You" else f", {prompt.human}"
    begun = "That reminds me of something" if prompt.said else f"Good day{name}. I was thinking of something"
    return _spoken(prompt, f"{begun}: {cite(new[0])}.", length)


def _spoken(prompt: Prompt, reply: str, length: int) -> Said:
    text = f"{SIGN} {reply}"
    if SPOKEN[0] in prompt.offered:
        return Said("", (_call(SPOKEN[0], {SPOKEN[1]: text}, length, 0),))
    return Said(text, ())


def aloud(said: Said) -> str:
    """The part of an answer that is said to the other person."""
    spoken = (json.loads(call.arguments)[SPOKEN[1]] for call in said.calls if call.name == SPOKEN[0])
    return said.text if not said.calls else "\n".join(spoken)


_Calls = list[tuple[str, dict[str, Any]]]


# -- what is noted down ------------------------------------------------------------------------------------


def _noting(prompt: Prompt, heard: Listened) -> _Calls:
    """Add name and facts to core memory, once for each message; the last call continues."""
    if prompt.block is None or prompt.made:
        return []
    calls: _Calls = []
    known = known_name(prompt.block)
    if heard.name and (known is None or known["name"].casefold() != heard.name.casefold()):
        if known is None:
            calls.append((_APPEND, {"name": "human", "content": f"Name: {heard.name}"}))
        else:
            start = known.start("name") - known.start()
            new = f"{known.group()[:start]}{heard.name}"
            calls.append((_REPLACE, {"name": "human", "old_content": known.group(), "new_content": new}))
    block = prompt.block.casefold()
    facts = [fact for fact in heard.facts if fact.casefold() not in block]
    calls += [(_APPEND, {"name": "human", "content": quote(fact)}) for fact in facts]
    return [(name, {**arguments, _BEAT: True}) for name, arguments in calls if name in prompt.offered]


def _keeping(prompt: Prompt, heard: Listened) -> _Calls:
    """Whatever should be remembered, and what did not fit in core memory, as an event of the character's life."""
    if _INSERT not in prompt.offered or prompt.called(_INSERT) or _reached(prompt) > _ORDER[_INSERT]:
        return []
    failed = [
        made.arguments.get("content") or made.arguments.get("new_content")
        for made in prompt.called(_APPEND, _REPLACE)
        if made.failed
    ]
    texts = [heard.keep, *(text for text in failed if isinstance(text, str))]
    who = prompt.human if prompt.human != "You" else "The one I talk with"
    lines = [f"{who} said: {text if text.startswith('“') else quote(text)}" for text in texts if text]
    return [(_INSERT, {"content": text, _BEAT: True}) for text in lines[:3]]


# -- what is looked up -------------------------------------------------------------------------------------


def _looking_up(prompt: Prompt, heard: Listened, messages: Sequence[Mapping[str, Any]]) -> _Calls:
    """The next search to make; none if it was made, or is not needed."""
    if not heard.asks and heard.words:
        return _remembering(prompt, heard)
    if not heard.asks or heard.greets or (heard.asks_who and prompt.persona):
        return []
    searches = list[tuple[str, dict[str, Any]]]()
    if heard.about_talk and heard.day and (span := _span(heard.day, messages)):
        searches.append((_DATES, {"start_date": span[0], "end_date": span[1]}))
    elif heard.about_talk and (query := _query(heard)):
        searches.append((_SEARCH, {"query": query}))
    elif heard.asks_name and not _own_name(prompt):
        searches.append((_SEARCH, {"query": "my name is"}))
    if searches and searches[0][0] == _SEARCH and (page := _next_page(prompt)):
        return [(_SEARCH, {**prompt.called(_SEARCH)[-1].arguments, "page": page, _BEAT: True})]
    nothing = not any(made.results for made in prompt.called(_SEARCH, _DATES))
    if heard.words and (not heard.about_talk or nothing) and not (prompt.recalled and not heard.about_talk):
        searches.append((_ARCHIVE, {"query": _query(heard)}))
    for name, arguments in searches:
        if name in prompt.offered and not prompt.called(name) and _reached(prompt) <= _ORDER[name]:
            return [(name, {**arguments, _BEAT: True})]
    return []


def _next_page(prompt: Prompt) -> int:
    """The page to read after one with only questions and the character's own words; 0 for none."""
    made = prompt.called(_SEARCH)
    if not made or _reached(prompt) > _ORDER[_SEARCH] or not isinstance(made[-1].arguments.get("query"), str):
        return 0
    page = made[-1].arguments.get("page", 0)
    idle = all(source.mine or only_asks(source.text) for source in made[-1].results)
    return page + 1 if made[-1].results and idle and page in range(_PAGES - 1) else 0


def _reached(prompt: Prompt) -> int:
    """How far this message has been processed; early calls drop out of a full prompt."""
    return max((_ORDER.get(made.name, 0) for made in prompt.made), default=0)


def _remembering(prompt: Prompt, heard: Listened) -> _Calls:
    """Something else to say to an acquaintance, once everything that came to mind has been said.

    First a search for what was said, then one for the person they talk with.
    """
    made = prompt.called(_ARCHIVE)
    known = prompt.human != "You" and len(made) == len(prompt.made) and _ARCHIVE in prompt.offered
    found = [source for call in made for source in call.results]
    asked = _ASKED_BACK.search(prompt.message)
    if not known or _dated_about(_aloud_of(prompt, [*prompt.recalled, *found]), asked["name"] if asked else ""):
        return []
    queries = (_query(heard),) if asked else (_query(heard), prompt.human)
    return [(_ARCHIVE, {"query": query, _BEAT: True}) for query in queries[len(made) :]][:1]


def _talk_texts(prompt: Prompt) -> list[str]:
    """What the two have said already."""
    return [prompt.message, *(source.text for source in prompt.said if source.mine)]


def _query(heard: Listened) -> str:
    """The words of the question, and other words for mothers and fathers."""
    terms = list(heard.words[:_QUERY])
    for name, others in KIN.items():
        if any(stem(word) == name for word in terms):
            terms += [other for other in others if other not in terms]
    return " ".join(terms)


def _span(day: str, messages: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """The first and last day that the question is about, by the time in the prompt; ``None`` if not given."""
    system = str(messages[0].get("content") or "") if messages else ""
    match = re.search(r"\bIt is \w{3} (\d{1,2} \w{3} \d{4}), (\d\d:\d\d)", system)
    try:
        if re.match(r"\d{4}", day):
            first = last = datetime.fromisoformat(day)
        elif match:
            now = datetime.strptime(match[1], "%d %b %Y")
            monday = now - timedelta(days=now.weekday())
            first, last = {
                "today": (now, now),
                "yesterday": (now - timedelta(days=1), now - timedelta(days=1)),
                "this week": (monday, now),
                "last week": (monday - timedelta(days=7), monday - timedelta(days=1)),
            }[day]
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}T23:59:59"


# -- what is said ------------------------------------------------------------------------------------------


def _answer(prompt: Prompt, heard: Listened, embed: Embed) -> str:
    parts = list[str]()
    if noted := _noted(prompt):
        parts.append(noted)
    if heard.asks_name:
        parts.append(_name_told(prompt))
    if heard.greets:
        parts.append(_introduced(prompt))
    elif heard.asks_who and prompt.persona:
        named = [f"I am {prompt.who}."] if prompt.who else []
        parts += [*named, f"{'. '.join(cite(source, prompt.who) for source in _described(prompt))}."]
    elif heard.asks and (heard.words or (prompt.called(_SEARCH, _DATES) and not heard.asks_name)):
        parts.append(_quoted(prompt, heard, embed))
    elif heard.asks and not heard.asks_name:
        last = [source for source in prompt.said if not source.mine][-3:]
        quotation = f"{'; '.join(cite(source) for source in last)}." if last and heard.about_talk else ""
        parts.append(quotation or (_closest(prompt) if prompt.recalled else _introduced(prompt)))
    if not parts:
        parts.append(_acknowledged(prompt, heard, embed))
    return " ".join(parts)


def _described(prompt: Prompt) -> list[Source]:
    """The lines of its personality by which a character introduces itself: those it can say, except its name."""
    said = [
        source
        for source in prompt.persona
        if fact(source.text, prompt.who) and not source.text.startswith("The name is ")
    ]
    return said[:_INTRODUCED] or list(prompt.persona[:_INTRODUCED])


def _noted(prompt: Prompt) -> str:
    """What was written down because of this message, or why it was not."""
    said = list[str]()
    for made in prompt.called(_APPEND, _REPLACE):
        new = str(made.arguments.get("content") or made.arguments.get("new_content") or "")
        if made.failed:
            said.append("My core memory has no room for all of that.")
        elif made.name == _REPLACE:
            old = str(made.arguments.get("old_content"))
            said.append(f"I have corrected what I note of you: {quote(new)}, no longer {quote(old)}.")
        else:
            said.append(f"I note {new if new.startswith('“') else quote(new)}.")
    kept = prompt.called(_INSERT)
    if any(not made.failed for made in kept):
        said.append("I keep that as something that happened.")
    elif kept:
        said.append("I could not keep that.")
    return " ".join(dict.fromkeys(said))


def _own_name(prompt: Prompt) -> str:
    """The other person's name by core memory, else by what they said that is still in the prompt."""
    known = known_name(prompt.block) if prompt.block else None
    if known:
        return known["name"].strip()
    found = [name_in(sentences_of(source.text)) for source in prompt.said if not source.mine]
    return next((name for name in reversed(found) if name), "")


def _name_told(prompt: Prompt) -> str:
    if name := _own_name(prompt):
        return f"Your name is {name}."
    sources = [
        source for made in prompt.called(_SEARCH) for source in made.results if name_in(sentences_of(source.text))
    ]
    if sources:
        latest = max(source.when for source in sources)
        names = dict.fromkeys(name_in(sentences_of(source.text)) for source in sources if source.when == latest)
        if len(names) == 1:
            return f"Your name is {next(iter(names))}: {cite(sources[0])}."
        return f"You have told me several names: {'; '.join(cite(source) for source in sources[:3])}."
    if prompt.human and prompt.human != "You":
        return f"I know you as {prompt.human}."
    return "You have not told me your name."


def _quoted(prompt: Prompt, heard: Listened, embed: Embed) -> str:
    """The best quotations that answer the question, each with its source."""
    asked = " ".join(heard.words) or prompt.message
    found = [source for made in prompt.called(_SEARCH, _DATES) for source in made.results]
    if prompt.called(_DATES) and found and not heard.words:
        return f"Then it was said: {'; '.join(cite(source) for source in found[:3])}."
    stored = [source for made in prompt.called(_ARCHIVE) for source in made.results]
    core = [Source(line.strip(), cited=CORE) for line in (prompt.block or "").splitlines() if line.strip()]
    life = [*prompt.recalled, *prompt.persona, *stored]
    talk = found if prompt.called(_SEARCH, _DATES) else list(prompt.said)
    theirs = [source for source in talk if not source.mine and not only_asks(source.text)]
    if (about := _WHO_IS.search(prompt.message)) and not heard.about_talk:
        sources = (source for source in life if _relation_to(about["name"], source.text))
        if known := next((source for source in sources if fact(source.text, prompt.who)), None):
            return f"{cite(known, prompt.who)}."
    then = [] if heard.about_talk else _then(prompt) or _of_oneself(prompt)
    groups = [[*theirs, *core], talk, life] if heard.about_talk else [life, theirs]
    for group in groups:
        if chosen := then or best(asked, group, embed, 2 if group is life else 1):
            return f"{'; '.join(cite(source, prompt.who) for source in chosen)}."
    if prompt.recalled:
        return _closest(prompt)
    return "I find nothing about that in what I remember, and I make nothing up."


def _then(prompt: Prompt) -> list[Source]:
    """What came to mind of a time, if the question only asks what happened then: no word of it says what that was."""
    if not Cue.read(prompt.message, datetime.now(UTC)).asks_of_a_time:  # whatever the time
        return []
    return [source for source in prompt.recalled if source.when not in ("", "always")][:_OF_A_TIME]


def _of_oneself(prompt: Prompt) -> list[Source]:
    """What came to mind of its personality first, if the question asks for a field of it: "What are you like?"."""
    if not asked_for(prompt.message, prompt.who, addressed=True):
        return []
    always = takewhile(lambda source: source.when == "always", prompt.recalled)
    return [source for source in always if fact(source.text, prompt.who)][:_OF_A_FIELD]


def _relation_to(name: str, text: str) -> bool:
    """Whether a line of the personality says how somebody is related to the character."""
    other, stated, _ = text.partition(" is to ")
    return bool(stated) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", other, re.IGNORECASE) is not None


def _closest(prompt: Prompt) -> str:
    return f"Nothing that I find answers that. The closest is {cite(prompt.recalled[0], prompt.who)}."


def _acknowledged(prompt: Prompt, heard: Listened, embed: Embed) -> str:
    if not heard.words:
        return _introduced(prompt)
    found = [source for made in prompt.called(_ARCHIVE) for source in made.results]
    if prompt.human != "You":
        return _conversed(prompt, heard, [*prompt.recalled, *found], embed)
    new = unquoted([*prompt.recalled, *found], _talk_texts(prompt))
    if near := best(" ".join(heard.words), new, embed, 1):
        return f"That brings to mind{':' if near[0].who else ''} {cite(near[0])}."
    about = f" “{heard.words[0]}”" if len(heard.words[0]) <= _NAMED_AT_MOST else " that"
    return f"Nothing comes to mind about{about}. What should I know of it?"


def _conversed(prompt: Prompt, heard: Listened, lived: Sequence[Source], embed: Embed) -> str:
    """What a character says to an acquaintance: something it remembers that fits, and a question.

    What it said before is not repeated as long as there is something else; nor is a name asked for twice.
    """
    new = _aloud_of(prompt, lived)
    own = [source for source in prompt.persona if source not in lived]
    about = " ".join(heard.words)
    asked = _ASKED_BACK.search(prompt.message)
    name = asked["name"] if asked else ""
    groups = (_dated_about(new, name), _dated_about(new, ""), new, _aloud_of(prompt, own))
    group = next((group for group in groups if group), [])
    chosen = best(about, group, embed, 1) or group[:1]
    turns = sum(source.mine for source in prompt.said)
    parts = list[str]()
    if not prompt.said and (addressed := _addressed(prompt)):
        parts.append(f"Good day, {addressed}.")
    if asked and not (chosen and name.casefold() in chosen[0].text.casefold()):
        parts.append(f"Of {asked['the'] or ''}{name} I can tell you nothing.")
    if chosen:
        parts.append(_told_of(prompt, chosen[0], turns))
    elif again := _longest_ago(prompt, [*lived, *own]):
        parts.append(f"As I said, {_uncapital(_say(prompt, again))}.")
    elif not parts:
        parts.append("I remember nothing that I could tell you of that.")
    question = "" if asked else _asked_back(prompt, chosen, turns)
    return " ".join([*parts, question] if question else parts)


def _dated_about(group: Sequence[Source], name: str) -> list[Source]:
    """Those that happened on a day and name somebody; without a name everything that happened on a day."""
    return [source for source in group if day_of(source.when) and name.casefold() in source.text.casefold()]


def _told_of(prompt: Prompt, source: Source, turns: int) -> str:
    """A memory in the first person with its day, sometimes before it and sometimes after."""
    said, day = _say(prompt, source), day_of(source.when)
    end = "" if said.endswith(("!", "?", "…")) else "."
    if not day or source.who or _SPAN_TOLD.match(said):
        return f"{said}{end}"
    if turns % 2:
        return f"{said}{end} That was on {day}."
    return f"On {day} {said}{end}" if in_diary_voice(said) else f"I remember {day}: {_uncapital(said, keep=True)}{end}"


def _asked_back(prompt: Prompt, sources: Sequence[Source], turns: int) -> str:
    """A question about somebody or something by name that neither has asked about yet; empty for none."""
    before = "\n".join([*(source.text for source in prompt.said), prompt.message])
    asked = {match["name"] for match in _ASKED_BACK.finditer(before)}
    text = "\n".join([*(source.text for source in sources if not source.who), prompt.message])
    both = f"{prompt.who} {prompt.human}"
    for name, called in asked_about(names_in([text], both), text):
        known = set(name.split()) & {part.strip(",") for part in both.split()} or name in asked
        if len(name) <= _NAMED_AT_MOST and not known:
            return (f"What do you know of {called}?", f"What do you remember of {called}?")[turns % 2]
    return ""


def _uncapital(said: str, *, keep: bool = False) -> str:
    """The text, to follow other words; "I" and, with ``keep``, everything but an article stay unchanged."""
    first = said.partition(" ")[0]
    small = first in _SMALL or (not keep and first in ("My", "What", "Where"))
    return f"{said[0].lower()}{said[1:]}" if small else said


def _say(prompt: Prompt, source: Source) -> str:
    """A source in the character's own voice, without its full stop; empty if it is not for saying aloud."""
    if not source.who:
        undated = not day_of(source.when)
        if undated and (_DESCRIBES.match(source.text) or _THIRD.search(source.text)) and not _fact_of(prompt, source):
            return ""
        return "" if undated and _PLAIN_FACT.match(source.text) else spoken(source.text, prompt.who, _addressed(prompt))
    another = not source.mine and source.who != "You said" and not re.search(r"\byou\b|\?|[“”‘]", source.text)
    return f"{source.who} told me: “{_cut(source.text).rstrip('.')}”" if another else ""


def _addressed(prompt: Prompt) -> str:
    """The person who is "you"; nobody if there are several."""
    return "" if prompt.human == "You" or re.search(r",| and ", prompt.human) else prompt.human


def _fact_of(prompt: Prompt, source: Source) -> str:
    return fact(source.text, prompt.who, _addressed(prompt))


def _aloud_of(prompt: Prompt, group: Sequence[Source]) -> list[Source]:
    """The sources that can be said aloud and have not been, by either of the two."""
    texts = _talk_texts(prompt)
    sayable = [source for source in group if _say(prompt, source)]
    new = unquoted(sayable, texts)
    said = unquoted([replace(source, text=_say(prompt, source)) for source in new], texts)
    fresh = {source.text for source in said}
    return [source for source in new if _say(prompt, source) in fresh]


def _longest_ago(prompt: Prompt, group: Sequence[Source]) -> Source | None:
    """The one said longest ago; the first if there are several."""
    texts = _talk_texts(prompt)[1:]

    def last(source: Source) -> int:
        said = replace(source, text=_say(prompt, source))
        return max((place for place, text in enumerate(texts) if not unquoted([said], [text])), default=-1)

    return min((source for source in group if _say(prompt, source)), key=last, default=None)


def _introduced(prompt: Prompt) -> str:
    who = f"I am {prompt.who}, and answer" if prompt.who else "I answer"
    return f"{who} by plain rules, without a language model: I note what you tell me, and quote what I remember."


def _call(name: str, values: Mapping[str, Any], length: int, place: int) -> ToolCall:
    """A call whose id depends only on the conversation."""
    arguments = json.dumps(values, ensure_ascii=False)
    digest = hashlib.sha256(f"{length} {place} {name} {arguments}".encode()).hexdigest()
    return ToolCall(digest[:9], name, arguments)


Embed = Callable[[list[str]], Vectors]

_MOST_LOOKED_AT = 40
"""Candidates for a quotation to embed; of more, those that share words with the question or are the last."""
_ANSWERS = 0.30
"""The least cosine between a text and the question for it to be quoted as an answer."""
_SHARED = 0.15
"""The bonus for each word that a text shares with the question."""
_ASKED = 0.3
"""The penalty for a text that itself only asks."""
_WRITTEN = 0.1
"""The penalty for core memory compared with what was said, since it has neither time nor speaker."""
CORE = "(core memory)"
KIN = {"mother": ("mother", "mom"), "father": ("father", "dad")}
"""Words for mothers and fathers."""
_OF_A_TIME, _OF_A_FIELD = 3, 2
"""How many memories answer what happened at a time."""
_QUOTATION = 200
_BEGINNING = 60
"""Characters by which a quotation is recognised, however its end was cut."""
_MARKS = re.compile("[“”‘’\"']")


def best(asked: str, group: Sequence[Source], embed: Embed, count: int) -> list[Source]:
    """The sources that are most about a question, the best first; none if none is about it."""
    about = {stem(word) for word in words(asked)}
    seen = {source.text: source for source in group if source.text.strip()}
    shared = {text: len(about & {stem(word) for word in words(text)}) for text in seen}
    places = {text: place for place, text in enumerate(seen)}
    near = sorted(seen, key=lambda text: (-shared[text], -places[text]))[:_MOST_LOOKED_AT]
    if not near:
        return []
    vectors = embed([asked, *(short(text, 1000) for text in near)])
    worth = np.asarray(vectors[1:] @ vectors[0], np.float64) + _SHARED * np.array(
        [min(3, shared[text]) for text in near]
    )
    worth -= np.array([_ASKED * only_asks(text) + _WRITTEN * (seen[text].cited == CORE) for text in near])
    rows = [int(row) for row in np.argsort(-worth, kind="stable")[:count] if worth[row] >= _ANSWERS]
    rows = [row for row in rows if worth[row] >= 0.6 * worth[rows[0]]]
    return [seen[near[row]] for row in rows]


def unquoted(group: Sequence[Source], texts: Sequence[str]) -> list[Source]:
    """The sources that these texts do not quote already, to avoid endless repetition."""
    haystack = "\n".join(_plain(text) for text in texts)
    return [source for source in group if _plain(source.text)[:_BEGINNING].rstrip(" .…") not in haystack]


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub("", text).casefold().split())


def stem(word: str) -> str:
    """A word without its ending, with one word each for mothers and fathers."""
    small = word.lower()
    for name, others in KIN.items():
        if small.removesuffix("s") in (name, *others):
            return name
    return re.sub(r"(?:ing|ed|es|s|e)$", "", small) if len(small) > 4 else small


def cite(source: Source, who: str = "") -> str:
    """A quotation with who said it and when, or with the number of the memory.

    A fact of the personality of ``who`` is said in the first person instead, if a rule can do that.
    """
    text = source.text
    if source.cited and who and (sentence := fact(text, who)):
        return sentence if source.cited == PERSONA else f"{sentence} {source.cited}"
    if source.cited:
        return f"{quote(_cut(text))}{_day(source.when)} {source.cited}"
    when = _day(source.when)
    return f"{source.who}{when}: {quote(_cut(text))}" if source.who else f"{quote(_cut(text))}{when}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    if line.startswith("“") and line.endswith("”") and line.count("“") == 1:
        line = line[1:-1]
    if len(line) <= _QUOTATION:
        return line
    return f"{line[:_QUOTATION].rpartition(' ')[0] or line[:_QUOTATION]}…"


def _day(when: str) -> str:
    try:
        moment = datetime.fromisoformat(when)
    except ValueError:
        return f" ({when})" if when and when != "always" else ""
    return f" ({moment.day} {moment:%B %Y, %H:%M})"
