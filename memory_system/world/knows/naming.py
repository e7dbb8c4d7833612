"""Whom of a cast a name means."""

from __future__ import annotations

from collections.abc import Mapping

from .sentence import name_words


def meant(name: str, called: Mapping[str, str]) -> str:
    """The character of this name, in full or by words of it that no other one has; ``None`` if there is none.

    Args:
        name: as a memory or a personality has it.
        called: by the names of the characters, what people call them.
    """
    wanted = name.casefold()
    for one, display in called.items():
        if wanted in (one.casefold(), display.casefold()):
            return one
    words = name_words(name)
    found = [one for one, display in called.items() if words and words <= name_words(display)]
    return found[0] if len(found) == 1 else ""
