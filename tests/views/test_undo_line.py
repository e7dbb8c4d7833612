"""The line at the bottom takes back what no history of one character tells."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta, timezone

from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import widgets
from memory_system import Tier

from .test_entering_events import entering, field
from .test_pages import mira, press, shown

OpenPage = Callable[..., AppTest]


def test_the_clock_is_set_and_goes_as_before(open_page: OpenPage) -> None:
    page = open_page("installation", part="known")
    before = session.world().standing
    assert before is not None
    field(page.button_group, words.THE_CLOCK).set_value(words.FOLLOWS_THE_REAL_TIME).run()
    press(page, words.SET_THE_CLOCK)
    assert session.world().standing is None
    press(page, "Undo")
    assert session.world().standing == before
    assert "The clock runs as before." in shown(page)


def test_a_clock_that_is_set_stays_in_the_zone_of_its_world(open_page: OpenPage) -> None:
    world, berlin = session.world(), timezone(timedelta(hours=2))
    before = world.standing
    world.stand_at(datetime(2026, 10, 24, 18, tzinfo=berlin))
    page = open_page("installation", part="known")
    next(one for one in page.time_input if one.label == "Time (UTC)").set_value(time(17, 30)).run()
    press(page, words.SET_THE_CLOCK)
    assert str(world.standing) == "2026-10-24 19:30:00+02:00"
    world.stand_at(before)


def test_a_clock_of_its_own_pace_is_not_taken_for_the_real_time(open_page: OpenPage) -> None:
    before = session.world().standing
    session.world().play(600)
    page = open_page("installation", part="known")
    assert field(page.button_group, words.THE_CLOCK).value == "runs 600 times as fast"
    assert next(one for one in page.button if one.label == words.SET_THE_CLOCK).disabled
    field(page.button_group, words.THE_CLOCK).set_value(words.FOLLOWS_THE_REAL_TIME).run()
    press(page, words.SET_THE_CLOCK)
    assert (session.world().standing, session.world().speed) == (None, 1)
    assert field(page.button_group, words.THE_CLOCK).options == [words.FOLLOWS_THE_REAL_TIME, "is stopped"]
    session.world().stand_at(before)


def test_a_prompt_says_again_what_it_said(open_page: OpenPage) -> None:
    page = open_page("installation", part="prompts")
    field(page.text_area, "Text").input("You are a stern judge. Rate it.").run()
    page.button(key="save-prompt").click().run()
    assert session.world().prompts.prompts.own
    press(page, "Undo")
    assert session.world().prompts.prompts.own == {}


def test_a_character_that_was_made_is_taken_back_unless_it_has_changed_since(
    open_page: OpenPage,
) -> None:
    page = open_page("personality")
    names = session.world().agents()
    field(page.text_input, "Name").set_value("nova").run()
    held = {one.proto.id for one in page.get("popover")}
    press(page, "New")
    assert "nova" in session.world().agents()
    assert held - {one.proto.id for one in page.get("popover")}, "the one it was made in is closed"
    press(page, "Undo")
    assert session.world().agents() == names
    field(page.text_input, "Name").set_value("nova").run()
    press(page, "New")
    session.world().agent("nova").add_short_term({"document": "Saw smoke", "rating": 3})
    page.run()
    assert not [one for one in page.button if str(one.key).startswith("last-act-undo")]


def test_what_several_were_told_is_taken_back_from_all(open_page: OpenPage) -> None:
    page = open_page("short_term")
    entering(page, words.SHARED_EVENT)
    before = {name: session.world().agent(name).entries(Tier.STM) for name in ("mira", "tobias")}
    next(area for area in page.text_area if area.key.startswith("happened-")).input("A cart broke.")
    field(page.multiselect, words.WHO_SAW_IT).set_value(["mira", "tobias"]).run()
    press(page, words.TELL_THEM)
    assert mira().entries(Tier.STM) != before["mira"]
    press(page, "Undo")
    assert {name: session.world().agent(name).entries(Tier.STM) for name in before} == before


def test_each_undo_in_a_list_of_changes_says_what_it_undoes(open_page: OpenPage) -> None:
    page = open_page("overview")
    told = [one for one in mira().history(5) if not one.undone_by]
    labels = [button.label for button in page.button if str(button.key).startswith("undo-")]
    assert labels == [widgets.heard("Undo", one.change_set.title) for one in told]
    assert len(set(labels)) > 1
