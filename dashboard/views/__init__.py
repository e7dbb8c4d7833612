"""The pages, each in a folder with its own parts, and the places of the workbench that they belong to.

The folder is not called ``pages``: Streamlit treats one of that name as pages of its own, and would first report that
there is no such page to somebody who opens a link.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class PageOf:
    """A page: its name is that of its folder, of its script in it, and the last part of its address.

    Args:
        name: the name.
        title: what it is called, and what the history says of who changed something there.
        icon: how it is marked where pages are listed.
        label: what the line of links of its place calls it, if not by its title.
    """

    name: str
    title: str
    icon: str
    label: str = ""

    @property
    def script(self) -> Path:
        """What is run to draw it."""
        return _HERE / self.name / f"{self.name}.py"


@dataclass(frozen=True)
class Place:
    """A place of the workbench: its first page is where the sidebar leads, and from there one goes to the others."""

    title: str
    pages: tuple[PageOf, ...]

    @property
    def first(self) -> PageOf:
        """The page that opens with the place."""
        return self.pages[0]


WORLDS = PageOf("worlds", "Worlds", ":material/public:")
"""The worlds beside the one that is open, which the foot of the sidebar leads to by the name of that."""
PLACES = (
    Place(
        "World",
        (
            PageOf("overview", "World", ":material/home:"),
            PageOf("who_knows", "Who knows what", ":material/grid_on:"),
            PageOf("cast", "Cast", ":material/groups:"),
            PageOf("memory_map", "Memory map", ":material/scatter_plot:"),
            WORLDS,
        ),
    ),
    Place(
        "Memory",
        (
            PageOf("memory", "Memory", ":material/neurology:"),
            PageOf("recall", "Recall", ":material/search:", "Recall bench"),
            PageOf("long_term", "Long-term", ":material/timeline:"),
            PageOf("short_term", "Short-term", ":material/bolt:"),
            PageOf("relive", "Re-live", ":material/replay:"),
        ),
    ),
    Place("Talk", (PageOf("interview", "Interview", ":material/forum:"),)),
    Place(
        "Character",
        (
            PageOf("personality", "Personality", ":material/badge:"),
            PageOf("settings", "Settings", ":material/tune:"),
            PageOf("rehearsal", "Rehearsal", ":material/theater_comedy:"),
        ),
    ),
    Place(
        "Inbox",
        (
            PageOf("inbox", "Inbox", ":material/inbox:"),
            PageOf("tidy", "Tidy", ":material/cleaning_services:"),
            PageOf("operations", "Operations", ":material/autorenew:"),
        ),
    ),
)
"""The places as the sidebar lists them; the first page of the first is where everybody begins."""
HISTORY = PageOf("history", "History", ":material/history:")
"""All that was changed; of its last lines there is a drawer over every page."""
INSTALLATION = PageOf("installation", "Installation", ":material/settings:")
"""What is set for all characters, behind the gear."""
NEW = PageOf("new_character", "New character", ":material/person_add:")
"""Where a character is made, which the picker leads to."""
PAGES = (*(page for place in PLACES for page in place.pages), HISTORY, INSTALLATION, NEW)


def page_of(title: str) -> PageOf | None:
    """The page of this name."""
    return next((page for page in PAGES if page.title == title), None)


def place_of(page: PageOf) -> Place | None:
    """The place that a page belongs to; ``None`` for what lies over all pages."""
    return next((place for place in PLACES if page in place.pages), None)
