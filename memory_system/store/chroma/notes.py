"""ChromaNotes: the notes with an agent's store: who wrote last, who owns it, what made its vectors.

A stamp next to the store says which process wrote it last, and for which revision of the journal.
"""

from __future__ import annotations

import threading
import uuid
from contextlib import AbstractContextManager
from pathlib import Path

from ...core.files import replace_text
from .location import MADE_WITH, OWNER, Home

_NAME = "generation"


def read(folder: Path) -> tuple[str, int]:
    """The token of the process that last claimed the store in this folder, and the revision that it claimed it for.

    An empty text and 0 if it was never claimed.
    """
    try:
        words = folder.with_name(_NAME).read_text(encoding="ascii", errors="replace").split()
    except FileNotFoundError:
        return "", 0
    return (words or [""])[0], int(words[1]) if len(words) == 2 and words[1].isdecimal() else 0


def write(folder: Path, token: str, revision: int) -> None:
    """Stamp the store in this folder; a kill between two steps leaves the previous stamp."""
    replace_text(folder.with_name(_NAME), f"{token} {revision}")


_LEFT = "left_at"


class ChromaNotes:
    """The part of a store that reads and writes its notes."""

    def __init__(self, folder: Path, home: Home) -> None:
        self.folder = folder
        self._home = home
        self._lock = threading.RLock()
        self._token = uuid.uuid4().hex

    # -- what ChromaStore does -------------------------------------------------------------------------

    def reopen(self) -> None:
        """Drop the client."""
        raise NotImplementedError

    def settle(self) -> None:
        """Finish what another process, or an error, interrupted."""
        raise NotImplementedError

    def _used(self, *, opens: bool = True) -> AbstractContextManager[None]:
        """Use the client alone; opens it, unless the operation does not need one in files."""
        raise NotImplementedError

    # -- next to the agent's folder ---------------------------------------------------------------------

    def claim(self, revision: int = 0, *, as_left: bool = False) -> None:
        """Claim a coming write for this process, after taking note of what another process wrote.

        An open client does not see another process's writes, and its own next write would lose them. The
        caller holds the agent's file lock, and has the revision in its journal. With ``as_left`` the files are as they
        were left, and there is no check for interrupted work.
        """
        with self._lock:
            self._home.prepare()
            token, claimed = read(self.folder)
            if token not in ("", self._token):
                self.reopen()
            if token != self._token and not as_left:
                self.settle()
            write(self.folder, self._token, max(revision, claimed))

    def see_others(self) -> None:
        """Make the next call see what other processes wrote, if anything."""
        with self._lock:
            if read(self.folder)[0] not in ("", self._token):
                self.reopen()

    @property
    def claimed(self) -> int:
        """The newest revision that a write was claimed for; a journal that is older has lost something."""
        return read(self.folder)[1]

    def begin_again(self, revision: int) -> None:
        """Accept the journal at this revision as complete, whatever was claimed before."""
        with self._lock:
            write(self.folder, self._token, revision)

    # -- with the collections --------------------------------------------------------------------------

    @property
    def made_with(self) -> str | None:
        """The identity of what made the stored vectors; ``None`` if it was not noted."""
        return self._noted(MADE_WITH)

    @property
    def owner(self) -> str | None:
        """The owner of the collections on a server; ``None`` if there is none yet, or if they are files."""
        return self._noted(OWNER)

    @property
    def left_at(self) -> str | None:
        """The state of the journal when the collections on a server were last released."""
        return self._noted(_LEFT)

    def _noted(self, key: str) -> str | None:
        with self._used(opens=False):
            return self._home.noted().get(key)

    def note_embedder(self, identity: str) -> None:
        """Note what makes the stored vectors."""
        if self.made_with != identity:
            self._note(**{MADE_WITH: identity})

    def note_owner(self, owner: str) -> None:
        """Note on a server who owns the collections."""
        self._note(**{OWNER: owner})

    def note_left(self, state: str) -> None:
        """Note on a server the state of the journal when the collections are released."""
        self._note(**{_LEFT: state})

    def _note(self, **notes: str) -> None:
        with self._used(opens=False):
            self._home.note(**notes)
