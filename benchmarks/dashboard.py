"""Felt speed and cost of the dashboard in a real browser, by how many memories the character has (dashboard.md).

    python -m benchmarks.dashboard [--memories 5000 50000] [--rounds 5] [--idle 60] [--reruns 0] [--worlds FOLDER]

Times what a person waits for, measured in the page itself: from the click on a link until the page is drawn and its
script has ended; from the key on a slider of the Recall bench until the bars show the new scores; from the click on a
memory until the drawer shows it. Next to the clock is the processor time, which a busy machine does not lengthen as it
does the clock: the server's and that of the page's own thread, until everything is at rest. Each is also measured for
characters with 200 and 3,500 memories, every one of them in its own world with the six of the sample world.

Then what a browser loads for its first view of World and of Recall, what an untouched page costs, and, with
``--reruns``, the server's memory while a slider and the navigation rerun the script so many times.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from playwright.sync_api import Browser, CDPSession, Locator, Page, ViewportSize, expect, sync_playwright

from benchmarks.api import Server
from benchmarks.memory import texts
from dashboard import words
from dashboard.views import NEW, PAGES
from dashboard.views.memory import looking
from memory_system import Change, ChangeSet, Kind, MemoryEntry, Settings, Tier, World
from memory_system.embedding.embedder import CachedEmbedder, Embedder, MiniLM
from memory_system.interfaces.ports import holder
from tests import sample_world
from tests.browser.conftest import ARGUMENTS, Dashboard, knowing, served, settled
from tests.browser.hands import first_bar, open_expander, way_to

AGENT = "bench"
FEW, MANY = 200, 3500
"""Memories of characters that must feel alike."""
SWITCH, STEP = 500.0, 200.0
"""Targets in milliseconds: another page; the bars after a slider, and the drawer after a click."""
WIRE, IDLE = 3.0, 1.0
"""Targets: megabytes of a first load, percent of a core for an idle page."""
CUE = "Who has the key at the mill?"
WINDOW: ViewportSize = {"width": 1366, "height": 900}
_RESTING = 5000
"""Milliseconds after which a page that was just drawn has also released what it no longer needs."""
MINUTES = 5
"""Minutes between one memory and the next: 50,000 are six months."""
VISITED = [page.title for page in PAGES if page is not NEW]
_QUIET = """const quiet = () => {
    const app = document.querySelector("[data-testid='stApp']");
    const main = document.querySelector("[data-testid='stMain']");
    return app.dataset.testScriptState === 'notRunning'
        && !main.querySelector("[data-stale='true'], [data-testid='stSkeleton']")
        && [...main.querySelectorAll("[data-testid='stBidiComponentIsolated']")].every(one =>
            [...one.shadowRoot?.children ?? []].some(child => !child.querySelector(':scope > style')));
};"""
"""JavaScript: whether nothing is left to be drawn."""
_FELT = f"""([event, ready, given]) => {{
    {_QUIET}
    const look = new Function('given', 'return ' + ready);
    window.felt = new Promise(done => addEventListener(event, () => {{
        const began = performance.now();
        let drawn = 0;
        const frame = () => {{
            const took = performance.now() - began;
            if (!drawn && look(given)) drawn = took;
            if (drawn && quiet()) done([drawn, took]);
            else requestAnimationFrame(frame);
        }};
        requestAnimationFrame(frame);
    }}, {{once: true, capture: true}}));
}}"""
"""JavaScript: measures in the page itself, from an event until something is drawn, and until nothing is left to be
drawn: the automation takes some thirty milliseconds to press a key, which a person does not."""
_LEFT = "document.querySelector('h1') && document.querySelector('h1').textContent !== given"
_OWN = "[...document.querySelectorAll(\"[data-testid='stBidiComponentIsolated']\")].flatMap(one => [...one.shadowRoot"
"""JavaScript: what is found within our own components; two brackets must be closed."""
_SCORES = f"{_OWN}.querySelectorAll('.bars .bar i')]).map(part => part.style.width).join()"
_BARS = f"{_SCORES} !== given"
_WINDOW = f"{_OWN}.querySelectorAll('.field')]).some(one => one.ariaLabel !== given)"
_DRAWER = "(document.querySelector('.st-key-memory-drawer')?.textContent ?? '').includes(given)"


class Took(NamedTuple):
    """The cost of something in milliseconds: on the clock, and of the processors of the server and of the page."""

    clock: float
    server: float
    page: float


class Watch:
    """Measures the cost of an act on a page of a dashboard."""

    def __init__(self, page: Page, dashboard: Dashboard) -> None:
        self.page = page
        self.server = server_of(dashboard)
        self._network: CDPSession = page.context.new_cdp_session(page)
        self._network.send("Performance.enable", {"timeDomain": "threadTicks"})

    def own(self) -> float:
        """Seconds of a processor that the page's own thread has used."""
        told = self._network.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in told if one["name"] == "TaskDuration"))

    def felt(self, act: Callable[[], object], event: str, ready: str, given: str, *, whole: bool = False) -> Took:
        """The cost from an event that ``act`` causes, until it is ``ready``, or until the ``whole`` page is at rest."""
        server, own = self.server.seconds(), self.own()
        self.page.evaluate(_FELT, [event, ready, given])
        act()
        clocks = self.page.evaluate("() => window.felt")
        settled(self.page)
        return Took(float(clocks[whole]), 1000 * (self.server.seconds() - server), 1000 * (self.own() - own))


