"""The cast on the first screen: the last day as lanes, one event in two heads, and one question asked of all."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import recent
from dashboard.data import evening
from memory_system import Kind, MemoryEntry, Tier
from tests import sample_world
from tests.conftest import NOW
from tests.views import lines
from tests.views.test_looking_back import STORY, at
from tests.views.test_pages import press

OpenPage = Callable[..., AppTest]


@pytest.fixture
def cast() -> Collection[str]:
    """All of them: an evening is of several people."""
    return sample_world.CAST


def memory(text: str, minutes: int, **more: object) -> MemoryEntry:
    return MemoryEntry(text, id=text, timestamp=NOW - timedelta(minutes=minutes), **more)  # type: ignore[arg-type]


def test_a_lane_holds_what_was_lived_on_the_last_day_in_order() -> None:
    mira = [memory("late", 5), memory("early", 1400), memory("too early", 1450), memory("planned", 3, kind=Kind.PLAN)]
    end, lanes = evening.last_day([("mira", "Mira", [*mira, memory("to come", -60), MemoryEntry("timeless")])], NOW)
    assert end == NOW
    assert [one.document for one in lanes[0].entries] == ["early", "late"]


def test_where_nothing_happened_of_late_the_last_day_on_which_anything_did_is_shown() -> None:
    ago = 60 * 24 * 30
    end, lanes = evening.last_day([("mira", "Mira", [memory("then", ago), memory("before", ago + 1500)])], NOW)
    assert end == NOW - timedelta(minutes=ago)
    assert [one.document for one in lanes[0].entries] == ["then"]
    assert evening.last_day([("mira", "Mira", [])], NOW) == (NOW, [evening.Lane("mira", "Mira", ())])


def test_an_event_is_in_two_heads_where_each_names_the_other_at_about_the_time() -> None:
    mira = evening.Lane(
        "mira",
        "Mira Holloway",
        (
            memory("Tobias promised to come", 70),
            memory("Nobody came", 60),
            memory("Thought of Tobias", 59, kind=Kind.REFLECTION),
            memory("Saw Tobias again", 10),
        ),
    )
    tobias = evening.Lane(
        "tobias",
        "Tobias Holloway",
        (memory("Promised it to Mira", 69), memory("The Holloway girl was out", 61), memory("Missed Mira", 45)),
    )
    assert evening.meetings([mira, tobias]) == [("mira/Tobias promised to come", "tobias/Promised it to Mira")]
    with_people = evening.Lane("juno", "Juno", (memory("She waited", 12, people=("Mira Holloway",)),))
    sees_juno = evening.Lane("mira", "Mira Holloway", (memory("Juno waited", 10),))
    assert evening.meetings([sees_juno, with_people]) == [("mira/Juno waited", "juno/She waited")]


def test_the_first_screen_asks_all_and_nothing_is_touched_by_it(open_page: OpenPage) -> None:
    page = press(open_page("overview"), words.ASK_ALL)
    assert "Write a question first." in [one.value for one in page.error]
    before = {agent.name: agent.stamp for agent in session.opened()}
    box = next(one for one in page.text_input if one.label == words.ASK_ANYTHING)
    box.set_value("Why does a lamp burn in the locked mill at night?")
    next(one for one in page.button if one.label == words.ASK_ALL).click().run()
    assert not page.exception
    assert page.query_params["ask"] == "Why does a lamp burn in the locked mill at night?"
    told = lines.text(page)
    ines = session.opened().agent("ines")
    first = next(
        one
        for one in ines.explain("Why does a lamp burn in the locked mill at night?").hits
        if one.entry.tier is not Tier.STATIC
    )
    assert first.entry.document[:80] in told
    assert {agent.name: agent.stamp for agent in session.opened()} == before


def test_the_rest_of_the_page_is_there_while_the_cast_is_asked(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    listed = recent.listed
    monkeypatch.setattr(recent, "listed", lambda *given: (drawn.append("changes"), listed(*given)))

    @contextmanager
    def spinner(text: str) -> Iterator[None]:
        drawn.append(text)
        yield

    monkeypatch.setattr(st, "spinner", spinner)
    open_page("overview")
    assert drawn[:2] == ["changes", "Asking Edda Marsh …"]
    assert len(drawn) == 1 + len(sample_world.CAST)


def test_the_times_of_the_last_day_are_in_the_worlds_zone_as_its_hours_are(open_page: OpenPage) -> None:
    open_page("overview")
    now = datetime(2026, 10, 25, 3, 30, tzinfo=timezone(timedelta(hours=1)))
    session.world().stand_at(now)
    heard = {"id": "heard", "document": "The tower struck eleven.", "rating": 5, "timestamp": now - timedelta(hours=4)}
    session.world().agent("mira").add_short_term([heard])
    page = open_page("overview")
    assert "The last day, until Sun 25 Oct 2026, 03:30 UTC+01:00" in [one.value for one in page.header]
    day = next(one.proto.json for one in page.get("bidi_component") if one.proto.component_name == "lanes")
    (dot,) = [dot for lane in json.loads(day)["lanes"] for dot in lane["dots"]]
    assert dot["when"] == "Sat 23:30"


def test_who_is_called_alike_is_told_apart(open_page: OpenPage) -> None:
    open_page("overview")
    session.opened().duplicate_agent("ines", "twin")
    told = lines.text(open_page("overview"))
    assert "Ines Calder (ines)" in told
    assert "Ines Calder (twin)" in told


def test_of_the_past_one_sees_the_one_whose_past_it_is(open_page: OpenPage) -> None:
    page = at(open_page("overview"), STORY)
    assert not any(one.label == words.ASK_ALL for one in page.button)
