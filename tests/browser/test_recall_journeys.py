"""A designer asks why not, compares, judges, saves cues, tells a story: the Recall page, and conversations."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard import words
from memory_system import PRESETS, Tier
from memory_system.interfaces.client import RemoteWorld

from .conftest import Dashboard, settled
from .hands import (
    choose,
    column,
    first_bar,
    lines,
    open_expander,
    open_tab,
    pick_day,
    press,
    recalled,
    said,
    slide,
    slide_to,
    take,
    tick,
    write,
)

pytestmark = pytest.mark.browser

CUE = "Who has the mill key?"
WEIGHTS, FACETS = words.DECAY_AND_TIME, words.ONLY_MEMORIES_OF
THRESHOLD, TOP_K = words.THRESHOLD, words.TOP_K
TALK = """Mira: Who had the key last?
Tobias: I did, until Wednesday, because Juno asked me to keep it.
Mira: I am worried about the mill.
Tobias: I prefer the ferry at night."""
STEPS = """plot => {
    const {y, x, text, measure} = plot._fullData[0];
    return Array.from(y).map((name, n) => ({name, value: x[n], text: text[n], measure: measure[n]}))
}"""


def ask(page: Page, dashboard: Dashboard, agent: str = "mira", cue: str = CUE) -> None:
    dashboard.show(page, "recall", agent=agent, cue=cue)


def top_k(page: Page, number: int) -> None:
    page.get_by_label(TOP_K).fill(str(number))
    page.get_by_label(TOP_K).press("Enter")
    settled(page)


def open_bar(page: Page) -> None:
    """Click the first bar of the chart."""
    first_bar(page).click()
    settled(page)


def plots(page: Page) -> Locator:
    return page.locator(".js-plotly-plot")


def waterfall(page: Page) -> dict[str, float]:
    """The steps of the waterfall of the open memory, which add up to the score that its verdict names."""
    expect(plots(page).first.locator(".main-svg").first).to_be_visible()
    *steps, total = plots(page).first.evaluate(STEPS)
    assert total["measure"] == "total"
    score = re.search(r"Score (-?[\d.]+) = ", verdict(page))
    assert score
    assert total["text"] == score[1]
    assert sum(step["value"] for step in steps) == pytest.approx(float(score[1]), abs=0.01)
    return {step["name"]: step["value"] for step in steps}


def verdict(page: Page) -> str:
    return page.get_by_test_id("stAlert").filter(has_text="Score ").inner_text()


def ways(page: Page) -> list[str]:
    """What would recall the open memory, the smallest change first."""
    expect(page.get_by_text(words.WHAT_WOULD_RECALL_IT)).to_be_visible()
    offered = page.get_by_test_id("stText").filter(has_text=re.compile("^• ")).all_inner_texts()
    told = (line.removeprefix("• ") for line in offered)
    return [
        line for line in told if not line.startswith(("words: ", "tokens ", "named ", "time: ", "the cue ", "helped "))
    ]


# -- why not, and until when -----------------------------------------------------------------------------


def test_a_memory_of_the_table_is_recalled_by_the_first_way_that_is_offered(page: Page, dashboard: Dashboard) -> None:
    ask(page, dashboard)
    top_k(page, 60)
    before = recalled(page)
    choose(page, "Show", words.NOT_RECALLED)
    tick(page, 0)
    assert verdict(page).startswith("Below threshold: ")
    assert {"recency", "importance", "relevancy: similarity"} <= set(waterfall(page))
    found = next(filter(None, (re.fullmatch(r"Lower the threshold to ([\d.]+)\.", way) for way in ways(page))), None)
    assert found, ways(page)
    slide_to(page, THRESHOLD, float(found[1]), 0.01)
    said(page, re.compile("^Recalled: Number "))
    expect(page.get_by_text(words.WHAT_WOULD_RECALL_IT)).to_have_count(0)
    assert recalled(page) > before


@pytest.mark.full
def test_a_memory_of_the_chart_is_recalled_with_as_many_seats_as_it_needs(page: Page, dashboard: Dashboard) -> None:
    ask(page, dashboard)
    top_k(page, 2)
    choose(page, "Show", words.NOT_RECALLED)
    open_bar(page)
    assert not verdict(page).startswith("Recalled")
    waterfall(page)
    found = re.fullmatch(r"Ask for (\d+) memories instead of 2\.", ways(page)[0])
    assert found, ways(page)
    top_k(page, int(found[1]) - 1)
    assert not verdict(page).startswith("Recalled")
    top_k(page, int(found[1]))
    said(page, re.compile("^Recalled: Number "))
    press(page, words.CLOSE_THIS_MEMORY)
    expect(page.get_by_text(words.CLOSE_THIS_MEMORY)).to_have_count(0)


@pytest.mark.full
def test_hybrid_relevancy_shows_its_parts_and_the_words_that_met_the_cue(page: Page, dashboard: Dashboard) -> None:
    ask(page, dashboard)
    open_expander(page, WEIGHTS)
    choose(page, "Preset", "balanced")
    for scaled in (False, True):
        if scaled:
            press_toggle(page, words.SCALE_EACH_PART)
            slide(page, THRESHOLD, "Home")
        tick(page, 0, table=0)
        assert "relevancy: similarity" in waterfall(page)
        expect(page.get_by_text("Which words and tokens met the cue")).to_be_visible()
        expect(page.get_by_test_id("stText").filter(has_text=re.compile("^• words: .*key"))).to_be_visible()
        press(page, words.CLOSE_THIS_MEMORY)


def press_toggle(page: Page, label: str) -> None:
    page.get_by_test_id("stCheckbox").filter(has_text=label).locator("label").first.click()
    settled(page)


@pytest.mark.full
def test_what_is_recalled_says_when_it_is_forgotten_and_so_it_comes(page: Page, dashboard: Dashboard) -> None:
    ask(page, dashboard)
    choose(page, "Preset", "classic")  # by the default it is a confidence that passes, whatever the time
    open_expander(page, WEIGHTS)
    slide(page, words.WEIGHT_OF_RECENCY, "End")
    slide_to(page, THRESHOLD, 1.5, 0.01)
    choose(page, "Show", "Recalled")
    tick(page, 0)
    expect(page.get_by_text("If nothing happens")).to_be_visible()
    told = page.get_by_text(re.compile("^It drops out of this answer on ")).first.inner_text()
    expect(plots(page).nth(1).locator(".main-svg").first).to_be_visible()
    lines = plots(page).nth(1).evaluate("plot => plot._fullData.map(one => one.mode)")
    assert lines == ["lines", "markers"]
    found = re.search(r"on \w{3} (\d+ \w{3} \d{4}), (\d\d:\d\d) UTC\.", told)
    assert found, told
    leaves = datetime.strptime(found[1], "%d %b %Y")
    pick_day(page, "Ask on this day", f"{leaves + timedelta(days=1):%Y-%m-%d}")
    assert verdict(page).startswith(("Below threshold", "Beyond top-k", "Not reached"))
    pick_day(page, "Ask on this day", f"{leaves - timedelta(days=1):%Y-%m-%d}")
    said(page, re.compile("^Recalled: "))


# -- presets and facets ----------------------------------------------------------------------------------


# -- judged, saved, told ---------------------------------------------------------------------------------


def thumb(page: Page, row: int, name: str) -> Locator:
    return page.get_by_test_id("stFeedback").nth(row).get_by_role("radio", name=name)


@pytest.mark.full
def test_thumbs_are_kept_counted_downloaded_and_undone(page: Page, dashboard: Dashboard, tmp_path: Path) -> None:
    ask(page, dashboard, "tobias", "Who is the hungry guest at the Three Herons?")
    open_tab(page, "Judge")
    taken = page.get_by_role("link", name="(JSONL)")
    expect(taken).to_have_count(0)
    thumb(page, 0, "Thumbs up").click()
    settled(page)
    thumb(page, 1, "Thumbs down").click()
    settled(page)
    page.reload()
    settled(page)
    open_tab(page, "Judge")
    expect(thumb(page, 0, "Thumbs up")).to_have_attribute("aria-checked", "true")
    expect(thumb(page, 1, "Thumbs down")).to_have_attribute("aria-checked", "true")
    assert column(page, 1) == [*PRESETS, "this character's"]
    rows = zip(column(page, 3), column(page, 4), column(page, 5), strict=True)
    assert list(rows)[-1] == ("1", "1", str(recalled(page) - 2))
    with page.expect_download() as download:
        taken.click()
    download.value.save_as(tmp_path / "judgments.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "judgments.jsonl").read_text("utf-8").splitlines()]
    assert {"id", "document"} <= set(lines[0])
    assert lines[-1]["cue"] == "Who is the hungry guest at the Three Herons?"
    assert len(lines[-1]["right"]) == len(lines[-1]["wrong"]) == 1
    assert {*lines[-1]["right"], *lines[-1]["wrong"]} <= {line["id"] for line in lines[:-1]}

    dashboard.show(page, "history", agent="tobias")
    tick(page, 0)
    expect(page.get_by_role("heading", name=re.compile("^Judge “.*: wrong$"))).to_be_visible()
    press(page, "Undo")
    expect(page.get_by_text(re.compile("Undone: Judge "))).to_be_visible()
    ask(page, dashboard, "tobias", "Who is the hungry guest at the Three Herons?")
    open_tab(page, "Judge")
    expect(thumb(page, 0, "Thumbs up")).to_have_attribute("aria-checked", "true")
    expect(thumb(page, 1, "Thumbs down")).to_have_attribute("aria-checked", "false")


def test_a_saved_cue_tells_that_a_memory_was_forgotten(page: Page, dashboard: Dashboard) -> None:
    event = "Hid the brass compass under the third plank of the boathouse"
    with RemoteWorld(dashboard.api) as world:
        world.agent("juno").add_short_term([{"document": event, "rating": 8}])

    cue = "Where is the brass compass hidden?"
    ask(page, dashboard, "juno", cue)
    open_tab(page, words.SAVED_CUES)
    expect(page.get_by_text(words.NO_CUE_IS_SAVED_YET)).to_be_visible()
    write(page, "Name", "The compass")
    if not page.get_by_test_id("stMultiSelect").filter(has_text="Must recall").get_by_text(event[:30]).count():
        take(page, "Must recall", event[:30])
    press(page, words.SAVE_THE_CUE, exact=False)
    said(page, "Saved: The compass")
    said(page, "Saved cues that pass: 1 of 1.")

    with RemoteWorld(dashboard.api) as world:
        juno = world.agent("juno")
        juno.forget(next(entry.id for entry in juno.entries(Tier.STM) if entry.document == event))
    ask(page, dashboard, "juno", cue)
    open_tab(page, words.SAVED_CUES)
    said(page, "Saved cues that fail: 1 of 1.")
    expect(page.get_by_text(f"• must recall, and did not: {event} (forgotten)")).to_be_visible()
    dashboard.show(page, "", agent="juno")
    waits = page.locator(".st-key-waiting")
    expect(waits).to_contain_text("Failing cues 1")
    press(page, "Undo", exact=False)
    expect(waits.filter(has_text="Failing cues")).to_have_count(0)

    dashboard.show(page, "recall", agent="juno", cue="What is for supper?")
    open_tab(page, words.SAVED_CUES)
    press(page, "Ask it", exact=False)
    expect(page.get_by_role("textbox", name="Cue")).to_have_value(cue)
    open_tab(page, words.SAVED_CUES)
    said(page, "Saved cues that pass: 1 of 1.")
    press(page, "Remove", exact=False)
    expect(page.get_by_text(words.NO_CUE_IS_SAVED_YET)).to_be_visible()


@pytest.mark.full
def test_a_conversation_is_remembered_but_for_a_turn_and_undone(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="oswin")
    held = page.get_by_role("heading", name=re.compile(r"^\d+ of 20 remembered"))
    before = int(held.inner_text().split()[0])
    open_tab(page, words.A_CONVERSATION)
    write(page, words.THE_CONVERSATION, TALK)
    press(page, "Preview", exact=False)
    expect(page.get_by_text("Remember a conversation of Mira and Tobias: 4 turns")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^Conversation of Mira and Tobias, .*Asked: Mira asked: "))).to_be_visible()
    expect(held).to_have_text(f"{before} of 20 remembered")
    lines(page).nth(3).click()
    settled(page)
    expect(page.get_by_text("The synopsis was written from all turns")).to_be_visible()
    press(page, words.REMEMBER_IT, exact=False)
    said(page, "Remembered: 4 memories.")
    expect(held).to_have_text(f"{before + 1} of 20 remembered, and 3 of 20 from talks")

    rows = column(page, 1)
    assert not any(text.startswith("Tobias: I prefer") for text in rows)
    tick(page, next(row for row, text in enumerate(rows) if text.startswith("Conversation of ")))
    open_tab(page, "Rests on 3 memories")
    linked = page.get_by_role("tabpanel").filter(visible=True).last.get_by_role("listitem").locator(".text")
    expect(linked).to_have_count(3)
    assert sorted(linked.all_inner_texts()) == sorted(TALK.splitlines()[:3])

    dashboard.show(page, "", agent="oswin")
    press(page, "Undo")
    said(page, "Undone: Remember a conversation of Mira and Tobias")
    dashboard.show(page, "short_term", agent="oswin")
    expect(held).to_have_text(f"{before} of 20 remembered")


@pytest.mark.full
def test_who_gets_the_seats_and_what_must_pass_is_chosen_and_told(page: Page, dashboard: Dashboard) -> None:
    ask(page, dashboard)
    open_expander(page, WEIGHTS)
    told = page.get_by_test_id("stCaptionContainer").filter(has_text=re.compile(r"recalled of \d+ candidates"))
    for seats in ("cascade", "ranking"):
        choose(page, words.SEATS_BY, seats)
        told.get_by_test_id("stTooltipHoverTarget").first.hover()
        expect(page.get_by_text(f"{words.SEATS_BY} {seats}: ")).to_be_visible()
        page.mouse.move(0, 0)
    for threshold in (THRESHOLD, words.STATIC_THRESHOLD):
        slide_to(page, threshold, 1.0, 0.01)
    expect(page.get_by_text("Nothing passed the threshold. “")).to_be_visible()
    assert recalled(page) == 0
    choose(page, words.THRESHOLD_IS_OF, "score")
    slide_to(page, words.STATIC_THRESHOLD, 0.4, 0.01)
    expect(page.get_by_text("Nothing passed the threshold. “")).to_have_count(0)
    assert recalled(page) > 0
