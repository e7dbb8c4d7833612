"""A designer talks with a character, tests two presets blind over that talk, and takes a thumb back in the history."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system.interfaces.client import RemoteWorld
from memory_system.interfaces.client.conversation import Conversation

from .conftest import Dashboard, settled
from .hands import press, press_until, said, select, tick, write
from .test_accessibility import MAIN, violations
from .test_interview_journeys import say

pytestmark = pytest.mark.browser
LINES = ("Who has the mill key?", "When did you last see Tobias?")
AGENT = "edda"


@pytest.fixture
def world(dashboard: Dashboard) -> Iterator[RemoteWorld]:
    with RemoteWorld(dashboard.api) as remote:
        yield remote


def missing(page: Page) -> int:
    """How many thumbs the line lacks, as the foot of the page tells."""
    told = page.locator(".st-key-foot-talk-test").get_by_text(re.compile("missing here")).inner_text()
    found = re.search(r"(\d+) thumbs? missing here", told)
    return int(found[1]) if found else 0


def test_two_presets_are_tested_blind_over_a_talk_and_a_thumb_is_undone(
    page: Page, dashboard: Dashboard, world: RemoteWorld
) -> None:
    agent = world.agent(AGENT)
    dashboard.show(page, "interview", agent=AGENT, mode="play")
    write(page, words.YOUR_NAME, "John")
    press(page, "Begin")
    for line in LINES:
        say(page, line)
    talk = Conversation.all(agent)[0]
    press_until(page, words.OVER_THIS_TALK, page.get_by_role("heading", name="Recall", level=1))
    expect(page).to_have_url(re.compile(f"/recall[?].*talk={talk.id}"))
    select(page, "First preset", "paper")
    expect(page.get_by_text(f"Line 1 of {len(LINES)}")).to_be_visible()
    foot = page.locator(".st-key-foot-talk-test")
    expect(foot).to_contain_text(words.TOO_FEW_LINES)
    assert violations(page, MAIN) == []
    before = missing(page)
    assert before
    for left in range(before, 0, -1):
        page.locator("[class*='st-key-thumb-blind-'] button").nth(2 * (before - left)).click()
        settled(page)
        assert missing(page) == left - 1
    expect(foot).to_contain_text(f"1 of {len(LINES)} lines done")
    assert len(agent.judgments) == 1
    press(page, words.NEXT_WITHOUT_THUMBS)
    expect(page.get_by_text(f"Line 2 of {len(LINES)}")).to_be_visible()
    expect(page.get_by_text("better on")).to_have_count(0)
    press(page, words.WHO_IS_AHEAD)
    found = talk.versus("paper", "classic")
    assert found.first + found.second + found.equal == 1
    expect(page.get_by_text(f"“paper” is better on {found.first}, “classic” on {found.second}")).to_be_visible()
    link = page.url
    dashboard.show(page, "history", agent=AGENT)
    tick(page, 0)
    press(page, "Undo")
    said(page, re.compile("Undone: Judge"))
    page.goto(link)
    settled(page)
    expect(page.get_by_text("Line 1 of")).to_be_visible()
    assert missing(page) == 1
