"""Components of our own, for what Streamlit's widgets cannot do: a script, and a style sheet if it has one."""

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
        name: the name of its script and style sheet.
        data: what is shown, in the form that the script reads.
        acted: called with what was done there, as reported by the script, before the next run. A browser may send
            anything under any name, and leave out anything.
        kept: called with the state there whenever it changes; no later click overtakes it.
        key: distinguishes it from others with its name on the same page.
        painted: whether its CSS classes for a score's parts get their colours.
    """
    at = allowed(key or name)

    def pass_act() -> None:
        if acted is not None and (act := _report(at, "act")):
            acted(act)

    def pass_state() -> None:
        if kept is not None and (state := _report(at, "kept")):
            kept(state)

    script, look = _read("common.js") + _read(f"{name}.js"), (_PAINT if painted else "") + _read(f"{name}.css")
    sized = _SIZES + _read("common.css") + look if look else None
    mount = st.components.v2.component(name, js=script, css=sized)  # each time: the server may not run yet
    mount(key=at, data=dict(data), on_act_change=pass_act, on_kept_change=pass_state)


def keeping(at: str) -> Callable[[Mapping[str, Any]], None]:
    """A callback that stores an act under a name until ``taken`` asks for it in the next run."""
    return lambda act: st.session_state.__setitem__(at, act)


def taken(at: str) -> Mapping[str, Any]:
    """The act that was kept under a name, only once; empty if there was none."""
    found: Mapping[str, Any] = st.session_state.pop(at, {})
    return found


def _report(at: str, what: str) -> Mapping[str, Any]:
    """What a component reports; empty if its page was left before that arrived, or if it is invalid."""
    report = st.session_state.get(at)
    said = None if report is None else report.get(what)
    return {name: _whole(value) for name, value in said.items()} if isinstance(said, Mapping) else {}


def _whole(said: Any) -> Any:
    """The same without halves of surrogate pairs, which neither links nor databases accept."""
    if isinstance(said, str):
        return said.encode(errors="replace").decode()
    return [_whole(item) for item in said] if isinstance(said, list) else said


def text(act: Mapping[str, Any], name: str) -> str:
    """The text that a component reports under this name; empty if there is none."""
    said = act.get(name)
    return said if isinstance(said, str) else ""


def whole_numbers(act: Mapping[str, Any], name: str) -> list[int]:
    """The whole numbers that a component lists under this name; anything else is left out."""
    said = act.get(name)
    return [value for value in said if isinstance(value, int)] if isinstance(said, list) else []


def allowed(key: str) -> str:
    """A key that Streamlit accepts for a custom component: it must not contain two underscores in a row."""
    return re.sub("_(?=_)", "_\u2060", key)


def keep_unsent(field: str, form: str = "", began: str = "") -> None:
    """Let the browser keep what is in a field until it is sent, and put it back when the field reappears.

    Call it in the container that has the field. Text put back into a field of one line is not thereby sent: a
    question is not asked before somebody asks it.

    Args:
        field: the key of the field, which distinguishes it from those of other characters and conversations.
        form: what it is a field of, if its key changes each time it is sent; its content then belongs to the session,
            and is put back only after a reload, which begins a new session.
        began: the field's initial text; what was typed over another text is not put back.
    """
    mount = st.components.v2.component("memory_unsent", js=_read("unsent.js"))
    mount(key=allowed(f"unsent-{field}"), data={"field": field, "form": form, "began": began})


def hold_clicks() -> None:
    """Make a click that leaves a page during an open edit wait until the edit has arrived."""
    _listen("leaving")


def step_back() -> None:
    """Make "Back" lead to the previous page once a page is as it was at first, such as after closing a memory."""
    _listen("stepping")


def show_refusals() -> None:
    """Scroll to a page's refusal of a click, or to what it offers after it, if out of sight."""
    _listen("refusals")


def say_what_does_not_fit() -> None:
    """Say so when somebody types or pastes more into a field than it takes."""
    _listen("fitting")


def keep_to_ranges() -> None:
    """Make a click that stores a form lead to its first number that is out of its range, instead of leaving it out."""
    _listen("ranges")


def enter_popovers() -> None:
    """Make Tab go from the button of an open popover into it, and back."""
    _listen("popovers")


def keep_focus() -> None:
    """Give the field of a chat the focus back that it loses while an answer comes."""
    _listen("refocus")


def _listen(name: str) -> None:
    """Let a script of ours listen on the whole page; it shows nothing where it is mounted."""
    with st.sidebar:
        st.components.v2.component(f"memory_{name}", js=_read(f"{name}.js"))(key=name)


@cache
def _read(name: str) -> str:
    place = _HERE / name
    return place.read_text(encoding="utf-8") if place.exists() else ""
