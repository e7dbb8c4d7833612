"""Who is behind a change, as the history tells it, where nobody says so himself."""

from __future__ import annotations

import sys
from pathlib import Path

API = "API"
COMMAND_LINE = "command line"
_MOST = 60


def running_script() -> str:
    """The program that runs, such as "script game.py"; "script" where it has no file, as at Python's prompt."""
    path = Path(sys.argv[0] if sys.argv else "")
    name = path.parent.name if path.name == "__main__.py" else path.name
    seen = "".join(sign for sign in name if sign.isprintable() and not "\ud800" <= sign <= "\udfff")
    return f"script {seen[:_MOST]}" if seen and seen != "-c" else "script"
