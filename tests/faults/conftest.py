"""The short round and the long one: ``make test`` takes a part of the slow cases, ``make faults`` all of them.

What each test did to a store, and what that lost, is counted and printed as a table at the end of a round.
"""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_system import Settings
from memory_system.embedding.embedder import CachedEmbedder
from tests.faults.survivor import Survivor, prepare

SLOW = ("test_damaged_store.py", "test_doctor.py", "test_places.py")
_SHARE = 4
_COUNTED = "counted"
LOSSES = ("rows lost", "rows doubled", "half changes")

Counted = Callable[..., None]


def replace_by_folder(file: Path) -> None:
    """Put a folder where a file is, or is to be."""
    file.unlink(missing_ok=True)
    file.mkdir()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark three of four cases of the slow files, and of those on a server, always the same ones."""
    for item in items:
        elsewhere = "on a server" in item.name or (item.path.name == "test_kills.py" and "postgresql" in item.name)
        slow = item.path.name in SLOW or elsewhere
        if slow and zlib.crc32(item.name.encode()) % _SHARE:
            item.add_marker(pytest.mark.long)


@pytest.fixture
def counted(request: pytest.FixtureRequest) -> Counted:
    """Counts for the table: ``counted("kill -9 at random", done=1, acknowledged=12, **survivor.counts)``."""

    def count(what: str, done: int = 1, **numbers: int) -> None:
        request.node.user_properties.append((_COUNTED, {"what": what, "done": done, **numbers}))

    return count


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table of the round."""
    rows: dict[str, dict[str, int]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, told in report.user_properties:
                if name == _COUNTED:
                    row = rows.setdefault(told["what"], {})
                    for key in ("done", "acknowledged", *LOSSES):
                        row[key] = row.get(key, 0) + told.get(key, 0)
    if not rows:
        return
    terminalreporter.section("what was done to stores, and what was lost")
    columns = ("done", "acknowledged", *LOSSES)
    terminalreporter.write_line(f"| what | times | changes acknowledged | {' | '.join(LOSSES)} |")
    terminalreporter.write_line("|---|---:|---:|---:|---:|---:|")
    for what, row in sorted(rows.items()):
        terminalreporter.write_line(f"| {what} | {' | '.join(str(row[key]) for key in columns)} |")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Path:
    return prepare(tmp_path_factory.mktemp("prepared"), embedder)


@pytest.fixture(scope="module")
def before(prepared: Path, embedder: CachedEmbedder) -> Survivor:
    return Survivor(prepared, embedder)


@pytest.fixture
def root(prepared: Path, before: Survivor, tmp_path: Path, embedder: CachedEmbedder) -> Path:
    """A copy of the prepared world, to be damaged; on a server it becomes a copy once it has been opened."""
    shutil.copytree(prepared, tmp_path / "world")
    if Settings().chroma is not None:
        shutil.rmtree(tmp_path / "world/database/mem_test/mira/chroma")
        Survivor(tmp_path / "world", embedder)
    return tmp_path / "world"