def pressed(locator: Locator) -> Callable[[], None]:
    """A function that clicks in the middle of something, located before anything is measured.

    Finding a row by its role, and whether it can be clicked, costs the page more than showing its drawer.
    """
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    assert box is not None, "it is to be seen"
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    return partial(locator.page.mouse.click, *middle)


def server_of(dashboard: Dashboard) -> Server:
    """The process that serves it; its processor time is NaN if the system does not report it."""
    port = urlsplit(dashboard.url).port or 0
    held = holder(port)
    return Server(port, held.process if held else 0)


def fill(places: dict[str, str], embedder: Embedder, count: int) -> None:
    """Add a character with this many memories, one of twenty a reflection on five, all but twenty of them long-term."""
    settings = Settings(
        database=Path(places["MEMORY_DATABASE"]), personalities=Path(places["MEMORY_PERSONALITIES"]), llm="offline"
    )
    with World(settings, embedder=embedder) as world:
        agent, now = world.create_agent(AGENT), world.clock()
        lived = []
        for number, text in enumerate(texts(count)):
            insight = number % 20 == 19 and number + 5 < count
            entry = MemoryEntry(
                text,
                id=f"{AGENT}-{number}",
                tier=Tier.STM if number < 20 else Tier.LTM,
                kind=Kind.REFLECTION if insight else Kind.OBSERVATION,
                rating=7 + number // 20 % 4 if insight else 1 + 7 * number % 10,
                timestamp=now - timedelta(minutes=MINUTES * number),
                evidence=tuple(f"{AGENT}-{number + one}" for one in range(1, 6)) if insight else (),
                depth=int(insight),
            )
            lived.append(Change(None, entry, "A life to measure with."))
        lived.reverse()  # what a reflection rests on comes first
        for start in range(0, count, 1000):
            some = tuple(lived[start : start + 1000])
            agent.apply(ChangeSet("add", "Live", some, planned_at=now, base_revision=agent.stamp[0]))


def switches(page: Page, dashboard: Dashboard, rounds: int) -> dict[str, list[Took]]:
    """The cost of each page, by one click from its place or from World; the first round is not counted."""
    took: dict[str, list[Took]] = {}
    dashboard.show(page, "", agent=AGENT)
    watch, title = Watch(page, dashboard), page.get_by_role("heading", level=1)
    for number in range(rounds + 1):
        for name in [one for one in VISITED[1:] for one in (one, VISITED[0])]:
            link = way_to(page, name)
            told = watch.felt(pressed(link), "click", _LEFT, title.text_content() or "", whole=True)
            if number:
                took.setdefault(name, []).append(told)
    return took


def slides(page: Page, dashboard: Dashboard, rounds: int) -> list[Took]:
    """The cost until the chart shows the new scores after a step of a weight."""
    dashboard.show(page, "recall", agent=AGENT, cue=CUE)
    open_expander(page, words.DECAY_AND_TIME)
    expect(first_bar(page)).to_be_visible()
    watch, thumb = Watch(page, dashboard), page.get_by_role("slider", name=words.WEIGHT_OF_RECENCY).first
    thumb.focus()
    took = []
    for number in range(4 * rounds + 1):
        scores = page.evaluate(f"() => {_SCORES}")
        key = "ArrowLeft" if number % 2 else "ArrowRight"
        took.append(watch.felt(partial(thumb.press, key), "keydown", _BARS, scores))
    return took[1:]


