"""The History page: filters, a change in full, undo with a choice, redo, the way back, and the bin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.views.history import filters
from memory_system import AgentMemory, Tier
from memory_system.core import DECAYING

from . import change_sets
from .test_pages import mira, press, shown

OpenPage = Callable[..., AppTest]


@pytest.fixture
def cast() -> Collection[str]:
    """Edda, too, whose history one of these walks through."""
    return ("mira", "tobias", "edda")


@pytest.fixture
def world_open(open_page: OpenPage) -> AgentMemory:
    """Mira, in a copy of the sample world."""
    return mira()


def edited(agent: AgentMemory) -> tuple[str, int, str]:
    """A memory that was edited; its id, the revision, and its text before."""
    entry = agent.entries(Tier.STM)[0]
    done = agent.acting_as("Ines").edit(entry.id, document=f"{entry.document} So they say.", rating=9)
    return entry.id, done.revision or 0, entry.document


def test_a_linked_change_is_shown_in_full(open_page: OpenPage, world_open: AgentMemory) -> None:
    _, revision, _ = edited(world_open)
    page = open_page("history", change=str(revision))
    words = shown(page)
    for part in ("By Ines", "world time", "UTC", f"revision {revision}", "Undo: 1 memory changes."):
        assert part in words
    (row,) = change_sets.rows(page)
    assert ["new", " So they say."] in row["parts"]
    assert "importance" in {name for name, _, _ in row["facts"]}


def test_an_undo_and_a_redo_by_their_buttons(open_page: OpenPage, world_open: AgentMemory) -> None:
    entry_id, revision, before = edited(world_open)
    page = press(open_page("history", change=str(revision)), "Undo")
    assert "Undone:" in shown(page)
    assert mira().find(entry_id).document == before  # type: ignore[union-attr]
    page = press(page, "Redo")
    assert f"{words.DONE_AGAIN}:" in shown(page)
    assert mira().find(entry_id).document.endswith("So they say.")  # type: ignore[union-attr]


def test_the_page_says_what_it_does_while_much_is_undone_or_applied(
    open_page: OpenPage, world_open: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    @contextmanager
    def spinner(text: str) -> Iterator[None]:
        said.append(text)
        yield

    monkeypatch.setattr(st, "spinner", spinner)
    _, revision, _ = edited(world_open)
    page = press(press(open_page("history", change=str(revision)), "Undo"), "Redo")
    next(one for one in page.button if str(one.key).startswith("last-act-undo")).click().run()
    page.button(key=f"to-{revision}").click().run().button(key="apply-back").click().run()
    assert said == ["Undoing …", "Redoing …", "Undoing …", "Applying …"]


def test_an_undo_that_would_change_nothing_says_why(open_page: OpenPage, world_open: AgentMemory) -> None:
    entry_id = world_open.entries(Tier.STM)[0].id
    done = world_open.edit(entry_id, pinned=True)
    world_open.edit(entry_id, pinned=False)
    page = open_page("history", change=str(done.revision))
    assert "Undo: Nothing changes. It is again as it was before." in shown(page).replace("\\", "")


@pytest.mark.parametrize("kept", [True, False])
def test_an_undo_that_meets_later_work_lets_choose(open_page: OpenPage, world_open: AgentMemory, kept: bool) -> None:
    ids = [entry.id for entry in world_open.entries(Tier.STM)[:2]]
    done = world_open.migrate_stm2ltm(ids=ids)
    world_open.edit(ids[0], document="Told anew since.")
    page = press(open_page("history", change=str(done.revision)), "Undo …")
    assert "Changed since: “Edit" in shown(page)
    change_sets.turn(page, [] if kept else [ids[0]])
    press(page, "Undo with these choices")
    tiers = {entry.id: entry.tier for tier in DECAYING for entry in mira().entries(tier)}
    assert (tiers[ids[0]], tiers[ids[1]]) == (Tier.LTM if kept else Tier.STM, Tier.STM)
    assert ("Told anew since." in {entry.document for entry in mira().entries(Tier.LTM)}) is kept


def test_the_way_back_is_previewed_in_numbers_and_applied(open_page: OpenPage, world_open: AgentMemory) -> None:
    target = world_open.stamp[0]
    before = {entry.id: entry.document for entry in world_open.entries(Tier.STM)}
    edited(world_open)
    world_open.forget(list(before)[3:5])
    page = press(open_page("history", change=str(target)), "Undo back to here …")
    assert "It undoes what the 2 later changes did." in shown(page)
    assert "2 memories come into recall and 1 memory changes." in shown(page)
    assert {entry.id: entry.document for entry in mira().entries(Tier.STM)} != before
    press(page, "Apply")
    assert {entry.id: entry.document for entry in mira().entries(Tier.STM)} == before


def test_changes_are_found_by_words_kind_and_who(open_page: OpenPage, world_open: AgentMemory) -> None:
    edited(world_open)
    page = open_page("history", who="Ines")
    assert list(page.dataframe[0].value["who"]) == ["Ines"]
    page = open_page("history", find="so THEY say", kind="edit")
    assert list(page.dataframe[0].value["kind"]) == ["Edit"]
    page = open_page("history", find="no such words anywhere")
    assert words.NO_CHANGE_IS_LIKE_THIS in shown(page)
    press(page, "List all changes")
    assert len(page.dataframe[0].value) == len(mira().history())


@pytest.mark.parametrize(
    "link", [{"change": "x"}, {"change": "-1"}, {"from": "x"}, {"to": "9999-12-31"}, {"kind": "?"}]
)
def test_a_link_that_makes_no_sense_shows_the_history(open_page: OpenPage, link: dict[str, str]) -> None:
    page = open_page("history", **link)
    assert len(page.dataframe[0].value) == len(mira().history())
    warned = [str(one.value) for one in page.warning]
    assert ("The change in the link is not a number; select one above." in warned) is ("change" in link)


def test_older_changes_are_on_further_pages(
    open_page: OpenPage, world_open: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "PAGE", 10)
    revisions = [one.revision for one in world_open.history()]
    page = open_page("history")
    assert list(page.dataframe[0].value["revision"]) == revisions[:10]
    press(page, "Older")
    assert list(page.dataframe[0].value["revision"]) == revisions[10:20]
    press(page, "Newer")
    assert list(page.dataframe[0].value["revision"]) == revisions[:10]


def test_the_bin_says_what_to_do_or_that_it_is_empty(open_page: OpenPage, world_open: AgentMemory) -> None:
    entry = world_open.entries(Tier.STM)[0]
    world_open.forget(entry.id)
    page = open_page("history")
    assert session.world().agent("mira").count_forgotten() > 0
    assert [tab.label for tab in page.tabs][:2] == ["Changes", "Bin"]


# -- the moments before and after a change ----------------------------------------------------------------


def looked_from(page: AppTest, change: int, button: str) -> AppTest:
    """A change, opened by its link in the present, from which one looks at the moment before or after it."""
    page.session_state["moment"] = None
    page.query_params["change"] = str(change)
    page.run()
    return press(page, button)


def test_the_moments_before_and_after_every_change_of_a_character_open(open_page: OpenPage) -> None:
    page = open_page("history", agent="edda")
    edda = session.world().agent("edda")
    changes = {one.revision: one.change_set.title for one in edda.history(1000)}
    assert min(changes) == 1
    for revision, title in changes.items():
        looked_from(page, revision, words.MOMENT_BEFORE)
        assert not page.error, [one.value for one in page.error]
        assert title in shown(page)
        assert words.STILL_TO_COME in shown(page)
        looked_from(page, revision, words.MOMENT_AFTER)
        assert not page.error, [one.value for one in page.error]
        assert title in shown(page)
        assert words.STILL_TO_COME not in shown(page)


def test_the_moment_before_opens_for_every_kind_of_change(open_page: OpenPage, world_open: AgentMemory) -> None:
    agent = world_open
    entry = agent.entries(Tier.STM)[0]
    done = [
        agent.add_short_term({"document": "Saw smoke", "rating": 4}).change_set,
        agent.edit(entry.id, rating=3),
        agent.configure(top_k=9),
        agent.save_personality(str(agent.personality_text).replace('"age": 34', '"age": 35')),
        agent.save_cue("Key", "Who has the key?", [entry.id]),
        agent.forget(entry.id),
        agent.purge(entry.id),
        agent.migrate_stm2ltm(ids=[agent.entries(Tier.STM)[0].id]),
        agent.summarize_and_forget(2),
    ]
    done.append(agent.undo(done[-1].revision or 0))
    page = open_page("history")
    for change in done:
        assert change.revision
        looked_from(page, change.revision, words.MOMENT_BEFORE)
        assert not page.error, [one.value for one in page.error]
        assert agent.change(change.revision).change_set.title in shown(page)  # a purge takes a text out of it, too
        press(page, words.MOMENT_AFTER)  # while one looks at the past
        assert not page.error, [one.value for one in page.error]


def test_of_a_change_that_was_still_to_come_nothing_can_be_undone(open_page: OpenPage, world_open: AgentMemory) -> None:
    _, revision, _ = edited(world_open)
    page = looked_from(open_page("history"), revision, words.MOMENT_BEFORE)
    assert not {"Undo", "Redo"} & {button.label for button in page.button}
    before = {button.label: button.disabled for button in page.button}[words.MOMENT_BEFORE]
    assert before, "one looks at it"
