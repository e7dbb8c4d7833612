"""A game writes while a designer looks: the page says so, and is drawn anew when the designer likes."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard import words
from tests.browser.conftest import LAST_RESORT, Dashboard, settled

pytestmark = pytest.mark.browser


def game_adds(dashboard: Dashboard, text: str) -> None:
    """What a game tells the API."""
    body = {"events": [{"document": text, "rating": 4}]}
    httpx.post(
        f"{dashboard.api}/v1/agents/edda/events", json=body, timeout=LAST_RESORT / 1000, trust_env=False
    ).raise_for_status()


def remembered(page: Page) -> Locator:
    """The heading that counts what short-term memory holds."""
    return page.get_by_role("heading", name="remembered")


def test_a_clock_that_somebody_sets_is_announced_and_takes_nothing_from_whoever_types(
    dashboard: Dashboard, page: Page
) -> None:
    dashboard.show(page, "short_term", agent="edda")
    typed, clock = page.get_by_label(words.WHAT_HAPPENED).first, page.locator(".head-clock")
    typed.fill("The bell of the ferry rang")
    here = f"{dashboard.api}/v1/world"
    httpx.patch(here, json={"zone": "Asia/Kolkata"}, timeout=LAST_RESORT / 1000, trust_env=False).raise_for_status()
    try:
        pill = page.get_by_role("button", name=words.WORLD_TIME)
        expect(pill).to_contain_text("IST")
        expect(clock).to_contain_text("UTC")
        pill.click()
        expect(clock).to_contain_text("IST")
        expect(pill).to_have_count(0)
        expect(typed).to_have_value("The bell of the ferry rang")
        settled(page)
    finally:
        httpx.patch(here, json={"zone": None}, timeout=LAST_RESORT / 1000, trust_env=False).raise_for_status()


_COUNT_RUNS = """() => {
    window.runs = 0;
    const app = document.querySelector("[data-testid='stApp']");
    new MutationObserver(() => { if (app.dataset.testScriptState === 'running') window.runs += 1; })
        .observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
}"""
"""Counts in the page itself how often anything of it is run from now on."""


def test_what_a_game_adds_is_announced_and_takes_nothing_from_whoever_types(dashboard: Dashboard, page: Page) -> None:
    dashboard.show(page, "short_term", agent="edda")
    typed = page.get_by_label(words.WHAT_HAPPENED).first
    typed.fill("The bell of the ferry rang")
    pill = page.get_by_role("button", name="Refresh")
    expect(pill).to_have_count(0)
    top, before = typed.bounding_box(), remembered(page).inner_text()
    game_adds(dashboard, "A game saw smoke over the mill.")
    expect(pill).to_be_visible()
    expect(pill).to_contain_text("1 new change")
    game_adds(dashboard, "A game heard a dog bark.")
    expect(pill).to_contain_text("2 new changes")
    assert typed.bounding_box() == top, "nothing moves"
    expect(typed).to_have_value("The bell of the ferry rang")
    expect(remembered(page)).to_have_text(before)
    pill.click()
    expect(remembered(page)).to_have_text(re.compile(f"^{int(before.split()[0]) + 2} of "))
    expect(pill).to_have_count(0)
    expect(typed).to_have_value("The bell of the ferry rang")
    settled(page)


@pytest.mark.full
def test_what_the_page_itself_does_is_no_news(dashboard: Dashboard, page: Page) -> None:
    dashboard.show(page, "short_term", agent="edda")
    page.get_by_label(words.WHAT_HAPPENED).first.fill("The bell of the ferry rang")
    before = remembered(page).inner_text()
    page.get_by_role("button", name="Remember").first.click()
    expect(remembered(page)).to_have_text(re.compile(f"^{int(before.split()[0]) + 1} of "))
    settled(page)
    pill = page.get_by_role("button", name="Refresh")
    expect(pill).to_have_count(0)
    game_adds(dashboard, "A game saw smoke over the mill.")
    expect(pill).to_contain_text("1 new change")  # that of the game: the page's own would be a second


@pytest.mark.full
def test_a_page_is_not_run_while_its_character_is_left_alone(
    dashboard: Dashboard, page: Page, other_page: Page
) -> None:
    dashboard.show(page, "short_term", agent="mira")
    dashboard.show(other_page, "short_term", agent="edda")
    for one in (page, other_page):
        one.evaluate(_COUNT_RUNS)
    for number in range(1, 4):
        game_adds(dashboard, f"A game saw smoke over the mill, {number} times.")
        expect(other_page.get_by_role("button", name="Refresh")).to_contain_text(f"{number} new change")
    assert 1 <= other_page.evaluate("window.runs") <= 3, "once for each piece of news; two draws may become one"
    assert page.evaluate("window.runs") == 0
    expect(page.get_by_role("button", name="Refresh")).to_have_count(0)


_HEARD = """const Socket = WebSocket;
window.WebSocket = class extends Socket {
    constructor(...given) {
        super(...given);
        if (new URL(this.url).pathname.endsWith("/news")) window.hear = (said) => this.onmessage({data: said});
    }
};"""
"""Lets a test say when news comes; it stands before the page's own scripts."""
_HEARD_ON_LEAVING = """link => {
    performance.now = () => Infinity;  // the page has been at rest for long enough
    link.click();
    window.hear("1000000");
    delete performance.now;
}"""
"""News comes in the moment in which the page is left: before anything could come back from the server."""


@pytest.mark.full
def test_news_in_the_moment_of_leaving_a_page_does_not_take_the_next_one_away(dashboard: Dashboard, page: Page) -> None:
    page.add_init_script(_HEARD)
    dashboard.show(page, "short_term", agent="edda")
    page.wait_for_function("() => window.hear")
    page.get_by_test_id("stSidebar").get_by_role("link", name="World", exact=True).evaluate(_HEARD_ON_LEAVING)
    settled(page)
    expect(page.get_by_role("heading", name=re.compile("^The last day"))).to_be_visible()
