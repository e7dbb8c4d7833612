"""Which character of a cast a name means."""

from __future__ import annotations

from collections.abc import Mapping

from .sentence import name_words


def meant(name: str, called: Mapping[str, str]) -> str:
    """The character with this name, in full or by words of it that no other has; ``None`` if there is none.

    Args:
        name: as written in a memory or a personality.
        called: what people call the characters, by their names.
    """
    folded_name = name.casefold()
    for character, display in called.items():
        if folded_name in (character.casefold(), display.casefold()):
            return character
    words = name_words(name)
    found = [character for character, display in called.items() if words and words <= name_words(display)]
    return found[0] if len(found) == 1 else ""
