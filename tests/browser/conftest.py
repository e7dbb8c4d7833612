"""A real server in a process of its own, and a real Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect, sync_playwright

from memory_system.embedding import CachedEmbedder
from tests import sample_world
from tests.running import Running, running

expect.set_options(timeout=20_000)  # a machine that runs two workers at once is slow now and then

ARGUMENTS = ("--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
_DRAWN = "[data-testid='stMainBlockContainer'] :is(h1, [data-testid='stAlert'])"
"""A page's title, or what is said instead; there is neither in the moment between connection and the first run."""


def _chromium() -> str:
    found = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
    )
    if not found:
        message = "no Chromium: install it ('sudo apt install chromium') or name it in CHROMIUM"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return found


class Dashboard(Running):
    """A running dashboard and its API."""

    def show(self, page: Page, view: str = "", **link: str) -> None:
        """Open a page by its link and wait until it is drawn."""
        page.goto(f"{self.url}/{view}?{urlencode(link)}")
        settled(page)


def settled(page: Page) -> None:
    """Wait until the script has started and ended; the first moments still show the state before.

    On a busy machine they last longer, so that it has to have ended twice.
    """
    app = page.locator("[data-testid='stApp']")
    for moment in (155, 250):
        page.wait_for_timeout(moment)
        _at_rest(page, app)


def _at_rest(page: Page, app: Locator) -> None:
    expect(app).to_have_attribute("data-test-connection-state", "CONNECTED", timeout=30_000)
    expect(page.locator(_DRAWN).first).to_be_visible(timeout=60_000)
    expect(app).to_have_attribute("data-test-script-state", "notRunning", timeout=60_000)
    expect(page.locator("[data-testid='stMain'] [data-stale='true']")).to_have_count(0, timeout=30_000)


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Dashboard]:
    """The dashboard on a copy of the sample world; the journeys share it."""
    _chromium()
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    folder = tmp_path_factory.mktemp("browser")
    with served(sample_world.copy(template, folder / "world"), folder / "serve.log") as running:
        yield running


@contextmanager
def served(places: dict[str, str], log: Path) -> Iterator[Dashboard]:
    """A dashboard of its own on the world that ``places`` lead to."""
    with running(places, log) as both:
        yield Dashboard(both.url, both.api)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = _chromium()
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if os.getuid() == 0 else [])]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page at 1366 pixels; the test fails if anything outside this machine is asked for."""
    with _watched(browser) as opened:
        yield opened


@pytest.fixture
def other_page(browser: Browser) -> Iterator[Page]:
    """What a second designer sees: a page with a session of its own."""
    with _watched(browser) as opened:
        yield opened


@contextmanager
def _watched(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1366, "height": 900})
    context.set_default_timeout(15_000)
    opened = context.new_page()
    outside: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")):
            outside.append(request.url)

    opened.on("request", note)
    yield opened
    context.close()
    assert not outside, f"asked for something outside: {outside}"
