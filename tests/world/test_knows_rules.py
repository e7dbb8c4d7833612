"""What one memory has of a fact: what a word of it implies, what stands against it, and where somebody was then."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_system.world.knows.cell import Verdict
from memory_system.world.knows.rules import Remembered, weigh
from memory_system.world.knows.sentence import claim

NOW = datetime(1987, 5, 4, 20, tzinfo=UTC)
CAST = frozenset({"odo", "vera", "karl"})
KNOWS, HALF, WRONG, UNAWARE = Verdict.KNOWS, Verdict.HALF, Verdict.WRONG, Verdict.UNAWARE


@pytest.mark.parametrize(
    ("fact", "text", "verdict"),
    [
        ("Odo took the violin from the chest.", "Odo stole the violin from the chest.", KNOWS),
        ("Odo took the violin from the chest.", "Karl snatched the violin from the chest.", WRONG),
        ("Odo stole the violin from the chest.", "Odo took the violin from the chest.", HALF),
        ("The surveyor comes on 9 May.", "A card says that the surveyor will be back on 9 May.", KNOWS),
        ("The surveyor comes on 9 May.", "Vera thinks the surveyor will be here on 8 May.", WRONG),
        ("The ferry left on Sunday at 3 pm.", "The ferry left at 3 pm on Sunday.", KNOWS),
        ("The ferry left on Sunday at 3 pm.", "The ferry left on Sunday at 5 pm.", WRONG),
        ("The surveyor comes on 9 May at 10:00.", "The surveyor comes on 9 May at 11:30.", WRONG),
        ("The old lift works.", "The old lift broke down again today.", WRONG),
        ("The old lift works.", "The old lift works again.", KNOWS),
        ("The old lift works.", "The new crane broke down again today.", UNAWARE),
        ("Odo was in the cellar at midnight.", "Odo was on the roof at midnight, Vera says.", WRONG),
        ("Odo was in the cellar at dusk.", "Odo was on the roof at noon.", UNAWARE),
        ("Odo was in the cellar at midnight.", "Karl was on the roof at midnight.", UNAWARE),
        (
            "The Ferry Company would buy the tide mill.",
            "Karl came to say the Ferry Company would buy the tide mill.",
            KNOWS,
        ),
        ("Odo took the violin from the chest.", "Karl came to say Odo had taken the violin from the chest.", KNOWS),
        ("Odo took the violin from the chest.", "Odo came to say Karl had taken the violin from the chest.", WRONG),
    ],
)
def test_a_memory_stands_to_a_fact_as_a_reader_would_say(fact: str, text: str, verdict: Verdict) -> None:
    memory = Remembered(text, NOW, frozenset({"hilde"}), CAST, NOW)
    assert weigh(claim(fact, NOW, CAST), memory).verdict is verdict


FAMILIES = frozenset({"odo", "finch", "vera", "karl", "low"})
TAKEN = "took the violin from the chest."


@pytest.mark.parametrize(
    ("who", "text", "verdict"),
    [
        ("Karl", f"Karl Low {TAKEN}", KNOWS),
        ("Low", f"Karl Low {TAKEN}", KNOWS),
        ("Karl Low", f"Karl {TAKEN}", KNOWS),
        ("Karl Low", f"Yesterday Karl {TAKEN}", KNOWS),
        ("Odo Finch", f"Vera Finch {TAKEN}", WRONG),
        ("Odo Finch", f"Vera Finch told me: Karl Low {TAKEN}", WRONG),
        ("Vera Finch", f"Odo Finch told me: Karl Low {TAKEN}", WRONG),
    ],
)
def test_a_part_of_a_name_is_the_same_person_and_another_of_the_family_is_not(
    who: str, text: str, verdict: Verdict
) -> None:
    memory = Remembered(text, NOW, frozenset({"odo", "finch"}), FAMILIES, NOW)
    found = weigh(claim(f"{who} {TAKEN}", NOW, FAMILIES), memory, lambda part: float(part.said != who))
    assert found.verdict is verdict


def test_what_it_was_done_with_is_not_left_out() -> None:
    memory = Remembered("I saw at the church: Karl Low burned the ring at the church.", NOW, frozenset(), FAMILIES, NOW)
    assert weigh(claim("Karl Low burned the map at the church.", NOW, FAMILIES), memory).verdict is not KNOWS
    assert weigh(claim("Karl Low burned the ring at the church.", NOW, FAMILIES), memory).verdict is KNOWS


def test_what_a_stranger_did_is_not_what_the_character_itself_did() -> None:
    memory = Remembered("I saw: Eve Stone sold the brass key.", NOW, frozenset({"odo", "finch"}), FAMILIES, NOW)
    found = weigh(claim("Odo Finch sold the brass key.", NOW, FAMILIES), memory)
    assert (found.verdict, found.why) == (WRONG, "There it is Stone, not Odo Finch.")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("I saw: Eve Stone bought the brass key.", UNAWARE),
        ("Vera Finch bought the brass key.", UNAWARE),
        ("Odo bought the brass key.", WRONG),
        ("Bought the brass key.", WRONG),
        ("Eve Stone bought the brass key from Odo Finch.", KNOWS),
    ],
)
def test_what_is_against_a_word_does_not_stand_for_it_but_from_the_other_side(text: str, verdict: Verdict) -> None:
    memory = Remembered(text, NOW, frozenset({"odo", "finch"}), FAMILIES, NOW)
    fact = claim("Odo Finch sold the brass key.", NOW, FAMILIES)
    assert weigh(fact, memory, lambda part: float(part.said == "sold")).verdict is verdict


def test_whoever_did_it_instead_is_told_by_the_name_as_it_is_written() -> None:
    memory = Remembered("Aldous took the violin from the chest.", NOW, frozenset({"hilde"}), CAST | {"aldou"}, NOW)
    found = weigh(claim("Odo took the violin from the chest.", NOW, CAST | {"aldou"}), memory)
    assert found.why == "There it is Aldous, not Odo."
