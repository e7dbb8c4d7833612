"""That a request to somewhere outside this machine would be noticed."""

from __future__ import annotations

from playwright.sync_api import Page

from .conftest import Dashboard
from .outside import Outside


def test_what_a_page_asks_for_outside_this_machine_is_noticed(
    page: Page, dashboard: Dashboard, beyond: Outside
) -> None:
    page.goto(f"{dashboard.url}/_stcore/health")
    page.evaluate("fetch('https://fonts.example.org/').catch(() => {})")
    assert [asked.split()[:2] for asked in beyond.asked] == [["CONNECT", "fonts.example.org:443"]]
    beyond.asked.clear()
