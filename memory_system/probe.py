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
from pathlib import Path

from .errors import ForeignStore

SECONDS = 20.0
"""How long a probe may take, and a second more for every 20 MB; it takes one or two."""
_BYTES_A_SECOND = 20_000_000


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


def _ask(folder: Path, seconds: float) -> str | None:
    package = Path(__file__).resolve().parent
    paths = [str(package.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", f"{package.name}.probe_child", str(folder)]
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
    except subprocess.TimeoutExpired:
        return f"Chroma hung for {seconds:.0f} seconds"
    if done.returncode < 0:
        return f"Chroma crashed ({signal.Signals(-done.returncode).name})"
    try:
        told = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return f"Chroma failed ({last[:200]})"
    if told.get("foreign"):
        raise ForeignStore(str(told["foreign"]).replace(str(folder), folder.name))
    return str(told["problem"])[:300] if told.get("problem") else None
