"""The Rehearsal page and what every page says of a rehearsal, run as Streamlit runs them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import rehearsing
from dashboard.data import comparing
from memory_system import AgentMemory, Tier
from memory_system.world.branches.branches import RESTORE_IT
from memory_system.world.branches.merge import Fit
from tests import sample_world
from tests.waiting import LAST_RESORT

from . import change_sets
from .test_pages import press, shown

OpenPage = Callable[..., AppTest]
BRANCH = "mira rehearsal"
WHOM = "Mira Holloway"


def mira() -> AgentMemory:
    return session.world().agent("mira")


def begun(open_page: OpenPage, purpose: str = "") -> AgentMemory:
    """A rehearsal of mira in the world of the pages."""
    open_page("rehearsal")
    return session.world().branch("mira", purpose=purpose)


def tick(page: AppTest, *ids: str) -> AppTest:
    return change_sets.turn(page, ids)


def test_a_rehearsal_is_begun_from_the_page(open_page: OpenPage) -> None:
    page = open_page("rehearsal")
    assert "No rehearsals yet." in shown(page)
    page.text_input[0].set_value("a smaller memory").run()
    press(page, f"{words.REHEARSE_WITH} {WHOM}")
    mark = session.world().rehearsal(BRANCH)
    assert mark is not None
    assert (mark.of, mark.purpose, mark.author) == ("mira", "a smaller memory", rehearsing.AUTHOR)
    assert page.session_state["agent-next"] == BRANCH


def test_looking_at_the_page_changes_nothing(open_page: OpenPage) -> None:
    branch = begun(open_page)
    branch.edit(branch.entries(Tier.STM)[0].id, tags=["tried"])
    before = branch.stamp, mira().stamp
    page = open_page("rehearsal", agent=BRANCH)
    page.button_group[0].set_value(words.CHANGE_BY_CHANGE).run()
    assert not page.exception
    assert (branch.stamp, mira().stamp) == before


def test_a_fresh_rehearsal_says_what_to_do_next(open_page: OpenPage) -> None:
    begun(open_page)
    page = open_page("rehearsal", agent=BRANCH)
    assert f"Nothing differs from {WHOM} yet." in shown(page)


def test_what_is_ticked_is_previewed_kept_and_undone(open_page: OpenPage) -> None:
    branch = begun(open_page)
    first, second = branch.entries(Tier.STM)[:2]
    branch.edit(first.id, document="Something else happened.")
    branch.forget(second.id)
    branch.configure(top_k=9)
    page = open_page("rehearsal", agent=BRANCH)
    assert f"Differs from {WHOM}: 2 memories and the settings." in shown(page)
    assert "Top-k: 6 → 9" in shown(page)
    assert first.document in shown(page)
    before = mira().stamp[0]
    tick(page, first.id)
    press(page, "Preview")
    assert f"{WHOM} would have: 1 memory changed." in shown(page)
    assert mira().stamp[0] == before
    press(page, f"{words.KEEP_IN} {WHOM}")
    assert mira().last_version(first.id).document == "Something else happened."
    assert mira().find(second.id) == second
    told = mira().history(1)[0].change_set
    assert (told.author, told.operation) == (rehearsing.AUTHOR, "take over")
    assert f"{words.KEPT_IN} {WHOM}." in shown(page)
    press(page, "Undo")
    assert mira().find(first.id) == first
    assert branch.last_version(first.id).document == "Something else happened."


def test_what_clashes_is_flagged_and_kept_only_where_it_is_ticked_too(open_page: OpenPage) -> None:
    branch = begun(open_page)
    first, second = branch.entries(Tier.STM)[:2]
    branch.edit(first.id, document="Something else happened.")
    branch.edit(second.id, tags=["tried"])
    mira().edit(first.id, document="A third thing happened.")
    page = open_page("rehearsal", agent=BRANCH)
    assert "1 of them clashes: the original was changed too." in shown(page)
    flags = {row["id"]: bool(row["flag"]) for row in change_sets.rows(page)}
    assert flags == {first.id: True, second.id: False}
    tick(page, second.id)
    press(page, "Preview")
    press(page, f"{words.KEEP_IN} {WHOM}")
    assert mira().last_version(first.id).document == "A third thing happened."
    assert mira().last_version(second.id).tags == ("tried",)
    tick(page, first.id)
    press(page, "Preview")
    press(page, f"{words.KEEP_IN} {WHOM}")
    assert mira().last_version(first.id).document == "Something else happened."
    assert f"Every change made here is already in {WHOM} too." in shown(page)


def test_a_preview_that_no_longer_fits_is_not_offered(open_page: OpenPage) -> None:
    branch = begun(open_page)
    entry = branch.entries(Tier.STM)[0]
    branch.edit(entry.id, tags=["tried"])
    page = tick(open_page("rehearsal", agent=BRANCH), entry.id)
    press(page, "Preview")
    branch.edit(entry.id, tags=["tried", "again"])
    page.run()
    assert not [button for button in page.button if button.label == f"{words.KEEP_IN} {WHOM}"]


def test_many_differences_are_one_list(open_page: OpenPage) -> None:
    branch = begun(open_page)
    branch.add_short_term([{"document": f"Number {n}", "rating": 5} for n in range(33)])
    page = open_page("rehearsal", agent=BRANCH)
    assert len(change_sets.rows(page)) == 33


def test_a_rehearsal_whose_character_is_gone_says_so(open_page: OpenPage) -> None:
    begun(open_page)
    session.world().delete_agent("mira")
    page = open_page("rehearsal", agent=BRANCH)
    assert RESTORE_IT in shown(page)
    assert [button.label for button in page.button] == ["Drop"]
    page = AppTest.from_file(str(sample_world.ROOT / "dashboard" / "app.py"), default_timeout=LAST_RESORT)
    page.query_params["agent"] = BRANCH
    page.run()
    assert "mira no longer exists." in shown(page)


def test_every_page_says_that_it_shows_a_rehearsal_and_leads_back(open_page: OpenPage) -> None:
    begun(open_page, "a *bold* ![x](http://nowhere/) try")
    page = AppTest.from_file(str(sample_world.ROOT / "dashboard" / "app.py"), default_timeout=LAST_RESORT)
    page.query_params["agent"] = BRANCH
    page.run()
    assert not page.exception
    banner = next(one.value for one in page.markdown if words.REHEARSAL_OF in one.value)
    assert "![x](http" not in banner
    assert f"{WHOM} {words.STAYS_AS_BEFORE}" in shown(page)
    picker = next(one for one in page.selectbox if one.label == words.CHARACTER)
    assert picker.options.count(WHOM) == 1
    assert f"{WHOM} (rehearsal: a *bold* ![x](http://nowhere/) try)" in picker.options
    press(page, f"{words.BACK_TO} {WHOM}")
    assert page.session_state["agent"] == "mira"
    assert not [one for one in page.markdown if words.REHEARSAL_OF in one.value]


def test_rehearsals_stand_after_their_characters(open_page: OpenPage) -> None:
    open_page("rehearsal")
    session.world().branch("mira", "a first try")
    names = session.in_turn()
    assert names.index("a first try") == names.index("mira") + 1


def test_a_rehearsal_is_dropped_and_restored_on_the_page_of_its_character(open_page: OpenPage) -> None:
    begun(open_page)
    page = open_page("rehearsal", agent=BRANCH)
    next(button for button in page.button if button.label == "Drop").click().run()  # the app then picks another agent
    assert session.world().rehearsals() == []
    page = open_page("rehearsal")
    press(page, next(button.label for button in page.button if button.label.startswith("Restore mira rehearsal")))
    assert [one.name for one in session.world().rehearsals()] == [BRANCH]


# -- words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fit", "state"),
    [(Fit(True, ""), "in the original"), (Fit(False, ""), "can be kept"), (Fit(False, "it builds"), "it builds")],
)
def test_a_change_says_how_it_stands_to_the_original(agent: AgentMemory, fit: Fit, state: str) -> None:
    agent.configure(top_k=9)
    told = agent.history(1)
    assert comparing.state(told[0], fit) == state
