"""Rehearsals: a character is branched, played with, compared, and what is wanted of it is kept."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_system import AgentMemory, ChangeSet, Tier, World
from memory_system.core import DECAYING
from memory_system.core.change_set import TEXTS
from memory_system.errors import (
    AgentNotFound,
    AlreadyExists,
    ChangeSetNotFound,
    Conflict,
    EntryNotFound,
    InvalidAgentName,
    InvalidInput,
    InvalidParameter,
    MemorySystemError,
    ReadOnly,
    StaleChange,
    StoreDamaged,
    StoreError,
)
from memory_system.store.rehearsal import FILE, free_name
from memory_system.world.branches.branches import RESTORE_IT
from memory_system.world.branches.texts import differing, merge
from tests.conftest import NOW, PERSONALITY
from tests.programs import Program

Remember = Callable[..., str]
BRANCH = "mira rehearsal"


@pytest.fixture
def ids(agent: AgentMemory, remember: Remember) -> list[str]:
    """Three memories of mira's: "Smoke over the field", "Bread for Tobias", "A key of brass"."""
    texts = ("Smoke over the field", "Bread for Tobias", "A key of brass")
    return [remember(text, rating=number + 4) for number, text in enumerate(texts)]


@pytest.fixture
def branch(world: World, ids: list[str]) -> AgentMemory:
    """A rehearsal of mira, begun when she had those three."""
    return world.branch("mira", purpose="a forgetful Mira", author="a designer")


def mira(world: World) -> AgentMemory:
    """The original, which has to be asked for anew after it was branched."""
    return world.agent("mira")


def told(agent: AgentMemory) -> list[Any]:
    """All that an agent is."""
    return [
        [agent.entries(tier) for tier in Tier],
        agent.history(),
        agent.settings,
        agent.personality_text,
        agent.texts(),
        agent.queries(),
    ]


def documents(agent: AgentMemory) -> dict[str, str]:
    return {entry.id: entry.document for tier in DECAYING for entry in agent.entries(tier)}


def event(document: str, **fields: object) -> dict[str, object]:
    return {"document": document, "rating": 5, "timestamp": NOW.isoformat(), **fields}


# -- begun ---------------------------------------------------------------------------------------------


def test_a_rehearsal_has_all_that_the_character_has_and_knows_whose_it_is(world: World, ids: list[str]) -> None:
    before = told(mira(world))
    branch = world.branch("mira", purpose="  a forgetful\n Mira ", author="a designer")
    assert told(branch) == told(mira(world)) == before
    mark = world.rehearsal(BRANCH)
    assert mark is not None
    assert (mark.name, mark.of, mark.revision) == (BRANCH, "mira", branch.stamp[0])
    assert (mark.author, mark.purpose, mark.world_time, mark.together) == ("a designer", "a forgetful Mira", NOW, "")
    assert world.agents() == ["mira", BRANCH]
    assert world.characters() == ["mira"]
    assert [agent.name for agent in world] == ["mira"]
    assert repr(mira(world)) == "<AgentMemory 'mira'>"
    assert repr(world).startswith(f"<World {world.name!r} in ")
    assert world.rehearsal("mira") is None
    assert world.changes_of(BRANCH) == []
    assert not world.compare(BRANCH)


def test_what_happens_in_a_rehearsal_leaves_the_character_as_it_is(world: World, branch: AgentMemory) -> None:
    before = told(mira(world))
    branch.add_short_term(event("Only in the rehearsal"))
    branch.query_memory("smoke")
    branch.configure(stm_size=3)
    branch.save_personality(json.dumps(PERSONALITY | {"traits": ["sleeps late"]}))
    branch.migrate_stm2ltm()
    branch.reset_memory()
    assert told(mira(world)) == before
    assert [one.change_set.operation for one in world.changes_of(BRANCH)][:2] == ["reset", "migrate"]
    assert len(world.changes_of(BRANCH)) == 5


def test_rehearsals_are_named_in_turn_and_told_the_last_begun_first(world: World, ids: list[str]) -> None:
    names = [world.branch("mira").name for _ in range(3)]
    assert names == [BRANCH, f"{BRANCH} 2", f"{BRANCH} 3"]
    assert [one.name for one in world.rehearsals("mira")] == names[::-1]
    assert world.branch("mira", "Mira the bold").name == "Mira the bold"
    assert world.rehearsals("nobody") == []


