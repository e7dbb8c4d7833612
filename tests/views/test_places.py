"""Going from page to page: the line of links, old addresses that lead elsewhere, and the drawer of the last changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.components.frame import palette
from dashboard.views import HISTORY, PAGES, PLACES, PageOf, place_of

from .test_pages import mira, press

OpenPage = Callable[..., AppTest]


def links(app: AppTest) -> list[str]:
    """What the links of the main part lead to, by their labels."""
    return [one.proto.label for one in app.main.get("page_link")]


@pytest.mark.parametrize("page", [page for page in PAGES if page.name in ("personality", "settings", "history")])
def test_a_line_leads_to_the_other_pages_of_a_place_and_marks_the_present_one(
    workbench: Callable[..., AppTest], page: PageOf
) -> None:
    app = workbench(page)
    place = place_of(page)
    others = [one.label or one.title for one in place.pages if one is not page] if place else []
    assert links(app) == others
    here = [one.proto.body for one in app.main.get("html") if "aria-current" in one.proto.body]
    assert here == ([f"<span aria-current='page'>{page.title}</span>"] if place else [])
    sidebar = [one.proto.label for one in app.sidebar.get("page_link")]
    assert sidebar == [*(one.title for one in PLACES), "Harrow Quay", "Installation"]


def test_an_old_link_to_a_part_of_the_settings_opens_it_behind_the_gear(workbench: Callable[..., AppTest]) -> None:
    settings = next(page for page in PAGES if page.name == "settings")
    app = workbench(settings, part="prompts")
    assert app.title[0].value == "Installation"
    assert app.query_params["part"] == "prompts"


def test_the_last_changes_open_over_any_page_with_their_undo(workbench: Callable[..., AppTest]) -> None:
    app = workbench(next(page for page in PAGES if page.name == "personality"))
    mira().configure(top_k=9)
    press(app, HISTORY.title)
    assert not app.button(key=f"drawer-{mira().stamp[0]}").disabled
    assert "All of history" in [one.proto.label for one in app.get("page_link")]


def test_a_character_that_was_deleted_is_back_by_the_line_over_whichever_is_shown(
    workbench: Callable[..., AppTest],
) -> None:
    app = workbench(next(page for page in PAGES if page.name == "personality"), agent="tobias")
    names = session.world().agents()
    press(app, "Delete tobias")
    assert "tobias" not in session.world().agents()
    assert app.session_state["agent"] != "tobias"
    press(app, "Undo")
    assert session.world().agents() == names
    assert app.session_state["agent"] == "tobias"


def test_the_palette_finds_every_page_by_its_title() -> None:
    told = {page.title: palette.option_of(page) for page in PAGES if not page.label}
    assert all(title in (one["label"], one["hint"]) for title, one in told.items())
    assert (told["Interview"]["label"], told["History"]["hint"]) == ("Talk", "")


def test_what_the_palette_does_not_know_leads_nowhere(workbench: Callable[..., AppTest]) -> None:
    app = workbench(next(page for page in PAGES if page.name == "personality"))
    for act in ({"page": "../secret"}, {"agent": "nobody"}, {"operation": "drop"}, {"else": "x"}, {"ask": "  "}, {}):
        app.session_state["palette-act"] = act
        app.run()
        assert not app.exception, app.exception
        assert app.title[0].value == "Personality"
        assert app.session_state["agent"] == "mira"


def test_memories_are_found_by_all_of_their_words_the_newest_first(open_page: OpenPage) -> None:
    open_page("history")  # opens the world
    offered = [one["act"] for one in palette.memories(mira(), "KEY mill")]
    assert {act["of"] for act in offered} == {"mira"}
    found = [mira().last_version(act["memory"]) for act in offered]
    assert found
    assert all("key" in one.document.casefold() and "mill" in one.document.casefold() for one in found)
    times = [one.timestamp for one in found if one.timestamp]
    assert times == sorted(times, reverse=True)


def test_what_a_character_does_not_remember_is_found_with_another_one(workbench: Callable[..., AppTest]) -> None:
    app = workbench(next(page for page in PAGES if page.name == "personality"))
    tobias = session.world().agent("tobias")
    tobias.add_short_term({"document": "A heron stole the harbour master's wig."}, rate=False)
    (offered,) = palette.memories(mira(), "heron wig")
    assert offered["hint"].startswith(tobias.display_name)
    app.session_state["palette-act"] = offered["act"]
    app.run()
    assert app.session_state["agent"] == "tobias"
    assert app.query_params["memory"] == offered["act"]["memory"]
