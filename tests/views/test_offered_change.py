"""A change set that is offered: its foot counts what the list tells, and sentences of one kind stand in one fold."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from . import change_sets
from .test_pages import shown

OpenPage = Callable[..., AppTest]
TOLD = 14
"""Memories that a proposal forgets; ten of them are named."""


def test_settings_that_change_together_are_counted_one_by_one(open_page: OpenPage) -> None:
    open_page("operations")

    def draw() -> None:
        from dashboard import session
        from dashboard.components import change_set

        agent = session.world().agent("mira")
        planned = agent.configure(top_k=3, threshold=0.55, stm_size=12, preview=True)
        change_set.offer(agent, planned, lambda _accepted: None)

    page = AppTest.from_function(draw, default_timeout=60).run()
    assert not page.exception, page.exception
    assert len(change_sets.rows(page)) == 3
    assert "3 settings change" in shown(page)


def test_how_many_more_are_forgotten_stands_with_those_that_are_named(open_page: OpenPage) -> None:
    open_page("operations")

    def draw() -> None:
        from dataclasses import replace

        from dashboard import session
        from dashboard.components import change_set
        from memory_system import AgentSettings
        from memory_system.operations.tuning import Fit, Keeping, Point, Proposal
        from tests.views.test_offered_change import TOLD

        agent = session.world().agent("mira")
        point = Point.of(AgentSettings())
        keeping = Keeping({}, 0, 1, 1, 1, forgotten={"mira": tuple(map(str, range(TOLD)))})
        proposal = Proposal("Tune", (), Fit(point, point, 0, 1, 1, 1, {}), keeping)
        told = proposal.told_of("mira", lambda one: f"What is it, {one}?")
        change_set.offer(agent, replace(agent.configure(top_k=3, preview=True), notes=told), lambda _accepted: None)

    page = AppTest.from_function(draw, default_timeout=60).run()
    assert not page.exception, page.exception
    (fold,) = page.expander
    (listed,) = fold.markdown
    assert [one.count("What is it") for one in listed.value.splitlines()] == [1] * 10 + [0]
    assert f"{TOLD - 10} more" in listed.value.splitlines()[-1]
    assert "more" not in "".join(one.value for one in page.info)
