"""The life of the world on Overview: its clock, what happened by itself, and what comes next."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dashboard import session, words
from memory_system.core import BY_ITSELF
from tests import sample_world
from tests.views import lines
from tests.views.test_pages import OpenPage, shown
from tests.waiting import until


def button(page, label: str):  # type: ignore[no-untyped-def]  # what Streamlit's test runner hands out
    """The button with this label."""
    return next(one for one in page.button if one.label == label)


def test_the_clock_is_played_and_paused(open_page: OpenPage) -> None:
    page = open_page("overview")
    world = session.opened()
    assert world.speed == 0
    button(page, words.PLAY_THE_CLOCK).click().run()
    assert world.speed == 1
    next(one for one in page.button_group if one.label == "Speed").set_value(60.0).run()
    assert world.speed == 60
    button(page, words.PAUSE_THE_CLOCK).click().run()
    assert world.speed == 0
    next(one for one in page.toggle if "by itself" in one.label).set_value(True).run()
    assert world.lives
    assert not page.exception


@pytest.mark.parametrize("cast", [sample_world.CAST], ids=["all"])
def test_what_comes_next_happens_and_is_shown_until_it_is_seen(open_page: OpenPage) -> None:
    page = open_page("overview")
    world = session.opened()
    before = world.clock()
    assert "Plan the day" in lines.text(page)
    button(page, words.ADVANCE_A_DAY).click().run()
    until(lambda: world.clock() == before + timedelta(days=1))
    until(lambda: not _works(page))
    page.run()
    done = [one for agent in world for one in agent.history(100, author=BY_ITSELF)]
    assert done
    assert done[0].change_set.title in lines.text(page)
    assert sum(act["name"] == "open" for one in lines.drawn(page) for act in one["acts"]) == 4
    assert f"And {len(done) - 4} more" in shown(page)
    button(page, "Mark as seen").click().run()
    assert "Nothing since you last looked." in shown(page)
    assert not page.exception
    assert "Nothing since you last looked." in shown(open_page("overview")), "when the page is opened again, too"


def test_a_plan_that_is_proposed_can_be_made_by_hand(open_page: OpenPage) -> None:
    open_page("overview")
    world = session.opened()
    mira = world.agent("mira")
    world.advance(world.clock() + timedelta(hours=14))
    mira.configure(replan="propose")
    now = world.clock() + timedelta(minutes=1)
    mira.add_short_term({"document": "The bakery burned down.", "rating": 10, "timestamp": now})
    world.stand_at(now)
    page = open_page("overview")
    assert "It is proposed" in lines.text(page)
    assert any(one["acts"] and "operations" in one["id"] and "Plan" in one["id"] for one in lines.drawn(page))


def _works(page: object) -> bool:
    from dashboard.components import working

    work = working.of("advance")
    return work is not None and work.running
