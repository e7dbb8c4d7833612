"""Where servers listen: the address, whether it is free, and which program uses it, checked before they start."""

from __future__ import annotations

import errno
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from ..errors import Conflict, shown

_LISTENS = "0A"
"""Linux's code for the state of a listening socket."""
_TRIES = 100


@dataclass(frozen=True)
class Holder:
    """A program that listens on a port.

    Args:
        process: its number.
        program: its name.
    """

    process: int
    program: str

    def __str__(self) -> str:
        return f"{self.program} (process {self.process})"


def refuse_busy(port: int, what: str, how: str, host: str = "127.0.0.1", *, but: int | None = None) -> None:
    """Raise unless the port is free.

    Args:
        port: 1 to 65535.
        what: what needs it, such as "the dashboard".
        how: how to choose another, with ``{port}`` in its place, such as ``--port {port}``.
        host: the address to listen on.
        but: a port not to suggest, since another server of the same start needs it.

    Raises:
        Conflict: something listens there, or we may not listen there, or this machine has no such address.
    """
    error = _why_not(port, host)
    if error is None:
        return
    cannot = f"Port {port}, where {what} is to be served, cannot be used"
    another = next_free(port, host, but=but)
    choose = how.format(port=another) if another else "another port"
    if error.errno != errno.EADDRINUSE:
        raise Conflict(f"{cannot} ({error.strerror}). Choose another with {choose}.") from error
    who = holder(port) or "another program"
    raise Conflict(f"{cannot}: {who} listens there. Stop it, or take the next free port with {choose}.") from error


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether one may listen on a port.

    Raises:
        Conflict: this machine has no such address.
    """
    return _why_not(port, host) is None


def next_free(port: int, host: str = "127.0.0.1", *, but: int | None = None) -> int | None:
    """The next port after this one that is free; ``None`` if none of the next hundred is.

    Args:
        port: 1 to 65535.
        host: the address to listen on.
        but: a port not to return, since another server of the same start needs it.

    Raises:
        Conflict: this machine has no such address.
    """
    following = range(port + 1, min(port + _TRIES, 65535) + 1)
    return next((other for other in following if other != but and is_free(other, host)), None)


def holder(port: int) -> Holder | None:
    """The program that listens on a port of this machine, if the system says: Linux does, for one's own programs."""
    inodes = _listening(port)
    if not inodes:
        return None
    for process in sorted(
        (path for path in Path("/proc").iterdir() if path.name.isdecimal()), key=lambda path: int(path.name)
    ):
        try:
            links = {str(path.readlink()) for path in (process / "fd").iterdir()}
            if links & inodes:
                return Holder(int(process.name), _called(process))
        except OSError:  # it has ended, or it is somebody else's
            continue
    return None


def _called(process: Path) -> str:
    """The name of a process: its module if Python runs one, otherwise its program."""
    words = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\x00")
    name = words[words.index("-m") + 1] if "-m" in words[1:-1] else Path(words[0]).name
    shown = name if name and name.isprintable() else (process / "comm").read_text(encoding="utf-8", errors="replace")
    return "".join(sign for sign in shown.strip() if sign.isprintable())[:60]


def _listening(port: int) -> set[str]:
    """The sockets that listen on a port, as a process's open files name them."""
    found = set()
    for table in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            words = line.split()
            if words[3] == _LISTENS and int(words[1].rpartition(":")[2], 16) == port:
                found.add(f"socket:[{words[9]}]")
    return found


def _why_not(port: int, host: str) -> OSError | None:
    """The system's reason against listening there.

    Raises:
        Conflict: this machine has no such address.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise Conflict(f"This machine has no address {shown(host)}: {error.strerror}. Choose another.") from error
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if sys.platform != "win32":  # on Windows it would let two programs listen on one port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise Conflict(
                    f"This machine has no address {shown(host)}, so nothing can be served there: MEMORY_HOST or --host "
                    "has to name one that it has, such as 127.0.0.1, or 0.0.0.0 for all of them."
                ) from error
            return error
    return None


def address(host: str, port: int) -> str:
    """A server's address, such as ``http://127.0.0.1:5000``."""
    return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{port}"