@pytest.mark.parametrize(
    ("of", "expected"),
    [("mira", "mira rehearsal 2"), ("Zoë", "Zoë rehearsal"), ("мира", "мира 2"), ("R2", "R2 rehearsal")],
)
def test_a_name_is_found_in_the_script_of_the_character(of: str, expected: str) -> None:
    assert free_name(of, {BRANCH}) == expected


@pytest.mark.parametrize("of", ["a" * 64, "я" * 64, "𐐀" * 50, "a" * 50 + "- b"])
def test_a_long_name_leaves_room_for_what_is_added(of: str) -> None:
    first = free_name(of, {of.casefold()})
    second = free_name(of, {of.casefold(), first.casefold()})
    assert len({of, first, second}) == 3


def test_all_characters_of_a_world_are_branched_together_or_none(world: World, ids: list[str]) -> None:
    world.create_agent("bo")
    world.branch("bo")
    seen: list[str] = []
    begun = world.branch_all(purpose="a hard winter", progress=lambda _done, doing: seen.append(doing))
    assert [agent.name for agent in begun] == ["bo rehearsal 2", BRANCH]
    marks = [world.rehearsal(agent.name) for agent in begun]
    assert len({mark.together for mark in marks if mark}) == 1
    assert all(mark and mark.together and mark.purpose == "a hard winter" for mark in marks)
    assert seen == ["Copying bo, 1 of 2", "Copying mira, 2 of 2"]
    (world.folder / ".mira rehearsal 2-copying").write_text("I am in the way.")
    with pytest.raises(StoreError):
        world.branch_all()
    assert len(world.rehearsals()) == 3
    assert [binned.name for binned in world.deleted_agents()] == ["bo rehearsal 3"]


# -- refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "beside", [None, lambda *_: ["a.txt"], {"a.txt": "b"}, lambda *_: {"../a.txt": "b"}, lambda *_: {"a.txt": 5}]
)
def test_a_copy_gets_no_other_files_than_texts_by_name(world: World, agent: AgentMemory, beside: Any) -> None:
    before = sorted(path.name for path in world.folder.iterdir())
    with pytest.raises(InvalidParameter, match="'beside' must be a function that returns texts by the names"):
        world.copied(agent.name, "twin", beside)
    assert sorted(path.name for path in world.folder.iterdir()) == before


def test_who_cannot_rehearse_is_told_why_and_nothing_is_made(world: World, branch: AgentMemory) -> None:
    before = sorted(path.name for path in world.folder.iterdir())
    with pytest.raises(Conflict, match=r"is a rehearsal of 'mira' already. Begin another of 'mira'"):
        world.branch(BRANCH)
    with pytest.raises(AgentNotFound):
        world.branch("nobody")
    with pytest.raises(AlreadyExists):
        world.branch("mira", "MIRA")
    with pytest.raises(InvalidAgentName):
        world.branch("mira", "../out")
    for purpose in ("x" * 81, "a\x00b", "\u202eturned", 7):
        with pytest.raises(InvalidParameter):
            world.branch("mira", purpose=purpose)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="The author has 1,001 characters"):
        world.branch("mira", author="x" * 1_001)
    assert sorted(path.name for path in world.folder.iterdir()) == before
    assert not branch.gone, "nobody was closed in vain"


def test_a_character_whose_journal_is_damaged_does_not_rehearse(world: World, ids: list[str]) -> None:
    world.close()
    (world.folder / "mira" / "journal.sqlite3").write_bytes(b"nonsense" * 1000)
    with pytest.raises(ReadOnly, match="cannot rehearse"):
        world.branch("mira")
    assert world.agents() == ["mira"]


@pytest.mark.parametrize("damaged", ["mira", BRANCH])
def test_nothing_is_compared_with_what_can_only_be_read(world: World, branch: AgentMemory, damaged: str) -> None:
    world.close()
    (world.folder / damaged / "journal.sqlite3").write_bytes(b"nonsense" * 1000)
    for attempt in (world.compare, world.keep, world.fits):
        with pytest.raises(ReadOnly, match="so the two cannot be compared"):
            attempt(BRANCH)
    assert [one.name for one in world.rehearsals()] == [BRANCH]


