"""A designer checks the world, makes a backup, restores it and goes back, on a world of two characters of its own."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system.embedding.embedder import CachedEmbedder
from tests import sample_world

from .conftest import Dashboard, served, settled
from .hands import press, said, write

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Dashboard]:
    """A dashboard on Mira and Tobias alone."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    folder = tmp_path_factory.mktemp("safekeeping")
    places = sample_world.copy(template, folder / "world", ["mira", "tobias"])
    with served(places, folder / "serve.log") as running:
        yield running


def _size(page: Page, dashboard: Dashboard) -> str:
    dashboard.show(page, "settings", agent="mira")
    return page.get_by_label(words.SHORT_TERM_SIZE, exact=True).first.input_value()


def test_all_is_checked_and_a_backup_made_taken_away_restored_and_undone(
    page: Page, own: Dashboard, tmp_path: Path
) -> None:
    own.show(page, "installation", agent="mira", part="safety")
    expect(page.get_by_text("Journals and stores are in order.")).to_be_visible()
    press(page, words.MAKE_A_BACKUP)
    said_made = page.get_by_test_id("stAlert").filter(has_text="Made and read back: 2 characters")
    expect(said_made).to_be_visible()
    settled(page)
    download = page.get_by_role("link", name="Download it").first
    address = download.get_attribute("href")
    with page.expect_download() as taken:
        page.get_by_role("button", name=words.CHECK_EVERYTHING).click()
        download.click()  # while the page is drawn again
    taken.value.save_as(tmp_path / "taken.zip")
    expect(page.get_by_text(words.NOTHING_IS_WRONG)).to_be_visible()
    assert download.get_attribute("href") == address
    with zipfile.ZipFile(tmp_path / "taken.zip") as zipped:
        assert "agents/mira/journal.sqlite3" in zipped.namelist()
    before = _size(page, own)
    write(page, words.SHORT_TERM_SIZE, "37")
    press(page, "Save")
    said(page, "Saved.")
    own.show(page, "installation", agent="mira", part="safety")
    press(page, words.RESTORE_IT)
    restored = page.get_by_test_id("stAlert").filter(has_text=words.RESTORED_WORLD_OF)
    expect(restored).to_be_visible()
    assert _size(page, own) == before
    own.show(page, "installation", agent="mira", part="safety")
    press(page, words.PUT_BACK)
    said(page, words.WORLD_AS_IT_WAS)
    assert _size(page, own) == "37"
