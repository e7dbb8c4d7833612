"""The benchmarks of the second round, of instances, of suspicions and of abstention, in small."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np

from benchmarks import abstention, expansion, requery, suspicions
from benchmarks.instances import scripted
from memory_system import Kind, MemoryEntry, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.evaluation.data import DataSet, Form, Question, remembered
from tests.conftest import NOW

TURNS = (
    "Ada: I sold the grey mare to the miller for forty crowns.",
    "Ada: I sold the grey mare to the miller, for forty crowns!",
    "Sam: The bridge to the north collapsed in the flood.",
)


def told() -> DataSet:
    entries = tuple(
        remembered(
            MemoryEntry(
                text,
                {"conversation": "one", "turn": number},
                f"t{number}",
                kind=Kind.CONVERSATION,
                timestamp=NOW - timedelta(minutes=9 - number),
            )
        )
        for number, text in enumerate(TURNS)
    )
    asked = tuple(Question(cue, NOW, frozenset({"t0"})) for cue in ("Who bought the grey mare?", "What was sold?"))
    return DataSet("one", Form.LOCOMO, entries, asked)


def test_a_second_round_takes_no_seat_from_the_first(embedder: CachedEmbedder) -> None:
    values = requery.measured(told(), embedder, 2)
    assert values.shape == (1, len(requery.ASKED), len(requery.ROUNDS), 2)
    assert np.all(np.diff(values, axis=2) >= 0), "neither recall nor the seats that are taken become fewer"
    assert values[0, 0, 0, 0] == 1


def test_the_script_names_instances_of_what_asks_for_several_and_their_recall_is_told(embedder: CachedEmbedder) -> None:
    assert scripted("What books has Ada read?", 2) == ("Ada: finished a book", "Ada: a novel")
    assert scripted("Which book did Ada read on Sunday?", 2) == ()
    rows = list(
        expansion.measured(told(), embedder, lambda cue, most: ("the grey mare",)[: most * ("sold" in cue)], 1, "")
    )
    assert [count for _, count, _ in rows] == [0, 1]
    assert {found for _, _, values in rows for found in values} == {1.0}


def test_what_is_said_twice_is_suspected(world: World) -> None:
    (found,) = suspicions.suspected(told(), world, 0)
    assert {entry.id for entry in found.entries} == {"t0", "t1"}


def test_what_was_never_told_is_answered_by_nothing_above_a_threshold(embedder: CachedEmbedder) -> None:
    one = replace(told(), unanswerable=(Question("What did Sam sell to the miller?", NOW, frozenset()),))
    others = tuple(replace(entry, document=entry.document.replace("Ada:", "Eve:")) for entry in one.entries)
    two = DataSet("two", Form.LOCOMO, others, (Question("Where does Eve sail, or Sam?", NOW, frozenset({"t2"})),))
    foreign = abstention.renamed(two.questions[0], abstention.speakers(two), abstention.speakers(one))
    assert (foreign.cue, foreign.right) == ("Where does Ada sail, or Sam?", frozenset())
    found = abstention.curve([one, two], embedder, ["What is the capital of Peru?"])
    assert [len(shares) for shares in found.values()] == [len(abstention.THRESHOLDS)] * 4
    answered, *unanswered = found.values()
    assert np.all(np.diff(answered) <= 0)
    assert all(np.all(np.diff(shares) >= 0) for shares in unanswered)
    assert answered[0] > 0.5
    assert found["unrelated by nothing"][-1] == 1
