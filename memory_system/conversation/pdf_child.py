"""The process that reads a PDF, and may hang or run out of memory: ``python -I pdf_child.py FILE OUT PAGES SIGNS``.

It imports nothing from this package, so that it starts quickly and has its own limits. It writes a line of JSON for
each page as soon as that is read, or ``{"problem": ...}``; see ``document_reading``.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MEMORY = 2 << 30
"""Bytes of address space."""
_CPU_SECONDS = 600


def limit() -> None:
    """Limit the memory of this process, if the system supports that."""
    try:
        import resource
    except ImportError:  # not on every system
        return
    for name, most in (("RLIMIT_AS", _MEMORY), ("RLIMIT_CPU", _CPU_SECONDS), ("RLIMIT_CORE", 0)):
        with contextlib.suppress(AttributeError, ValueError, OSError):  # macOS refuses the limit on memory
            resource.setrlimit(getattr(resource, name), (most, most))


def results(path: Path, most_pages: int, most_characters: int) -> Iterator[dict[str, Any]]:
    """The results for a file: the number of pages, and for each its text, or that it could not be read."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            yield {"problem": "encrypted"}
            return
        count = len(reader.pages)
    except DependencyError:
        yield {"problem": "encrypted"}
        return
    except Exception as error:  # noqa: BLE001 - a stranger's file may make the library raise anything
        yield {"problem": "broken", "why": f"{error!s:.200}"}
        return
    yield {"pages": count}
    if count > most_pages:
        return
    for number in range(count):
        try:
            text = reader.pages[number].extract_text()
        except MemoryError:
            yield {"problem": "memory", "page": number + 1}
            return
        except Exception as error:  # noqa: BLE001 - as above; one page says nothing of the others
            yield {"page": number + 1, "text": "", "why": f"{error!s:.200}"}
            continue
        yield {"page": number + 1, "text": text[: most_characters + 1]}
        most_characters -= len(text)
        if most_characters < 0:
            return


def main() -> None:
    """Read the file that the command line names."""
    path, out, pages, characters = sys.argv[1:5]
    limit()
    with Path(out).open("w", encoding="utf-8", errors="replace") as file:
        try:
            for line in results(Path(path), int(pages), int(characters)):
                file.write(json.dumps(line) + "\n")
                file.flush()
        except (MemoryError, RecursionError):
            file.write(json.dumps({"problem": "memory"}) + "\n")


if __name__ == "__main__":
    main()
