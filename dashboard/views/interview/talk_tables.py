"""Conversations as records: turns with the functions called in them, the content of a prompt, differences between two.

Imports no streamlit.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pandas as pd

from memory_system import Candidate
from memory_system.conversation import (
    CORE,
    DEFINITIONS,
    INSTRUCTIONS,
    NEW,
    QUEUE,
    RECALLED,
    SEND,
    SUMMARY,
    TOOLS,
    Action,
    Compared,
    Context,
    Fate,
    FunctionRun,
    Message,
    Role,
    Section,
    Talk,
)

from ... import words
from ...data.tables import candidates, exact, short, visible

_RESULT = 400
_NAME = 40
"""The most characters before a colon that count as a name."""
_FAILED = '{"status": "Failed"'
TITLES = {
    INSTRUCTIONS: "instructions",
    TOOLS: "functions",
    CORE: "core memory",
    SUMMARY: "summary",
    RECALLED: words.CAME_TO_MIND,
    QUEUE: "earlier messages",
    NEW: "this turn",
}
"""The labels of the sections of a prompt, in order."""


@dataclass(frozen=True)
class Call:
    """A function that was called, as stored in the transcript."""

    id: str
    name: str
    arguments: str
    result: str = ""

    @property
    def failed(self) -> bool:
        """Whether its result is an error."""
        return self.result.startswith(_FAILED)


@dataclass
class Turn:
    """The result of one message: the functions that were called, and the answer.

    Args:
        number: the number of its first message, which identifies it.
        asked: what was said to the character; empty if nobody said anything.
        speaker: who said it.
        at: when, in the world's time.
        answer: what the character said; empty while it has not.
        calls: the functions called on the way, ``send_message`` left out.
        notices: what the system said meanwhile, memory pressure for instance.
        thoughts: what the model wrote in addition to the functions that it called.
    """

    number: int
    asked: str
    speaker: str
    at: datetime
    answer: str = ""
    calls: list[Call] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)


def titles(talks: Iterable[Talk]) -> dict[str, str]:
    """The title of each talk, by its id; those with the same title are numbered by their beginning."""
    named = {talk.id: short(talk.title, 80) for talk in talks}
    alike, begun = Counter(named.values()), Counter[str]()
    for talk_id in sorted(named):  # the earlier id sorts first
        title = named[talk_id]
        begun[title] += 1
        named[talk_id] = f"{title} ({begun[title]})" if alike[title] > 1 else title
    return named


def turns(messages: Sequence[Message]) -> list[Turn]:
    """The messages of a conversation grouped by what was said to the character, oldest first."""
    found: list[Turn] = []
    waiting: dict[str, int] = {}
    for message in messages:
        if message.role is Role.USER:
            found.append(Turn(message.number, message.text, message.speaker, message.at))
            waiting = {}
            continue
        if not found:
            found.append(Turn(message.number, "", "", message.at))
        turn = found[-1]
        if message.role is Role.SYSTEM:
            turn.notices.append(message.text)
        elif message.role is Role.TOOL:
            place = waiting.get(message.call_id)
            if place is not None:
                turn.calls[place] = replace(turn.calls[place], result=message.text)
        else:
            if message.said:
                turn.answer = "\n\n".join(filter(None, [turn.answer, message.said]))
            if thought := message.thought or ("" if message.said else message.text):
                turn.thoughts.append(thought)
            for call in message.calls:
                if call.name != SEND:
                    waiting[call.id] = len(turn.calls)
                    turn.calls.append(Call(call.id, call.name, call.arguments))
    return found


def written(arguments: Any) -> str:
    """Arguments as a person reads them: ``name: mother · page: 2``; anything but an object is shown as it is."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return visible(str(arguments))
    if not isinstance(arguments, Mapping):
        return visible(str(arguments))
    return " · ".join(f"{visible(str(name))}: {visible(str(value))}" for name, value in arguments.items())


def spoken(text: str) -> str:
    """What somebody said, line by line, without characters that hide or reorder the text around them."""
    return "\n".join(visible(line) for line in text.strip().splitlines())


