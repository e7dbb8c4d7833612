"""Who is behind a change, as the history tells it, where nobody says so himself."""

from __future__ import annotations

import sys
from pathlib import Path

API = "API"
COMMAND_LINE = "command line"
BY_ITSELF = "the world"
"""Who is behind what happens by itself."""
RATING = "rating in the background"
"""Who is behind what a server rates after it has come."""
_MOST = 60


def running_script() -> str:
    """The program that runs, such as "script game.py"; "script" where it has no file, as at Python's prompt."""
    path = Path(sys.argv[0] if sys.argv else "")
    name = path.parent.name if path.name == "__main__.py" else path.name
    return authored_by("script", "" if name == "-c" else name)


def authored_by(what: str, name: str) -> str:
    """An author from what they are and what they call themselves: "MCP some client"; the first alone for no name."""
    seen = "".join(sign for sign in name if sign.isprintable() and not "\ud800" <= sign <= "\udfff").strip()
    return f"{what} {seen[:_MOST]}" if seen else what
