"""Tabs that stay the same widget, whatever happens to their labels, the link and the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from .. import session


def show(labels: Mapping[str, str], key: str, first: str | None = None) -> dict[str, Any]:
    """Tabs by name; the open one stays open when labels change, and when the page is left and reopened.

    Streamlit makes another widget of tabs whose labels or ``default`` differ, which then ignores the click that led
    there. Here the open tab is known by its name, and is only ever set through the session.

    Args:
        labels: the present label of each tab, by its name.
        key: distinguishes these tabs from others.
        first: the one to open if none has been opened yet; the first if ``None``.
    """
    open_key, drawn = f"{key}-open", f"{key}-labels"
    before: Mapping[str, str] = st.session_state.get(drawn, {})
    clicked = next((name for name, label in before.items() if label == st.session_state.get(key)), None)
    choice = clicked or st.session_state.get(open_key) or first
    opened = str(choice) if choice in labels else next(iter(labels))
    if st.session_state.get(key) != labels[opened]:
        st.session_state[key] = labels[opened]
    st.session_state[open_key], st.session_state[drawn] = opened, dict(labels)
    return dict(zip(labels, st.tabs(list(labels.values()), key=key, on_change="rerun"), strict=True))


def linked(labels: Mapping[str, str], key: str, link: str) -> tuple[dict[str, Any], str]:
    """Tabs with the open one in the link; returns them and the name of the open one.

    A link that is followed to the page opens its tab. While the page is shown, the tab that was clicked counts: the
    browser may still send the link of the tab before.

    Args:
        labels: the label of each tab, by its word in the link; the link does not name the first.
        key: distinguishes these tabs from others.
        link: the name in the link.
    """
    asked = session.from_link(link)
    if key not in st.session_state and asked in labels:
        st.session_state[f"{key}-open"] = asked
    shown = show(labels, key)
    opened = str(st.session_state[f"{key}-open"])
    session.to_link(link, None if opened == next(iter(labels)) else opened)
    return shown, opened


def segments(what: str, labels: Mapping[str, str], link: str) -> str:
    """Segments with the chosen one in the link; returns its name.

    Args:
        what: what is chosen.
        labels: the label of each segment, by its word in the link; the link does not name the first.
        link: the name in the link.
    """
    first, key = next(iter(labels)), f"segment-{link}"
    if key not in st.session_state:
        asked = session.from_link(link)
        st.session_state[key] = asked if asked in labels else first
    chosen = st.segmented_control(
        what, list(labels), format_func=labels.__getitem__, key=key, required=True, persist_state="session"
    )
    session.to_link(link, None if chosen in (None, first) else str(chosen))
    return str(chosen or first)
