"""Names of agents and worlds: what can safely become a folder, a file and a link."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from ..errors import InvalidAgentName, kind_of

MAX_NAME = 64
_RESERVED = frozenset(
    {"schema", "samples", "static", "stm", "ltm", "con", "prn", "aux", "nul"}
    | {f"{device}{number}" for device in ("com", "lpt") for number in range(10)}
)
_JOINERS = " _-'."


def checked_name(name: object, what: str = "agent name") -> str:
    """The name in its composed, plain form (NFKC), if it can be used.

    Accepted are letters of one script, digits, spaces and ``_ - ' .``, 1 to 64 characters, beginning and ending
    with a letter or digit. Mixed scripts are refused, since "mira" with a Cyrillic "а" is another agent that
    looks the same.

    Raises:
        InvalidAgentName: the message says which rule it breaks.
    """
    if not isinstance(name, str):
        raise InvalidAgentName(f"The {what} must be text, not {kind_of(name)}.")
    return _checked(name, what)


@lru_cache(maxsize=1024)  # the same few names come with every request
def _checked(name: str, what: str) -> str:
    composed = unicodedata.normalize("NFKC", name)
    shown = repr(composed if len(composed) <= 40 else composed[:40] + "…")
    if not composed:
        raise InvalidAgentName(f"The {what} is empty.")
    if len(composed) > MAX_NAME:
        raise InvalidAgentName(f"The {what} {shown} has {len(composed)} characters; at most {MAX_NAME} are allowed.")
    if len(composed.encode("utf-8", "replace")) > 200:
        raise InvalidAgentName(f"The {what} {shown} is too long for a file name; shorten it.")
    for character in composed:
        if not (unicodedata.category(character)[0] in "LMN" or character in _JOINERS):
            raise InvalidAgentName(
                f"The {what} {shown} contains {_label(character)}; use letters, digits, spaces and _ - ' ."
            )
    if any(unicodedata.category(composed[end])[0] not in "LMN" for end in (0, -1)):
        raise InvalidAgentName(f"The {what} {shown} must begin and end with a letter or a digit.")
    if ".." in composed:
        raise InvalidAgentName(f"The {what} {shown} contains '..', which leads out of its folder.")
    if composed.casefold().partition(".")[0] in _RESERVED or composed.casefold() == "world.json":
        raise InvalidAgentName(f"The {what} {shown} is reserved; choose another.")
    scripts = {_script(character) for character in composed if character.isalpha()}
    if len(scripts) > 1 and not scripts <= _JAPANESE:
        raise InvalidAgentName(
            f"The {what} {shown} mixes scripts ({', '.join(sorted(s.title() for s in scripts))}); use one, "
            "so that no two names look the same."
        )
    return composed


def _label(character: str) -> str:
    """A character for a message: itself if it is visible, else its name."""
    if character.isprintable() and unicodedata.category(character)[0] in "PS":
        return f"“{character}”"
    if unicodedata.category(character) == "Cs":  # Python reads byte 0xff of a command line as U+DCFF
        return "a byte that is not UTF-8" if "\udc80" <= character <= "\udcff" else "half of a surrogate pair"
    return unicodedata.name(character, "a control character").lower()


_JAPANESE = frozenset({"CJK", "HIRAGANA", "KATAKANA"})


def _script(character: str) -> str:
    """The script of a letter, which its Unicode name begins with: LATIN, CYRILLIC, CJK, ..."""
    return unicodedata.name(character, "UNKNOWN").split()[0].removesuffix("-HIRAGANA").split("-")[0]