def test_only_rehearsals_are_compared_kept_from_and_dropped(world: World, branch: AgentMemory) -> None:
    for attempt in (world.changes_of, world.compare, world.keep, world.fits, world.drop):
        with pytest.raises(Conflict, match="'mira' is a character of its own"):
            attempt("mira")
        with pytest.raises(AgentNotFound):
            attempt("nobody")


DAMAGES: dict[str, bytes] = {
    "empty": b"",
    "no JSON": b"{",
    "no object": b"[1]",
    "a path": b'{"of": "../../etc", "revision": 1, "begun_at": 0, "world_time": 0}',
    "no revision": b'{"of": "mira", "revision": true, "begun_at": 0, "world_time": 0}',
    "no zone": b'{"of": "mira", "revision": 1, "begun_at": "2026-03-27T18:00", "world_time": 0}',
    "no text": b'{"of": "mira", "revision": 1, "begun_at": 0, "world_time": 0, "purpose": [1]}',
    "deep": b"[" * 50_000,
    "no UTF-8": b'{"of": "\xff"}',
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_mark_is_told_and_hurts_nobody_else(world: World, branch: AgentMemory, damage: bytes) -> None:
    (world.folder / BRANCH / FILE).write_bytes(damage)
    for attempt in (world.rehearsal, world.compare, world.keep, world.drop):
        with pytest.raises(StoreDamaged, match="does not say of whom 'mira rehearsal' is a rehearsal"):
            attempt(BRANCH)
    assert world.rehearsals() == []
    assert documents(world.agent(BRANCH)) == documents(mira(world))
    (world.folder / BRANCH / FILE).unlink()
    assert world.rehearsal(BRANCH) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"ids": "abc"},
        {"ids": [1]},
        {"ids": 7},
        {"texts": ["settings", None]},
        {"texts": ["settings"]},
        {"revisions": ["1"]},
        {"revisions": [True]},
        {"revisions": [-1]},
        {"revisions": [1], "ids": []},
        {"overwrite": "abc"},
        {"overwrite": [b"abc"]},
        {"ids": ["no such memory"]},
        {"revisions": [1]},
        {"revisions": [2**61]},
    ],
)
def test_what_cannot_be_kept_is_refused_and_changes_nothing(
    world: World, branch: AgentMemory, wrong: dict[str, Any]
) -> None:
    branch.add_short_term(event("Only in the rehearsal"))
    before = told(mira(world))
    with pytest.raises((InvalidInput, EntryNotFound, ChangeSetNotFound)):
        world.keep(BRANCH, **wrong)
    assert told(mira(world)) == before


# -- compared ------------------------------------------------------------------------------------------


def test_comparing_tells_memories_added_changed_and_forgotten_and_no_detours(
    world: World, branch: AgentMemory, ids: list[str]
) -> None:
    branch.edit(ids[0], document="Smoke over the north field", tags=["fire"])
    branch.undo(branch.edit(ids[1], document="taken back"))
    branch.forget(ids[2])
    added = branch.add_short_term(event("A stranger came")).outcomes[0].id
    for_nothing = branch.add_short_term(event("Gone again")).outcomes[0].id
    branch.forget(for_nothing)
    branch.configure(top_k=9)
    branch.query_memory("smoke")
    apart = world.compare(BRANCH)
    assert [(one.change.verb, one.entry_id, one.clash) for one in apart.memories] == [
        ("update", ids[0], False),
        ("forget", ids[2], False),
        ("add", added, False),
    ]
    assert apart.memories[0].change.reason == "In the rehearsal: Edit “Smoke over the north field”."
    assert [(one.name, one.lines, one.clash) for one in apart.texts] == [("settings", [("top k", "5", "9")], False)]
    assert apart.moved_on == 0


def test_what_the_original_alone_changed_is_not_told(world: World, branch: AgentMemory, ids: list[str]) -> None:
    mira(world).edit(ids[0], document="Smoke, and then rain")
    mira(world).configure(stm_size=9)
    branch.undo(branch.edit(ids[0], tags=["fire"]))
    apart = world.compare(BRANCH)
    assert (apart.memories, apart.texts, apart.moved_on) == ((), (), 2)


# -- kept ----------------------------------------------------------------------------------------------


