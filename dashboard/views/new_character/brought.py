"""A file of another program that the character is made from: a card, a persona, a chat; in addition to the form."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import streamlit as st

from memory_system import MemoryEntry, MemorySystemError
from memory_system.agent_parts import preview_of
from memory_system.operations.importing import Preview

from ... import words
from ...components import material, widgets
from .life import Life

_FORM = ("base", "read", "document", "read-by")
_BEFORE = "before-file"
KEPT = ("brought", _BEFORE)
"""The fields of this step that outlive a reload."""


@dataclass(frozen=True)
class Brought:
    """The content of a file.

    Args:
        looked: what becomes of each line.
        document: who it is.
        lived: what happened, for short-term memory.
        kept: what is stored as it is: long-term memory, and what was worked out elsewhere.
        card: the card's JSON, if it was one.
        portrait: its picture, as stored, if it has one.
    """

    looked: Preview
    document: dict[str, Any] | None
    lived: tuple[MemoryEntry, ...]
    kept: tuple[MemoryEntry, ...]
    card: str | None
    portrait: str | None


def show(life: Life, now: datetime) -> Brought | None:
    """Draw it; returns what was imported, if anything."""
    with st.expander(words.BRING_A_FILE, icon=":material/upload_file:", expanded=life.get("brought") is not None):
        st.file_uploader(
            "A character card, a persona, a chat or another file", type=material.TYPES, key=life.key("brought-file"),
            on_change=_bring, args=(life, now), max_upload_size=50, help=material.known(),
        )  # fmt: skip
        if problem := life.get("brought-problem"):
            st.error(widgets.plain(problem), icon=":material/error:")
        brought: Brought | None = life.get("brought")
        if brought is None:
            st.caption("Who it is goes into the form below, and its memories come along. Nothing is stored yet.")
            return None
        material.rows(brought.looked, life.key("brought-rows"))
        if st.button(words.LEAVE_THE_FILE_OUT, icon=":material/close:", type="tertiary", key=life.key("brought-drop")):
            life.put("brought", None)
            _put_back(life)
            st.rerun()
    return brought


def _bring(life: Life, now: datetime) -> None:
    """Read the file, and make the form begin with the character it describes."""
    upload = life.get("brought-file")
    life.put("brought-problem", "")
    if upload is None:
        return
    try:
        looked, found, read = preview_of(upload.getvalue(), now, file_name=upload.name)
    except MemorySystemError as error:
        life.put("brought-problem", error.sentence)
        return
    document = found.document
    if document is not None:
        named = document["identity"]
        document = {**document, "identity": {**named, "name": looked.name or ""}}
        if life.get("brought") is None or life.get("document") != life.get("read"):
            life.put(_BEFORE, {name: life.get(name) for name in _FORM})
        for name in ("base", "read", "document"):
            life.put(name, document)
        life.put("read-by", f"Read from {upload.name}.")
        life.put("turn", int(life.get("turn", 0)) + 1)
    lived, kept = (tuple(piece.entry for piece in some) for some in (found.pieces, found.kept))
    life.put("brought", Brought(looked, document, lived, kept, read.card, found.portrait))


def _put_back(life: Life) -> None:
    """Make the form begin with what was in it before the file, unless somebody has changed it since."""
    before = life.get(_BEFORE)
    if before is None or life.get("document") != life.get("read"):
        return
    for name in _FORM:
        life.put(name, before[name])
    life.put("base", before["document"])
    life.put("turn", int(life.get("turn", 0)) + 1)
