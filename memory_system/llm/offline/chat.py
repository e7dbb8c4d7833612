"""What the offline model quotes: which sources are about a question, and how they are cited.

The offline model in a conversation: plain rules that look up, note down and quote. Nothing is made up.

A message is answered in at most a few turns. First what it tells of the speaker goes into core memory. Then, if it
asks something, the answer is looked for: a name in core memory, what was said by ``conversation_search``, the
character's life among the memories that came to mind and by ``archival_memory_search``. At last what was found is
quoted, with who said it and when, or with the number of the memory. Only functions that are offered are called;
without any, the rules quote what stands in the prompt.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from ...core.memory import Vectors
from ..base import NOTICES, SPOKEN, ToolCall
from ..extractive import quote, short
from .listening import Listened, known_name, listen, name_in, only_asks, sentences_of, words
from .prompt import SIGN, Prompt, Source, read

_APPEND, _REPLACE = "core_memory_append", "core_memory_replace"
_SEARCH, _DATES = "conversation_search", "conversation_search_date"
_ARCHIVE, _INSERT = "archival_memory_search", "archival_memory_insert"
_ORDER = {_APPEND: 0, _REPLACE: 0, _INSERT: 1, _DATES: 2, _SEARCH: 2, _ARCHIVE: 3}
"""In which order functions are called for one message."""
_PAGES = 3
"""Pages of a search that are looked at."""
_BEAT = "request_heartbeat"
_INTRODUCED = 4
"""Facts of the static memory with which a character introduces itself."""
_QUERY = 8
_QUOTED = re.compile(r"“([^“”]*)”")


@dataclass(frozen=True)
class Said:
    """What the rules answer: a text, or calls."""

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
        about = words(" ".join(_QUOTED.findall(prompt.message)))  # of which its rules speak, and not when it was
        heard = replace(heard, name="", facts=(), keep="", words=about or heard.words)
    calls = _noting(prompt, heard) or _keeping(prompt, heard) or _looking_up(prompt, heard, messages)
    if calls:
        return Said("", tuple(_call(name, given, len(messages), place) for place, (name, given) in enumerate(calls)))
    return _spoken(prompt, _answer(prompt, heard, embed), len(messages))


def _unprompted(prompt: Prompt, length: int) -> Said:
    """What a heartbeat has it say: something that came to mind and has not been told, or nothing."""
    lived = [one for one in prompt.recalled if one.when != "always"]
    new = unquoted(lived, _told(prompt))
    if not new or prompt.made:
        return Said("", ())
    name = "" if prompt.human == "You" else f", {prompt.human}"
    begun = "That reminds me of something" if prompt.said else f"Good day{name}. I was thinking of something"
    return _spoken(prompt, f"{begun}: {cite(new[0])}.", length)


def _spoken(prompt: Prompt, told: str, length: int) -> Said:
    text = f"{SIGN} {told}"
    if SPOKEN[0] in prompt.offered:
        return Said("", (_call(SPOKEN[0], {SPOKEN[1]: text}, length, 0),))
    return Said(text, ())


def aloud(said: Said) -> str:
    """What of an answer is said to the other one."""
    spoken = (json.loads(call.arguments)[SPOKEN[1]] for call in said.calls if call.name == SPOKEN[0])
    return said.text if not said.calls else "\n".join(spoken)


_Calls = list[tuple[str, dict[str, Any]]]


# -- what is noted down ------------------------------------------------------------------------------------


def _noting(prompt: Prompt, heard: Listened) -> _Calls:
    """Name and facts into core memory, once for each message; the last call goes on."""
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
    held = prompt.block.casefold()
    facts = [fact for fact in heard.facts if fact.casefold() not in held]
    calls += [(_APPEND, {"name": "human", "content": quote(fact)}) for fact in facts]
    return [(name, {**given, _BEAT: True}) for name, given in calls if name in prompt.offered]


def _keeping(prompt: Prompt, heard: Listened) -> _Calls:
    """What is to be remembered, and what core memory had no room for, as an event of the character's life."""
    if _INSERT not in prompt.offered or prompt.called(_INSERT) or _reached(prompt) > _ORDER[_INSERT]:
        return []
    failed = [
        made.arguments.get("content") or made.arguments.get("new_content")
        for made in prompt.called(_APPEND, _REPLACE)
        if made.failed
    ]
    texts = [heard.keep, *(text for text in failed if isinstance(text, str))]
    who = prompt.human if prompt.human != "You" else "The one I talk with"
    told = [f"{who} said: {text if text.startswith('“') else quote(text)}" for text in texts if text]
    return [(_INSERT, {"content": text, _BEAT: True}) for text in told[:3]]


# -- what is looked up -------------------------------------------------------------------------------------


