"""What a designer does, in a real browser: remember and recall, migrate and undo, change a character."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from dashboard import words

from .conftest import LAST_RESORT, Dashboard, settled
from .hands import context_text, press, write

pytestmark = pytest.mark.browser


def test_an_event_is_remembered_and_recalled(page: Page, dashboard: Dashboard) -> None:
    event = "Father Oswin dropped a brass key behind the altar and went white"
    dashboard.show(page, "short_term", agent="mira")
    page.get_by_label(words.WHAT_HAPPENED).fill(event)
    press(page, "Remember")
    expect(page.get_by_text(re.compile(r"Remembered, rated \d+ of 10"))).to_be_visible()
    expect(page.get_by_text("21 of 20 remembered")).to_be_visible()
    assert event in context_text(page, dashboard, "mira", "What did Father Oswin drop behind the altar?")


def test_a_refusal_is_not_hidden_by_what_was_done_before(page: Page, dashboard: Dashboard) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    dashboard.show(page, "short_term", agent="ines")
    write(page, words.WHAT_HAPPENED, "Saw a seal on the slip")
    press(page, "Remember", exact=False)
    done = page.locator(".st-key-last-act").get_by_test_id("stAlert")
    expect(done).to_contain_text("Remembered")
    press(page, "Remember", exact=False)
    refusal = page.get_by_test_id("stAlert").filter(has_text=words.WRITE_IT_FIRST)
    expect(refusal).to_be_in_viewport(ratio=1)
    page.wait_for_function(
        "([above, below]) => above.getBoundingClientRect().bottom <= below.getBoundingClientRect().top",
        arg=[refusal.element_handle(), done.element_handle()],
    )
    press(page, "Undo", exact=False)


def test_a_migration_is_applied_and_undone(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="tobias")
    page.get_by_label(words.WHAT_HAPPENED).fill("Planed the last plank of the Wren and hung up the apron")
    press(page, "Remember")
    dashboard.show(page, "operations", agent="tobias", operation="Migrate")
    press(page, "Preview")
    expect(page.get_by_role("heading", name=re.compile("^Migrate: "))).to_be_visible()
    press(page, "Apply")
    expect(page.get_by_text("Applied: Migrate", exact=False).first).to_be_visible()
    dashboard.show(page, "", agent="tobias")
    expect(page.get_by_text("20 of 20")).to_be_visible()
    press(page, "Undo", exact=False)
    expect(page.get_by_text("Undone: Migrate", exact=False)).to_be_visible()
    expect(page.get_by_text("21 of 20")).to_be_visible()


def test_the_link_of_a_query_survives_a_reload(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "recall", agent="tobias")
    page.get_by_label("Cue").fill("Who might be hiding in the tide mill?")
    page.get_by_label("Cue").press("Enter")
    settled(page)
    page.reload()
    settled(page)
    expect(page.get_by_label("Cue")).to_have_value("Who might be hiding in the tide mill?")
    expect(page.get_by_text(re.compile(r"\d recalled of \d+ candidates"))).to_be_visible()
    assert "agent=tobias" in page.url


@pytest.mark.full
def test_the_api_and_the_dashboard_share_one_world(page: Page, dashboard: Dashboard) -> None:
    planned = httpx.post(f"{dashboard.api}/plan", json={"agent": "ines"}, timeout=LAST_RESORT / 1000).json()
    assert planned["actions"]
    dashboard.show(page, "history", agent="ines")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    dashboard.show(page, "", agent="ines")
    expect(page.get_by_text("API, ", exact=False)).to_be_visible()


def test_html_in_a_memory_runs_nothing(page: Page, dashboard: Dashboard) -> None:
    text = "<img src=x onerror=\"document.title='owned'\"> ![p](https://example.invalid/p.png) <b>geese</b>"
    dashboard.show(page, "short_term", agent="ines")
    page.get_by_label(words.WHAT_HAPPENED).fill(text)
    press(page, "Remember")
    for view, link in (("", {}), ("recall", {"cue": "geese"}), ("history", {}), ("short_term", {})):
        dashboard.show(page, view, agent="ines", **link)
        assert page.title() != "owned"
    assert "![p](https://example.invalid/p.png)" in context_text(page, dashboard, "ines", text)


@pytest.mark.full
@pytest.mark.parametrize(
    ("view", "link", "shown"),
    [
        ("", {}, "Edda Marsh"),
        ("recall", {"cue": "Who sleeps badly?"}, "Who sleeps badly?"),
        ("long_term", {}, "Long-term memory"),
        ("history", {}, "History"),
        ("personality", {}, "Personality"),
        ("short_term", {}, "Short-term memory"),
        ("operations", {"operation": "Summarise"}, "one summary"),
        ("settings", {}, "Settings"),
    ],
)
def test_the_link_of_every_page_survives_a_reload(
    kept_page: Page, dashboard: Dashboard, view: str, link: dict[str, str], shown: str
) -> None:
    page = kept_page
    for open_it in (lambda: dashboard.show(page, view, agent="edda", **link), page.reload):
        open_it()
        settled(page)
        main = page.get_by_test_id("stMain")
        expect(main).to_contain_text("Edda Marsh")
        if view == "recall":
            expect(page.get_by_label("Cue")).to_have_value(shown)
        else:
            expect(main).to_contain_text(shown)
        asked = parse_qs(urlsplit(page.url).query)
        assert asked["agent"] == ["edda"]
        assert all(asked[name] == [value] for name, value in link.items())
