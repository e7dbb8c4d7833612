"""Strategies: how a conversation's past gets into the prompt, behind one interface.

``buffer``, ``window`` and ``summary`` are the conversational memories of Haystack's agents; ``virtual`` is MemGPT's
(arXiv 2310.08560). The original of ``summary`` appends a summary of the last turns to those before, so that it grows;
here the whole memory is summarised again, so that its length stays bounded.

Summarising: what leaves the prompt goes into a summary of bounded length.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..core.change_set import ModelCall
from ..errors import ModelError
from ..llm import LanguageModel, summarise
from ..llm.prompts import prompts_of
from ..llm.summarise import Line
from ..llm.tokens import estimate, first
from .context import Measure, groups, summary_room
from .talk import Message, Role, Strategy, Talk

Reader = Callable[[int], Message | None]
"""The message of a number; ``None`` if there is none, for example after a removal."""

_AHEAD = 2
"""How many budgets' worth of the past is read at most: older messages are not read, however long the talk."""
_MOST_READ = 2000


_WORDS = 0.6
"""Words per token, low enough that a summary of the requested number of words fits."""
_PART = 0.4
"""The share of the budget for one part of what is summarised, so that the request stays within the budget too."""
_LINE = 1500
"""How many tokens of one message are summarised; the rest of a longer one can only be found by search."""


@dataclass(frozen=True)
class Folded:
    """A new summary, the calls that made it, and what went wrong, in words."""

    text: str
    calls: tuple[ModelCall, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summariser:
    """Folds messages into a summary (MemGPT's recursive summary, arXiv 2310.08560, section 2.2).

    Args:
        who: the character in whose memory the conversation is.
        model: the model that summarises.
    """

    who: str
    model: LanguageModel

    def fold(self, talk: Talk, messages: Sequence[Message]) -> Folded:
        """The talk's summary with these messages in it, in no more tokens than ``summary_room``.

        If the model fails, the summary keeps its beginning, and the newest messages are quoted.
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
                notes.append(f"The summary was made by shortening, because the language model failed: {error}")
                summary = _by_cutting(summary, part, room)
            else:
                # the answer as it was parsed, so that a replay need not extract it from the model's reply again
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
    """A summary cut to its limit, at the end of a line or a word: models do not keep to a number of words."""
    if estimate(text) <= room:
        return text
    words = first(text, max(1, room - 2))
    lines, _, begun = words.rpartition("\n")
    if len(lines) > len(begun):  # half a line may be only a name, without what was said
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


@dataclass(frozen=True)
class Relief:
    """A talk whose queue has become shorter, and the calls of the model for that."""

    talk: Talk
    calls: tuple[ModelCall, ...]
    notes: tuple[str, ...]
    evicted: int


class Memorising(ABC):
    """One way of keeping a conversation's past."""

    def past(self, talk: Talk, read: Reader) -> tuple[Message, ...]:
        """The part of the past that belongs in the prompt, oldest first; only as much is read as may fit."""
        measure, left = Measure(talk.scale), _AHEAD * talk.budget
        found: list[Message] = []
        number = talk.next_number - 1
        while number >= self.since(talk) and left > 0 and len(found) < _MOST_READ:
            message = read(number)
            if message is not None:
                left -= measure.message(message)
                found.append(message)
            number -= 1
        found.reverse()
        while found and found[0].role is Role.TOOL:  # results whose call comes before
            found.pop(0)
        return tuple(found)

    @abstractmethod
    def since(self, talk: Talk) -> int:
        """The number of the first message that belongs in the prompt."""

    def relieved(self, talk: Talk, wanted: int, budget: int, summariser: Summariser) -> Relief | None:  # noqa: ARG002
        """The talk with a shorter queue, if the prompt would be too long; ``None`` if that stays as it is.

        Args:
            talk: the talk as it is now.
            wanted: how many tokens its prompt would have.
            budget: how many it may have.
            summariser: folds what is evicted.
        """
        return None

    def ended(self, talk: Talk, summariser: Summariser) -> Relief | None:  # noqa: ARG002
        """The talk after a step whose messages are in its queue; ``None`` if that stays as it is."""
        return None


class Buffer(Memorising):
    """Everything, as long as it fits."""

    def since(self, talk: Talk) -> int:  # noqa: ARG002, D102
        return 0


class Window(Memorising):
    """The last messages."""

    def since(self, talk: Talk) -> int:  # noqa: D102
        return max(0, talk.next_number - talk.settings.window)


class Summarised(Memorising):
    """A summary of everything, renewed every few turns, and what was said since."""

    def since(self, talk: Talk) -> int:  # noqa: D102
        return talk.summarised

    def relieved(self, talk: Talk, wanted: int, budget: int, summariser: Summariser) -> Relief | None:  # noqa: D102
        return evicted(talk, talk.queue, summariser) if wanted > budget and talk.queue else None

    def ended(self, talk: Talk, summariser: Summariser) -> Relief | None:  # noqa: D102
        turns = sum(message.role is Role.USER for message in talk.queue)
        return evicted(talk, talk.queue, summariser) if turns >= talk.settings.summary_frequency else None


class Virtual(Memorising):
    """A queue from which the oldest half goes into a recursive summary when the prompt is full."""

    def since(self, talk: Talk) -> int:  # noqa: D102
        return talk.summarised

    def relieved(self, talk: Talk, wanted: int, budget: int, summariser: Summariser) -> Relief | None:  # noqa: D102
        if wanted < talk.settings.evict_at * budget or not talk.queue:
            return None
        return evicted(talk, oldest_half(talk.queue), summariser)


STRATEGIES: Mapping[Strategy, Memorising] = {
    Strategy.BUFFER: Buffer(),
    Strategy.WINDOW: Window(),
    Strategy.SUMMARY: Summarised(),
    Strategy.VIRTUAL: Virtual(),
}


def oldest_half(queue: tuple[Message, ...]) -> tuple[Message, ...]:
    """The oldest messages that together have half of the queue's tokens, calls and their results together."""
    half, filled = sum(message.tokens for message in queue) / 2, 0
    found: list[Message] = []
    for group in groups(queue):
        if found and filled >= half:
            break
        found += group
        filled += sum(message.tokens for message in group)
    return tuple(found)


def evicted(talk: Talk, leaving: tuple[Message, ...], summariser: Summariser) -> Relief:
    """The talk with these messages, the oldest of its queue, in its summary instead."""
    notes: tuple[str, ...] = ()
    if (gap := leaving[0].number - talk.summarised) > 0 and talk.summarised + gap > 0:
        notes = (f"{gap:,} older messages were never in a summary; a search finds them.",)
    folded = summariser.fold(talk, leaving)
    after = replace(
        talk,
        summary=folded.text,
        summarised=leaving[-1].number + 1,
        queue=talk.queue[len(leaving) :],
        warned=False,
    )
    return Relief(after, folded.calls, (*notes, *folded.notes), len(leaving))
