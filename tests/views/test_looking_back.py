"""Every page at a moment of the past, and queries lived through again, run as Streamlit runs them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.data.moments import Moment
from dashboard.views import PAGES
from memory_system import AgentMemory, Kind, Tier
from memory_system.agent_parts.replay import FORGOTTEN
from tests import sample_world
from tests.waiting import LAST_RESORT

from .test_pages import open_tab

OpenPage = Callable[..., AppTest]
VIEWS = sorted(page.name for page in PAGES)
STORY = Moment(world_time=datetime(2026, 3, 20, 20, tzinfo=UTC))
CUE = "Who has the mill key?"


def mira() -> AgentMemory:
    return session.world().agent("mira")


def shown(page: AppTest) -> str:
    """All words on the page."""
    kinds = (
        page.title, page.header, page.caption, page.text, page.markdown, page.success, page.error, page.info,
        page.warning, page.code,
    )  # fmt: skip
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")


def at(page: AppTest, wanted: Moment | None) -> AppTest:
    page.session_state["moment"] = wanted
    page.run()
    assert not page.exception, page.exception
    return page


def app(**link: str) -> AppTest:
    """The whole dashboard, opened by a link; ``open_page`` must have made the world."""
    page = AppTest.from_file(str(sample_world.ROOT / "dashboard" / "app.py"), default_timeout=LAST_RESORT)
    for name, value in link.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception, page.exception
    return page


def picker(page: AppTest) -> Any:
    return next(one for one in page.selectbox if one.label == words.CHARACTER)


def press(page: AppTest, label: str) -> AppTest:
    next(button for button in page.button if button.label == label and not button.disabled).click().run()
    assert not page.exception, page.exception
    return page


# -- the moment ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_shows_any_moment_and_lets_nothing_be_changed(open_page: OpenPage, view: str) -> None:
    page = open_page(view, cue=CUE)
    before = mira().stamp
    for wanted in (Moment(revision=0), Moment(revision=1), STORY, Moment(as_of=datetime.now(UTC))):
        at(page, wanted)
        assert not page.error, [one.value for one in page.error]
        free = {button.label for button in page.button if not button.disabled}
        assert not free & {
            "Remember", words.REMEMBER_THESE, "Undo", "Forget", "Pin", words.RATE_AGAIN, "Save", words.SAVE_CHANGES,
            words.SAVE_THE_CUE, words.SET_THE_CLOCK, "Apply", "Reset all", "New", words.CREATE_IT,
        }  # fmt: skip
    assert mira().stamp == before
    assert not at(page, None).error


def test_a_page_shows_what_was_held_then(open_page: OpenPage) -> None:
    then = mira_at(open_page, STORY)
    page = at(open_page("overview"), STORY)
    assert f" {then.get_stats()['ltm']} long-term" in shown(page)
    assert then.get_stats()["ltm"] < mira().get_stats()["ltm"]
    page = at(open_page("short_term"), STORY)
    assert set(page.dataframe[0].value["id"]) == {entry.id for entry in then.entries(Tier.STM)}
    page = at(open_page("long_term"), STORY)
    page.session_state["rows-mira-False"] = True  # a table that is closed is not sent
    page.run()
    assert set(page.dataframe[0].value["id"]) == {entry.id for entry in then.entries(Tier.LTM)}
    page = at(open_page("history"), STORY)
    assert len(page.dataframe[0].value) == len(then.history(1000)) < len(mira().history(1000))
    page = at(open_page("recall", cue=CUE), STORY)
    assert "asked Fri 20 Mar 2026, 20:00 UTC" in shown(page)
    open_tab(page, words.CONTEXT_TEXT)
    assert any(block.value == then.explain(CUE).context for block in page.code)
    open_tab(page, words.AS_CODE)
    assert '.as_of(world_time=datetime.fromisoformat("2026-03-20T20:00:00Z"))' in shown(page)


def mira_at(open_page: OpenPage, wanted: Moment) -> Any:
    open_page("overview")
    return mira().as_of(**wanted.arguments())


def test_settings_and_personality_of_then_are_shown_beside_those_of_now(open_page: OpenPage) -> None:
    page = open_page("settings")
    revision = mira().stamp[0]
    text = str(mira().personality_text)
    mira().configure(top_k=9)
    mira().save_personality(text.replace('"age": 34', '"age": 35'))
    at(page, Moment(revision=revision))
    rows = page.dataframe[0].value.set_index("setting")
    assert tuple(rows.loc["Top-k"]) == ("6", "9", "changed")
    assert "1 setting has changed since" in shown(page)
    page = at(open_page("personality"), Moment(revision=revision))
    assert "Mira Holloway is 34 years old." in set(page.dataframe[0].value["fact"])
    assert "The personality at that time" in str([one.label for one in page.expander])
    assert "no personality yet" in shown(at(page, Moment(revision=0)))


def test_sliders_of_the_past_begin_with_the_settings_of_then(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)
    revision = mira().stamp[0]
    page.number_input[0].set_value(1).run()
    mira().configure(top_k=9, threshold=1.0)
    at(page, Moment(revision=revision))
    assert (page.number_input[0].value, page.slider[0].value) == (6, mira().as_of(revision=revision).settings.threshold)
    assert at(page, None).number_input[0].value == 1, "what was set for the present stays as it was"


def test_a_draft_of_the_personality_outlives_a_look_at_the_past(open_page: OpenPage) -> None:
    page = open_page("personality")
    name = next(field for field in page.text_input if field.label == "Name" and field.value == "Mira Holloway")
    name.set_value("Mira of the Mill").run()
    at(page, STORY)
    at(page, None)
    assert page.session_state["draft-mira"].count("Mira of the Mill") == 1
    assert any(field.value == "Mira of the Mill" for field in page.text_input)


# -- the whole dashboard ---------------------------------------------------------------------------------


def test_a_link_leads_to_a_moment_and_a_button_back_to_now(open_page: OpenPage) -> None:
    open_page("overview")
    page = app(agent="mira", world_time="2026-03-20T20:00:00Z")
    assert "Mira Holloway as of Fri 20 Mar 2026, 20:00 UTC" in shown(page)
    assert any(f"{words.WORLD_TIME} then: Fri 20 Mar 2026, 20:00 UTC" in one.value for one in page.get("html"))
    press(page, words.ONE_CHANGE_LATER)
    assert "revision" in page.query_params
    press(page, words.BACK_TO_NOW)
    assert " as of " not in shown(page)
    assert set(page.query_params) == {"agent"}


def test_another_character_is_shown_at_the_same_time_of_the_story(open_page: OpenPage) -> None:
    open_page("overview")
    page = app(agent="mira", revision="40")
    now = mira().as_of(revision=40).now
    picker(page).select("tobias").run()
    assert page.session_state["moment"] == Moment(world_time=now)
    assert "Tobias Finch as of" in shown(page)
    press(page, words.ONE_CHANGE_LATER)
    assert page.session_state["moment"].revision == session.world().agent("tobias").as_of(world_time=now).revision + 1
    press(page, words.BACK_TO_NOW)
    picker(page).select("mira").run()
    assert " as of " not in shown(page)


def test_a_time_is_looked_at_by_the_control_beside_the_clock(open_page: OpenPage) -> None:
    open_page("overview")
    page = app(agent="mira")
    next(one for one in page.date_input if str(one.key).startswith("look-day")).set_value(
        datetime(2026, 3, 19, tzinfo=UTC).date()
    ).run()
    press(page, "Look")
    assert page.session_state["moment"].world_time.date().isoformat() == "2026-03-19"
    assert "Mira Holloway as of Thu 19 Mar 2026, 18:00 UTC" in shown(page)


@pytest.mark.parametrize(
    "link", [{"revision": "99999"}, {"as_of": "soon"}, {"revision": "1", "as_of": "x"}, {"access": "1"}], ids=str
)
def test_a_link_to_no_moment_says_so_and_shows_the_present(open_page: OpenPage, link: dict[str, str]) -> None:
    open_page("overview")
    page = app(agent="mira", **link)
    assert "The present is shown instead." in shown(page)
    assert set(page.query_params) == {"agent"}


# -- lived through again ---------------------------------------------------------------------------------


def test_the_log_is_searched_and_an_empty_one_says_how_queries_come(open_page: OpenPage) -> None:
    page = open_page("relive")
    assert "Nothing has been asked yet." in shown(page)
    assert not any("query_memory" in one.value for one in page.caption)
    for cue in (CUE, "Who lit the lamp?"):
        mira().acting_as("game").query_memory(cue)
    page.run()
    assert list(page.dataframe[0].value["cue"]) == ["Who lit the lamp?", CUE]
    assert set(page.dataframe[0].value["who"]) == {"game"}
    page.text_input[0].set_value("LAMP").run()
    assert list(page.dataframe[0].value["cue"]) == ["Who lit the lamp?"]
    page.text_input[0].set_value("heron").run()
    assert "No query with these words." in shown(page)
    mira().configure(query_log=0)
    page.text_input[0].set_value("").run()
    assert "Queries are not kept" in shown(page)


def test_more_queries_than_fit_are_on_further_pages(open_page: OpenPage) -> None:
    page = open_page("relive")
    for number in range(103):
        mira().query_memory(f"cue {number}", touch=False)
    page.run()
    assert list(page.dataframe[0].value["cue"])[::99] == ["cue 102", "cue 3"]
    press(page, "Older")
    assert list(page.dataframe[0].value["cue"]) == ["cue 2", "cue 1", "cue 0"]
    press(page, "Newest")
    assert len(page.dataframe[0].value) == 100


def test_a_query_is_lived_through_again_and_why_it_differs_is_told(open_page: OpenPage) -> None:
    open_page("relive")
    found = mira().acting_as("game").query_memory(CUE, touch=False)
    before = mira().stamp
    page = open_page("relive", query="1")
    assert f"the same {len(found)} memories are recalled, in the same order" in shown(page)
    assert words.REBUILT_EXACTLY in shown(page)
    assert mira().stamp == before
    gone = next(hit.entry for hit in found if hit.entry.tier is not Tier.STATIC)
    mira().forget(gone.id)
    mira().configure(top_k=5)
    page.run()
    assert "The number of seats was 6 and is 5." in shown(page)
    assert FORGOTTEN in shown(page)
    assert found.context in [block.value for block in page.code]
    page = open_page("relive", query="1")
    assert next(button.disabled for button in page.button if button.label == "Why, now")


def test_text_of_strangers_in_a_query_is_shown_as_it_is(open_page: OpenPage) -> None:
    hostile = "<script>alert(1)</script> [x](http://example.invalid) **bold** \u202egnitirw"
    open_page("relive")
    mira().add_short_term({"document": hostile, "rating": 9}, rate=False)
    mira().acting_as("[x](http://example.invalid)").query_memory(hostile, threshold=0.1)
    mira().forget(next(entry.id for entry in mira().entries(Tier.STM) if "script" in entry.document))
    page = open_page("relive", query="1")
    raw = [str(element.value) for kind in (page.markdown, page.caption, page.header, page.warning) for element in kind]
    assert raw
    assert not any("](http" in value or "\u202e" in value for value in raw)


@pytest.mark.parametrize("number", ["77", "x", "9" * 30, "-1"])
def test_a_query_that_is_not_there_is_told_in_words(open_page: OpenPage, number: str) -> None:
    page = open_page("relive", query=number)
    assert "The log has no query" in shown(page) or "not a number" in shown(page)


def test_a_cue_that_the_recall_page_cannot_take_stays_here(open_page: OpenPage) -> None:
    open_page("relive")
    mira().query_memory("the key " * 1000)
    page = open_page("relive", query="1")
    assert "The Recall page asks with at most 2,000 characters" in shown(page)
    assert all(
        button.disabled for button in page.button if button.label.startswith(("Recall as of", "Recall it", "Why, "))
    )


def test_recall_is_set_to_the_query_of_then(open_page: OpenPage) -> None:
    page = open_page("relive")
    mira().query_memory(
        CUE, 3, 0.61, requery=2, facets=_facets(), now=datetime(2026, 3, 27, 19, 30, tzinfo=UTC), touch=False,
        addressed=True,
    )  # fmt: skip
    (logged,) = mira().queries()
    script = """
import streamlit as st
from dashboard import session
from dashboard.views.recall import controls as recall_controls
from dashboard.data.moments import Moment
logged = session.present().queries()[0]
if "taken" not in st.session_state:
    session.look_at(Moment(revision=logged.revision, access=logged.access))
    recall_controls.take_over(session.agent(), logged.query, logged.query.now)
    st.session_state["taken"] = True
st.session_state["asked"] = recall_controls.controls(session.agent(), logged.query.cue).query
"""
    page = AppTest.from_string(script, default_timeout=LAST_RESORT)
    page.session_state["agent"] = "mira"
    page.run()
    assert not page.exception, page.exception
    assert page.session_state["asked"] == logged.query


def _facets() -> Any:
    from memory_system import Facets

    return Facets(
        (Kind.OBSERVATION,),
        ("key",),
        datetime(2026, 3, 1, tzinfo=UTC),
        datetime(2026, 3, 28, tzinfo=UTC),
        0.2,
        0.9,
        "e",
    )
