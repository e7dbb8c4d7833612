"""The palette, by keys only: what it finds, where it leads, and that it leaves everything as it was when it closes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard import words
from memory_system.interfaces.client import RemoteWorld

from .conftest import Dashboard, settled
from .hands import write

pytestmark = pytest.mark.browser


def opened(page: Page, text: str) -> Locator:
    """The palette with a text in its box."""
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name=words.SEARCH_OR_DO)
    expect(palette.get_by_role("combobox")).to_be_focused()
    page.keyboard.type(text)
    return palette


def done(page: Page, text: str, *keys: str) -> None:
    """Type a text into the palette and press keys, the last of which chooses."""
    palette = opened(page, text)
    for key in keys:
        page.keyboard.press(key)
    expect(palette).to_have_count(0)
    settled(page)


def test_a_question_a_page_an_operation_and_a_character_are_a_few_keys_away(page: Page, dashboard: Dashboard) -> None:
    with RemoteWorld(dashboard.api) as world:
        world.create_agent("tuneful")  # whose name begins as that of an operation, which is what its whole name does
    dashboard.show(page, "personality", agent="mira")
    done(page, "Who has the mill key?", "Enter")
    expect(page).to_have_url(re.compile("/memory[?]agent=mira&cue=Who"))
    expect(page.get_by_role("searchbox")).to_have_value("Who has the mill key?")
    done(page, "long-t", "Enter")
    expect(page).to_have_url(re.compile("/long_term[?]agent=mira"))
    for text, name in (("tune", "tune"), ("summ", "Summarise")):  # the second from the page of the first
        done(page, text, "Enter")
        expect(page).to_have_url(re.compile(f"/operations[?]agent=mira&operation={name}"))
    done(page, "juno", "Enter")
    expect(page).to_have_url(re.compile("/operations[?]agent=juno"))


def test_memories_are_found_by_words_and_what_stands_in_the_list_stays_where_it_is(
    page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, "recall", agent="tobias")
    palette = opened(page, "mill key")
    memories = palette.get_by_role("group", name="Memories").get_by_role("option")
    expect(palette.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    expect(memories.first).to_contain_text(re.compile("key.*mill|mill.*key", re.IGNORECASE))
    expect(palette.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")  # from the first to the last
    last = memories.last
    expect(last).to_have_attribute("aria-selected", "true")
    expect(palette.get_by_role("combobox")).to_have_attribute("aria-activedescendant", str(last.get_attribute("id")))
    page.keyboard.press("Enter")
    settled(page)
    expect(page).to_have_url(re.compile("/memory[?]agent=tobias&memory="))


def test_escape_closes_it_and_leaves_the_field_and_what_is_typed_there(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="edda")
    field = page.get_by_label(words.WHAT_HAPPENED)
    field.fill("Half a sentence")
    palette = opened(page, "<img src=x onerror=alert(1)>")
    expect(palette.get_by_role("option").first).to_contain_text("<img src=x onerror=alert(1)>")
    page.keyboard.press("Escape")
    expect(palette).to_have_count(0)
    expect(field).to_be_focused()
    done(page, "installation", "Enter")
    done(page, "short-term", "Enter")
    expect(page.get_by_label(words.WHAT_HAPPENED)).to_have_value("Half a sentence")
    write(page, words.WHAT_HAPPENED, "")


def test_on_a_phone_the_sidebar_goes_once_something_was_chosen(page: Page, dashboard: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    dashboard.load(page, "recall", agent="ines")
    sidebar, open_it = page.get_by_test_id("stSidebar"), page.get_by_test_id("stExpandSidebarButton")
    for choose in (
        lambda: sidebar.get_by_role("link", name="Talk", exact=True).click(),
        lambda: sidebar.get_by_role("button", name="History", exact=True).click(),
    ):
        open_it.click()
        expect(sidebar).to_have_attribute("data-collapsed", "false")
        choose()
        expect(sidebar).to_have_attribute("data-collapsed", "true")
        settled(page)
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_have_count(0)
    open_it.click()
    sidebar.get_by_role("button", name=words.SEARCH_OR_DO).click()
    page.get_by_role("dialog").get_by_role("option", name="Memory", exact=True).click()
    expect(sidebar).to_have_attribute("data-collapsed", "true")
    settled(page)
    expect(page).to_have_url(re.compile("/memory[?]agent=ines"))