def test_all_is_kept_in_one_change_set_that_can_be_undone(world: World, branch: AgentMemory, ids: list[str]) -> None:
    branch.edit(ids[0], document="Smoke over the north field", pinned=True)
    branch.forget(ids[2])
    branch.migrate_stm2ltm(ids=ids[1])
    branch.add_short_term(event("A stranger came"))
    branch.configure(top_k=9)
    branch.save_cue("fire", "Is there a fire?", must=[ids[0]])
    branch.judge("Is there a fire?", ids[0], True)
    branch.save_personality(json.dumps(PERSONALITY | {"traits": ["sleeps late"]}))
    before = told(mira(world))
    plan = world.keep(BRANCH, preview=True)
    assert told(mira(world)) == before
    done = world.keep(BRANCH, author="a designer")
    assert (done.operation, done.author) == ("take over", "a designer")
    assert done.reason == "Tried out in the rehearsal “mira rehearsal”: a forgetful Mira."
    assert done.title == "Keep from a rehearsal: 4 memories, the personality, the settings, the cues and the judgments"
    assert {change.entry_id for change in done.changes} == {change.entry_id for change in plan.changes}
    original = mira(world)
    assert [original.entries(tier) for tier in Tier] == [branch.entries(tier) for tier in Tier]
    assert original.texts() == branch.texts()
    assert not world.compare(BRANCH)
    world.close()
    assert (Path(world.settings.personalities) / "mira.json").read_text() == world.agent(BRANCH).personality_text
    mira(world).undo(done)
    assert [told(mira(world))[number] for number in (0, 2, 3, 4)] == [before[number] for number in (0, 2, 3, 4)]
    assert len(world.compare(BRANCH).memories) == 4


def test_single_memories_and_texts_are_kept(world: World, branch: AgentMemory, ids: list[str]) -> None:
    branch.edit(ids[0], document="Smoke over the north field")
    branch.forget(ids[2])
    branch.configure(top_k=9)
    done = world.keep(BRANCH, ids=[ids[2]])
    assert done.title == "Keep from a rehearsal: “A key of brass”"
    assert set(documents(mira(world))) == set(ids[:2])
    assert documents(mira(world))[ids[0]] == "Smoke over the field"
    world.keep(BRANCH, texts=["settings"])
    assert mira(world).settings.top_k == 9
    assert [one.entry_id for one in world.compare(BRANCH).memories] == [ids[0]]
    assert not world.keep(BRANCH, ids=[]).changes
    assert mira(world).history(1)[0].change_set.title == "Keep from a rehearsal: the settings"


def test_a_plan_that_was_previewed_is_applied_as_it_was_shown_or_not_at_all(
    world: World, branch: AgentMemory, ids: list[str]
) -> None:
    branch.edit(ids[0], document="Smoke over the north field")
    plan = world.keep(BRANCH, preview=True)
    branch.edit(ids[0], document="and on it goes")
    with pytest.raises(Conflict, match="planned for 'mira'"):
        branch.apply(plan)
    mira(world).apply(plan)
    assert documents(mira(world))[ids[0]] == "Smoke over the north field"
    again = world.keep(BRANCH, preview=True)
    mira(world).edit(ids[0], tags=["fire"])
    with pytest.raises(StaleChange):
        mira(world).apply(again)


def test_playing_on_after_keeping_is_no_clash(world: World, branch: AgentMemory, ids: list[str]) -> None:
    branch.edit(ids[0], document="First try")
    branch.configure(top_k=8)
    world.keep(BRANCH)
    branch.edit(ids[0], document="Second try")
    branch.configure(top_k=9)
    apart = world.compare(BRANCH)
    assert ([one.clash for one in apart.memories], [one.clash for one in apart.texts]) == ([False], [False])
    world.keep(BRANCH)
    assert (documents(mira(world))[ids[0]], mira(world).settings.top_k) == ("Second try", 9)
    mira(world).edit(ids[0], document="Third, by hand")
    assert not world.compare(BRANCH), "the original had it, and went on from there"


def test_what_was_kept_and_then_forgotten_in_the_rehearsal_can_be_kept_again(world: World, branch: AgentMemory) -> None:
    added = branch.add_short_term(event("A stranger came")).outcomes[0].id
    world.keep(BRANCH)
    branch.forget(added)
    assert [one.change.verb for one in world.compare(BRANCH).memories] == ["forget"]
    world.keep(BRANCH)
    assert added not in documents(mira(world))


