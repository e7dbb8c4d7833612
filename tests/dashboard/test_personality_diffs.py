"""A changed personality is told part by part, as its form names the parts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dashboard.data.personality_diffs import of_personality
from memory_system.core import TextChange

BEFORE: dict[str, Any] = {
    "identity": {"name": "Edda", "age": 58, "home": "the back room"},
    "traits": ["loud", "a haggler"],
    "relationships": [{"name": "Mira", "relation": "baker", "trust": 0.8}, {"name": "Juno", "trust": 0.9}],
}


def told(after: object, before: object = BEFORE) -> list[tuple[str, str, str]]:
    texts = [None if end is None else json.dumps(end) for end in (before, after)]
    return [(one.field, one.before, one.after) for one in of_personality(TextChange("personality", *texts))]


@pytest.mark.parametrize(
    ("after", "fields"),
    [
        ({"identity": {"name": "Edda", "age": 59}}, [("Age", "58", "59"), ("Home", "the back room", "")]),
        (
            {"traits": ["loud", "a born haggler", "fair"]},
            [("Traits", "a haggler", "a born haggler"), ("Traits", "", "fair")],
        ),
        ({"traits": ["a haggler", "loud"]}, [("Traits", "in another order", "in this order")]),
        ({"long_term_goals": ["rest"]}, [("Long-term goals", "", "rest")]),
        (
            {"relationships": [{"name": "Mira", "relation": "friend", "trust": 0.8}, {"name": "Ines", "trust": 0.5}]},
            [("Relationships, Mira, relation", "baker", "friend"), ("Relationships", "Juno, 0.9", "Ines, 0.5")],
        ),
        (
            {"relationships": BEFORE["relationships"][::-1]},
            [("Relationships", "in another order", "in this order")],
        ),
        ({"routine": "none"}, [("Daily routine (HH:MM)", "", "none")]),
        ({}, []),
    ],
)
def test_a_changed_personality_is_told_part_by_part(after: dict[str, Any], fields: list[tuple[str, str, str]]) -> None:
    assert told(BEFORE | after) == fields


def test_a_new_personality_is_told_by_all_that_it_says() -> None:
    assert told({"identity": {"name": "Edda"}, "traits": ["loud"]}, None) == [
        ("Name", "", "Edda"),
        ("Traits", "", "loud"),
    ]


@pytest.mark.parametrize("after", ["[]", "no json", "[" * 5000, "3"])
def test_what_is_no_personality_is_not_told_by_parts(after: str) -> None:
    assert of_personality(TextChange("personality", "{}", after)) == []
    assert of_personality(TextChange("cues", "{}", '{"a": 1}')) == []
