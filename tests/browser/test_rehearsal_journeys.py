"""A designer rehearses with a copy of a character, keeps a part of it, takes that back, and drops the copy."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard import words

from .conftest import Dashboard, settled
from .hands import choose, column, lines, paste, press, said, write
from .test_accessibility import MAIN, violations

pytestmark = pytest.mark.browser

WHOM, BRANCH = "Tobias Finch", "tobias rehearsal"
GOOD, BAD = "Heard a saw in the mill at night", "Dropped a plank on a toe"


def begin(page: Page, dashboard: Dashboard, purpose: str) -> None:
    dashboard.show(page, "rehearsal", agent="tobias")
    write(page, words.WHAT_TO_TRY, purpose)
    press(page, f"{words.REHEARSE_WITH} {WHOM}")
    said(page, "You are in the rehearsal now.")


def drop(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "rehearsal", agent=BRANCH)
    press(page, "Drop")
    said(page, "The rehearsal was dropped.")


def remembered(page: Page, dashboard: Dashboard) -> str:
    """What the original has in short-term memory, by its page."""
    dashboard.show(page, "short_term", agent="tobias")
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    return "\n".join(cell for number in (1, 2, 3) for cell in column(page, number))


def test_a_part_of_a_rehearsal_is_kept_undone_and_the_rest_dropped(page: Page, dashboard: Dashboard) -> None:
    begin(page, dashboard, "a noise in the night")
    banner = page.locator(".st-key-rehearsing")
    expect(banner).to_contain_text(f"{words.REHEARSAL_OF} {WHOM}: a noise in the night")
    paste(page, dashboard, BRANCH, f"{GOOD}\n{BAD}")
    expect(banner).to_contain_text(f"{WHOM} {words.STAYS_AS_BEFORE}")
    press(page, words.REMEMBER_THESE)
    dashboard.show(page, "rehearsal", agent=BRANCH)
    lines(page).filter(has_text=GOOD).click()
    settled(page)
    press(page, "Preview")
    expect(page.get_by_text(f"{WHOM} would have: 1 memory more.")).to_be_visible()
    press(page, f"{words.KEEP_IN} {WHOM}")
    said(page, f"{words.KEPT_IN} {WHOM}.")
    held = remembered(page, dashboard)
    assert GOOD in held
    assert BAD not in held
    dashboard.show(page, "", agent="tobias")
    press(page, "Undo")
    said(page, re.compile("Undone: Keep from a rehearsal"))
    drop(page, dashboard)
    expect(page.locator(".st-key-rehearsing")).to_have_count(0)
    assert "agent=tobias" in page.url


@pytest.mark.full
def test_a_rehearsal_is_readable_and_leads_back(page: Page, dashboard: Dashboard) -> None:
    begin(page, dashboard, "what if it rained")
    paste(page, dashboard, BRANCH, GOOD)
    press(page, words.REMEMBER_THESE)
    dashboard.show(page, "rehearsal", agent=BRANCH)
    assert violations(page) == []
    choose(page, "Keep", words.CHANGE_BY_CHANGE)
    assert violations(page, MAIN) == []
    press(page, f"{words.BACK_TO} {WHOM}")
    expect(page.get_by_text("Rehearsals of this character")).to_be_visible()
    assert violations(page) == []
    drop(page, dashboard)
