"""A memory as the character would say it to somebody whom it names."""

import pytest

from memory_system.llm.offline.voice import spoken


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ("Took Mira to Edda Marsh's inn.", "I took Mira to your inn"),
        ("Asked Marsh for bread.", "I asked you for bread"),
        ("When Edda came in I hid the key.", "When you came in I hid the key"),
        ("Took Mira and Ines to see Hester Marsh.", ""),
        ("Told Hester Marsh's girl to go.", ""),
        ("Saw Mrs. Marsh at the well.", ""),
    ],
)
def test_another_of_the_family_is_not_you(memory: str, said: str) -> None:
    assert spoken(memory, "Juno Pell", "Edda Marsh") == said


def test_a_title_before_you_is_not_spoken() -> None:
    assert spoken("Paid Father Oswin for the candles.", "Juno Pell", "Oswin") == ""
