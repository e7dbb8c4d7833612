"""Folders are listed whole, or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from memory_system import Settings, World
from memory_system.core import files
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidFile, StoreError
from memory_system.interfaces.cli import remembering
from memory_system.maintenance import backup, backup_reading
from memory_system.world import folders


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders that cannot be listed, as if the user had no permission for them."""
    refused: list[Path] = []
    list_folder = os.scandir

    def scandir(folder: Any = ".") -> Any:
        if not isinstance(folder, int) and Path(folder) in refused:
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return list_folder(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    return refused


def test_what_matches_is_listed_in_order(tmp_path: Path) -> None:
    for name in ("b.zip", ".a.zip", "c.txt"):
        (tmp_path / name).touch()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "e.zip").touch()
    (tmp_path / "d" / "link").symlink_to(tmp_path)
    assert files.within(tmp_path, "*.zip") == [tmp_path / ".a.zip", tmp_path / "b.zip"]
    assert files.within(tmp_path)[-1] == tmp_path / "d"
    assert files.below(tmp_path) == [tmp_path / name for name in (".a.zip", "b.zip", "c.txt", "d/e.zip")]


@pytest.mark.parametrize("name", ["nowhere", "file", "a\0b"])
def test_where_there_is_no_folder_there_is_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    assert files.within(tmp_path / name) == files.below(tmp_path / name) == []


def test_a_folder_that_cannot_be_read_is_not_empty(tmp_path: Path, unreadable: list[Path]) -> None:
    (tmp_path / "in").mkdir()
    unreadable.append(tmp_path / "in")
    with pytest.raises(PermissionError):
        files.within(tmp_path / "in")
    with pytest.raises(PermissionError):
        files.below(tmp_path)
    assert files.size_of(tmp_path) == 0


def test_a_world_that_cannot_be_read_does_not_look_empty(
    settings: Settings, embedder: CachedEmbedder, unreadable: list[Path]
) -> None:
    with World(settings, embedder=embedder) as world:
        world.create_agent("mira").add_short_term({"document": "She swept the yard.", "rating": 3})
        unreadable.append(world.folder)
        for attempt in (world.agents, lambda: backup.make(world)):
            with pytest.raises(StoreError, match="Give the user who runs this program permission"):
                attempt()
        unreadable.clear()
        assert world.agents() == ["mira"]
        unreadable.append(world.settings.backup_folder)
        world.settings.backup_folder.mkdir(exist_ok=True)
        with pytest.raises(StoreError, match="The backups cannot be used"):
            backup_reading.stored(world.settings.backup_folder)


def test_a_world_opens_in_a_folder_that_cannot_be_listed(
    settings: Settings, embedder: CachedEmbedder, unreadable: list[Path]
) -> None:
    with World(settings, embedder=embedder) as world:
        world.create_agent("mira")
        (world.folder.parent / ".backup-1").mkdir()
    unreadable.append(world.folder.parent)
    with World(settings, embedder=embedder) as world:
        assert world.cut_off == ()
        assert world.agents() == ["mira"]


def test_a_bin_and_a_persona_that_cannot_be_read_are_named(
    settings: Settings, embedder: CachedEmbedder, unreadable: list[Path], tmp_path: Path
) -> None:
    with World(settings, embedder=embedder) as world:
        world.create_agent("mira")
        world.delete_agent("mira")
        unreadable.append(world.folder / folders.BIN)
        with pytest.raises(StoreError, match="The bin cannot be used: Permission denied"):
            folders.in_bin(world.folder)
    (tmp_path / "persona" / "memories").mkdir(parents=True)
    unreadable.append(tmp_path / "persona" / "memories")
    with pytest.raises(InvalidFile, match="cannot be read: Permission denied"):
        remembering.whole_file(str(tmp_path / "persona"))
