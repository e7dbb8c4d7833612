"""Names of saved cues, turns of conversations, links and days that are not as they should be."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard import words

from .conftest import Dashboard
from .hands import column, open_expander, open_tab, pick_day, press, press_until, recalled, said, write
from .test_hostile_input import HIDDEN, MARKDOWN, SCRIPT, unharmed

pytestmark = [pytest.mark.browser, pytest.mark.full]

CUE = "Whom have I seen going in and out of the tide mill after dark?"


@pytest.fixture
def page(kept_page: Page) -> Page:
    """Each test goes on where the one before was."""
    return kept_page


def save(page: Page, name: str) -> None:
    write(page, "Name", name)
    press(page, words.SAVE_THE_CUE, exact=False)
    unharmed(page)


def test_hostile_names_of_saved_cues_are_shown_as_they_are_or_refused_in_words(
    page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, "recall", agent="ines", cue=CUE)
    open_tab(page, words.SAVED_CUES)
    for name, told in (
        ("", "The saved cue needs a name."),
        ("   ", "The saved cue needs a name."),
        (HIDDEN[:80], "holds a character that cannot be seen."),
        ("\u202egnirts\u202c", "holds a character that cannot be seen."),
    ):
        save(page, name)
        said(page, told)
        expect(page.get_by_text(words.NO_CUE_IS_SAVED_YET)).to_be_visible()
    for count, name in enumerate((SCRIPT[:80], MARKDOWN[:80], "x" * 80, "The Key"), 1):
        save(page, name)
        said(page, f"Saved cues that pass: {count} of {count}.")
    save(page, "the  KEY")
    expect(page.get_by_test_id("stMarkdown").locator("strong").get_by_text("the KEY", exact=True)).to_be_visible()
    said(page, "Saved cues that pass: 4 of 4.")  # the last two are one
    names = [text for text in page.get_by_test_id("stMarkdown").locator("strong").all_inner_texts() if text]
    assert {SCRIPT[:80], "x" * 80, "the KEY"} <= set(names)
    assert "The Key" not in names
    for view, link in (("", {}), ("history", {}), ("recall", {"cue": CUE})):
        dashboard.show(page, view, agent="ines", **link)
        unharmed(page)
    open_tab(page, words.SAVED_CUES)
    for left in (3, 2, 1):
        passing = page.get_by_test_id("stAlert").filter(has_text=f"Saved cues that pass: {left} of {left}.")
        press_until(page, "Remove", passing.first)
    press_until(page, "Remove", page.get_by_text(words.NO_CUE_IS_SAVED_YET))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"Mira <b>X</b>: {SCRIPT}\nTobias: {MARKDOWN}", "2 turns"),
        (f"Mira: {HIDDEN.replace(chr(0), '').replace(chr(27), '')}\nTobias: Yes.", "2 turns"),
        ("Mira: Yes.\nMira: Yes.\nMira: Yes.", "3 turns"),
    ],
    ids=["markup", "hidden", "twice"],
)
def test_hostile_conversations_are_previewed_and_remembered_as_they_are(
    page: Page, dashboard: Dashboard, text: str, told: str
) -> None:
    dashboard.show(page, "short_term", agent="ines")
    open_tab(page, words.A_CONVERSATION)
    preview(page, text, told)
    press(page, words.REMEMBER_IT, exact=False)
    said(page, re.compile(r"Remembered: \d memories\."))
    unharmed(page)
    dashboard.show(page, "", agent="ines")
    unharmed(page)
    press(page, "Undo")
    said(page, "Undone: Remember a conversation")


def test_what_is_no_conversation_is_refused_in_words(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="ines")
    open_tab(page, words.A_CONVERSATION)
    for text, told in (
        (f"{'x' * 60}: {'geese ' * 3000}", ""),
        ("Nobody said this", "names no speaker"),
        (": Good morning", "names no speaker"),
        ("Mira:\nTobias:", "the text is empty"),
        ("![p](https://evil.invalid/n.png): Hello", ""),
    ):
        preview(page, text, told)
        if told:
            expect(page.get_by_role("button", name=words.REMEMBER_IT)).to_have_count(0)
    write(page, words.THE_CONVERSATION, "\n" * 500)
    expect(page.get_by_role("button", name="Preview")).to_be_disabled()


def preview(page: Page, text: str, told: str) -> None:
    """Ask what would be remembered of a conversation, and read what the page says to it."""
    write(page, words.THE_CONVERSATION, text)
    press(page, "Preview", exact=False)
    unharmed(page)
    expect(page.get_by_test_id("stMain")).to_contain_text(told)


@pytest.mark.parametrize("memory", ["no-such-memory", SCRIPT, "../../etc/passwd", "\u202e"])
def test_an_id_in_the_link_that_does_not_exist_shows_the_page(page: Page, dashboard: Dashboard, memory: str) -> None:
    for view in ("recall", "long_term", "memory"):
        dashboard.show(page, view, agent="ines", cue=CUE, memory=memory)
        unharmed(page)
        expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_days_that_contradict_are_told_and_the_last_is_left_out(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "recall", agent="ines", cue=CUE)
    open_expander(page, words.ONLY_MEMORIES_OF)
    pick_day(page, words.HAPPENED_FROM, "2026-03-20")
    narrowed = recalled(page)
    pick_day(page, words.HAPPENED_UNTIL, "2026-03-10")
    said(page, "The last day is before the first; the last day is ignored.")
    assert recalled(page) == narrowed
    pick_day(page, words.HAPPENED_FROM, "2999-12-31")
    pick_day(page, words.HAPPENED_UNTIL, "2999-12-31")
    unharmed(page)
    assert recalled(page) == 0
    assert set(column(page, 4)) == {"filtered out"}
    pick_day(page, words.HAPPENED_FROM, "1000-01-01")
    unharmed(page)
    expect(page.get_by_test_id("stMain").get_by_test_id("stAlert")).to_have_count(0)
