"""The first step: who it is, from a paragraph, or in the form of a personality."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_system import MemorySystemError
from memory_system.llm.offline import OfflineModel
from memory_system.operations import read_introduction

from ... import session, words
from ...components import mounting, widgets
from ...data import tables
from ..personality import personality_form
from .life import Life

KEPT = ("paragraph", "paragraph-read", "document", "read", "read-by")
"""The fields of this step that outlive a reload."""
_MOST = 8_000
_EMPTY = {"identity": {"name": ""}}
_EXAMPLE = (
    "Rosa Quill, 34, baker in Harrow Quay. She is stubborn and warm-hearted. She wants to buy back the mill. "
    "Her brother Tomas is a fisherman whom she does not trust. She gets up at 4 every morning."
)
_COUNTED = {
    "traits": ("trait", "traits"),
    "long_term_goals": ("goal", "goals"),
    "relationships": ("relationship", "relationships"),
    "routine": ("routine", "routines"),
    "facts": ("fact", "facts"),
}


def show(life: Life) -> dict[str, Any]:
    """Draw it; returns the personality as filled in."""
    with st.container(gap="small"):
        st.text_area(
            words.IN_A_PARAGRAPH, key=life.key("paragraph"), height=110, max_chars=_MOST, placeholder=_EXAMPLE,
            persist_state="session", help=_help(),
        )  # fmt: skip
        mounting.keep_unsent(life.key("paragraph"))
    paragraph = str(life.get("paragraph") or "")
    changed = paragraph.strip() and paragraph != life.get("paragraph-read")
    by_hand = life.get("document") not in (None, _EMPTY, life.get("read"))
    if changed and (not by_hand or _wants_it_anew()):
        _read(life, paragraph)
    if life.key("base") not in st.session_state:
        life.put("base", life.get("document") or _EMPTY)
    place, read_by = st.empty(), st.empty()
    with st.expander("Look at what was read, or fill in the form", icon=":material/edit_note:"):
        document, _ = personality_form.show(life.get("base"), life.key(f"form-{life.get('turn', 0)}"))
    life.put("document", document)
    place.caption(widgets.plain(_character_in_words(document)))
    if by := life.get("read-by"):
        read_by.caption(widgets.plain(str(by)))
    return document


def _help() -> str:
    model = session.world().model
    if model.name == OfflineModel.name:
        return "Read by plain rules, without a language model. Nothing is left out."
    return widgets.plain(f"Read by {model.label}; by plain rules where it does not help.")


def _wants_it_anew() -> bool:
    return st.button(
        "Read the paragraph again", icon=":material/refresh:", type="tertiary",
        help="What you have changed in the form is replaced.",
    )  # fmt: skip


def _read(life: Life, paragraph: str) -> None:
    """Make the form begin again with what the paragraph says."""
    model = session.world().model
    try:
        with st.spinner(f"{widgets.plain(model.label)} reads it …"):
            found = read_introduction(paragraph, model)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    document = found.document
    life.put("base", document)
    life.put("read", document)
    life.put("document", document)
    life.put("read-by", f"Read by {found.by}{f': {found.problem}' if found.problem else '.'}")
    life.put("paragraph-read", paragraph)
    life.put("turn", int(life.get("turn", 0)) + 1)


def _character_in_words(document: dict[str, Any]) -> str:
    """What is known about the character so far, in a line."""
    identity = document.get("identity") or {}
    if not str(identity.get("name", "")).strip():
        return "No name yet: begin the paragraph with it, or write it into the form."
    known = [str(identity[field]) for field in ("name", "age", "profession", "home") if identity.get(field)]
    counts = [tables.counted(len(document[name]), *called) for name, called in _COUNTED.items() if document.get(name)]
    taken = str(identity["name"]).strip() in map(session.shown_name, session.world().characters())
    return tables.short(" · ".join([*known, *counts, *["there is a character of this name already"] * taken]), 300)
