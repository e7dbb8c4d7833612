"""How much a page says before anybody has done anything: little enough to be read."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.views import PAGES
from memory_system.store.clock import About

OpenPage = Callable[..., AppTest]
MOST = 150


@pytest.fixture
def cast() -> Collection[str]:
    return ("mira",)


def prose(page: AppTest) -> str:
    """All that a page says by itself: no labels, titles, tables, buttons or badges, and nothing that is remembered."""
    said = [*page.caption, *page.markdown, *page.info, *page.warning, *page.success, *page.error]
    return " ".join(one.value for one in said if not one.value.startswith((":gray-badge", "<style")))


@pytest.mark.parametrize("view", [page.name for page in PAGES])
def test_no_page_says_more_than_one_reads(open_page: OpenPage, view: str) -> None:
    open_page("inbox")
    session.opened().create_agent("nobody", {"identity": {"name": "Nobody"}})
    session.opened().describe(About())
    told = prose(open_page(view, agent="nobody"))
    assert len(told.split()) <= MOST, told
