"""Who may do what at a server: the secrets that prove it, the roles they give, and who has to wait after wrong ones."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from pydantic import SecretStr

from ..core.settings import Settings
from ..errors import InvalidParameter, TooMany, shown

SHORTEST = {"PASSWORD": 8, "TOKEN": 16}
"""How many characters a secret must have: fewer for people, who type theirs, than for programs."""
_FREE, _LONGEST_WAIT, _FORGOTTEN, _MOST_ADDRESSES = 5, 60.0, 900.0, 10_000


class Role(StrEnum):
    """What somebody may do: a viewer can look, a curator can also change things."""

    CURATOR = "curator"
    VIEWER = "viewer"


@dataclass
class _Failures:
    count: int = 0
    until: float = 0.0
    last: float = 0.0


class Throttle:
    """Makes an address wait that has sent wrong secrets: after five, 1 second, then 2, 4, ... at most a minute.

    A right one in between does not shorten the wait, or somebody with the viewer's secret could guess the curator's for
    ever. Attempts older than a quarter of an hour are dropped; at most 10,000 addresses are stored. Thread-safe.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._lock = threading.Lock()
        self.noted: Callable[[float], object] = lambda _until: None
        """Called with the time, by ``clock``, until which an address has to wait."""

    def wait(self, address: str) -> float:
        """Seconds that an address has to wait before its next secret is checked; 0 = none."""
        with self._lock:
            failures = self._failures.get(_who(address))
            return max(0.0, failures.until - self._clock()) if failures else 0.0

    def failed(self, address: str) -> None:
        """Note that an address came with a wrong secret."""
        now, who = self._clock(), _who(address)
        with self._lock:
            failures = self._failures.pop(who, None)
            if failures is None or now - failures.last > _FORGOTTEN:
                failures = _Failures()
            failures.count, failures.last = failures.count + 1, now
            if failures.count >= _FREE:
                failures.until = now + min(2.0 ** min(failures.count - _FREE, 10), _LONGEST_WAIT)
            self._failures[who] = failures
            while len(self._failures) > _MOST_ADDRESSES:
                self._failures.popitem(last=False)
            self.noted(failures.until)


def _who(address: str) -> str:
    """What has to wait: an address or, for IPv6, the network of the many addresses that one machine has."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address[:100]
    if ip.version == 6:
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)


@dataclass(frozen=True)
class Door:
    """The way into one server.

    Args:
        secrets: digests of the secrets, with the role that each gives; empty = everybody may come in.
        most: the most that anybody may do.
        throttle: who has to wait.
    """

    secrets: tuple[tuple[bytes, Role], ...] = ()
    most: Role = Role.CURATOR
    throttle: Throttle = field(default_factory=Throttle)

    @classmethod
    def of(cls, settings: Settings, curator: SecretStr | None, viewer: SecretStr | None) -> Self:
        """The door that these secrets open."""
        pairs = ((curator, Role.CURATOR), (viewer, Role.VIEWER))
        secrets = tuple((_digest(_text_of(secret)), role) for secret, role in pairs if _text_of(secret))
        return cls(secrets, Role(settings.role))

    @classmethod
    def of_dashboard(cls, settings: Settings) -> Self:
        """The dashboard's, opened by passwords."""
        return cls.of(settings, settings.password, settings.viewer_password)

    @classmethod
    def of_api(cls, settings: Settings) -> Self:
        """The HTTP API's, opened by tokens."""
        return cls.of(settings, settings.token, settings.viewer_token)

    @property
    def locked(self) -> bool:
        """Whether a secret is required at all."""
        return bool(self.secrets)

    def role(self, secret: str, address: str) -> Role | None:
        """What somebody at ``address`` with this secret may do; ``None`` if it is wrong.

        Raises:
            TooMany: wrong ones came from there recently; the sentence says how long to wait.
        """
        if (seconds := self.throttle.wait(address)) > 0:
            raise TooMany(f"Wrong secrets came from your address. Try again in {seconds:.0f} seconds.")
        found = self._given_by(secret)
        if found is None:
            self.throttle.failed(address)
        return found

    def opens(self, secret: str) -> bool:
        """Whether a secret is right, for callers that count wrong ones themselves."""
        return self._given_by(secret) is not None

    def _given_by(self, secret: str) -> Role | None:
        digest, found = _digest(secret), None
        for right_digest, role in self.secrets:  # all are compared, so that the time taken says nothing
            if hmac.compare_digest(right_digest, digest):
                found = self.at_most(role)
        return found

    def at_most(self, role: Role) -> Role:
        """A role, limited to what this server allows."""
        return Role.VIEWER if Role.VIEWER in (role, self.most) else role


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _text_of(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""


def is_this_machine(host: str) -> bool:
    """Whether an address can be reached only from this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def refuse_unsafe(settings: Settings, *, dashboard: bool, api: bool) -> None:
    """Raise unless the servers may be started with these settings.

    Args:
        settings: the installation's.
        dashboard: whether the dashboard is served.
        api: whether the HTTP API is served.

    Raises:
        InvalidParameter: other machines could come in without a secret, or a secret is too short. The
            sentence names the variable, never its value.
    """
    variables = {
        "MEMORY_PASSWORD": settings.password,
        "MEMORY_VIEWER_PASSWORD": settings.viewer_password,
        "MEMORY_TOKEN": settings.token,
        "MEMORY_VIEWER_TOKEN": settings.viewer_token,
    }
    secrets = {name: _text_of(secret) for name, secret in variables.items() if _text_of(secret)}
    for name, secret in secrets.items():
        least = SHORTEST[name.rpartition("_")[2]]
        if len(secret) < least:
            raise InvalidParameter(f"{name} is too short: {least} characters at least keep guessers out.")
    for kind in ("PASSWORD", "TOKEN"):
        if (both := secrets.get(f"MEMORY_{kind}")) and both == secrets.get(f"MEMORY_VIEWER_{kind}"):
            raise InvalidParameter(f"MEMORY_{kind} and MEMORY_VIEWER_{kind} are the same; a viewer needs another one.")
    if is_this_machine(settings.host):
        return
    servers = (("the dashboard", "PASSWORD") if dashboard else None, ("the HTTP API", "TOKEN") if api else None)
    for what, kind in filter(None, servers):
        if not {f"MEMORY_{kind}", f"MEMORY_VIEWER_{kind}"} & set(secrets):
            raise InvalidParameter(
                f"MEMORY_HOST is {shown(settings.host)}, where other machines reach {what}, so it is not served "
                f"without a secret. Set MEMORY_{kind} ({SHORTEST[kind]} characters or more), or leave MEMORY_HOST at "
                "127.0.0.1."
            )
