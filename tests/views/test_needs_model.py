"""Where the offline rules are not enough, a page says so in one way, and leads to where a language model is chosen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.views import PAGES
from tests.fake_server import FakeServer

from .comparing import compared
from .test_pages import mira, press, shown

PLACES = {
    "reflect": ("operations", {"operation": "Reflect"}),
    "summarise": ("operations", {"operation": "Summarise"}),
    "plan": ("operations", {"operation": "Plan"}),
    "talk": ("interview", {}),
    "contradictions": ("tidy", {}),
}


@pytest.mark.parametrize("task", PLACES)
def test_a_task_of_a_language_model_says_so_until_there_is_one(
    open_page: Callable[..., AppTest], server: FakeServer, task: str
) -> None:
    view, link = PLACES[task]
    assert words.NEEDS_A_LANGUAGE_MODEL in shown(compared(open_page(view, **link)))
    mira().model = server.model()
    assert words.NEEDS_A_LANGUAGE_MODEL not in shown(compared(open_page(view, **link)))


def test_what_needs_none_says_nothing(open_page: Callable[..., AppTest]) -> None:
    assert words.NEEDS_A_LANGUAGE_MODEL not in shown(open_page("operations", operation="Migrate"))


def test_its_one_button_opens_the_choice_of_a_language_model(workbench: Callable[..., AppTest]) -> None:
    app = workbench(next(page for page in PAGES if page.name == "operations"), operation="Reflect")
    press(app, words.CHOOSE_A_LANGUAGE_MODEL)
    assert app.title[0].value == "Installation"
    assert any(one.value == "In use" for one in app.header), "where the language model is told and chosen"
