"""What two people have changed: the list with the changes of both, and where two texts differ."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.data import merged


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "both"),
    [
        (["a"], ["a", "mine"], ["a", "theirs"], ["a", "theirs", "mine"]),
        ([], ["mine"], ["theirs"], ["theirs", "mine"]),
        (["a"], ["a", "same"], ["a", "same"], ["a", "same"]),
        (["a"], ["a", "same", "mine"], ["a", "same"], ["a", "same", "mine"]),
        (["a", "b", "c"], ["b", "c"], ["a", "b", "C"], ["b", "C"]),
        (["a", "b"], ["a", "B"], ["a", "b", "theirs"], ["a", "B", "theirs"]),
        (["a", "b"], ["a", "B"], ["a", "new", "b"], ["a", "new", "B"]),
        ([{"name": "Ines", "trust": 0.5}], [], [{"name": "Ines", "trust": 0.5}, {"name": "Juno"}], [{"name": "Juno"}]),
        (["a"], ["mine"], ["theirs"], None),
        (["a"], [], ["theirs"], None),
        (["a", "b", "c"], [], ["a", "new", "b", "c"], None),
    ],
)
def test_a_list_that_both_have_changed_has_the_changes_of_both(
    base: list[Any], mine: list[Any], theirs: list[Any], both: list[Any] | None
) -> None:
    assert merged.lists(base, mine, theirs) == both


def test_long_texts_are_cut_where_they_begin_to_differ() -> None:
    same = "The baker opens her shop at six. " * 40
    one, other = merged.apart(same + "Ines comes first.", same + "Juno comes first.", 100)
    assert (one[0], other[0]) == ("…", "…")
    assert (one[-17:], other[-17:]) == ("Ines comes first.", "Juno comes first.")
    assert max(len(one), len(other)) <= 100


def test_texts_that_fit_or_differ_at_once_are_cut_at_their_end_only() -> None:
    assert merged.apart("one", "other", 100) == ("one", "other")
    assert merged.apart("a" * 200, "b" * 200, 10) == ("a" * 9 + "…", "b" * 9 + "…")
    assert merged.apart("word " * 40, "word " * 41, 20)[1].startswith("…")
