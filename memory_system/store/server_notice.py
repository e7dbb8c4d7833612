"""The lease of a world: a note by the server that serves it, so that opening the world in another process warns.

Two processes may write one world; each sees what the other did. But a game that shares a machine with the server is
quicker and simpler as its client, and people who open the folder may not know that it is in use. The note is a file
next to the world's folder, with a lock that is held as long as the server runs: the system releases it however the
server ends, so that a leftover note is known to be stale.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

_PATIENCE = 2.0
"""Seconds for which a server waits while another process checks whether the last note is stale."""
_MOST_BYTES = 10_000


class ServedElsewhere(UserWarning):
    """Another process serves the world that is opened; both may be used, but the server's client may be better."""


@contextmanager
def served(world: Path, address: str) -> Iterator[bool]:
    """Announce to everybody who opens a world that this process serves it, for as long as this lasts.

    Args:
        world: the world's folder.
        address: where the server is.

    Yields:
        Whether the note could be made: not if another server has made one, or the folder cannot be written. Nothing
        else depends on it.
    """
    lock = FileLock(_lock(world), timeout=_PATIENCE, thread_local=False)  # any thread may let go of it
    is_ours = False
    try:
        with suppress(OSError, Timeout):
            world.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
            is_ours = True
            _note(world).write_text(json.dumps({"address": address, "process": os.getpid()}) + "\n", encoding="utf-8")
        yield is_ours
    finally:
        if is_ours:
            with suppress(OSError):
                _note(world).unlink(missing_ok=True)
            lock.release()


def server_of(world: Path) -> str | None:
    """The address of the server in another process that serves a world; ``None`` if there is none."""
    try:
        body = json.loads(_note(world).read_bytes()[:_MOST_BYTES])
        address, process = str(body["address"]), int(body["process"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    if process == os.getpid():
        return None
    lock = FileLock(_lock(world), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        return address if address.isprintable() else None
    except OSError:
        return None
    lock.release()  # nobody holds it: the note was left by a server that was killed
    return None


def warn_if_served(world: Path, stacklevel: int = 3) -> None:
    """Warn when opening a world that another process serves, and name the server's client."""
    address = server_of(world)
    if address is not None:
        warnings.warn(
            f"The world {world.name!r} is served by another process at {address}. Both may be used; but its client "
            f"is quicker to start and shares what is kept in memory there: from memory_system.interfaces.client import "
            f"RemoteWorld; RemoteWorld({address!r}).",
            ServedElsewhere,
            stacklevel=stacklevel,
        )


def _note(world: Path) -> Path:
    return world.with_name(f".{world.name}-served.json")


def _lock(world: Path) -> Path:
    return world.with_name(f".{world.name}-served.lock")
