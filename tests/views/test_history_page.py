"""The History page: filters, a change in full, undo with a choice, redo, the way back, and the bin."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import history_filters, session
from memory_system import AgentMemory, Tier

from .test_pages import mira, press, shown

OpenPage = Callable[..., AppTest]


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
    html = "".join(str(block.proto.body) for block in page.get("html"))
    assert '<ins data-sign="+"> So they say.</ins>' in html
    assert "importance" in html


def test_an_undo_and_a_redo_by_their_buttons(open_page: OpenPage, world_open: AgentMemory) -> None:
    entry_id, revision, before = edited(world_open)
    page = press(open_page("history", change=str(revision)), "Undo")
    assert "Undone:" in shown(page)
    assert mira().find(entry_id).document == before  # type: ignore[union-attr]
    page = press(page, "Redo")
    assert "Done again:" in shown(page)
    assert mira().find(entry_id).document.endswith("So they say.")  # type: ignore[union-attr]


def test_an_undo_that_would_change_nothing_says_why(open_page: OpenPage, world_open: AgentMemory) -> None:
    entry_id = world_open.entries(Tier.STM)[0].id
    done = world_open.edit(entry_id, pinned=True)
    world_open.edit(entry_id, pinned=False)
    page = open_page("history", change=str(done.revision))
    assert "Undo: Nothing changes. It is again as it was before." in shown(page).replace("\\", "")


@pytest.mark.parametrize("everything", ["Keep what is there now", "Take it back anyway"])
def test_an_undo_that_meets_later_work_lets_choose(
    open_page: OpenPage, world_open: AgentMemory, everything: str
) -> None:
    ids = [entry.id for entry in world_open.entries(Tier.STM)[:2]]
    done = world_open.migrate_stm2ltm(ids=ids)
    world_open.edit(ids[0], document="Told anew since.")
    page = press(open_page("history", change=str(done.revision)), "Undo …")
    assert "Changed since: “Edit" in shown(page)
    next(one for one in page.radio if one.label == "For all of them").set_value(everything).run()
    press(page, "Undo with these choices")
    tiers = {entry.id: entry.tier for tier in (Tier.STM, Tier.LTM) for entry in mira().entries(tier)}
    kept = everything.startswith("Keep")
    assert (tiers[ids[0]], tiers[ids[1]]) == (Tier.LTM if kept else Tier.STM, Tier.STM)
    assert ("Told anew since." in {entry.document for entry in mira().entries(Tier.LTM)}) is kept


def test_the_way_back_is_previewed_in_numbers_and_applied(open_page: OpenPage, world_open: AgentMemory) -> None:
    target = world_open.stamp[0]
    before = {entry.id: entry.document for entry in world_open.entries(Tier.STM)}
    edited(world_open)
    world_open.forget(list(before)[3:5])
    page = press(open_page("history", change=str(target)), "Undo back to here …")
    assert "It takes back what the 2 later changes did." in shown(page)
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
    assert "No change is like this." in shown(page)
    press(page, "List all changes")
    assert len(page.dataframe[0].value) == len(mira().history())


@pytest.mark.parametrize(
    "link", [{"change": "x"}, {"change": "-1"}, {"from": "x"}, {"to": "9999-12-31"}, {"kind": "?"}]
)
def test_a_link_that_makes_no_sense_shows_the_history(open_page: OpenPage, link: dict[str, str]) -> None:
    page = open_page("history", **link)
    assert len(page.dataframe[0].value) == len(mira().history())
    warned = [str(one.value) for one in page.warning]
    assert ("The change in the link is no number; select one above." in warned) is ("change" in link)


def test_older_changes_are_on_further_pages(
    open_page: OpenPage, world_open: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_filters, "PAGE", 10)
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
