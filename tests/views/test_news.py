"""What counts as news: what others changed, and none of what this session saves, in whichever way it saves it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import unrated, working
from memory_system import AgentMemory, Tier
from tests.waiting import LAST_RESORT

from . import change_sets
from .comparing import compared
from .test_entering_events import entering, field
from .test_pages import as_json, editor, mira, open_form, press

OpenPage = Callable[..., AppTest]
Save = Callable[[OpenPage], AppTest]
LONGEST = 120.0


def count_news() -> None:
    """A page that counts what is new to a session: run by Streamlit, so that it imports what it uses itself."""
    import streamlit as st

    from dashboard.components.frame import news

    st.text(str(news._of_others(st.session_state["agent"])))


def new_to(page: AppTest, agent: str, seen: int) -> int:
    """How many changes the pill would tell the session of a page, which was drawn at a revision."""
    counted = AppTest.from_function(count_news, default_timeout=LAST_RESORT)
    for name in ("changes-made",):
        if name in page.session_state:
            counted.session_state[name] = page.session_state[name]
    counted.session_state["news"], counted.session_state["agent"] = seen, agent
    counted.run()
    assert not counted.exception, counted.exception
    return int(counted.text[0].value)


# -- the ways of saving ------------------------------------------------------------------------------------


def by_a_form(open_page: OpenPage) -> AppTest:
    page = open_page("short_term")
    field(page.text_area, words.WHAT_HAPPENED).input("Saw smoke")
    return press(page, "Remember")


def by_many_lines(open_page: OpenPage) -> AppTest:
    page = open_page("short_term")
    entering(page, words.MANY_EVENTS)
    field(page.text_area, words.PASTE_LINES).set_value("Saw smoke\nIt rained").run()
    return press(page, words.REMEMBER_THESE)


def by_a_table(open_page: OpenPage) -> AppTest:
    page = open_page("short_term")
    page.checkbox[-1].check().run()
    return press(page, "Pin")


def by_an_edit(open_page: OpenPage) -> AppTest:
    open_page("overview")
    held = mira().entries(Tier.LTM)[0].id
    page = open_form(open_page("long_term", memory=held), held)
    field(page.text_area, "Text").set_value("In other words.")
    return press(page, words.SAVE_CHANGES)


def by_an_operation(open_page: OpenPage) -> AppTest:
    page = open_page("operations", operation="Summarise")
    press(page, "Preview")
    return press(page, "Apply")


def by_an_undo(open_page: OpenPage) -> AppTest:
    open_page("overview")
    done = mira().edit(mira().entries(Tier.STM)[0].id, rating=9)
    return press(open_page("history", change=str(done.revision)), "Undo")


def by_the_personality(open_page: OpenPage) -> AppTest:
    page, text = as_json(open_page("personality"))
    editor(page).input(text.replace('"age": 34', '"age": 35')).run()
    return press(page, "Save")


def by_a_saved_cue(open_page: OpenPage) -> AppTest:
    page = open_page("recall", cue="Who has the mill key?")
    page.session_state["recall-tab"] = words.SAVED_CUES
    page.run()
    field(page.text_input, "Name").input("The key")
    press(page, words.SAVE_THE_CUE)
    assert [saved.name for saved in mira().saved_cues] == ["The key"]
    return page


def by_a_rehearsal(open_page: OpenPage) -> AppTest:
    open_page("overview")
    branch = session.world().branch("mira")
    first, second = branch.entries(Tier.STM)[:2]
    branch.edit(first.id, document="Something else happened.")
    branch.forget(second.id)
    page = open_page("rehearsal", agent=branch.name)
    change_sets.turn(page, [first.id])
    press(page, "Preview")
    return press(page, "Keep in Mira Holloway")


def in_the_background(open_page: OpenPage) -> AppTest:
    open_page("overview")
    mira().add_short_term([{"document": f"Event number {n}."} for n in range(3)], rate=False)
    page = press(open_page("operations", operation=unrated.OPERATION), "Rate 3 memories")
    work = working.of("rate-mira")
    assert work is not None
    work.wait(LONGEST)
    assert not work.running
    return page


def by_the_settings(open_page: OpenPage) -> AppTest:
    page = open_page("settings")
    next(one for one in page.toggle if one.label == words.MIGRATE_BY_ITSELF).set_value(True).run()
    return press(page, "Save")


def by_a_box_of_tidy(open_page: OpenPage) -> AppTest:
    open_page("overview")
    mira().add_short_term([{"document": "Fed the heron.", "rating": 4}, {"document": "Fed the heron!", "rating": 4}])
    page = compared(open_page("tidy"))
    return press(page, words.KEEP_THIS_ONE)


WAYS: list[Save] = [
    by_a_form, by_many_lines, by_a_table, by_an_edit, by_an_operation, by_an_undo, by_the_personality, by_a_saved_cue,
    by_a_rehearsal, by_the_settings, by_a_box_of_tidy, in_the_background,
]  # fmt: skip


@pytest.mark.parametrize("save", WAYS, ids=lambda save: save.__name__)
def test_what_one_saves_oneself_is_no_news_to_oneself_and_one_change_to_others(open_page: OpenPage, save: Save) -> None:
    page = save(open_page)
    newest = mira().history(1)[0]
    seen = newest.revision - 1
    assert newest.change_set.author != "dashboard", "the page made it"
    assert new_to(page, "mira", seen) == 0
    other = open_page("overview")
    assert new_to(other, "mira", seen) == 1, "who looks on from another window is told"
    undo = f"last-act-undo-{newest.revision}"
    if save is not in_the_background:  # where each rating is a change of its own
        assert undo in {str(button.key) for button in page.button}, "one line says so, and takes it back"


def test_a_game_is_news_beside_ones_own_changes(open_page: OpenPage) -> None:
    page = by_a_form(open_page)
    seen = mira().stamp[0] - 1
    game: AgentMemory = mira().acting_as("API")
    game.add_short_term({"document": "A game saw smoke over the mill.", "rating": 4})
    assert new_to(page, "mira", seen) == 1
    by_the_same_page = mira().acting_as("dashboard page")  # somebody else, on the same page
    by_the_same_page.edit(mira().entries(Tier.STM)[0].id, tags=["heard twice"])
    assert new_to(page, "mira", seen) == 2


def test_a_change_is_known_as_ones_own_before_anybody_can_see_it(open_page: OpenPage) -> None:
    open_page("overview")
    told: list[tuple[str, int]] = []
    agent = mira()
    before = agent.stamp[0]
    own = agent.acting_as("somebody", lambda plan: told.append((plan.id, agent.stamp[0])))
    done = own.edit(agent.entries(Tier.STM)[0].id, rating=3)
    assert told == [(done.id, before)]
    assert agent.timeline.told_since(before)[0].id == done.id


def test_an_agent_that_is_gone_is_no_news(open_page: OpenPage) -> None:
    assert new_to(open_page("overview"), "nobody", 0) == 0
