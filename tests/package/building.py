"""The package built from a copy of the checkout, without a network, as ``pip wheel`` builds it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.conftest import ROOT

LEFT_OUT = {".git", ".venv", ".venv-audit", ".venv-peers", "build", "dist", "__pycache__"}


def copied(target: Path) -> Path:
    """A copy of the checkout without what was built, installed or filled there."""

    def ignored(folder: str, names: list[str]) -> set[str]:
        if Path(folder) == ROOT / "database":
            return set(names) - {"samples", "README.md"}
        return {name for name in names if name in LEFT_OUT or name.endswith((".egg-info", "_cache", ".pyc"))}

    shutil.copytree(ROOT, target, ignore=ignored)
    return target


def build(folder: Path) -> None:
    """Make the sdist of a copy of the checkout, and the wheel that is built from that sdist alone."""
    source = copied(folder / "checkout")
    _backend("build_sdist", source, folder / "sdist")
    (sdist,) = (folder / "sdist").iterdir()
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    _backend("build_wheel", unpacked, folder / "wheel")


def _backend(what: str, source: Path, target: Path) -> None:
    target.mkdir()
    code = f"import sys; from setuptools import build_meta; build_meta.{what}(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(target)], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
