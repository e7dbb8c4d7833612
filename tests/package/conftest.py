"""What the tests of the package share: the wheel, built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.package.building import built


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist and the wheel."""
    return built(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="session")
def wheel(archives: tuple[Path, Path]) -> Path:
    """The wheel."""
    return archives[1]
