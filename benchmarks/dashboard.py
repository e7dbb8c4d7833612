"""Felt speed and cost of the dashboard: a real browser, a character with 5,000 memories beside one of the sample world.

    python -m benchmarks.dashboard [--memories 5000] [--rounds 5] [--idle 60] [--reruns 0]

Times what a person waits for: from the click on a link until the page is drawn and its script has ended, and
from the key on a slider of the Recall page until the new scores are drawn, and until all is at rest. The ratio is to
the same measure with a character of the sample world, in the same run. Beside the clock stands the processor time of
the server until all is at rest, which a busy machine does not lengthen as it does the clock.

Then what a browser loads for its first look at Recall, what a page costs that nobody touches, and, with ``--reruns``,
the server's memory while a slider and the navigation have the script run so many times.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from benchmarks.api import Server
from benchmarks.memory import texts
from memory_system import Settings, Tier, World
from memory_system.core.ports import holder
from memory_system.embedding.embedder import CachedEmbedder, Embedder, MiniLM
from tests import sample_world
from tests.browser.conftest import ARGUMENTS, Dashboard, knowing, served, settled
from tests.browser.hands import way_to

SAMPLE, LARGE = "mira", "bench"
SWITCH, SLIDE = 1000.0, 300.0
"""Targets in milliseconds: a page switch, a slider."""
CUE = "Who has the key at the mill?"
THRESHOLD = "Threshold a score must exceed"
WINDOW: ViewportSize = {"width": 1366, "height": 900}
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


class Took(NamedTuple):
    """What something took: milliseconds on the clock, and the server's processor seconds until all was at rest."""

    clock: float
    processor: float


def server_of(dashboard: Dashboard) -> Server:
    """The process that serves it; its processor time is NaN where the system does not tell."""
    port = urlsplit(dashboard.url).port or 0
    held = holder(port)
    return Server(port, held.process if held else 0)


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


def switches(page: Page, dashboard: Dashboard, agent: str, rounds: int) -> dict[str, list[Took]]:
    """What each page takes, by one click from its place or from World; the first round is not counted."""
    took: dict[str, list[Took]] = {name: [] for name in ("World", *TITLES)}
    server = server_of(dashboard)
    dashboard.show(page, "", agent=agent)
    title = page.get_by_role("heading", level=1)
    home = title.inner_text()

    def go(name: str) -> Took:
        link = way_to(page, name)
        expected, before = TITLES.get(name, home), server.seconds()
        clock = drawn(
            page,
            link.click,
            lambda: expect(title).to_have_text(expected, timeout=60_000),
        )
        settled(page)
        page.wait_for_timeout(200)
        return Took(clock, server.seconds() - before)

    for _ in range(rounds + 1):
        for name in TITLES:
            took[name].append(go(name))
            took["World"].append(go("World"))
    return {name: times[1 if name != "World" else len(TITLES) :] for name, times in took.items()}


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


def slides(page: Page, dashboard: Dashboard, agent: str, rounds: int) -> tuple[list[Took], list[Took]]:
    """When the chart shows the new scores after a step of the threshold, and when the whole page is at rest."""
    server = server_of(dashboard)
    dashboard.show(page, "recall", agent=agent, cue=CUE)
    thumb = page.get_by_role("slider", name=THRESHOLD).first
    expect(page.locator(".js-plotly-plot").get_by_text("threshold ").first).to_be_visible(timeout=60_000)
    thumb.focus()
    scores, rest = [], []
    for _ in range(4 * rounds + 1):
        before = server.seconds()
        page.evaluate(_FELT)
        thumb.press("ArrowRight")
        clocks = page.evaluate("() => window.felt")
        settled(page)
        page.wait_for_timeout(200)
        cost = server.seconds() - before
        scores.append(Took(float(clocks[0]), cost))
        rest.append(Took(float(clocks[1]), cost))
    return scores[1:], rest[1:]


def first_load(browser: Browser, dashboard: Dashboard) -> None:
    """What a browser that has never been here loads for its first look at Recall, and its largest files."""
    context = browser.new_context(viewport=WINDOW)
    page, server = context.new_page(), server_of(dashboard)
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    names: dict[str, str] = {}
    sizes: Counter[str] = Counter()
    said = [0]

    def answered(event: dict[str, Any]) -> None:
        names[event["requestId"]] = urlsplit(event["response"]["url"]).path.rpartition("/")[2]

    def loaded(event: dict[str, Any]) -> None:
        sizes[names.get(event["requestId"]) or "the page"] += int(event["encodedDataLength"])

    def heard(event: dict[str, Any]) -> None:
        said[0] += len(event["response"]["payloadData"])

    network.on("Network.responseReceived", answered)
    network.on("Network.loadingFinished", loaded)
    network.on("Network.webSocketFrameReceived", heard)
    before, started = server.seconds(), time.perf_counter()
    dashboard.show(page, "recall", agent=SAMPLE, cue=CUE)
    clock, cost = time.perf_counter() - started, server.seconds() - before
    page.wait_for_load_state("networkidle")
    context.close()
    print(
        f"\nFirst look at Recall: {len(sizes)} files of {sizes.total() / 1e6:.2f} MB on the wire, "
        f"{said[0] / 1e6:.2f} MB (base64) over the socket; "
        f"{clock:.1f} s on the clock, {cost:.2f} s of the server's processor."
    )
    print(
        "The largest: " + ", ".join(f"{name} {size / 1000:.0f} kB" for name, size in sizes.most_common(8)), flush=True
    )


