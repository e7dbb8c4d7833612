"""Felt speed of the dashboard: a real browser, a character with 5,000 memories beside one of the sample world.

    python -m benchmarks.dashboard [--memories 5000] [--rounds 5]

Times what a person waits for: from the click in the navigation until the page is drawn and its script has ended, and
from the key on a slider of the Recall page until the new scores are drawn, and until all is at rest. The ratio is to
the same measure with a character of the sample world, in the same run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.memory import texts
from memory_system import Settings, Tier, World
from memory_system.embedding import CachedEmbedder, Embedder, MiniLM
from tests import sample_world
from tests.browser.conftest import ARGUMENTS, Dashboard, served, settled

SAMPLE, LARGE = "mira", "bench"
SWITCH, SLIDE = 1000.0, 300.0
"""Targets in milliseconds: a page switch, a slider."""
TITLES = {
    "Recall": "Recall",
    "Long-term": "Long-term memory",
    "History": "History",
    "Personality": "Personality",
    "Short-term": "Short-term memory",
    "Operations": "Operations",
    "Settings": "Settings",
}
_QUIET = """() => {
    const app = document.querySelector("[data-testid='stApp']");
    return app.dataset.testScriptState === 'notRunning' && !document.querySelector("[data-stale='true']");
}"""


def fill(places: dict[str, str], embedder: Embedder, count: int) -> None:
    """Add a character with this many memories, all but twenty of them long-term."""
    settings = Settings(
        database=Path(places["MEMORY_DATABASE"]), personalities=Path(places["MEMORY_PERSONALITIES"]), llm="offline"
    )
    with World(settings, embedder=embedder) as world:
        agent = world.create_agent(LARGE)
        now = world.clock()
        events = [
            {"document": text, "rating": 1 + number % 10, "timestamp": now - timedelta(minutes=25 * number)}
            for number, text in enumerate(texts(count))
        ]
        for start in range(0, count, 500):
            agent.add_short_term(events[start : start + 500], rate=False)
        order = sorted(agent.entries(Tier.STM), key=lambda entry: entry.timestamp or now)
        agent.migrate_stm2ltm(ids=[entry.id for entry in order[:-20]])


def drawn(page: Page, act: Callable[[], object], ready: Callable[[], object]) -> float:
    """Milliseconds from an act until what it leads to is there and the script has ended."""
    started = time.perf_counter()
    act()
    ready()
    page.wait_for_function(_QUIET, polling="raf")
    return (time.perf_counter() - started) * 1000


def switches(page: Page, dashboard: Dashboard, agent: str, rounds: int) -> dict[str, list[float]]:
    """How long each page takes, coming from the Overview; the first round is not counted."""
    took: dict[str, list[float]] = {name: [] for name in ("Overview", *TITLES)}
    dashboard.show(page, "", agent=agent)
    title = page.get_by_role("heading", level=1)
    home = title.inner_text()
    links = page.get_by_test_id("stSidebarNav")

    def go(name: str) -> float:
        expected = TITLES.get(name, home)
        took_it = drawn(
            page,
            links.get_by_role("link", name=name, exact=True).click,
            lambda: expect(title).to_have_text(expected, timeout=60_000),
        )
        settled(page)
        page.wait_for_timeout(200)
        return took_it

    for _ in range(rounds + 1):
        for name in TITLES:
            took[name].append(go(name))
            took["Overview"].append(go("Overview"))
    return {name: times[1 if name != "Overview" else len(TITLES) :] for name, times in took.items()}


_FELT = """() => {
    const app = document.querySelector("[data-testid='stApp']");
    const label = () => [...document.querySelectorAll('.js-plotly-plot text')]
        .map(text => text.textContent).find(text => text.startsWith('threshold '));
    const before = label();
    window.felt = new Promise(done => addEventListener('keydown', () => {
        const pressed = performance.now();
        let drawn = 0;
        const look = () => {
            const took = performance.now() - pressed;
            if (!drawn && label() && label() !== before) drawn = took;
            if (drawn && app.dataset.testScriptState === 'notRunning' && !document.querySelector("[data-stale='true']"))
                done([drawn, took]);
            else requestAnimationFrame(look);
        };
        look();
    }, {once: true, capture: true}));
}"""
"""Counts in the page itself, from the key until the chart shows the new scores, and until nothing is left to be drawn:
what steers the browser takes some thirty milliseconds to press a key, which a person does not."""


def slides(page: Page, dashboard: Dashboard, agent: str, rounds: int) -> tuple[list[float], list[float]]:
    """When the chart shows the new scores after a step of the threshold, and when the whole page is at rest."""
    dashboard.show(page, "recall", agent=agent, cue="Who has the key at the mill?")
    thumb = page.get_by_role("slider", name="Threshold a score must exceed").first
    expect(page.locator(".js-plotly-plot").get_by_text("threshold ").first).to_be_visible(timeout=60_000)
    thumb.focus()
    took = []
    for _ in range(4 * rounds + 1):
        page.evaluate(_FELT)
        thumb.press("ArrowRight")
        took.append(page.evaluate("() => window.felt"))
        settled(page)
        page.wait_for_timeout(200)
    return [float(drawn) for drawn, _ in took[1:]], [float(rest) for _, rest in took[1:]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("This benchmark needs Chromium: 'sudo apt install chromium', or name it in CHROMIUM.")
    embedder = CachedEmbedder(MiniLM(Settings().cache), size=2 * asked.memories)
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if getattr(os, "getuid", lambda: 1)() == 0 else [])]
    with tempfile.TemporaryDirectory() as scratch:
        places = sample_world.copy(sample_world.filled(Path(scratch), embedder), Path(scratch) / "copy")
        fill(places, embedder, asked.memories)
        print(f"| what | memories | median ms | worst ms | target ms | same with {SAMPLE}, median ms | ratio |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        with served(places, Path(scratch) / "serve.log") as dashboard, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
            page = browser.new_context(viewport={"width": 1366, "height": 900}).new_page()
            small, large = (switches(page, dashboard, agent, asked.rounds) for agent in (SAMPLE, LARGE))
            for name, times in large.items():
                row(f"to {name}", asked.memories, times, SWITCH, small[name])
            few, many = (slides(page, dashboard, agent, asked.rounds) for agent in (SAMPLE, LARGE))
            row("a slider on Recall: the new scores are drawn", asked.memories, many[0], SLIDE, few[0])
            row("a slider on Recall: table and all at rest", asked.memories, many[1], SWITCH, few[1])
            browser.close()


def row(what: str, size: int, times: list[float], target: float, beside: list[float]) -> None:
    """One measure; a ratio above 1 says how many times slower the large character is."""
    middle, theirs = statistics.median(times), statistics.median(beside)
    missed = " (missed)" if middle >= target else ""
    print(
        f"| {what} | {size:,} | {middle:.0f} | {max(times):.0f} | {target:.0f}{missed} | {theirs:.0f} "
        f"| {middle / theirs:.2f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
