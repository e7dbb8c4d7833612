"""Whether a port is free, asked before a server starts, so that the answer is a sentence."""

from __future__ import annotations

import socket

from .errors import Conflict


def refuse_busy(port: int, what: str, how: str) -> None:
    """Do nothing if the port on 127.0.0.1 is free.

    Args:
        port: 1 to 65535.
        what: what wants it, such as "the dashboard".
        how: the option or variable that chooses another.

    Raises:
        Conflict: something listens there, or we may not listen there.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise Conflict(
                f"Port {port}, where {what} is to be served, cannot be used ({error.strerror}). Is it running already? "
                f"Stop the other program, or choose another port with {how}."
            ) from error
