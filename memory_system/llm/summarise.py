"""The task of folding: a summary and what was said since become one new summary, which never grows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..errors import InvalidParameter
from .prompts import MOST, shipped
from .tasks import Summary, Task
from .tokens import packed

PLACE = "{transcript}"
"""The placeholder in a template for what is to be summarised."""
TEMPLATE = shipped("fold")
"""The default template; after MemGPT's recursive summary (arXiv 2310.08560, section 2.2)."""
FEWEST_WORDS, MOST_WORDS = 10, 1000
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
_WORDS = {name: number for number, name in enumerate(_NUMBERS.split(), start=1)}
_WORDS |= {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100}
_LIMIT = re.compile(rf"\b(\d{{1,4}}|{'|'.join(_WORDS)})\s+words?\b", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """Something that was said: by whom, what, and when if known. ``human``: the character's partner said it."""

    speaker: str
    text: str
    human: bool = False
    at: datetime | None = None


def check_template(template: str) -> str:
    """The template, if it is valid; an empty one means ``TEMPLATE``.

    Raises:
        InvalidParameter: it is too long, or lacks the placeholder.
    """
    if not template.strip():
        return TEMPLATE
    if len(template) > MOST:
        raise InvalidParameter(f"A template may have {MOST} characters, not {len(template)}. Shorten it.")
    if PLACE not in template:
        raise InvalidParameter(f"The template does not say what is to be summarised. Write {PLACE} where it belongs.")
    return template


def fold(who: str, summary: str, lines: Sequence[Line], words: int, template: str = "") -> Task[Summary]:
    """Fold what was said into the summary of everything said before.

    Args:
        who: the character whose memory contains the conversation.
        summary: what was said before, in words; may be empty.
        lines: what was said since, in order.
        words: the most words of the new summary, 10 to 1,000; fewer if the template says so. A model may not keep to
            it: cut its answer.
        template: the prompt, with ``{transcript}``; empty = ``TEMPLATE``, or the world's wording of it.

    Raises:
        InvalidParameter: the template is invalid, or the words are out of their range.
    """
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        raise InvalidParameter(f"A summary may have {FEWEST_WORDS} to {MOST_WORDS} words, not {words}.")
    most = min(words, limit(template) or words)
    return Task(
        "fold",
        Summary,
        check_template(template),
        {"character": who, "words": most, "summary": summary, "lines": [_line(line) for line in lines]},
        more="\nThe transcript is what 'summary' says of the conversation's beginning, and the 'lines' that "
        f"followed. Your text takes the place of both, has at most {most} words, and adds nothing.",
        place=PLACE.strip("{}"),
    )


def limit(template: str) -> int | None:
    """The most words that a template itself allows, such as "in 40 words" or "Ten words at most"; ``None`` if any."""
    found = [_WORDS.get(word.casefold()) or int(word) for word in _LIMIT.findall(template)]
    return min((number for number in found if number), default=None)


def parts(lines: Iterable[Line], most: int, size: Callable[[str], int]) -> Iterator[list[Line]]:
    """The lines in order, in as few parts as possible no larger than ``most``; a single line may be larger.

    Args:
        lines: what was said.
        most: the largest size of a part.
        size: how large a text is, in characters or tokens.
    """
    around = size('{"speaker": "", "when": "", "text": "", "human": false}')
    return packed(lines, most, lambda line: size(line.text) + size(line.speaker) + around)


def _line(line: Line) -> dict[str, object]:
    when = {"when": line.at.isoformat(timespec="minutes")} if line.at else {}
    return {"speaker": line.speaker, **when, "text": line.text, "human": line.human}
