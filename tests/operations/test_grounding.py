"""Grounding: a sentence that names, counts or dates what its sources do not is found out; a faithful one passes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_system import MemoryEntry
from memory_system.operations.grounding import checked, names

WHEN = datetime(2026, 3, 27, 18, 5, tzinfo=UTC)
GIVEN = [
    MemoryEntry("Lent Tobias Finch the brass key of the tide mill; he promised it back by Sunday.", timestamp=WHEN),
    MemoryEntry("Baked forty rolls, and sold 1,200 more to Ines at the Three Herons for £3.50.", timestamp=WHEN),
    MemoryEntry("Tobias' sister lives in Saltmarsh."),
]


def _problem(text: str, *numbers: int) -> str:
    among = names(entry.document for entry in GIVEN)
    return checked(text, numbers, GIVEN, known=["Mira Holloway"], among=among)[1]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("On Friday, 27 March 2026, Mira lent the key to Tobias.", 1),
        ("On 2026-03-27 at 18:05 Tobias Finch got Mira's key.", 1),
        ("At 6 pm on the 27th he promised to have it back by Sunday.", 1),
        ("Late in March she lent him the Brass Key.", 1),
        ("Yesterday’s loan worried Mira: “Lent Tobias Finch the brass…", 1),
        ("She baked 40 rolls and sold 1200 to Ines.", 2),
        ("She baked forty rolls; the two of them sold 1,200 at three and a half pounds each.", 2),
        ("Bread was sold at The Three Herons, and Ines' money came to £3.50 each.", 2),
        ("Later that day the rolls were gone.", 2),
        ("The Finches of Saltmarsh are in the house of Tobias's sister; Finch said so.", 1),
    ],
)
def test_a_faithful_sentence_passes(text: str, number: int) -> None:
    assert _problem(text, number, 3) == ""


@pytest.mark.parametrize(
    ("text", "number", "strange"),
    [
        ("She lent the key to Aldous.", 1, "“Aldous”"),
        ("Mira gave the key to Ines.", 1, "“Ines”"),
        ("Ines’s was the key.", 1, "“Ines’s”"),
        ("Ines took the key.", 1, "“Ines”"),
        ("Monday was the day the key was lent.", 1, "“Monday”"),
        ("On 27 April the key was lent.", 1, "“April”"),
        ("On 28 March the key was lent.", 1, "“28 March”"),
        ("It was at 9:30 that the key was lent.", 1, "“9:30”"),
        ("In 2025 she lent the key.", 1, "“2025”"),
        ("She baked 41 rolls.", 2, "number 41"),
        ("She baked fifty-five rolls.", 2, "number 55"),
        ("She got 27 keys.", 1, "number 27"),
        ("She sold 12,000 to the inn.", 2, "number 12000"),
    ],
)
def test_what_no_source_says_is_found_out(text: str, number: int, strange: str) -> None:
    assert strange in _problem(text, number)


def test_a_sentence_that_rests_on_nothing_or_on_what_was_not_given_is_refused() -> None:
    assert _problem("It is late.") == "It rests on no memory."
    assert _problem("It is late.", 1, 9) == "It rests on number 9, which was not given."
    assert "number 0" in _problem("It is late.", 0)
    assert "number -1" in _problem("It is late.", -1)


def test_sources_are_answered_once_each() -> None:
    sources, problem = checked("The key.", [2, 1, 2], GIVEN, known=(), among=())
    assert (sources, problem) == ([GIVEN[1], GIVEN[0]], "")


def test_nouns_of_a_language_that_writes_them_large_are_no_names() -> None:
    given = [MemoryEntry("Tobias hat den Schlüssel der Mühle verloren.", timestamp=WHEN)]
    assert checked("Am Freitag ging der Schlüssel im Hafen verloren.", [1], given, known=(), among=())[1] == ""
    assert "30" in checked("Am 30. ging der Schlüssel verloren.", [1], given, known=(), among=())[1]


@pytest.mark.parametrize("year", [284, 2145])
def test_a_story_may_be_set_in_any_year(year: int) -> None:
    given = [MemoryEntry("She lent the key.", timestamp=WHEN.replace(year=year))]
    assert checked(f"In {year} she lent the key.", [1], given, known=(), among=())[1] == ""
    assert f"number {year + 1}" in checked(f"In {year + 1} she lent the key.", [1], given, known=(), among=())[1]


def test_numbers_of_a_thousand_digits_do_no_harm() -> None:
    assert "It gives the number 99" in _problem("It was " + "9" * 10_000 + " rolls.", 2)
