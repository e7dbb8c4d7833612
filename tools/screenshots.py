#!/usr/bin/env python3
"""Pictures of every page, in light and dark, at 1366 and 390 pixels, on a fresh copy of the sample world.

    python3 tools/setup.py screenshots [page ...]

Writes docs/screenshots/<page>-<light|dark>-<1366|390>.png. tools/film.py makes the moving picture of the README.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from dashboard import words  # noqa: E402
from memory_system import Settings, Tier, World  # noqa: E402
from memory_system.embedding.embedder import CachedEmbedder, Embedder, MiniLM  # noqa: E402
from memory_system.maintenance import Worlds  # noqa: E402
from tests import sample_world  # noqa: E402
from tests.browser.conftest import ARGUMENTS, Dashboard, knowing, served, settled  # noqa: E402
from tests.browser.hands import field, lines, press, select, take, tick  # noqa: E402
from tests.browser.test_interview_journeys import say  # noqa: E402

FOLDER = ROOT / "docs" / "screenshots"
TALLEST = 2400
STOLEN = "Juno stole the mill key from Tobias's coat."
LONG_AGO = "2026-03-01T12:00:00+00:00"
BRANCH = "if the key is found"
SAID = ("Who has the mill key?", "When did you last see Tobias?")
RIGHT = {
    "When did I fast?": "oswin-0218-03",
    "Who is Mr Vane?": "oswin-0219-02",
    "What is wrong with my knees?": "oswin-0220-01",
    "Who died on the night of the storm?": "oswin-0221-03",
    "What did Bert say of his mother's last hour?": "oswin-0221-04",
    "Why did Pip weep in the porch?": "oswin-0221-05",
    "Where was Biscuit found?": "oswin-0222-03",
    "What fell into my supper?": "oswin-0223-04",
    "What happened at the committal?": "oswin-0225-02",
    "What did I write to the Bishop?": "oswin-0226-03",
    "What does my sign for the fair say?": "oswin-0227-03",
    "Where does the oak for the roof come from?": "oswin-0305-01",
    "Where did I hear nails rattle?": "oswin-0305-02",
    "What got into my tea?": "oswin-0305-04",
    "What number did Juno say in her sleep?": "oswin-0307-03",
    "Who sent honey for Ines's cough?": "oswin-0309-02",
    "When was the Trasks' daughter born?": "oswin-0310-02",
    "Where did Hester sleep?": "oswin-0313-03",
    "How did I call Juno's new boat?": "oswin-0320-02",
    "What did I find in the alms box?": "oswin-0322-05",
    "Who is hiding in the mill?": "oswin-0322-10",
    "What did Edda pay to Garland?": "oswin-0325-02",
    "How much is in the roof fund?": "oswin-0326-02",
    "How many benches are there in the hall?": "oswin-0327-04",
    "What did I bring Davy last?": "oswin-0327-10",
}
"""The right answers of Oswin's memory, some of them forgotten; chosen so that tuning has something to propose."""
WIDTHS = {1366: 900, 390: 844}


def open_a_reflection(page: Page) -> None:
    """Open the last reflection on the timeline."""
    field(page).locator(".item.reflection").last.focus()
    page.keyboard.press("Enter")
    settled(page)


def preview(page: Page) -> None:
    """Ask what would happen."""
    press(page, "Preview")
    lines(page).first.wait_for()


def select_a_change(page: Page) -> None:
    """Open the second change of the history."""
    tick(page, 1)


def ask(page: Page) -> None:
    """Ask the first of the ready examples."""
    page.locator("[class*='st-key-ask-'] button").first.click()
    page.get_by_test_id("stChatMessage").nth(1).wait_for()
    settled(page)


def ask_without(page: Page) -> None:
    """Ask, mute the first memory of the character's life, and ask again."""
    press(page, "Ask")
    page.get_by_test_id("stCheckbox").filter(has_text="short-term").first.locator("label").first.click()
    settled(page)
    press(page, "Ask again without them")
    page.mouse.move(0, 0)
    settled(page)


