"""Who is behind a change in the history, where the caller does not say."""

from __future__ import annotations

import sys
from pathlib import Path

API = "API"
COMMAND_LINE = "command line"
BY_ITSELF = "the world"
"""The author of what happens by itself."""
RATING = "rating in the background"
"""The author of ratings that a server makes after the event was added."""
_MOST = 60


def running_script() -> str:
    """The running program, such as "script game.py"; "script" if it has no file, as at Python's prompt."""
    path = Path(sys.argv[0] if sys.argv else "")
    name = path.parent.name if path.name == "__main__.py" else path.name
    return authored_by("script", "" if name == "-c" else name)


def authored_by(what: str, name: str) -> str:
    """An author from kind and name: "MCP some client"; the kind alone if the name is empty."""
    seen = "".join(sign for sign in name if sign.isprintable() and not "\ud800" <= sign <= "\udfff").strip()
    return f"{what} {seen[:_MOST]}" if seen else what
