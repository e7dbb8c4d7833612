"""A designer brings a story in: a table and dated lines, seen before they are kept; and what comes of them later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system import Tier
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.interfaces.client import RemoteWorld
from memory_system.operations.importing.dates import READ_AS_UTC
from memory_system.operations.summarisation import MARKED
from tests import sample_world
from tests.browser.conftest import Dashboard, served, settled
from tests.browser.hands import column, open_tab, paste, press, tick

pytestmark = pytest.mark.browser

TABLE = "sep=;\nEvent;Importance;Weather\nA crow sat on the mill;0,7;clear\nThe ferry was late;0,4;fog\n"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Dashboard]:
    """A dashboard of these tests' own: what others change would be news here."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    folder = tmp_path_factory.mktemp("import")
    with served(sample_world.copy(template, folder / "world"), folder / "serve.log") as running:
        yield running


def test_a_spreadsheets_file_is_read_with_its_importance(own: Dashboard, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    file.write_bytes(TABLE.encode("utf-16"))
    own.show(page, "short_term", agent="edda")
    open_tab(page, words.MANY_EVENTS)
    page.locator("input[type=file]").set_input_files(str(file))
    told = page.get_by_text("The column 'Importance' is read as the importance, on the scale 0.1 to 1.0.")
    expect(told).to_be_visible()
    expect(page.get_by_text("Kept as metadata: weather.")).to_be_visible()
    settled(page)
    press(page, words.REMEMBER_THESE)
    expect(page.get_by_text("2 events remembered").first).to_be_visible()


@pytest.mark.full
def test_pasted_lines_show_their_dates_and_ask_what_is_open(own: Dashboard, page: Page) -> None:
    paste(page, own, "edda", "03/04/2026 The nets were mended\nAnd hung up to dry")
    expect(page.get_by_text("is read as 3 April 2026, the day first; nothing in the text shows")).to_be_visible()
    expect(page.get_by_text(READ_AS_UTC)).to_be_visible()
    page.get_by_role("radio", name="the month first").click()
    settled(page)
    expect(page.get_by_text("is read as 4 March 2026, the month first, as chosen.")).to_be_visible()
    press(page, words.REMEMBER_THESE)
    expect(page.get_by_text("2 events remembered").first).to_be_visible()


@pytest.mark.full
def test_the_moment_before_a_change_opens_and_still_shows_it(own: Dashboard, page: Page) -> None:
    own.show(page, "history", agent="edda")
    tick(page, 0)
    title = page.get_by_role("heading", level=2).first.inner_text()
    press(page, words.MOMENT_BEFORE, exact=False)
    expect(page.get_by_test_id("stAlert").filter(has_text=words.STILL_TO_COME)).to_be_visible()
    expect(page.get_by_role("heading", name=title, exact=True).first).to_be_visible()
    page.reload()  # the link leads there too
    settled(page)
    expect(page.get_by_test_id("stAlert").filter(has_text=words.STILL_TO_COME)).to_be_visible()
    press(page, words.BACK_TO_NOW)
    expect(page.get_by_test_id("stAlert").filter(has_text=words.STILL_TO_COME)).to_have_count(0)
    expect(page.get_by_role("heading", name=title, exact=True).first).to_be_visible()


@pytest.mark.full
def test_a_cue_saved_in_a_part_of_the_page_is_no_news(own: Dashboard, page: Page, other_page: Page) -> None:
    """Saving redraws this part alone, so that the rest of the page has not seen the change."""
    own.show(other_page, "overview", agent="edda")
    own.show(page, "recall", agent="edda", cue="Who has the mill key?")
    open_tab(page, words.SAVED_CUES)
    page.get_by_label("Name", exact=True).last.fill("The mill key")
    press(page, words.SAVE_THE_CUE)
    expect(page.get_by_text("Saved: The mill key").first).to_be_visible()
    # the other window is told, so that this one has had its time to be told as well
    expect(other_page.get_by_role("button", name="Refresh")).to_contain_text("1 new change")
    settled(page)
    expect(page.get_by_role("button", name="Refresh")).to_have_count(0)


@pytest.mark.full
def test_summarise_says_what_is_marked_and_the_mark_comes_off(own: Dashboard, page: Page) -> None:
    with RemoteWorld(own.api) as world:
        juno = world.agent("juno")
        juno.edit_many([entry.id for entry in juno.entries(Tier.LTM)], authored=True)
    own.show(page, "operations", agent="juno", operation="Summarise")
    press(page, "Preview")
    expect(page.get_by_text(MARKED).first).to_be_visible()
    page.get_by_role("button", name=re.compile(words.TAKE_BY_A_PERSON_OFF)).click()
    settled(page)
    press(page, "Preview")
    expect(page.get_by_role("button", name="Apply")).to_be_enabled()


@pytest.mark.full
def test_lines_without_a_date_say_where_theirs_is_from(own: Dashboard, page: Page) -> None:
    paste(page, own, "tobias", "2026-03-20 18:00 A lamp burned\nIt went out")
    expect(page.get_by_text("Lines without a date, which take that of the line above: 1.")).to_be_visible()
    assert column(page, 5)[-2:] == ["its own", "the line above"]