def _looking_up(prompt: Prompt, heard: Listened, messages: Sequence[Mapping[str, Any]]) -> _Calls:
    """The one search that is to be made next; none if it was made, or is not needed."""
    if not heard.asks and heard.words:
        return _remembering(prompt, heard)
    if not heard.asks or heard.greets or (heard.asks_who and prompt.persona):
        return []
    wanted = list[tuple[str, dict[str, Any]]]()
    if heard.about_talk and heard.day and (span := _span(heard.day, messages)):
        wanted.append((_DATES, {"start_date": span[0], "end_date": span[1]}))
    elif heard.about_talk and (query := _query(heard)):
        wanted.append((_SEARCH, {"query": query}))
    elif heard.asks_name and not _own_name(prompt):
        wanted.append((_SEARCH, {"query": "my name is"}))
    if wanted and wanted[0][0] == _SEARCH and (page := _next_page(prompt)):
        return [(_SEARCH, {**prompt.called(_SEARCH)[-1].arguments, "page": page, _BEAT: True})]
    nothing = not any(made.results for made in prompt.called(_SEARCH, _DATES))
    if heard.words and (not heard.about_talk or nothing) and not (prompt.recalled and not heard.about_talk):
        wanted.append((_ARCHIVE, {"query": _query(heard)}))
    for name, given in wanted:
        if name in prompt.offered and not prompt.called(name) and _reached(prompt) <= _ORDER[name]:
            return [(name, {**given, _BEAT: True})]
    return []


def _next_page(prompt: Prompt) -> int:
    """The page to look at after one that held only questions and the character's own words; 0 for none."""
    made = prompt.called(_SEARCH)
    if not made or _reached(prompt) > _ORDER[_SEARCH] or not isinstance(made[-1].arguments.get("query"), str):
        return 0
    page = made[-1].arguments.get("page", 0)
    idle = all(source.mine or only_asks(source.text) for source in made[-1].results)
    return page + 1 if made[-1].results and idle and page in range(_PAGES - 1) else 0


def _reached(prompt: Prompt) -> int:
    """How far this message has been dealt with; early calls leave a prompt that is short of room."""
    return max((_ORDER.get(made.name, 0) for made in prompt.made), default=0)


def _remembering(prompt: Prompt, heard: Listened) -> _Calls:
    """Something else to tell somebody whom one knows, where all that came to mind has been told already.

    First what is about what was said is looked for, then what is about whom they talk with.
    """
    made = prompt.called(_ARCHIVE)
    known = prompt.human != "You" and len(made) == len(prompt.made) and _ARCHIVE in prompt.offered
    found = [source for one in made for source in one.results]
    if not known or unquoted([*prompt.recalled, *found], _told(prompt)):
        return []
    queries = (_query(heard), prompt.human)
    return [(_ARCHIVE, {"query": query, _BEAT: True}) for query in queries[len(made) :]][:1]


def _told(prompt: Prompt) -> list[str]:
    """What the two have said already."""
    return [prompt.message, *(source.text for source in prompt.said if source.mine)]


def _query(heard: Listened) -> str:
    """The words of the question, and what else mothers and fathers are called."""
    wanted = list(heard.words[:_QUERY])
    for name, others in KIN.items():
        if any(stem(word) == name for word in wanted):
            wanted += [other for other in others if other not in wanted]
    return " ".join(wanted)