def compare(page: Page) -> None:
    """Replay the sample talk with every strategy."""
    press(page, "Compare")
    page.locator(".st-key-strategies-growth .main-svg").first.wait_for()


def tune(page: Page) -> None:
    """Ask what tuning finds from the labels."""
    press(page, "Preview")
    page.get_by_role("heading", name=re.compile("^Tune: ")).wait_for()


def judge_blind(page: Page) -> None:
    """Say two lines, and compare two presets on them."""
    for line in SAID:
        say(page, line)
    press(page, words.OVER_THIS_TALK)
    select(page, "First preset", "paper")
    page.get_by_text(f"of {len(SAID)} lines done").wait_for()


PAGES: dict[str, tuple[str, dict[str, str], Callable[[Page], None]]] = {
    "overview": ("", {"agent": "mira"}, lambda _page: None),
    "inbox": ("inbox", {"agent": "edda"}, lambda page: page.get_by_role("button", name="Accept").first.wait_for()),
    "interview": ("interview", {"agent": "mira"}, ask),
    "ablation": ("interview", {"agent": "mira", "show": "ablation"}, ask_without),
    "strategies": ("interview", {"agent": "mira", "show": "strategies"}, compare),
    "memory": (
        "memory",
        {"agent": "mira", "cue": "Who has the mill key?", "memory": "mira-0302-02"},
        lambda _page: None,
    ),
    "recall": ("recall", {"agent": "mira", "cue": "Who has the mill key?"}, lambda _page: None),
    "nearest": ("recall", {"agent": "mira", "cue": "Which opening is best in chess?"}, lambda _page: None),
    "blind": ("interview", {"agent": "edda"}, judge_blind),
    "forgotten": ("recall", {"agent": "ines", "cue": "Who has the mill key?"}, lambda _page: None),
    "long_term": ("long_term", {"agent": "mira"}, open_a_reflection),
    "history": ("history", {"agent": "mira"}, select_a_change),
    "relive": ("relive", {"agent": "tobias", "query": "1"}, lambda _page: None),
    "as_of": ("", {"agent": "mira", "world_time": "2026-03-20T20:00:00Z"}, lambda _page: None),
    "personality": ("personality", {"agent": "juno"}, lambda _page: None),
    "short_term": ("short_term", {"agent": "mira"}, lambda page: tick(page, 0)),
    "operations": ("operations", {"agent": "mira", "operation": "Summarise"}, preview),
    "tune": ("operations", {"agent": "oswin", "operation": "tune"}, tune),
    "tidy": ("tidy", {"agent": "mira"}, lambda _page: None),
    "rehearsal": ("rehearsal", {"agent": "mira"}, lambda _page: None),
    "settings": ("settings", {"agent": "mira"}, lambda _page: None),
    "installation": ("installation", {"agent": "mira"}, lambda _page: None),
    "who_knows": ("who_knows", {"agent": "mira", "fact": STOLEN}, lambda _page: None),
    "spread": ("who_knows", {"agent": "mira", "fact": STOLEN, "as": "spread"}, lambda _page: None),
    "beside": ("cast", {"agent": "mira", "with": "tobias", "cue": "Who has the mill key?"}, lambda _page: None),
    "trust": ("cast", {"agent": "mira", "show": "trust"}, lambda _page: None),
    "places": ("cast", {"agent": "mira", "show": "places"}, lambda _page: None),
    "memory_map": ("memory_map", {"agent": "mira"}, lambda _page: None),
    "worlds": ("worlds", {"agent": "mira"}, lambda page: take(page, "Compare with", BRANCH)),
}


