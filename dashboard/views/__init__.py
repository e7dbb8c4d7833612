"""The pages, each in a folder with its own parts beside it.

The folder is not called ``pages``: Streamlit takes one of that name for pages of its own making, and tells who opens a
link first that there is no such page.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class PageOf:
    """A page: its name is that of its folder, of its script in it, and the last part of its address."""

    name: str
    title: str
    icon: str

    @property
    def script(self) -> Path:
        """What is run to draw it."""
        return _HERE / self.name / f"{self.name}.py"


SECTIONS: dict[str, tuple[PageOf, ...]] = {
    "": (PageOf("overview", "Overview", ":material/home:"), PageOf("memory", "Memory", ":material/neurology:")),
    "Talk": (PageOf("interview", "Interview", ":material/forum:"),),
    "Inspect": (
        PageOf("recall", "Recall", ":material/search:"),
        PageOf("long_term", "Long-term", ":material/timeline:"),
        PageOf("history", "History", ":material/history:"),
        PageOf("relive", "Re-live", ":material/replay:"),
    ),
    "Curate": (
        PageOf("inbox", "Inbox", ":material/inbox:"),
        PageOf("personality", "Personality", ":material/badge:"),
        PageOf("short_term", "Short-term", ":material/bolt:"),
        PageOf("operations", "Operations", ":material/autorenew:"),
        PageOf("tidy", "Tidy", ":material/cleaning_services:"),
        PageOf("rehearsal", "Rehearsal", ":material/theater_comedy:"),
    ),
    "Set up": (PageOf("settings", "Settings", ":material/tune:"),),
}
"""The pages as the navigation lists them, section by section; the first is where everybody begins."""
PAGES = tuple(page for section in SECTIONS.values() for page in section)
