"""A designer looks at the past, and finds out why what was recalled then is not recalled now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system import Settings, Tier, World
from memory_system.agent_parts.replay import FORGOTTEN
from memory_system.embedding.embedder import CachedEmbedder
from tests import sample_world

from .conftest import Dashboard, served, settled
from .hands import press, said, tick, way_to, write

pytestmark = pytest.mark.browser

CUE = "Who has the mill key?"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Dashboard]:
    """A dashboard of its own: a game has asked Mira for the key, and what it recalled was forgotten since."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    folder = tmp_path_factory.mktemp("asked")
    places = sample_world.copy(template, folder / "world")
    settings = Settings(
        database=Path(places["MEMORY_DATABASE"]), personalities=Path(places["MEMORY_PERSONALITIES"]), llm="offline"
    )
    with World(settings, embedder=embedder) as world:
        mira = world.agent("mira")
        found = mira.acting_as("harbour.py").query_memory(CUE)
        mira.forget(next(hit.entry.id for hit in found if hit.entry.tier is not Tier.STATIC))
    with served(places, folder / "serve.log") as running:
        yield running


def test_every_page_is_looked_at_as_of_a_change_and_back_again(page: Page, asked: Dashboard) -> None:
    asked.show(page, "history", agent="mira")
    tick(page, 0)
    press(page, words.MOMENT_BEFORE, exact=False)
    banner = page.locator(".st-key-looking-back")
    expect(banner).to_contain_text(re.compile("Mira Holloway as of .* UTC, in the story"))
    expect(banner).to_contain_text("1 change since")
    way_to(page, "Short-term").click()
    settled(page)
    expect(page).to_have_url(re.compile(r"short_term\?.*revision=\d+"))
    expect(banner).to_be_visible()
    expect(page.get_by_role("button", name="Remember")).to_have_count(0)
    page.reload()
    settled(page)
    expect(banner).to_contain_text("1 change since")
    press(page, words.ONE_CHANGE_LATER, exact=False)
    expect(banner).to_contain_text("no change since")
    press(page, words.BACK_TO_NOW, exact=False)
    expect(banner).to_have_count(0)
    expect(page).not_to_have_url(re.compile("revision="))
    expect(page.get_by_role("button", name="Remember").first).to_be_visible()
    page.get_by_role("button", name=words.LOOK_AT_THE_PAST).click()
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="Look", exact=True).click()
    settled(page)
    expect(banner).to_contain_text("in the story")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


def test_a_query_of_a_game_is_lived_through_again(page: Page, asked: Dashboard) -> None:
    asked.show(page, "relive", agent="mira")
    write(page, "Cue contains", "MILL")
    tick(page, 0)
    expect(page).to_have_url(re.compile("query=1"))
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("asked by harbour.py")
    expect(main).to_contain_text(words.REBUILT_EXACTLY)
    expect(main).to_contain_text(FORGOTTEN)
    expect(main.get_by_role("list", name=words.SCORES_THEN_AND_NOW).get_by_role("listitem").first).to_be_visible()
    press(page, "Why, then", exact=False)
    expect(page).to_have_url(re.compile(r"recall\?.*revision="))
    expect(page.locator(".st-key-looking-back")).to_be_visible()
    said(page, re.compile(r"Recalled: .*Score \d\.\d\d = "))
