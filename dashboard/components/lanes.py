"""The last day of a cast: a lane for each character, a dot for each memory, a line where two remember one event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

_NAME = "lanes"
_HERE = Path(__file__)
_SCRIPT = _HERE.with_suffix(".js").read_text(encoding="utf-8")
_LOOK = _HERE.with_suffix(".css").read_text(encoding="utf-8")


def show(key: str, data: Mapping[str, Any], chosen: Callable[[str, str], None]) -> None:
    """Draw the lanes.

    Args:
        key: tells them from others.
        data: what is shown, as ``lanes.js`` reads it.
        chosen: is called with the name of a character, and the id of the memory or nothing, before the next run.
    """

    def acted() -> None:
        if told := st.session_state[key].get("chosen"):
            chosen(str(told["name"]), str(told["memory"]))

    mount = st.components.v2.component(_NAME, js=_SCRIPT, css=_LOOK)  # each time: the server may not run yet
    mount(key=key, data=dict(data), on_chosen_change=acted)
