"""The stamp beside an agent's store: which process wrote it last, and for which revision of the journal."""

from __future__ import annotations

from pathlib import Path

from .files import replace_text

_NAME = "generation"


def read(folder: Path) -> tuple[str, int]:
    """The token of the process that last claimed the store in this folder, and the revision that it claimed it for.

    Empty and 0 where it was never claimed.
    """
    try:
        words = folder.with_name(_NAME).read_text(encoding="ascii", errors="replace").split()
    except FileNotFoundError:
        return "", 0
    return (words or [""])[0], int(words[1]) if len(words) == 2 and words[1].isdecimal() else 0


def write(folder: Path, token: str, revision: int) -> None:
    """Stamp the store in this folder; a kill between two steps leaves the stamp that was there."""
    replace_text(folder.with_name(_NAME), f"{token} {revision}")
