"""Personality: the static memory as a form or as JSON, checked while it is edited, previewed before it is saved."""

from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, cast, change_set, drafts, exporting, widgets
from dashboard.data import tables
from dashboard.views.personality import meanwhile as personality_meanwhile
from dashboard.views.personality import personality_form, portrait
from memory_system import MemorySystemError, Tier
from memory_system.errors import InvalidDocument

agent = session.agent()
widgets.heading(
    "Personality",
    "What is always true of the character: it never decays"
    f"{'' if session.viewing() else ', and only you can change it'}.",
    agent,
)
bulk.last()


def facts() -> None:
    """The facts that the personality becomes in memory."""
    widgets.table(
        tables.facts(agent.entries(Tier.STATIC)),
        hide_index=True,
        column_config={
            "section": st.column_config.TextColumn("Section", width=150),
            "fact": st.column_config.TextColumn("Fact it becomes in memory", width="large"),
        },
    )


past = session.moment() is not None
if past or session.viewing():
    if agent.personality_text is None:
        widgets.empty("There was no personality yet." if past else "There is no personality.", "", agent)
    else:
        facts()
        with st.expander(f"The personality{' at that time' if past else ''}, as JSON"):
            st.code(agent.personality_text, language=None, wrap_lines=True)
    exporting.control(agent)
    widgets.closed(agent)
    st.stop()
with st.container(horizontal=True):
    cast.manage(agent)
    portrait.control(agent)
    exporting.control(agent)
if agent.personality_problem:
    st.warning(widgets.plain(agent.personality_problem), icon=":material/warning:")
    if agent.personality_text and st.button("Restore the last good one", icon=":material/settings_backup_restore:"):
        agent.curation.put_personality_back()
        widgets.say_next("The last good personality was restored; the broken file is kept beside it.")
        st.rerun()

loaded, draft, base, field, drawn, aside = (
    f"{name}-{agent.name}" for name in ("loaded", "draft", "base", "personality", "drawn-as", "laid-aside")
)
now = agent.personality_text or ""
if loaded not in st.session_state:
    st.session_state[loaded] = now
    st.session_state[draft] = now or agent.curation.personality_on_disk or ""
    st.session_state[base] = (st.session_state.get(base, (0, ""))[0] + 1, "")  # earlier fields are not reused
loaded_text = st.session_state[loaded] or None  # a file that was never valid is repaired from its text on disk


def begin(text: str) -> None:
    """Make all fields begin with this personality at the next run."""
    st.session_state[draft] = text
    st.session_state[base] = (st.session_state[base][0] + 1, "")
    st.session_state.pop(field, None)


def form(text: str) -> tuple[str, dict[str, Any] | None]:
    """Draw the form; returns the personality as filled in, and a place next to each section for its problems."""
    number, begun = st.session_state[base]
    if not begun:
        begun = text
        st.session_state[base] = (number, begun)
    document = personality_form.read(begun)
    if document is None:
        widgets.empty(
            "The JSON cannot be shown as a form.", "Fix it under JSON first; each problem is listed with its line."
        )
        return text, None
    filled, slots = personality_form.show(document, f"form-{agent.name}-{number}")
    return begun if filled == document else personality_form.dump(filled), slots


mode = st.segmented_control(
    words.EDIT_AS, ["Form", "JSON", "Facts"], default="Form", required=True,
    key="personality-as", persist_state="session",
)  # fmt: skip
text, slots, was = st.session_state[draft], None, st.session_state.get(drawn)
if was == "JSON" and field in st.session_state:  # what was typed may arrive with the very click that leaves the field
    text = st.session_state[field]
    if text != st.session_state[draft]:
        st.session_state[base] = (st.session_state[base][0] + 1, "")  # the form begins again from what is here
elif was == "Form" and mode != "Form":  # and so may a cell: the form is drawn once more to receive it, then removed
    place = st.empty()
    with place.container():
        text, _ = form(text)
    place.empty()
    drafts.taken_away(f"form-{agent.name}-")
if mode == "JSON":
    if st.session_state.get(field) != text:
        st.session_state[field] = text
    text = st.text_area(words.PERSONALITY_JSON, key=field, height=420, persist_state="session")
elif mode == "Form":
    text, slots = form(text)
    if slots is None:
        st.session_state[draft], st.session_state[drawn] = text, mode
        st.stop()
else:
    facts()
st.session_state[draft], st.session_state[drawn] = text, mode

changed, meanwhile = text != st.session_state[loaded], now != st.session_state[loaded]
plan = None
if meanwhile and not changed:
    st.session_state[loaded] = now
    begin(now)
    st.rerun()
if meanwhile:
    both = personality_meanwhile.show(f"meanwhile-{agent.name}", st.session_state[loaded], text, now)
    if both is not None:
        st.session_state[loaded] = now
        begin(both)
        st.rerun()
elif changed:
    try:
        plan = agent.save_personality(text, expected=loaded_text, preview=True)
    except InvalidDocument as error:
        if slots is not None:
            st.error("This cannot be saved yet: see beside the fields.", icon=":material/error:")
            personality_form.tell(error.problems, slots)
        else:
            widgets.problem(error, text)
    except MemorySystemError as error:
        widgets.problem(error)
with st.container(horizontal=True):
    save = st.button("Save", type="primary", icon=":material/save:", disabled=plan is None)
    again = st.button(
        words.LOAD_AGAIN, icon=":material/refresh:", help="Load the current version. Your text is set aside below."
    )
if again:
    if changed:
        st.session_state[aside] = text
    st.session_state[loaded] = now
    begin(now or agent.curation.personality_on_disk or "")
    st.rerun()
if save and plan is not None:
    try:
        done = agent.save_personality(text, expected=loaded_text)
    except MemorySystemError as error:
        widgets.problem(error)
    else:
        st.session_state[loaded] = text
        bulk.done(agent, done, "Saved. Only the changed facts were embedded again.")
        st.rerun()
if changed:
    with st.expander("Every changed line"):
        st.code(tables.line_diff(st.session_state[loaded], text), language="diff", wrap_lines=True)
if plan is not None and plan.changes:
    st.header("Saving would change", anchor=False)
    change_set.show(agent, plan)
elif plan is not None:
    st.caption("Saving would change the text, but no fact.")
elif not changed:
    st.caption("No changes.")
if aside in st.session_state:
    with st.expander("Your text before reloading"):
        st.code(tables.line_diff(now, st.session_state[aside]), language="diff", wrap_lines=True)
        if st.button(words.RESTORE_MY_TEXT, icon=":material/undo:", help="The text in the fields is set aside."):
            put_back = st.session_state.pop(aside)
            if changed:
                st.session_state[aside] = text
            begin(put_back)
            st.rerun()
