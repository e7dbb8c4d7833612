"""The places of the workbench: every page is declared once, keeps its old address, and is near."""

from __future__ import annotations

import pytest

from dashboard.views import HISTORY, INSTALLATION, NEW, PAGES, PLACES, page_of, place_of

OLD = [
    *("overview", "memory", "interview", "recall", "long_term", "history", "relive", "personality", "short_term"),
    *("operations", "tidy", "rehearsal", "settings"),
]


def test_there_are_five_places_and_every_page_belongs_to_one_or_lies_over_all() -> None:
    assert len(PLACES) == 5
    assert [page for page in PAGES if place_of(page) is None] == [HISTORY, INSTALLATION, NEW]
    assert len({page.name for page in PAGES}) == len({page.title for page in PAGES}) == len(PAGES)
    assert all(page.script.is_file() and page_of(page.title) is page for page in PAGES)


@pytest.mark.parametrize("name", OLD)
def test_an_old_address_is_still_that_of_a_page(name: str) -> None:
    assert name in {page.name for page in PAGES}
