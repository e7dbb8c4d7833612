"""Who trusts whom as a graph; a click explains it, and leads to the character."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory

from ... import session, words
from ...components import mounting, widgets
from ...data import trusting

_OPENED = "trust-opened"
_MOST = 12
"""The most characters in one picture."""


def show(agent: AgentMemory) -> None:
    """The graph of the cast, the viewed character first."""
    if name := mounting.text(mounting.taken(_OPENED), "name"):
        st.switch_page("views/personality/personality.py", query_params={"agent": name})
    world = session.world()
    names = [agent.name, *(name for name in world.characters() if name != agent.name)][:_MOST]
    stamps = session.stamps(world.characters())
    bonds = [bond for bond in session.kept("bonds", agent, lambda _: world.bonds(), *stamps) if bond.agent in names]
    if not any(bond.to in names for bond in bonds):
        widgets.empty(words.NOBODY_TRUSTS, "Write whom it knows into its personality.", agent, to="personality")
        return
    picture = trusting.picture(bonds, names, words.OPEN_CHARACTER, session.picture, session.shown_name)
    mounting.show("graph", picture, mounting.keeping(_OPENED), key="trust-graph")
    st.caption("The wider an arrow, the greater the trust; a dashed arrow means that it is not known yet.")
    widgets.lead("See how trust went", "interview", agent.name, show="people")
