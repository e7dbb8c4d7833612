"""The journals of a world: in each agent's folder, or on the PostgreSQL server of ``MEMORY_JOURNAL_URL``."""

from __future__ import annotations

import threading
from pathlib import Path

from pydantic import SecretStr

from .journal_home import FileHome, JournalHome
from .journal_moving import ServerHome
from .journal_postgres import Server


class Journals:
    """Tells where the journal of an agent is. Thread-safe; a server is not reached before it is needed.

    Args:
        url: the address of a PostgreSQL database; ``None`` = each agent's journal is a file in its folder.
        durability: what a commit survives, ``full`` or ``normal``.
    """

    def __init__(self, url: SecretStr | None = None, durability: str = "full") -> None:
        self._url = url or None  # nothing is set by an empty text, too
        self._durability = durability
        self._server: Server | None = None
        self._lock = threading.Lock()

    def of(self, folder: Path) -> JournalHome:
        """Where the journal of the agent in this folder is.

        Raises:
            InvalidParameter: the url is none.
            StoreError: what the folder says of its journal cannot be read.
        """
        if self._url is None:
            return FileHome(folder, self._durability)
        with self._lock:
            if self._server is None:
                self._server = Server(self._url, self._durability)
            return ServerHome(folder, self._server)

    def close(self) -> None:
        """Let go of the server; it is reached anew if it is needed again."""
        with self._lock:
            if self._server is not None:
                self._server.close()
                self._server = None
