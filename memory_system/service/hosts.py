"""Under which names a server answers, and which pages may ask it: the guard against other names for this machine."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from ..access import is_this_machine
from ..settings import Settings

_LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]", "testserver"})


@dataclass(frozen=True)
class Hosts:
    """The names of one server.

    Args:
        names: those that it answers to, in small letters, without ports.
        numbers: whether it answers to any address in digits too. A page cannot be led to another server by those: that
            takes a name whose address can be changed.
    """

    names: frozenset[str] = _LOCAL
    numbers: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those that the installation's settings give."""
        added = {name.strip().lower() for name in settings.hosts.split(",")} - {""}
        if is_this_machine(settings.host):
            return cls(_LOCAL | added)
        return cls(_LOCAL | added | {settings.host.lower(), socket.gethostname().lower()}, numbers=True)

    def answers(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name = _without_port(host).lower()
        return name in self.names or (self.numbers and _is_number(name))

    def plain(self) -> Iterable[str]:
        """The names as Streamlit's ``server.allowedHosts`` takes them, which knows only what it is told."""
        return ["*"] if self.numbers else sorted(name.strip("[]") for name in self.names)


def from_elsewhere(headers: dict[bytes, bytes]) -> bool:
    """Whether a page of another server asks: its browser names that in ``Origin``, or calls the request cross-site."""
    host = headers.get(b"host", b"").decode("latin-1").lower()
    origin = headers.get(b"origin")
    if origin is not None:
        return _host_of(origin.decode("latin-1")) != host
    site, mode = headers.get(b"sec-fetch-site", b""), headers.get(b"sec-fetch-mode", b"")
    return site == b"cross-site" and mode != b"navigate"  # a link from elsewhere may be followed


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _without_port(host: str) -> str:
    return host[: host.rindex("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
