"""Signing in, being a viewer, and strangers' text on every page, in every tab and chart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from dashboard import words
from memory_system import Settings, Tier, World
from memory_system.conversation import Conversation, load_document
from memory_system.embedding.embedder import CachedEmbedder
from tests import sample_world
from tests.hostile_texts import LINKS, MARKDOWN, REFUSED, SCRIPT, TEXTS

from .conftest import Dashboard, fresh_page, served, settled
from .test_hostile_input import unharmed

pytestmark = pytest.mark.browser

PASSWORD, VIEWERS_PASSWORD = "the-curators-word", "the-viewers-word"
ATTACKS = [text.translate(REFUSED)[:2000] for text in TEXTS.values()]
PAGES: dict[str, dict[str, str]] = {
    "": {},
    "interview": {},
    "memory": {"cue": "geese and evil pictures"},
    "recall": {"cue": "geese and evil pictures"},
    "long_term": {},
    "history": {"change": "2"},
    "relive": {"query": "1"},
    "personality": {},
    "short_term": {},
    "operations": {"operation": "Summarise"},
    "tidy": {},
    "rehearsal": {},
    "settings": {},
    "installation": {},
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Dashboard]:
    """A dashboard with passwords, on a world in which strangers wrote everything that can be written."""
    folder = tmp_path_factory.mktemp("guarded")
    places = sample_world.copy(
        sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder), folder / "world"
    )
    settings = Settings(
        database=Path(places["MEMORY_DATABASE"]), personalities=Path(places["MEMORY_PERSONALITIES"]), llm="offline"
    )
    character = {"identity": {"name": SCRIPT[:60], "description": MARKDOWN}, "traits": [SCRIPT], "facts": [MARKDOWN]}
    with World(settings, embedder=embedder) as world:
        strange = world.create_agent("strange", json.dumps(character))
        twice = [{"document": text, "tags": [text[:60]], "rating": 9} for text in ATTACKS for _ in range(2)]
        strange.acting_as(LINKS).add_short_term(twice, rate=False)
        strange.migrate_stm2ltm(ids=[entry.id for entry in strange.entries(Tier.STM)][::2])
        strange.save_cue(SCRIPT[:80], "geese and evil pictures")
        talk = Conversation.begin(strange, human=MARKDOWN[:60], title=SCRIPT[:60])
        for text in ATTACKS:
            talk.step(text)
        document = folder / "evil.md"
        document.write_text("\n\n".join(ATTACKS), encoding="utf-8")
        load_document(strange, document)
        strange.query_memory(SCRIPT + MARKDOWN)
        strange.summarize_and_forget(2)
    passwords = {"MEMORY_PASSWORD": PASSWORD, "MEMORY_VIEWER_PASSWORD": VIEWERS_PASSWORD}
    with served(places | passwords, folder / "serve.log") as running:
        yield running


@pytest.fixture(scope="module")
def kept_page(browser: Browser) -> Iterator[Page]:
    """A page that stays signed in, with cookies of its own: whoever signs in or out elsewhere plays no part."""
    context = browser.new_context(viewport={"width": 1366, "height": 900})
    with fresh_page(context) as opened:
        yield opened
    context.close()


def sign_in(page: Page, dashboard: Dashboard, password: str, link: str = "/?agent=strange") -> None:
    page.goto(dashboard.url + link)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def _open_what_is_closed(page: Page) -> None:
    """Open every expander that is in sight, and see that it does no harm."""
    closed = page.get_by_test_id("stMain").locator("[data-testid='stExpander'] details:not([open]) > summary:visible")
    for _ in range(closed.count()):
        if closed.count():
            closed.first.click()
            settled(page)
    unharmed(page)


def test_one_signs_in_is_told_who_one_is_and_signs_out(page: Page, guarded: Dashboard) -> None:
    sign_in(page, guarded, "not the password", "/recall?agent=mira&cue=Who+has+the+key")
    expect(page.get_by_role("alert")).to_have_text("Wrong password.")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Recall")
    expect(page.get_by_test_id("stSidebar")).to_contain_text("Curator")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Password")).to_be_visible()
    page.goto(f"{guarded.url}/recall?agent=mira")
    expect(page.get_by_label("Password")).to_be_visible()


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_out_by_how_the_page_to_sign_in_at_is_made(page: Page, guarded: Dashboard, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    sign_in(page, guarded, "not the password")
    expect(page.get_by_role("alert")).to_be_visible()
    found = Axe().run(page)
    assert not found.response["violations"], found.generate_report()
    page.set_viewport_size({"width": 390, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.full
def test_a_link_to_sign_in_holds_no_markup_of_strangers(page: Page, guarded: Dashboard) -> None:
    page.goto(f"{guarded.url}/\"><script>document.title='owned'</script>?agent=\"><img src=x onerror=alert(1)>")
    expect(page).to_have_title("Sign in · Memory system")
    expect(page.locator("script")).to_have_count(0)
    expect(page.locator("img")).to_have_count(1)


def test_a_viewer_sees_that_nothing_can_be_changed(page: Page, guarded: Dashboard) -> None:
    sign_in(page, guarded, VIEWERS_PASSWORD, "/short_term?agent=mira")
    settled(page)
    expect(page.get_by_test_id("stSidebar")).to_contain_text("You can look at everything, but not change anything.")
    expect(page.get_by_test_id("stMain").get_by_text(words.A_VIEWER).first).to_be_visible()
    guarded.show(page, "personality", agent="mira")
    expect(page.get_by_role("button", name=words.CHARACTERS)).to_have_count(0)
    guarded.show(page, "settings", agent="mira")
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    guarded.show(page, "installation", agent="mira", part="safety")
    expect(page.get_by_role("button", name=words.MAKE_A_BACKUP)).to_have_count(0)


@pytest.mark.full
@pytest.mark.parametrize("view", PAGES)
def test_strangers_text_is_text_in_every_tab_and_chart(kept_page: Page, guarded: Dashboard, view: str) -> None:
    page, link = kept_page, {"agent": "strange", **PAGES[view]}
    if page.url.startswith(guarded.url):
        guarded.show(page, view, **link)
    else:
        sign_in(page, guarded, PASSWORD, f"/{view}?{urlencode(link)}")
    unharmed(page)
    expect(page).to_have_url(re.compile(f"/{view}[?].*agent=strange"))
    main = page.get_by_test_id("stMain")
    names = list(dict.fromkeys(name for name in main.get_by_role("tab").all_inner_texts() if name))
    for name in names:
        tab = main.get_by_role("tab", name=name, exact=True).first
        if tab.is_visible():  # those of another tab are gone by now
            tab.click()
            unharmed(page)
            _open_what_is_closed(page)
    _open_what_is_closed(page)
    charts = main.locator(".js-plotly-plot")
    for number in range(charts.count()):
        box = charts.nth(number).bounding_box()
        if box is not None:
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    unharmed(page)
    expect(main.locator(".js-plotly-plot :is(a, image, b, script, foreignObject)")).to_have_count(0)
