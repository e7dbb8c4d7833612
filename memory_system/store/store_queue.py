"""Changes in the journal that the store has yet to take in: in the background, together, and in the journal's order.

No query depends on the store, and whatever it lacks is in the journal, not marked done: after a kill, opening the
agent writes it. So nobody who changes something needs to wait for it, and many small changes cost one write.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from typing import NamedTuple

from ..core.change_set import Change, ChangeSet
from ..core.memory import Vectors
from ..errors import AgentGone, MemorySystemError, StoreDamaged
from .journal.journal import Journal, content_hash
from .soon import Soon

DELAY_SECONDS = 0.25
"""How long the store may be behind the journal while nothing else is done."""
CROWDED_SECONDS = 300.0
"""The same where more agents are written in turn than may have their stores open, so that each opening pays."""
AT_ONCE = 16
"""Changes that the store takes in while others wait: some 20 ms, too short for a game to notice."""
EASING_AT_ONCE = 32
"""The same while adding changes waits for it: a row in a write of 32 takes two thirds of one in a write of 16."""
BREATH_SECONDS = 0.01
"""The least pause of the background between two writes: longer than others wait before they try again.

It pauses for as long as the write took, since Chroma lets no other Python thread run within it.
"""
MOST_AT_ONCE = 256
"""Changes that it takes in at once while a caller waits for all of them."""
MOST_ASLEEP = 48
"""Changes that the store may lack for longer, if the agent is asleep or stores are crowded out."""
MANY = 2_000
"""Waiting changes beyond which adding some makes as many be taken in, so that an agent without pauses pays its way."""
MOST = 50_000
"""The most changes that may wait; beyond that, adding one waits until all are taken in."""
TOGETHER = 1_024
"""Changes that are combined: a memory that changes again before the store has taken it in is written once."""
UNTIDY = 1_000
"""Changes that are taken in before tidying begins although more wait: some never stop arriving."""


class Part(NamedTuple):
    """Some changes of one change set.

    Args:
        revision: its number.
        changes: the changes.
        vectors: the vectors, shape (d,), of its texts, by content hash.
        last: whether these complete the change set.
    """

    revision: int
    changes: Sequence[Change]
    vectors: Mapping[str, Vectors]
    last: bool


class _Net:
    """The net effect of the first waiting parts, one change per memory; the store takes it in bit by bit.

    Once begun it stays unchanged until all of it is taken in: before that it is unknown what the store holds of it.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.vectors = {key: vector for part in parts for key, vector in part.vectors.items()}
        came: dict[str, Change] = {}
        for change in (change for part in parts for change in part.changes):
            first = came.get(change.entry_id, change)
            came[change.entry_id] = Change(first.before, change.after, change.reason)
        self.left = deque(change for change in came.values() if change.before or change.after)


