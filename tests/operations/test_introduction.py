"""A personality from a paragraph, by rules: nothing is invented, and no sentence is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_system.core import personality
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidParameter
from memory_system.llm.offline import OfflineModel
from memory_system.operations import introduced, read_introduction
from tests.fake_server import FakeServer, says

ROSA = (
    "Rosa Quill, 34, baker in Harrow Quay. She is stubborn, warm-hearted and quick to laugh. She wants to buy back the"
    " mill before winter. Her brother Tomas Quill is a fisherman whom she does not trust. Edda Marsh is her oldest"
    " friend. She gets up at 4 every morning. Nobody knows that she paid his debts."
)


def test_a_paragraph_becomes_a_personality_that_can_be_kept() -> None:
    found = introduced(ROSA)
    assert found["identity"] == {"name": "Rosa Quill", "age": 34, "profession": "baker", "home": "Harrow Quay"}
    assert found["traits"] == ["stubborn", "warm-hearted", "quick to laugh"]
    assert found["long_term_goals"] == ["buy back the mill before winter"]
    assert found["relationships"] == [
        {
            "name": "Tomas Quill", "relation": "brother", "trust": 0.2,
            "notes": "Her brother Tomas Quill is a fisherman whom she does not trust.",
        },
        {"name": "Edda Marsh", "relation": "oldest friend", "notes": "Edda Marsh is her oldest friend."},
    ]  # fmt: skip
    assert found["routine"] == [{"time": "04:00", "activity": "gets up"}]
    assert found["facts"] == ["Nobody knows that she paid his debts."]
    personality.parse(json.dumps(found))


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        ("Rosa", {"name": "Rosa"}),
        ("Rosa, 34", {"name": "Rosa", "age": 34}),
        ("Rosa (34), a lock-keeper", {"name": "Rosa", "age": 34, "profession": "lock-keeper"}),
        ("Ines de la Cruz, a spy from Ely", {"name": "Ines de la Cruz", "profession": "spy", "home": "Ely"}),
        (
            "Rosa is a baker who hates mornings.",
            {"name": "Rosa", "profession": "baker", "description": "Rosa is a baker who hates mornings."},
        ),
        ("My name is Old Tom.", {"name": "Old Tom"}),
        ("Łukasz Żak, 34", {"name": "Łukasz Żak", "age": 34}),
        ("Ирина is a baker.", {"name": "Ирина", "profession": "baker"}),
        ("ليلى حداد، 34", {"name": "ليلى حداد", "age": 34}),
        ("田中花子、34", {"name": "田中花子", "age": 34}),
        ("ნინო", {"name": "ნინო"}),
        ("ليلى خبازة في القاهرة", {"name": ""}),
        ('Rosa "the Red" Quill is a baker', {"name": 'Rosa "the Red" Quill', "profession": "baker"}),
        ("“Red” Rosa 🌹, 34", {"name": "“Red” Rosa 🌹", "age": 34}),
        ("🌹", {"name": ""}),
        ('Dr. Ana "Nan" Roe, a surgeon', {"name": 'Dr. Ana "Nan" Roe', "profession": "surgeon"}),
        ("Mr. Bean lives in London.", {"name": "Mr. Bean", "home": "London"}),
        ("She is a baker.", {"name": "", "profession": "baker"}),
        ("Anna Smith-Öst/Berg, 34", {"name": ""}),
        ("a baker without a name", {"name": ""}),
        ("", {"name": ""}),
    ],
)  # fmt: skip
def test_the_first_sentence_says_who_it_is(text: str, identity: dict[str, Any]) -> None:
    assert introduced(text)["identity"] == identity


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from([*ROSA.split(), "\n", "99", "at 25:00", "é"]), max_size=60).map(" ".join)
)
def test_whatever_is_written_each_word_stands_somewhere(text: str) -> None:
    document = introduced(text)
    assert set(document) <= {"identity", "traits", "long_term_goals", "relationships", "routine", "facts"}
    told = json.dumps(document, ensure_ascii=False)
    for word in text.split():
        if len(word) > 6 and word.isalpha():
            assert word in told, word


def test_what_is_said_of_others_is_kept_as_a_fact() -> None:
    told = ["Nobody is sure.", "Old Tom wants to sell.", "Rosa is kind.", "Rosa hopes to marry."]
    assert introduced(f"Rosa, a baker. {' '.join(told)}") == {
        "identity": {"name": "Rosa", "profession": "baker"},
        "facts": told[:2],
        "traits": ["kind"],
        "long_term_goals": ["marry"],
    }


def test_a_book_is_no_paragraph() -> None:
    with pytest.raises(InvalidParameter, match="at most 8,000"):
        introduced("x" * 8_001)


ANSWER = {
    "identity": {"name": "Rosa Quill", "age": 34, "profession": "baker", "home": "", "description": ""},
    "traits": ["stubborn"],
    "long_term_goals": [],
    "relationships": [{"name": "Tomas Quill", "relation": "brother", "trust": None, "notes": ""}],
    "routine": [{"time": "04:00", "activity": "gets up"}],
    "facts": [],
}


def test_a_language_model_reads_the_paragraph_where_one_is_set_and_rules_do_where_it_does_not_help(
    server: FakeServer, embedder: CachedEmbedder
) -> None:
    plain = read_introduction(ROSA, OfflineModel(embedder))
    assert (plain.document, plain.by, plain.problem) == (introduced(ROSA), "plain rules", "")
    server.on("introduce", says(ANSWER))
    read = read_introduction(ROSA, server.model())
    assert read.document == {
        "identity": {"name": "Rosa Quill", "age": 34, "profession": "baker"},
        "traits": ["stubborn"],
        "relationships": [{"name": "Tomas Quill", "relation": "brother"}],
        "routine": [{"time": "04:00", "activity": "gets up"}],
    }
    assert "fake" in read.by
    assert ROSA in str(server.requests[-1]["messages"][1]["content"]), "it is data, and no instruction"
    twice = {**ANSWER, "relationships": [{"name": "Tomas"}, {"name": "Tomas"}], "routine": [{"time": "26:00"}]}
    server.on("introduce", says(twice))
    refused = read_introduction(ROSA, server.model())
    assert (refused.document, refused.by) == (introduced(ROSA), "plain rules")
    assert refused.problem
