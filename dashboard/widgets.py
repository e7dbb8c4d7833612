"""What several pages show: headings, problems, memory cards, change sets. Memory text is never markdown."""

from __future__ import annotations

import re
from typing import Literal

import streamlit as st

from memory_system import AgentMemory, Change, ChangeSet, MemoryEntry, MemorySystemError
from memory_system.errors import InvalidDocument
from memory_system.times import ago, stamp

from . import tables

MOST_CARDS = 30
_VERB_LOOKS: dict[str, tuple[str, Literal["green", "red", "blue", "orange"]]] = {
    "add": (":material/add:", "green"),
    "forget": (":material/remove:", "red"),
    "move": (":material/arrow_forward:", "blue"),
    "update": (":material/edit:", "orange"),
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=])")


def style() -> None:
    """The little that the theme cannot say: page width, calmer spacing, long words that wrap."""
    st.html(
        "<style>"
        "[data-testid='stMainBlockContainer']{max-width:1180px;padding-top:3.2rem;padding-bottom:4rem}"
        "[data-testid='stText']{white-space:pre-wrap;overflow-wrap:anywhere;font-family:inherit}"
        "[class*='st-key-personality-'] textarea{font-family:monospace;font-size:.85rem}"
        "h1{font-size:1.9rem!important;padding-bottom:.2rem!important}"
        "@media(max-width:640px){[data-testid='stMainBlockContainer']{padding:3.5rem 1rem 3rem}}"
        "</style>"
    )


def heading(title: str, about: str) -> None:
    """A page's title and what it is for, in a sentence."""
    st.title(title, anchor=False)
    st.caption(about)


def plain(text: str) -> str:
    """Text as markdown that shows it as it is."""
    return _MARKDOWN.sub(r"\\\1", tables.visible(text))


def problem(error: MemorySystemError, text: str = "") -> None:
    """An error for people: what was wrong, where, and what to do; with the lines of ``text`` that are meant."""
    if isinstance(error, InvalidDocument):
        lines = "\n".join(f"- {plain(str(one))}" for one in error.problems[:20])
        st.error(f"This cannot be saved yet:\n{lines}", icon=":material/error:")
        numbered = list(enumerate(text.splitlines(), start=1))
        meant = {near for one in error.problems[:5] if one.line for near in range(one.line - 1, one.line + 2)}
        if excerpt := [f"{number:>4} | {tables.short(line, 200)}" for number, line in numbered if number in meant]:
            st.code("\n".join(excerpt), language=None)
    else:
        st.error(plain(error.sentence), icon=":material/error:")


def empty(what: str, next_step: str) -> None:
    """An empty state with one next step."""
    with st.container(border=True):
        st.markdown(f"**{plain(what)}**")
        st.caption(plain(next_step))


def memory_card(agent: AgentMemory, entry: MemoryEntry) -> None:
    """One memory: its text, when it happened, how important it is and why, and what it rests on."""
    now = agent.now
    with st.container(border=True):
        with st.container(horizontal=True, gap="small"):
            st.badge(entry.kind.value, color="blue")
            st.badge(tables.TIERS[entry.tier], color="gray")
            if entry.pinned:
                st.badge("pinned", icon=":material/keep:", color="orange")
            if entry.authored:
                st.badge("written by a person", color="violet")
        st.text(tables.visible(entry.document))
        facts = []
        if entry.timestamp:
            facts.append(f"happened {stamp(entry.timestamp)} ({ago(entry.timestamp, now)})")
        if entry.last_access:
            facts.append(f"last recalled {ago(entry.last_access, now)}")
        facts.append(
            "unrated" if entry.rating is None else f"importance {entry.importance:.2f} (rated {entry.rating:g} of 10)"
        )
        st.caption(plain(" · ".join(facts)))
        if entry.explanation:
            st.caption(plain(entry.explanation))
        if entry.tags:
            st.caption(plain("Tags: " + ", ".join(entry.tags)))
        _evidence(agent, entry)
        with st.expander("Details"):
            st.code(f"id: {entry.id}", language=None)


def _evidence(agent: AgentMemory, entry: MemoryEntry) -> None:
    if not entry.evidence:
        return
    with st.expander(f"Rests on {tables.counted(len(entry.evidence), 'memory', 'memories')}"):
        for entry_id in entry.evidence[:50]:
            source = agent.last_version(entry_id)
            gone = " (no longer in recall)" if agent.find(entry_id) is None else ""
            st.text(f"• {tables.visible(source.document)}{gone}")


def change_set(planned: ChangeSet) -> None:
    """What a change set does and why, what it leaves alone, and what the language model was asked."""
    for note in planned.notes:
        st.info(plain(note))
    for change in planned.changes[:MOST_CARDS]:
        _change(change)
    if len(planned.changes) > MOST_CARDS:
        st.caption(f"The first {MOST_CARDS} of {len(planned.changes)}; the table has all.")
        st.dataframe(tables.changes(planned), hide_index=True, column_order=["action", "memory", "importance", "why"])
    if planned.kept:
        with st.expander(f"{tables.counted(len(planned.kept), 'memory', 'memories')} looked at and left in place"):
            for kept in planned.kept:
                st.text(f"• {tables.visible(kept.reason)}")
    if planned.calls:
        with st.expander(f"What the language model was asked ({tables.counted(len(planned.calls), 'call', 'calls')})"):
            for call in planned.calls:
                st.caption(plain(f"{call.task} · {call.model} · {call.milliseconds:.0f} ms"))
                st.code(call.prompt, language=None, wrap_lines=True)
                st.code(call.error or call.answer, language=None, wrap_lines=True)


def _change(change: Change) -> None:
    """One memory's part in a change set, in full."""
    held = change.after or change.before
    assert held is not None, "a change has a before or an after"
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            icon, colour = _VERB_LOOKS[change.verb]
            st.badge(tables.VERBS[change.verb], icon=icon, color=colour)
            st.badge(held.kind.value, color="gray")
            if held.importance is not None:
                st.badge(f"importance {held.importance:.2f}", color="gray")
        if change.before and change.after and change.before.document != change.after.document:
            st.caption(plain(f"Before: {change.before.document}"))
        st.text(tables.visible(held.document))
        st.caption(plain(change.reason))


def say_next(message: str) -> None:
    """Show a message at the top of the next run, after the page has been drawn anew."""
    st.session_state["said"] = message


def said() -> None:
    """Show what the last run left to say."""
    if message := st.session_state.pop("said", None):
        st.success(plain(message), icon=":material/check_circle:")


def undo_button(agent: AgentMemory, revision: int, title: str) -> None:
    """A button that takes an applied change set back."""
    if st.button("Undo", icon=":material/undo:", key=f"undo-{revision}", help="AgentMemory.undo"):
        try:
            agent.undo(revision)
        except MemorySystemError as error:
            problem(error)
        else:
            say_next(f"Undone: {title}")
            st.rerun()
