"""What people have looked at of a world: what happened by itself, and the tour that a newcomer is offered."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from ..store.clock import read_seen, read_welcomed, write_seen, write_welcomed


class Seen:
    """The part of a world that remembers what has been looked at."""

    folder: Path

    @property
    def welcomed(self) -> bool:
        """Whether somebody has taken the dashboard's tour of this world, or wants none."""
        return read_welcomed(self.folder)

    def welcome(self, *, done: bool = True) -> None:
        """Say that the tour need not be offered any more, or that it is to be offered again."""
        write_welcomed(self.folder, welcomed=bool(done))

    @property
    def seen(self) -> datetime | None:
        """Up to when, in real time, somebody has looked at what happened by itself; ``None`` = nobody has."""
        return read_seen(self.folder)

    def mark_seen(self, at: datetime) -> None:
        """Say that somebody has looked at what happened by itself up to a real time; the World page tells the rest.

        Raises:
            InvalidParameter: the time has no zone.
        """
        write_seen(self.folder, at)
