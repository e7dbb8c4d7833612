"""Saved cues, conversations and links that strangers wrote, as a browser draws them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from tests.hostile_texts import LINKS, MARKDOWN, SCRIPT

from .conftest import Dashboard
from .hands import open_tab, press, press_until, said, write
from .test_hostile_input import unharmed

pytestmark = [pytest.mark.browser, pytest.mark.full]

CUE = "Whom have I seen going in and out of the tide mill after dark?"


@pytest.fixture
def page(kept_page: Page) -> Page:
    """Each test goes on where the one before was."""
    return kept_page


def test_hostile_names_of_saved_cues_are_shown_as_they_are(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "recall", agent="ines", cue=CUE)
    open_tab(page, words.SAVED_CUES)
    for name in (SCRIPT[:80], MARKDOWN[:80]):
        write(page, "Name", name)
        press(page, words.SAVE_THE_CUE, exact=False)
        unharmed(page)
    assert SCRIPT[:80] in page.get_by_test_id("stMarkdown").locator("strong").all_inner_texts()
    for view, link in (("", {}), ("history", {}), ("recall", {"cue": CUE})):
        dashboard.show(page, view, agent="ines", **link)
        unharmed(page)
    open_tab(page, words.SAVED_CUES)
    press_until(page, "Remove", page.get_by_test_id("stAlert").filter(has_text="1 of 1.").first)
    press_until(page, "Remove", page.get_by_text(words.NO_CUE_IS_SAVED_YET))


def test_a_hostile_conversation_is_previewed_and_remembered_as_it_is(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="ines")
    open_tab(page, words.A_CONVERSATION)
    write(page, words.THE_CONVERSATION, f"Mira <b>X</b>: {SCRIPT}\nTobias: {MARKDOWN} {LINKS}")
    press(page, "Preview", exact=False)
    unharmed(page)
    expect(page.get_by_test_id("stMain")).to_contain_text("2 turns")
    press(page, words.REMEMBER_IT, exact=False)
    said(page, re.compile(r"Remembered: \d memories\."))
    unharmed(page)
    dashboard.show(page, "", agent="ines")
    unharmed(page)
    press(page, "Undo")
    said(page, "Undone: Remember a conversation")


@pytest.mark.parametrize("memory", [SCRIPT, MARKDOWN])
def test_an_id_in_the_link_that_does_not_exist_shows_the_page(page: Page, dashboard: Dashboard, memory: str) -> None:
    for view in ("recall", "long_term", "memory"):
        dashboard.show(page, view, agent="ines", cue=CUE, memory=memory)
        unharmed(page)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
