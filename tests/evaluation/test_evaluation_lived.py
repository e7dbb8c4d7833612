"""Lived: what an agent finds that was told the data as it happened; and what each threshold answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memory_system import Kind, MemoryEntry
from memory_system.core.presets import DEFAULT
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidFile
from memory_system.evaluation.data import DataSet, Form, Question
from memory_system.evaluation.lived import Life, Way, lived, table
from memory_system.evaluation.threshold import curve, read_pairs

NOW = datetime(2023, 5, 8, 14, 0, tzinfo=UTC)
SAID = (
    "Ada: I sold the grey mare to the miller for forty crowns.",
    "Sam: Forty crowns is a fair price for her.",
    "Ada: My brother Piet sails to Lisbon in June with the spice traders.",
    "Sam: The bridge to the north collapsed in the flood last night.",
)
PAIRS = Path(__file__).parents[1] / "data" / "paraphrases.json"


@pytest.mark.parametrize("way", Way)
def test_an_agent_finds_what_it_was_told_and_kept(way: Way, embedder: CachedEmbedder) -> None:
    entries = tuple(
        MemoryEntry(
            text,
            {"conversation": "one", "turn": number},
            f"t{number}",
            kind=Kind.CONVERSATION,
            timestamp=NOW + timedelta(seconds=30 * number),
        )
        for number, text in enumerate(SAID)
    )
    asked = (("Who bought the grey mare?", "t0"), ("When does Piet sail to Lisbon?", "t2"))
    questions = tuple(Question(cue, NOW + timedelta(hours=1), frozenset({right})) for cue, right in asked)
    found = lived(DataSet("talk", Form.LOCOMO, entries, questions), Life(way, 20, {}), embedder, lambda _line: None)
    assert found.memories == 4
    assert np.array_equal(found.values, np.ones((2, 4)))


def test_what_is_told_again_is_found_by_either_telling(embedder: CachedEmbedder) -> None:
    entries = tuple(
        MemoryEntry(SAID[row], {}, f"t{row}", timestamp=NOW + timedelta(hours=number))
        for number, row in enumerate((0, 2, 0, 3))
    )
    asked = Question("Who bought the grey mare?", NOW + timedelta(days=1), frozenset({"t0"}))
    data = DataSet("stream", Form.PLAIN, entries, (asked,))
    found = lived(data, Life(Way.EVENTS, 20, {}, facts=0), embedder, lambda _line: None)
    assert found.memories == 3
    assert np.array_equal(found.values, np.ones((1, 4)))
    ways = [(line.told, line.stm) for line in table([data], embedder, lambda _line: None)]
    assert (f"{Way.EVENTS}, by similarity", "20") in ways, "its twins take seats there too"


def test_a_higher_threshold_answers_less_and_leaves_more_unanswered(embedder: CachedEmbedder) -> None:
    points = curve(read_pairs(PAIRS).part(0, 1), embedder).points
    answered, nothing = ([getattr(point, name) for point in points] for name in ("answered", "nothing"))
    assert answered == sorted(answered, reverse=True)
    assert nothing == sorted(nothing)
    assert answered[0] > 0.9
    assert nothing[-1] == 1
    default = next(one for one in points if one.threshold == DEFAULT.threshold)
    assert default.answered >= 0.9
    assert default.answered >= default.rightly >= 0.85
    assert default.nothing >= 0.9


def test_a_file_that_holds_no_pairs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.json"
    for body in ({}, {"paraphrases": [{"memory": "x"}], "unrelated": ["y"]}, {"paraphrases": [], "unrelated": ["y"]}):
        path.write_text(json.dumps(body))
        with pytest.raises(InvalidFile, match="paraphrases"):
            read_pairs(path)
