"""A designer previews an operation, refuses a part of it, applies the rest, and takes it back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard import words

from .conftest import Dashboard, settled
from .hands import paste, press, said

pytestmark = pytest.mark.browser


def stored(page: Page, dashboard: Dashboard, agent: str) -> str:
    """How full the memories are, by the Overview page."""
    dashboard.show(page, "", agent=agent)
    return page.locator(".st-key-counts").inner_text()


@pytest.mark.parametrize(
    "name", ["Reflect", *(pytest.param(name, marks=pytest.mark.full) for name in ("Migrate", "Summarise", "Plan"))]
)
def test_an_operation_is_previewed_refused_in_part_applied_and_undone(
    page: Page, dashboard: Dashboard, name: str
) -> None:
    agent = "edda"
    if name == "Migrate":
        paste(page, dashboard, agent, "Scrubbed the long table\nCounted the spoons twice\nFound one spoon too many")
        press(page, words.REMEMBER_THESE)
    before = stored(page, dashboard, agent)
    dashboard.show(page, "operations", agent=agent, operation=name)
    press(page, "Preview")
    expect(page.get_by_role("heading", name=re.compile(f"^{name}"))).to_be_visible()
    assert stored(page, dashboard, agent) == before
    dashboard.show(page, "operations", agent=agent, operation=name)
    press(page, "Preview")
    boxes = page.get_by_test_id("stCheckbox").filter(has_text="Accept")
    expect(boxes.first).to_be_visible()
    boxes.last.locator("label").click()
    settled(page)
    expect(page.get_by_text(re.compile(r"^\d+ of \d+ accepted\b"))).to_be_visible()
    press(page, "Apply")
    said(page, "Applied:")
    press(page, "Undo")
    said(page, "Undone:")
    assert stored(page, dashboard, agent) == before
