"""The card's lineage, what is stale, and marks: as tables, as a picture, and on the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.data import family, tables
from memory_system import AgentMemory, Kind, MemoryEntry, Tier
from memory_system.operations.provenance import Kin, Lineage
from memory_system.operations.rederivation import DERIVED_AGAIN
from tests.conftest import NOW

from . import change_sets
from .test_pages import open_form

OpenPage = Callable[..., AppTest]
EVIL = "<b>bold</b> [link](http://x.invalid) $x$ :red[no]"


def entry(name: str, document: str = "", **fields: object) -> MemoryEntry:
    return MemoryEntry(document or f"Text of {name}.", id=name, tier=Tier.LTM, timestamp=NOW, **fields)  # type: ignore[arg-type]


@pytest.fixture
def kin() -> Lineage:
    """A reflection on a summary of two forgotten memories."""
    return Lineage(
        "s",
        (
            Kin(entry("a", EVIL), -1, forgotten=True),
            Kin(entry("b"), -1, forgotten=True),
            Kin(entry("s", kind=Kind.SUMMARY), 0),
            Kin(entry("r", kind=Kind.REFLECTION), 1, stale=True),
        ),
        (("a", "s"), ("b", "s"), ("s", "r")),
    )


# -- picture ----------------------------------------------------------------------------------------------


def test_a_row_a_memory_a_column_a_step_and_originals_lowest(kin: Lineage) -> None:
    picture = family.tree(kin)
    assert [(row["id"], row["column"]) for row in picture["rows"]] == [("r", 0), ("s", 1), ("a", 2), ("b", 2)]
    assert [row["id"] for row in picture["rows"] if row["here"]] == ["s"]
    assert [(link["from"], link["to"]) for link in picture["links"]] == [(1, 2), (1, 3), (0, 1)]
    lanes = {link["from"]: link["lane"] for link in picture["links"]}
    assert all(
        picture["rows"][row]["column"] < lane < picture["rows"][row]["column"] + 1 for row, lane in lanes.items()
    )
    assert picture["columns"] == 3


def test_the_forgotten_and_the_stale_are_told_apart_in_the_legend(kin: Lineage) -> None:
    picture = family.tree(kin)
    assert [one["label"] for one in picture["legend"]] == ["observation", "reflection", "summary", "forgotten", "stale"]
    assert [row["id"] for row in picture["rows"] if row["forgotten"]] == ["a", "b"]
    assert [link["dotted"] for link in picture["links"]] == [True, True, False]
    said = {row["id"]: row["about"] for row in picture["rows"]}
    assert said["a"].endswith(" · forgotten")
    assert said["r"].endswith(" · ⚠ stale")
    assert [one["label"] for one in family.tree(Lineage("s", kin.kin[2:3], ()))["legend"]] == ["summary"]


def test_a_text_stands_in_the_picture_as_it_is_and_not_without_end(kin: Lineage) -> None:
    picture = family.tree(kin)
    assert next(row["text"] for row in picture["rows"] if row["id"] == "a") == EVIL  # the script sets it as text
    long = family.tree(Lineage("l", (Kin(entry("l", "word " * 1000), 0),), ()))
    assert len(long["rows"][0]["text"]) < 500


def test_only_the_nearest_of_many_are_drawn(kin: Lineage) -> None:
    many = tuple(Kin(entry(f"m{n}"), -2 if n % 2 else -1) for n in range(60))
    found = Lineage("s", (*many, kin.kin[2]), tuple((f"m{n}", "s") for n in range(60)))
    drawn = family.drawn(found)
    assert (len(drawn), drawn[0].entry.id) == (family.MOST, "s")
    assert {one.level for one in drawn} == {0, -1}
    assert len(family.tree(found)["links"]) == family.MOST - 1
    assert family.drawn(Lineage("s", (), ())) == ()
    assert family.tree(Lineage("s", (), ()))["rows"] == []


# -- tables ----------------------------------------------------------------------------------------------


def test_marks_stand_in_both_tables_and_are_counted(agent: AgentMemory, remember: Callable[..., str]) -> None:
    one = remember("Pinned and protected", pinned=True, protected=True, authored=True)
    remember("Plain", hours_ago=1)
    frame = tables.entries(agent.entries(Tier.STM), NOW, agent.migrate_stm2ltm(preview=True), {one})
    assert list(frame["marks"]) == [["pinned", "protected", "by a person", "stale"], []]
    assert tables.marked(frame) == "1 pinned · 1 protected · 1 by a person · 1 stale"
    timeline = tables.timeline(agent.entries(Tier.STM))
    assert tables.marked(timeline) == "1 pinned · 1 protected · 1 by a person"
    assert list(tables.with_stale(timeline, {one})["marks"])[1][-1] == "stale"
    assert tables.marked(tables.timeline([])) == ""
    assert tables.with_stale(tables.timeline([]), {one}).empty


# -- pages -----------------------------------------------------------------------------------------------


def mira() -> AgentMemory:
    return session.world().agent("mira")


def shown(page: AppTest) -> str:
    kinds = (page.header, page.caption, page.text, page.markdown, page.success, page.error, page.info)
    said = "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")
    return f"{said}\n{change_sets.text(page)}".strip()


def press(page: AppTest, label: str) -> AppTest:
    next(button for button in page.button if button.label == label).click().run()
    assert not page.exception, page.exception
    return page


@pytest.fixture
def doubtful(open_page: OpenPage) -> str:
    """The id of a reflection of which one source was edited and one deleted."""
    open_page("overview")  # which makes the world
    found = next(
        one for one in mira().entries(Tier.LTM) if one.kind is Kind.REFLECTION and all(map(mira().find, one.evidence))
    )
    mira().edit(found.evidence[0], document=f"It was never so. {EVIL}")
    mira().forget(found.evidence[1])
    return found.id


def test_long_term_counts_what_is_stale_only_if_there_is_any(open_page: OpenPage) -> None:
    assert "rests on what was changed" not in shown(open_page("long_term"))


def test_a_stale_memory_is_flagged_derived_again_and_undone(open_page: OpenPage, doubtful: str) -> None:
    assert len(mira().stale()) == 1
    assert "1 memory rests on evidence that has since been changed or deleted." in shown(open_page("long_term"))
    before = mira().find(doubtful)
    page = open_page("long_term", memory=doubtful)
    assert words.RESTS_ON_WHAT_CHANGED in shown(page)
    assert "<b>bold</b>" in shown(page)
    press(page, words.DERIVE_AGAIN)
    assert mira().find(doubtful) == before  # a preview
    assert DERIVED_AGAIN in shown(page)
    press(page, "Apply")
    after = mira().find(doubtful)
    assert after is not None
    assert before is not None
    assert after.document != before.document
    assert words.RESTS_ON_WHAT_CHANGED not in shown(page)
    mira().undo(mira().history(1)[0].revision)
    assert mira().find(doubtful) == before
    assert words.RESTS_ON_WHAT_CHANGED in shown(open_page("long_term", memory=doubtful))


def test_a_stale_memory_is_kept_as_it_is(open_page: OpenPage, doubtful: str) -> None:
    page = press(open_page("long_term", memory=doubtful), words.KEEP_AS_IT_IS)
    assert words.RESTS_ON_WHAT_CHANGED not in shown(page)
    assert mira().stale_of(doubtful) is None
    assert mira().history(1)[0].change_set.operation == "keep"


def test_a_forgotten_memory_is_shown_with_its_lineage_and_restored(open_page: OpenPage) -> None:
    open_page("overview")
    summary = next(one for one in mira().entries(Tier.LTM) if one.kind is Kind.SUMMARY)
    page = open_page("long_term", memory=summary.evidence[0])
    assert mira().last_version(summary.evidence[0]).document in shown(page)
    assert "1 memory rests on it" in [tab.label for tab in page.tabs]
    press(page, "Restore")
    assert mira().find(summary.evidence[0]) is not None
    assert "This memory never existed." in shown(open_page("long_term", memory="nobody"))


def test_what_was_told_says_who_told_whom(open_page: OpenPage) -> None:
    open_page("overview")  # which makes the world
    done = session.world().happened("A comet was seen.", told={"mira": "Tobias Finch", "tobias": "a sailor"})
    comet = next(one.entry.id for one in done.known if one.agent == "mira")
    page = open_page("long_term", memory=comet)
    assert words.WHO_TOLD_WHOM in [tab.label for tab in page.tabs]
    page.session_state[f"card-{comet}"] = words.WHO_TOLD_WHOM
    page.run()
    assert not page.exception
    assert "was told by Tobias Finch" in shown(page)
    assert "was told by a sailor" in shown(page)


def test_what_is_protected_can_only_be_unprotected(open_page: OpenPage) -> None:
    open_page("overview")
    held = mira().entries(Tier.LTM)[0].id
    page = press(open_page("long_term", memory=held), "Protect")
    assert mira().last_version(held).protected
    labels = {button.label for button in page.button}
    assert "Unprotect" in labels
    assert not labels & {"Pin", "Forget", words.RATE_AGAIN, words.SAVE_CHANGES}
    press(page, "Unprotect")
    assert not mira().last_version(held).protected


def test_an_edited_text_is_by_a_person_and_marks_are_set_with_it(open_page: OpenPage) -> None:
    open_page("overview")
    held = next(one for one in mira().entries(Tier.LTM) if not one.authored)
    page = open_form(open_page("long_term", memory=held.id), held.id)
    next(area for area in page.text_area if area.label == "Text").set_value(" ")
    press(page, words.SAVE_CHANGES)
    assert "A memory cannot be empty." in page.error[0].value
    next(area for area in page.text_area if area.label == "Text").set_value("Another text.")
    next(group for group in page.button_group if group.label == words.MARK_IT_AS).set_value(["Pinned"])
    press(page, words.SAVE_CHANGES)
    after = mira().last_version(held.id)
    assert (after.document, after.pinned, after.protected, after.authored) == ("Another text.", True, False, True)
