"""A probe of Chroma's store in a process of its own: a damaged index can crash the process that opens it, or hang it.

The probe reads, queries and writes a copy, since some damage shows only at the next write.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ...errors import ForeignStore

SECONDS = 20.0
"""How long a probe may take, and a second more for every 20 MB; it takes one or two."""
_BYTES_A_SECOND = 20_000_000
_LOOK_SECONDS = 0.5
_WAITS = "RD"
"""The states of a process that has work to do, and waits for a processor or for a disk."""
_MOST_TIMES = 15
"""How many times as long a probe may take where other programs leave it no time."""


def probe(folder: Path, *, seconds: float = SECONDS, copied: bool = False) -> str | None:
    """What is wrong with Chroma's store, in a few words; ``None`` if it can be read, queried and written.

    Args:
        folder: Chroma's folder; it is not changed.
        seconds: the limit, for a small store.
        copied: whether this is a copy already, which may be written to.

    Raises:
        ForeignStore: it was made by something else, and was not touched.
    """
    with tempfile.TemporaryDirectory(prefix="memory-probe-", ignore_cleanup_errors=True) as scratch:
        copy = folder
        if not copied:
            copy = Path(scratch) / folder.name
            try:
                shutil.copytree(folder, copy)
            except (OSError, shutil.Error):
                return None  # no room for a copy: what is wrong shows when it is used
        size = sum(file.stat().st_size for file in copy.glob("**/*") if file.is_file())
        return _ask(copy, seconds + size / _BYTES_A_SECOND)


def _waited_for(child: subprocess.Popen[str], seconds: float) -> tuple[str, str] | None:
    """What the child said, or ``None`` if it hung, and was killed.

    It hangs when it has computed for so many seconds, or neither computed nor waited for the computer for so long. One
    that other programs leave no time to is waited for: a busy machine is no damage.
    """
    began = moved = time.monotonic()
    spent = 0.0
    while True:
        try:
            return child.communicate(timeout=_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            now, (used, waits) = time.monotonic(), _computed(child.pid)
            if used > spent or waits:
                spent, moved = used, now
            if spent > seconds or now - moved > seconds or now - began > _MOST_TIMES * seconds:
                child.kill()
                child.communicate()
                return None


def _computed(pid: int) -> tuple[float, bool]:
    """How many seconds a process has computed, and whether it waits for its turn; nothing where it cannot be told."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK"), told[0] in _WAITS
    except (OSError, ValueError, IndexError):
        return 0.0, False


def _started(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-P", str(Path(__file__).with_name("probe_alone.py")), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


def _ask(folder: Path, seconds: float) -> str | None:
    with _started(folder) as child:
        heard = _waited_for(child, seconds)
    if heard is None:
        return f"Chroma hung for {seconds:.0f} seconds"
    out, problems = heard
    if child.returncode < 0:
        return f"Chroma crashed ({signal.Signals(-child.returncode).name})"
    try:
        told = json.loads(out.splitlines()[-1])
    except (ValueError, IndexError):
        last = (problems.strip().splitlines() or ["no word"])[-1]
        return f"Chroma failed ({last[:200]})"
    if told.get("foreign"):
        raise ForeignStore(str(told["foreign"]).replace(str(folder), folder.name))
    return str(told["problem"])[:300] if told.get("problem") else None
