"""The world's prompts: each can be edited, viewed as it would be sent, and restored; every version is kept."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.core import ago, real_clock
from memory_system.llm import PROMPTS, Prompt, PromptFile, checked, shipped
from memory_system.world import sample

from ... import session, words
from ...components import bulk, drafts, widgets
from ...data import diffs, tables
from ...data.zone import stamp

LINK = "prompts"
"""The value in a link that shows this."""
_CHOSEN = "prompt-chosen"
_MOST_VERSIONS = 20


def show(agent: AgentMemory) -> None:
    """One prompt at a time."""
    file = session.world().prompts
    with st.container(border=True):
        st.header("Prompts", anchor=False)
        st.caption(
            "The instructions for the language model. Memories follow them as data, after a sentence and an answer "
            "format that cannot be edited."
        )
        if file.problem:
            st.warning(widgets.plain(file.problem), icon=":material/warning:")
        own = file.prompts.own
        name = st.selectbox("Prompt", list(PROMPTS), key=_CHOSEN, format_func=lambda choice: PROMPTS[choice].title)
        if own:
            st.caption(widgets.plain(f"Customised in this world: {', '.join(PROMPTS[key].title for key in own)}."))
        about = PROMPTS[name]
        st.caption(widgets.plain(about.used))
        if not widgets.closed(agent):
            _edit(file, about, agent)
        else:
            st.code(tables.lines(file.prompts.text(name)), language=None, wrap_lines=True)
        _earlier(file, about, agent)


def _edit(file: PromptFile, about: Prompt, agent: AgentMemory) -> None:
    current = file.prompts.text(about.name)
    draft = drafts.Draft(f"prompt/{about.name}", {"text": current}, {"text": "The text"})
    text = st.text_area("Text", max_chars=about.most, height=220, key=draft.field("text"), persist_state="session")
    settled = draft.settle_clashes()
    draft.unsaved()
    st.caption(widgets.plain(_places(about)))
    problem: MemorySystemError | None = None
    try:
        text = checked(about.name, text)
    except MemorySystemError as error:
        problem = error
        widgets.problem(error)
    usual = shipped(about.name)
    with st.container(horizontal=True):
        look = st.button(
            "Preview", icon=":material/visibility:", disabled=problem is not None, help="Sends and changes nothing."
        )
        save = st.button(
            "Save", type="primary", icon=":material/save:",
            disabled=problem is not None or text == current or not settled, key="save-prompt",
            help="From the next call on. In Python: world.prompts.save(name, text)",
        )  # fmt: skip
        restore = st.button(
            words.RESTORE_THE_SHIPPED_TEXT, icon=":material/restart_alt:", disabled=current == usual,
            help="The current text stays among the versions. In Python: world.prompts.restore(name)",
        )  # fmt: skip
    if look:
        _preview(about, text, agent)
    if save:
        _save(file, about, text, f"“{about.title}” is saved.", draft)
    if restore:
        _save(file, about, usual, f"“{about.title}” has the shipped text again.", draft)
    if problem is None and text != usual:
        with st.expander("What differs from the shipped text"):
            st.html(diffs.markup(usual, text))


def _places(about: Prompt) -> str:
    needed = [f"{{{place}}}" for place in about.needed]
    allowed = [f"{{{place}}}" for place in about.allowed]
    if needed:
        return f"Filled in, and required: {', '.join(needed)}."
    return f"Can be filled in: {', '.join(allowed)}." if allowed else "Nothing is filled in here."


def _preview(about: Prompt, text: str, agent: AgentMemory) -> None:
    try:
        with st.spinner("Putting it together …"):
            shown = sample(agent, about.name, text)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    if shown.sent:
        st.caption(widgets.plain(f"What would be sent about {agent.display_name}. {shown.note}".strip()))
        st.code(tables.lines(shown.sent), language=None, wrap_lines=True, height=420)
    else:
        st.info(widgets.plain(f"Nothing would be sent about {agent.display_name}. {shown.note}".strip()))


def _save(file: PromptFile, about: Prompt, text: str, words: str, draft: drafts.Draft | None = None) -> None:
    before = file.prompts.text(about.name)
    try:
        file.save(about.name, text, by="dashboard")
    except MemorySystemError as error:
        widgets.problem(error)
    else:
        if draft is not None:
            draft.done()
        bulk.did(
            words, lambda: file.save(about.name, before, by="dashboard"), f"“{about.title}” has its former text again.",
            holds=lambda: file.prompts.text(about.name) == text, where="world.prompts.save(name, text)",
        )  # fmt: skip
        st.rerun()


def _earlier(file: PromptFile, about: Prompt, agent: AgentMemory) -> None:
    versions = file.versions(about.name)
    if not versions:
        return
    now = real_clock()
    with st.expander(f"Versions ({len(versions)})"):
        for number, wording in enumerate(versions[:_MOST_VERSIONS]):
            with st.container(horizontal=True, vertical_alignment="center"):
                what = ": the shipped text" if wording.text is None else ""
                st.caption(
                    widgets.plain(f"{ago(wording.at, now)} ({stamp(wording.at)}), {wording.by}{what}"), width="stretch"
                )
                if (
                    number
                    and agent.read_only is None
                    and st.button("Use again", key=f"again-{about.name}-{len(versions)}-{number}", type="tertiary")
                ):
                    _save(file, about, wording.told, f"“{about.title}” has its text of that time again.")
            if wording.text is not None:
                st.code(tables.lines(wording.told), language=None, wrap_lines=True)
        if len(versions) > _MOST_VERSIONS:
            st.caption(f"{len(versions) - _MOST_VERSIONS} older ones: world.prompts.versions({about.name!r})")
