"""The places of the workbench: every page is declared once, keeps its old address, and is near."""

from __future__ import annotations

import pytest

from dashboard.views import HISTORY, INSTALLATION, NEW, PAGES, PLACES, PageOf, page_of, place_of
from tests.sample_world import ROOT

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


WITHIN = {
    "A new character with 20 dated events": ("new_character", 0),
    "Find why a memory is not recalled, mend it, keep the cue as a test": ("memory", 1),  # into the box
    "Preview, accept half, apply, undo": ("operations", 1),  # Preview
    "Who changed this last week, and take it back": ("memory", 1),  # the memory, whose tab lists its changes
    "Replay a game's question": ("relive", 1),  # the question
    "Ablation: ask again without a memory": ("interview", 1),  # its tab
    "Two characters side by side": ("overview", 1),  # into the box that asks all
}
"""The journeys of ``docs/journeys.md``: the page on which each begins, and the clicks there until it has begun."""
BY_NAME = {page.name: page for page in PAGES}


def clicks_to(page: PageOf) -> int:
    """From any page to this one, by the sidebar, the line under the title, the drawer or the picker."""
    place = place_of(page)
    if place is None:
        return 1 if page is INSTALLATION else 2  # the picker and its option; the drawer and its link
    return 1 if page is place.first else 2


def test_every_page_is_two_clicks_away_and_every_journey_begins_within_three() -> None:
    assert max(map(clicks_to, PAGES)) == 2
    rows = [line.split("|") for line in (ROOT / "docs" / "journeys.md").read_text(encoding="utf-8").splitlines()]
    told = {row[1].strip(): (row[2].strip(), int(row[3])) for row in rows if len(row) > 5 and row[3].strip().isdigit()}
    assert set(told) == set(WITHIN)
    for journey, (name, within) in WITHIN.items():
        page = BY_NAME[name]
        assert told[journey] == (page.title, clicks_to(page) + within)
        assert told[journey][1] <= 3
