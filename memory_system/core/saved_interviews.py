"""Sittings: interviews of a character, kept in the journal as JSON text for later comparison."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidParameter
from .change_set import is_text
from .records import Records
from .scoring import whole
from .times import parse_time

MAX_SITTINGS = 30
"""Interviews of one agent."""
MAX_TITLE = 200
_MAX_BYTES = 4_000_000


@dataclass(frozen=True)
class Answered:
    """One question with its answer.

    Args:
        category: such as ``memory``.
        question: what was asked.
        answer: what the character said; empty if there was a problem.
        recalled: ids of the memories that the question brought to mind.
        problem: why there is no answer, in a sentence.
    """

    category: str
    question: str
    answer: str
    recalled: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Sitting:
    """One interview of one character.

    Args:
        id: of the sitting.
        title: what it is called.
        at: the world's time, ISO 8601.
        revision: the revision of the agent's memory at that time.
        model: what answered.
        answers: in the order of the questions.

    Raises:
        InvalidParameter: a field is not as described.
    """

    id: str
    title: str
    at: str
    revision: int
    model: str
    answers: tuple[Answered, ...]

    def __post_init__(self) -> None:
        texts = (self.id, self.title, self.at, self.model)
        if not all(is_text(text) for text in texts) or not self.id or len(self.title) > MAX_TITLE:
            raise InvalidParameter(
                f"An interview has an id, a title of at most {MAX_TITLE} characters, a time and a model."
            )
        try:
            parse_time(self.at)
        except ValueError as error:
            raise InvalidParameter(f"The interview's time {error}.") from error
        object.__setattr__(self, "revision", whole("The interview's revision", self.revision, 0, 2**62))
        answers: object = self.answers
        if isinstance(answers, str) or not isinstance(answers, Sequence):
            raise InvalidParameter("An interview has a list of answers.")
        object.__setattr__(self, "answers", tuple(_answered(answer) for answer in answers))


def _plain(sitting: Sitting) -> Any:
    """The sitting with its answers as mappings, as they are written."""
    plain = dataclasses.replace(sitting)
    object.__setattr__(plain, "answers", [dataclasses.asdict(answer) for answer in sitting.answers])
    return plain


def _answered(value: object) -> Answered:
    if isinstance(value, Answered):
        return value
    names = {field.name for field in dataclasses.fields(Answered)}
    if (
        not isinstance(value, Mapping)
        or not set(value) <= names
        or not {"category", "question", "answer"} <= set(value)
    ):
        raise InvalidParameter("An answer has a category, a question, an answer and what was recalled.")
    recalled = value.get("recalled", ())
    texts = [value.get(name, "") for name in names - {"recalled"}]
    if isinstance(recalled, str) or not isinstance(recalled, Sequence) or not all(map(is_text, (*texts, *recalled))):
        raise InvalidParameter("An answer's fields are texts, and 'recalled' a list of ids.")
    return Answered(**{**value, "recalled": tuple(recalled)})


_RECORDS = Records(Sitting, "kept interviews", MAX_SITTINGS, _MAX_BYTES, lambda sitting: sitting.id)


def parse_sittings(text: str | None) -> tuple[Sitting, ...]:
    """The records of a text that ``dump_sittings`` wrote; none for ``None``.

    Raises:
        InvalidDocument: everything that is wrong with it, by position in the list.
    """
    return _RECORDS.parse(text)


def dump_sittings(sittings: Sequence[Sitting]) -> str:
    """One line of JSON.

    Raises:
        InvalidParameter: there are more than 30, or they are too long.
    """
    return _RECORDS.dump([_plain(sitting) for sitting in sittings])