def idle(page: Page, dashboard: Dashboard, seconds: float) -> None:
    """What a page costs that is open and that nobody touches, beside none at all."""
    server = server_of(dashboard)
    dashboard.show(page, "short_term", agent=SAMPLE)
    page.wait_for_timeout(2000)
    shares = []
    for address in ("", "about:blank"):
        if address:
            page.goto(address)
            page.wait_for_timeout(2000)
        before, started = server.seconds(), time.perf_counter()
        page.wait_for_timeout(seconds * 1000)
        shares.append(100 * (server.seconds() - before) / (time.perf_counter() - started))
    print(f"\nA page that nobody touches: {shares[0]:.2f} % of a core over {seconds:.0f} s; none: {shares[1]:.2f} %.")


def growth(page: Page, dashboard: Dashboard, reruns: int) -> None:
    """The server's memory while the script runs again and again: nine steps of a slider, then another page."""
    server, done, pages = server_of(dashboard), 0, 0
    each = max(1, reruns // 10)
    print("\n| runs | server's memory, MB | processor seconds a run |\n|---:|---:|---:|")
    told, before = -each, server.seconds()
    while done <= reruns:
        dashboard.show(page, "recall", agent=SAMPLE, cue=CUE)
        thumb = page.get_by_role("slider", name=THRESHOLD).first
        thumb.focus()
        for number in range(9):
            thumb.press("ArrowRight" if number % 2 else "ArrowLeft")
            settled(page)
        title = list(TITLES)[1 + pages % (len(TITLES) - 1)]
        way_to(page, title).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(TITLES[title])
        settled(page)
        pages, done = pages + 1, done + 11
        if done - told >= each:
            seconds, runs = server.seconds() - before, done - max(told, 0)
            print(f"| {done} | {megabytes(server.process):.0f} | {seconds / runs:.2f} |", flush=True)
            told, before = done, server.seconds()


def megabytes(process: int) -> float:
    """What a process has in memory; NaN where the system does not tell."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return math.nan
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS:")), math.nan)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5, help="how often each page is gone to")
    parser.add_argument("--idle", type=float, default=60.0, help="seconds for which nobody touches a page")
    parser.add_argument("--reruns", type=int, default=0, help="how many runs to watch the server's memory for")
    asked = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("This benchmark needs Chromium: 'sudo apt install chromium', or name it in CHROMIUM.")
    embedder = CachedEmbedder(MiniLM(Settings().cache), size=2 * asked.memories)
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if getattr(os, "getuid", lambda: 1)() == 0 else [])]
    with tempfile.TemporaryDirectory() as scratch:
        places = sample_world.copy(sample_world.filled(Path(scratch), embedder), Path(scratch) / "copy")
        fill(places, embedder, asked.memories)
        print(
            f"| what | memories | median ms | worst ms | target ms | processor s | {SAMPLE}: ms | processor s | ratio |"
        )
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        with served(places, Path(scratch) / "serve.log") as dashboard, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
            knowing(browser)
            page = browser.new_context(viewport=WINDOW).new_page()
            small, large = (switches(page, dashboard, agent, asked.rounds) for agent in (SAMPLE, LARGE))
            for name, times in large.items():
                row(f"to {name}", asked.memories, times, SWITCH, small[name])
            few, many = (slides(page, dashboard, agent, asked.rounds) for agent in (SAMPLE, LARGE))
            row("a slider on Recall: the new scores are drawn", asked.memories, many[0], SLIDE, few[0])
            row("a slider on Recall: table and all at rest", asked.memories, many[1], SWITCH, few[1])
            first_load(browser, dashboard)
            idle(page, dashboard, asked.idle)
            if asked.reruns:
                growth(page, dashboard, asked.reruns)
            browser.close()


def row(what: str, size: int, times: list[Took], target: float, beside: list[Took]) -> None:
    """One measure; a ratio above 1 says how many times slower the large character is."""
    middle, theirs = (statistics.median(one.clock for one in each) for each in (times, beside))
    cost, their_cost = (statistics.median(one.processor for one in each) for each in (times, beside))
    missed, worst = " (missed)" if middle >= target else "", max(one.clock for one in times)
    print(
        f"| {what} | {size:,} | {middle:.0f} | {worst:.0f} | {target:.0f}{missed} | {cost:.2f} "
        f"| {theirs:.0f} | {their_cost:.2f} | {middle / theirs:.2f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
