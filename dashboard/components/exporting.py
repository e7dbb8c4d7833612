"""Exports of a character: a link for each form, behind one button."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory
from memory_system.operations.exporting import Form

from .. import session, words
from ..server import downloads

FORMS: dict[Form, tuple[str, str]] = {
    Form.CARD_PNG: ("Card, as a picture", "A Tavern character card, V2 and V3, with its memories as a lorebook."),
    Form.CARD: ("Card, V3", "The card as JSON."),
    Form.CARD_V2: ("Card, V2", "The card as JSON, for older programs."),
    Form.DOSSIER: ("Dossier", "Who the character is and what it remembers, in Markdown, for reading."),
    Form.FOLDER: ("Folder", "A ZIP of Markdown, one file per memory, for git."),
    Form.JSONL: ("JSON lines", "One line per memory."),
    Form.CSV: ("Table", "CSV, one row per memory, for a spreadsheet."),
}
"""The label of a link, and what it gives."""


def control(agent: AgentMemory) -> None:
    """Links to the character as files, as it is now or was at the moment that is viewed."""
    moment = session.moment()
    then = {} if moment is None else moment.link()
    with st.popover(words.EXPORT, icon=":material/download:", help="In Python: AgentMemory.export_as"):
        st.caption(
            "Exporting changes nothing. Everything but the dossier can be imported again. Talks, word for word, and "
            "documents are not included: a backup of the world, made on Installation, has them."
        )
        for form, (label, gives) in FORMS.items():
            address = downloads.link(downloads.EXPORT, agent=agent.name, form=str(form), **then)
            st.link_button(label, address, icon=":material/download:", help=gives, width="stretch")
