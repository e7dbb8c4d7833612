"""What is written and not here yet: the browser keeps a message that is not sent, and waits for an open edit."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from . import mounting

_KEEPER, _HOLDER = "memory_unsent", "memory_leaving"
_SCRIPT = Path(__file__).with_name("unsent.js").read_text(encoding="utf-8")
_LEAVING = Path(__file__).with_name("leaving.js").read_text(encoding="utf-8")


def keep(field: str) -> None:
    """Let the browser keep what stands in a field of the chat, until it is sent, and put it back when it comes again.

    To be called in the container that holds the field.

    Args:
        field: the key of the field, which tells it from those of other characters and conversations.
    """
    mount = st.components.v2.component(_KEEPER, js=_SCRIPT)  # each time: the server may not run yet at the import
    mount(key=mounting.allowed(f"unsent-{field}"), data={"field": field})


def hold_clicks() -> None:
    """Let a click that leaves a page while an edit is open wait until the edit is here."""
    with st.sidebar:
        st.components.v2.component(_HOLDER, js=_LEAVING)(key="leaving")
