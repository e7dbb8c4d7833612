"""Joint: all tiers measured as one, so that it makes no difference where a memory is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system import Kind, MemoryEntry
from memory_system.recall.hybrid import Cue, Joint, TextIndex, TokenStates, evidence, hybrid
from tests.recall.relevancy_fakes import WordStates

NOW = datetime(2023, 10, 18, 15, 30, tzinfo=UTC)
TALK = ("Maria: Where is the boat?", "Will: The red boat is in the harbour.", "Maria: Then I paint it tomorrow.")


def index_of(entries: list[MemoryEntry]) -> TextIndex:
    index = TextIndex()
    for row, one in enumerate(entries):
        index.put(row, one)
    return index


def joint_of(*tiers: list[MemoryEntry]) -> Joint:
    return Joint(*(index_of(tier) for tier in tiers))


def turn(text: str, number: int, talk: str = "one") -> MemoryEntry:
    return MemoryEntry(
        text, {"conversation": talk, "turn": number}, f"{talk}{number}", kind=Kind.CONVERSATION, timestamp=NOW
    )


def event(text: str, entry_id: str, seconds: float) -> MemoryEntry:
    return MemoryEntry(text, id=entry_id, timestamp=NOW + timedelta(seconds=seconds))


def values(joint: Joint | TextIndex, text: str, names: frozenset[str]) -> dict[str, float]:
    cue = Cue.read(text, NOW, names)
    found = hybrid(cue, np.full(len(joint), 0.5), joint, TokenStates(WordStates()))
    return {entry.id: value for entry, value in zip(joint.entries, found.values.tolist(), strict=True)}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 2), min_size=9, max_size=9), st.sampled_from(["Who paints the boat?", "What did Will say?"])
)
def test_a_turn_is_as_relevant_wherever_it_is_kept(tiers: list[int], cue: str) -> None:
    turns = [turn(TALK[number % 3], number) for number in range(9)]
    parts: list[list[MemoryEntry]] = [[], [], []]
    for tier, one in zip(tiers, turns, strict=True):
        parts[tier].append(one)
    joint, alone = joint_of(*parts), index_of(turns)
    assert joint.speakers == alone.speakers == {"maria", "will"}
    apart, together = values(joint, cue, joint.speakers), values(alone, cue, alone.speakers)
    assert apart.keys() == together.keys()
    assert np.allclose([apart[one] for one in together], list(together.values()), rtol=0, atol=1e-12)


def test_a_word_is_as_rare_as_in_all_tiers_together() -> None:
    joint = joint_of([], [event("a boat", "a", 0)], [event("the mill", "b", 0), event("a boat", "c", 1)])
    assert joint.rarity("boat") == index_of(list(joint.entries)).rarity("boat")
    assert joint.words(["boat"]).tolist() == index_of(list(joint.entries)).words(["boat"]).tolist()
    once = joint_of([], [], [event("the mill", "b", 0), event("a boat", "c", 1)])
    assert joint.rarity("boat") == once.rarity("boat")


def test_what_was_said_just_before_helps_an_event_to_be_found() -> None:
    quiet = [event("Sam: Silence.", "q", -9000)]
    close = [*quiet, event("Sam: Where is the boat?", "asked", 0), event("Sam: In the harbour.", "answered", 30)]
    apart = [*quiet, event("Sam: Where is the boat?", "asked", 0), event("Sam: In the harbour.", "answered", 3000)]
    near, far = (values(joint_of([], [], some), "the boat", frozenset()) for some in (close, apart))
    assert near["answered"] > far["answered"]
    assert near["q"] == far["q"]
    seen = [
        event(one.document.removeprefix("Sam: "), one.id, at) for one, at in zip(close, (-9000, 0, 30), strict=True)
    ]
    alone = values(joint_of([], [], seen[1:]), "the boat", frozenset())
    assert (
        alone["answered"]
        == values(joint_of([], [], [seen[1], event("In the harbour.", "answered", 3000)]), "the boat", frozenset())[
            "answered"
        ]
    )
    joint = joint_of([], close[2:], close[:2])
    rows = np.arange(3)
    row = next(row for row in rows.tolist() if joint.entries[row].id == "answered")
    told = evidence(Cue.read("the boat", NOW), row, joint, TokenStates(WordStates()), pool=rows)
    assert told.neighbour == "asked"


def test_who_speaks_is_read_from_events_that_name_somebody_who_speaks_again() -> None:
    events = [
        event("Sam: I sold the mare.", "a", 0),
        event("Sam said that it rained.", "b", 9000),
        event("Market: prices are rising.", "c", 18000),
        event("Ada met Sam.", "d", 27000),
    ]
    joint = joint_of([MemoryEntry("Bakery: a low, warm room", id="s", kind=Kind.FACT)], [], events)
    assert joint.speakers == {"sam"}
    assert joint.named(frozenset({"sam"})).tolist() == [0, 1, 1, 0, 1]


def test_a_name_that_all_facts_hold_tells_none_of_them_from_the_rest() -> None:
    facts = [
        MemoryEntry(f"Mira {what}", id=what, kind=Kind.FACT) for what in ("bakes", "sings", "trusts Tobias", "rows")
    ]
    joint = joint_of(facts, [], [])
    assert joint.named(frozenset({"mira"})).tolist() == [0, 0, 0, 0]
    assert joint.named(frozenset({"tobias"})).tolist() == [0, 0, 0.75, 0]
