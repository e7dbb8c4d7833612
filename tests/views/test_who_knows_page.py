"""The page Who knows what: a fact asked of all, its evidence, a correction, the past, and tests of the story."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dashboard import session, words
from dashboard.data import spreading
from dashboard.data.moments import Moment
from dashboard.views.who_knows import grid
from memory_system.world.knows import Cell, Sort, StoryTest, Verdict
from tests.views.test_pages import OpenPage, press, shown

STOLEN = "Juno stole the mill key from Tobias's coat."


@pytest.fixture
def cast() -> Collection[str]:
    """One who stole a key, and one who has not heard of that."""
    return ("juno", "mira")


def told_by_juno(days_ago: float) -> str:
    """Mira hears of it from Juno; answers the id of that."""
    world = session.opened()
    heard = {"id": "heard", "document": STOLEN, "source": "told", "people": ["Juno Pell"], "rating": 5}
    world.agent("mira").add_short_term([heard | {"timestamp": world.clock() - timedelta(days=days_ago)}])
    return "heard"


def picture() -> dict[str, Any]:
    """How the fact spread, as it is drawn."""
    spread = session.opened().spread(STOLEN)
    return spreading.picture(spread, words.OPEN_MEMORY, session.picture, lambda name: name.title())


def said(label: str) -> str:
    """The verdict on a cell, behind the character's name."""
    return label.rpartition(": ")[2]


def test_a_fact_is_asked_of_all_corrected_and_kept_as_a_test(open_page: OpenPage) -> None:
    page = open_page("who_knows")
    page.text_input(key="who-knows-fact").set_value(STOLEN)
    press(page, words.ASK_EVERYBODY)
    assert page.query_params["fact"] == STOLEN
    cells = {one.key: one.label for one in page.button if str(one.key).startswith("cell-0-")}
    assert said(cells["cell-0-juno"]) == Verdict.KNOWS
    assert said(cells["cell-0-mira"]) == Verdict.HALF
    page.button(key="cell-0-juno").click().run()
    world = session.opened()
    assert world.agent("juno").last_version("juno-0305-03").document in shown(page)
    press(page, words.KEEP_AS_TEST)
    (test,) = world.story_tests()
    assert (test.agent, test.fact) == ("juno", STOLEN)
    page.button(key="remove-test-0").click().run()
    assert world.story_tests() == ()
    press(page, "Undo")
    assert world.story_tests() == (test,)
    press(page, words.RUN_TESTS)
    assert words.PASSED in shown(page)
    page.button(key="cell-0-mira").click().run()
    page.selectbox(key="is-0-mira").set_value(str(Verdict.KNOWS)).run()
    press(page, words.SAY_SO)
    assert [(one.agent, one.verdict) for one in world.labels()] == [("mira", "knows")]
    assert said(page.button(key="cell-0-mira").label) == Verdict.KNOWS
    press(page, "Take it back")
    assert "It is taken back" in shown(page)
    assert said(page.button(key="cell-0-mira").label) == Verdict.HALF


def test_a_test_of_a_fact_with_a_joined_emoji_is_kept_by_what_can_be_read_of_it(open_page: OpenPage) -> None:
    fact = "Juno drew a \N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL} with the \u202emill key."
    page = open_page("who_knows", fact=fact)
    page.button(key="cell-0-mira").click().run()
    press(page, words.KEEP_AS_TEST)
    (test,) = session.opened().story_tests()
    assert test.fact == fact
    assert test.name.startswith("Mira Holloway ")
    assert test.name.isprintable()


def test_tests_of_two_facts_that_begin_alike_are_both_kept(open_page: OpenPage) -> None:
    begins = "Nine and ninety white geese sat on the roof of the lighthouse of Selwyn and sang of the spring "
    facts = [begins + end for end in ("at dawn.", "at dusk.")]
    for fact in facts:
        page = open_page("who_knows", fact=fact)
        page.button(key="cell-0-juno").click().run()
        press(page, words.KEEP_AS_TEST)
    world = session.opened()
    assert [test.fact for test in world.story_tests()] == facts
    press(page, words.KEEP_AS_TEST)
    assert [test.fact for test in world.story_tests()] == facts, "the same one again"


def test_a_press_with_nothing_to_ask_is_answered(open_page: OpenPage) -> None:
    page = press(open_page("who_knows"), words.ASK_EVERYBODY)
    assert "Write a fact first." in [one.value for one in page.error]
    page.text_input(key="who-knows-fact").set_value(STOLEN).run()  # as leaving the field for the button does
    press(page, words.ASK_EVERYBODY)
    assert not page.error, "it has just been asked"


def test_characters_of_one_name_are_told_apart(open_page: OpenPage) -> None:
    session.opened().duplicate_agent("mira", "twin")
    page = open_page("who_knows", fact=STOLEN)
    named = {str(one.key): one.label.partition(r"\:")[0] for one in page.button if "cell-0-" in str(one.key)}
    assert named["cell-0-mira"] == r"Mira Holloway \(mira\)"
    assert named["cell-0-twin"] == r"Mira Holloway \(twin\)"


def test_the_slider_goes_back_to_when_nobody_knew(open_page: OpenPage) -> None:
    page = open_page("who_knows")
    page.text_input(key="who-knows-fact").set_value(STOLEN)
    press(page, words.ASK_EVERYBODY)
    slider = page.slider(key="who-knows-at")
    slider.set_value(slider.value - timedelta(days=25)).run()
    assert said(page.button(key="cell-0-juno").label) != Verdict.KNOWS


