"""Strategies: how a conversation's past gets into the prompt, behind one interface.

``buffer``, ``window`` and ``summary`` are the conversational memories of Haystack's agents; ``virtual`` is MemGPT's
(arXiv 2310.08560). The original of ``summary`` appends a summary of the last turns to those before, so that it grows;
here the whole memory is summarised again, so that its length stays bounded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..core.change_set import ModelCall
from .context import Measure, groups
from .summarising import Summariser
from .talk import Message, Role, Strategy, Talk

Reader = Callable[[int], Message | None]
"""The message of a number; ``None`` where there is none, as after a removal."""

_AHEAD = 2
"""So many budgets of the past are read at most: what is older is not looked at, however long the talk."""
_MOST_READ = 2000


@dataclass(frozen=True)
class Relief:
    """A talk whose queue has become shorter, and what was asked of the model for that."""

    talk: Talk
    calls: tuple[ModelCall, ...]
    notes: tuple[str, ...]
    evicted: int


class Memorising(ABC):
    """One way of keeping a conversation's past."""

    def past(self, talk: Talk, read: Reader) -> tuple[Message, ...]:
        """What of the past belongs into the prompt, oldest first; only so much is read as may have room."""
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
        while found and found[0].role is Role.TOOL:  # results whose call lies before
            found.pop(0)
        return tuple(found)

    @abstractmethod
    def since(self, talk: Talk) -> int:
        """The number of the first message that belongs into the prompt."""

    def relieved(self, talk: Talk, wanted: int, budget: int, summariser: Summariser) -> Relief | None:  # noqa: ARG002
        """The talk with a shorter queue, if the prompt would be too long; ``None`` if that stays as it is.

        Args:
            talk: the talk as it stands.
            wanted: tokens that its prompt would have.
            budget: tokens that it may have.
            summariser: folds what is evicted.
        """
        return None

    def ended(self, talk: Talk, summariser: Summariser) -> Relief | None:  # noqa: ARG002
        """The talk after a step whose messages are in its queue; ``None`` if that stays as it is."""
        return None


class Buffer(Memorising):
    """Everything, for as long as it has room."""

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
