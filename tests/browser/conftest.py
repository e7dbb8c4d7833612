"""A real server in its own process, and a real Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from memory_system.embedding.embedder import CachedEmbedder
from tests import programs, sample_world
from tests.running import Running, running

from .outside import Outside, outside

programs.preload("tests.browser.serving")
LAST_RESORT = 300_000
"""Milliseconds after which a waiting browser test is given up: no test waits for a fixed time."""
expect.set_options(timeout=LAST_RESORT)

ARGUMENTS = (
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
    "--process-per-site",
    "--js-flags=--no-opt --min-semi-space-size=64 --max-semi-space-size=128",
)
"""The last but one makes all pages of a context share one process, and so the scripts that it has compiled; the last
saves optimising code that will not run for long, and tidying up after pages that are closed soon."""
_OFF = "--disable-features=ScriptStreaming,BackgroundResourceFetch"
"""Features that cost a fifth of the processor time of loading a page, and gain nothing with a local server."""
_REST = Path(__file__).with_name("rest.js")
_NAVIGATIONS = 9
"""How many times a page may load another during a wait, as after signing in."""


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


_GO = "url => { history.pushState(null, '', url); dispatchEvent(new PopStateEvent('popstate')) }"
"""JavaScript that goes to a page as Back does, which costs a fifth of loading it."""


class Dashboard(Running):
    """A running dashboard and its API."""

    def show(self, page: Page, view: str = "", **link: str) -> None:
        """Open a page by its link and wait until it is drawn; from another page, without leaving the session."""
        if page.url.startswith(f"{self.url}/") and urlsplit(page.url).path.strip("/") != view:
            page.evaluate(_GO, self._address(view, link))
            settled(page)
        else:
            self.load(page, view, **link)

    def load(self, page: Page, view: str = "", **link: str) -> None:
        """Open a page by its link in a new session, like a link received from somebody."""
        page.goto(self._address(view, link), wait_until="commit")
        settled(page)

    def _address(self, view: str, link: dict[str, str]) -> str:
        return f"{self.url}/{view}?{urlencode(link)}"


def settled(page: Page) -> None:
    """Wait until the page is at rest: it has nothing to send, and all it requested has run, arrived and been drawn.

    The page asks the server with a heartbeat (``rest.js``), which is answered once nothing runs (``serving.py``). It is
    brought to the front first: Chromium draws a page that has never been there once a second, and each wait for a
    drawing would take two.
    """
    page.bring_to_front()
    for _ in range(_NAVIGATIONS):
        try:
            page.evaluate("most => window.atRest(most)", LAST_RESORT)
        except PlaywrightError as error:
            if "context was destroyed" not in error.message:
                raise
        else:
            return
    pytest.fail(f"The page goes from one address to the next: {page.url}")


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
    """A separate dashboard on the world that ``places`` lead to."""
    with running(places, log, "tests.browser.serving") as both:
        yield Dashboard(both.url, both.api)


@pytest.fixture(scope="session")
def beyond() -> Iterator[Outside]:
    """Records what the browser requests outside this machine."""
    with outside() as proxy:
        yield proxy


@pytest.fixture(autouse=True)
def nothing_outside(beyond: Outside) -> Iterator[None]:
    """The test fails if anything outside this machine is requested."""
    yield
    asked = [*beyond.asked]
    beyond.asked.clear()
    assert not asked, f"asked for something outside: {asked}"


@pytest.fixture(scope="session")
def browser(beyond: Outside) -> Iterator[Browser]:
    """One Chromium for all tests of this process; each of its pages knows when it is at rest."""
    path = _chromium()
    arguments = [*ARGUMENTS, _OFF, beyond.option, *(["--no-sandbox"] if os.getuid() == 0 else [])]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=arguments)
        knowing(opened)
        yield opened
        opened.close()


def knowing(browser: Browser) -> None:
    """Make ``settled`` wait for the pages of every context that this browser makes from now on."""
    make = browser.new_context

    def new_context(**options: Any) -> BrowserContext:
        made = make(**options)
        made.add_init_script(path=_REST)
        made.set_default_timeout(LAST_RESORT)
        return made

    browser.new_context = new_context  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def shared_context(browser: Browser, dashboard: Dashboard) -> Iterator[BrowserContext]:
    """What pages have in common: the scripts that Chromium has loaded and compiled, else 11 MB per page.

    They are kept by the process that draws the pages, which a small page that stays open keeps.
    """
    made = browser.new_context(viewport={"width": 1366, "height": 900})
    made.new_page().goto(f"{dashboard.url}/_stcore/health")
    yield made
    made.close()


@pytest.fixture
def page(shared_context: BrowserContext) -> Iterator[Page]:
    """A page at 1366 pixels."""
    with fresh_page(shared_context) as opened:
        yield opened


@pytest.fixture
def other_page(shared_context: BrowserContext) -> Iterator[Page]:
    """What a second designer sees: a page with its own session."""
    with fresh_page(shared_context) as opened:
        yield opened


@pytest.fixture(scope="module")
def kept_page(shared_context: BrowserContext) -> Iterator[Page]:
    """A page for all tests of a file that only read: it continues from one to the next, and is loaded once."""
    with fresh_page(shared_context) as opened:
        yield opened


@contextmanager
def fresh_page(context: BrowserContext) -> Iterator[Page]:
    """A new page that starts without cookies and with nothing stored."""
    opened = context.new_page()
    yield opened
    if opened.url.startswith("http"):
        opened.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    opened.close()
    context.clear_cookies()
