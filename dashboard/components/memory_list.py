"""The list of memories: one box that filters and asks, chips with counts, and a score as a bar in each row.

It is a component of its own, since a bar in a row, a box that asks while one types, and a list that is walked with the
arrow keys are beyond Streamlit's widgets. It says what is wanted as a whole, so that nothing depends on an address that
the browser has not heard of yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

_NAME = "memory_list"
_HERE = Path(__file__)
_SCRIPT = _HERE.with_suffix(".js").read_text(encoding="utf-8")
_LOOK = _HERE.with_suffix(".css").read_text(encoding="utf-8")


def show(key: str, data: Mapping[str, Any], wanted: Callable[[Mapping[str, Any]], None]) -> None:
    """Draw the list.

    Args:
        key: tells it from others.
        data: what is shown, as ``memory_list.js`` reads it.
        wanted: is called with the box, the chips, the open memory and how many rows are wanted, before the next run.
    """

    def acted() -> None:
        if asked := st.session_state[key].get("act"):
            wanted(asked)

    mount = st.components.v2.component(_NAME, js=_SCRIPT, css=_LOOK)  # each time: the server may not run yet
    mount(key=key, data=dict(data), on_act_change=acted)
