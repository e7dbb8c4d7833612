"""A designer lets the world's clock run and stand, and sees what comes next."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from tests.waiting import LAST_RESORT

from .conftest import Dashboard
from .hands import press

pytestmark = pytest.mark.browser


@pytest.fixture
def standing(dashboard: Dashboard) -> Iterator[str]:
    """Where the shared world's clock stands, which it does again afterwards."""
    with httpx.Client(base_url=dashboard.api, timeout=LAST_RESORT, trust_env=False) as api:
        before = api.get("/v1/world").json()["standing"]
        assert before
        yield before
        api.patch("/v1/world", json={"standing": before, "lives": False}).raise_for_status()


def test_the_clock_is_played_at_a_speed_and_paused(page: Page, dashboard: Dashboard, standing: str) -> None:
    dashboard.show(page, agent="mira")
    card = page.locator(".st-key-life")
    expect(card.get_by_text("Comes next")).to_be_visible()
    page.get_by_role("radio", name="1 min a second", exact=True).click()
    press(page, words.PLAY_THE_CLOCK)
    expect(card.get_by_text("60 times as fast").first).to_be_visible()
    press(page, words.PAUSE_THE_CLOCK)
    expect(card.get_by_text("the clock is stopped").first).to_be_visible()
    told = httpx.get(f"{dashboard.api}/v1/world", timeout=LAST_RESORT, trust_env=False).json()
    assert told["standing"] > standing
