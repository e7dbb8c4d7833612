"""The peers' own virtual environment: made on first use next to the project, and the benchmark started again in it.

Needs nothing but Python's own library, since it runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-peers"
_LISTS = (ROOT / "requirements.txt", Path(__file__).with_name("requirements.txt"))
_BARE = Path(__file__).with_name("requirements-bare.txt")

SINGLE = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
"""One thread for every product of matrices, ours and theirs; read when numpy is first imported."""
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "MEM0_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "HF_HUB_OFFLINE": "1",
    "PYTHONWARNINGS": "ignore",
}
"""Settings that switch off telemetry."""


def inside() -> bool:
    """Whether this is the peers' environment, with one thread."""
    return Path(sys.prefix).resolve() == FOLDER and all(os.environ.get(name) == "1" for name in SINGLE)


def enter(module: str, arguments: Sequence[str]) -> None:
    """Replace this process with the same module in the peers' environment, which is made if it is missing."""
    python = _made()
    environment = os.environ | SINGLE | QUIET
    os.chdir(ROOT)
    os.execve(python, [str(python), "-m", module, *arguments], environment)  # noqa: S606 - no shell


def _made() -> Path:
    python = FOLDER / "bin" / "python"
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in (*_LISTS, _BARE))).hexdigest()
    stamp = FOLDER / "installed"
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"Installing the peers into {FOLDER.name} (1.3 GB, a few minutes the first time) ...", file=sys.stderr)
    if not python.exists() or subprocess.call([str(python), "-c", "import pip"], stderr=subprocess.DEVNULL):
        venv.create(FOLDER, with_pip=True, clear=True, symlinks=True)
    (FOLDER / ".gitignore").write_text("*\n")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    lists = [part for path in _LISTS for part in ("-r", str(path))]
    for command in ([*pip, *lists], [*pip, "--no-deps", "-r", str(_BARE)]):
        if subprocess.call(command):
            sys.exit("The peers could not be installed. Check that the package index can be reached, then try again.")
    stamp.write_text(wanted)
    return python
