"""Journeys along lineage: from a reflection to what it rests on, and what becomes of it when that changes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .conftest import Dashboard, settled
from .hands import open_expander, press, said, write

pytestmark = pytest.mark.browser
REFLECTION = "mira-r06"
"""It rests on four memories, one of which is a reflection itself."""


def test_the_graph_leads_from_a_reflection_to_its_evidence_and_back(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "long_term", agent="mira", memory=REFLECTION)
    chart = page.get_by_role("tabpanel", name="Lineage").locator(".js-plotly-plot")
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".scatterlayer .points path.point")).not_to_have_count(0)
    expect(chart.locator(".legend")).to_contain_text("this memory")
    told = chart.locator(".textpoint").filter(has_text="reflection · ")
    expect(told).not_to_have_count(0)
    symbols = chart.locator(".scatterlayer .points path.point")
    symbols.nth(symbols.count() - 1).click(force=True)
    settled(page)
    expect(page).not_to_have_url(re.compile(f"memory={REFLECTION}"))
    expect(page.get_by_role("tab", name=re.compile("on it$"))).to_be_visible()


def test_editing_a_source_flags_what_rests_on_it_until_a_person_decides(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "long_term", agent="mira", memory=REFLECTION)
    page.get_by_role("tab", name=re.compile("^Rests on")).click()
    settled(page)
    page.get_by_role("tabpanel", name=re.compile("^Rests on")).get_by_role("button", name="Open").first.click()
    settled(page)
    open_expander(page, "Edit this memory")
    write(page, "Text", "Sold the tide mill to a stranger for a sack of salt")
    press(page, "Save changes")
    said(page, "Saved.")
    notice = page.locator(".st-key-stale-notice")
    expect(notice).to_contain_text("on what was changed or deleted since")
    notice.get_by_role("button", name="Show").click()
    page.get_by_role("button", name="Open").last.click()
    settled(page)
    panel = page.locator("[class*='st-key-stale-mira-r']")
    expect(panel).to_contain_text("Sold the tide mill")
    press(page, "Derive again")
    expect(panel).to_contain_text("Derived again from")
    press(page, "Discard")
    press(page, "Keep as it is")
    said(page, "as it is. The History page can undo it.")
    expect(panel).to_have_count(0)
    dashboard.show(page, "", agent="mira")
    for _ in range(2):  # the world as it was: the keeping, and the edit
        page.get_by_test_id("stMain").get_by_role("button", name="Undo", exact=True).first.click()
        settled(page)
    expect(page.locator(".st-key-stale-notice")).to_have_count(0)