def test_queries_and_accesses_of_a_rehearsal_stay_there(world: World, branch: AgentMemory, ids: list[str]) -> None:
    added = branch.add_short_term(event("Smoke again, near the mill")).outcomes[0].id
    branch.query_memory("smoke")
    branch.edit(ids[0], tags=["fire"])
    assert all(branch.last_version(one).last_access == NOW for one in (added, ids[0]))
    world.keep(BRANCH)
    assert [mira(world).last_version(one).last_access for one in (added, ids[0])] == [None, None]
    assert mira(world).queries() == []


def test_a_reflection_kept_without_its_evidence_says_so(world: World, branch: AgentMemory) -> None:
    branch.add_short_term(event("The mill wheel stands still", id="wheel"))
    branch.add_short_term(event("Somebody broke the wheel", id="thought", evidence=["wheel"]))
    plan = world.keep(BRANCH, ids=["thought"], preview=True)
    note = "“Somebody broke the wheel” rests on a memory that only the rehearsal has. Keep it too, or it points at"
    assert plan.notes == (f"{note} nothing.",)
    assert world.keep(BRANCH, ids=["thought", "wheel"], preview=True).notes == ()
    world.keep(BRANCH, ids=["thought"])
    assert world.keep(BRANCH, ids=["wheel"]).notes == ()
    assert not world.compare(BRANCH)
    assert [entry.id for entry in mira(world).built_on("wheel")] == ["thought"]


def test_what_the_language_model_was_asked_is_told_by_the_original_too(world: World, branch: AgentMemory) -> None:
    branch.add_short_term({"document": "The mill burns", "timestamp": NOW.isoformat()}, rate=True)
    calls = world.changes_of(BRANCH)[0].change_set.calls
    assert calls
    assert world.keep(BRANCH).calls == calls


# -- clashes -------------------------------------------------------------------------------------------


def test_a_memory_that_the_original_changed_by_itself_is_kept_only_if_that_is_said(
    world: World, branch: AgentMemory, ids: list[str]
) -> None:
    branch.edit(ids[0], document="Smoke over the north field")
    branch.edit(ids[1], tags=["gift"])
    mira(world).acting_as("Short-term page").edit(ids[0], document="Smoke, and then rain")
    first = world.compare(BRANCH).memories[0]
    assert first.clash
    assert first.sentence == "The original has changed it meanwhile by “Edit ‘Smoke, and then rain’” (Short-term page)."
    before = told(mira(world))
    with pytest.raises(StaleChange, match=r"“Smoke over the north field”: The original has changed it meanwhile"):
        world.keep(BRANCH)
    assert told(mira(world)) == before
    world.keep(BRANCH, ids=[ids[1]])
    done = world.keep(BRANCH, overwrite=[ids[0]])
    assert documents(mira(world))[ids[0]] == "Smoke over the north field"
    mira(world).undo(done)
    assert documents(mira(world))[ids[0]] == "Smoke, and then rain"


def test_forgetting_on_one_side_clashes_with_changing_on_the_other(
    world: World, branch: AgentMemory, ids: list[str]
) -> None:
    branch.edit(ids[0], tags=["fire"])
    branch.forget(ids[1])
    mira(world).forget(ids[0])
    mira(world).edit(ids[1], tags=["gift"])
    mira(world).forget(ids[2])
    branch.forget(ids[2])
    apart = world.compare(BRANCH)
    assert [(one.entry_id, one.clash) for one in apart.memories] == [(ids[0], True), (ids[1], True)]
    assert apart.memories[0].sentence.startswith("The original has forgotten it meanwhile by “Forget")
    world.keep(BRANCH, overwrite=ids[:2])
    assert list(documents(mira(world))) == [ids[0]]
    assert mira(world).last_version(ids[0]).tags == ("fire",)


def test_the_same_id_added_on_both_sides_clashes(world: World, branch: AgentMemory) -> None:
    branch.add_short_term(event("Heard by the one", id="evt-1"))
    mira(world).add_short_term(event("Heard by the other", id="evt-1"))
    with pytest.raises(StaleChange, match="Heard by the one"):
        world.keep(BRANCH)
    branch.add_short_term(event("Heard by the other", id="evt-1"))
    assert not world.compare(BRANCH)


