"""What the offline model sees of a conversation: the parts of the prompt, and the calls since the last message.

It reads what any model receives: the system message with its sections, and the messages. What it cannot recognise is
simply missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..base import SPOKEN
from ..openai.partial_json import Spoken
from .spoken import is_talk, sayings

SIGN = "(offline)"
"""The beginning of every answer of the offline model, so that nobody mistakes rules for a language model."""
PERSONA = "(who I am)"
"""The reference to a line of the static memory."""
_CALLS = "(calls "
"""The beginning of the document of a message that says nothing and only calls functions."""

_BEGUN = re.compile(r'\{"when": ')
_CUT_OFF = re.compile(r" \[…[\d,]+ characters in all\]\Z")
_LONGEST, _MOST = 5000, 20
_WHO = re.compile(r"\AYou are (?P<who>.{1,200}?) and talk with (?P<human>.{1,200}?)\. ")
_RECALLED = re.compile(r"^\[(?P<number>\d{1,4})\] \((?P<when>[^()\n]{1,60})\) (?P<text>.+)$", re.MULTILINE)
_QUOTED = re.compile(r"^(?P<speaker>[^“”\n]{1,60}): “(?P<text>[^“”]+)”", re.MULTILINE)
_SECTION = r"^# {name}[^\n]*\n(?P<text>.*?)(?=^# |\Z)"


@dataclass(frozen=True)
class Source:
    """Something that can be quoted.

    Args:
        text: what it says.
        when: when, in words; empty if unknown.
        who: who said it; empty for memories.
        cited: its reference, such as ``[2]``; empty for what was said.
        mine: whether the character said it.
    """

    text: str
    when: str = ""
    who: str = ""
    cited: str = ""
    mine: bool = False


@dataclass(frozen=True)
class Made:
    """A call since the last message: its function, its arguments, and its result."""

    name: str
    arguments: Mapping[str, Any]
    failed: bool
    results: tuple[Source, ...]


@dataclass(frozen=True)
class Prompt:
    """A conversation as the offline model sees it.

    Args:
        who: the character's name; empty if not said.
        human: the name of the other person.
        block: the core memory about the other person; ``None`` if there is none.
        persona: the lines of the static memory.
        recalled: memories that came to mind.
        said: what was said before the last message, oldest first, including what the summary quotes.
        message: what was said last.
        by_rules: whether another offline model said it, whose words are quotations.
        made: the calls since then.
        offered: the names of the tools.
    """

    who: str
    human: str
    block: str | None
    persona: tuple[Source, ...]
    recalled: tuple[Source, ...]
    said: tuple[Source, ...]
    message: str
    by_rules: bool
    made: tuple[Made, ...]
    offered: frozenset[str]

    def called(self, *names: str) -> tuple[Made, ...]:
        """The calls of these functions since the last message."""
        return tuple(made for made in self.made if made.name in names)


def read(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Prompt:
    """The contents of the messages."""
    system = "\n\n".join(_content(message) for message in messages if message.get("role") == "system")
    named = _WHO.match(system)
    who, human = (named["who"], named["human"]) if named else ("", "You")
    last = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    core = _section(system, "Core memory")
    persona = _between(core, "persona") or _section(system, "Who you are")
    summary = _section(system, "Summary")
    return Prompt(
        who,
        human,
        _between(core, "human"),
        tuple(Source(line.strip(), cited=PERSONA) for line in persona.splitlines() if line.strip()),
        tuple(
            source
            for match in _RECALLED.finditer(_section(system, "Recalled memories"))
            for source in _lived(match["text"], match["when"], f"[{match['number']}]", who, human)
        ),
        (*_summarised(summary, who, human), *_said(messages[: max(0, last)])),
        _content(messages[last]).removeprefix(SIGN).strip() if last >= 0 else "",
        last >= 0 and _content(messages[last]).startswith(SIGN),
        tuple(_made(messages[last + 1 :], who, human)),
        frozenset(str(tool.get("function", {}).get("name")) for tool in tools),
    )


def _content(message: Mapping[str, Any]) -> str:
    return str(message.get("content") or "")


def _section(system: str, name: str) -> str:
    found = re.search(_SECTION.format(name=name), system, re.MULTILINE | re.DOTALL)
    return found["text"].strip() if found else ""


def _between(core: str, block: str) -> str | None:
    _, opened, rest = core.partition(f"<{block}>\n")
    return rest.partition(f"\n</{block}>")[0].strip() if opened else None


def _summarised(summary: str, who: str, human: str) -> list[Source]:
    quoted = [_by(match["text"], "", match["speaker"], who, human) for match in _QUOTED.finditer(summary)]
    return quoted or [Source(line.strip(), who="the summary") for line in summary.splitlines() if line.strip()]


def _said(messages: Sequence[Mapping[str, Any]]) -> list[Source]:
    """What the other person heard and said; the character speaks by a call or in plain text."""
    found = list[Source]()
    for message in messages:
        calls = message.get("tool_calls") or ()
        if message.get("role") == "user":
            found.append(_by(_content(message), "", "You", "", "You"))
        elif message.get("role") == "assistant":
            spoken = (_arguments(call).get(SPOKEN[1]) for call in calls if call["function"]["name"] == SPOKEN[0])
            texts = [text for text in spoken if isinstance(text, str)] if calls else [_content(message)]
            found.extend(_by(text, "", "I", "I", "") for text in texts if text.strip())
    return found


def _made(messages: Sequence[Mapping[str, Any]], who: str, human: str) -> list[Made]:
    results = {
        str(message.get("tool_call_id")): _content(message) for message in messages if message.get("role") == "tool"
    }
    found = list[Made]()
    for message in messages:
        for call in message.get("tool_calls") or ():
            result = _result(results.get(str(call["id"]), ""))
            name = str(call["function"]["name"])
            found_there = tuple(_results(result, who, human, life=name == "archival_memory_search"))
            failed = result.get("status") == "Failed"
            found.append(Made(name, _arguments(call), failed, found_there))
    return found


def _results(result: Mapping[str, Any], who: str, human: str, *, life: bool) -> list[Source]:
    listed = result.get("results")
    found = list[Source]()
    for item in listed if isinstance(listed, list) else ():
        text = item.get("text") if isinstance(item, dict) else None
        if isinstance(text, str) and text.strip() and not text.startswith(_CALLS):
            when, source = str(item.get("when") or ""), str(item.get("source") or "")
            found += _lived(text, when, f"[{source}]", who, human) if life else [_by(text, when, source, who, human)]
    return found


def _lived(text: str, when: str, cited: str, who: str, human: str) -> list[Source]:
    """A memory in a form that can be quoted; one of a conversation as its individual sentences, never as a whole."""
    if not is_talk(text):
        return [Source(text, when, cited=cited)]
    return [
        _by(said, when, speaker, who, human) if speaker else Source(said, when, cited=cited)
        for speaker, said in sayings(text)
    ]


def _by(text: str, when: str, speaker: str, who: str, human: str) -> Source:
    """Something that was said, and by whom, in the words of the person who quotes it."""
    mine = bool(speaker) and speaker == who
    said = "You said" if speaker == human else "I said" if mine else speaker
    return Source(text.removeprefix(SIGN).strip(), when, said, mine=mine)


def _result(content: str) -> Mapping[str, Any]:
    """A result as it came; if it was cut to fit in the prompt, what is left of it."""
    whole = _json(content)
    if whole or not content.startswith("{"):
        return whole
    listed = list[dict[str, str]]()
    for begun in _BEGUN.finditer(_CUT_OFF.sub("", content)):
        rest = begun.string[begun.start() :]
        fields = {name: Spoken(name).more(rest[:_LONGEST]) for name in ("when", "source", "text")}
        listed.append(fields)
    return {"status": "Failed" if '"status": "Failed"' in content else "OK", "results": listed[:_MOST]}


def _arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    return _json(str(call["function"]["arguments"]))


def _json(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
