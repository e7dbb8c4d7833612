"""Text of strangers as Markdown that shows it as it is, with front matter in YAML above it; written, and read back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

_INLINE = re.compile(r"[\\`*_\[\]<>!|~&$^]|(?<=[a-zA-Z]):(?=//)|(?<=www)\.|(?<=\w)@(?=\w)")
"""What is Markdown anywhere in a line: emphasis, code, links, pictures, HTML, tables, formulas, addresses."""
_AT_START = re.compile(r"^([ \t]*)([#+\-=:])", re.MULTILINE)
"""What is Markdown at the beginning of a line: a heading, a list, a rule."""
_NUMBERED = re.compile(r"^([ \t]*\d{1,9})([.)])", re.MULTILINE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_HIDDEN = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
"""Invisible characters that hide or reorder the text around them."""
_FENCE = "---"
_HEAD = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_WHOLE = "document"
"""The key for a text that a page cannot represent exactly."""
_MOST = 200_000
"""How many characters front matter may have."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def escaped(text: str) -> str:
    """A text as Markdown with all its markup escaped."""
    markdown = _INLINE.sub(lambda found: f"\\{found[0]}", text)
    return _NUMBERED.sub(r"\1\\\2", _AT_START.sub(r"\1\\\2", markdown))


def unescaped(markdown: str) -> str:
    """The text that ``escaped`` was given, and any other Markdown without its backslashes."""
    return _ESCAPED.sub(r"\1", markdown)


def visible(text: str) -> str:
    """A text without invisible characters."""
    return _HIDDEN.sub("", text)


def on_a_line(text: str) -> str:
    """A text on one line of Markdown, for people to read."""
    return escaped(" ".join(visible(text).split()))


def written(header: Mapping[str, Any], body: str) -> str:
    """A page: its front matter, and the text below it.

    Args:
        header: texts, numbers, truth values, and lists and mappings of them.
        body: the text; if a page cannot represent it exactly, it is also in the front matter.
    """
    shown = visible(body)
    if shown != body:
        header = {**header, _WHOLE: body}
    plain = not _HIDDEN.search(repr(header)) and shown == body
    front_matter = yaml.safe_dump(dict(header), sort_keys=False, allow_unicode=plain, width=1_000_000)
    return f"{_FENCE}\n{front_matter}{_FENCE}\n\n{escaped(shown)}\n"


def read(page: str) -> tuple[dict[str, Any], str]:
    """The front matter of a page, and its text.

    Raises:
        ValueError: it has none, or one that cannot be read; the message is half a sentence.
    """
    page = page.removeprefix("\ufeff").replace("\r\n", "\n")
    found = _HEAD.match(page)
    if found is None:
        raise ValueError("it has no front matter between two lines of “---”")
    if len(found[1]) > _MOST:
        raise ValueError(f"its front matter has more than {_MOST:,} characters")
    try:
        aliased = any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(found[1], Loader=_LOADER))
        header = None if aliased else yaml.load(found[1], Loader=_LOADER)  # noqa: S506 - the safe one
    except (yaml.YAMLError, RecursionError) as error:
        why = getattr(error, "problem", None) or "it contains invisible characters"
        raise ValueError(f"its front matter is not YAML: {why}") from error
    except ValueError as error:  # what looks like a date or a number, and is none
        raise ValueError(f"its front matter has a date or number that cannot be read: {error!s:.60}") from error
    if aliased:
        raise ValueError("its front matter has an alias (“*”), which may stand for very much")
    if not isinstance(header, dict):
        raise ValueError("its front matter is not a list of names and values")
    body = unescaped(page[found.end() :].removeprefix("\n").removesuffix("\n"))
    whole = header.pop(_WHOLE, None)
    return {str(name): value for name, value in header.items()}, (
        whole if isinstance(whole, str) and visible(whole) == body else body
    )
