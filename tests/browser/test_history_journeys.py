"""A designer takes back what was done: with a choice where later work is in the way; and the bin."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard import words

from .conftest import Dashboard, settled
from .hands import lines, open_expander, open_tab, paste, press, said, tick, write

pytestmark = pytest.mark.browser


@pytest.mark.full
def test_an_undo_that_meets_later_work_lets_choose(page: Page, dashboard: Dashboard) -> None:
    paste(page, dashboard, "edda", "Sharpened the blue knife\nSharpened the red knife")
    press(page, words.REMEMBER_THESE)
    dashboard.show(page, "short_term", agent="edda")
    tick(page, 0)
    page.get_by_text(words.EDIT_THIS_MEMORY).click()
    write(page, "Text", "Sharpened the knife that nobody had seen")
    press(page, words.SAVE_CHANGES)
    dashboard.show(page, "history", agent="edda", find="knife", kind="add")
    tick(page, 0)
    main = page.get_by_test_id("stMain")

    def take_all_back() -> None:
        press(page, "Undo …")
        expect(lines(page).first).to_contain_text("Forget")
        expect(main).to_contain_text("With these choices: 1 memory leaves recall.")
        lines(page).first.click()
        settled(page)
        expect(main).to_contain_text("With these choices: 2 memories leave recall.")
        press(page, "Undo with these choices")
        said(page, "Undone:")

    take_all_back()
    press(page, "Redo")
    said(page, f"{words.DONE_AGAIN}:")
    take_all_back()


def test_what_was_forgotten_is_restored_from_the_bin_and_purged(page: Page, dashboard: Dashboard) -> None:
    paste(page, dashboard, "edda", "Spilled the plum brandy")
    press(page, words.REMEMBER_THESE)
    dashboard.show(page, "short_term", agent="edda")
    tick(page, 0)
    press(page, "Forget")
    said(page, "Forget: 1 memory.")
    main = page.get_by_test_id("stMain")

    def find_in_bin() -> None:
        dashboard.show(page, "history", agent="edda")
        open_tab(page, "Bin")
        write(page, "Search the bin", "plum brandy")
        tick(page, 0)

    find_in_bin()
    press(page, "Restore 1 memory")
    said(page, "Restore “Spilled the plum brandy”")
    dashboard.show(page, "short_term", agent="edda")
    tick(page, 0)
    press(page, "Forget")
    find_in_bin()
    open_expander(page, "Purge for good")
    button = page.get_by_role("button", name="Purge for good", exact=True)
    expect(button).to_be_disabled()
    write(page, "Type “purge” to confirm", "purge")
    expect(button).to_be_enabled()
    button.click()
    settled(page)
    said(page, "Purged: 1 memory.")
    dashboard.show(page, "history", agent="edda", kind="purge")
    tick(page, 0)
    expect(main).to_contain_text("left the history for good")
    dashboard.show(page, "history", agent="edda", find="plum brandy")
    expect(main).to_contain_text(re.compile(words.NO_CHANGE_IS_LIKE_THIS))


def test_under_a_finger_the_tools_of_a_table_cover_nothing(browser: Browser, dashboard: Dashboard) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    dashboard.load(page, "history", agent="mira")
    tools = page.get_by_test_id("stElementToolbar").first
    expect(tools).to_be_visible()
    days, place = page.get_by_role("button", name="Days").bounding_box(), tools.bounding_box()
    context.close()
    assert days is not None
    assert place is not None
    assert days["y"] + days["height"] <= place["y"] + 8, "but for the margin of the tools"
