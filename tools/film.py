#!/usr/bin/env python3
"""The moving picture of the README: ten seconds of asking a character, and seeing why it remembers.

    python3 tools/setup.py film

Writes docs/film.webp.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import Page  # noqa: E402

from dashboard import words  # noqa: E402
from tests.browser.conftest import Dashboard, settled  # noqa: E402
from tests.browser.hands import press  # noqa: E402
from tools.screenshots import shown  # noqa: E402

FILM = ROOT / "docs" / "film.webp"
SIZE = (1366, 768)
WIDTH = 960
"""Pixels of the browser's window, and of the film's width."""
CUE = "Who has the mill key?"
LETTERS, LETTER, SCENE = 3, 140, 1600
"""Letters typed between two frames, and milliseconds for which such a frame and the picture of a scene are shown."""
LARGEST = 1_500_000


class Film:
    """Frames of a page, each with the milliseconds for which it is shown."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, milliseconds: int) -> None:
        """Add the page as it is now, in the film's size."""
        picture = Image.open(io.BytesIO(self._page.screenshot(animations="disabled"))).convert("RGB")
        height = round(picture.height * WIDTH / picture.width)
        self.frames.append(picture.resize((WIDTH, height), Image.Resampling.LANCZOS))
        self.times.append(milliseconds)

    def save(self, path: Path) -> None:
        """Store the film, as a loop."""
        first, *others = self.frames
        first.save(path, save_all=True, append_images=others, duration=self.times, loop=0, quality=70, method=6)


def act(film: Film, page: Page, dashboard: Dashboard) -> None:
    """The last day of a village; a question, letter by letter; a memory that is missing, and what would recall it."""
    dashboard.show(page, "", agent="mira")
    film.take(SCENE)
    dashboard.show(page, "memory", agent="mira")
    film.take(SCENE // 2)
    box = page.get_by_role("searchbox", name=words.ASK_OR_FILTER)
    box.click()
    for end in range(LETTERS, len(CUE) + LETTERS, LETTERS):
        box.press_sequentially(CUE[end - LETTERS : end], delay=0)
        film.take(LETTER)
    page.wait_for_url(re.compile("cue=Who"))
    settled(page)
    film.take(SCENE)
    missing = page.get_by_role("option").filter(has_text="Lent Tobias the brass key").first
    missing.hover()
    film.take(SCENE // 4)
    missing.click()
    settled(page)
    film.take(SCENE)
    press(page, "Try")
    film.take(SCENE)
    press(page, "Pin")
    film.take(SCENE)


def main() -> None:
    """Fill a world, act, and store the film."""
    with shown() as (browser, dashboard):
        page = browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light").new_page()
        film = Film(page)
        act(film, page, dashboard)
    film.save(FILM)
    size = FILM.stat().st_size
    print(f"{FILM.relative_to(ROOT)}  {len(film.frames)} frames, {sum(film.times) / 1000:.1f} s, {size // 1000} kB")
    if size > LARGEST:
        sys.exit(f"The film is larger than {LARGEST // 1000} kB: let it have fewer frames.")


if __name__ == "__main__":
    main()
