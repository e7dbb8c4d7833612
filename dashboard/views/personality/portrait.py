"""The portrait of a character: a picture from a file, or none."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.operations.exporting import pictures

from ...components import bulk, drafts, widgets


def control(agent: AgentMemory) -> None:
    """Set the picture, or remove it, behind one button."""
    with st.popover("Portrait", icon=":material/account_circle:"):
        upload = st.file_uploader(
            "A picture: PNG, JPEG or WebP, at most 2 MB", type=["png", "jpg", "jpeg", "webp"], max_upload_size=2,
            key=drafts.turn(f"portrait-{agent.name}"),
        )  # fmt: skip
        if upload is not None:
            try:
                picture = pictures.portrait(upload.getvalue())
            except MemorySystemError as error:
                widgets.problem(error)
            else:
                drafts.next_turn(f"portrait-{agent.name}")
                bulk.do(agent, lambda: agent.set_portrait(picture))
        if agent.portrait and st.button("Use the pattern again", icon=":material/grid_view:"):
            bulk.do(agent, lambda: agent.set_portrait(None))
