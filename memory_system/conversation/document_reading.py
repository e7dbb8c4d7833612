"""Reading a document: what form it has, what it says, and why it cannot be taken."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..entry_checks import named
from ..errors import InvalidFile, InvalidParameter, Problem
from ..files import read_at_most
from .pdf import read_pdf
from .splitting import Passage, of_markdown, of_pages, of_text

MAX_BYTES = 50_000_000
MAX_CHARACTERS = 1_500_000
"""Of one document's text: a thick book. At most some 2,000 passages come of it."""
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
        name: what it is called.
        form: ``text``, ``markdown`` or ``pdf``.
        sha256: of its bytes, in hexadecimal digits.
        passages: what it says.
        pages: how many it has; 0 where it has none.
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
        source: the file's path, or what it holds.
        name: what it is called, at most 120 characters; the file's name if not given. With bytes it has to be given:
            what it ends with tells Markdown from plain text.
        progress: told how far it is, 0 to 1; it may raise to cancel.

    Raises:
        InvalidParameter: the source is neither, or has no name that can be shown.
        InvalidFile: the file cannot be read, or holds no text that can be taken; the message says why.
    """
    raw, called = _bytes(source, name)
    if not raw.strip():
        raise _refused(called, "it is empty.")
    digest = hashlib.sha256(raw).hexdigest()
    if raw[:1024].lstrip().startswith(b"%PDF-"):
        read = read_pdf(raw, called, most_pages=MAX_PAGES, most_characters=MAX_CHARACTERS, progress=progress)
        found = Document(called, "pdf", digest, tuple(of_pages(read.texts)), len(read.texts), read.unread)
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
        many = f"{len(found.passages):,} passages come of it; at most {MAX_PASSAGES:,} are taken."
        raise _refused(called, f"{many} Load it in parts.")
    return found


def _bytes(source: object, name: object) -> tuple[bytes, str]:
    if isinstance(source, bytes | bytearray | memoryview):
        called = _name(name)
        if len(source) > MAX_BYTES:
            raise _refused(called, f"it has {len(source):,} bytes; at most {MAX_BYTES:,} are taken.")
        return bytes(source), called
    if not isinstance(source, str | Path) or not str(source).strip():
        raise InvalidParameter(
            f"A document comes as the path of a file, or as bytes with a name, not as {named(source)}."
        )
    path = Path(source)
    called = _name(path.name if name is None else name)
    try:
        raw = read_at_most(path, MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _refused(called, f"it cannot be read: {why}.") from error
    if len(raw) > MAX_BYTES:
        raise _refused(called, f"it has more than {MAX_BYTES:,} bytes, the most that are taken.")
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
            raise _refused(name, f"it is {what}. Text, Markdown and PDF are taken: save it as one of these.")
    encoding = "utf-8-sig"
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        where = f"byte {error.start + 1:,} is no {encoding.removesuffix('-sig').upper()}"
        raise _refused(name, f"{where}, so that it is no text, or one of an old encoding. Save it as UTF-8.") from error
    if len(text) > MAX_CHARACTERS:
        raise _refused(
            name, f"it has {len(text):,} characters; at most {MAX_CHARACTERS:,} are taken. Load it in parts."
        )
    if "\x00" in text or len(_CONTROL.findall(text)) > max(3, len(text) // 100):
        raise _refused(name, "it holds signs that no text has: it is another kind of file.")
    return _CONTROL.sub(" ", text).replace("\r\n", "\n").replace("\r", "\n")


def _refused(name: str, why: str) -> InvalidFile:
    return InvalidFile((Problem("", why),), name)
