"""Copies an agent's files while it is in use; the caller holds the agent's lock, so that nobody changes them.

The files are read by another process. SQLite's locks belong to the process: if one that has the journal open opens
and closes the file itself, it loses its lock, and the next program that ends deletes the log it still writes to. What
is written then is lost, though it was acknowledged. Recalls are noted without the agent's lock, so the journal is
copied by SQLite's own backup, which shows one moment.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..core.files import is_full
from .chroma.files import wipe_spare

STORE = "chroma"
_CHILD = Path(__file__).with_name("copying_child.py")
_SECONDS = 3600.0
"""Long enough for any working disk."""
DERIVED = ("*.table", "closed.json", "opened.json")
"""Files that opening an agent recreates."""
SET_ASIDE = ("*-damaged-*", "*-replaced-*", "*.part")
"""Files that are not part of an agent: damaged ones, and those interrupted while being written."""


def copy(folder: Path, target: Path, *, left_out: Sequence[str] = SET_ASIDE) -> None:
    """Copy an agent's folder, except its lock and a journal that is elsewhere (see ``JournalHome.copy_into``).

    A journal that SQLite cannot read is copied as a file.

    Args:
        folder: the agent's; nothing in it is changed.
        target: where the copy goes; it must not exist yet.
        left_out: patterns of names that are not copied.

    Raises:
        OSError: something cannot be read or written.
    """
    command = [sys.executable, "-I", "-S", str(_CHILD), str(folder), str(target), *left_out]
    try:
        done = subprocess.run(  # noqa: S603 - our own script
            command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(None, f"copying took longer than {_SECONDS:.0f} seconds", str(folder)) from error
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [""])[-1]
        number, _, why = said.partition(" ")
        if not number.isdigit():  # it was killed
            raise OSError(None, said or f"the copying ended with {done.returncode}", str(folder))
        failed = OSError(int(number) or None, why, str(folder))
        if is_full(failed):  # the disk of the copy
            failed.filename = None
        raise failed
    wipe_spare(target / STORE)
