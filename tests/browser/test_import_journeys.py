"""A designer brings a story in: a table and dated lines, seen before they are kept; and what comes of them later."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from tests.browser.conftest import Dashboard, settled
from tests.browser.hands import open_tab, press, tick

pytestmark = pytest.mark.browser

TABLE = "sep=;\nEvent;Importance;Weather\nA crow sat on the mill;0,7;clear\nThe ferry was late;0,4;fog\n"


def test_a_spreadsheets_file_is_read_with_its_importance(dashboard: Dashboard, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    file.write_bytes(TABLE.encode("utf-16"))
    dashboard.show(page, "short_term", agent="edda")
    open_tab(page, words.MANY_EVENTS)
    page.locator("input[type=file]").set_input_files(str(file))
    told = page.get_by_text("The column 'Importance' is read as the importance, on the scale 0.1 to 1.0.")
    expect(told).to_be_visible()
    expect(page.get_by_text("Kept as metadata: weather.")).to_be_visible()
    settled(page)
    press(page, words.REMEMBER_THESE)
    expect(page.get_by_text("2 events remembered").first).to_be_visible()


@pytest.mark.full
def test_the_moment_before_a_change_opens_and_still_shows_it(dashboard: Dashboard, page: Page) -> None:
    dashboard.show(page, "history", agent="edda")
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
def test_a_cue_saved_in_a_part_of_the_page_is_no_news(dashboard: Dashboard, page: Page, other_page: Page) -> None:
    """Saving redraws this part alone, so that the rest of the page has not seen the change."""
    dashboard.show(other_page, "overview", agent="edda")
    dashboard.show(page, "recall", agent="edda", cue="Who has the mill key?")
    open_tab(page, words.SAVED_CUES)
    page.get_by_label("Name", exact=True).last.fill("The mill key")
    press(page, words.SAVE_THE_CUE)
    expect(page.get_by_text("Saved: The mill key").first).to_be_visible()
    # the other window is told, so that this one has had its time to be told as well
    expect(other_page.get_by_role("button", name="Refresh")).to_contain_text("1 new change")
    settled(page)
    expect(page.get_by_role("button", name="Refresh")).to_have_count(0)
