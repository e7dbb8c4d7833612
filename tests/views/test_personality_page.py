"""The Personality page: what it refuses beside the field, and names that nobody can have."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words

from .test_pages import labelled, press, shown

OpenPage = Callable[..., AppTest]


@pytest.fixture
def cast() -> Collection[str]:
    return ("juno", "mira")


def test_a_wrong_field_is_told_beside_it_and_cannot_be_saved(open_page: OpenPage) -> None:
    page = open_page("personality", "juno")
    labelled(page.text_input, "Age").set_value("nineteen").run()
    told = shown(page)
    assert "This cannot be saved yet" in told
    assert "age" in told.casefold()
    assert labelled(page.button, "Save").disabled
    press(page, words.LOAD_AGAIN)
    assert labelled(page.text_input, "Age").value == "19"
    assert "No changes." in shown(page)


@pytest.mark.parametrize(
    ("age", "told"),
    [("-3", "this may be 0 at least"), ("²", "must be a whole number"), ("9" * 5000, "must be a whole number")],
)
def test_an_age_that_nobody_has_is_refused_in_words(open_page: OpenPage, age: str, told: str) -> None:
    page = open_page("personality", "juno")
    labelled(page.text_input, "Age").set_value(age).run()
    assert told in shown(page)


def test_a_newborn_has_an_age(open_page: OpenPage) -> None:
    page = open_page("personality", "juno")
    labelled(page.text_input, "Age").set_value("0").run()
    press(page, "Save")
    assert session.world().agent("juno").personality.identity.age == 0
    assert labelled(page.text_input, "Age").value == "0"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mira", "There is an agent 'mira' already"),
        ("../up", "contains “/”"),
        ("con", "reserved"),
        ("Mira", "There is"),
    ],
)
def test_a_taken_or_impossible_name_is_refused_in_words(open_page: OpenPage, name: str, told: str) -> None:
    page = open_page("personality", "juno")
    before = session.world().agents()
    next(one for one in page.text_input if one.placeholder == "ana").set_value(name).run()
    assert told in shown(press(page, "New"))
    assert session.world().agents() == before