def test_many_clashes_are_counted(world: World, branch: AgentMemory, remember: Remember) -> None:
    for agent in (branch, mira(world)):
        agent.add_short_term([event(f"Number {n} for {agent.name}", id=f"evt-{n}") for n in range(5)])
    with pytest.raises(StaleChange, match=r"And 2 more\. Leave out what clashes"):
        world.keep(BRANCH)


def test_settings_and_cues_that_both_sides_changed_are_put_together(world: World, branch: AgentMemory) -> None:
    branch.configure(top_k=9)
    branch.save_cue("fire", "Is there a fire?")
    mira(world).configure(stm_size=30)
    mira(world).save_cue("key", "Who has the key?")
    apart = world.compare(BRANCH)
    assert [(one.name, one.lines) for one in apart.texts] == [
        ("settings", [("top k", "5", "9")]),
        ("cues", [("fire", "nothing", "Is there a fire?")]),
    ]
    world.keep(BRANCH)
    assert (mira(world).settings.top_k, mira(world).settings.stm_size) == (9, 30)
    assert [one.name for one in mira(world).saved_cues] == ["key", "fire"]


def test_a_setting_that_both_sides_changed_clashes(world: World, branch: AgentMemory) -> None:
    branch.configure(top_k=9, threshold=0.5)
    mira(world).configure(top_k=7)
    assert [one.clashes for one in world.compare(BRANCH).texts] == [("top k",)]
    with pytest.raises(StaleChange, match="the settings: both changed top k"):
        world.keep(BRANCH)
    world.keep(BRANCH, overwrite=["settings"])
    assert (mira(world).settings.top_k, mira(world).settings.threshold) == (9, 0.5)


def test_what_differs_in_a_personality_is_told_in_facts(world: World, branch: AgentMemory) -> None:
    friend = {"name": "Tobias Finch", "relation": "childhood friend", "trust": 0.1}
    branch.save_personality(
        json.dumps(PERSONALITY | {"relationships": [friend], "facts": ["There are two keys."], "traits": []})
    )
    who = "Tobias Finch is to Mira Holloway: childhood friend. Mira Holloway trusts Tobias Finch"
    assert sorted(world.compare(BRANCH).texts[0].lines) == [
        ("facts", "There is only one true key to the tide mill.", "nothing"),
        ("facts", "nothing", "There are two keys."),
        ("relationships", f"{who} somewhat (0.5 of 1).", f"{who} hardly at all (0.1 of 1)."),
        ("traits", "Mira Holloway is: early riser", "nothing"),
    ]


def test_a_personality_that_says_the_same_in_another_form_differs_too(world: World, branch: AgentMemory) -> None:
    branch.save_personality(json.dumps(PERSONALITY, indent=4))
    assert [(one.name, one.lines) for one in world.compare(BRANCH).texts] == [("personality", [])]
    world.keep(BRANCH)
    assert mira(world).personality_text == branch.personality_text


def test_a_personality_is_put_together_by_its_parts(world: World, branch: AgentMemory) -> None:
    branch.save_personality(json.dumps(PERSONALITY | {"traits": ["sleeps late"]}))
    mira(world).save_personality(json.dumps(PERSONALITY | {"facts": ["There are two keys."]}))
    world.keep(BRANCH)
    kept = mira(world).personality
    assert kept is not None
    assert (kept.traits, kept.facts) == (["sleeps late"], ["There are two keys."])
    facts = [entry.document for entry in mira(world).entries(Tier.STATIC)]
    assert "There are two keys." in facts
    assert "Mira Holloway is: sleeps late" in facts
    mira(world).save_personality(json.dumps(PERSONALITY | {"traits": ["never sleeps"]}))
    branch.save_personality(json.dumps(PERSONALITY | {"traits": ["sleeps all day"]}))
    with pytest.raises(StaleChange, match="the personality: both changed traits"):
        world.keep(BRANCH)


def test_a_personality_file_that_was_edited_on_disk_is_not_overwritten(world: World, branch: AgentMemory) -> None:
    branch.save_personality(json.dumps(PERSONALITY | {"traits": ["sleeps late"]}))
    plan = world.keep(BRANCH, preview=True)
    file = Path(world.settings.personalities) / "mira.json"
    edited = json.dumps(PERSONALITY | {"facts": ["There are two keys."]})
    file.write_text(edited)
    with pytest.raises(StaleChange, match=r"mira\.json has been edited"):
        mira(world).apply(plan)
    assert file.read_text() == edited
    world.keep(BRANCH)
    assert json.loads(file.read_text())["traits"] == ["sleeps late"]
    assert json.loads(file.read_text())["facts"] == ["There are two keys."]


