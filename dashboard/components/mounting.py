"""Components of our own, for what is beyond Streamlit's widgets: a script, and a look of its name if it has one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from ..data import tables, type_scale

_HERE = Path(__file__).parent
_SIZES = type_scale.declared(":host", fixed=True)
_PAINT = "".join(f".{part}{{background:{paint}}}\n" for part, paint in tables.PAINT.items())


def show(
    name: str,
    data: Mapping[str, Any],
    acted: Callable[[Mapping[str, Any]], None] | None = None,
    *,
    kept: Callable[[Mapping[str, Any]], None] | None = None,
    key: str = "",
    painted: bool = False,
) -> None:
    """Draw a component.

    Args:
        name: that of its script and its look.
        data: what is shown, as the script reads it.
        acted: called with what was done there, as the script says it, before the next run. A browser may say
            anything under any name, and leave out what the script says.
        kept: called with how things stand there whenever that changes; no later click overtakes it.
        key: distinguishes it from others of its name on the same page.
        painted: whether its classes of the names of a score's parts have their colours.
    """
    at = allowed(key or name)

    def told() -> None:
        if acted is not None and (act := _held(at, "act")):
            acted(act)

    def stands() -> None:
        if kept is not None and (state := _held(at, "kept")):
            kept(state)

    script, look = _read("common.js") + _read(f"{name}.js"), (_PAINT if painted else "") + _read(f"{name}.css")
    sized = _SIZES + _read("common.css") + look if look else None
    mount = st.components.v2.component(name, js=script, css=sized)  # each time: the server may not run yet
    mount(key=at, data=dict(data), on_act_change=told, on_kept_change=stands)


def keeping(at: str) -> Callable[[Mapping[str, Any]], None]:
    """A callback that keeps an act under a name until ``taken`` asks for it in the next run."""
    return lambda act: st.session_state.__setitem__(at, act)


def taken(at: str) -> Mapping[str, Any]:
    """The act that was kept under a name; once, and empty where there was none."""
    found: Mapping[str, Any] = st.session_state.pop(at, {})
    return found


def _held(at: str, what: str) -> Mapping[str, Any]:
    """What a component says; nothing if the page that had it was left before that was heard, or it is no sense."""
    held = st.session_state.get(at)
    said = None if held is None else held.get(what)
    return {name: _whole(value) for name, value in said.items()} if isinstance(said, Mapping) else {}


def _whole(said: Any) -> Any:
    """The same without halves of characters, which no link and no database takes."""
    if isinstance(said, str):
        return said.encode(errors="replace").decode()
    return [_whole(one) for one in said] if isinstance(said, list) else said


def text(act: Mapping[str, Any], name: str) -> str:
    """The text that a component says under this name; empty if it says none there."""
    said = act.get(name)
    return said if isinstance(said, str) else ""


def whole_numbers(act: Mapping[str, Any], name: str) -> list[int]:
    """The whole numbers that a component lists under this name; what else it may list there is left out."""
    said = act.get(name)
    return [one for one in said if isinstance(one, int)] if isinstance(said, list) else []


def allowed(key: str) -> str:
    """A key as Streamlit takes it of a component of one's own: two underscores, as in a name, are not let stand."""
    return re.sub("_(?=_)", "_\u2060", key)


def keep_unsent(field: str, form: str = "", began: str = "") -> None:
    """Let the browser keep what stands in a field, until it is sent, and put it back when it comes again.

    To be called in the container that holds the field. What is put back into a field of one line is not sent by that:
    a question is not asked before somebody asks it.

    Args:
        field: the key of the field, which tells it from those of other characters and conversations.
        form: what it is a field of, where its key is another each time it is sent; what stands in it is the session's,
            and only after a reload, which begins a new session, is it put back.
        began: what the field begins with; what is typed over another text is not put back.
    """
    mount = st.components.v2.component("memory_unsent", js=_read("unsent.js"))
    mount(key=allowed(f"unsent-{field}"), data={"field": field, "form": form, "began": began})


def hold_clicks() -> None:
    """Let a click that leaves a page while an edit is open wait until the edit is here."""
    with st.sidebar:
        st.components.v2.component("memory_leaving", js=_read("leaving.js"))(key="leaving")


def step_back() -> None:
    """Let "Back" lead to the page before once a page is as it was come to, such as when a memory is closed again."""
    with st.sidebar:
        st.components.v2.component("memory_stepping", js=_read("stepping.js"))(key="stepping")


def show_refusals() -> None:
    """Bring into sight what a page says against a click or offers after it, where it stands out of sight."""
    with st.sidebar:
        st.components.v2.component("memory_refusals", js=_read("refusals.js"))(key="refusals")


@cache
def _read(name: str) -> str:
    place = _HERE / name
    return place.read_text(encoding="utf-8") if place.exists() else ""
