"""A designer follows trust to a character, and changes together what a lasso has caught on the map of memories."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard import words

from .conftest import Dashboard, settled

pytestmark = pytest.mark.browser


def test_an_arrow_of_trust_is_told_and_opens_the_character(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "cast", agent="mira", show="trust")
    picture = page.locator(".st-key-trust-graph")
    expect(picture.get_by_role("status")).to_contain_text("Mira Holloway. Trusts")
    picture.locator(".point").first.focus()
    page.keyboard.press("ArrowRight")
    expect(picture.locator(".arrow.told")).to_have_count(1)
    expect(picture.get_by_role("status")).to_contain_text("Mira Holloway of")
    picture.locator("[data-id=tobias]").click()
    expect(picture.get_by_role("status")).to_contain_text("Tobias Finch. Trusts")
    picture.get_by_role("button", name=words.OPEN_CHARACTER).click()
    expect(page).to_have_url(re.compile("personality.*agent=tobias"))


def test_what_a_lasso_catches_is_offered_to_be_changed_together(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "memory_map", agent="mira", of="mira")
    field = page.get_by_role("application", name=re.compile("memories in"))
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    assert box is not None
    corners = [(0.05, 0.05), (0.95, 0.05), (0.95, 0.95), (0.05, 0.95), (0.05, 0.06)]
    x, y = (box["x"] + box["width"] * corners[0][0], box["y"] + box["height"] * corners[0][1])
    page.mouse.move(x, y)
    page.mouse.down()
    for right, down in corners[1:]:
        page.mouse.move(box["x"] + box["width"] * right, box["y"] + box["height"] * down, steps=8)
    page.mouse.up()
    settled(page)
    expect(page.get_by_role("heading", name=re.compile(r"\d+ memories chosen"))).to_be_visible()
    expect(page.get_by_role("combobox", name=words.SET_IMPORTANCE)).to_be_visible()
    expect(page.get_by_role("button", name=re.compile(r"^Forget \d+ memories"))).to_be_visible()


def test_the_map_is_walked_and_chosen_from_without_a_pointer(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "memory_map", agent="mira", of="mira")
    field, told = page.get_by_role("application", name=re.compile("memories in")), page.locator(".map .told")
    expect(told).to_have_text("Point at a memory to read it.")
    field.focus()
    page.keyboard.press("ArrowRight")
    first = told.text_content() or ""
    assert len(first) > 20, "what is walked to is told"
    page.keyboard.press("ArrowDown")
    expect(told).not_to_have_text(first)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="1 memory chosen")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_role("heading", name="2 memories chosen")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name=re.compile("chosen"))).to_have_count(0)
    name = page.locator(".map .name").first
    name.click()
    expect(page.get_by_role("heading", name=re.compile(r"\d\d memories chosen"))).to_be_visible()
    expect(page.locator(".map .counted")).to_have_text(re.compile(r"^\d\d chosen"))
    expect(told.locator("b")).to_have_text(name.text_content() or "")
    middle = told.text_content() or ""
    page.keyboard.press("ArrowRight")
    expect(told).not_to_have_text(middle)


def test_what_is_pointed_at_is_told_in_sight_on_small_windows(page: Page, dashboard: Dashboard) -> None:
    for width, height in ((1366, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        dashboard.load(page, "memory_map", agent="mira", of="*")
        told = page.locator(".map .told")
        expect(told).to_be_visible()
        assert _ends(told) <= height, f"it is told below {width} x {height}"
        page.get_by_role("application", name=re.compile("memories in")).focus()
        page.keyboard.press("ArrowRight")
        whose = (told.locator("b").text_content() or "").partition(" · ")[0]
        assert " " in whose, "a character by its name, not by its file's"
        for _ in range(9):
            page.keyboard.press("ArrowDown")
        covering = told.bounding_box()
        assert covering is not None
        assert _ends(page.locator(".map .ring")) <= covering["y"], "what is told does not cover it"


def _ends(shown: Locator) -> float:
    box = shown.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_a_lasso_that_is_held_goes_with_the_map(page: Page, dashboard: Dashboard) -> None:
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text) if "path" in message.text else None)
    dashboard.show(page, "memory_map", agent="mira", of="mira")
    field = page.get_by_role("application", name=re.compile("memories in"))
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 200, steps=3)
    expect(page.locator(".map .lasso")).to_have_count(1)
    dashboard.show(page, "tidy", agent="mira")
    expect(page.locator(".map")).to_have_count(0)
    page.mouse.move(box["x"] + 250, box["y"] + 200, steps=3)
    page.mouse.up()
    settled(page)
    assert told == [], "there is nothing to draw on any more"


def test_memories_of_one_text_lie_at_one_spot_and_can_be_walked_to(page: Page, dashboard: Dashboard) -> None:
    httpx.post(f"{dashboard.api}/v1/agents", json={"name": "echo"}).raise_for_status()
    events = [{"document": "The bell rang again.", "rating": 5}] * 12
    httpx.post(f"{dashboard.api}/v1/agents/echo/events", json={"events": events}).raise_for_status()
    dashboard.load(page, "memory_map", agent="echo", of="echo")
    page.get_by_role("application", name=re.compile("memories in")).focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".map .told")).to_contain_text("The bell rang again.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="1 memory chosen")).to_be_visible()
    page.locator(".map .name").click()
    expect(page.get_by_role("heading", name="12 memories chosen")).to_be_visible()
    httpx.delete(f"{dashboard.api}/v1/agents/echo").raise_for_status()
