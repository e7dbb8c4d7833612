"""A designer previews an operation, refuses a part of it, applies the rest, and takes it back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system.interfaces.client import RemoteWorld

from .conftest import Dashboard, settled
from .hands import lines, paste, press, said
from .test_accessibility import MAIN, violations

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
    rows = lines(page)
    expect(page.get_by_text(re.compile(r"^(\d+) of \1 accepted$"))).to_be_visible()
    rows.nth(0 if name in ("Plan", "Reflect") else 1).click()
    settled(page)
    expect(page.get_by_text(re.compile(r"^(\d+) of (?!\1)\d+ accepted$"))).to_be_visible()
    press(page, "Apply")
    said(page, "Applied:")
    press(page, "Undo")
    said(page, "Undone:")
    assert stored(page, dashboard, agent) == before


def test_a_change_set_is_walked_ticked_and_applied_by_keyboard_while_a_game_writes(
    page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, "operations", agent="ines", operation="Summarise")
    press(page, "Preview")
    rows = lines(page)
    expect(rows).to_have_count(11)
    first = page.get_by_role("button", name="Apply").locator("xpath=ancestor::*[contains(@class, 'st-key-foot-')]")
    expect(first).to_contain_text("11 of 11 accepted")
    assert not violations(page)

    page.get_by_role("checkbox", name="Accept all 11").focus()
    page.keyboard.press("Space")
    settled(page)
    expect(first).to_contain_text("0 of 11 accepted")
    expect(page.get_by_role("button", name="Apply")).to_be_disabled()
    rows.first.focus()
    for key in ("Space", "ArrowDown", "Space", "End", "Shift+Space", "ArrowUp", "Space"):
        page.keyboard.press(key)
    settled(page)
    expect(first).to_contain_text("2 of 11 accepted")  # the summary, and the last but one of what it stands for
    expect(rows.nth(9)).to_have_attribute("aria-selected", "true")
    assert page.evaluate("document.activeElement.shadowRoot.activeElement.role") == "option", "nobody lost the place"

    changed = rows.nth(2).get_attribute("data-id")
    assert changed is not None
    with RemoteWorld(dashboard.api) as world:
        world.agent("ines").edit(changed, rating=9)
        page.keyboard.press("Home")
        page.keyboard.press("Space")
        page.keyboard.press("Space")
        settled(page)
        expect(rows.nth(2)).to_contain_text("Changed since this was planned")
        expect(first).to_contain_text("10 of 11 accepted, 1 was changed meanwhile")
        assert not violations(page, MAIN)
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Apply")).to_be_focused()
        page.keyboard.press("Enter")
        said(page, "Applied: Summarise 10 memories into one; 10 of 11 accepted.")
        assert world.agent("ines").find(changed) is not None, "it was changed, and is left as it is"
        assert not violations(page, MAIN)
    line = page.locator(".st-key-last-act")
    line.get_by_role("button", name="Undo").press("Enter")
    said(page, "Undone: Summarise")
