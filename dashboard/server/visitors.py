"""Who is signed in to the dashboard: the owner of a browser's cookie, stored only in this process."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from memory_system import Settings
from memory_system.world import Door, Role

COOKIE = "memory-visitor"
SECONDS, MOST = 12 * 3600.0, 10_000
"""How long an inactive visitor stays signed in, and how many may be signed in at once."""


@dataclass
class _Visit:
    role: Role
    until: float


@dataclass
class Visitors:
    """The visits to one dashboard. Thread-safe.

    Args:
        door: the valid passwords.
        clock: seconds.
        demo: whether the sample world is shown to everybody, with a notice that says so.
    """

    door: Door
    clock: Callable[[], float] = time.monotonic
    demo: bool = False
    _visits: OrderedDict[bytes, _Visit] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sign_in(self, password: str, address: str) -> str | None:
        """The cookie of somebody who knows a password; ``None`` if it is wrong.

        Raises:
            TooMany: too many wrong ones came from this address recently.
        """
        role = self.door.role(password, address)
        if role is None:
            return None
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            self._visits[_key(cookie)] = _Visit(role, self.clock() + SECONDS)
            while len(self._visits) > MOST:
                self._visits.popitem(last=False)
        return cookie

    def sign_out(self, cookie: str) -> None:
        """Make a cookie invalid from now on, in every window that sends it."""
        with self._lock:
            self._visits.pop(_key(cookie), None)

    def role(self, cookie: str | None) -> Role | None:
        """What the owner of a cookie may do; ``None`` if they have to sign in."""
        if not self.door.locked:
            return self.door.most
        key, now = _key(cookie or ""), self.clock()
        with self._lock:
            visit = self._visits.get(key)
            if visit is None or visit.until < now:
                self._visits.pop(key, None)
                return None
            visit.until = now + SECONDS
            self._visits.move_to_end(key)
            return visit.role

    def signed_in(self, cookie: str | None) -> bool:
        """Whether the owner of a cookie may view pages; this does not keep an inactive visitor signed in."""
        if not self.door.locked:
            return self.door.most is not None
        with self._lock:
            visit = self._visits.get(_key(cookie or ""))
            return visit is not None and visit.until >= self.clock()


def _key(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).digest()  # looked up by it, so that timing reveals nothing


@cache
def visitors() -> Visitors:
    """The visitors of this process's dashboard, with the environment's passwords until ``serve`` sets others."""
    return Visitors(Door.of_dashboard(Settings()))
