"""A designer asks one fact of all characters, opens a cell, goes back in time and opens the memory."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system.world.knows import Verdict

from .conftest import Dashboard, settled
from .hands import press

pytestmark = pytest.mark.browser

STOLEN = "Juno stole the mill key from Tobias's coat."


def test_a_fact_is_asked_its_cell_opened_and_its_memory_found(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "who_knows", agent="mira")
    page.get_by_label(words.A_FACT, exact=True).fill(STOLEN)
    press(page, words.ASK_EVERYBODY)
    row = page.locator(".st-key-fact-0")
    expect(row.get_by_text(STOLEN)).to_be_visible()
    juno = row.get_by_role("button", name=f"Juno Pell: {Verdict.KNOWS}")
    juno.click()
    expect(row.get_by_text("Stole the mill key out of Tobias's coat")).to_be_visible()
    settled(page)
    slider = page.locator(".st-key-who-knows-at").get_by_role("slider")
    slider.focus()
    slider.press("Home")
    settled(page)
    expect(juno).to_have_count(0)
    slider.press("End")
    settled(page)
    expect(juno).to_be_visible()
    row.get_by_role("button", name=words.OPEN_MEMORY).click()
    expect(page).to_have_url(re.compile("memory=juno-0305-03"))
    expect(page.get_by_text("Stole the mill key out of Tobias's coat").first).to_be_visible()
    page.go_back()
    expect(row.get_by_text(STOLEN)).to_be_visible()


def test_how_a_fact_spread_is_walked_by_keys_and_an_arrow_opens_its_sentence(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "who_knows", agent="mira", fact=STOLEN, **{"as": "spread"})
    picture = page.locator(".st-key-spread-0")
    items = picture.locator(".item")
    first = picture.locator(".point").first
    expect(first).to_have_attribute("tabindex", "0")
    first.focus()
    page.keyboard.press("End")
    expect(items.last).to_be_focused()
    page.keyboard.press("ArrowLeft")
    arrow = picture.locator(".arrow")
    expect(arrow).to_be_focused()
    expect(picture.get_by_role("status")).to_contain_text("Tobias Finch told Mira Holloway")
    expect(picture.get_by_role("status")).to_contain_text("vanished from his coat")
    picture.locator(".point").first.click()
    expect(picture.get_by_role("status")).to_contain_text(f"Juno Pell {Verdict.KNOWS}")
    picture.get_by_role("button", name=words.OPEN_MEMORY).click()
    expect(page).to_have_url(re.compile("memory=juno-0305-03"))