def clicks(page: Page, dashboard: Dashboard, rounds: int, **link: str) -> list[Took]:
    """The cost until the drawer shows the memory that was clicked in the list."""
    dashboard.show(page, "memory", agent=AGENT, **link)
    watch, rows = Watch(page, dashboard), page.get_by_role("option")
    took = []
    for number in range(2 * rounds + 1):
        row: Locator = rows.nth(number % 8)
        text = row.locator(".text").text_content() or ""
        took.append(watch.felt(pressed(row), "click", _DRAWER, text))
    return took[1:]


def zooms(page: Page, dashboard: Dashboard, rounds: int) -> list[Took]:
    """The cost until the timeline shows what is in the half, or the double, of its window."""
    dashboard.show(page, "memory", agent=AGENT, layout=looking.TIMELINE)
    watch, field = Watch(page, dashboard), page.get_by_role("group", name=re.compile("^Timeline, "))
    took = []
    for number in range(2 * rounds + 1):
        tool = page.get_by_role("button", name="Zoom out" if number % 2 else "Zoom in")
        took.append(watch.felt(pressed(tool), "click", _WINDOW, field.get_attribute("aria-label") or ""))
    return took[1:]


def first_load(browser: Browser, dashboard: Dashboard, view: str, **link: str) -> None:
    """Print what a new browser loads for its first view of a page, and the largest files."""
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
        response = event["response"]
        size = len(response["payloadData"])
        said[0] += size * 3 // 4 if response["opcode"] == 2 else size

    network.on("Network.responseReceived", answered)
    network.on("Network.loadingFinished", loaded)
    network.on("Network.webSocketFrameReceived", heard)
    before, started = server.seconds(), time.perf_counter()
    dashboard.show(page, view, **link)
    clock, cost = time.perf_counter() - started, server.seconds() - before
    page.wait_for_load_state("networkidle")
    context.close()
    whole = (sizes.total() + said[0]) / 1e6
    print(
        f"\nFirst look at {view or 'World'}: {whole:.2f} MB on the wire{missed(whole > WIRE)} (target {WIRE:.0f}), "
        f"{said[0] / 1e6:.2f} of them over the socket and the rest in {len(sizes)} files; {clock:.1f} s on the clock, "
        f"{cost:.2f} s of the server's processor."
    )
    print(
        "The largest: " + ", ".join(f"{name} {size / 1000:.0f} kB" for name, size in sizes.most_common(8)), flush=True
    )


def idle(browser: Browser, page: Page, dashboard: Dashboard, seconds: float) -> None:
    """What open, untouched pages cost: the server, and all processes of the browser.

    The cost without any page, which is measured first, is subtracted from each.
    """
    told, empty = [], (0.0, 0.0)
    server, whole = server_of(dashboard), browser.new_browser_cdp_session()
    for view in ("about:blank", "", "memory", "recall"):
        if view == "about:blank":
            page.goto(view)
        else:
            dashboard.show(page, view, agent=AGENT)
        page.wait_for_timeout(_RESTING)
        before, own, started = server.seconds(), browser_seconds(whole), time.perf_counter()
        page.wait_for_timeout(seconds * 1000)
        span = (time.perf_counter() - started) / 100
        shares = (server.seconds() - before) / span, (browser_seconds(whole) - own) / span
        if view == "about:blank":
            empty = shares
        more = [share - none for share, none in zip(shares, empty, strict=True)]
        over = view != "about:blank" and sum(more) > IDLE
        told.append(f"{view or 'World'} {shares[0]:.2f} + {shares[1]:.2f} %{missed(over)}")
    print(
        f"\nA page that nobody touches for {seconds:.0f} s, server + browser, in percent of a core "
        f"(target: {IDLE:.0f} more than about:blank): {', '.join(told)}.",
        flush=True,
    )


def browser_seconds(whole: CDPSession) -> float:
    """Seconds of a processor that all processes of the browser have used."""
    return float(sum(one["cpuTime"] for one in whole.send("SystemInfo.getProcessInfo")["processInfo"]))


