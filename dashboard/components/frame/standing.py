"""The state of the shown agent, above every page: what is wrong with its store, and what can be done about it."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.core import LIVED
from memory_system.errors import NotSignedIn
from memory_system.maintenance import doctor
from memory_system.operations import Reembedded
from memory_system.world import Role

from ... import session, words
from ...data import tables
from ...server import sign_in
from ...server.visitors import visitors
from .. import widgets, working


def admit() -> None:
    """Raise for anybody who may not see the page.

    Raises:
        NotSignedIn: they may not; the sign-in page is linked.
    """
    try:
        session.role()
    except NotSignedIn:
        st.html(f"<a href='{sign_in.IN}' target='_self'>Sign in</a>")
        raise


def came() -> None:
    """Say once that this browser shows another world than before."""
    if sentence := session.came():
        st.info(widgets.plain(sentence), icon=":material/public:")


def visitor() -> None:
    """Say in the sidebar who is signed in, if permissions differ, with a way to sign out."""
    role, locked = session.role(), visitors().door.locked
    if role is Role.CURATOR and not locked:
        return
    words, icon = _ROLES[role]
    with st.sidebar.container(key="visitor", gap="small"):
        st.badge(role.value.capitalize(), icon=icon, color="blue" if role is Role.CURATOR else "orange")
        st.caption(words)
        if locked:
            st.html(
                f"<form method='post' action='{sign_in.OUT}'><button type='submit' style='all:unset;cursor:pointer;"
                "text-decoration:underline;font-size:var(--type-text)'>Sign out</button></form>"
            )


_ROLES = {
    Role.CURATOR: ("You can look at everything and change it.", ":material/edit:"),
    Role.VIEWER: ("You can look at everything, but not change anything.", ":material/visibility:"),
}


def banner(agent: AgentMemory) -> None:
    """Say what is not as it should be, and offer to repair it; nothing if all is well."""
    if session.viewing():  # for viewers the sidebar says that they may change nothing
        if visitors().demo:
            _demo()
        return
    if agent.read_only is None:
        _vectors(agent)
        if poor := agent.contents.poor_recall:
            with st.container(key="language"):
                st.warning(widgets.plain(poor), icon=":material/language:")
        return
    with st.container(key="standing"):
        st.warning(
            widgets.plain(f"{tables.visible(agent.display_name)} can only be read. {agent.read_only}"),
            icon=":material/lock:",
        )
        if agent.contents.is_damaged:
            with st.popover("Begin a new journal", icon=":material/healing:"):
                st.caption(
                    "A new journal starts with the memories as shown here. The damaged one is kept "
                    "beside it; its earlier changes can no longer be undone."
                )
                if st.button("Begin it with these memories", type="primary", key="begin-again"):
                    _start_over(agent)


def _demo() -> None:
    """Say that this is a demo, and how to get a world of one's own."""
    with st.container(key="demo", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f":material/visibility: {words.DEMO}", width="stretch")
        with st.popover(words.INSTALL_IT, icon=":material/download:"):
            st.caption("From the project's folder, with Python 3.11 or newer:")
            st.code("pip install '.[dashboard]'\nmemory-system run", language="sh")
            st.caption("It opens this same world as your own copy. Nothing leaves your machine, and no key is needed.")


def _vectors(agent: AgentMemory) -> None:
    """Say how many memories have no vector of the embedding model in use, and offer to make them."""
    name = f"reembed-{agent.name}"
    work = working.of(name)
    waiting = agent.waiting_for_vectors
    if work is not None and not work.running:
        working.put_away(name)
        if work.problem is not None:
            widgets.problem(work.problem)
        elif isinstance(work.result, Reembedded) and work.result.done:
            st.success(
                f"{tables.counted(work.result.embedded, 'memory has its vector', 'memories have their vectors')} now.",
                icon=":material/check_circle:",
            )
    refused = agent.contents.of_another_embedder
    if work is None and not waiting and not refused:
        return
    with st.container(key="waiting"):
        if work is not None and work.running:
            may = (
                "Until all are there, this character can be read, but not asked or changed."
                if refused
                else "You can keep working."
            )
            st.info(f"Creating vectors. {may}", icon=":material/hourglass:")
            working.bar(name)
        elif waiting or refused:
            count = sum(len(agent.entries(tier)) for tier in LIVED)
            which = f"{waiting:,} of {count:,} memories" if waiting else "The memories"
            until = "nothing can be recalled or changed" if refused else "are not found by meaning"
            st.warning(
                widgets.plain(
                    f"{which} were made with another embedding model than {session.world().embedder.identity}, "
                    f"and {until} until they are re-embedded. You can stop at any time and continue later."
                ),
                icon=":material/translate:",
            )
            if st.button(
                "Re-embed", icon=":material/autorenew:", type="primary", help="In Python: AgentMemory.reembed"
            ):
                working.begin(name, lambda progress, cancelled: agent.reembed(progress=progress, cancelled=cancelled))
                st.rerun()


def _start_over(agent: AgentMemory) -> None:
    try:
        problem = doctor.mend(session.world(), agent.name)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    if problem is not None:
        st.error(widgets.plain(problem), icon=":material/error:")
        return
    widgets.say_next(f"{agent.name} has a new journal, and can be changed again.")
    st.rerun()
