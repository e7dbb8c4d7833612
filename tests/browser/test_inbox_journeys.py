"""A designer goes through the inbox: one thing is accepted and undone, another put off, which every browser knows."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from tests.waiting import LAST_RESORT

from .conftest import Dashboard, settled
from .hands import press, said

pytestmark = [pytest.mark.browser, pytest.mark.full]

ROPE = "Coiled the long rope behind the smokehouse door"


def test_a_duplicate_is_accepted_undone_put_off_and_asked_for_again(
    page: Page, other_page: Page, dashboard: Dashboard
) -> None:
    twice = {"events": [{"document": ROPE, "rating": 4}] * 2}
    for path, body in (("", {"name": "ropes"}), ("/ropes/events", twice)):
        httpx.post(
            f"{dashboard.api}/v1/agents{path}", json=body, timeout=LAST_RESORT, trust_env=False
        ).raise_for_status()
    dashboard.show(page, "inbox", agent="ropes", kind="duplicate")
    line = page.locator("[class*='st-key-inbox-line-']").filter(has_text=ROPE)
    expect(line).to_be_visible()
    line.get_by_role("button", name=words.ACCEPT).click()
    settled(page)
    expect(page.get_by_role("radiogroup", name="Which one stays?").get_by_role("radio")).to_have_count(2)
    press(page, "Apply")
    said(page, "Merge 2 memories into")
    expect(line).to_have_count(0)
    press(page, "Undo")
    expect(line).to_be_visible()
    line.get_by_role("button", name=words.LATER).press("Enter")
    page.get_by_role("menuitem", name=words.FOR_A_WEEK).click()
    settled(page)
    said(page, re.compile(f"Put off until .*{ROPE}"))
    expect(line).to_have_count(0)
    dashboard.show(other_page, "inbox", agent="ropes")
    other_page.get_by_text("Put off: 1").click()
    press(other_page, words.ASK_AGAIN_NOW, exact=False)
    expect(other_page.locator("[class*='st-key-inbox-line-']").filter(has_text=ROPE)).to_be_visible()
