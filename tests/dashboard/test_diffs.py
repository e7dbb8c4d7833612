"""Word diffs: what went and came, in signs as well as colours, with every sign of the texts escaped."""

from __future__ import annotations

import re

import pytest

from dashboard import words
from dashboard.data import diffs
from memory_system import AgentSettings, Kind, MemoryEntry, Tier
from memory_system.core.change_set import TextChange
from tests.conftest import NOW


def told(before: str, after: str) -> str:
    signs = {"same": "", "gone": "−", "new": "+"}
    return "".join(f"[{signs[what]}{text}]" if what != "same" else text for what, text in diffs.words(before, after))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("The brass key", "The brass key", "The brass key"),
        ("The brass key", "The iron key", "The [−brass][+iron] key"),
        ("The old brass key", "The new iron key", "The [−old brass][+new iron] key"),
        ("The mill is old", "Nobody came", "[−The mill is old][+Nobody came]"),
        ("The key", "The key hangs here", "The key[+ hangs here]"),
        ("", "New", "[+New]"),
        ("Old", "", "[−Old]"),
        ("Über 漢字 😀", "Über 漢字 😁", "Über 漢字 [−😀][+😁]"),
        ("a\nb\u202e c", "a b c", "a b c"),
    ],
)
def test_words_that_went_and_came_are_told_apart(before: str, after: str, shown: str) -> None:
    assert told(before, after) == shown


@pytest.mark.parametrize("size", [10, 40_000])
def test_a_difference_gives_both_texts_back(size: int) -> None:
    before, after = "word " * size + "one", "word " * size + "two"
    parts = diffs.words(before, after)
    assert "".join(text for what, text in parts if what != "new") == before
    assert "".join(text for what, text in parts if what != "gone") == after


def test_every_sign_is_escaped_and_minus_and_plus_stand_beside_the_words() -> None:
    shown = diffs.markup("<b>old</b> & old <img src=http://a.invalid/x>", "<script>alert(1)</script> 'new' 'y'")
    inside = shown.removeprefix(diffs.STYLE)
    assert set(re.findall(r"</?([a-z]+)", inside)) == {"div", "ins", "del"}
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in inside
    assert 'data-sign="−"' in inside
    assert 'data-sign="+"' in inside


def test_fields_are_told_before_and_after_with_the_zone() -> None:
    before = MemoryEntry("x", id="a", timestamp=NOW, rating=4, tags=("one",), metadata={"mood": "calm"})
    after = before.evolve(rating=9, tags=("one", "two"), pinned=True, tier=Tier.LTM, kind=Kind.FACT, timestamp=None)
    found = {one.field: (one.before, one.after) for one in diffs.fields(before, after)}
    assert found == {
        "kept in": ("short-term", "long-term"),
        "kind": ("observation", "fact"),
        "happened": ("Fri 27 Mar 2026, 18:00 UTC", "timeless"),
        "importance": ("0.40 (rated 4 of 10)", "0.90 (rated 9 of 10)"),
        "tags": ("one", "one, two"),
        "pinned": ("", "yes"),
    }
    assert diffs.fields(before, before) == []
    assert diffs.fields(None, None) == []


def test_settings_are_told_name_by_name() -> None:
    after = AgentSettings(stm_size=7).to_json()
    assert [(one.field, one.before, one.after) for one in diffs.of_text(TextChange("settings", None, after))] == [
        (words.SHORT_TERM_SIZE, "20", "7")
    ]
    assert diffs.of_text(TextChange("cues", None, "[]")) == []


def test_how_far_a_talk_is_is_told_in_words() -> None:
    change = TextChange("conversation:a", '{"first": 0}', '{"first": 10, "remembered": 10}')
    assert [(one.field, one.before, one.after) for one in diffs.of_text(change)] == [
        ("number of the first message in the prompt", "0", "10"),
        ("messages that a synopsis stands for", "", "10"),
    ]


@pytest.mark.parametrize("text", [None, "", "no json", "[" * 5000, '{"a": 1}'])
def test_any_text_is_told_by_its_lines(text: str | None) -> None:
    assert isinstance(diffs.lines(TextChange("cues", text, '{"a": 2}')), str)
    assert diffs.lines(TextChange("cues", text, text)) == ""