# -- change by change ----------------------------------------------------------------------------------


def revisions(world: World) -> list[int]:
    return [one.revision for one in reversed(world.changes_of(BRANCH))]


def test_changes_are_kept_one_by_one(world: World, branch: AgentMemory, ids: list[str]) -> None:
    branch.edit(ids[0], document="Smoke over the north field")
    branch.configure(top_k=9)
    branch.add_short_term(event("A stranger came"))
    first, second, third = revisions(world)
    done = world.keep(BRANCH, revisions=[second])
    assert done.title == "Keep from a rehearsal: Change settings"
    assert mira(world).settings.top_k == 9
    done = world.keep(BRANCH, revisions=[third, first])
    assert done.title == "Keep 2 changes from a rehearsal"
    assert len(done.changes) == 2
    assert not world.compare(BRANCH)
    nothing = world.keep(BRANCH, revisions=[first])
    assert not nothing
    assert nothing.title == "Nothing to keep"
    assert nothing.notes == ("“Smoke over the north field” already has this change, or a later one.",)
    assert all(fit.there and not fit.problem for fit in world.fits(BRANCH).values())
    assert set(world.fits(BRANCH)) == {first, second, third}


def test_a_change_that_builds_on_another_says_which(world: World, branch: AgentMemory) -> None:
    added = branch.add_short_term(event("A stranger came", id="evt")).outcomes[0].id
    branch.edit(added, document="A stranger came by boat")
    first, second = revisions(world)
    assert not world.fits(BRANCH)[first].there
    assert world.fits(BRANCH)[second].problem.startswith(
        "“A stranger came”: this builds on “Remember ‘A stranger came’” of the rehearsal; keep that too."
    )
    with pytest.raises(StaleChange, match="keep that too"):
        world.keep(BRANCH, revisions=[second])
    done = world.keep(BRANCH, revisions=[second, first])
    assert [(change.verb, change.reason) for change in done.changes] == [
        ("add", "In the rehearsal: Edit “A stranger came by boat”.")
    ]
    assert documents(mira(world))[added] == "A stranger came by boat"
    assert not world.keep(BRANCH, revisions=[first]), "the older text does not come back"


def test_a_change_that_the_original_is_past_clashes(world: World, branch: AgentMemory, ids: list[str]) -> None:
    branch.edit(ids[0], document="Smoke over the north field")
    branch.configure(top_k=9)
    mira(world).edit(ids[0], document="Smoke, and then rain")
    mira(world).configure(top_k=7)
    first, second = revisions(world)
    told = {number: fit.problem for number, fit in world.fits(BRANCH).items()}
    assert "The original has changed it meanwhile by “Edit ‘Smoke, and then rain’” (script" in told[first]
    assert "the original has another top k" in told[second]
    with pytest.raises(StaleChange):
        world.keep(BRANCH, revisions=[first, second])
    world.keep(BRANCH, revisions=[first, second], overwrite=[ids[0], "settings"])
    assert (documents(mira(world))[ids[0]], mira(world).settings.top_k) == ("Smoke over the north field", 9)


def test_operations_are_kept_with_all_that_they_did(world: World, branch: AgentMemory, ids: list[str]) -> None:
    branch.migrate_stm2ltm(ids=ids)
    branch.summarize_and_forget(2)
    world.keep(BRANCH, revisions=revisions(world))
    assert [mira(world).entries(tier) for tier in Tier] == [branch.entries(tier) for tier in Tier]
    summary = next(entry for entry in mira(world).entries(Tier.LTM) if entry.evidence)
    assert all(mira(world).last_version(one) for one in summary.evidence)


# -- as files ------------------------------------------------------------------------------------------


def test_a_dropped_rehearsal_waits_in_the_bin_and_comes_back_as_one(world: World, branch: AgentMemory) -> None:
    branch.add_short_term(event("A stranger came"))
    binned = world.drop(BRANCH)
    assert world.agents() == ["mira"]
    assert world.rehearsals() == []
    world.create_agent("bo")
    world.drop(world.branch("bo").name)
    assert [one.folder for one in world.dropped("mira")] == [binned.folder]
    world.restore_agent(binned)
    assert world.dropped("mira") == []
    assert len(world.compare(BRANCH).memories) == 1


