"""Every page before axe-core: names, roles, headings, and contrast in light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, Page, expect

from dashboard import words
from dashboard.views import HISTORY

from .conftest import Dashboard, fresh_page, settled
from .hands import choose, field, open_tab, press, tick, write

pytestmark = pytest.mark.browser

NOT_OURS = (
    ("presentation-role-conflict", "[data-testid='stFileUploaderDropzone']"),  # a section that Streamlit labels
    ("region", "[id='stFloatingOverlayPortal']"),  # where Streamlit draws what floats, beside its own main
)
"""Rule and selector of what lies inside Streamlit's own widgets, where no page can change it."""
PAGES = {
    "overview": ("", {"agent": "mira"}),
    "inbox": ("inbox", {"agent": "mira"}),
    "interview": ("interview", {"agent": "mira"}),
    "interview of then": ("interview", {"agent": "mira", "revision": "40"}),
    "new character": ("new_character", {"agent": "mira"}),
    "memory": ("memory", {"agent": "mira", "cue": "Who has the mill key?", "memory": "mira-0302-02"}),
    "recall": ("recall", {"agent": "mira", "cue": "Who has the mill key?"}),
    "long_term": ("long_term", {"agent": "mira"}),
    "history": ("history", {"agent": "mira"}),
    "relive": ("relive", {"agent": "mira"}),
    "the past": ("recall", {"agent": "mira", "cue": "Who has the mill key?", "revision": "40"}),
    "settings of then": ("settings", {"agent": "mira", "world_time": "2026-03-20T20:00:00Z"}),
    "personality": ("personality", {"agent": "mira"}),
    "short_term": ("short_term", {"agent": "mira"}),
    "operations": ("operations", {"agent": "mira", "operation": "Summarise"}),
    "tidy": ("tidy", {"agent": "mira"}),
    "settings": ("settings", {"agent": "mira"}),
    "language model": ("installation", {"agent": "mira", "part": "model"}),
    "prompts": ("installation", {"agent": "mira", "part": "prompts"}),
    "spread": ("who_knows", {"agent": "mira", "fact": "Juno stole the mill key.", "as": "spread"}),
    "side by side": ("cast", {"agent": "mira", "with": "tobias", "cue": "Who has the mill key?"}),
    "trust": ("cast", {"agent": "mira", "show": "trust"}),
    "places": ("cast", {"agent": "mira", "show": "places"}),
    "memory map": ("memory_map", {"agent": "mira", "of": "mira"}),
    "world": ("installation", {"agent": "mira", "part": "known"}),
}


QUICK = ("memory", "recall", "short_term")
"""The pages that `make test` looks at; all of them are looked at in `make test-all`."""
FADED_IN = """() => Promise.allSettled(
    document.getAnimations().filter(one => isFinite(one.effect.getComputedTiming().endTime)).map(one => one.finished)
)"""
"""Comes back once nothing fades or moves in any more: until then it is not in its colour."""


COLOURED = ("color-contrast", "link-in-text-block")
"""The rules of axe-core that ask for colours: all that can differ in dark, where nothing else is drawn."""
LIGHTNESS = "getComputedStyle(document.querySelector('.stApp')).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"


@pytest.fixture(scope="module")
def seen(shared_context: BrowserContext) -> Iterator[Page]:
    """A page that is loaded once, and goes on from one test to the next."""
    with fresh_page(shared_context) as page:
        page.emulate_media(color_scheme="light")
        yield page


PANEL = "[role='tabpanel']:not([hidden])"
MAIN = "[data-testid='stMain']"


def violations(page: Page, within: str = "") -> list[str]:
    """What axe-core objects to and is ours, in words: by all its rules in light, by those of colour in dark.

    Args:
        page: what is looked at.
        within: the selector of what has changed since the whole page was looked at; all of it if not given.
    """
    found = []
    for scheme in _schemes(page):
        page.emulate_media(color_scheme=scheme)
        settled(page)
        if scheme == "dark":
            assert max(page.evaluate(LIGHTNESS)) < 128, "the page is drawn in dark"
            found += _broken(page, within, {"runOnly": {"type": "rule", "values": COLOURED}})
        else:
            found += _broken(page, within, {})
    return found


def _schemes(page: Page) -> tuple[Literal["light", "dark"], ...]:
    """Both, and the one that it is drawn in first: to draw a page in another one takes longer than to look at it."""
    return (
        ("dark", "light") if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else ("light", "dark")
    )


