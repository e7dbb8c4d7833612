"""The tour and presenter mode: what each step shows, the one change that is undone, and what a world lacks."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.runtime.caching.cache_resource_api import clear_session_cache
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.components.frame import showing
from dashboard.data import showing as steps_of
from memory_system import AgentMemory, Tier
from tests.waiting import until

from .test_pages import mira

OpenPage = Callable[..., AppTest]


def act(app: AppTest, **said: object) -> None:
    """What the bar says once something of it was pressed."""
    app.session_state["showing-act"] = said
    app.run()
    assert not app.exception, app.exception


def test_the_tour_has_five_steps_and_ends_with_an_undo_that_leaves_everything_as_it_was(
    workbench: Callable[..., AppTest],
) -> None:
    app = workbench()
    app.button(key="tour-take").click().run()
    memory = app.session_state["showing-found-mira"].memory
    act(app, go=2)
    act(app, go=3)
    assert app.query_params["memory"] == memory.id
    assert mira().find(memory.id) == memory, "looking changes nothing"
    act(app, go=4)
    act(app, act=True)
    assert mira().last_version(memory.id).importance != memory.importance
    revision = mira().stamp[0]
    act(app, go=5)
    assert app.title[0].value == "History"
    assert app.query_params["change"] == str(revision)
    act(app, act=True)
    assert mira().last_version(memory.id).importance == memory.importance
    assert [one.change_set.author for one in mira().history(2)] == ["tour", "tour"]
    act(app, go=6)
    assert "tour" not in app.query_params
    assert session.opened().welcomed
    assert not any(one.key == "tour-take" for one in app.button)


def test_who_leaves_in_the_middle_leaves_no_change_behind(workbench: Callable[..., AppTest]) -> None:
    app = workbench(present="4")
    memory = app.session_state["showing-found-mira"].memory
    act(app, act=True)
    assert mira().last_version(memory.id).importance != memory.importance
    act(app, leave=True)
    assert mira().last_version(memory.id).importance == memory.importance
    assert "present" not in app.query_params


def test_a_tour_that_is_not_wanted_is_not_offered_again(workbench: Callable[..., AppTest]) -> None:
    workbench().button(key="tour-no").click().run()
    assert not any(one.key == "tour-take" for one in workbench().button)


def test_a_presenter_shows_real_pages_with_nothing_to_choose(workbench: Callable[..., AppTest]) -> None:
    app = workbench(present="1")
    assert app.title[0].value == session.opened().about.title
    assert not app.selectbox
    assert not app.main.button or all(one.label == "Why" for one in app.main.button)
    before = {agent.name: agent.stamp for agent in session.opened()}
    for number in (2, 3):
        act(app, go=number)
        assert app.query_params["present"] == str(number)
    assert {agent.name: agent.stamp for agent in session.opened()} == before
    for nonsense in ({"go": "x"}, {"go": 99}, {"else": 1}):
        act(app, **nonsense)
    assert not showing.presenting() or app.query_params["present"]


def test_a_world_that_remembers_nothing_has_fewer_steps_and_says_so(agent: AgentMemory) -> None:
    nothing = steps_of.found(agent, ["Whom do I trust?"])
    assert nothing.memory is None
    assert [one.page for one in steps_of.tour(nothing, None)] == ["overview", "history"]
    assert [one.link for one in steps_of.moments(nothing, None, cast=1, ask="")] == [{"scene": "day"}]


def test_a_change_is_taken_back_when_the_session_of_its_tour_ends(workbench: Callable[..., AppTest]) -> None:
    app = workbench(present="4")
    memory = app.session_state["showing-found-mira"].memory
    act(app, act=True)
    revision = mira().stamp[0]
    clear_session_cache("test session id")  # as Streamlit does when a browser is gone
    until(lambda: mira().change(revision).undone_by)
    assert mira().last_version(memory.id).importance == memory.importance
    act(app, leave=True)
    assert len(mira().history(9, author="presenter")) == 2, "whoever comes back does not undo it twice"


def test_what_a_tour_left_behind_is_taken_back_at_the_next_opening(
    open_page: OpenPage, workbench: Callable[..., AppTest]
) -> None:
    open_page("history")
    memory = mira().entries(Tier.LTM)[0]
    mira().acting_as("tour").edit_many([memory.id], rating=1 if memory.importance else 9)
    workbench()
    assert mira().last_version(memory.id) == memory
    workbench()
    assert len(mira().history(9, author="tour")) == 2