def test_renaming_either_keeps_them_together(world: World, branch: AgentMemory) -> None:
    branch.add_short_term(event("A stranger came"))
    world.rename_agent("mira", "Mira the elder")
    world.rename_agent(BRANCH, "trial")
    mark = world.rehearsal("trial")
    assert mark is not None
    assert (mark.name, mark.of) == ("trial", "Mira the elder")
    world.keep("trial")
    assert "A stranger came" in documents(world.agent("Mira the elder")).values()


def test_a_copy_of_a_rehearsal_is_one_too(world: World, branch: AgentMemory) -> None:
    branch.add_short_term(event("A stranger came"))
    world.duplicate_agent(BRANCH, "second try").add_short_term(event("Two strangers came"))
    assert len(world.compare("second try").memories) == 2
    assert len(world.compare(BRANCH).memories) == 1


def test_without_its_original_a_rehearsal_stays_and_says_so(world: World, branch: AgentMemory) -> None:
    branch.add_short_term(event("A stranger came"))
    binned = world.delete_agent("mira")
    for attempt in (world.compare, world.keep, world.fits):
        with pytest.raises(AgentNotFound, match=RESTORE_IT):
            attempt(BRANCH)
    assert len(world.changes_of(BRANCH)) == 1
    world.create_agent("mira")
    with pytest.raises(Conflict, match="'mira' is not the character any more"):
        world.keep(BRANCH)
    world.delete_agent("mira")
    world.restore_agent(binned)
    assert len(world.keep(BRANCH).changes) == 1


def test_a_rehearsal_that_was_cut_off_while_it_was_copied_was_never_begun(world: World, ids: list[str]) -> None:
    half = world.folder / f".{BRANCH}-copying"
    shutil.copytree(world.folder / "mira", half)
    assert world.rehearsals() == []
    world.branch("mira")
    assert not half.exists()
    assert [one.name for one in world.rehearsals()] == [BRANCH]


ASKER = """
import sys
from memory_system import World
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.core.settings import Settings
with World() as world:
    agent = world.agent("mira")
    print("ready", flush=True)
    while True:
        agent.query_memory("smoke")
"""


def test_a_character_is_branched_while_another_program_asks_it(world: World, ids: list[str]) -> None:
    environment = dict(os.environ) | {
        "MEMORY_DATABASE": str(world.settings.database),
        "MEMORY_PERSONALITIES": str(world.settings.personalities),
        "MEMORY_LLM": "offline",
    }
    with Program("-c", ASKER, environment=environment) as asking:
        try:
            assert asking.stdout.readline() == "ready\n"
            for _ in range(5):
                branch = world.branch("mira")
                assert documents(branch) == documents(mira(world))
                assert branch.messages == ()
                assert asking.poll() is None
        finally:
            asking.kill()


def test_keeping_is_one_plan_for_the_original(world: World, branch: AgentMemory) -> None:
    branch.add_short_term(event("A stranger came"))
    plan = world.keep(BRANCH, preview=True)
    assert isinstance(plan, ChangeSet)
    assert (plan.agent, plan.revision) == ("mira", None)
    with pytest.raises(MemorySystemError):
        world.agent(BRANCH).apply(plan)


@pytest.mark.parametrize("name", TEXTS)
def test_every_text_that_the_journal_keeps_can_be_put_together(name: str) -> None:
    held = {"personality": '{"identity": {"name": "Ann"}}'}.get(name)
    assert merge(name, held, held, held).text == held
    assert differing(name, held, held) == []


def test_what_is_kept_from_a_rehearsal_still_makes_stale_what_rests_on_it(world: World) -> None:
    agent = world.create_agent("ann")
    agent.add_short_term([{"document": f"Saw {count} herons on the slip", "rating": 8} for count in (2, 3, 4)])
    insight = agent.reflect_from_recent_memory().changes[0].after
    assert insight is not None
    played = world.branch("ann")
    played.edit(insight.evidence[0], document="Saw no heron at all")
    world.keep(played.name, ids=[insight.evidence[0]])
    assert [one.entry.id for one in world.agent("ann").stale()] == [insight.id]
