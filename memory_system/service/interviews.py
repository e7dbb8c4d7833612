"""Interviews that go on over several requests: kept in memory for a while, and nowhere else."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..conversation import Interview
from ..entry import new_id
from ..errors import ConversationNotFound, shown

SECONDS = 3600.0
MOST = 200


@dataclass
class _Held:
    agent: str
    interview: Interview
    until: float
    turn: threading.Lock = field(default_factory=threading.Lock)


class Interviews:
    """Interviews by id. Thread-safe; the oldest give way to the new.

    Args:
        seconds: how long one is kept after its last question.
        most: how many are kept.
        clock: seconds that only go forward.
    """

    def __init__(self, seconds: float = SECONDS, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._most, self._clock = most, clock
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, agent: str, interview: Interview) -> str:
        """Keep a new one; answers its id."""
        with self._lock:
            name = new_id()
            self._held[name] = _Held(agent, interview, self._clock() + self.seconds)
            self._tidy()
            return name

    @contextmanager
    def going_on(self, agent: str, name: str) -> Iterator[Interview]:
        """One that waits, for the next question; another question at the same moment waits until this one is answered.

        Raises:
            ConversationNotFound: there is none of this id, or no longer.
        """
        with self._lock:
            self._tidy()
            held = self._held.get(name)
            if held is None or held.agent != agent:
                raise ConversationNotFound(
                    f"There is no interview {shown(name)} here; one is kept for {self.seconds / 60:.0f} minutes after "
                    "its last question. Begin another."
                )
        with held.turn:
            yield held.interview
        with self._lock:
            held.until = self._clock() + self.seconds
            if name in self._held:
                self._held.move_to_end(name)

    def _tidy(self) -> None:
        now = self._clock()
        for name, one in list(self._held.items()):
            if one.until > now and len(self._held) <= self._most:
                break
            del self._held[name]
