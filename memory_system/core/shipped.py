"""Where the files that ship with the code are: at the top of a checkout, inside an installed package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "_shipped"
"""Where ``setup.py`` puts them in a wheel."""
STORY = "harrow_quay"
"""The sample story."""


def checkout(package: Path = _PACKAGE) -> Path | None:
    """The top folder of the checkout that this code runs from; ``None`` if the package is installed."""
    top = package.parent
    return top if (top / "pyproject.toml").is_file() and (top / "agent_personalities").is_dir() else None


def personalities(package: Path = _PACKAGE) -> Path:
    """The folder of the sample characters' personality files, and of their schema."""
    top = checkout(package)
    return package / _INSTALLED.name / "agent_personalities" if top is None else top / "agent_personalities"


def samples(package: Path = _PACKAGE) -> Path:
    """The folder of the sample story: what each character experienced, and what to ask them."""
    top = checkout(package)
    path = package / _INSTALLED.name / "samples" if top is None else top / "database" / "samples"
    return path / STORY
