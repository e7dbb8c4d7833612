"""A chapter of prose: each sentence is a memory, in order; headings are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .material import Gathering, pieces_of

_ABBREVIATED = r"(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bNo\.)(?<!\be\.g\.)(?<!\bi\.e\.)"
_END = re.compile(
    rf"(?<=[.!?…]){_ABBREVIATED}[\"'”’»)\]]*\s+(?=[\"'“‘«(\[]*[^\W\d_a-zß-ÿ]|[\"“«]?\d)|(?<=[。！？])[」』”’）]*"
)
_HEADING = re.compile(r"\s*(?:#{1,6}\s+\S.*|(?:chapter|part|book|prologue|epilogue)\b[^.!?]{0,80})\s*$", re.IGNORECASE)
_RULE = re.compile(r"[\s*_=~·•#-]+")
_ENDS = re.compile(r"[.!?…。！？]['\"”’»)\]]*\s*$")
_LONGEST = 2000


def is_prose(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether lines are running text rather than an event each: several sentences in a line, or one over several."""
    texts = [line for _, line in lines[:500] if not _HEADING.fullmatch(line)]
    several = sum(len(_END.findall(line)) >= 1 for line in texts)
    return several * 3 >= len(texts) > 0 or runs_on(texts)


def runs_on(told: Sequence[str]) -> bool:
    """Whether sentences go over several lines, as when lines are wrapped at a width."""
    goes_on = sum(not _ENDS.search(line) and following[:1].islower() for line, following in pairwise(told))
    return goes_on * 3 >= len(told) > 1


def read_prose(text: str, into: Gathering) -> None:
    """Read a chapter; the place of a sentence is where it begins."""
    chapter = ""
    for line, paragraph in _paragraphs(text):
        if _RULE.fullmatch(paragraph):
            continue
        if _HEADING.fullmatch(paragraph) and "\n" not in paragraph:
            chapter = paragraph.strip("# \t")[:100]
            into.drop(f"line {line}", paragraph, "It is a heading; it stands with the sentences beneath it.")
            continue
        at, counted = line, 0
        for number, (offset, sentence) in enumerate(_sentences(paragraph), start=1):
            at, counted = at + paragraph.count("\n", counted, offset), offset
            where = f"line {at}, sentence {number}"
            for piece in pieces_of(" ".join(sentence.split()), _LONGEST):
                into.memory(where, piece, metadata={"chapter": chapter} if chapter else {})


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs, each with the line on which it begins; a heading is a paragraph of its own."""
    paragraph: list[str] = []
    begun = 1
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        if not line.strip() or _HEADING.fullmatch(line):
            if paragraph:
                yield begun, "\n".join(paragraph)
                paragraph = []
            if line.strip():
                yield number, line
        else:
            begun = begun if paragraph else number
            paragraph.append(line)
    if paragraph:
        yield begun, "\n".join(paragraph)


def _sentences(paragraph: str) -> Iterator[tuple[int, str]]:
    begin = 0
    for found in (*_END.finditer(paragraph), None):
        end = len(paragraph) if found is None else found.end()
        if sentence := paragraph[begin:end].strip():
            yield begin, sentence
        begin = end
