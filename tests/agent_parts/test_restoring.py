"""What taking back would do to each memory and text, planned on values alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from memory_system import Change, ChangeSet, MemoryEntry, Tier
from memory_system.core.change_set import Kept, TextChange
from memory_system.errors import Conflict, InvalidParameter, StaleChange
from memory_system.operations.edit import PROTECTED
from memory_system.operations.undo import (
    AS_BEFORE,
    UNDO,
    Clash,
    Present,
    going_back,
    refuse_clashes,
    refuse_undone,
    title_of,
    undoing,
)
from memory_system.store.journal.as_of import Event
from memory_system.store.journal.history import Applied
from tests.conftest import NOW, PERSONALITY


def entry(text: str, name: str = "key", **fields: object) -> MemoryEntry:
    return MemoryEntry(text, id=name, tier=Tier.STM, timestamp=NOW, **fields)  # type: ignore[arg-type]


A, B, C = entry("The key is lost."), entry("The key was found."), entry("The key is lost again.")


def present(
    *held: MemoryEntry,
    texts: Mapping[str, str] | None = None,
    static: Sequence[MemoryEntry] = (),
    purged: Mapping[str, int] | None = None,
) -> Present:
    by_id = {one.id: one for one in held}
    return Present(by_id.get, (texts or {}).get, lambda: static, purged or {})


def told(*changes: Change, undone_by: int | None = None, **more: object) -> Applied:
    done = ChangeSet("edit", "Edit the key", changes, NOW, 0, revision=7, **more)  # type: ignore[arg-type]
    return Applied(done, NOW, undone_by)


EDIT = Change(A, B, "a person said so")


# -- one change set ----------------------------------------------------------------------------------------


def test_what_is_as_the_change_left_it_is_brought_back_to_what_it_was() -> None:
    plan = undoing(told(EDIT), present(B))
    assert plan.changes == [Change(B, A, "Undoes: a person said so")]
    assert (plan.kept, plan.clashes, plan.chosen) == ([], [], 0)


def test_the_last_of_several_changes_is_taken_back_first() -> None:
    other = Change(None, entry("Rain.", "rain"), "seen")
    assert [change.entry_id for change in undoing(told(EDIT, other), present(B, entry("Rain.", "rain"))).changes] == [
        "rain",
        "key",
    ]


def test_what_is_as_it_was_before_already_is_left() -> None:
    plan = undoing(told(EDIT), present(A))
    assert (plan.changes, plan.kept, plan.clashes) == ([], [Kept("key", AS_BEFORE)], [])


def test_a_note_that_changed_nothing_is_taken_back_as_a_note() -> None:
    note = Change(A, A, "looked at")
    assert undoing(told(note), present(A)).changes == [Change(A, A, "Undoes: looked at")]


def test_what_was_changed_since_is_a_clash_until_it_is_chosen() -> None:
    (clash,) = undoing(told(EDIT), present(C)).clashes
    assert clash == Clash("key", B, C, A)
    kept = undoing(told(EDIT), present(C), keep=["key"])
    assert (kept.changes, kept.clashes, kept.chosen) == ([], [], 1)
    assert kept.kept == [Kept("key", "It is kept as it is now, since that was chosen.")]
    over = undoing(told(EDIT), present(C), overwrite=["key"])
    assert over.changes == [Change(C, A, "Undoes, over what came later: a person said so")]
    assert (over.kept, over.clashes, over.chosen) == ([], [], 0)


def test_what_is_protected_by_now_is_not_overwritten() -> None:
    plan = undoing(told(EDIT), present(C.evolve(protected=True)), overwrite=["key"])
    assert (plan.changes, plan.kept, plan.clashes) == ([], [Kept("key", PROTECTED)], [])


@pytest.mark.parametrize(("purged_at", "stands_in_the_way"), [(6, False), (7, False), (8, True)])
def test_only_what_was_purged_after_the_change_cannot_come_back(purged_at: int, stands_in_the_way: bool) -> None:
    plan = undoing(told(Change(A, None, "forgotten")), present(purged={"key": purged_at}))
    assert plan.clashes == ([Clash("key", None, None, A, purged=True)] if stands_in_the_way else [])
    assert plan.changes == ([] if stands_in_the_way else [Change(None, A, "Undoes: forgotten")])


def test_an_addition_that_was_purged_since_needs_no_bringing_back() -> None:
    plan = undoing(told(Change(None, A, "added")), present(purged={"key": 8}))
    assert (plan.kept, plan.clashes) == ([Kept("key", AS_BEFORE)], [])


def test_a_choice_is_refused_for_what_was_not_changed_and_for_both_at_once() -> None:
    with pytest.raises(InvalidParameter, match="did nothing to 'rain'"):
        undoing(told(EDIT), present(C), keep=["key"], overwrite=["rain"])
    with pytest.raises(InvalidParameter, match="'key' is to be kept and to be overwritten"):
        undoing(told(EDIT), present(C), keep=["key"], overwrite=["key"])


# -- texts -------------------------------------------------------------------------------------------------

SETTINGS = TextChange("settings", "old", "new")


def test_a_text_is_brought_back_left_or_a_clash_as_a_memory_is() -> None:
    done = told(texts=(SETTINGS,))
    assert undoing(done, present(texts={"settings": "new"})).texts == [TextChange("settings", "new", "old")]
    as_before = undoing(done, present(texts={"settings": "old"}))
    assert (as_before.texts, as_before.kept, as_before.clashes) == ([], [], [])
    assert undoing(done, present(texts={"settings": "other"})).clashes == [Clash("settings", "new", "other", "old")]
    kept = undoing(done, present(texts={"settings": "other"}), keep=["settings"])
    assert (kept.texts, kept.chosen) == ([], 1)
    assert kept.kept == [Kept("settings", "What is kept as settings stays as it is now, since that was chosen.")]
    over = undoing(done, present(texts={"settings": "other"}), overwrite=["settings"])
    assert over.texts == [TextChange("settings", "other", "old")]


def test_a_personality_comes_back_with_the_facts_that_its_text_tells_and_not_with_those_of_the_change() -> None:
    before, after = json.dumps(PERSONALITY), json.dumps(PERSONALITY | {"facts": ["There are two keys."]})
    stale = MemoryEntry("There are two keys.", id="fact-of-then", tier=Tier.STATIC)
    done = told(Change(None, stale, "The personality says so."), texts=(TextChange("personality", before, after),))
    plan = undoing(done, present(stale, texts={"personality": after}, static=[stale]))
    assert plan.texts == [TextChange("personality", after, before)]
    documents = {change.after.document for change in plan.changes if change.after is not None}
    assert "There is only one true key to the tide mill." in documents
    assert [change.before for change in plan.changes if change.after is None] == [stale]


# -- what cannot be undone ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (told(EDIT, undone_by=9), "undone already, by revision 9"),
        (told(purges=("key",)), "purged is gone for good"),
        (told(texts=(TextChange("personality", None, "{}"),)), "how the character came to be"),
    ],
)
def test_some_changes_cannot_be_undone_at_all(done: Applied, words: str) -> None:
    with pytest.raises(Conflict, match=words):
        refuse_undone(done)


@pytest.mark.parametrize(
    "done", [told(EDIT), told(texts=(SETTINGS,)), told(texts=(TextChange("settings", None, "new"),))]
)
def test_any_other_change_can_be_undone(done: Applied) -> None:
    refuse_undone(done)


def test_clashes_are_told_one_by_one_up_to_three_and_the_rest_counted() -> None:
    refuse_clashes("Edit", [])
    clashes = [Clash(f"m{n}", B, entry(f"Memory number {n}.", f"m{n}"), A) for n in range(5)]
    with pytest.raises(StaleChange) as three:
        refuse_clashes("Edit", clashes[:3])
    assert "number 2." in three.value.sentence
    assert " more." not in three.value.sentence
    with pytest.raises(StaleChange, match="The same applies to 2 more") as five:
        refuse_clashes("Edit", clashes)
    assert "number 2." in five.value.sentence
    assert "number 3." not in five.value.sentence


def test_a_clash_says_what_it_is_and_what_stands_in_the_way() -> None:
    first, last = (Event(at, f"Edit {at}", "Ann", NOW, A, B) for at in (8, 9))
    assert str(Clash("key", B, C, A)) == "“The key is lost again.” has changed since."
    assert str(Clash("key", B, None, A)) == "“The key is lost.” has changed since."
    assert str(Clash("key", B, C, A, (first, last))) == (
        "“The key is lost again.” was changed since by “Edit 9” (revision 9, Ann)."
    )
    assert str(Clash("key", B, None, A, purged=True)) == (
        "“The key is lost.” cannot be brought back: it was purged for good."
    )
    text = Clash("settings", "new", None, None)
    assert str(text) == "What is kept as settings has changed since."
    assert (text.is_text, Clash("key", B, C, A).is_text) == (True, False)


def test_titles_and_reasons_of_an_undo_that_is_undone_do_not_grow() -> None:
    undone = ChangeSet(UNDO, "Undo: Edit", (), NOW, 0)
    assert title_of(undone) == "Redo: Edit"
    assert title_of(ChangeSet("redo", "Redo: Edit", (), NOW, 0)) == "Undo: Edit"
    reasons = ["seen"]
    for _ in range(3):
        (change,) = undoing(told(Change(A, B, reasons[-1])), present(B)).changes
        reasons.append(change.reason)
    assert reasons == ["seen", "Undoes: seen", "Does again: seen", "Undoes: seen"]


# -- going back --------------------------------------------------------------------------------------------


def test_going_back_puts_each_memory_where_it_was() -> None:
    was = {"key": A, "new": None, "gone": entry("Gone.", "gone"), "same": entry("Same.", "same")}
    now = present(B, entry("New.", "new"), entry("Same.", "same"))
    plan = going_back(3, was, {}, now)
    assert plan.changes == [
        Change(B, A, "It is put back as it was then."),
        Change(entry("New.", "new"), None, "It was not there then."),
        Change(None, entry("Gone.", "gone"), "It is put back as it was then."),
    ]
    assert plan.kept == []


@pytest.mark.parametrize(("purged_at", "comes_back"), [(3, True), (4, False)])
def test_going_back_brings_nothing_back_that_was_purged_since(purged_at: int, comes_back: bool) -> None:
    plan = going_back(3, {"key": A}, {}, present(purged={"key": purged_at}))
    assert plan.changes == ([Change(None, A, "It is put back as it was then.")] if comes_back else [])
    assert plan.kept == ([] if comes_back else [Kept("key", "It was purged for good, and cannot come back.")])


def test_going_back_leaves_what_is_protected_but_may_end_its_protection() -> None:
    guarded = B.evolve(protected=True)
    assert going_back(3, {"key": A}, {}, present(guarded)).kept == [Kept("key", PROTECTED)]
    assert going_back(3, {"key": None}, {}, present(guarded)).kept == [Kept("key", PROTECTED)]
    unguarded = going_back(3, {"key": B}, {}, present(guarded))
    assert unguarded.changes == [Change(guarded, B, "It is put back as it was then.")]
    assert unguarded.kept == []


def test_going_back_to_before_there_was_a_personality_leaves_the_one_in_use() -> None:
    text = json.dumps(PERSONALITY)
    plan = going_back(
        1, {}, {"personality": None, "settings": None}, present(texts={"personality": text, "settings": "x"})
    )
    assert plan.texts == [TextChange("settings", "x", None)]
    assert plan.kept == [Kept("personality", "There was not a personality yet; the one in use stays.")]
    assert going_back(1, {}, {"settings": "x"}, present(texts={"settings": "x"})).texts == []


def test_going_back_to_another_personality_takes_its_facts_from_its_text() -> None:
    was, is_now = json.dumps(PERSONALITY), json.dumps(PERSONALITY | {"facts": []})
    fact = MemoryEntry("There are two keys.", id="a-fact", tier=Tier.STATIC)
    plan = going_back(
        1, {"a-fact": None}, {"personality": was}, present(fact, texts={"personality": is_now}, static=[fact])
    )
    assert plan.texts == [TextChange("personality", is_now, was)]
    assert [change.reason for change in plan.changes if change.entry_id == "a-fact"] == [
        "The personality no longer says so."
    ]
    assert "There is only one true key to the tide mill." in {
        change.after.document for change in plan.changes if change.after is not None
    }
    alike = going_back(1, {"a-fact": None}, {"personality": was}, present(fact, texts={"personality": was}))
    assert alike.changes == [Change(fact, None, "It was not there then.")]
