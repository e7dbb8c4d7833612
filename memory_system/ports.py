"""Where servers listen: how the place is told, and whether it is free, asked before they start."""

from __future__ import annotations

import socket

from .errors import Conflict


def refuse_busy(port: int, what: str, how: str, host: str = "127.0.0.1") -> None:
    """Do nothing if the port is free.

    Args:
        port: 1 to 65535.
        what: what wants it, such as "the dashboard".
        how: the option or variable that chooses another.
        host: the address to listen on.

    Raises:
        Conflict: something listens there, or we may not listen there, or this machine has no such address.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise Conflict(f"This machine has no address {host!r:.80}: {error.strerror}. Choose another.") from error
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise Conflict(
                f"Port {port}, where {what} is to be served, cannot be used ({error.strerror}). Is it running already? "
                f"Stop the other program, or choose another port with {how}."
            ) from error


def address(host: str, port: int) -> str:
    """A server's address, such as ``http://127.0.0.1:5000``."""
    return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{port}"
