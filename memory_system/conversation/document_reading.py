"""Reading a document: what form it has, what it says, and why it cannot be accepted.

Splitting: a document as passages of bounded size, cut where paragraphs or sentences end. Pure.

Reading a PDF in a process of its own, with limits on time, memory and what comes out of it.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.extras import require
from ..core.files import read_at_most
from ..errors import InvalidFile, InvalidParameter, Problem, kind_of

PASSAGE = 1000
"""How many characters a passage has at most; about what all-MiniLM-L6-v2 reads of a text, 256 tokens."""
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
        heading: the heading above it, with its parent headings; empty if there is none.
    """

    number: int
    text: str
    place: int
    page: int = 0
    heading: str = ""


@dataclass(frozen=True)
class _Part:
    """A stretch of a document that passages do not cross."""

    text: str
    place: int
    page: int = 0
    heading: str = ""


def of_text(text: str) -> list[Passage]:
    """The passages of a plain text."""
    return _numbered([_Part(text, 0)])


def of_markdown(text: str) -> list[Passage]:
    """The passages of a Markdown text, each under its headings; fenced code contains none."""
    return _numbered(_sections(text))


def of_pages(pages: Sequence[str]) -> list[Passage]:
    """The passages of a document with pages, whose lines end at the edge of the page."""
    return _numbered(_Part(_flowing(page), 0, number) for number, page in enumerate(pages, start=1))


def _flowing(page: str) -> str:
    """A page whose words and lines are no longer broken at the edge."""
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
    """Paragraphs, or the sentences of those that are too long, or pieces of sentences that are too long."""
    for start, end in _between(text, (0, len(text)), _BLANK):
        if end - start <= PASSAGE:
            yield start, end
            continue
        for first, last in _packed(text, _between(text, (start, end), _SENTENCE)):
            yield from _cut(text, first, last)


def _between(text: str, span: _Span, border: re.Pattern[str]) -> Iterator[_Span]:
    """The texts between borders, without the white space around them."""
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
    """As many of them together as fit in a passage."""
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


SECONDS = 60.0
"""How long a page may take; most take some hundredths."""
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Pages:
    """The texts of a PDF's pages, and which could not be read, by their numbers from 1, and why the first could not."""

    texts: tuple[str, ...]
    unread: tuple[int, ...]
    why: str = ""


def read_pdf(
    raw: bytes,
    name: str,
    *,
    most_pages: int,
    most_characters: int,
    progress: Callable[[float], None],
    seconds: float = SECONDS,
) -> Pages:
    """The text of each page.

    Args:
        raw: the file.
        name: its name in messages.
        most_pages: more are refused.
        most_characters: for all pages together; more are refused.
        progress: called with the share done, 0 to 1; it may raise to cancel, and the process is ended.
        seconds: how long a page may take.

    Raises:
        InvalidFile: it is protected, broken, too large, or takes too long or too much memory.
        ExtraMissing: pypdf is not installed.
    """
    require("pypdf", "pdf", "Reading a PDF document")
    with tempfile.TemporaryDirectory(prefix="memory-pdf-", ignore_cleanup_errors=True) as scratch:
        path, out = Path(scratch) / "document.pdf", Path(scratch) / "told.jsonl"
        path.write_bytes(raw)
        out.touch()
        command = [sys.executable, "-I", str(Path(__file__).with_name("pdf_child.py")), str(path), str(out)]
        command += [str(most_pages), str(most_characters)]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as child:  # noqa: S603 - our own module
            try:
                lines = _followed(child, out, name, progress, seconds)
            finally:
                child.kill()
    return _pages(lines, name, most_pages, most_characters)


def _followed(
    child: subprocess.Popen[bytes], out: Path, name: str, progress: Callable[[float], None], seconds: float
) -> list[dict[str, Any]]:
    """What the child has written, once it has ended."""
    size, moved = -1, time.monotonic()
    while True:
        ended = child.poll() is not None
        written = out.stat().st_size
        if written != size:
            size, moved = written, time.monotonic()
            lines = _lines(out)
            count = next((line["pages"] for line in lines if "pages" in line), 0)
            progress(min(1.0, (len(lines) - 1) / count) if count else 0.0)
        if ended:
            return _lines(out)
        if time.monotonic() - moved > seconds:
            raise _refused(
                name, f"a page took longer than {seconds:.0f} seconds to read. Save the file again, or as text."
            )
        time.sleep(_LOOK_SECONDS)


def _lines(out: Path) -> list[dict[str, Any]]:
    whole = out.read_text(encoding="utf-8").split("\n")[:-1]  # the text after the last border is still being written
    return [json.loads(line) for line in whole]


def _pages(lines: list[dict[str, Any]], name: str, most_pages: int, most_characters: int) -> Pages:
    problem = next((line for line in lines if "problem" in line), None)
    if problem is not None:
        match problem["problem"]:
            case "encrypted":
                raise _refused(name, "it is protected by a password. Save it without one, and load that.")
            case "memory":
                raise _refused(name, "it takes too much memory to read. Save it again, in parts, or as text.")
            case _:
                raise _refused(name, f"it is not a readable PDF ({problem.get('why') or 'it is broken'}).")
    count = next((line["pages"] for line in lines if "pages" in line), None)
    if count is not None and count > most_pages:
        raise _refused(name, f"it has {count:,} pages; at most {most_pages:,} are allowed. Load it in parts.")
    texts = [str(line["text"]) for line in lines if "page" in line]
    if sum(map(len, texts)) > most_characters:
        raise _refused(name, f"it has more than {most_characters:,} characters of text. Load it in parts.")
    if count is None or len(texts) < count:
        raise _refused(name, "reading it ended early; it takes too much memory or time, or it is broken.")
    failed = {line["page"]: str(line["why"]) for line in lines if "why" in line}
    return Pages(tuple(texts), tuple(failed), next(iter(failed.values()), ""))


