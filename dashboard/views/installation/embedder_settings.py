"""What makes the vectors of this world: which embedder is in use, for which languages, and another one to use.

All characters are re-embedded from here, one after another; a single one, at the top of its pages.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from memory_system import MemorySystemError, World
from memory_system.core import LANGUAGES
from memory_system.embedding import EMBEDDERS, known_languages
from memory_system.operations import Progress

from ... import session, words
from ...components import bulk, widgets, working
from ...data import tables


def show() -> None:
    """The embedder in use, and, if the person may choose, others."""
    world = session.world()
    with st.container(border=True):
        st.header("Embedding model", anchor=False)
        known = known_languages(world.embedder)
        sentence = "It does not say which languages it knows."
        if known is not None:
            sentence = (
                f"Made for {', '.join(sorted(LANGUAGES[language] for language in known if language in LANGUAGES))}."
            )
        st.caption(widgets.plain(f"In use: {world.embedder.identity}. {sentence}"))
        if world.embedder_decided:
            st.caption(widgets.plain(world.embedder_decided))
            _reembed(world)
            return
        names = EMBEDDERS.names()
        name = st.selectbox(
            words.EMBEDDER, names, names.index(world.embedder_name) if world.embedder_name in names else 0,
            key="embedder", persist_state="session",
            help="“minilm” is best for English. “multilingual” knows sixteen languages, and is weaker in English.",
        )  # fmt: skip
        st.caption("After a change each character has to be re-embedded before it can recall or change anything.")
        if st.button(
            words.USE_THIS_EMBEDDER, icon=":material/translate:", disabled=name == world.embedder_name,
            help="In Python: world.use_embedder(name)",
        ):  # fmt: skip
            before = world.embedder_name
            try:
                with st.spinner("Loading …"):
                    world.use_embedder(name)
            except MemorySystemError as error:
                widgets.problem(error)
            else:
                bulk.did(
                    f"{name} makes the vectors of this world", lambda: world.use_embedder(before),
                    f"{before} makes the vectors of this world again.", holds=lambda: world.embedder_name == name,
                    where="world.use_embedder(name)",
                )  # fmt: skip
                st.rerun()
        _reembed(world)


def _reembed(world: World) -> None:
    """Make the missing vectors of all characters."""
    name = "reembed-all"
    work = working.of(name)
    if work is not None and work.running:
        working.bar(name)
        return
    if work is not None:
        working.put_away(name)
        if work.problem is not None:
            widgets.problem(work.problem)
        else:
            made = tables.counted(work.result, "memory has its vector", "memories have their vectors")
            st.success(f"{made} now." if work.result else "No vector was missing.", icon=":material/check_circle:")
    if st.button(words.RE_EMBED_ALL, icon=":material/autorenew:", help="python -m memory_system reembed"):
        working.begin(name, lambda progress, cancelled: _all(world, progress, cancelled))
        st.rerun()


def _all(world: World, progress: Progress, cancelled: Callable[[], bool]) -> int:
    """How many memories were embedded; a read-only character is skipped."""
    names, embedded = world.stored(), 0
    for number, name in enumerate(names):
        agent = world.agent(name)

        def tell(done: float, doing: str, name: str = name, number: int = number) -> None:
            progress((number + done) / len(names), f"{name}: {doing}")

        if agent.read_only is None and not cancelled():
            embedded += agent.reembed(progress=tell, cancelled=cancelled).embedded
    return embedded
