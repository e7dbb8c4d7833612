"""A viewer sees every page and changes nothing, not even with widgets that were forged."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.server.visitors import SECONDS, Visitors, visitors
from dashboard.views import PAGES
from memory_system import AgentMemory, Settings, Tier
from memory_system.errors import NotAllowed, NotSignedIn
from memory_system.world.auth import Door, Role
from memory_system.world.viewer import OnlookersWorld
from tests import sample_world
from tests.waiting import LAST_RESORT

from .comparing import compared
from .test_entering_events import entering

Open = Callable[..., AppTest]
ENTERED = (words.MANY_EVENTS, words.A_CONVERSATION, words.SHARED_EVENT)
"""Tabs of what may be entered, beside the first."""
VIEWS = sorted(page.name for page in PAGES)
_TEXT = "A viewer was here"


@pytest.fixture
def viewer(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Runs a page for a viewer."""
    monkeypatch.setenv("MEMORY_ROLE", "viewer")
    visitors.cache_clear()
    return open_page


@pytest.fixture
def forged(viewer: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Runs a page for a viewer whose browser sends what only a curator's can: every widget is there, and enabled."""
    monkeypatch.setattr(session, "viewing", lambda: False)
    monkeypatch.setattr(AgentMemory, "read_only", None)
    return viewer


def held() -> list[Any]:
    """All that is stored, and all files there are."""
    world = session.opened()
    agents = [world.agent(name) for name in world.agents()]
    stored = [(one.stamp, [one.entries(tier) for tier in Tier], one.texts(), one.personality_text) for one in agents]
    places = (world.folder.parent, world.settings.personalities, world.settings.backup_folder)
    files = sorted(str(path) for place in places for path in place.rglob("*") if "chroma" not in path.parts)
    journals = [name for name in files if not name.endswith(("-wal", "-shm", ".lock"))]
    return [stored, journals, world.agents(), world.deleted_agents(), world.standing, world.about, world.rehearsals()]


def press_everything(page: AppTest) -> int:
    """Fill every field and press every button, disabled or not, each in a run of its own; answers how many there were.

    What is refused stands on the page as an error, which is not looked at here: what is stored is.
    """
    for field in [*page.text_input, *page.text_area]:
        field.proto.disabled = False
        field.set_value(_TEXT)
    for box in page.checkbox:
        box.proto.disabled = False
        box.check()
    page.run()
    count = len(page.button)
    for number in range(count):
        if number < len(page.button):
            page.button[number].proto.disabled = False
            page.button[number].click().run()
    return count


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_is_shown_to_a_viewer(viewer: Open, view: str) -> None:
    before = held()
    viewer(view, cue="Who has the mill key?")
    assert held() == before


@pytest.mark.usefixtures("viewer")
def test_whoever_sees_a_demo_is_told_so_and_how_to_have_a_world_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    page = AppTest.from_file(str(sample_world.ROOT / "dashboard" / "app.py"), default_timeout=LAST_RESORT).run()
    assert words.DEMO not in told_on(page), "a viewer of somebody's own world is not at a demo"
    monkeypatch.setattr(visitors(), "demo", True)
    page.run()
    assert words.DEMO in told_on(page)
    assert words.INSTALL_IT in [one.proto.popover.label for one in page.main.get("popover")]
    assert [one.value for one in page.code if "pip install" in one.value and "memory-system run" in one.value]


def told_on(page: AppTest) -> str:
    return " ".join(one.value for one in [*page.markdown, *page.caption])


def test_a_viewer_is_told_what_is_so_for_them(viewer: Open) -> None:
    overview, settings = viewer("overview"), viewer("settings")
    told = " ".join(one.value for one in [*overview.markdown, *overview.caption])
    assert "Everything can be changed" not in told
    captions = " ".join(one.value for one in settings.caption)
    assert "remembers with these settings" in captions
    assert "these settings then" not in captions
    assert f"{words.A_VIEWER}." in captions
    assert "The page says why" not in captions


def test_a_viewer_is_not_told_to_add_what_a_viewer_cannot(viewer: Open) -> None:
    for name in ("ana", "ben"):
        session.opened().create_agent(name, {"identity": {"name": name}})
    for view in ("overview", "cast", "personality", "history", "long_term", "memory_map"):
        page = viewer(view, "ana")
        told = f"{told_on(page)} {[one.proto for one in page.get('bidi_component')]}"
        assert not re.search("[Aa]dd an event|you change", told), view
        assert view != "overview" or words.NOTHING_HAS_HAPPENED in told


def test_a_viewer_is_not_told_of_an_error_nor_to_keep_what_a_viewer_cannot(viewer: Open) -> None:
    worlds = viewer("worlds")
    assert not worlds.error
    assert words.A_VIEWER in told_on(worlds)
    assert not [one for one in viewer("interview", show="questions").header if one.value == "Before and after"]


def test_a_viewer_reads_a_personality_and_is_offered_no_field_that_takes_nothing(viewer: Open) -> None:
    page = viewer("personality")
    assert not page.text_input
    assert not page.text_area
    assert "fact" in page.dataframe[0].value.columns
    assert "Mira Holloway" in page.expander[0].code[0].value
    assert any(words.A_VIEWER in one.value for one in page.caption)


def test_a_viewer_sees_on_tidy_what_the_inbox_counts_and_nothing_that_settles_it(viewer: Open) -> None:
    page = compared(viewer("tidy"))
    told = told_on(page).replace("\\", "")
    assert "One says “5 March”, the other “Sunday”." in told
    assert "But they are 2 weeks apart: each may have been true in its time." in told
    assert {one.label for one in page.main.get("button")} == {"Open"}


@pytest.mark.parametrize("view", VIEWS)
def test_no_forged_widget_changes_anything(forged: Open, view: str) -> None:
    session.opened()
    before = held()
    page = forged(view, cue="Who has the mill key?")
    press_everything(page)
    for tab in ENTERED if view == "short_term" else ():
        entering(page, tab)
        press_everything(page)
    assert held() == before


def test_the_same_widgets_change_things_for_a_curator(open_page: Open) -> None:
    session.opened()
    before = held()
    page = open_page("short_term")
    pressed = press_everything(page)
    for tab in ENTERED:
        entering(page, tab)
        pressed += press_everything(page)
    assert pressed > len(ENTERED)
    assert held() != before


def test_the_pages_of_a_viewer_hand_out_what_refuses_every_change(viewer: Open) -> None:
    viewer("overview")
    world = session.world()
    assert isinstance(world, OnlookersWorld)
    with pytest.raises(NotAllowed, match="as a viewer"):
        world.agent("mira").add_short_term({"document": _TEXT})
    with pytest.raises(NotAllowed, match="as a viewer"):
        world.create_agent("ana")


def test_who_has_not_signed_in_gets_no_world(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    open_page("overview")
    monkeypatch.setenv("MEMORY_PASSWORD", "curators-word")
    visitors.cache_clear()
    assert visitors().door.locked
    with pytest.raises(NotSignedIn, match="Sign in again"):
        session.world()


def test_a_visit_has_the_role_of_its_password_and_ends_when_it_is_left_or_idle() -> None:
    now = [0.0]
    settings = Settings(password="curators-word", viewer_password="viewers-word")  # type: ignore[arg-type]
    held_by = Visitors(Door.of_dashboard(settings), lambda: now[0])
    curator, viewer = (held_by.sign_in(word, "10.0.0.1") for word in ("curators-word", "viewers-word"))
    assert (held_by.role(curator), held_by.role(viewer)) == (Role.CURATOR, Role.VIEWER)
    assert held_by.sign_in("another-word", "10.0.0.1") is None
    assert [held_by.role(one) for one in (None, "", "made up")] == [None] * 3
    held_by.sign_out(curator or "")
    assert held_by.role(curator) is None
    now[0] += SECONDS - 1
    assert held_by.role(viewer) is Role.VIEWER
    now[0] += SECONDS + 1
    assert held_by.role(viewer) is None
