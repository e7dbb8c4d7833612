"""The page Who knows what: a fact asked of all, its evidence, a correction, the past, and tests of the story."""

from __future__ import annotations

from datetime import timedelta

from dashboard import session, words
from memory_system.world.knows import Sort, StoryTest, Verdict
from tests.views.test_pages import OpenPage, press, shown

STOLEN = "Juno stole the mill key from Tobias's coat."


def test_a_fact_is_asked_of_all_corrected_and_kept_as_a_test(open_page: OpenPage) -> None:
    page = open_page("who_knows")
    page.text_input(key="who-knows-fact").set_value(STOLEN)
    press(page, words.ASK_ALL)
    cells = {one.key: one.label for one in page.button if str(one.key).startswith("cell-0-")}
    assert Verdict.KNOWS in cells["cell-0-juno"]
    assert Verdict.UNAWARE in cells["cell-0-ines"]
    page.button(key="cell-0-juno").click().run()
    world = session.opened()
    assert world.agent("juno").last_version("juno-0305-03").document in shown(page)
    press(page, words.KEEP_AS_TEST)
    (test,) = world.story_tests()
    assert (test.agent, test.fact) == ("juno", STOLEN)
    press(page, words.RUN_TESTS)
    assert words.PASSED in shown(page)
    page.button(key="cell-0-ines").click().run()
    page.selectbox(key="is-0-ines").set_value(str(Verdict.KNOWS)).run()
    press(page, words.SAY_SO)
    assert [(one.agent, one.verdict) for one in world.labels()] == [("ines", "knows")]
    assert Verdict.KNOWS in page.button(key="cell-0-ines").label


def test_the_slider_goes_back_to_when_nobody_knew(open_page: OpenPage) -> None:
    page = open_page("who_knows")
    page.text_input(key="who-knows-fact").set_value(STOLEN)
    press(page, words.ASK_ALL)
    slider = page.slider(key="who-knows-at")
    slider.set_value(slider.max - timedelta(days=25)).run()
    assert Verdict.KNOWS not in page.button(key="cell-0-juno").label


def test_a_red_test_leads_to_the_memory_and_undoes_it(open_page: OpenPage) -> None:
    page = open_page("who_knows")
    world = session.opened()
    leak = {"id": "leak", "document": f"Heard that {STOLEN} <b>no</b>", "timestamp": world.clock(), "rating": 5}
    made = world.agent("ines").acting_as("Kim").add_short_term([leak]).change_set
    page.text_input(key="who-knows-fact").set_value(STOLEN)
    press(page, words.ASK_ALL)
    world.keep_tests([StoryTest("Ines must not know", Sort.MUST_NOT, STOLEN, "ines")])
    page.run()
    press(page, words.RUN_TESTS)
    assert words.RED in shown(page)
    assert f"revision {made.revision}" in shown(page).replace("\\", "")
    press(page, words.UNDO_THIS)
    assert world.agent("ines").find("leak") is None
    press(page, words.RUN_TESTS)
    assert words.PASSED in shown(page)
