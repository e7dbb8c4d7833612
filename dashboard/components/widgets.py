"""What several pages show: headings, problems, change sets, undo. Memory text is never markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pandas as pd
import streamlit as st

from memory_system import AgentMemory, Candidate, Change, ChangeSet, MemorySystemError, Retention
from memory_system.core import PERSON, TextChange
from memory_system.errors import InvalidDocument, StaleChange
from memory_system.world import VIEWING

from .. import words
from ..data import cells, diffs, tables
from . import places

MOST_CARDS = 30
_VERB_LOOKS: dict[str, tuple[str, Literal["green", "red", "blue", "orange"]]] = {
    "add": (":material/add:", "green"),
    "forget": (":material/remove:", "red"),
    "move": (":material/arrow_forward:", "blue"),
    "update": (":material/edit:", "orange"),
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=])")
_REPLACED = re.compile(
    r"(?<=:)(?=material/|streamlit:|//)|(?<=www)(?=\.)|(?=@)|(?<=(?<!\S)[-<>~])(?=[-=>]>?(?!\S))", re.IGNORECASE
)
"""Within what Streamlit turns into icons, links and arrows, however it is escaped."""
_JOINER = "\u2060"
"""Has no width, and nothing is broken there."""


def style() -> None:
    """The little that the theme cannot say: width, spacing, words that wrap, ink that dark's pale blue can bear."""
    st.html(
        "<style>"
        "[data-testid='stMainBlockContainer']{max-width:1180px;padding-top:3.2rem;padding-bottom:4rem}"
        "[data-testid='stText']{white-space:pre-wrap;overflow-wrap:anywhere;font-family:inherit}"
        "[class*='st-key-personality-'] textarea{font-family:monospace;font-size:.85rem}"
        "h1{font-size:1.9rem!important;padding-bottom:.2rem!important}"
        "[data-testid='stMain'] h2{font-size:1.4rem!important;padding:.6rem 0 .4rem!important}"
        "button[kind^='primary']:enabled :is(p,kbd,span){color:light-dark(#fff,#161614)!important;opacity:1}"
        "button[kind^='primary']:enabled:hover{background:light-dark(#00466e,#6fb9e6)!important}"
        ".st-key-looking-back{border-left:5px solid light-dark(#005a8e,#4aa3d8)!important}"
        "[data-testid='stLayoutWrapper']:has(>.st-key-news),"
        "[data-testid='stLayoutWrapper']:has(>div>[data-testid='stLayoutWrapper']>.st-key-news){position:absolute}"
        ".st-key-news{position:fixed;right:1.4rem;bottom:1.2rem;width:auto!important;z-index:900}"
        ".st-key-news button{border-radius:2rem;box-shadow:0 2px 10px #0005}"
        "@media(max-width:640px){[data-testid='stMainBlockContainer']{padding:4.6rem 1rem 3rem}"
        "button[data-variant='segmented_control']{padding-inline:.7rem!important}}"
        "</style>"
    )


def ink() -> str:
    """The colour of text on this page, for what draws itself."""
    return "#efeee8" if st.context.theme.type == "dark" else "#161513"


def heading(title: str, about: str, agent: AgentMemory | None = None) -> None:
    """A page's title, whose memory it is about, and what it is for, in a sentence."""
    st.title(plain(title), anchor=False)
    places.line()
    who = f"**{plain(agent.display_name)}** · " if agent is not None else ""
    st.caption(f"{who}{about}")


def verdict(candidate: Candidate) -> None:
    """Why a memory was recalled, or why not, with the sum that its score is."""
    parts = " + ".join(f"{value:.2f} {name}" for name, value in candidate.score.parts.items() if value)
    words = f"{candidate.verdict.value}: {candidate.because} Score {candidate.score.total:.2f} = {parts}."
    (st.success if candidate.recalled else st.info)(plain(words[0].upper() + words[1:]))


def plain(text: str) -> str:
    """Text as markdown that shows it as it is."""
    return _MARKDOWN.sub(r"\\\1", _REPLACED.sub(_JOINER, tables.visible(text)))


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


