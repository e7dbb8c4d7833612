"""A world pack: the whole sample world goes into one file and comes out of it equal, as its page says."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_system import Settings, Tier, World
from memory_system.embedding.embedder import Embedder
from memory_system.maintenance import backup, restore
from memory_system.operations.exporting import Form
from tests import sample_world
from tests.conftest import ROOT


@pytest.fixture
def harrow_quay(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """A copy of the sample world."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    for name, value in sample_world.copy(template, tmp_path / "world").items():
        monkeypatch.setenv(name, value)
    with World(Settings(), embedder=embedder) as world:
        yield world


@pytest.mark.full
def test_a_whole_sample_world_exported_and_imported_into_an_empty_folder_compares_equal(
    harrow_quay: World, tmp_path: Path, embedder: Embedder
) -> None:
    pack = tmp_path / "harrow.zip"
    assert backup.make(harrow_quay, pack) is not None
    elsewhere = Settings(database=tmp_path / "empty", personalities=tmp_path / "people", llm="offline")
    with World(elsewhere, embedder=embedder) as other:
        assert restore.restore(other, pack, new_world=True) is not None
        assert other.stored() == harrow_quay.stored()
        assert (other.clock(), other.about) == (harrow_quay.clock(), harrow_quay.about)
        for name in harrow_quay.stored():
            one, copy = harrow_quay.agent(name), other.agent(name)
            assert [copy.entries(tier) for tier in Tier] == [one.entries(tier) for tier in Tier]
            assert copy.contents.texts() == one.contents.texts()
            assert [told.change_set for told in copy.history(10_000)] == [
                told.change_set for told in one.history(10_000)
            ]
            assert copy.export_as(Form.JSONL) == one.export_as(Form.JSONL)
    page = (ROOT / "docs" / "world_pack.md").read_text(encoding="utf-8")
    with zipfile.ZipFile(pack) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    rows = re.findall(r"^\| (`.*?) \|", page.partition("`manifest.json` is UTF-8")[2], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(manifest)
    assert manifest["format"] in page
    assert {name.partition("/")[0] for name in manifest["files"]} <= set(re.findall(r"^\| `(\w+)/", page, re.MULTILINE))
