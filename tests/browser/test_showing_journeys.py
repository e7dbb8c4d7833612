"""The tour by mouse from its offer to its undo, and a presentation by keys only."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from tests.waiting import until

from .conftest import LAST_RESORT, Dashboard, settled
from .hands import press

pytestmark = [pytest.mark.browser, pytest.mark.full]


def test_the_tour_ends_with_an_undo(page: Page, dashboard: Dashboard) -> None:
    dashboard.load(page, "installation", agent="edda")
    press(page, words.TAKE_THE_TOUR)
    bar = page.get_by_role("region", name=words.TAKE_THE_TOUR)
    for place in ("/[?]", "/memory[?]", "/memory[?].*memory=", "/memory[?]"):
        expect(page).to_have_url(re.compile(place))
        expect(bar).to_be_visible()
        if (change := bar.get_by_role("button", name=words.SET_IMPORTANCE)).is_visible():
            change.click()
            settled(page)
            expect(bar).to_contain_text(words.CHANGED_IN_THE_TOUR)
        bar.get_by_role("button", name=words.NEXT).click()
        settled(page)
    expect(page).to_have_url(re.compile("/history[?].*change="))
    bar.get_by_role("button", name=words.UNDO_IT).click()
    settled(page)
    expect(bar).to_contain_text(words.AS_IT_WAS)
    bar.get_by_role("button", name=words.FINISH).click()
    settled(page)
    expect(bar).to_have_count(0)


def test_a_presentation_is_walked_through_by_keys(page: Page, dashboard: Dashboard) -> None:
    dashboard.load(page, agent="juno", present="1")
    bar = page.get_by_role("region", name=words.PRESENTER_MODE)
    expect(bar).to_contain_text("1 of 4")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    for number in (2, 3, 4):
        page.keyboard.press("ArrowRight" if number % 2 else "PageDown")
        settled(page)
        expect(bar).to_contain_text(f"{number} of 4")
    page.keyboard.press("ArrowLeft")
    settled(page)
    expect(page).to_have_url(re.compile("/memory[?].*memory="))
    page.keyboard.press("Escape")
    settled(page)
    expect(bar).to_have_count(0)
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


def test_who_closes_the_browser_on_a_tour_leaves_everything_as_it_was(other_page: Page, dashboard: Dashboard) -> None:
    def operations() -> list[str]:
        address = f"{dashboard.api}/v1/agents/tobias/history"
        told = httpx.get(address, params={"limit": 2, "author": "tour"}, timeout=LAST_RESORT / 1000, trust_env=False)
        return [one["change_set"]["operation"] for one in told.raise_for_status().json()["items"]]

    dashboard.load(other_page, agent="tobias", tour="4")
    bar = other_page.get_by_role("region", name=words.TAKE_THE_TOUR)
    bar.get_by_role("button", name=words.SET_IMPORTANCE).click()
    settled(other_page)
    assert operations() == ["edit"]
    other_page.goto("about:blank")  # as far as the server can tell, it is closed
    until(lambda: operations() == ["undo", "edit"])
