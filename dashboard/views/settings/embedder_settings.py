"""What makes the vectors of this world: which embedder is in use, for which languages, and another one to use."""

from __future__ import annotations

import streamlit as st

from memory_system import MemorySystemError
from memory_system.core import LANGUAGES
from memory_system.embedding import EMBEDDERS, known_languages

from ... import session, words
from ...components import widgets


def show() -> None:
    """The embedder in use, and, where a person may choose, another one."""
    world = session.world()
    with st.container(border=True):
        st.header("Embedding model", anchor=False)
        known = known_languages(world.embedder)
        told = "It does not say which languages it knows."
        if known is not None:
            told = f"Made for {', '.join(sorted(LANGUAGES[one] for one in known if one in LANGUAGES))}."
        st.caption(widgets.plain(f"In use: {world.embedder.identity}. {told}"))
        if world.embedder_decided:
            st.caption(widgets.plain(world.embedder_decided))
            return
        names = EMBEDDERS.names()
        name = st.selectbox(
            words.EMBEDDER, names, names.index(world.embedder_name) if world.embedder_name in names else 0,
            key="embedder", persist_state="session",
            help="“minilm” is best for English. “multilingual” knows sixteen languages, and is weaker in English.",
        )  # fmt: skip
        st.caption(
            "Shared by all characters of this world. After a change each character has to be re-embedded before it can "
            "recall or change anything; a button for that appears at the top of its pages."
        )
        if st.button(
            words.USE_THIS_EMBEDDER, icon=":material/translate:", disabled=name == world.embedder_name,
            help="In Python: world.use_embedder(name)",
        ):  # fmt: skip
            try:
                with st.spinner("Loading …"):
                    world.use_embedder(name)
            except MemorySystemError as error:
                widgets.problem(error)
            else:
                widgets.say_next(f"{name} makes the vectors of this world.")
                st.rerun()