class StoreQueue:
    """The change sets that are committed and shown, but not yet in the store.

    Args:
        take_in: makes the store take in changes, their vectors, and their newest revision; can be repeated.
        tidy: makes the store do a part of its tidying once it has taken in everything; returns whether that is all.
        settle: makes the agent's only writer call ``settle`` for about so many changes, for the background.
        report: called with a sentence about what could not be taken in; it stays in the queue for the next writer.
        is_crowded_out: returns whether opening the store would close another agent's.
    """

    def __init__(
        self,
        take_in: Callable[[Sequence[Change], Mapping[str, Vectors], int], None],
        tidy: Callable[[], bool],
        settle: Callable[[int], bool],
        report: Callable[[str], None],
        is_crowded_out: Callable[[], bool],
    ) -> None:
        self._take_in, self._tidy = take_in, tidy
        self._is_crowded_out = is_crowded_out
        self._settle = settle
        self._report = report
        self._lock = threading.Lock()
        self._parts: deque[Part] = deque()
        self._net: _Net | None = None
        self._soon = Soon(self._in_background)
        self._untidy = 0  # changes that were taken in since everything was tidied
        self._count = 0  # changes that are waiting
        self._seen = 0  # up to this revision everything pending in the journal was found waiting here
        self.stuck = False
        """Whether the last attempt failed."""

    def __len__(self) -> int:
        """How many changes are waiting."""
        return self._count

    def may_wait(self, journal: Journal) -> bool:
        """Whether little is waiting, and it is all that the journal has pending, so that the next opening can go on."""
        little = not (self.stuck or self._untidy or self._net) and len(self) <= MOST_ASLEEP
        return little and self.revisions == journal.pending_revisions()

    def has_all_pending(self, journal: Journal) -> bool:
        """Whether everything pending in the journal is waiting here; what was checked is not checked again.

        Nothing old becomes pending: what is new has a higher revision.
        """
        later = journal.pending_revisions(self._seen)
        with self._lock:
            new = takewhile(lambda part: part.revision > self._seen, reversed(self._parts))
            if not later <= {part.revision for part in new}:
                return False
        self._seen = max(later, default=self._seen)
        return True

    @property
    def must_settle(self) -> bool:
        """Whether the next writer has to wait until the store has taken in what it lacks."""
        return self.stuck or len(self) > MOST

    @property
    def revisions(self) -> frozenset[int]:
        """The numbers of the waiting change sets."""
        with self._lock:
            return frozenset(part.revision for part in self._parts)

    def add(self, applied: ChangeSet, vectors: Mapping[str, Vectors]) -> None:
        """Have the store take in a change set within its delay; the caller is the agent's only writer."""
        changes, starts = applied.changes, range(0, len(applied.changes), AT_ONCE) or range(1)
        for start in starts:
            some = changes[start : start + AT_ONCE]
            hashes = [content_hash(change.after.document) for change in some if change.after is not None]
            of_some = {key: vectors[key] for key in hashes if key in vectors}
            with self._lock:
                self._parts.append(Part(applied.number, some, of_some, last=start == starts[-1]))
                self._count += len(some)
        may_wait = len(self) <= MOST_ASLEEP and self._is_crowded_out()
        self._soon.begin(CROWDED_SECONDS if may_wait else DELAY_SECONDS)

    def taken_in(self, revision: int, journal: Journal, *, tidy: bool) -> None:
        """Note that the store took in a change set at once; any tidying follows in the background."""
        with suppress(StoreDamaged):  # the disk is full: the change is permanent, and the next write does it again
            journal.mark_done(revision)
        if not tidy:
            self._untidy += 1
            self._soon.begin(DELAY_SECONDS)

    def take_up(self, change_sets: Iterable[ChangeSet], vectors: Mapping[str, Vectors]) -> None:
        """Continue what another process left: as ``add``, for each."""
        for change_set in change_sets:
            self.add(change_set, vectors)

    def ease(self, added: int) -> None:
        """If many are waiting, make the store take in about as many as the caller added, 256 at most, a few at a time.

        What it cannot take in keeps waiting, and the next writer is notified.
        """
        with suppress(MemorySystemError):
            for _ in range(0, min(added, MOST_AT_ONCE), EASING_AT_ONCE):
                if len(self) <= MANY or self._settle(EASING_AT_ONCE):
                    break

    def settle(self, journal: Journal, most: int | None = None) -> bool:
        """Make the store take in everything that is waiting, or about ``most`` changes; return whether nothing is left.

        The caller is the agent's only writer. What another process has taken in meanwhile is skipped.

        Raises:
            StoreError: it cannot be written; the rest keeps waiting.
        """
        if not self._parts:
            return self._tidied(most)
        pending = journal.pending_revisions()
        with self._lock:
            if any(part.revision not in pending for part in self._parts):
                self._parts, self._net = deque(part for part in self._parts if part.revision in pending), None
                self._count = sum(len(part.changes) for part in self._parts)
        self.stuck = True
        while self._parts:
            net = self._net = self._net or _Net(self._first(TOGETHER))
            some = list(islice(net.left, most or MOST_AT_ONCE))
            if some:
                self._untidy += len(some)
                self._take_in(some, net.vectors, net.parts[-1].revision)
            for _ in some:
                net.left.popleft()
            if not net.left:
                self._done(net.parts, journal)
            if most is not None:
                break
        self.stuck = False
        if self._parts and self._untidy < UNTIDY:
            return False
        return self._tidied(most) and not self._parts

    def _tidied(self, most: int | None) -> bool:
        while self._untidy:
            if self._tidy():
                self._untidy = 0
            if most is not None:
                break
        return not self._untidy

    def _first(self, most: int) -> list[Part]:
        some: list[Part] = []
        with self._lock:
            for part in self._parts:
                most -= len(part.changes)
                if some and most < 0:
                    break
                some.append(part)
        return some

    def _done(self, parts: Sequence[Part], journal: Journal) -> None:
        self._net = None
        with self._lock:
            for part in parts:
                self._parts.popleft()
                self._count -= len(part.changes)
        seen, self._seen = self._seen, 0  # if one cannot be marked done, it is checked again
        for part in parts:
            if part.last:
                journal.mark_done(part.revision)
        self._seen = seen

    def forget(self) -> None:
        """Drop everything: it was taken in by other means."""
        with self._lock:
            self._parts.clear()
            self._count = self._seen = 0
        self._net = None
        self._soon.cancel()
        self.stuck = False

    def settle_at_exit(self) -> None:
        """As in the background, for a program that ends without closing: a failure is reported in a sentence."""
        self._settle_all(lambda _seconds: None, lambda sentence: sys.stderr.write(f"{sentence}\n"))

    def _in_background(self) -> None:
        self._settle_all(lambda seconds: time.sleep(max(BREATH_SECONDS, seconds)), self._report)

    def _settle_all(self, pause: Callable[[float], None], tell: Callable[[str], object]) -> None:
        try:
            begun = time.perf_counter()
            while not self._settle(AT_ONCE):
                pause(time.perf_counter() - begun)
                begun = time.perf_counter()
        except AgentGone:  # it was deleted or is in other hands, and with it what it lacked
            self.forget()
        except MemorySystemError as error:
            tell(self._sentence(error))

    def _sentence(self, error: MemorySystemError) -> str:
        return (
            f"The store does not hold the newest changes yet. {error.sentence} The journal has them, and it takes them "
            "in at the next write."
        )