def _span(day: str, messages: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """The first and last day of what is asked about, by the time in the prompt; ``None`` if not told."""
    system = str(messages[0].get("content") or "") if messages else ""
    told = re.search(r"\bIt is \w{3} (\d{1,2} \w{3} \d{4}), (\d\d:\d\d)", system)
    try:
        if re.match(r"\d{4}", day):
            first = last = datetime.fromisoformat(day)
        elif told:
            now = datetime.strptime(told[1], "%d %b %Y")
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
        parts += [*named, f"{'; '.join(cite(source) for source in prompt.persona[:_INTRODUCED])}."]
    elif heard.asks and (heard.words or (prompt.called(_SEARCH, _DATES) and not heard.asks_name)):
        parts.append(_quoted(prompt, heard, embed))
    elif heard.asks and not heard.asks_name:
        last = [source for source in prompt.said if not source.mine][-3:]
        told = f"{'; '.join(cite(source) for source in last)}." if last and heard.about_talk else ""
        parts.append(told or (_closest(prompt) if prompt.recalled else _introduced(prompt)))
    if not parts:
        parts.append(_acknowledged(prompt, heard, embed))
    return " ".join(parts)


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
    """The other one's name by core memory, else by what they said that still stands in the prompt."""
    known = known_name(prompt.block) if prompt.block else None
    if known:
        return known["name"].strip()
    found = [name_in(sentences_of(source.text)) for source in prompt.said if not source.mine]
    return next((name for name in reversed(found) if name), "")


def _name_told(prompt: Prompt) -> str:
    if name := _own_name(prompt):
        return f"Your name is {name}."
    told = [source for made in prompt.called(_SEARCH) for source in made.results if name_in(sentences_of(source.text))]
    if told:
        latest = max(source.when for source in told)
        names = dict.fromkeys(name_in(sentences_of(source.text)) for source in told if source.when == latest)
        if len(names) == 1:
            return f"Your name is {next(iter(names))}: {cite(told[0])}."
        return f"You have told me several names: {'; '.join(cite(source) for source in told[:3])}."
    if prompt.human and prompt.human != "You":
        return f"I know you as {prompt.human}."
    return "You have not told me your name."


def _quoted(prompt: Prompt, heard: Listened, embed: Embed) -> str:
    """The best quotations that answer the question, each with where it is from."""
    asked = " ".join(heard.words) or prompt.message
    found = [source for made in prompt.called(_SEARCH, _DATES) for source in made.results]
    if prompt.called(_DATES) and found and not heard.words:
        return f"Then it was said: {'; '.join(cite(source) for source in found[:3])}."
    stored = [source for made in prompt.called(_ARCHIVE) for source in made.results]
    core = [Source(line.strip(), cited=CORE) for line in (prompt.block or "").splitlines() if line.strip()]
    life = [*prompt.recalled, *prompt.persona, *stored]
    talk = found if prompt.called(_SEARCH, _DATES) else list(prompt.said)
    theirs = [source for source in talk if not source.mine and not only_asks(source.text)]
    groups = [[*theirs, *core], talk, life] if heard.about_talk else [life, theirs]
    for group in groups:
        if chosen := best(asked, group, embed, 2 if group is life else 1):
            return f"{'; '.join(cite(source) for source in chosen)}."
    if prompt.recalled:
        return _closest(prompt)
    return "I find nothing about that in what I remember, and I make nothing up."


def _closest(prompt: Prompt) -> str:
    return f"Nothing that I find answers that. The closest is {cite(prompt.recalled[0])}."


def _acknowledged(prompt: Prompt, heard: Listened, embed: Embed) -> str:
    if not heard.words:
        return _introduced(prompt)
    found = [source for made in prompt.called(_ARCHIVE) for source in made.results]
    own = prompt.persona if prompt.human != "You" else ()
    new = unquoted([*prompt.recalled, *found, *own], _told(prompt))
    if near := best(" ".join(heard.words), new, embed, 1):
        return f"That brings to mind{':' if near[0].who else ''} {cite(near[0])}."
    if prompt.human == "You":
        return "I hear you."
    if new:
        return f"Something else that I remember: {cite(new[0])}."
    again = _longest_ago([*prompt.recalled, *found, *own], _told(prompt)[1:])
    return f"I still think of{':' if again.who else ''} {cite(again)}." if again else "I hear you."


def _longest_ago(group: Sequence[Source], told: Sequence[str]) -> Source | None:
    """What was told longest ago; of several the first."""

    def last(source: Source) -> int:
        return max((place for place, text in enumerate(told) if not unquoted([source], [text])), default=-1)

    return min(group, key=last, default=None)


def _introduced(prompt: Prompt) -> str:
    who = f"I am {prompt.who}, and answer" if prompt.who else "I answer"
    return f"{who} by plain rules, without a language model: I note what you tell me, and quote what I remember."


def _call(name: str, given: Mapping[str, Any], length: int, place: int) -> ToolCall:
    """A call whose id depends on nothing but the conversation."""
    arguments = json.dumps(given, ensure_ascii=False)
    digest = hashlib.sha256(f"{length} {place} {name} {arguments}".encode()).hexdigest()
    return ToolCall(digest[:9], name, arguments)


Embed = Callable[[list[str]], Vectors]

_MOST_LOOKED_AT = 40
"""Candidates for a quotation that are embedded; of more, those that share words with the question or are the last."""
_ANSWERS = 0.30
"""How much a text must be about the question, as a cosine, to be quoted as an answer to it."""
_SHARED = 0.15
"""What each word is worth that a text shares with the question."""
_ASKED = 0.3
"""What a text is worth less that only asks, too."""
_WRITTEN = 0.1
"""What core memory is worth less than what was said, since it has neither time nor speaker."""
CORE = "(core memory)"
KIN = {"mother": ("mother", "mom"), "father": ("father", "dad")}
"""What mothers and fathers are called."""
_QUOTATION = 200
_BEGINNING = 60
"""Characters by which a quotation is known again, however its end was cut."""
_MARKS = re.compile("[“”‘’\"']")


def best(asked: str, group: Sequence[Source], embed: Embed, count: int) -> list[Source]:
    """The sources that are most about a question, the best first; none where none is about it."""
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
    """The sources that these texts do not quote already, so that nobody says the same over and over."""
    told = "\n".join(_plain(text) for text in texts)
    return [source for source in group if _plain(source.text)[:_BEGINNING].rstrip(" .…") not in told]


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def stem(word: str) -> str:
    """A word without its ending, and mothers and fathers by one name."""
    small = word.lower()
    for name, others in KIN.items():
        if small.removesuffix("s") in (name, *others):
            return name
    return re.sub(r"(?:ing|ed|es|s|e)$", "", small) if len(small) > 4 else small


def cite(source: Source) -> str:
    """A quotation with who said it and when, or with the number of the memory."""
    text = source.text
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
