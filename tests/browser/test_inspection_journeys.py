"""A designer asks why: sliders that re-score, bars and points that open a memory with its verdict and its links."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard import words

from .conftest import Dashboard, settled
from .hands import (
    box,
    choose,
    field,
    first_bar,
    milliseconds,
    press,
    recalled,
    said,
    slide,
    slider_value,
)

pytestmark = pytest.mark.browser


@pytest.mark.full
def test_every_slider_scores_again_at_once(page: Page, dashboard: Dashboard) -> None:
    cue = "Who has the mill key, and who says so? " + "The key, the lamp, the hatch and the ferry at night. " * 30
    dashboard.show(page, "recall", agent="mira", cue=cue[:1900])
    seen = {recalled(page)}
    page.get_by_text(words.DECAY_AND_TIME).click()
    choose(page, "Preset", "classic")
    took = [milliseconds(page)]
    for label, key in (
        (words.THRESHOLD, "End"),
        (words.STATIC_THRESHOLD, "End"),
        (words.WEIGHT_OF_RECENCY, "End"),
        (words.WEIGHT_OF_IMPORTANCE, "End"),
        (words.WEIGHT_OF_RELEVANCY, "Home"),
        (words.RECENCY_KEPT, "Home"),
        ("Share of seats for static memory", "Home"),
    ):
        slide(page, label, key)
        took.append(milliseconds(page))
        seen.add(recalled(page))
    slide(page, words.THRESHOLD, "Home")
    page.get_by_label(words.TOP_K).fill("11")
    page.get_by_label(words.TOP_K).press("Enter")
    settled(page)
    assert recalled(page) == 11
    assert len(seen) > 1
    assert sorted(took)[len(took) // 2] < 30, took  # to embed this cue takes longer than that


def test_a_bar_opens_its_memory_with_the_verdict(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "recall", agent="mira", cue="Who has the mill key?")
    first_bar(page).click()
    settled(page)
    said(page, re.compile(r"Recalled: .*Score \d\.\d\d = .*relevancy"))
    expect(page.get_by_test_id("stMain")).to_contain_text("happened")
    choose(page, "Show", words.NOT_RECALLED)
    first_bar(page).click()
    settled(page)
    said(page, re.compile(r"Score \d\.\d\d = "))


def test_a_point_of_the_timeline_opens_its_card_and_its_link_survives(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "long_term", agent="tobias")
    point = field(page).locator(".item.observation").first
    point.click()
    settled(page)
    expect(page).to_have_url(re.compile(f"memory={point.get_attribute('data-id')}"))
    card = page.get_by_test_id("stMain").get_by_text(re.compile("^happened "))
    when = card.inner_text()
    page.reload()
    settled(page)
    expect(card).to_have_text(when)
    place = page.get_by_text(re.compile(r"^\d+ of \d+ by time$"))
    number = int(place.inner_text().split()[0])
    press(page, "Previous" if number > 1 else "Next")
    other = number - 1 if number > 1 else 2
    expect(place).to_have_text(re.compile(f"^{other} of "))
    press(page, "Next" if number > 1 else "Previous")
    expect(place).to_have_text(re.compile(f"^{number} of "))
    press(page, "Close")
    expect(page).not_to_have_url(re.compile("memory="))


@pytest.mark.full
def test_a_box_on_the_timeline_lists_what_is_in_it(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "long_term", agent="tobias")
    box(page)
    chosen = page.get_by_text(re.compile(r"^Selected \d+ as a table$"))
    expect(chosen).to_be_visible()
    held = int(chosen.inner_text().split()[1])
    assert 1 < held < field(page).locator(".item").count()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    press(page, "Clear selection")
    expect(chosen).to_be_hidden()


@pytest.mark.full
def test_the_sliders_stand_beside_the_bars_and_on_a_phone_in_a_sheet(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "recall", agent="mira", cue="Who has the mill key?")
    slider = page.get_by_test_id("stSlider").filter(has_text=words.THRESHOLD)
    switch = page.get_by_test_id("stCheckbox").filter(has_text=words.CHANGE_THE_QUERY)
    expect(switch).to_be_hidden()
    bar, beside = first_bar(page).bounding_box(), slider.bounding_box()
    assert bar
    assert beside
    assert beside["x"] > bar["x"] + bar["width"]
    first_bar(page).scroll_into_view_if_needed()
    expect(slider).to_be_in_viewport()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(slider).to_be_hidden()
    expect(first_bar(page)).to_be_in_viewport()
    switch.locator("label").first.click()
    settled(page)
    expect(slider).to_be_in_viewport()
    slide(page, words.THRESHOLD, "End")
    assert slider_value(page, words.THRESHOLD) == 3
