"""The Memory page in a real browser: from the question to the mended memory, and all of it by keyboard."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from tests.waiting import LAST_RESORT

from .conftest import Dashboard, settled
from .hands import go_to, open_expander, paste, press

pytestmark = pytest.mark.browser

CUE = "Who has the mill key?"


def rows(page: Page) -> list[str]:
    """What the listed memories say, the first on top."""
    return page.get_by_role("option").locator(".text").all_inner_texts()


def address(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def ask(page: Page, cue: str) -> None:
    page.get_by_role("searchbox", name=words.ASK_OR_FILTER).fill(cue)
    page.wait_for_url(re.compile("cue=" + cue.split(maxsplit=1)[0]))
    settled(page)


def test_a_wrong_memory_is_found_forgotten_and_brought_back_in_three_clicks(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "memory", agent="mira")
    newest = rows(page)
    ask(page, CUE)
    before = rows(page)
    assert before != newest
    place = next(n for n, tier in enumerate(page.get_by_role("option").locator(".tier").all_inner_texts())
                 if tier == "long-term")  # fmt: skip
    wrong = page.get_by_role("option").nth(place)
    top = wrong.bounding_box()
    wrong.click()
    settled(page)
    assert wrong.bounding_box() == top, "nothing jumps when a memory is opened"
    press(page, "Forget")
    expect(page.get_by_role("option").filter(has_text=before[place])).to_have_count(0)
    press(page, "Undo")
    expect(page.get_by_role("option").nth(place)).to_contain_text(before[place])
    assert rows(page) == before


def test_no_field_of_the_drawer_is_cut(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "memory", agent="mira", memory="mira-0308-01")
    open_expander(page, words.EDIT_THIS_MEMORY)
    drawer = page.locator(".st-key-memory-drawer")
    for cut in (
        drawer.get_by_role("group", name="Day"),
        drawer.get_by_role("combobox", name="How it became known"),
        drawer.locator("label").filter(has_text="People, separated by commas"),
    ):
        assert cut.evaluate("one => one.scrollWidth <= one.clientWidth")
        assert cut.bounding_box()["width"] > 100


def test_the_score_beside_the_list_is_not_cut(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "memory", agent="mira", cue=CUE, memory="mira-0308-01")
    table = page.locator(".st-key-memory-drawer table.why")
    assert table.evaluate("one => one.offsetWidth - one.parentElement.clientWidth") <= 1, "a pixel is rounded"


def test_a_memory_from_right_to_left_reads_so(page: Page, dashboard: Dashboard) -> None:
    first, last = "رأيت", "الطاحونة"
    paste(page, dashboard, "ines", f"{first} Tobias عند {last}")
    press(page, words.REMEMBER_THESE)
    dashboard.show(page, "memory", agent="ines")
    text = page.get_by_role("option").locator(".text").filter(has_text=last).first
    places = """(one, sought) => sought.map((word) => {
        const range = document.createRange(), at = one.firstChild.data.indexOf(word);
        range.setStart(one.firstChild, at);
        range.setEnd(one.firstChild, at + word.length);
        return range.getBoundingClientRect().x;
    })"""
    right, left = text.evaluate(places, [first, last])
    assert right > left
    text.click()
    settled(page)
    card = page.locator(".st-key-memory-drawer").get_by_test_id("stText").locator("span").first
    right, left = card.evaluate(places, [first, last])
    assert right > left


def test_the_keyboard_walks_and_opens_and_the_address_leads_back(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "memory", agent="mira")
    page.evaluate("performance.now = () => 1")  # however quick somebody is, each step is one of its own
    page.keyboard.press("/")
    page.keyboard.type(CUE)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("cue=Who"))
    settled(page)
    second = rows(page)[1]
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(re.compile("memory="))
    settled(page)
    chosen = page.get_by_role("option", selected=True)
    expect(chosen).to_contain_text(second)
    expect(chosen).to_be_focused()
    there = page.url
    page.go_back()
    settled(page)
    expect(chosen).to_have_count(0)
    assert address(page)["cue"] == [CUE]
    page.goto(there)
    settled(page)
    expect(chosen).to_contain_text(second)
    expect(page.get_by_role("searchbox", name=words.ASK_OR_FILTER)).to_have_value(CUE)


@pytest.mark.full
def test_the_last_day_is_walked_by_keyboard_and_opens_a_memory(page: Page, dashboard: Dashboard) -> None:
    httpx.post(  # somebody between them who has lived nothing yet
        f"{dashboard.api}/v1/agents", json={"name": "marigold"}, timeout=LAST_RESORT, trust_env=False
    ).raise_for_status()
    dashboard.show(page, "", agent="mira")
    dots = page.get_by_role("group", name=re.compile("^The last day"))
    mira = dots.get_by_role("button", name=re.compile("^Mira Holloway"))
    mira.last.focus()
    page.keyboard.press("ArrowLeft")
    expect(mira.nth(-2)).to_be_focused()
    told = page.get_by_role("status").get_by_role("paragraph").first  # those who remember the same stand below
    before = told.inner_text()
    page.keyboard.press("ArrowUp")
    expect(told).not_to_have_text(before)
    above = re.match(r"(.+), \w+ \d\d:\d\d\s+(.+)", told.inner_text())  # whoever it is: eight have room, by name
    assert above
    name, said = above.groups()
    assert name not in {"Mira Holloway", "marigold"}
    page.keyboard.press("Enter")
    settled(page)
    expect(page.get_by_role("heading", level=1, name="Memory")).to_be_visible()
    expect(page.get_by_role("combobox", name=words.CHARACTER)).to_have_value(name)
    expect(page.locator(".st-key-memory-drawer")).to_contain_text(said[-60:].rstrip("…"))


@pytest.mark.full
def test_the_timeline_is_walked_and_zoomed_by_keyboard_and_the_address_leads_back(
    page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, "memory", agent="mira", layout="timeline")
    field = page.get_by_role("group", name=re.compile("^Timeline, "))
    here = page.locator("[data-testid='stBidiComponentIsolated'] .item[tabindex='0']")
    here.focus()
    before = here.get_attribute("data-id")
    page.keyboard.press("ArrowUp")
    expect(here).not_to_have_attribute("data-id", before or "")
    expect(here).to_be_focused()
    thought = here.get_attribute("data-id") or ""
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("memory="))
    settled(page)
    assert address(page)["memory"] == [thought]
    expect(page.locator(".st-key-memory-drawer")).to_contain_text("reflection")
    whole = field.get_attribute("aria-label") or ""
    page.keyboard.press("+")
    page.wait_for_url(re.compile("window="))
    settled(page)
    expect(field).not_to_have_attribute("aria-label", whole)
    expect(here).to_be_focused()
    zoomed, there = field.get_attribute("aria-label") or "", page.url
    page.goto(there)
    settled(page)
    expect(field).to_have_attribute("aria-label", zoomed)
    expect(page.locator(".item.chosen")).to_have_attribute("data-id", thought)


@pytest.mark.full
def test_the_scrubber_under_the_timeline_leads_to_then_and_back(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "memory", agent="mira", layout="timeline")
    scrub = page.get_by_role("slider", name="Then")
    scrub.press("PageDown")
    page.wait_for_url(re.compile("world_time="))
    settled(page)
    expect(page.locator(".st-key-looking-back")).to_contain_text("in the story")
    expect(scrub).to_have_attribute("aria-valuetext", re.compile("UTC$"))
    scrub.press("End")
    expect(page.locator(".st-key-looking-back")).to_have_count(0)
    expect(scrub).to_have_attribute("aria-valuetext", "now")


@pytest.mark.full
def test_after_a_memory_was_opened_and_closed_back_leads_to_the_page_before(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "history", agent="mira")
    go_to(page, "Memory")
    for number in (1, 2):
        page.get_by_role("option").nth(number).click()
        page.wait_for_url(re.compile("memory="))
        settled(page)
    press(page, "Close")
    expect(page.locator(".st-key-memory-drawer")).to_have_count(0)
    page.go_back()
    expect(page).to_have_url(re.compile("/history"))
    settled(page)
    expect(page.get_by_role("heading", level=1, name="History")).to_be_visible()
