"""Recall by instances of the cue: asked for once, told beside the answer, and kept for the code."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from dashboard import session, words
from memory_system.agent_parts.retrieval import WITHOUT_INSTANCES
from tests.fake_server import FakeServer, says
from tests.views.test_pages import shown

OpenPage = Callable[..., AppTest]


def asked_for(page: AppTest, most: int) -> AppTest:
    next(one for one in page.number_input if one.label == words.INSTANCES).set_value(most)
    return page.run()


def test_the_page_asks_a_model_once_for_each_cue_and_says_what_was_asked_too(
    open_page: OpenPage, server: FakeServer
) -> None:
    open_page("overview")  # opens the world
    agent = session.world().agent("mira")
    agent.model = server.model()
    server.on("expand", says({"instances": ["Tobias and the *key*", "Ines at the mill"]}))
    page = asked_for(open_page("recall", cue="What is going on?"), 2)
    assert not page.exception
    assert f"{words.ASKED_TOO} “Tobias and the" in shown(page)
    assert any(r"\*key\*" in one.value for one in page.caption), "what a model says is no markdown"
    page.slider[0].set_value(0.11).run()
    assert len(server.requests) == 1
    assert words.ASKED_TOO not in shown(asked_for(page, 0))


def test_without_a_language_model_the_page_says_why_nothing_else_was_asked(open_page: OpenPage) -> None:
    page = asked_for(open_page("recall", cue="Who is new here?"), 3)
    assert not page.exception
    assert WITHOUT_INSTANCES in shown(page)
    assert next(one for one in page.dataframe if "verdict" in one.value) is not None
