"""Hooks for MkDocs in addition to mkdocs.yml: generated pages and pages from elsewhere, and the links between all."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools import reference  # noqa: E402

ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "database/README.md": "database.md",
    "examples/notebooks/README.md": "notebooks.md",
    "memory_system/interfaces/cli/README.md": "packages/cli.md",
    **{f"benchmarks/{path.name}": f"benchmarks/{path.name}" for path in (ROOT / "benchmarks").glob("*.md")},
    **{
        path.relative_to(ROOT).as_posix(): f"packages/{path.parent.name}.md"
        for path in (ROOT / "memory_system").glob("*/README.md")
    },
}
"""Pages of the site outside docs/ in the repository, each with its path in the site."""
_LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]]+)\]\((?P<to>[^)\s#]+)(?P<part>#[^)\s]*)?\)")
_PICTURE = re.compile(r"(!\[[^\]]*\]\([^)\s]*)-light-(\d+\.png)\)")
"""A picture of the dashboard in light, which has a dark version."""
_FENCE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """Add the reference, and the pages from elsewhere."""
    for place, text in reference.pages().items():
        files.append(File.generated(config, place, content=text))
    for path, place in ELSEWHERE.items():
        if place != "index.md":
            files.append(File.generated(config, place, content=(ROOT / path).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_more: Any) -> str:
    """Make links to pages of the repository lead to those of the site; other files are named, not linked."""
    place = page.file.src_uri
    path = next((path for path, there in ELSEWHERE.items() if there == place and place != "index.md"), f"docs/{place}")
    parts = _FENCE.split(markdown)
    return "".join(part if _FENCE.fullmatch(part) else in_both(linked(part, path, place)) for part in parts)


def in_both(text: str) -> str:
    """A text whose pictures of pages are shown in light or dark, as the reader has chosen."""
    return _PICTURE.sub(r"\1-light-\2#only-light)\1-dark-\2#only-dark)", text)


def linked(text: str, path: str, place: str) -> str:
    """A text with its links changed to those of the site.

    Args:
        text: Markdown.
        path: the path of the page in the repository.
        place: the path of the page in the site.
    """

    def changed(found: re.Match[str]) -> str:
        to = found["to"]
        if re.match(r"\w+:", to):
            return found[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), to))
        there = ELSEWHERE.get(target) or (target.removeprefix("docs/") if target.startswith("docs/") else "")
        if there:
            return (
                f"[{found['words']}]({posixpath.relpath(there, posixpath.dirname(place) or '.')}{found['part'] or ''})"
            )
        return found["words"] if (ROOT / target).exists() else found[0]

    return _LINK.sub(changed, text)
