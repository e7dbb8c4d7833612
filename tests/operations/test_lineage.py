"""Lineage: what memories rest on and what rests on them, what of it is stale, and deriving it again or keeping it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system import AgentMemory, Change, ChangeSet, Kind, MemoryEntry, MemorySystemError, Tier, World
from memory_system.errors import EntryNotFound, Immutable, InvalidParameter, Protected, ReadOnlyPast
from memory_system.operations import reflection, summarisation
from memory_system.operations.provenance import MOST, Lineage, trace
from tests.conftest import NOW

Remember = Callable[..., str]


def derived(agent: AgentMemory, entry: MemoryEntry, *forgotten: str, operation: str = "reflect") -> str:
    """A memory that an operation made, and what it forgot in its place."""
    held = [agent.find(one) for one in forgotten]
    changes = [Change(None, entry, "Derived.")]
    changes += [Change(one.evolve(last_access=None), None, "It stands for it.") for one in held if one]
    agent.apply(ChangeSet(operation, f"{operation} {entry.id}", tuple(changes), NOW, 0, author="test"))
    return entry.id


def insight(agent: AgentMemory, question: str, *ids: str) -> str:
    return derived(
        agent, reflection.entry(NOW, question, f"It shows: {question}", [agent.last_version(i) for i in ids])
    )


def summary(agent: AgentMemory, *ids: str) -> str:
    sources = [agent.last_version(one) for one in ids]
    return derived(agent, summarisation.entry("Flour was carried.", sources), *ids, operation="summarise")


@pytest.fixture
def flour(agent: AgentMemory, remember: Remember) -> list[str]:
    """Three memories in STM."""
    texts = ("Carried flour to the mill.", "Carried flour to the inn.", "Lent Tobias the brass key.")
    return [remember(text, id=f"m{number}", hours_ago=9 - number) for number, text in enumerate(texts, start=1)]


def levels(found: Lineage) -> dict[str, int]:
    return {one.entry.id: one.level for one in found.kin}


def stale_ids(agent: AgentMemory) -> list[str]:
    return [one.entry.id for one in agent.stale()]


# -- lineage ---------------------------------------------------------------------------------------------


def test_a_lineage_runs_both_ways_through_a_summary_to_its_forgotten_originals(
    agent: AgentMemory, flour: list[str]
) -> None:
    agent.migrate_stm2ltm(ids=flour)
    made = summary(agent, "m1", "m2")
    thought = insight(agent, "who carries?", made, "m3")
    found = agent.lineage(made)
    assert levels(found) == {"m1": -1, "m2": -1, made: 0, thought: 1}
    assert {one.entry.id for one in found.kin if one.forgotten} == {"m1", "m2"}
    assert found.links == tuple(sorted([("m1", made), ("m2", made), (made, thought)]))
    from_original = agent.lineage("m1")
    assert levels(from_original) == {"m1": 0, made: 1, thought: 2}
    deepest = agent.lineage(thought)
    assert levels(deepest) == {"m1": -2, "m2": -2, made: -1, "m3": -1, thought: 0}
    assert [one.entry.document for one in deepest.kin if one.level == -2] == [
        agent.last_version(i).document for i in flour[:2]
    ]


def test_depth_bounds_a_lineage_and_says_that_there_is_more(agent: AgentMemory, flour: list[str]) -> None:
    agent.migrate_stm2ltm(ids=flour)
    thought = insight(agent, "who?", summary(agent, "m1", "m2"))
    near = agent.lineage(thought, depth=1)
    assert (len(near.kin), near.more) == (2, 2)
    assert (len(agent.lineage(thought, depth=2).kin), agent.lineage(thought, depth=2).more) == (4, 0)
    for depth in (0, 21, True, "4"):
        with pytest.raises(InvalidParameter, match="depth"):
            agent.lineage(thought, depth=depth)  # type: ignore[arg-type]


def test_a_memory_lies_below_all_that_lie_between(agent: AgentMemory, flour: list[str]) -> None:
    first = insight(agent, "one?", "m1")
    second = insight(agent, "two?", "m1", first)
    assert levels(agent.lineage("m1")) == {"m1": 0, first: 1, second: 2}
    assert levels(agent.lineage(second)) == {"m1": -2, first: -1, second: 0}


def test_what_was_thought_and_undone_is_no_kin_but_what_leads_on_is(agent: AgentMemory, flour: list[str]) -> None:
    gone, bridge = insight(agent, "gone?", "m1"), insight(agent, "bridge?", "m1")
    onward = insight(agent, "onward?", bridge)
    agent.forget([gone, bridge])
    assert levels(agent.lineage("m1")) == {"m1": 0, bridge: 1, onward: 2}
    assert [one.entry.id for one in agent.built_on("m1")] == []


def test_cited_ids_that_lead_nowhere_are_counted(agent: AgentMemory, flour: list[str]) -> None:
    entry = reflection.entry(NOW, "who?", "It shows.", [agent.last_version("m1")]).evolve(
        evidence=("m1", "never", "nor")
    )
    found = agent.lineage(derived(agent, entry))
    assert (levels(found)["m1"], found.unknown) == (-1, 2)


def test_a_memory_that_never_was_has_no_lineage(agent: AgentMemory) -> None:
    for wrong in ("nobody", "", "\x00", "a\nb", 5):
        with pytest.raises(EntryNotFound):
            agent.lineage(wrong)  # type: ignore[arg-type]


def _entry(entry_id: str, *evidence: str) -> MemoryEntry:
    return MemoryEntry(f"Text of {entry_id}.", id=entry_id, tier=Tier.LTM, evidence=evidence, timestamp=NOW)


def _traced(entries: dict[str, MemoryEntry], centre: str, depth: int, held: Callable[[str], bool]) -> Lineage:
    cites = [(source, one.id) for one in entries.values() for source in one.evidence]
    return trace(
        entries[centre],
        depth,
        lambda ids: {one: entries[one] for one in ids if one in entries},
        lambda some: [pair for pair in cites if pair[0] in {one.id for one in some}],
        held=held,
        stale=(),
    )


_IDS = st.sampled_from("abcdefgh")


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(_IDS, st.sets(_IDS, max_size=4), min_size=1), st.integers(1, 20))
def test_circles_of_evidence_end_and_every_link_is_between_kin(rests: dict[str, set[str]], depth: int) -> None:
    entries = {one: _entry(one, *sorted(evidence)) for one, evidence in rests.items()}
    centre = min(entries)
    found = _traced(entries, centre, depth, held=lambda _one: True)
    told = levels(found)
    assert told[centre] == 0
    assert all(source in told and one in told and source in rests[one] for source, one in found.links)
    assert found == _traced(dict(reversed(entries.items())), centre, depth, held=lambda _one: True)


def test_a_lineage_of_thousands_is_bounded() -> None:
    entries = {f"s{n}": _entry(f"s{n}") for n in range(3000)}
    entries["top"] = _entry("top", *entries)
    found = _traced(entries, "top", 3, held=lambda _one: True)
    assert (len(found.kin) <= MOST, found.more) == (True, 3001 - len(found.kin))
    long = {f"c{n}": _entry(f"c{n}", f"c{n - 1}") if n else _entry("c0") for n in range(100)}
    assert len(_traced(long, "c50", 20, held=lambda _one: True).kin) == 41


# -- stale -----------------------------------------------------------------------------------------------


def test_editing_a_text_or_its_time_makes_what_rests_on_it_stale(agent: AgentMemory, flour: list[str]) -> None:
    thought, other = insight(agent, "who?", "m1", "m2"), insight(agent, "where?", "m3")
    assert agent.stale() == ()
    agent.edit("m1", document="Carried barley to the mill.")
    (found,) = agent.stale()
    assert (found.entry.id, found.entry.last_access) == (thought, None)
    (altered,) = found.alterations
    assert (altered.before.document, altered.after and altered.after.document) == (
        "Carried flour to the mill.",
        "Carried barley to the mill.",
    )
    assert altered.sentence.startswith("It says something else now (Edit “Carried barley to the mill.”, by script")
    agent.edit("m3", timestamp=NOW)
    assert agent.stale_of(other) is not None
    assert "another time" in agent.stale_of(other).alterations[0].sentence  # type: ignore[union-attr]


def test_rating_tagging_pinning_and_moving_make_nothing_stale(agent: AgentMemory, flour: list[str]) -> None:
    insight(agent, "who?", *flour)
    agent.edit("m1", rating=9, tags=("flour",), pinned=True, metadata={"sack": 3})
    agent.edit("m2", kind=Kind.FACT, protected=True)
    agent.rate_again("m3")
    agent.migrate_stm2ltm(ids=["m3"])
    agent.query_memory("flour")
    assert agent.stale() == ()


def test_what_migration_or_a_summary_forgets_makes_nothing_stale(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "who?", *flour)
    agent.configure(stm_size=1)
    faded = agent.migrate_stm2ltm(threshold=1.0)
    assert len(faded.of("forget")) == 2
    agent.undo(agent.undo(faded))  # done again
    assert agent.stale() == ()
    agent.undo(faded.revision + 2)  # type: ignore[operator]
    agent.migrate_stm2ltm(ids=["m1", "m2", "m3"])
    made = summary(agent, "m1", "m2")
    assert agent.stale() == ()
    assert {one.entry.id for one in agent.lineage(thought).kin} == {*flour, thought}
    agent.restore(["m1", "m2"])
    assert agent.stale() == ()
    agent.edit("m1", document="Sold the flour.")
    assert set(stale_ids(agent)) == {thought, made}


def test_forgetting_by_hand_makes_it_stale_and_restoring_takes_that_back(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "who?", *flour)
    forgotten = agent.forget("m2")
    (found,) = agent.stale()
    assert found.alterations[0].after is None
    assert found.alterations[0].sentence.startswith("It was deleted (Forget “Carried flour to the inn.”, by script")
    agent.restore("m2")
    assert agent.stale() == ()
    agent.forget("m2")
    assert stale_ids(agent) == [thought]
    assert forgotten.revision is not None


def test_undoing_an_edit_takes_the_flag_back_and_redoing_it_sets_it_again(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "who?", *flour)
    undone = agent.undo(agent.edit("m1", document="Sold the flour."))
    assert agent.stale() == ()
    agent.undo(undone)
    assert stale_ids(agent) == [thought]
    agent.edit("m1", document="Carried flour to the mill.")  # as it was, by hand
    assert agent.stale() == ()


def test_undoing_what_was_added_deletes_it(agent: AgentMemory, flour: list[str]) -> None:
    added = agent.add_short_term({"document": "Saw smoke.", "id": "smoke", "rating": 5}).change_set
    thought = insight(agent, "smoke?", "smoke", "m1")
    agent.undo(added)
    assert stale_ids(agent) == [thought]


def test_adding_the_same_id_again_with_another_text_is_an_edit(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "who?", "m1")
    agent.add_short_term({"document": "Carried salt.", "id": "m1", "rating": 5, "timestamp": NOW}, rate=False)
    assert stale_ids(agent) == [thought]


def test_what_is_itself_forgotten_is_not_stale_until_it_comes_back(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "who?", "m1")
    agent.edit("m1", document="Sold the flour.")
    agent.forget(thought)
    assert agent.stale() == ()
    assert agent.stale_of(thought) is None
    agent.restore(thought)  # it is as it was derived, before the edit
    assert stale_ids(agent) == [thought]


def test_a_fact_of_the_personality_that_changes_makes_what_rests_on_it_stale(agent: AgentMemory) -> None:
    fact = next(one for one in agent.entries(Tier.STATIC) if "true key" in one.document)
    thought = insight(agent, "keys?", fact.id)
    assert agent.personality_text is not None
    told = json.loads(agent.personality_text)
    told["facts"] = ["There are two keys to the tide mill."]
    agent.save_personality(json.dumps(told))
    assert stale_ids(agent) == [thought]


def test_the_past_tells_what_was_stale_then(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "who?", "m1")
    edited = agent.edit("m1", document="Sold the flour.")
    kept = agent.keep_stale(thought)
    assert edited.revision is not None
    assert kept.revision is not None
    assert agent.stale() == ()
    then = agent.as_of(revision=edited.revision)
    assert [one.entry.id for one in then.stale()] == [thought]
    assert agent.as_of(revision=edited.revision - 1).stale() == ()
    assert levels(agent.as_of(revision=kept.revision).lineage(thought)) == {"m1": -1, thought: 0}
    assert agent.as_of(revision=0).stale() == ()
    with pytest.raises(EntryNotFound):
        agent.as_of(revision=edited.revision - 2).lineage(thought)
    with pytest.raises(ReadOnlyPast):
        then.keep_stale(thought)  # type: ignore[attr-defined]


def test_it_is_the_same_told_after_opening_anew(agent: AgentMemory, world: World, flour: list[str]) -> None:
    thought = insight(agent, "who?", "m1")
    agent.edit("m1", document="Sold the flour.")
    told = [(one.entry.id, one.since) for one in agent.stale()]
    world.close()
    again = world.agent("mira")
    assert [(one.entry.id, one.since) for one in again.stale()] == told
    assert [one.id for one in again.built_on("m1")] == [thought]


# -- derive again, or keep -------------------------------------------------------------------------------


def test_a_reflection_is_derived_again_from_what_is_there_now(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "Who has the brass key?", *flour)
    agent.edit("m3", document="Lent Juno the brass key.")
    agent.forget("m1")
    before = agent.find(thought)
    planned = agent.rederive(thought, preview=True)
    assert before == agent.find(thought)
    (change,) = planned.changes
    assert (change.entry_id, change.verb) == (thought, "update")
    assert planned.calls[0].task == "insights"
    agent.apply(planned)
    after = agent.find(thought)
    assert after is not None
    assert before is not None
    assert "Lent Juno the brass key" in after.document
    assert after.evidence == ("m2", "m3")
    assert (after.rating, after.tags, after.kind, after.timestamp) == (
        before.rating, before.tags, before.kind, before.timestamp,
    )  # fmt: skip
    assert agent.stale() == ()
    agent.undo(agent.history(1)[0].revision)
    assert agent.find(thought) == before
    assert stale_ids(agent) == [thought]


def test_a_summary_is_derived_again_from_forgotten_originals(agent: AgentMemory, flour: list[str]) -> None:
    agent.migrate_stm2ltm(ids=flour)
    made = summary(agent, "m1", "m2")
    agent.restore("m1")
    agent.edit("m1", document="Carried barley to the chapel.", timestamp=NOW)
    done = agent.rederive(made)
    after = agent.find(made)
    assert after is not None
    assert done.calls[0].task == "summarise"
    assert "barley" in after.document
    assert "inn" in after.document
    assert after.evidence == ("m1", "m2")
    assert (after.extras["covers_until"], after.timestamp) == (NOW.isoformat(), NOW)
    assert agent.stale() == ()


def test_a_synopsis_is_derived_again_from_the_turns_that_are_left(agent: AgentMemory) -> None:
    done = agent.remember_conversation(
        [("Tobias", "Could you lend me the brass key?"), ("Mira", "I promise to bring it on Friday.")], rate=False
    )
    made = done.changes[-1].after
    assert made is not None
    first = made.evidence[0]
    agent.edit(first, document="Tobias: Could you lend me the iron lamp?")
    assert stale_ids(agent) == [made.id]
    agent.rederive(made.id)
    after = agent.find(made.id)
    assert after is not None
    assert "iron lamp" in after.document
    assert agent.stale() == ()
    agent.edit(first, metadata={})  # no turn any more, for all one can tell
    agent.forget(made.evidence[1])
    planned = agent.rederive(made.id)
    assert not planned
    assert planned.notes == ("No turn of the conversation is left: keep it as it is, or forget it.",)


def test_an_action_of_a_plan_is_derived_again(agent: AgentMemory, remember: Remember) -> None:
    promised = remember("Promised Ines to meet her at the weir at half past eight tonight.", hours_ago=8, rating=8)
    actions = [one.after for one in agent.plan_from_memory().of("add") if one.after and promised in one.after.evidence]
    assert actions, "the offline planner keeps promises that name a time"
    action = actions[0]
    agent.edit(promised, document="Promised Ines to meet her at the weir at nine tonight.")
    assert stale_ids(agent) == [action.id]
    agent.rederive(action.id)
    after = agent.find(action.id)
    assert after is not None
    assert (action.extras["start"], after.extras["start"]) == ("20:30", "21:00")
    assert "21:00" in after.document
    assert agent.stale() == ()


def test_what_a_person_wrote_over_a_derived_text_is_replaced_only_with_a_word_about_it(
    agent: AgentMemory, flour: list[str]
) -> None:
    thought = insight(agent, "Who has the brass key?", *flour)
    agent.edit(thought, document="In my own words.", authored=True, pinned=True)
    assert agent.stale() == ()  # its evidence is as it was
    agent.forget("m1")
    planned = agent.rederive(thought, preview=True)
    assert planned.notes == ("A person wrote the text that this replaces.",)
    agent.apply(planned)
    after = agent.last_version(thought)
    assert (after.authored, after.pinned) == (False, True)


def test_going_back_over_many_changes_at_once_takes_the_flag_back(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "Who has the brass key?", *flour)
    derived_first, before = agent.last_version(thought), agent.last_version("m1")
    agent.edit("m1", document="Sold the flour.")
    agent.rederive(thought)
    now = [agent.last_version(one) for one in (thought, "m1")]
    changes = tuple(Change(one, old, "Back.") for one, old in zip(now, (derived_first, before), strict=True))
    agent.apply(ChangeSet("go back", "Go back", changes, NOW, agent.stamp[0]))
    assert agent.stale() == ()
    agent.edit("m1", document="Sold the flour.")
    assert stale_ids(agent) == [thought]


def test_nothing_left_is_said_and_changes_nothing(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "who?", "m1")
    agent.forget("m1")
    before = agent.stamp
    planned = agent.rederive(thought)
    assert (bool(planned), agent.stamp) == (False, before)
    assert planned.notes == ("Nothing is left of what it rests on: keep it as it is, or forget it.",)


def test_derived_to_the_same_words_it_is_right_again(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "Who has the brass key?", *flour)
    agent.rederive(thought)
    said = agent.find(thought)
    assert said is not None
    agent.edit("m1", timestamp=agent.last_version("m1").timestamp.replace(second=30))  # type: ignore[union-attr]
    assert stale_ids(agent) == [thought]
    done = agent.rederive(thought)
    after = agent.find(thought)
    assert after is not None
    assert after.document == said.document
    assert "Derived again, it says the same." in done.notes
    assert agent.stale() == ()


def test_keeping_is_told_and_undone_and_lasts_until_something_else_changes(
    agent: AgentMemory, flour: list[str]
) -> None:
    thought = insight(agent, "who?", *flour)
    agent.edit("m1", document="Sold the flour.")
    before = agent.find(thought)
    assert agent.keep_stale(thought, preview=True).title.startswith("Keep “It shows: who?” as it is")
    assert stale_ids(agent) == [thought]
    kept = agent.keep_stale(thought)
    assert (agent.stale(), agent.find(thought)) == ((), before)
    assert agent.history(1)[0].change_set.operation == "keep"
    undone = agent.undo(kept)
    assert stale_ids(agent) == [thought]
    agent.undo(undone)
    assert agent.stale() == ()
    agent.edit("m2", document="Ate the flour.")
    (found,) = agent.stale()
    assert [one.before.id for one in found.alterations] == ["m2"]
    agent.undo(agent.history(1)[0].revision)
    agent.edit("m1", document="Carried flour to the mill.")  # as when it was derived
    assert agent.stale() == ()


def test_there_is_nothing_to_keep_where_nothing_changed(agent: AgentMemory, flour: list[str]) -> None:
    thought, before = insight(agent, "who?", "m1"), agent.stamp
    planned = agent.keep_stale(thought)
    assert (bool(planned), planned.kept[0].reason) == (False, "What it rests on is as it was.")
    assert agent.stamp == before


def test_what_cannot_be_derived_again_is_refused_in_words(agent: AgentMemory, flour: list[str]) -> None:
    thought = insight(agent, "who?", "m1")
    agent.edit(thought, protected=True)
    static = agent.entries(Tier.STATIC)[0].id
    before = agent.stamp
    for entry_id, error in (
        ("m1", InvalidParameter), ("nobody", EntryNotFound), (static, Immutable), (thought, Protected),
    ):  # fmt: skip
        with pytest.raises(error) as caught:
            agent.rederive(entry_id)
        assert isinstance(caught.value, MemorySystemError)
        assert caught.value.sentence.endswith(".")
    assert agent.stamp == before
    agent.edit("m1", document="Sold the flour.")
    assert agent.keep_stale(thought).revision is not None  # which changes nothing of it