def result(text: str) -> str:
    """The result of a call, as a person reads it: its message, and what was found, one line each."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return spoken(text)
    if not isinstance(body, Mapping):
        return spoken(text)
    status, message = (visible(str(body.get(name) or "")) for name in ("status", "message"))
    lines = [message or ("Done." if status == "OK" else status)]
    found = body.get("results")
    for item in found if isinstance(found, list) else []:
        if isinstance(item, Mapping):
            parts = [visible(str(item.get(name) or "")) for name in ("when", "source", "text")]
            lines.append(f"• {_day(parts[0])} · {parts[1]}: {parts[2]}")
    return "\n".join(line for line in lines if line)


def _day(when: str) -> str:
    """A time of a result in words; other values are shown as they are."""
    try:
        return exact(datetime.fromisoformat(when))
    except ValueError:
        return when


def recalled(hits: Sequence[Candidate]) -> pd.DataFrame:
    """Recalled memories with their weighted parts, the highest score first, numbered as an answer cites them."""
    numbers = {hit.entry.id: number for number, hit in enumerate(hits, start=1)}
    frame = candidates(hits)
    cited = [f"[{numbers[entry_id]}] {memory}" for entry_id, memory in zip(frame["id"], frame["memory"], strict=True)]
    return frame.assign(memory=cited)


def functions(called: Sequence[FunctionRun]) -> pd.DataFrame:
    """The functions called in a turn, in order, with what they cost."""
    rows = [
        {
            "function": visible(function_run.name),
            "arguments": written(function_run.arguments),
            "result": short(result(function_run.result), _RESULT),
            "time": function_run.milliseconds,
            "tokens": function_run.tokens,
            "failed": function_run.failed,
        }
        for function_run in called
    ]
    return pd.DataFrame(rows, columns=["function", "arguments", "result", "time", "tokens", "failed"])


def content(section: Section, actions: Sequence[Action] = ()) -> str:
    """What a section of a prompt says: its text, its messages with their senders, or what the agent can do."""
    if section.name == TOOLS:
        return "\n\n".join(map(_definition, (*DEFINITIONS, *(action.definition for action in actions))))
    lines = [section.text] if section.text else []
    for message in section.messages:
        calls = [f"{call.name}({written(call.arguments)})" for call in message.calls]
        text = " ".join(filter(None, [*calls, "" if message.sends else message.text]))
        lines.append(f"{message.speaker or message.role.value}: {text}")
    return "\n".join(map(spoken, lines))


def _definition(definition: Mapping[str, Any]) -> str:
    function = definition["function"]
    return f"{function['name']}({', '.join(function['parameters']['properties'])})\n{function['description']}"


def sections(context: Context) -> pd.DataFrame:
    """The sections of a prompt, in order, with the share of the budget that each part takes."""
    rows = [
        {
            "name": section.name,
            "section": TITLES.get(section.name, section.name),
            "tokens": section.tokens,
            "share": section.tokens / max(context.budget, 1),
            "text": content(section, context.actions),
        }
        for section in context.sections
    ]
    return pd.DataFrame(rows, columns=["name", "section", "tokens", "share", "text"])


def changed_sections(before: Context, after: Context) -> pd.DataFrame:
    """The sections of two prompts side by side: tokens in both, and whether the text is the same."""
    was, became = ({section.name: section for section in some.sections} for some in (before, after))
    rows = []
    for name in (name for name in TITLES if name in was or name in became):
        old, new = was.get(name), became.get(name)
        texts = [content(section, of.actions) if section else "" for section, of in ((old, before), (new, after))]
        tokens = [section.tokens if section else 0 for section in (old, new)]
        rows.append(
            {
                "section": TITLES[name],
                "first": tokens[0],
                "second": tokens[1],
                "difference": tokens[1] - tokens[0],
                "changed": texts[0] != texts[1],
                "before": texts[0],
                "after": texts[1],
            }
        )
    columns = ["section", "first", "second", "difference", "changed", "before", "after"]
    return pd.DataFrame(rows, columns=columns)


def transcript(text: str, at: datetime) -> list[Message]:
    """The messages in lines such as ``John: Good morning``; the first speaker is the person.

    A line without a name continues what was said before. Times are all ``at``.
    """
    found: list[tuple[str, str]] = []
    for line in filter(None, map(visible, text.splitlines())):
        name, colon, said = line.partition(":")
        if colon and said.strip() and len(name) <= _NAME:
            found.append((name.strip(), said.strip()))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line}")
        else:
            found.append(("You", line))
    person = found[0][0] if found else ""
    return [
        Message(number, Role.USER if name == person else Role.ASSISTANT, said, at, name)
        for number, (name, said) in enumerate(found)
    ]


def growth(names: Sequence[str], found: Sequence[Compared]) -> pd.DataFrame:
    """Tokens of each turn's prompt, one row per turn and strategy."""
    rows = [
        {"turn": turn, "strategy": name, "tokens": tokens}
        for name, run in zip(names, found, strict=True)
        for turn, tokens in enumerate(run.tokens, start=1)
    ]
    return pd.DataFrame(rows, columns=["turn", "strategy", "tokens"])


def fates(names: Sequence[str], found: Sequence[Compared]) -> pd.DataFrame:
    """Where the messages are at the end for each strategy, as counts, and how long its prompts were."""
    rows = [
        {
            "strategy": name,
            "last": run.tokens[-1] if run.tokens else 0,
            "most": max(run.tokens, default=0),
            **{fate.value: len(run.of(fate)) for fate in Fate},
        }
        for name, run in zip(names, found, strict=True)
    ]
    return pd.DataFrame(rows, columns=["strategy", "last", "most", *(fate.value for fate in Fate)])
