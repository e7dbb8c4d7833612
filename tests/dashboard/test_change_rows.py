"""The lines of a change set: what happens, from and to, what lies below what, and what can be accepted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dashboard.data import change_rows
from memory_system import AgentSettings, Change, ChangeSet, Kind, MemoryEntry, Tier
from memory_system.core import TextChange
from memory_system.operations import Clash
from tests.conftest import NOW

HELD = {
    name: MemoryEntry(f"Memory {name}", id=name, tier=Tier.LTM, rating=3, timestamp=NOW - timedelta(hours=hours))
    for hours, name in enumerate("abcd")
}


def planned(*changes: Change, operation: str = "edit", texts: tuple[TextChange, ...] = ()) -> ChangeSet:
    return ChangeSet(operation, "A title", changes, NOW, 1, texts=texts)


def added(name: str, kind: Kind, *evidence: str, **metadata: str) -> Change:
    entry = MemoryEntry(name, metadata, id=name, tier=Tier.LTM, kind=kind, rating=5, evidence=evidence)
    return Change(None, entry, "It is new.")


def rows(plan: ChangeSet, **more: object) -> list[change_rows.Row]:
    return change_rows.of(plan, HELD.get, **more)  # type: ignore[arg-type]


def test_a_change_is_told_from_and_to_with_the_words_that_differ() -> None:
    before = HELD["a"].evolve(document="The brass key", tier=Tier.STM)
    after = before.evolve(document="The iron key", tier=Tier.LTM, rating=8, pinned=True)
    (row,) = rows(planned(Change(before, after, "Why\u202e not")), boxes=True)
    assert row["parts"] == [("same", "The "), ("gone", "brass"), ("new", "iron"), ("same", " key")]
    assert row["facts"] == [("", "short-term", "long-term"), ("importance", "0.30", "0.80"), ("pinned", "none", "yes")]
    assert (row["verb"], row["why"], row["box"], row["ticked"]) == ("move", "Why not", True, True)


def test_a_summary_stands_above_what_it_stands_for_and_each_memory_only_once() -> None:
    leaving = [Change(HELD[name], None, "It is summarised.") for name in "abc"]
    plan = planned(*leaving, added("one", Kind.SUMMARY, "a", "b"), added("two", Kind.SUMMARY, "b", "c"))
    assert [(row["id"], row["below"]) for row in rows(plan)] == [
        ("one", ""), ("a", "one"), ("b", "one"), ("two", ""), ("c", "two"),
    ]  # fmt: skip


def test_a_reflection_stands_above_its_evidence_which_cannot_be_ticked() -> None:
    found = rows(planned(added("insight", Kind.REFLECTION, "a", "unknown"), operation="reflect"), boxes=True)
    assert [(row["word"], row["box"], row["below"]) for row in found] == [
        ("Remember", True, ""), ("Evidence", False, "insight"),
    ]  # fmt: skip


def test_a_plan_is_told_by_the_hours_of_its_day_and_what_it_replaces_comes_last() -> None:
    old = Change(HELD["a"], None, "The new plan replaces it.")
    late = added("late", Kind.PLAN, start="19:00", end="19:30", activity="eats", place="Three Herons")
    early = added("early", Kind.PLAN, start="08:15", end="09:00", activity="bakes", place="")
    odd = added("odd", Kind.PLAN, start="soon", end="later", activity="rests", place="")
    found = rows(planned(old, late, early, odd, operation="plan"), boxes=True)
    assert [(row["id"], row["span"], row["box"]) for row in found] == [
        ("early", "08:15–09:00", True), ("late", "19:00–19:30", True), ("a", "", False), ("odd", "", True),
    ]  # fmt: skip
    assert (found[1]["parts"], found[1]["facts"]) == ([("same", "eats")], [("", "Three Herons", "")])


def test_what_is_stale_is_marked_and_cannot_be_accepted() -> None:
    plan = planned(*(Change(HELD[name], None, "Old.") for name in "ab"))
    first, second = rows(plan, boxes=True, stale={"a"})
    assert (first["box"], first["ticked"], bool(first["flag"])) == (False, False, True)
    assert (second["box"], second["ticked"], second["flag"]) == (True, True, "")


def test_settings_are_told_name_by_name() -> None:
    before, after = (AgentSettings(top_k=number).to_json() for number in (6, 9))
    (row,) = rows(planned(texts=(TextChange("settings", before, after),)))
    assert (row["word"], row["parts"], row["facts"]) == ("Settings", [("same", "Top-k")], [("", "6", "9")])


@pytest.mark.parametrize(
    ("now", "would_be", "word"),
    [
        (HELD["a"], None, "Forget again"),
        (None, HELD["a"], "Bring back"),
        (HELD["a"], HELD["a"].evolve(pinned=True), "Change"),
    ],
)
def test_later_work_is_told_from_what_it_is_to_what_it_would_be(
    now: MemoryEntry | None, would_be: MemoryEntry | None, word: str
) -> None:
    row = change_rows.of_clash(Clash("a", HELD["a"], now, would_be))
    assert (row["word"], row["box"], row["ticked"]) == (word, True, False)
    assert not change_rows.of_clash(Clash("a", HELD["a"], now, None, purged=True))["box"]


def test_a_text_as_long_as_a_book_is_cut() -> None:
    long = HELD["a"].evolve(document="word " * 6000)
    (row,) = rows(planned(Change(long, long.evolve(document="other " * 5000), "Rewritten.")))
    assert sum(len(text) for _, text in row["parts"]) <= 1300