def _refused(name: str, why: str) -> InvalidFile:
    return InvalidFile((Problem("", why),), name)


MAX_BYTES = 50_000_000
MAX_CHARACTERS = 1_500_000
"""How many characters a document's text may have: a thick book, which makes some 2,000 passages at most."""
MAX_PASSAGES = 2000
MAX_PAGES = 2000
MAX_NAME = 120

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
_TELLS = (
    (b"PK\x03\x04", "a ZIP archive, as office documents are"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"{\\rtf", "a rich text document"),
    (b"SQLite format 3", "a database"),
)
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Document:
    """A document that was read.

    Args:
        name: its name.
        form: ``text``, ``markdown`` or ``pdf``.
        sha256: of its bytes, in hexadecimal digits.
        passages: its text.
        pages: how many it has; 0 if it has none.
        unread: numbers of pages that could not be read.
    """

    name: str
    form: str
    sha256: str
    passages: tuple[Passage, ...]
    pages: int = 0
    unread: tuple[int, ...] = ()


def read_document(source: str | Path | bytes, name: str | None, progress: Callable[[float], None]) -> Document:
    """The document of a file or of its bytes.

    Args:
        source: the file's path, or its content.
        name: at most 120 characters; the file's name if not given. It must be given with bytes: its ending
            distinguishes Markdown from plain text.
        progress: called with the share done, 0 to 1; it may raise to cancel.

    Raises:
        InvalidParameter: the source is neither, or has no name that can be shown.
        InvalidFile: the file cannot be read, or contains no usable text; the message says why.
    """
    raw, called = _bytes(source, name)
    if not raw.strip():
        raise _refused(called, "it is empty.")
    digest = hashlib.sha256(raw).hexdigest()
    if raw[:1024].lstrip().startswith(b"%PDF-"):
        read = read_pdf(raw, called, most_pages=MAX_PAGES, most_characters=MAX_CHARACTERS, progress=progress)
        found = Document(called, "pdf", digest, tuple(of_pages(read.texts)), len(read.texts), read.unread)
        if read.unread and len(read.unread) == len(read.texts):
            raise _refused(called, f"none of its pages could be read ({read.why}). Save it again, or as text.")
        if not found.passages:
            raise _refused(called, "it has no text: its pages may be pictures. Let a program read them first (OCR).")
    else:
        text = _decoded(raw, called)
        markdown = called.lower().endswith(_MARKDOWN)
        split = of_markdown(text) if markdown else of_text(text)
        found = Document(called, "markdown" if markdown else "text", digest, tuple(split))
        if not found.passages:
            raise _refused(called, "it has no words.")
    if len(found.passages) > MAX_PASSAGES:
        many = f"{len(found.passages):,} passages would be made of it; at most {MAX_PASSAGES:,} are allowed."
        raise _refused(called, f"{many} Load it in parts.")
    return found


def _bytes(source: object, name: object) -> tuple[bytes, str]:
    if isinstance(source, bytes | bytearray | memoryview):
        called = _name(name)
        if len(source) > MAX_BYTES:
            raise _refused(called, f"it has {len(source):,} bytes; at most {MAX_BYTES:,} are allowed.")
        return bytes(source), called
    if not isinstance(source, str | Path) or not str(source).strip():
        raise InvalidParameter(
            f"A document comes as the path of a file, or as bytes with a name, not as {kind_of(source)}."
        )
    path = Path(source)
    called = _name(path.name if name is None else name)
    try:
        raw = read_at_most(path, MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _refused(called, f"it cannot be read: {why}.") from error
    if len(raw) > MAX_BYTES:
        raise _refused(called, f"it has more than {MAX_BYTES:,} bytes, which is the limit.")
    return raw, called


def _name(name: object) -> str:
    line = " ".join(name.split()) if isinstance(name, str) else ""
    if not line or len(line) > MAX_NAME or not line.isprintable():
        raise InvalidParameter(
            f"A document needs a name of 1 to {MAX_NAME} characters on one line, such as “cakes.pdf”."
        )
    return line


def _decoded(raw: bytes, name: str) -> str:
    for beginning, what in _TELLS:
        if raw.startswith(beginning):
            raise _refused(name, f"it is {what}. Text, Markdown and PDF can be loaded: save it as one of these.")
    encoding = "utf-8-sig"
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        where = f"byte {error.start + 1:,} is not {encoding.removesuffix('-sig').upper()}"
        raise _refused(name, f"{where}, so it is not text, or its encoding is not UTF-8. Save it as UTF-8.") from error
    if len(text) > MAX_CHARACTERS:
        raise _refused(
            name, f"it has {len(text):,} characters; at most {MAX_CHARACTERS:,} are allowed. Load it in parts."
        )
    if "\x00" in text or len(_CONTROL.findall(text)) > max(3, len(text) // 100):
        raise _refused(name, "it contains characters that text never has, so it is another kind of file.")
    return _CONTROL.sub(" ", text).replace("\r\n", "\n").replace("\r", "\n")