def live_on(places: dict[str, str], embedder: Embedder) -> None:
    """Let a game ask Tobias, and change his memories, for Re-live; let Ines forget; judge; branch."""
    settings = Settings(
        database=Path(places["MEMORY_DATABASE"]), personalities=Path(places["MEMORY_PERSONALITIES"]), llm="offline"
    )
    with World(settings, embedder=embedder) as world:
        tobias = world.agent("tobias").acting_as("Long-term page")
        found = tobias.acting_as("harbour.py").query_memory("Who has the mill key?")
        tobias.forget(next(hit.entry.id for hit in found if hit.entry.tier is not Tier.STATIC))
        tobias.add_short_term({"document": "Juno has the mill key now, under the flour bin.", "rating": 9}, rate=False)
        ines = world.agent("ines")
        ines.add_short_term({"document": "Juno has the mill key, she said.", "timestamp": LONG_AGO}, rate=True)
        room = ines.settings.stm_size
        ines.configure(stm_size=len(list(ines.entries(Tier.STM))) - 1)
        ines.migrate_stm2ltm(threshold=1.0)
        ines.configure(stm_size=room)
        oswin = world.agent("oswin")
        oswin.restore([one for one in RIGHT.values() if oswin.find(one) is None])
        for cue, right in RIGHT.items():
            for entry_id in {right, *(hit.entry.id for hit in oswin.explain(cue).hits)}:
                oswin.judge(cue, entry_id, verdict=entry_id == right)
    Worlds(settings, embedder=embedder).branch(settings.world, BRANCH)
    with World(settings.model_copy(update={"world": BRANCH}), embedder=embedder) as branch:
        branch.agent("mira").add_short_term({"document": "Edda gave me the mill key.", "rating": 8}, rate=False)


def capture(browser: Browser, dashboard: Dashboard, name: str, scheme: str, width: int) -> bytes:
    """One page as a PNG, as tall as it is, up to the tallest."""
    context = browser.new_context(
        viewport={"width": width, "height": WIDTHS[width]}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = context.new_page()
    try:
        view, link, act = PAGES[name]
        dashboard.show(page, view, **link)
        act(page)
        for _ in range(2):  # charts and tables are drawn, and grow, only once visible
            tall = page.locator("[data-testid='stMainBlockContainer']").bounding_box()
            assert tall is not None, "the page has a main block"
            page.set_viewport_size({"width": width, "height": max(WIDTHS[width], min(int(tall["height"]), TALLEST))})
            settled(page)
            page.wait_for_timeout(1000)
        page.evaluate("document.querySelector(\"[data-testid='stMain']\").scrollTo(0, 0)")
        page.mouse.move(0, 0)
        page.wait_for_timeout(300)
        return page.screenshot(animations="disabled")
    finally:
        context.close()


def save(picture: bytes, path: Path) -> None:
    """Store it with its own palette, which makes it a third of the size and looks the same."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}  {image.width} x {image.height}  {path.stat().st_size // 1000} kB", flush=True)


@contextmanager
def shown() -> Iterator[tuple[Browser, Dashboard]]:
    """A browser, and a dashboard on a fresh copy of the sample world."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("Pictures need Chromium: 'sudo apt install chromium', or name it in CHROMIUM.")
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if getattr(os, "getuid", lambda: 1)() == 0 else [])]
    with tempfile.TemporaryDirectory() as scratch:
        embedder = CachedEmbedder(MiniLM(Settings().cache))
        template = sample_world.filled(Path(scratch), embedder)
        places = sample_world.copy(template, Path(scratch) / "copy")
        live_on(places, embedder)
        with served(places, Path(scratch) / "serve.log") as dashboard, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
            knowing(browser)
            yield browser, dashboard
            browser.close()


def main() -> None:
    """Fill a world, show it, and take the pictures."""
    wanted = sys.argv[1:] or list(PAGES)
    if unknown := set(wanted) - set(PAGES):
        sys.exit(f"There is no page {sorted(unknown)}; there are {', '.join(PAGES)}.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with shown() as (browser, dashboard):
        for name in wanted:
            for scheme in ("light", "dark"):
                for width in WIDTHS:
                    picture = capture(browser, dashboard, name, scheme, width)
                    save(picture, FOLDER / f"{name}-{scheme}-{width}.png")


if __name__ == "__main__":
    main()
