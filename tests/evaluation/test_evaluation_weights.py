"""The fit of the weights of hybrid relevancy."""

from __future__ import annotations

from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memory_system import MemoryEntry
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidParameter
from memory_system.evaluation.data import DataSet, Form, Question
from memory_system.evaluation.weights import conditional_logit, fit
from memory_system.interfaces.cli.evaluate import fitted_weights
from memory_system.recall.hybrid.mix import FULL

NOW = datetime(2023, 5, 8, 14, 0, tzinfo=UTC)
TALKS = (
    (
        ("Ada: I sold the grey mare to the miller.", "What did Ada sell?"),
        ("Sam: My brother Piet sails to Lisbon in June.", "When does Sam's brother sail to Lisbon?"),
        ("Ada: The bridge to the north collapsed last night.", "Which crossing did Ada say was gone?"),
    ),
    (
        ("Eve: The baker burned forty loaves on Sunday.", "What did the baker burn?"),
        ("Tom: I found a silver coin under the oak.", "What did Tom find under the tree?"),
        ("Eve: Our roof leaks above the stairs.", "Where does Eve's house let in the rain?"),
    ),
)


def test_a_conditional_logit_finds_the_weights_by_which_was_chosen() -> None:
    random = np.random.default_rng(5)
    choices = []
    for _ in range(3000):
        signs = random.random((8, 2))
        chosen = np.argmax(signs @ [4.0, -2.0] + random.gumbel(size=8))
        choices.append((signs, np.array([chosen])))
    assert conditional_logit(choices) == pytest.approx([4.0, -2.0], abs=0.3)


def test_a_step_that_is_too_long_is_shortened() -> None:
    """What tells the right ones apart nearly always has a weight far from 0, which Newton's first steps overshoot."""
    random = np.random.default_rng(6)
    choices = []
    for _ in range(400):
        signs = random.random((200, 2)) * [1.0, 0.05]
        signs[7, 0] = 1.5
        choices.append((signs, np.array([7])))
    weights = conditional_logit(choices)
    assert np.isfinite(weights).all()
    assert weights[0] > 5


def test_each_data_set_is_scored_by_weights_of_the_others(embedder: CachedEmbedder) -> None:
    sets = [
        DataSet(
            f"talk {number}",
            Form.PLAIN,
            tuple(
                MemoryEntry(said, id=f"t{row}", timestamp=NOW + timedelta(minutes=row), rating=5)
                for row, (said, _) in enumerate(talk)
            ),
            tuple(Question(cue, NOW + timedelta(hours=1), frozenset({f"t{row}"})) for row, (_, cue) in enumerate(talk)),
        )
        for number, talk in enumerate(TALKS)
    ]
    found = fit(sets, embedder, lambda _line: None)
    assert found.recall == {"talk 0": 1.0, "talk 1": 1.0}
    assert found.overall == 1.0
    assert sum(astuple(found.full)) == pytest.approx(sum(astuple(FULL)))
    assert found.first.late == 0


def test_one_data_set_is_not_enough(embedder: CachedEmbedder, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "a", "document": "A storm."}\n{"cue": "What blew?", "right": ["a"]}\n')
    with pytest.raises(InvalidParameter, match="two"):
        fitted_weights([path], embedder, lambda _line: None)
