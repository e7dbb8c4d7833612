"""Reading a PDF in a process of its own, with limits on time, memory and what comes out of it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidFile, Problem
from ..extras import require

SECONDS = 60.0
"""How long a page may take; most take some hundredths."""
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Pages:
    """The texts of a PDF's pages, and which pages could not be read, by their numbers from 1."""

    texts: tuple[str, ...]
    unread: tuple[int, ...]


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
        name: what it is called in messages.
        most_pages: more are refused.
        most_characters: of all pages together; more are refused.
        progress: told how far it is, 0 to 1; it may raise to cancel, and the process is ended.
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
            raise _refused(name, f"a page took longer than {seconds:.0f} seconds to read. Save it anew, or as text.")
        time.sleep(_LOOK_SECONDS)


def _lines(out: Path) -> list[dict[str, Any]]:
    whole = out.read_text(encoding="utf-8").split("\n")[:-1]  # what follows the last border is still being written
    return [json.loads(line) for line in whole]


def _pages(lines: list[dict[str, Any]], name: str, most_pages: int, most_characters: int) -> Pages:
    problem = next((line for line in lines if "problem" in line), None)
    if problem is not None:
        match problem["problem"]:
            case "encrypted":
                raise _refused(name, "it is protected by a password. Save it without one, and load that.")
            case "memory":
                raise _refused(name, "it takes too much memory to read. Save it anew, in parts, or as text.")
            case _:
                raise _refused(name, f"it is no PDF that can be read ({problem.get('why') or 'it is broken'}).")
    count = next((line["pages"] for line in lines if "pages" in line), None)
    if count is not None and count > most_pages:
        raise _refused(name, f"it has {count:,} pages; at most {most_pages:,} are taken. Load it in parts.")
    texts = [str(line["text"]) for line in lines if "page" in line]
    if sum(map(len, texts)) > most_characters:
        raise _refused(name, f"it has more than {most_characters:,} characters of text. Load it in parts.")
    if count is None or len(texts) < count:
        raise _refused(name, "reading it ended early; it takes too much memory or time, or it is broken.")
    return Pages(tuple(texts), tuple(line["page"] for line in lines if "why" in line))


def _refused(name: str, why: str) -> InvalidFile:
    return InvalidFile((Problem("", why),), name)
