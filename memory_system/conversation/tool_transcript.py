"""The transcript of tools: what a model asked of them and what it got, kept apart from every memory.

An agent that thinks with tools leaves more behind than what was said. None of it is a memory: it is held here, for as
long as its owner holds it, is never searched, and nothing of it reaches STM, LTM or a conversation.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class ToolUse:
    """One use of a tool.

    Args:
        name: of the tool.
        arguments: as the model wrote them.
        result: the text that the model got.
        failed: whether that text says what was wrong.
        milliseconds: how long it took.
    """

    name: str
    arguments: str
    result: str
    failed: bool
    milliseconds: float


class ToolTranscript:
    """The last uses of one or several tools, the oldest first. Thread-safe.

    Args:
        room: how many uses are held, at least 1; what was used longest ago leaves first.
    """

    def __init__(self, room: int = 1000) -> None:
        self._uses: deque[ToolUse] = deque(maxlen=max(1, room))
        self._lock = threading.Lock()

    def add(self, use: ToolUse) -> None:
        """Hold one more use."""
        with self._lock:
            self._uses.append(use)

    def __iter__(self) -> Iterator[ToolUse]:
        with self._lock:
            return iter(tuple(self._uses))

    def __len__(self) -> int:
        return len(self._uses)

    def __str__(self) -> str:
        """Each use with what came of it, for people."""
        return "\n".join(f"{use.name}({use.arguments})\n  {use.result}" for use in self)
