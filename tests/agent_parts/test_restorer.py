"""Taking back: an undo that meets later work, going back to a moment, redo, and what the history finds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import timedelta

import pytest

from memory_system import AgentMemory, ChangeSet, MemoryEntry, Tier, World
from memory_system.agent_parts import history
from memory_system.core import DECAYING
from memory_system.core.change_set import dump_entry
from memory_system.core.times import real_clock
from memory_system.errors import (
    ChangeSetNotFound,
    Conflict,
    EntryNotFound,
    Immutable,
    InvalidParameter,
    ReadOnlyPast,
    StaleChange,
)
from memory_system.operations.undo import GO_BACK, REDO, UNDO

Remember = Callable[..., str]


def held(agent: AgentMemory) -> dict[str, object]:
    return {entry.id: dump_entry(entry) for tier in Tier for entry in agent.entries(tier)}


def text_of(agent: AgentMemory, entry_id: str) -> str:
    entry = agent.find(entry_id)
    assert entry is not None
    return entry.document


@pytest.fixture
def moved(agent: AgentMemory, remember: Remember) -> tuple[int, list[str]]:
    """A change set that moved three memories, of which the first was edited and the second forgotten since."""
    ids = [remember(f"Thing {number} of the mill", rating=5) for number in range(3)]
    done = agent.migrate_stm2ltm(ids=ids)
    agent.edit(ids[0], document="The first thing, told anew")
    agent.forget(ids[1])
    assert done.revision is not None
    return done.revision, ids


# -- an undo that meets later work ---------------------------------------------------------------------


def test_conflicts_tell_what_was_is_and_would_be_and_what_came_since(
    agent: AgentMemory, moved: tuple[int, list[str]]
) -> None:
    revision, ids = moved
    clashes = {clash.key: clash for clash in agent.conflicts(revision)}
    assert set(clashes) == set(ids[:2])
    edited, forgotten = clashes[ids[0]], clashes[ids[1]]
    assert isinstance(edited.was, MemoryEntry)
    assert isinstance(edited.now, MemoryEntry)
    assert isinstance(edited.would_be, MemoryEntry)
    assert (edited.was.document, edited.was.tier) == ("Thing 0 of the mill", Tier.LTM)
    assert edited.now.document == "The first thing, told anew"
    assert (edited.would_be.document, edited.would_be.tier) == ("Thing 0 of the mill", Tier.STM)
    assert [(event.revision, event.title) for event in edited.later] == [
        (revision + 1, "Edit “The first thing, told anew”")
    ]
    assert forgotten.now is None
    assert [event.revision for event in forgotten.later] == [revision + 2]
    assert not edited.purged


def test_an_undo_that_would_clobber_says_which_memory_and_which_change(
    agent: AgentMemory, moved: tuple[int, list[str]]
) -> None:
    revision, _ = moved
    before = held(agent), agent.stamp
    with pytest.raises(StaleChange) as refused:
        agent.undo(revision)
    for part in ("“The first thing, told anew” was changed since", f"revision {revision + 1}", "keep", "overwrite"):
        assert part in refused.value.sentence
    assert (held(agent), agent.stamp) == before


def test_what_is_chosen_is_kept_or_taken_back_and_all_can_be_undone(
    agent: AgentMemory, moved: tuple[int, list[str]]
) -> None:
    revision, ids = moved
    before = held(agent)
    done = agent.undo(revision, keep=ids[0], overwrite=[ids[1]])
    assert done.title.startswith("Undo: ")
    assert done.title.endswith("; one kept as it is")
    assert done.undoes == revision
    tiers = {entry.id: entry.tier for tier in DECAYING for entry in agent.entries(tier)}
    assert tiers == {ids[0]: Tier.LTM, ids[1]: Tier.STM, ids[2]: Tier.STM}
    assert text_of(agent, ids[0]) == "The first thing, told anew"
    assert agent.change(revision).undone_by == done.revision
    agent.undo(done)
    assert held(agent) == before


@pytest.mark.parametrize(
    ("keep", "overwrite", "words"),
    [
        (["nobody"], [], "did nothing to 'nobody'"),
        ([], ["nobody"], "did nothing to 'nobody'"),
        (["{0}"], ["{0}"], "choose one"),
        ([3], [], "text or a list of texts"),
        (None, [], "text or a list of texts"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(
    agent: AgentMemory, moved: tuple[int, list[str]], keep: object, overwrite: list[str], words: str
) -> None:
    revision, ids = moved
    chosen = [
        [one.format(*ids) if isinstance(one, str) else one for one in list_] if isinstance(list_, list) else list_
        for list_ in (keep, overwrite)
    ]
    before = held(agent), agent.stamp
    with pytest.raises(InvalidParameter, match=words):
        agent.undo(revision, keep=chosen[0], overwrite=chosen[1])  # type: ignore[arg-type]
    assert (held(agent), agent.stamp) == before


def test_what_is_as_it_was_already_stands_in_nobodys_way(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("The key is brass", rating=4)
    edited = agent.edit(entry_id, rating=9, explanation="")
    agent.edit(entry_id, rating=4, explanation="")
    assert agent.conflicts(edited) == ()
    plan = agent.undo(edited, preview=True)
    assert not plan
    assert plan.title.startswith("Nothing to do")
    assert agent.undo(edited).revision is None


def test_settings_that_were_changed_since_are_a_conflict_too(agent: AgentMemory) -> None:
    first = agent.configure(stm_size=7)
    agent.configure(stm_size=9, top_k=3)
    (clash,) = agent.conflicts(first)
    assert (clash.key, clash.is_text) == ("settings", True)
    assert len(clash.later) == 1
    with pytest.raises(StaleChange, match="What is kept as settings"):
        agent.undo(first)
    assert not agent.undo(first, keep="settings", preview=True)
    agent.undo(first, overwrite="settings")
    assert (agent.settings.stm_size, agent.settings.top_k) == (20, 5)


def test_a_personality_is_taken_back_whole_with_its_facts(agent: AgentMemory) -> None:
    text = str(agent.personality_text)
    first = agent.save_personality(text.replace('"age": 34', '"age": 35'))
    agent.save_personality(text.replace('"age": 34', '"age": 36').replace("early riser", "late riser"))
    (clash,) = agent.conflicts(first)
    assert clash.key == "personality"
    agent.undo(first, overwrite="personality")
    facts = {entry.document for entry in agent.entries(Tier.STATIC)}
    assert agent.personality_text == text
    assert agent.curation.personality_on_disk == text
    assert any("34 years old" in fact for fact in facts)
    assert not any("36" in fact or "late riser" in fact for fact in facts)


def test_how_the_character_came_to_be_cannot_be_undone(agent: AgentMemory) -> None:
    with pytest.raises(Conflict, match="came to be"):
        agent.undo(1)
    with pytest.raises(Conflict, match="came to be"):
        agent.conflicts(1)


# -- redo ------------------------------------------------------------------------------------------------


def test_what_stands_undone_is_done_again(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("The mill key", rating=4)
    edited = agent.edit(entry_id, document="The brass key")
    after = held(agent)
    agent.undo(edited)
    again = agent.redo(edited)
    assert held(agent) == after
    assert (again.operation, again.title) == (REDO, "Redo: Edit “The brass key”")
    assert agent.change(edited.revision or 0).undone_by is None
    assert agent.undo(again, preview=True).title == "Undo: Edit “The brass key”"
    assert agent.undo(edited).operation == UNDO


def test_what_was_not_undone_cannot_be_done_again(agent: AgentMemory, remember: Remember) -> None:
    remember("event")
    with pytest.raises(Conflict, match="has not been undone"):
        agent.redo(agent.history(1)[0].revision)


def test_a_redo_that_meets_later_work_lets_choose(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("The mill key", rating=4)
    edited = agent.edit(entry_id, document="The brass key")
    agent.undo(edited)
    agent.edit(entry_id, document="The iron key")
    (clash,) = agent.conflicts(edited)
    assert clash.key == entry_id
    with pytest.raises(StaleChange, match="The iron key"):
        agent.redo(edited)
    agent.redo(edited, overwrite=entry_id)
    assert text_of(agent, entry_id) == "The brass key"


# -- back to a moment --------------------------------------------------------------------------------


def test_going_back_brings_all_to_what_it_was_and_can_be_undone(agent: AgentMemory, remember: Remember) -> None:
    ids = [remember(f"Thing {number}", rating=5) for number in range(4)]
    agent.configure(stm_size=12)
    agent.save_cue("keys", "Who has the key?", must=ids[0])
    target = agent.history(1)[0].revision
    then = held(agent), agent.settings, agent.saved_cues, agent.personality_text
    agent.edit(ids[0], document="Another thing", tags=["x"])
    agent.forget(ids[1])
    agent.migrate_stm2ltm(ids=ids[2])
    remember("Something new")
    agent.configure(stm_size=3)
    agent.remove_cue("keys")
    agent.save_personality(str(agent.personality_text).replace('"age": 34', '"age": 50'))
    now = held(agent), agent.settings, agent.saved_cues, agent.personality_text
    plan = agent.undo_back_to(target, preview=True)
    assert (held(agent), agent.settings, agent.saved_cues, agent.personality_text) == now
    assert plan.notes == ("It undoes what the 7 later changes did.",)
    done = agent.apply(plan)
    assert done.operation == GO_BACK
    assert (held(agent), agent.settings, agent.saved_cues, agent.personality_text) == then
    agent.undo(done)
    assert (held(agent), agent.settings, agent.saved_cues, agent.personality_text) == now


def test_going_back_leaves_what_is_protected(agent: AgentMemory, remember: Remember) -> None:
    one, other = remember("Caught a pike"), remember("Lost an oar")
    target = agent.history(1)[0].revision
    agent.edit(one, document="Caught a trout")
    agent.edit(other, document="Lost both oars")
    agent.edit(one, protected=True)
    back = agent.undo_back_to(target)
    assert (text_of(agent, one), text_of(agent, other)) == ("Caught a trout", "Lost an oar")
    assert [kept.entry_id for kept in back.kept] == [one]


def test_going_back_takes_no_access_back(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("The mill key hangs at the inn", rating=5, hours_ago=3)
    target = agent.history(1)[0].revision
    agent.query_memory("Where is the mill key?", threshold=0)
    accessed = agent.find(entry_id)
    agent.edit(entry_id, rating=9)
    agent.undo_back_to(target)
    assert accessed is not None
    assert accessed.last_access is not None
    assert agent.find(entry_id) == accessed


@pytest.mark.parametrize("number", [2**62 + 1, 2**70])
def test_a_number_that_no_journal_could_hold_is_no_revision(agent: AgentMemory, number: int) -> None:
    with pytest.raises(InvalidParameter, match="The revision"):
        agent.undo(number)
    with pytest.raises(ChangeSetNotFound, match=f"no revision {2**62}"):
        agent.undo(2**62)


def test_going_back_to_now_does_nothing(agent: AgentMemory, remember: Remember) -> None:
    remember("event")
    revision = agent.history(1)[0].revision
    assert agent.undo_back_to(revision).revision is None
    assert agent.history(1)[0].revision == revision


@pytest.mark.parametrize("wrong", ["x", 0, -1, 10**30, 1.5, None, True])
def test_going_back_to_no_revision_is_refused(agent: AgentMemory, wrong: object) -> None:
    with pytest.raises((InvalidParameter, ChangeSetNotFound)):
        agent.undo_back_to(wrong)  # type: ignore[arg-type]
    with pytest.raises(ChangeSetNotFound):
        agent.undo_back_to(999)


def test_what_was_planned_before_somebody_changed_something_is_refused(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("event")
    target = agent.history(1)[0].revision
    agent.edit(entry_id, rating=7)
    plan = agent.undo_back_to(target, preview=True)
    agent.edit(entry_id, rating=8)
    with pytest.raises(StaleChange):
        agent.apply(plan)


def test_going_back_as_it_was_previewed_takes_back_all_that_came_since_or_nothing(
    agent: AgentMemory, remember: Remember
) -> None:
    entry_id = remember("event")
    target = agent.history(1)[0].revision
    agent.edit(entry_id, rating=7)
    plan = agent.undo_back_to(target, preview=True)
    remember("Somebody else saw smoke", id="later")
    before = held(agent)
    with pytest.raises(StaleChange, match=r"“Remember ‘Somebody else saw smoke’” by .* would not be undone"):
        agent.apply(plan)
    assert held(agent) == before
    done = agent.apply(agent.undo_back_to(target, preview=True))
    assert agent.find("later") is None
    assert agent.apply(done).revision == done.revision, "it is applied once"


def test_a_taking_back_that_does_nothing_says_whether_all_is_so_or_something_is_left(
    agent: AgentMemory, remember: Remember
) -> None:
    entry_id = remember("Caught a pike")
    target = agent.history(1)[0].revision
    agent.edit(entry_id, document="Caught a trout")
    agent.edit(entry_id, protected=True)
    back = agent.undo_back_to(target)
    assert (
        back.title
        == "Nothing to do: what “Go back to right after ‘Remember ‘Caught a pike’’” would change is left as it is"
    )
    assert back.notes == ()
    assert agent.undo(target + 1, keep=entry_id).title.endswith("Edit ‘Caught a trout’” would change is left as it is")
    assert agent.undo_back_to(target + 2).title.startswith("Nothing to do: all is as “Go back")


def test_however_often_a_change_is_taken_back_its_reason_stays_short(agent: AgentMemory, remember: Remember) -> None:
    done = agent.forget(remember("event"))
    reasons = []
    for _ in range(4):
        done = agent.undo(done)
        reasons.append(done.changes[0].reason)
    assert reasons == ["Undoes: Forgotten by hand.", "Does again: Forgotten by hand."] * 2


# -- looking for changes ---------------------------------------------------------------------------------


@pytest.fixture
def told(agent: AgentMemory, remember: Remember) -> dict[str, str]:
    ids = {
        "mill": remember("Die Mühle steht still", id="mill"),
        "key": remember('She said "never" at 100 % of noon_time', id="key"),
    }
    agent.acting_as("Ines").edit("mill", document="Die MÜHLE läuft wieder")
    agent.acting_as("game 2").forget("key")
    return ids


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("mühle", [4, 2]),
        ("MÜHLE STEHT", [4, 2]),
        ('"never" at 100 %', [5, 3]),
        ("noon_time", [5, 3]),
        ("noonxtime", []),
        ("game 2", [5]),
        ("Forget “She", [5]),
        ("document", []),
        ("", [5, 4, 3, 2, 1]),
        ("   ", [5, 4, 3, 2, 1]),
        ("'; DROP TABLE changes; --", []),
    ],
)
def test_changes_are_found_by_title_author_and_memory(
    agent: AgentMemory, told: dict[str, str], words: str, found: list[int]
) -> None:
    assert [one.revision for one in agent.history(contains=words)] == found


def test_changes_are_found_by_who_what_which_and_when(agent: AgentMemory, told: dict[str, str]) -> None:
    def revisions(**sought: object) -> list[int]:
        return [one.revision for one in agent.history(**sought)]  # type: ignore[arg-type]

    assert revisions(author="Ines") == [4]
    assert revisions(operation="forget") == [5]
    assert revisions(operation="forg") == []
    assert revisions(entry_id="mill") == [4, 2]
    assert revisions(entry_id="mill", author="Ines", contains="läuft") == [4]
    assert revisions(limit=1, before=5, contains="mühle") == [4]
    assert revisions(limit=1, before=4, contains="mühle") == [2]
    applied = {one.revision: one.applied_at for one in agent.history()}
    assert revisions(since=applied[4]) == [5, 4]
    assert revisions(until=applied[4]) == [3, 2, 1]
    assert revisions(since=real_clock() + timedelta(days=1)) == []


def test_the_history_tells_who_and_what_there_is(agent: AgentMemory, told: dict[str, str]) -> None:
    kinds = agent.history_kinds()
    assert kinds.operations == {"add": 2, "edit": 1, "forget": 1, "personality": 1}
    assert {"Ines", "game 2", "file mira.json"} <= set(kinds.authors)
    assert agent.as_of(revision=3).history_kinds().operations == {"add": 2, "personality": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        {"contains": 3},
        {"contains": "x" * 40_000},
        {"contains": "\ud800"},
        {"author": None},
        {"operation": ["add"]},
        {"entry_id": b"x"},
        {"since": "yesterday"},
        {"since": real_clock().replace(tzinfo=None)},
        {"since": real_clock(), "until": real_clock() - timedelta(days=1)},
        {"before": -1},
        {"limit": 0},
    ],
)
def test_a_search_that_makes_no_sense_is_refused(agent: AgentMemory, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        agent.history(**wrong)  # type: ignore[arg-type]


def test_a_past_history_finds_what_was_known_then(agent: AgentMemory, told: dict[str, str]) -> None:
    then = agent.as_of(revision=4)
    assert [one.revision for one in then.history(contains="mühle")] == [4, 2]
    assert [one.revision for one in then.history(author="game 2")] == []
    assert then.change(4).change_set.author == "Ines"
    with pytest.raises(ChangeSetNotFound):
        then.change(5)
    with pytest.raises(ReadOnlyPast):
        then.undo_back_to(2)  # type: ignore[attr-defined]


def test_who_is_behind_a_change_is_told_on_each_way(world: World, agent: AgentMemory, remember: Remember) -> None:
    assert agent.author.startswith("script")
    remember("event")
    agent.acting_as("History page").reset_memory()
    assert [one.change_set.author for one in agent.history()][:2] == ["History page", agent.author]


# -- since a revision ------------------------------------------------------------------------------------


def test_the_changes_since_a_revision_are_told_page_by_page(
    agent: AgentMemory, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        remember(f"Thing {number} of the mill")
    newest = agent.revision
    for page in (1, 2, 500):
        monkeypatch.setattr(history, "_AT_ONCE", page)
        for revision in range(newest + 1):
            told = [done.revision for done in agent.timeline.changes_since(revision)]
            assert told == list(range(newest, revision, -1))
    with pytest.raises(InvalidParameter, match="The revision must be a whole number"):
        agent.timeline.changes_since(-1)
    assert agent.timeline.origin == agent.history()[-1].change_set.id


def test_the_history_is_told_up_to_ten_thousand_at_once(agent: AgentMemory) -> None:
    assert agent.history(10_000)
    with pytest.raises(InvalidParameter, match="10,000"):
        agent.history(10_001)


def test_what_was_tried_and_came_to_nothing_stands_in_the_history(agent: AgentMemory) -> None:
    before = agent.revision
    noted = agent.timeline.note(ChangeSet("plan_day", "Nothing to plan", (), agent.now, before))
    assert noted.revision == agent.revision == before + 1
    assert agent.history()[0].change_set.title == "Nothing to plan"


# -- the bin ---------------------------------------------------------------------------------------------


def test_what_is_gone_lies_in_the_bin_with_when_by_whom_and_why(agent: AgentMemory, told: dict[str, str]) -> None:
    (gone,) = agent.forgotten()
    assert (gone.entry.id, gone.revision, gone.author, gone.operation) == ("key", 5, "game 2", "forget")
    assert gone.reason == "Forgotten by hand."
    assert gone.at == agent.now
    assert abs(gone.applied_at - real_clock()) < timedelta(minutes=5)
    agent.forget("mill")
    assert [one.entry.id for one in agent.forgotten()] == ["mill", "key"]
    assert [one.entry.id for one in agent.forgotten(1, offset=1)] == ["key"]
    assert [one.entry.id for one in agent.forgotten(contains="mühle")] == ["mill"]
    assert (agent.count_forgotten(), agent.count_forgotten("NEVER")) == (2, 1)
    agent.restore("key")
    assert [one.entry.id for one in agent.forgotten()] == ["mill"]
    assert [one.entry.id for one in agent.as_of(revision=5).forgotten()] == ["key"]


def test_facts_of_the_personality_do_not_lie_in_the_bin(agent: AgentMemory) -> None:
    before = {entry.id for entry in agent.entries(Tier.STATIC)}
    agent.save_personality(str(agent.personality_text).replace('"early riser"', '"late riser"'))
    gone = before - {entry.id for entry in agent.entries(Tier.STATIC)}
    assert agent.forgotten() == []
    for entry_id in gone:
        with pytest.raises(Immutable):
            agent.restore(entry_id)
        with pytest.raises(Immutable):
            agent.purge(entry_id)


def test_an_undone_addition_lies_in_the_bin_and_comes_back(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("Once upon a time")
    agent.undo(agent.history(1)[0].revision)
    assert [one.entry.id for one in agent.forgotten()] == [entry_id]
    agent.restore(entry_id)
    assert agent.find(entry_id) is not None


def test_a_restore_of_nothing_is_refused(agent: AgentMemory) -> None:
    with pytest.raises(EntryNotFound):
        agent.restore("nobody")


def test_a_change_set_is_told_with_what_it_purges(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("event")
    agent.forget(entry_id)
    plan = agent.purge(entry_id, preview=True)
    assert plan.purges == (entry_id,)
    assert bool(plan)
    assert dataclasses.replace(plan, purges=("",)).problem() is not None
