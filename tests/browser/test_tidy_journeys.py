"""A designer tidies: duplicates and contradictions settled, and many memories changed together; each undone."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system.operations.duplicates.suspicions import ALMOST_THE_SAME
from tests.waiting import LAST_RESORT

from .conftest import Dashboard, settled
from .hands import box, column, open_expander, press, said, select, take, write

pytestmark = pytest.mark.browser

KEY = "Hid the spare net needle under the third step of the boathouse"
KEY_AGAIN = "Under the third step of the boathouse I hid the spare net needle"
TIDE, OTHER_TIDE = "The spring tide reaches the boathouse at 04:10", "The spring tide reaches the boathouse at 05:45"


def select_all_with(page: Page, text: str) -> None:
    """On Short-term, choose all memories with these words."""
    write(page, "Contains", text)
    page.get_by_test_id("stCheckbox").filter(has_text=words.SELECT_ALL).locator("label").first.click()
    settled(page)


def test_duplicates_and_contradictions_are_settled_and_undone(page: Page, dashboard: Dashboard) -> None:
    events = [{"document": text, "rating": 4} for text in (KEY, KEY_AGAIN, TIDE, OTHER_TIDE)]
    for path, body in (("", {"name": "nets"}), ("/nets/events", {"events": events})):
        httpx.post(
            f"{dashboard.api}/v1/agents{path}", json=body, timeout=LAST_RESORT, trust_env=False
        ).raise_for_status()
    dashboard.show(page, "tidy", agent="nets")
    same, other = page.get_by_text(ALMOST_THE_SAME), page.get_by_text(re.compile("One says “0[45]:"))
    expect(same).to_be_visible()
    expect(other).to_be_visible()
    press(page, words.KEEP_THIS_ONE)
    said(page, "Merge 2 memories into")
    expect(same).to_have_count(0)
    press(page, "Undo")
    expect(same).to_be_visible()
    open_expander(page, "Merge with a text of your own")
    write(page, "Text of the merged memory", "A spare net needle lies under the boathouse's third step")
    press(page, "Merge into one")
    expect(other).to_have_count(0)
    press(page, "Undo")
    expect(other).to_be_visible()
    press(page, words.BOTH_ARE_RIGHT)
    expect(other).to_have_count(0)
    expect(page.get_by_text("1 suspicion is dismissed.")).to_be_visible()
    press(page, "Undo")
    expect(other).to_be_visible()
    dashboard.show(page, "short_term", agent="nets")
    select_all_with(page, "boathouse")
    press(page, "Forget")
    said(page, "Forget: 4 memories.")


@pytest.mark.full
def test_memories_in_a_box_on_the_timeline_get_a_tag_and_importance_in_one_change(
    page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, "long_term", agent="oswin")
    box(page)
    together = page.locator("summary").filter(has_text=re.compile(r"Change the \d+ in the box together"))
    expect(together).to_be_visible()
    found = re.search(r"the (\d+) in", together.inner_text())
    assert found
    together.click()
    settled(page)
    take(page, "Add tags", "seen to")
    select(page, words.SET_IMPORTANCE, "9")
    expect(page.get_by_text(f"{found[1]} of {found[1]} memories would change.")).to_be_visible()
    press(page, f"Change {found[1]} memories")
    said(page, f"Change {found[1]} memories: add tag “seen to”, importance 9 of 10")
    press(page, "Undo")
    said(page, "Undone: ")
    dashboard.show(page, "history", agent="oswin")
    assert column(page, 1)[0].startswith("Undo: Change "), column(page, 1)
