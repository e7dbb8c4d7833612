"""The pages, each in a folder with its own parts, and the places of the workbench that they belong to.

The folder is not called ``pages``: Streamlit treats a folder of that name as its own pages, and would first report a
missing page to somebody who opens a link.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class PageOf:
    """A page: its name is that of its folder and of its script in it, and the last part of its address.

    Args:
        name: the name.
        title: its title, also the author in the history of changes made there.
        icon: its icon in lists of pages.
        label: its label in its place's line of links, if that is not the title.
    """

    name: str
    title: str
    icon: str
    label: str = ""

    @property
    def script(self) -> Path:
        """The script that draws it."""
        return _HERE / self.name / f"{self.name}.py"


@dataclass(frozen=True)
class Place:
    """A place of the workbench: the sidebar leads to its first page, which links to the others."""

    title: str
    pages: tuple[PageOf, ...]

    @property
    def first(self) -> PageOf:
        """The page that opens with the place."""
        return self.pages[0]


WORLDS = PageOf("worlds", "Worlds", ":material/public:")
"""All worlds; the name of the open one at the foot of the sidebar leads there."""
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
"""The places as the sidebar lists them; everybody begins on the first page of the first."""
HISTORY = PageOf("history", "History", ":material/history:")
"""All changes; a drawer over every page shows the last ones."""
INSTALLATION = PageOf("installation", "Installation", ":material/settings:")
"""The settings for all characters, behind the gear icon."""
NEW = PageOf("new_character", "New character", ":material/person_add:")
"""The page for making a character, reached from the picker."""
PAGES = (*(page for place in PLACES for page in place.pages), HISTORY, INSTALLATION, NEW)


def page_of(title: str) -> PageOf | None:
    """The page of this name."""
    return next((page for page in PAGES if page.title == title), None)


def place_of(page: PageOf) -> Place | None:
    """The place that a page belongs to; ``None`` for what is available on all pages."""
    return next((place for place in PLACES if page in place.pages), None)
