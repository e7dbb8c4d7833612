"""A life in two minutes: from anywhere to a new character with twenty dated events, all by what a person does."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard import words

from .conftest import Dashboard, settled
from .hands import press, said, write

pytestmark = pytest.mark.browser

WHO = "Hazel Ashby, 29, ferryman in Harrow Quay. He is patient. He wants to build a second boat."
DAYS = "\n".join(
    [f"2026-03-{day:02} 08:15 Rowed {day} people over the harbour" for day in range(1, 17)]
    + ["Tue 9:00 - Quarrelled with Edda about the mooring fee", "19 March: Lent Juno a lantern", "Day 2, 14:00 Rain",
       "14:30 Found a brass key in the bilge"]
)  # fmt: skip
CUE = "What did I find in the boat?"
AT_MOST = 3
"""Clicks from any page to where one begins to write."""


def test_a_new_character_with_twenty_dated_events_takes_six_clicks(page: Page, dashboard: Dashboard) -> None:
    clicks = 0

    def click(act: object) -> None:
        nonlocal clicks
        clicks += 1
        act.click()  # type: ignore[attr-defined]
        settled(page)

    dashboard.show(page, "history", agent="mira")
    page.get_by_role("combobox", name=words.CHARACTER).press("ArrowDown")  # as a click does that is held a moment
    clicks += 1
    click(page.get_by_role("option", name=words.NEW_CHARACTER))
    expect(page.get_by_role("heading", name=words.NEW_CHARACTER, level=1)).to_be_visible()
    assert clicks <= AT_MOST
    for label, text in ((words.IN_A_PARAGRAPH, WHO), (words.PASTE_A_LIFE, DAYS), (words.TRY_A_CUE, CUE)):
        clicks += 1  # into the field
        write(page, label, text)
    expect(page.get_by_text("20 events to remember, all still to be rated.")).to_be_visible()
    expect(page.get_by_role("list", name=words.BY_THEIR_SCORES)).to_contain_text("brass key in the bilge")
    page.reload()
    settled(page)
    expect(page.get_by_label(words.PASTE_A_LIFE, exact=True)).to_have_value(DAYS)
    typed = page.get_by_label(words.IN_A_PARAGRAPH, exact=True)
    typed.press("End")
    typed.press_sequentially(" He is kind.")  # and not left, when the page is loaded again
    page.reload()
    settled(page)
    expect(typed).to_have_value(f"{WHO} He is kind.")
    click(page.get_by_role("button", name=words.CREATE_IT, exact=True))
    assert clicks == 2 * AT_MOST
    expect(page).to_have_url(re.compile(r"/memory\?.*agent=hazel"))
    expect(page.get_by_text("Hazel Ashby was created with 20 memories.")).to_be_visible()
    expect(page.get_by_role("searchbox", name=words.ASK_OR_FILTER)).to_have_value(CUE)
    press(page, "Undo")
    said(page, "hazel was taken back.")
    expect(page.get_by_role("combobox", name=words.CHARACTER)).not_to_have_value("Hazel Ashby")