def closed(agent: AgentMemory) -> bool:
    """Whether nothing can be changed, which is then said in the place of what would change it."""
    if agent.read_only is not None:
        viewer = agent.read_only == VIEWING  # the sidebar says so, but on a phone it is folded away
        why = f"{words.A_VIEWER}." if viewer else "The top of the page says why."
        st.caption(f":material/lock: Nothing can be changed here. {why}")
    return agent.read_only is not None


KEEP_BY = "Keep by"


def keep_by(key: str, default: Retention | None = None) -> Retention:
    """A choice of how migration decides what is kept; without a default, what stands under the key is chosen."""
    chosen = st.segmented_control(
        KEEP_BY, [one.value for one in Retention], default=None if default is None else default.value, required=True,
        key=key, persist_state="session",
    )  # fmt: skip
    st.caption(
        "“learned” keeps memories that are likely enough to be asked for, by weights fitted to labelled conversations; "
        "of the older half, the least likely leave first. “importance” keeps those that are rated important enough; "
        "the oldest leave first."
    )
    return Retention(str(chosen))


def empty(what: str, next_step: str, agent: AgentMemory | None = None) -> None:
    """An empty state with one next step; with ``agent`` another one where nothing can be changed."""
    if agent is not None and agent.read_only is not None:
        viewer = agent.read_only == VIEWING
        next_step = "A curator can change that." if viewer else "Choose another moment, or return to the present."
    with st.container(border=True):
        st.markdown(f"**{plain(what)}**")
        st.caption(plain(next_step))


def change_set(planned: ChangeSet, *, choose: bool = False) -> set[str]:
    """What a change set does and why, what it leaves alone, and what the language model was asked.

    With ``choose`` every memory has a box to accept it; answered are the ids of those that were refused.
    """
    for note in planned.notes:
        st.info(plain(note))
    replaced = planned.of("forget") if planned.operation == "plan" else ()
    if replaced:
        with st.expander(f"It replaces the earlier plan ({tables.counted(len(replaced), 'action', 'actions')})"):
            for change in replaced:
                st.text(f"• {tables.visible(change.before.document if change.before else '')}")
    shown = [change for change in planned.changes[:MOST_CARDS] if change not in replaced]
    refused = {change.entry_id for change in shown if not _change(planned, change, choose)}
    rest = planned.changes[MOST_CARDS:]
    if rest:
        st.caption(f"{tables.counted(len(rest), 'more memory', 'more memories')}, as a table:")
        refused |= _change_table(planned, choose)
    for text in planned.texts:
        if text.name.startswith(PERSON):
            text_change(text)
    if planned.kept:
        with st.expander(f"{tables.counted(len(planned.kept), 'memory', 'memories')} looked at and left in place"):
            for kept in planned.kept:
                st.text(f"• {tables.visible(kept.reason)}")
    model_calls(planned)
    return refused


def field_changes(changed: list[diffs.FieldChange]) -> None:
    """Fields before and after, a line each."""
    for field in changed:
        st.html(
            f"{diffs.STYLE}<div class='diff'>{diffs.escaped(field.field)}: "
            f"{diffs.marked('gone', field.before)} → {diffs.marked('new', field.after)}</div>"
        )


def text_change(text: TextChange) -> None:
    """What changed in the settings, the personality, the saved cues or the judgments."""
    with st.container(border=True, gap="small"):
        st.markdown(f"**{plain(text.words[:1].upper() + text.words[1:])}**")
        named = diffs.of_text(text)
        if named:
            field_changes(named)
        else:
            st.code(diffs.lines(text) or "Only its formatting changed.", language="diff", wrap_lines=True)


def model_calls(planned: ChangeSet) -> None:
    """What the language model was asked for a change set, and what it said."""
    if planned.calls:
        with st.expander(f"What the language model was asked ({tables.counted(len(planned.calls), 'call', 'calls')})"):
            for call in planned.calls:
                st.caption(plain(f"{call.task} · {call.model} · {call.milliseconds:.0f} ms"))
                st.code(call.prompt, language=None, wrap_lines=True)
                st.code(call.error or call.answer, language=None, wrap_lines=True)


