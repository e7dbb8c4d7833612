"""A designer curates what just happened: many events at once, pinning, editing, forgetting; and the settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard import words

from .conftest import Dashboard, settled
from .hands import context_text, paste, press, said, tick, write

pytestmark = pytest.mark.browser


@pytest.mark.full
def test_several_pasted_lines_become_events(page: Page, dashboard: Dashboard) -> None:
    paste(page, dashboard, "juno", "Counted eleven gulls on the slip\nLost a caulking mallet in the mud\nWon it back")
    expect(page.get_by_text("3 events to remember, 0 refused.")).to_be_visible()
    press(page, words.REMEMBER_THESE)
    said(page, "3 events remembered")
    expect(page.get_by_text("23 of 20 remembered")).to_be_visible()
    assert "caulking mallet" in context_text(page, dashboard, "juno", "Who lost a caulking mallet in the mud?")


@pytest.mark.full
def test_bad_lines_of_a_csv_are_shown_with_reasons_and_the_good_ones_stored(
    page: Page, dashboard: Dashboard, tmp_path: Path
) -> None:
    file = tmp_path / "events.csv"
    file.write_text(
        "document,rating,timestamp\n"
        "Heard the bell ring thirteen times,7,2026-03-27T09:00:00+00:00\n"
        ",4,2026-03-27T10:00:00+00:00\n"
        "Rated far too high,99,2026-03-27T11:00:00+00:00\n"
        "Saw a lamp under the chapel floor,8,2026-03-27T12:00:00+00:00\n"
    )
    dashboard.show(page, "short_term", agent="oswin")
    page.get_by_role("tab", name=words.MANY_EVENTS).click()
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("2 events to remember, 2 refused.")).to_be_visible()
    settled(page)
    press(page, words.REMEMBER_THESE)
    said(page, "2 events remembered, 2 refused")
    expect(page.get_by_text("22 of 20 remembered")).to_be_visible()
    text = context_text(page, dashboard, "oswin", "Was there a lamp under the chapel floor?")
    assert "lamp under the chapel floor" in text
    assert "Rated far too high" not in text


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
def test_a_setting_is_changed_and_reset(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "settings", agent="juno")
    write(page, words.SHORT_TERM_SIZE, "37")
    press(page, "Save")
    said(page, "Saved.")
    dashboard.show(page, "short_term", agent="juno")
    expect(page.get_by_text(re.compile(r"\d+ of 37 remembered"))).to_be_visible()
    dashboard.show(page, "settings", agent="juno")
    press(page, "Default", exact=False)
    said(page, "Size of short-term memory is back at its default.")


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