def _broken(page: Page, within: str, options: dict[str, Any]) -> list[str]:
    page.evaluate(FADED_IN)
    if page.evaluate("!window.axe"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(
        """([within, options]) => axe.run(within ? {include: [within]} : document,
            {resultTypes: ['violations'], ...options}).then(told => told.violations)""",
        [within, options],
    )
    ours = []
    for rule in found:
        for node in rule["nodes"]:
            target = node["target"][0]
            excused = [
                selector
                for name, selector in NOT_OURS
                if name == rule["id"]
                and page.locator(target).first.evaluate("(one, selector) => one.matches(selector)", selector)
            ]
            if not excused:
                why = "; ".join(one["message"] for one in (*node["any"], *node["all"], *node["none"]))
                ours.append(f"{rule['id']}: {node['html'][:120]} ({why})")
    return ours


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in PAGES]
)
def test_a_page_has_no_violation_of_ours(seen: Page, dashboard: Dashboard, name: str) -> None:
    view, link = PAGES[name]
    if {"revision", "world_time"} & link.keys():
        dashboard.load(seen, view, **link)
    else:
        dashboard.show(seen, view, **link)
    expect(seen.get_by_role("progressbar")).to_have_count(0)  # of what is worked out in the background
    assert not violations(seen)
    if name == "operations":
        press(seen, "Preview")
    elif name == "personality":
        for mode in ("JSON", "Facts"):
            choose(seen, words.EDIT_AS, mode)
            assert not violations(seen, MAIN)
    elif name == "recall":
        seen.get_by_text(words.DECAY_AND_TIME).click()
    elif name == "long_term":
        field(seen).locator(".item.reflection").last.click()
        settled(seen)
    elif name == "short_term":
        seen.get_by_role("tab", name=words.MANY_EVENTS).click()
        seen.get_by_label(words.PASTE_LINES).fill("One\nTwo")
        seen.get_by_label(words.PASTE_LINES).press("Tab")
        settled(seen)
    if name in ("operations", "recall", "long_term", "short_term"):
        assert not violations(seen, MAIN), "nor with what was opened there"
    if {"revision", "world_time"} & link.keys():
        seen.goto("about:blank")  # a session stays in the past; the next page has one of its own


@pytest.mark.full
def test_an_open_memory_and_every_tab_beside_it_have_no_violation_of_ours(seen: Page, dashboard: Dashboard) -> None:
    view, link = PAGES["recall"]
    for shown in ("Recalled", words.NOT_RECALLED):
        dashboard.show(seen, view, **link)
        choose(seen, "Show", shown)
        tick(seen, 0)
        open_tab(seen, "When forgotten")
        assert not violations(seen), shown
    press(seen, words.CLOSE_THIS_MEMORY)
    for tab in (words.CONTEXT_TEXT, "Narrative", words.COMPARE_PRESETS, "Judge", words.SAVED_CUES, words.AS_CODE):
        open_tab(seen, tab)
        if tab == "Narrative":
            press(seen, words.TELL_IT_AS_A_NARRATIVE, exact=False)
        assert not violations(seen, PANEL), tab


@pytest.mark.full
def test_what_opens_over_a_page_has_no_violation_of_ours(seen: Page, dashboard: Dashboard) -> None:
    dashboard.show(seen, "personality", agent="mira")
    seen.keyboard.press("Control+k")
    seen.keyboard.type("mill key")
    expect(seen.get_by_role("group", name="Memories")).to_be_visible()
    assert not violations(seen)
    seen.keyboard.press("Escape")
    press(seen, HISTORY.title)
    assert not violations(seen)
    seen.keyboard.press("Escape")


@pytest.mark.full
def test_a_conversation_before_it_is_remembered_has_no_violation_of_ours(seen: Page, dashboard: Dashboard) -> None:
    dashboard.show(seen, "short_term", agent="mira")
    open_tab(seen, words.A_CONVERSATION)
    assert not violations(seen, PANEL)
    write(seen, words.THE_CONVERSATION, "Mira: Who had the key last?\nTobias: I did, until Wednesday.")
    press(seen, "Preview", exact=False)
    assert not violations(seen, PANEL)


@pytest.mark.full
@pytest.mark.parametrize(("name", "role", "number"), [("installation", "tab", 4), ("operations", "radio", 5)])
def test_on_a_phone_every_part_of_a_page_can_be_chosen_from_one_line(
    page: Page, dashboard: Dashboard, name: str, role: Literal["tab", "radio"], number: int
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    dashboard.show(page, name, agent="mira")
    one = page.get_by_test_id("stMain")
    parts = (one if role == "tab" else one.get_by_role("radiogroup", name="Operation")).get_by_role(role)
    expect(parts).to_have_count(number)
    boxes = [part.bounding_box() or pytest.fail("it is not drawn") for part in parts.all()]
    assert {box["y"] for box in boxes} == {boxes[0]["y"]}
    assert all(0 <= box["x"] <= box["x"] + box["width"] <= 390 for box in boxes)


def test_with_the_keyboard_alone_one_sees_which_place_one_is_at(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "memory", agent="mira")
    here = page.locator(".st-key-places").get_by_role("link", name="Memory")
    page.get_by_role("link", name="Skip to main content").focus()
    for _ in range(9):
        page.keyboard.press("Tab")
        if here.evaluate("link => link === document.activeElement"):
            break
    expect(here).to_have_css("outline-style", "solid")