def growth(page: Page, dashboard: Dashboard, reruns: int) -> None:
    """The server's memory while the script is rerun: nine steps of a slider, then another page."""
    server, done, pages = server_of(dashboard), 0, 0
    each = max(1, reruns // 10)
    print("\n| runs | server's memory, MB | processor seconds a run |\n|---:|---:|---:|")
    told, before = -each, server.seconds()
    while done <= reruns:
        dashboard.show(page, "recall", agent=AGENT, cue=CUE)
        thumb = page.get_by_role("slider", name=words.THRESHOLD).first
        thumb.focus()
        for number in range(9):
            thumb.press("ArrowRight" if number % 2 else "ArrowLeft")
            settled(page)
        way_to(page, VISITED[pages % len(VISITED)]).click()
        settled(page)
        pages, done = pages + 1, done + 11
        if done - told >= each:
            seconds, runs = server.seconds() - before, done - max(told, 0)
            print(f"| {done} | {megabytes(server.process):.0f} | {seconds / runs:.2f} |", flush=True)
            told, before = done, server.seconds()


def megabytes(process: int) -> float:
    """The memory of a process; NaN if the system does not report it."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return math.nan
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS:")), math.nan)


def measured(page: Page, dashboard: Dashboard, rounds: int) -> dict[str, tuple[float, list[Took]]]:
    """Every measurement for a world's character, by its name with its target."""
    told = {
        "a click in the list: its drawer": (STEP, clicks(page, dashboard, rounds)),
        "a slider of Recall: new bars": (STEP, slides(page, dashboard, rounds)),
        "a click in an answer: its drawer": (STEP, clicks(page, dashboard, rounds, cue=CUE)),
        "a zoom of the timeline: its memories": (SWITCH, zooms(page, dashboard, rounds)),
    }
    dashboard.show(page, "memory", agent=AGENT, cue=CUE)  # the pages keep their cue from here on
    return {**{f"to {name}": (SWITCH, times) for name, times in switches(page, dashboard, rounds).items()}, **told}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, nargs="+", default=[5000, 50_000])
    parser.add_argument("--rounds", type=int, default=5, help="how often each page is gone to")
    parser.add_argument("--idle", type=float, default=60.0, help="seconds for which nobody touches a page")
    parser.add_argument("--reruns", type=int, default=0, help="how many runs to watch the server's memory for")
    parser.add_argument("--worlds", type=Path, help="a folder for the worlds, which a later run takes as they are")
    asked = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("This benchmark needs Chromium: 'sudo apt install chromium', or name it in CHROMIUM.")
    sizes = [FEW, MANY, *asked.memories]
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if getattr(os, "getuid", lambda: 1)() == 0 else [])]
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        base = asked.worlds or Path(scratch)
        base.mkdir(parents=True, exist_ok=True)
        embedder = CachedEmbedder(MiniLM(Settings().cache), size=2 * max(sizes))
        template = sample_world.filled(base, embedder)

        def lived(count: int) -> Callable[[Path], None]:
            return lambda folder: fill(sample_world.copy(template, folder / "world"), embedder, count)

        told: dict[int, dict[str, tuple[float, list[Took]]]] = {}
        for count in sizes:
            made = sample_world.made_once(base, f"{AGENT}-{count}", lived(count))
            places = sample_world.copy(made / "world", Path(scratch) / f"copy-{count}")
            with served(places, Path(scratch) / "serve.log") as dashboard:
                browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
                knowing(browser)
                page = browser.new_context(viewport=WINDOW).new_page()
                print(f"{count:,} memories: {', '.join(f'{load:.1f}' for load in os.getloadavg())} load", flush=True)
                told[count] = measured(page, dashboard, asked.rounds)
                if count == sizes[-1]:
                    report(told)
                    first_load(browser, dashboard, "", agent=AGENT)
                    first_load(browser, dashboard, "memory", agent=AGENT)
                    first_load(browser, dashboard, "recall", agent=AGENT, cue=CUE)
                    idle(browser, page, dashboard, asked.idle)
                    if asked.reruns:
                        growth(page, dashboard, asked.reruns)
                browser.close()


def report(told: dict[int, dict[str, tuple[float, list[Took]]]]) -> None:
    """A table: a row per measurement, a column per size, and how the processor time grows from FEW to MANY."""
    print(f"\n| what | target ms | {' | '.join(f'{count:,}' for count in told)} | {MANY:,} : {FEW} |")
    print(f"|---|---:|{'---:|' * (len(told) + 1)}")
    for what, (target, _) in next(iter(told.values())).items():
        cells, costs = [], {}
        for count, measures in told.items():
            times = measures[what][1]
            clock, server, own = (statistics.median(one) for one in zip(*times, strict=True))
            costs[count] = server + own
            cells.append(f"{clock:.0f}{missed(clock > target)} ({server:.0f} + {own:.0f})")
        print(f"| {what} | {target:.0f} | {' | '.join(cells)} | {costs[MANY] / costs[FEW]:.2f} |", flush=True)


def missed(over: bool) -> str:
    """A mark on what exceeds its target."""
    return " ✗" if over else ""


if __name__ == "__main__":
    main()
