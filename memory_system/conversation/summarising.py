"""Summarising: what leaves the prompt goes into a summary that never grows, whatever is put into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..core.change_set import ModelCall
from ..errors import ModelError
from ..llm import LanguageModel, summarise
from ..llm.prompts import prompts_of
from ..llm.summarise import Line
from ..llm.tokens import estimate, first
from .context import summary_room
from .talk import Message, Role, Talk

_WORDS = 0.6
"""Words to a token: so many are asked for as surely have room."""
_PART = 0.4
"""The share of the budget that one part of what is summarised has, so that asking stays within the budget too."""
_LINE = 1500
"""Tokens of one message that are summarised; the rest of a longer one is found by search only."""


@dataclass(frozen=True)
class Folded:
    """A new summary, what was asked to make it, and what went wrong, in words."""

    text: str
    calls: tuple[ModelCall, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summariser:
    """Folds messages into a summary (MemGPT's recursive summary, arXiv 2310.08560, section 2.2).

    Args:
        who: the character in whose memory the conversation is.
        model: what summarises.
    """

    who: str
    model: LanguageModel

    def fold(self, talk: Talk, messages: Sequence[Message]) -> Folded:
        """The talk's summary with these messages in it, in no more tokens than ``summary_room``.

        Where the model does not help, the summary keeps its beginning, and the newest of what was said is quoted.
        """
        room = summary_room(talk)
        words = min(max(int(room * _WORDS), summarise.FEWEST_WORDS), summarise.MOST_WORDS)
        lines = lines_of(talk, messages)
        summary, calls, notes = talk.summary, list[ModelCall](), list[str]()
        for part in summarise.parts(lines, int(talk.budget * _PART), estimate):
            task = summarise.fold(self.who, summary, part, words, talk.settings.template)
            task = task.worded(prompts_of(self.model))
            try:
                done = self.model.complete(task)
            except ModelError as error:
                calls.append(ModelCall(task.name, self.model.name, task.prompt(), "", 0.0, error=error.sentence))
                notes.append(f"The summary was made by cutting, since the language model did not help: {error}")
                summary = _by_cutting(summary, part, room)
            else:
                # the answer as it was read, so that a replay need not find it in a model's chatter again
                calls.append(replace(done.call, answer=done.answer.model_dump_json()))
                summary = _whole(done.answer.summary, room)
        return Folded(summary, tuple(calls), tuple(notes))


def lines_of(talk: Talk, messages: Sequence[Message]) -> list[Line]:
    """What was said in the messages; functions and notices are left out."""
    found = []
    for message in messages:
        if message.said:
            words = first(message.said, min(_LINE, int(talk.budget * _PART) - 40))
            found.append(Line(message.speaker or "?", words, message.role is Role.USER, message.at))
    return found


def _whole(text: str, room: int) -> str:
    """A summary cut to its room, at the end of a line or a word: models do not keep to a number of words."""
    if estimate(text) <= room:
        return text
    words = first(text, max(1, room - 2))
    lines, _, begun = words.rpartition("\n")
    if len(lines) > len(begun):  # half a line may be a name and no word of what was said
        return lines
    return f"{(words.rsplit(maxsplit=1)[0] if ' ' in words else words).rstrip('…')}…"


def _by_cutting(summary: str, part: Sequence[Line], room: int) -> str:
    kept = _whole(summary, room // 2) if summary else ""
    left = room - estimate(kept) - 2
    quoted: list[str] = []
    for line in reversed(part):
        text = f"{line.speaker}: {_whole(line.text, 40)}"
        left -= estimate(text) + 2
        if left < 0:
            break
        quoted.append(text)
    return _whole("\n".join(filter(None, [kept, *reversed(quoted)])) or "…", room)
