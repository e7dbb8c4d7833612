"""Going about: every page is near, the last changes open over all of them, and old addresses lead where they led."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from dashboard.views import HISTORY, INSTALLATION, PAGES, PLACES

from .conftest import Dashboard, settled
from .hands import TRIES, go_to, open_tab, press, way_to, write

pytestmark = pytest.mark.browser


def test_every_page_is_reached_by_links_and_says_which_of_its_place_it_is(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "settings", agent="mira", part="safety")
    expect(page).to_have_url(re.compile(f"/{INSTALLATION.name}[?].*part=safety"))
    for place in PLACES:
        for one in place.pages[:2] if place is not PLACES[1] else place.pages:
            go_to(page, one.title)
            here = page.locator(".st-key-line [aria-current=page]")
            expect(here).to_have_text([one.label or one.title] if len(place.pages) > 1 else [])
            expect(page.locator(".st-key-place-here")).to_have_text(re.compile(f"{place.title}$"))
            assert "agent=mira" in page.url
    dashboard.load(page, PAGES[0].name, agent="mira")  # an address of its own, beside that of the site
    expect(page.get_by_role("heading", level=1)).to_have_text("Mira Holloway")


def test_back_leaves_a_page_in_one_step_whatever_it_has_said_in_its_address(page: Page, dashboard: Dashboard) -> None:
    dashboard.load(page, "memory", agent="mira")
    for title in ("Cast", "Memory map", "Operations", INSTALLATION.title):
        link = way_to(page, title)
        before = page.url
        link.click()
        settled(page)
        if title == INSTALLATION.title:
            open_tab(page, "Prompts")
            open_tab(page, "Backup")
        assert page.url != before
        page.go_back()
        settled(page)
        assert page.url == before, title


def test_an_address_that_comes_ahead_of_its_page_is_no_step_of_its_own(page: Page, dashboard: Dashboard) -> None:
    for left, come_to, said in (("", "memory_map", "of"), ("cast", "interview", "show")):
        dashboard.load(page, left, agent="mira")
        steps, before = page.evaluate("history.length"), page.url
        said_first, all_said = f"?agent=mira&{said}=mira", f"?agent=mira&{said}=mira&more=1"
        for address in (f"/{left}{said_first}", f"/{left}{all_said}", f"/{come_to}{all_said}"):
            # as Streamlit puts them where the answer is quicker than the browser
            page.evaluate("address => history.pushState({}, '', address)", address)
        assert page.evaluate("history.length") == steps + 1
        page.go_back()
        settled(page)
        assert page.url == before


def test_back_leaves_recall_as_many_steps_as_cues_were_asked(page: Page, dashboard: Dashboard) -> None:
    dashboard.load(page, "memory", agent="mira")
    go_to(page, "Recall")
    for cue in ("Who has the mill key?", "What has Tobias promised?"):
        write(page, "Cue", cue)
        page.keyboard.press("Control+Enter")
        expect(page).to_have_url(re.compile(re.escape(quote_plus(cue))))
        settled(page)
    page.go_back()
    settled(page)
    expect(page.get_by_role("textbox", name="Cue")).to_have_value("Who has the mill key?")
    page.go_back()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Memory")


def test_the_last_change_is_undone_in_the_drawer_over_any_page(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="oswin")
    write(page, words.WHAT_HAPPENED, "The verger counted the candles twice.")
    press(page, "Remember")
    go_to(page, "Personality")
    press(page, HISTORY.title)
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("Remember")
    drawer.get_by_role("button", name=re.compile("^Undo Remember.*The verger")).first.click()
    settled(page)
    expect(drawer).to_have_count(0)
    expect(page.get_by_test_id("stMain")).to_contain_text("Undone")
    go_to(page, HISTORY.title)
    expect(page.get_by_role("heading", name=HISTORY.title, level=1)).to_be_visible()


def test_tab_goes_into_an_open_popover_and_back_to_its_button(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "history", agent="oswin")
    button = page.get_by_role("button", name=words.LOOK_AT_THE_PAST)
    inside = page.get_by_test_id("stPopoverBody").locator(":focus")
    button.press("Enter")
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
    for _ in range(TRIES):  # what it holds comes piece by piece, and its first field may come last
        settled(page)
        button.focus()
        page.keyboard.press("Tab")
        expect(inside).to_have_count(1)
        page.keyboard.press("Shift+Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    expect(button).to_be_focused()
    page.keyboard.press("Tab")
    expect(inside).to_have_count(1)
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
