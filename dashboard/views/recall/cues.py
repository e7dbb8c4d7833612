"""Saved cues: what a character must and must not recall, checked again after every edit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.agent_parts import CueResult
from memory_system.recall import Explanation

from ... import session, words
from ...components import bulk, drafts, mounting, widgets
from ...data import tables

_CHOICES = 300
_TOLD = "cue-replaced"
"""The key for the saved cue that the page said would be replaced when it was last drawn."""


def show(agent: AgentMemory, found: Explanation) -> None:
    """Every saved cue with its result, and a form that saves the present one."""
    if agent.saved_cues:
        results(agent)
    else:
        widgets.empty(
            words.NO_CUE_IS_SAVED_YET,
            "Save this one with the memories that it must recall; it is checked after each edit.",
        )
    _form(agent, found)


def results(agent: AgentMemory) -> None:
    """Every saved cue with its result."""
    checked = session.checked_cues(agent)
    if failed := sum(1 for result in checked if not result.passed):
        st.error(f"Saved cues that fail: {failed} of {len(checked)}.", icon=":material/cancel:")
    else:
        st.success(f"Saved cues that pass: {len(checked)} of {len(checked)}.", icon=":material/check_circle:")
    for result in checked:
        _result(agent, result)


def _result(agent: AgentMemory, result: CueResult) -> None:
    saved = result.saved
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            if result.passed:
                st.badge("pass", icon=":material/check:", color="green")
            else:
                st.badge("fail", icon=":material/close:", color="red")
            with st.container(width="stretch", gap=None):
                st.markdown(f"**{widgets.plain(saved.name)}**")
                st.caption(widgets.plain(saved.cue))
            with st.container(horizontal=True, width="content"):
                if st.button("Ask it", key=f"ask-{saved.name}", icon=":material/search:", type="tertiary"):
                    st.switch_page("views/recall/recall.py", query_params={"agent": agent.name, "cue": saved.cue})
                if st.button(
                    "Remove", key=f"remove-{saved.name}", icon=":material/delete:", type="tertiary",
                    disabled=agent.read_only is not None,
                    help=widgets.plain(agent.read_only or "In Python: AgentMemory.remove_cue"),
                ):  # fmt: skip
                    bulk.do(agent, partial(agent.remove_cue, saved.name))
        for words, ids in (
            ("must recall, and did not", result.missing),
            ("must not recall, and did", result.unwanted),
        ):
            for entry_id in ids:
                st.text(f"• {words}: {_named(agent, entry_id)}")


def _named(agent: AgentMemory, entry_id: str) -> str:
    text = tables.short(agent.last_version(entry_id).document, 120)
    return text if agent.find(entry_id) else f"{text} (forgotten)"


def _form(agent: AgentMemory, found: Explanation) -> None:
    if widgets.closed(agent):
        return
    hits = [hit.entry for hit in found.hits]
    texts = {
        candidate.entry.id: tables.short(candidate.entry.document, 90) for candidate in found.candidates[:_CHOICES]
    }
    form = f"save-cue/{agent.name}"
    key = f"{drafts.turn(form)}-{found.query.cue}"
    with st.container(border=True):
        st.markdown("**Save this cue**")
        name = st.text_input(
            "Name", placeholder="The key, before the vote", max_chars=80, key=f"name-{drafts.turn(form)}",
            persist_state="session",
        )  # fmt: skip
        mounting.keep_unsent(f"name-{drafts.turn(form)}", f"{form}/name")
        draft = drafts.Draft(key, {"must": [entry.id for entry in hits][:3], "must_not": []})
        fields = []
        for label, field in (("Must recall", "must"), ("Must not recall", "must_not")):
            options = list(dict.fromkeys([*texts, *st.session_state[draft.field(field)]]))  # chosen ones stay
            fields.append(
                st.multiselect(
                    label,
                    options,
                    key=draft.field(field),
                    format_func=lambda entry_id: _option(agent, texts, entry_id),
                    help="Currently recalled memories are listed first." if field == "must" else None,
                    persist_state="session",
                )
            )
        replaces = _replaced(agent, name)
        if replaces:
            st.caption(widgets.plain(f"A cue called “{replaces}” is saved already: saving replaces it."))
        pressed = st.button(words.SAVE_THE_CUE, icon=":material/bookmark_add:", key="save-the-cue")
        told = st.session_state.get(_TOLD) if pressed else replaces
        st.session_state[_TOLD] = replaces
        if pressed and replaces and told != replaces:
            st.warning(
                widgets.plain(
                    f"Not saved: there is a cue “{replaces}” already. Save again to replace it, or rename yours."
                ),
                icon=":material/call_split:",
            )
        elif pressed:
            try:
                done = agent.save_cue(name, found.query.cue, *fields)
            except MemorySystemError as error:
                widgets.problem(error)
            else:
                draft.done()
                drafts.next_turn(form)
                bulk.done(agent, done, f"Saved: {name}")
                st.rerun()
    st.caption("Saved cues use the character's own settings, not the sliders above.")


def _replaced(agent: AgentMemory, name: str) -> str:
    """The name of the saved cue that one of this name would replace; empty if there is none."""
    same = (saved.name for saved in agent.saved_cues if saved.name.casefold() == name.strip().casefold())
    return next(same, "")


def _option(agent: AgentMemory, texts: Mapping[str, str], entry_id: str) -> str:
    """A memory to choose; one that is no longer a candidate says what happened to it."""
    return texts.get(entry_id) or _named(agent, entry_id)
