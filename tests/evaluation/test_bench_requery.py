"""The benchmarks of the second round, of instances and of suspicions, in small."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from benchmarks import expansion, requery, suspicions
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
