"""Components of our own, for what is beyond Streamlit's widgets: a script, and a look of its name if it has one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent


def show(name: str, data: Mapping[str, Any], acted: Callable[[Any], None]) -> None:
    """Draw a component, of which a page has one.

    Args:
        name: that of its script and its look, and its key.
        data: what is shown, as the script reads it.
        acted: is called with what was done there, as the script says it, before the next run.
    """

    def told() -> None:
        if act := st.session_state[name].get("act"):
            acted(act)

    script, look = _read("common.js") + _read(f"{name}.js"), _read(f"{name}.css") or None
    mount = st.components.v2.component(name, js=script, css=look)  # each time: the server may not run yet
    mount(key=name, data=dict(data), on_act_change=told)


@cache
def _read(name: str) -> str:
    place = _HERE / name
    return place.read_text(encoding="utf-8") if place.exists() else ""
