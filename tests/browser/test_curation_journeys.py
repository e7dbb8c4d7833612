"""A designer curates what just happened: many events at once, pinning, editing, forgetting; and the settings."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from dashboard import words

from .conftest import Dashboard, settled
from .hands import context_text, press, said, tick, write

pytestmark = pytest.mark.browser


def test_a_memory_is_pinned_edited_and_forgotten_and_nothing_stays_selected(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="ines")
    nothing = page.get_by_text("Select rows to edit, pin, rate again, move or forget them.")
    for button, told in (("Pin", "Pin: 1 memory."), ("Unpin", "Unpin: 1 memory.")):
        tick(page, 0)
        expect(nothing).to_have_count(0)
        press(page, button)
        said(page, told)
        expect(nothing).to_be_visible()
    tick(page, 0)
    page.get_by_text(words.EDIT_THIS_MEMORY).click()
    write(page, "Text", "Polished the lens until it hummed")
    press(page, words.SAVE_CHANGES)
    said(page, "Saved: 1 memory.")
    expect(nothing).to_be_visible()
    assert "until it hummed" in context_text(page, dashboard, "ines", "Which lens did Ines polish until it hummed?")
    dashboard.show(page, "short_term", agent="ines")
    tick(page, 0)
    tick(page, 1)
    press(page, "Forget")
    said(page, "Forget: 2 memories.")
    expect(nothing).to_be_visible()
    assert "until it hummed" not in context_text(page, dashboard, "ines", "Which lens did Ines polish until it hummed?")


def test_a_change_is_undone_in_the_history(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="edda")
    page.get_by_label(words.WHAT_HAPPENED).fill("Burned the bacon and blamed the stove")
    press(page, "Remember")
    dashboard.show(page, "history", agent="edda")
    tick(page, 0)
    expect(page.get_by_test_id("stMain")).to_contain_text("Burned the bacon")
    press(page, "Undo")
    said(page, "Undone:")
    assert "Burned the bacon" not in context_text(page, dashboard, "edda", "Who burned the bacon?")


@pytest.mark.full
def test_the_world_clock_is_set(page: Page, dashboard: Dashboard) -> None:
    def stand_at(hour: str) -> None:
        dashboard.show(page, "installation", agent="mira", part="known")
        field = page.get_by_test_id("stTimeInput").get_by_role("spinbutton", name="hour")
        field.click()
        page.keyboard.type(hour)
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        settled(page)
        press(page, words.SET_THE_CLOCK)
        said(page, "The clock is set.")

    stand_at("19")
    expect(page.locator(".st-key-head")).to_contain_text("19:00 UTC")
    stand_at("18")
    expect(page.locator(".st-key-head")).to_contain_text("18:00 UTC")
