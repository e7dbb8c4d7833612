"""Suspicions that a person judged neither a duplicate nor a contradiction, kept in the journal as JSON text.

They are kept by the texts, not by the ids: the judgment is on the wording. An edited memory may be suspected again;
one that comes back, or is added again in the same words, is not.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import InvalidParameter, kind_of, shown
from .languages import same_words
from .records import Records

MAX_DISMISSED = 5_000
"""Dismissed suspicions of one agent."""
_MAX_BYTES = 1_000_000
_MARK = re.compile(r"[0-9a-f]{32}")


def fingerprint(text: str) -> str:
    """A digest of 32 characters, the same for texts that differ only in capitals and spaces."""
    return hashlib.sha256(same_words(text).encode("utf-8")).hexdigest()[:32]


@dataclass(frozen=True)
class Dismissed:
    """One suspicion that a person dismissed.

    Args:
        texts: the fingerprints of the two texts, in order; just one where the same text is stored several times.

    Raises:
        InvalidParameter: they are not valid fingerprints.
    """

    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", _fingerprints(self.texts))


def _fingerprints(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidParameter(f"'texts' must be a list, not {kind_of(value)}.")
    for mark in value:
        if not isinstance(mark, str) or not _MARK.fullmatch(mark):
            raise InvalidParameter(f"'texts' names {shown(mark)}, which is not the fingerprint of a text.")
    if not 1 <= len(set(value)) <= 2:
        raise InvalidParameter(f"'texts' names {len(set(value))} texts; one or two are expected.")
    return tuple(sorted(set(value)))


_RECORDS = Records(Dismissed, "dismissed suspicions", MAX_DISMISSED, _MAX_BYTES, lambda record: " ".join(record.texts))


def of_texts(texts: Iterable[str]) -> Dismissed:
    """The record of a suspicion of these texts.

    Raises:
        InvalidParameter: there are more than two different texts, or none.
    """
    return Dismissed(tuple({fingerprint(text) for text in texts}))


def parse_dismissed(text: str | None) -> tuple[Dismissed, ...]:
    """The records of a text that ``dump_dismissed`` wrote; none for ``None``.

    Raises:
        InvalidDocument: everything that is wrong with it, by position in the list.
    """
    return _RECORDS.parse(text)


def dump_dismissed(dismissed: Sequence[Dismissed]) -> str:
    """One line of JSON.

    Raises:
        InvalidParameter: there are more than 5,000.
    """
    return _RECORDS.dump(dismissed)
