"""Journeys along lineage: from a reflection to what it rests on, and what becomes of it when that changes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system.operations.rederivation import DERIVED_AGAIN

from .conftest import Dashboard, settled
from .hands import open_expander, press, said, write

pytestmark = pytest.mark.browser
REFLECTION = "mira-r06"
"""It rests on four memories, one of which is a reflection itself."""


def test_the_graph_leads_from_a_reflection_to_its_evidence_and_back(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "long_term", agent="mira", memory=REFLECTION)
    rows = page.get_by_role("group", name=re.compile("arrow keys walk, Enter opens one")).get_by_role("button")
    expect(rows).to_have_count(9)
    here = rows.and_(page.locator("[aria-current]"))
    here.focus()
    page.keyboard.press("ArrowDown")
    expect(here).not_to_be_focused()
    inner = rows.and_(page.locator("[data-id^='mira-r']:not([aria-current])")).first
    name = inner.get_attribute("data-id")
    inner.press("Enter")
    settled(page)
    expect(page).to_have_url(re.compile(f"memory={name}"))
    expect(page.get_by_role("tab", name=re.compile("on it$"))).to_be_visible()
    page.get_by_role("tab", name=re.compile("on it$")).click()
    settled(page)
    page.get_by_role("tabpanel", name=re.compile("on it$")).get_by_role("button", name="Open").first.click()
    settled(page)
    expect(page).to_have_url(re.compile(f"memory={REFLECTION}"))


@pytest.mark.full
def test_editing_a_source_flags_what_rests_on_it_until_a_person_decides(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "long_term", agent="mira", memory=REFLECTION)
    page.get_by_role("tab", name=re.compile("^Rests on")).click()
    settled(page)
    page.get_by_role("tabpanel", name=re.compile("^Rests on")).get_by_role("button", name="Open").first.click()
    settled(page)
    open_expander(page, words.EDIT_THIS_MEMORY)
    write(page, "Text", "Sold the tide mill to a stranger for a sack of salt")
    press(page, words.SAVE_CHANGES)
    said(page, "Saved: 1 memory.")
    notice = page.locator(".st-key-stale-notice")
    expect(notice).to_contain_text("on evidence that has since been changed or deleted")
    notice.get_by_role("button", name="Show").click()
    expect(page.get_by_test_id("stPopoverBody").get_by_role("button", name="Open")).not_to_have_count(0)
    dashboard.show(page, "long_term", agent="mira", memory=REFLECTION)
    panel = page.locator(f".st-key-stale-{REFLECTION}")
    expect(panel).to_contain_text("Sold the tide mill")
    press(page, words.DERIVE_AGAIN)
    expect(panel).to_contain_text(DERIVED_AGAIN)
    press(page, "Not now")
    press(page, words.KEEP_AS_IT_IS)
    said(page, "as it is.")
    expect(panel).to_have_count(0)
    dashboard.show(page, "", agent="mira")
    for place in (0, 1):  # the world as it was: the keeping, and below that and its undoing the edit
        page.get_by_test_id("stMain").get_by_role("button", name="Undo").nth(place).click()
        said(page, "Undone:")
        settled(page)
    expect(page.locator(".st-key-waiting").filter(has_text="Stale")).to_have_count(0)
