"""Change sets as values: told, thinned out, and refused before the commit where they do not hang together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from memory_system import AgentMemory, AgentSettings, Change, ChangeSet, Kind, MemoryEntry, Source, Tier, World
from memory_system.core.change_set import (
    TextChange,
    counted,
    dump_entry,
    entry_from_json,
    entry_to_json,
    load_entry,
    short,
    so_many,
)
from memory_system.errors import Conflict, InvalidInput, InvalidParameter, MemorySystemError
from tests.conftest import NOW

Remember = Callable[..., str]


def entry(entry_id: str, tier: Tier = Tier.LTM, **fields: Any) -> MemoryEntry:
    return MemoryEntry(f"Event {entry_id}", id=entry_id, tier=tier, timestamp=NOW, **fields)


def plan(*changes: Any, **fields: Any) -> ChangeSet:
    return ChangeSet("edit", "A title", changes, NOW, 0, **fields)


SUMMARY = entry("s", kind=Kind.SUMMARY, evidence=("a", "b", "c"))
SUMMARISE = plan(
    Change(None, SUMMARY, "stands for three"),
    *(Change(entry(key), None, "the summary stands for it") for key in "abc"),
    Change(entry("other"), entry("other", rating=9), "an edit beside"),
)


def shape(change_set: ChangeSet) -> list[tuple[str, str]]:
    return [(change.verb, change.entry_id) for change in change_set.changes]


# -- without -------------------------------------------------------------------------------------------


def test_refusing_a_summary_refuses_the_forgetting_of_its_sources() -> None:
    left = SUMMARISE.without(["s"])
    assert shape(left) == [("update", "other")]
    assert left.title == "A title; 1 of 5 accepted"


def test_what_a_new_plan_of_the_day_replaces_is_not_counted_as_accepted() -> None:
    replaced = (Change(entry(key), None, "replaced") for key in "ab")
    day = plan(*replaced, *(Change(None, entry(key), "an action") for key in "cde"))
    left = dataclasses.replace(day, operation="plan").without(["d"])
    assert left.title == "A title; 2 of 3 accepted"


def test_refusing_to_forget_a_source_takes_it_out_of_the_evidence() -> None:
    left = SUMMARISE.without(["b"])
    assert shape(left) == [("add", "s"), ("forget", "a"), ("forget", "c"), ("update", "other")]
    (summary,) = left.of("add")
    assert summary.after == SUMMARY.evolve(evidence=("a", "c"))
    assert SUMMARISE.of("add")[0].after == SUMMARY, "the plan itself stays as it is"


def test_refusing_an_edit_leaves_the_rest_as_it_is() -> None:
    assert SUMMARISE.without(["other"]).changes == SUMMARISE.changes[:4]


@pytest.mark.parametrize("refused", [[], ["nobody"]])
def test_refusing_nothing_is_the_same_plan_under_an_id_of_its_own(refused: list[str]) -> None:
    left = SUMMARISE.without(refused)
    assert left.id != SUMMARISE.id
    assert dataclasses.replace(left, id=SUMMARISE.id) == SUMMARISE


def test_refusing_all_leaves_nothing_to_apply(agent: AgentMemory) -> None:
    left = SUMMARISE.without(["s", "other"])
    assert not left
    assert agent.apply(left).revision is None


def test_a_plan_and_what_is_left_of_it_are_not_applied_as_one(agent: AgentMemory, remember: Remember) -> None:
    ids = [remember(f"Small thing {number}", rating=1) for number in range(4)]
    whole = agent.migrate_stm2ltm(ids=ids, preview=True)
    part = agent.apply(whole.without(ids[:3]))
    assert [held.id for held in agent.entries(Tier.LTM)] == ids[3:]
    assert agent.apply(whole.without(ids[3:])).revision == (part.revision or 0) + 1
    assert len(agent.entries(Tier.LTM)) == 4


def test_a_summary_with_a_spared_source_is_applied_and_undone(agent: AgentMemory, remember: Remember) -> None:
    ids = [remember(f"Small thing {number}", rating=1) for number in range(3)]
    agent.migrate_stm2ltm(ids=ids)
    before = agent.entries(Tier.LTM)
    done = agent.apply(agent.summarize_and_forget(preview=True).without(ids[:1]))
    assert agent.find(ids[0]) is not None
    assert agent.find(ids[1]) is None
    assert [held.id for held in agent.built_on(ids[1])] == [done.of("add")[0].entry_id]
    assert agent.built_on(ids[0]) == []
    agent.undo(done)
    assert agent.entries(Tier.LTM) == before


# -- told ----------------------------------------------------------------------------------------------


def test_a_change_set_tells_itself_in_lines() -> None:
    moved = Change(entry("m", Tier.STM), entry("m"), "full")
    told = plan(moved, *SUMMARISE.changes[:2], notes=("a note",))
    lines = str(told).splitlines()
    assert lines[0] == "A title (not applied)"
    assert [line.split()[0] for line in lines[1:]] == ["move", "add", "forget", "note:"]
    assert lines[1].endswith("Event m  [full]")
    assert "revision 7" in str(dataclasses.replace(told, revision=7))


def test_the_changes_of_one_verb_are_given_in_their_order() -> None:
    assert [change.entry_id for change in SUMMARISE.of("forget")] == ["a", "b", "c"]
    assert [change.entry_id for change in SUMMARISE.of("add")] == ["s"]
    assert SUMMARISE.of("move") == SUMMARISE.of("nothing of this name") == ()
    assert shape(plan(Change(entry("m", Tier.STM), entry("m"), ""))) == [("move", "m")]


def test_an_entry_comes_back_from_its_json_as_it_was() -> None:
    full = entry("x", rating=6.5, explanation="why", tags=("a",), pinned=True, authored=True, depth=2)
    for one in (full, SUMMARY, MemoryEntry("timeless", {"n": 1, "t": True}, "y")):
        assert entry_from_json(entry_to_json(one)) == one
        assert load_entry(dump_entry(one)) == one
    assert load_entry(dump_entry(None)) is None


def test_every_field_of_a_memory_is_stored() -> None:
    full = MemoryEntry(
        "The bridge fell.",
        {"mood": "grim"},
        "x",
        tier=Tier.LTM,
        kind=Kind.SUMMARY,
        timestamp=NOW,
        rating=6.5,
        explanation="why",
        tags=("a",),
        pinned=True,
        authored=True,
        protected=True,
        evidence=("b",),
        depth=2,
        source=Source.TOLD,
        people=("Ana",),
        place="Ferry",
    )
    least = MemoryEntry("The bridge fell.", id="y")
    stored = {one.name for one in dataclasses.fields(MemoryEntry)} - {"last_access"}
    as_least = [name for name in stored if getattr(full, name) == getattr(least, name)]
    assert set(as_least) == {"document"}, "give each field of a memory a value here that is not its default"
    assert entry_from_json(entry_to_json(full)) == full


# -- refused before the commit -------------------------------------------------------------------------

SETTINGS = AgentSettings(stm_size=7).to_json()
BROKEN: dict[str, tuple[ChangeSet, str]] = {
    "one id twice": (plan(*[Change(None, entry("a"), "new")] * 2), "it changes 'a' twice"),
    "added and forgotten": (
        plan(Change(None, entry("a"), "new"), Change(entry("a"), None, "gone")),
        "it changes 'a' twice",
    ),
    "two ids": (plan(Change(entry("a"), entry("b"), "swap")), "a change has two ids, 'a' and 'b'"),
    "None to None": (plan(Change(None, None, "nothing")), "neither a before nor an after"),
    "no entry": (plan(Change(None, "Event", "new")), "neither a before nor an after"),  # type: ignore[arg-type]
    "no change": (plan("add a"), "a change is not valid"),
    "a reason that is no text": (plan(Change(None, entry("a"), "\ud800")), "its reason is not text"),
    "a title that is no text": (dataclasses.replace(plan(Change(None, entry("a"), "new")), title="\ud800"), "not all"),
    "an id that is no text": (plan(Change(None, entry("a"), "new"), id=None), "its description is not all text"),
    "a note that is no text": (plan(Change(None, entry("a"), "new"), notes=(5,)), "not all text"),
    "no time": (
        dataclasses.replace(plan(Change(None, entry("a"), "new")), planned_at=None),  # type: ignore[arg-type]
        "when it was planned",
    ),
    "an undo of nothing": (
        plan(Change(None, entry("a"), "new"), undoes=10**30),
        "it undoes something that is not a revision",
    ),
    "an unknown text": (plan(texts=(TextChange("diary", None, "x"),)), "there is no text 'diary'"),
    "settings that are no JSON": (plan(texts=(TextChange("settings", None, "{"),)), "its settings are not valid"),
    "settings without fields": (plan(texts=(TextChange("settings", None, "{}"),)), "its settings are not valid"),
    "settings in a text": (plan(texts=(TextChange("settings", None, '"x"'),)), "its settings are not valid"),
    "settings of brackets": (plan(texts=(TextChange("settings", None, "[" * 100_000),)), "its settings are not valid"),
    "settings out of range": (
        plan(texts=(TextChange("settings", None, SETTINGS.replace("7", "-7")),)),
        "stm_size must be a whole number",
    ),
    "settings that are no text": (plan(texts=(TextChange("settings", None, 5),)), "a text it changes is not text"),  # type: ignore[arg-type]
    "a personality that is none": (plan(texts=(TextChange("personality", None, "{}"),)), "identity"),
    "no change set": ("edit", "must be a change set, not a str"),  # type: ignore[dict-item]
}


@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN)
def test_what_does_not_hang_together_is_refused_and_later_writes_still_work(
    world: World, agent: AgentMemory, broken: ChangeSet, message: str
) -> None:
    texts = agent.personality_text, agent.settings
    if isinstance(broken, ChangeSet) and broken.texts:  # so that nothing but the new text is wrong
        held = {"personality": agent.personality_text}
        one = dataclasses.replace(broken.texts[0], before=held.get(broken.texts[0].name))
        broken = dataclasses.replace(broken, texts=(one,))
    before = agent.stamp, agent.history()
    with pytest.raises(InvalidInput, match=message) as caught:
        agent.apply(broken)
    assert isinstance(caught.value, MemorySystemError)
    assert (agent.stamp, agent.history()) == before
    assert (agent.personality_text, agent.settings) == texts
    agent.add_short_term({"document": "Life goes on", "id": "a", "rating": 5})
    world.close()
    again = world.agent("mira")
    assert [held.id for held in again.entries(Tier.STM)] == ["a"]
    assert again.messages == ()


def test_the_problem_is_half_a_sentence_or_none() -> None:
    assert SUMMARISE.problem() is None
    assert plan().problem() is None
    assert plan(texts=(TextChange("settings", None, SETTINGS),)).problem() is None
    assert plan(Change(None, None, "")).problem() == "a change has neither a before nor an after"


def test_a_plan_for_another_agent_is_a_conflict(world: World, agent: AgentMemory, remember: Remember) -> None:
    remember("Only Mira knows", id="secret")
    forgetting = agent.forget("secret", preview=True)
    bo = world.duplicate_agent("mira", "bo")
    with pytest.raises(Conflict, match="This was planned for 'mira', not for 'bo'"):
        bo.apply(forgetting)
    assert bo.find("secret") is not None
    world.agent("mira").apply(forgetting)
    assert world.agent("mira").find("secret") is None


def test_undoing_what_was_not_applied_is_refused(agent: AgentMemory) -> None:
    with pytest.raises(InvalidParameter, match="has not been applied"):
        agent.undo(plan(Change(None, entry("a"), "new")))


def test_an_answer_that_tells_what_was_done_is_undone_as_it_came(agent: AgentMemory) -> None:
    added = agent.add_short_term([{"document": "The bell rang", "rating": 4}])
    assert agent.undo(added).undoes == added.change_set.revision
    assert agent.redo(added).undoes is not None
    with pytest.raises(InvalidParameter, match="has not been applied"):
        agent.undo(agent.add_short_term([{"document": "The bell rang", "rating": 4}], preview=True))


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("The mill key\n hangs at the inn.", "The mill key hangs at the inn."),
        ("A" * 60, "A" * 60),
        (f"{'word ' * 11}handbell of the chapel", f"{'word ' * 10}word…"),
        (f"{'word ' * 11}four and more", f"{'word ' * 11}four…"),
        ("鍵" * 61, "鍵" * 59 + "…"),
        (f"See {'x' * 80} there", f"See {'x' * 55}…"),
    ],
)
def test_a_quotation_is_cut_where_a_word_ends_if_it_has_words(text: str, cut: str) -> None:
    assert short(text) == cut
    assert len(short(text)) <= 60


def test_what_is_cut_short_ends_with_a_word() -> None:
    assert short("smoke over the mill") == "smoke over the mill"
    assert short("smoke over the mill", 12) == "smoke over…"


def test_one_is_counted_as_one() -> None:
    assert [so_many(number) for number in (0, 1, 2000)] == ["0 memories", "1 memory", "2,000 memories"]
    assert [counted(number, "is", "are") for number in (1, 2)] == ["1 is", "2 are"]
    assert counted(2, "change") == "2 changes"
