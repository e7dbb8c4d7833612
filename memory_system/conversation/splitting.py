"""Splitting: a document as passages of bounded size, cut where paragraphs or sentences end. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

PASSAGE = 1000
"""Characters of a passage at most; about as much as all-MiniLM-L6-v2 reads of a text, 256 tokens."""
MAX_HEADING = 200

_BLANK = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[a-zß-ÿ])")
_BROKEN_LINE = re.compile(r"(?<=\S)[^\S\n]*\n(?=\S)")


@dataclass(frozen=True)
class Passage:
    """A piece of a document.

    Args:
        number: its place among the passages, from 0.
        text: what it says, at most 1,000 characters.
        place: where it begins, in characters of the document's text; in a PDF, of the page's.
        page: from 1; 0 where the document has no pages.
        heading: under which it stands, with those above it; empty where there is none.
    """

    number: int
    text: str
    place: int
    page: int = 0
    heading: str = ""


@dataclass(frozen=True)
class _Part:
    """A stretch of a document that no passage reaches beyond."""

    text: str
    place: int
    page: int = 0
    heading: str = ""


def of_text(text: str) -> list[Passage]:
    """The passages of a plain text."""
    return _numbered([_Part(text, 0)])


def of_markdown(text: str) -> list[Passage]:
    """The passages of a Markdown text, each under its headings; what is fenced as code has none."""
    return _numbered(_sections(text))


def of_pages(pages: Sequence[str]) -> list[Passage]:
    """The passages of a document with pages, whose lines end where the paper did."""
    return _numbered(_Part(_flowing(page), 0, number) for number, page in enumerate(pages, start=1))


def _flowing(page: str) -> str:
    """A page whose words and lines are no longer broken where the paper ended."""
    return _BROKEN_LINE.sub(" ", _BROKEN_WORD.sub("", page.replace("\r", "")))


def _sections(text: str) -> Iterator[_Part]:
    titles: list[str] = []
    fence, start, at = "", 0, 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        if (fenced := _FENCE.match(bare)) is not None:
            mark = fenced[1]
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence) and bare.strip() == mark:
                fence = ""
        elif not fence and (heading := _HEADING.fullmatch(bare)) is not None:
            yield _Part(text[start:at], start, heading=_path(titles))
            titles[len(heading[1]) - 1 :] = [""] * max(0, len(heading[1]) - 1 - len(titles)) + [heading[2] or ""]
            start = at + len(line)
        at += len(line)
    yield _Part(text[start:], start, heading=_path(titles))


def _path(titles: Sequence[str]) -> str:
    path = " › ".join(" ".join(title.split()) for title in titles if title.strip())
    return path if len(path) <= MAX_HEADING else f"{path[: MAX_HEADING - 1].rstrip()}…"


def _numbered(parts: Iterable[_Part]) -> list[Passage]:
    found: list[Passage] = []
    for part in parts:
        for start, end in _packed(part.text, _paragraphs(part.text)):
            said = part.text[start:end]
            if any(sign.isalnum() for sign in said):
                found.append(Passage(len(found), said, part.place + start, part.page, part.heading))
    return found


_Span = tuple[int, int]


def _paragraphs(text: str) -> Iterator[_Span]:
    """Paragraphs, and of those that are too long their sentences, and of such sentences pieces."""
    for start, end in _between(text, (0, len(text)), _BLANK):
        if end - start <= PASSAGE:
            yield start, end
            continue
        for first, last in _packed(text, _between(text, (start, end), _SENTENCE)):
            yield from _cut(text, first, last)


def _between(text: str, span: _Span, border: re.Pattern[str]) -> Iterator[_Span]:
    """What stands between borders, without the blanks around it."""
    at = span[0]
    for found in border.finditer(text, *span):
        yield from _stripped(text, at, found.end())
        at = found.end()
    yield from _stripped(text, at, span[1])


def _stripped(text: str, start: int, end: int) -> Iterator[_Span]:
    said = text[start:end]
    if said.strip():
        yield start + len(said) - len(said.lstrip()), end - (len(said) - len(said.rstrip()))


def _packed(text: str, spans: Iterable[_Span]) -> Iterator[_Span]:
    """As many of them together as a passage has room for."""
    start, end = -1, -1
    for first, last in spans:
        if start >= 0 and last - start > PASSAGE:
            yield from _stripped(text, start, end)
            start = -1
        start, end = (first if start < 0 else start), last
    if start >= 0:
        yield from _stripped(text, start, end)


def _cut(text: str, start: int, end: int) -> Iterator[_Span]:
    """A sentence that is too long, in pieces that end between words where there are any."""
    while end - start > PASSAGE:
        space = max(text.rfind(" ", start + PASSAGE // 2, start + PASSAGE), text.rfind("\n", start, start + PASSAGE))
        border = space if space > start else start + PASSAGE
        yield from _stripped(text, start, border)
        start = border
    yield from _stripped(text, start, end)
