"""A game writes while a designer looks: the page says so, and is drawn anew when the designer likes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from memory_system.embedding import CachedEmbedder
from tests import sample_world
from tests.browser.conftest import Dashboard, served, settled

pytestmark = pytest.mark.browser


def game_adds(dashboard: Dashboard, text: str) -> None:
    """What a game tells the API."""
    body = {"events": [{"document": text, "rating": 4}]}
    httpx.post(f"{dashboard.api}/v1/agents/edda/events", json=body, timeout=60, trust_env=False).raise_for_status()


def remembered(page: Page) -> Locator:
    """The heading that counts what short-term memory holds."""
    return page.get_by_role("heading", name="remembered")


_COUNT_RUNS = """() => {
    window.runs = 0;
    const app = document.querySelector("[data-testid='stApp']");
    new MutationObserver(() => { if (app.dataset.testScriptState === 'running') window.runs += 1; })
        .observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
}"""
"""Counts in the page itself how often anything of it is run from now on."""


@pytest.fixture
def own(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Dashboard]:
    """A dashboard of this test's own: others would change it too."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    with served(sample_world.copy(template, tmp_path / "world"), tmp_path / "serve.log") as running:
        yield running


def test_what_a_game_adds_is_announced_and_takes_nothing_from_whoever_types(own: Dashboard, page: Page) -> None:
    own.show(page, "short_term", agent="edda")
    typed = page.get_by_label("What happened").first
    typed.fill("The bell of the ferry rang")
    pill = page.get_by_role("button", name="Refresh")
    expect(pill).to_have_count(0)
    top, before = typed.bounding_box(), remembered(page).inner_text()
    game_adds(own, "A game saw smoke over the mill.")
    expect(pill).to_be_visible(timeout=60_000)
    expect(pill).to_contain_text("1 new change")
    game_adds(own, "A game heard a dog bark.")
    expect(pill).to_contain_text("2 new changes", timeout=60_000)
    assert typed.bounding_box() == top, "nothing moves"
    expect(typed).to_have_value("The bell of the ferry rang")
    expect(remembered(page)).to_have_text(before)
    pill.click()
    expect(remembered(page)).to_have_text(re.compile(f"^{int(before.split()[0]) + 2} of "), timeout=60_000)
    expect(pill).to_have_count(0, timeout=60_000)
    expect(typed).to_have_value("The bell of the ferry rang")
    settled(page)


def test_what_the_page_itself_does_is_no_news(own: Dashboard, page: Page) -> None:
    own.show(page, "short_term", agent="edda")
    page.get_by_label("What happened").first.fill("The bell of the ferry rang")
    before = remembered(page).inner_text()
    page.get_by_role("button", name="Remember").first.click()
    expect(remembered(page)).to_have_text(re.compile(f"^{int(before.split()[0]) + 1} of "), timeout=60_000)
    settled(page)
    page.wait_for_timeout(3000)  # longer than it takes to look for news
    expect(page.get_by_role("button", name="Refresh")).to_have_count(0)


def test_a_page_is_not_run_while_its_character_is_left_alone(own: Dashboard, page: Page, other_page: Page) -> None:
    own.show(page, "short_term", agent="mira")
    own.show(other_page, "short_term", agent="edda")
    for one in (page, other_page):
        one.evaluate(_COUNT_RUNS)
    for number in range(1, 4):
        game_adds(own, f"A game saw smoke over the mill, {number} times.")
        expect(other_page.get_by_role("button", name="Refresh")).to_contain_text(f"{number} new change", timeout=60_000)
    assert 1 <= other_page.evaluate("window.runs") <= 3, "once for each piece of news; two draws may become one"
    assert page.evaluate("window.runs") == 0
    expect(page.get_by_role("button", name="Refresh")).to_have_count(0)
