"""A designer brings a file of another program, sees what each line becomes, takes it in, and takes it back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system.embedding.embedder import CachedEmbedder
from tests import materials, sample_world

from .conftest import Dashboard, served, settled

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Dashboard]:
    """A world of its own."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    folder = tmp_path_factory.mktemp("material")
    with served(sample_world.copy(template, folder / "world"), folder / "serve.log") as running:
        yield running


def test_a_file_with_bad_lines_is_looked_at_taken_in_and_taken_back(own: Dashboard, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(materials.LANGCHAIN, encoding="utf-8")
    own.show(page, "short_term", agent="edda")
    page.get_by_role("tab", name=words.A_FILE).click()
    page.get_by_test_id("stFileUploader").filter(has_text=words.BRING_A_FILE).locator("input").set_input_files(
        str(file)
    )
    expect(page.get_by_text("2 memories · 1 left out.")).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("link", name=words.DOWNLOAD_LEFT_OUT).click()
    assert "line 2" in Path(download.value.path()).read_text(encoding="utf-8")
    page.get_by_role("button", name=words.PREVIEW_THE_IMPORT).click()
    settled(page)
    page.get_by_role("button", name=words.TAKE_IT_IN).click()
    settled(page)
    expect(page.get_by_text("Applied: Import notes.jsonl: 2 memories.")).to_be_visible()
    page.get_by_role("button", name="Undo").first.click()
    settled(page)
    expect(page.get_by_text("Undone: Import notes.jsonl: 2 memories")).to_be_visible()