def _change(planned: ChangeSet, change: Change, choose: bool) -> bool:
    """One memory's part in a change set, in full; answers whether it is accepted."""
    held = change.after or change.before
    assert held is not None, "a change has a before or an after"
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            verb_badge(change)
            st.badge(held.kind.value, color="gray")
            for mark in tables.marks(held):
                st.badge(mark, color="violet")
            if held.importance is not None:
                st.badge(f"importance {held.importance:.2f}", color="gray")
            accepted = not choose or st.checkbox(
                "Accept",
                value=True,
                key=f"accept-{planned.id}-{change.entry_id}",
                persist_state="session",
            )
        if change.before and change.after and change.before.document != change.after.document:
            st.caption(plain(f"Before: {change.before.document}"))
        st.text(tables.visible(held.document))
        st.caption(plain(change.reason))
    return accepted


def verb_badge(change: Change) -> None:
    """What happens to a memory, in a word."""
    icon, colour = _VERB_LOOKS[change.verb]
    st.badge(tables.action(change), icon=icon, color=colour)


def _change_table(planned: ChangeSet, choose: bool) -> set[str]:
    """The changes that have no card of their own, as a table; answers the ids of those that were refused."""
    frame = tables.changes(planned).iloc[MOST_CARDS:].reset_index(drop=True)
    order = ["action", "memory", "importance", "why"]
    if not choose:
        table(frame, hide_index=True, column_order=order)
        return set()
    frame.insert(0, "accept", True)
    from . import drafts  # which is made of what stands here

    accepted = drafts.ticks(
        frame, "accept", f"accept-{planned.id}", hide_index=True, column_order=["accept", *order], disabled=order
    )
    return {str(one) for one in frame["id"]} - accepted


def table(rows: pd.DataFrame | Sequence[Mapping[str, object]], **more: Any) -> Any:
    """A table, which the browser can save as CSV; no text in it is a formula there. Otherwise as ``st.dataframe``."""
    return st.dataframe(cells.as_cells(pd.DataFrame(rows)), **more)


def edited_table(frame: pd.DataFrame, **more: Any) -> pd.DataFrame:
    """A table that can be edited, as ``table``; answers what stands in it now, as it was typed."""
    edited: pd.DataFrame = st.data_editor(cells.as_cells(frame), **more)
    return cells.from_cells(edited)


def clicked_ids(selection: Any) -> list[str]:
    """The ids of the memories behind the points of a chart that are selected, without repeats."""
    held = [point["customdata"] for point in selection["selection"]["points"] if point.get("customdata")]
    return list(dict.fromkeys(str(value[0] if isinstance(value, list) else value) for value in held))


def say_next(message: str) -> None:
    """Show a message at the top of the next run, after the page has been drawn anew."""
    st.session_state["said"] = message


def said() -> None:
    """Show what the last run left to say; its place is always there, so that nothing below it moves and closes."""
    place = st.empty()
    if message := st.session_state.pop("said", None):
        place.success(plain(message), icon=":material/check_circle:")


def undo_button(agent: AgentMemory, revision: int, title: str, forget: str = "", key: str = "undo") -> None:
    """A button that takes an applied change set back; ``forget`` names what the session need not remember then."""
    if st.button(
        "Undo", icon=":material/undo:", key=f"{key}-{revision}", disabled=agent.read_only is not None,
        help=agent.read_only or "In Python: AgentMemory.undo",
    ):  # fmt: skip
        try:
            agent.undo(revision)
        except StaleChange as error:
            problem(error)
            st.page_link(
                "views/history/history.py", label="Choose on the History page", query_params={"change": str(revision)}
            )
        except MemorySystemError as error:
            problem(error)
        else:
            if forget:
                st.session_state.pop(forget, None)
            say_next(f"Undone: {title}")
            st.rerun()
