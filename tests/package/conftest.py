"""What the tests of the package share: archives and the image, made once per run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.package.building import build
from tests.package.image import Container
from tests.sample_world import made_once, shared_folder


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist and the wheel."""
    made = made_once(shared_folder(tmp_path_factory), "package", build)
    (sdist,) = (made / "sdist").glob("*.tar.gz")
    (wheel,) = (made / "wheel").glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="session")
def wheel(archives: tuple[Path, Path]) -> Path:
    """The wheel."""
    return archives[1]


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The package index; these tests are skipped if it cannot be reached, unless this is CI."""
    target = str(tmp_path_factory.mktemp("asked"))
    asked = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir", "-d", target, "filelock"]
    done = subprocess.run(asked, capture_output=True, check=False)
    if done.returncode and os.environ.get("CI") != "true":
        pytest.skip("The package index cannot be reached.")


@pytest.fixture(scope="session")
def container(index: None, tmp_path_factory: pytest.TempPathFactory) -> Container:
    """The result of the Dockerfile's steps, with all extras."""
    if shutil.which("sh") is None or os.name != "posix":
        pytest.skip("The steps are those of a POSIX shell.")
    return Container(made_once(shared_folder(tmp_path_factory), "image", _build))


def _build(root: Path) -> None:
    Container(root, build=True)
