"""Ports for servers of tests, which nothing else on this machine is given before the server listens."""

from __future__ import annotations

import secrets
import socket

_LOWEST, _HIGHEST = 20_000, 32_000
"""Below those that a system gives to whoever asks for any port, or calls somebody: 32,768 and above."""
_reserved: list[socket.socket] = []
"""Open until this process ends."""


def free_port() -> int:
    """A port on which nothing listens; no other test is given it as long as this process runs.

    The port of UDP with the same number, which no server needs, is what reserves it between processes.
    """
    while True:
        port = _LOWEST + secrets.randbelow(_HIGHEST - _LOWEST)
        reserved = socket.socket(type=socket.SOCK_DGRAM)
        try:
            reserved.bind(("127.0.0.1", port))
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            reserved.close()
        else:
            _reserved.append(reserved)
            return port