@pytest.mark.parametrize(("view", "link"), [("who_knows", {"fact": STOLEN}), ("cast", {"show": "places"})])
def test_the_slider_starts_at_the_moment_that_is_looked_at(
    open_page: OpenPage, view: str, link: dict[str, str]
) -> None:
    page = open_page(view, agent="mira", **link)
    page.session_state["moment"] = Moment(world_time=datetime(2026, 3, 20, 20, tzinfo=UTC))
    page.run()
    (slider,) = (one for one in page.slider if one.label.startswith(words.WORLD_TIME))
    assert slider.value == datetime(2026, 3, 20, 20)
    slider.set_value(datetime(2026, 3, 22, 20)).run()
    assert not page.exception


def test_a_red_test_leads_to_the_memory_and_undoes_it(open_page: OpenPage) -> None:
    page = open_page("who_knows")
    world = session.opened()
    leak = {"id": "leak", "document": f"Heard that {STOLEN} <b>no</b>", "timestamp": world.clock(), "rating": 5}
    made = world.agent("mira").acting_as("Kim").add_short_term([leak]).change_set
    page.text_input(key="who-knows-fact").set_value(STOLEN)
    press(page, words.ASK_EVERYBODY)
    world.keep_tests([StoryTest("Mira must not know", Sort.MUST_NOT, STOLEN, "mira")])
    page.run()
    press(page, words.RUN_TESTS)
    assert words.RED in shown(page)
    assert f"revision {made.revision}" in shown(page).replace("\\", "")
    press(page, words.UNDO_THIS)
    assert world.agent("mira").find("leak") is None
    press(page, words.RUN_TESTS)
    assert words.PASSED in shown(page)


def test_the_facts_of_a_link_are_asked(open_page: OpenPage) -> None:
    page = open_page("who_knows", fact=STOLEN)
    assert STOLEN in shown(page)
    assert said(page.button(key="cell-0-juno").label) == Verdict.KNOWS


def test_how_it_spread_stands_in_the_link_and_goes_by_the_slider(open_page: OpenPage) -> None:
    page = open_page("who_knows", fact=STOLEN, **{"as": "spread"})
    assert not [one for one in page.button if str(one.key).startswith("cell-")]
    assert words.NOBODY_KNOWS not in shown(page)
    slider = page.slider(key="who-knows-at")
    slider.set_value(slider.value - timedelta(days=38)).run()
    assert words.NOBODY_KNOWS in shown(page)
    page.segmented_control(key="segment-as").set_value("cells").run()
    assert page.button(key="cell-0-mira").label
    assert "as" not in page.query_params


def test_the_picture_of_a_spread_goes_from_left_to_right_by_who_told_whom(open_page: OpenPage) -> None:
    open_page("who_knows")
    memory = told_by_juno(1)
    drawn = picture()
    juno, telling, mira = drawn["items"][0], *drawn["items"][-2:]
    assert (juno["id"], juno["look"], mira["id"]) == ("juno", "knows", "mira")
    assert juno["x"] == 0 < mira["x"] == 1
    assert (telling["from"], telling["to"]) == ([juno["x"], juno["y"]], [mira["x"], mira["y"]])
    assert telling["opens"] == {"name": "mira", "memory": memory, "label": words.OPEN_MEMORY}
    assert [one["label"] for one in drawn["rows"]] == ["Juno", "Mira"]
    assert drawn["ticks"][0]["lines"][1].endswith("UTC")


def test_who_told_it_before_they_are_seen_to_know_it_has_a_point_of_its_own(open_page: OpenPage) -> None:
    open_page("who_knows")
    told_by_juno(23)  # two days before Juno took it
    source = next(one for one in picture()["items"] if one["look"] == "source")
    assert source["title"].startswith("Juno")
    assert not source["opens"]


def _cell(name: str, verdict: Verdict) -> Cell:
    return Cell(name, STOLEN, verdict)


def test_of_a_large_cast_those_come_first_of_whom_there_is_something_to_be_told() -> None:
    unaware = [_cell(f"who{number}", Verdict.UNAWARE) for number in range(40)]
    found = [*unaware, _cell("odo", Verdict.KNOWS), _cell("pip", Verdict.WRONG)]
    assert [cell.agent for cell in grid._shown(found)[:3]] == ["pip", "odo", "who0"]
    assert len(grid._shown(found)) == grid.MOST_CELLS
    assert "24 of 42 characters" in grid._counted(found)
    assert grid._shown(found[:10]) == found[:10], "a small cast keeps its order"


@pytest.mark.parametrize("year", [1, 1347, 2387, 9999])
def test_a_story_of_another_age_is_gone_back_in_by_its_hours(open_page: OpenPage, year: int) -> None:
    open_page("history")  # makes the world
    world, now = session.opened(), datetime(year, 6, 1, 12, tzinfo=UTC)
    world.stand_at(now)
    world.agent("mira").add_short_term([{"document": STOLEN, "timestamp": now - timedelta(hours=5), "rating": 5}])
    page = open_page("who_knows", fact=STOLEN)
    cells = {one.key: one.label for one in page.button if str(one.key).startswith("cell-0-")}
    assert said(cells["cell-0-mira"]) == Verdict.KNOWS
    (slider,) = page.slider
    slider.set_value(slider.min).run()
    assert not page.exception
    assert not open_page("cast", show="places").exception
