"""How many of Chroma's clients are open in this process at once.

An embedded client holds about 15 files and 10 MB, and is needed only while something is written. An agent that nobody
writes to does without: its store gives its client up when others need one, and makes a new one at its next use.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol


class Guest(Protocol):
    """What may hold a client open."""

    def give_up(self) -> bool:
        """Close the client if nobody uses it now; answers whether it is closed."""


class Crowd:
    """Who has a client, the one that was used longest ago first.

    Args:
        most: how many may have one; more do only while all of them are in use.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._inside: OrderedDict[Guest, None] = OrderedDict()

    def used(self, guest: Guest) -> None:
        """Note that a guest uses its client; who has not used its own for longest gives it up if there are too many."""
        with self._lock:
            self._inside[guest] = None
            self._inside.move_to_end(guest)
            surplus = [one for one in list(self._inside)[: -self._most] if one is not guest]
        for one in surplus:
            if one.give_up():
                self.left(one)

    def left(self, guest: Guest) -> None:
        """Note that a guest has no client any more."""
        with self._lock:
            self._inside.pop(guest, None)
