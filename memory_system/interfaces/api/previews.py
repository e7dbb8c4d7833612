"""Previews: change sets that were shown and wait to be applied, kept in memory for a while."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass

from ...core.change_set import ChangeSet
from ...errors import ChangeSetNotFound, Conflict

SECONDS = 3600.0
MOST, MOST_CHANGES = 1000, 250_000


@dataclass
class _Waiting:
    agent: str
    planned: ChangeSet
    until: float
    refused: frozenset[str] = frozenset()
    done: ChangeSet | None = None


class Previews:
    """Waiting change sets by id. Thread-safe; the oldest give way to the new.

    Args:
        seconds: how long one is kept.
        most: how many are kept.
        most_changes: how many memories they may touch together.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        seconds: float = SECONDS,
        most: int = MOST,
        most_changes: int = MOST_CHANGES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self._most, self._most_changes, self._clock = most, most_changes, clock
        self._held: OrderedDict[str, _Waiting] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, agent: str, planned: ChangeSet) -> None:
        """Keep a change set that was shown; the newest is kept whatever its size."""
        with self._lock:
            self._held[planned.id] = _Waiting(agent, planned, self._clock() + self.seconds)
            self._tidy()

    def get(self, agent: str, preview_id: str) -> ChangeSet:
        """The change set of this id, unapplied or applied.

        Raises:
            ChangeSetNotFound: it was never shown, or too long ago.
        """
        with self._lock:
            waiting = self._waiting(agent, preview_id)
            return waiting.done or waiting.planned

    def drop(self, agent: str, preview_id: str) -> None:
        """Forget one.

        Raises:
            ChangeSetNotFound: it was never shown, or too long ago.
        """
        with self._lock:
            self._waiting(agent, preview_id)
            del self._held[preview_id]

    def apply(
        self, agent: str, preview_id: str, refused: Collection[str], carry_out: Callable[[ChangeSet], ChangeSet]
    ) -> ChangeSet:
        """Carry one out, without the memories that were refused. Asked again for the same, it answers what was done.

        Raises:
            ChangeSetNotFound: it was never shown, or too long ago.
            Conflict: it has been applied with other memories refused.
            MemorySystemError: what ``carry_out`` raises; it can then be tried again.
        """
        wanted = frozenset(refused)
        with self._lock:
            waiting = self._waiting(agent, preview_id)
            if waiting.done is not None:
                if waiting.refused != wanted:
                    raise Conflict("This preview has been applied already, with another choice. Preview it anew.")
                return waiting.done
        done = carry_out(waiting.planned.without(wanted) if wanted else waiting.planned)
        with self._lock:
            waiting.refused, waiting.done = wanted, done
        return done

    def _waiting(self, agent: str, preview_id: str) -> _Waiting:
        self._tidy()
        waiting = self._held.get(preview_id)
        if waiting is None or waiting.agent != agent:
            raise ChangeSetNotFound(
                f"No preview of this id waits here; one is kept for {self.seconds / 60:.0f} minutes. Preview it anew."
            )
        return waiting

    def _tidy(self) -> None:
        now, touched = self._clock(), sum(len(one.planned.changes) for one in self._held.values())
        for key, one in list(self._held.items()):
            if one.until > now and len(self._held) <= self._most and touched <= self._most_changes:
                break
            if one.until > now and len(self._held) == 1:
                break
            touched -= len(one.planned.changes)
            del self._held[key]
