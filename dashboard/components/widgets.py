"""What several pages show: headings, problems, change sets, undo. Memory text is never markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from memory_system import AgentMemory, Candidate, MemorySystemError, Retention
from memory_system.core import TextChange
from memory_system.errors import InvalidDocument, StaleChange
from memory_system.world import VIEWING

from .. import session, words
from ..data import cells, diffs, personality_diffs, setting_names, tables, type_scale, zone
from . import places

if TYPE_CHECKING:
    from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=])")
_REPLACED = re.compile(
    r"(?<=:)(?=material/|streamlit:|//)|(?<=www)(?=\.)|(?=@)|(?<=(?<!\S)[-<>~])(?=[-=>]>?(?!\S))", re.IGNORECASE
)
"""Places within what Streamlit turns into icons, links and arrows even if escaped."""
_JOINER = "\u2060"
"""Has no width, and allows no line break."""

UNDOING = "Undoing …"
"""What a page says meanwhile."""
_LONG = 60
"""From how many characters on a field is told by the words that differ."""
_HEARD = 80
"""How many characters of what a button acts on a screen reader says."""

_BESIDE = "[data-testid='stColumn']:has(>* .st-key-recall-sheet)"
"""The column of the Recall page's controls: next to the visible bars; on a small screen, a sheet at its lower edge."""


def style() -> None:
    """What the theme cannot define: width, spacing, wrapping, and a text colour for the dark theme's pale blue."""
    st.html(
        f"<style>{type_scale.declared(':root')}"
        "[data-testid='stMainBlockContainer']{max-width:1180px;padding-top:3.25rem;padding-bottom:4rem}"
        "@media(min-width:1600px){[data-testid='stMainBlockContainer']{max-width:none;padding-inline:3rem}"
        "[data-testid='stCaptionContainer'] p,[data-testid='stText']{max-width:72rem}}"
        "[data-testid='stText']>span,[data-testid='stMain'] textarea,[data-testid='stTextInput'] input"
        "{unicode-bidi:plaintext;text-align:start}"
        "[data-testid='stSelectbox'] input{text-overflow:ellipsis}"
        "[data-testid='stText']{white-space:pre-wrap;overflow-wrap:anywhere;font-family:inherit}"
        "[class*='st-key-personality-'] textarea{font-family:monospace;font-size:var(--type-text)}"
        "h1{font-size:var(--type-title)!important;line-height:var(--type-title-line)!important;"
        "padding-bottom:.25rem!important}"
        "[data-testid='stMain'] h2{font-size:var(--type-lead)!important;line-height:var(--type-lead-line)!important;"
        "padding:.5rem 0!important}"
        "[data-testid='stMain'] h3{font-size:var(--type-read)!important;line-height:var(--type-read-line)!important;"
        "padding:.5rem 0!important}"
        "[data-testid='stNumberInput'] :has(>[role='alert']){flex-wrap:wrap!important;height:auto!important}"
        "[data-testid='stNumberInput'] :has(>[role='alert']) input{flex:1 1 0;width:0;min-height:2.4rem}"
        "[data-testid='stNumberInput'] [role='alert']{position:static!important;flex:0 0 100%;height:auto!important;"
        "margin:0!important;padding:0 .75rem .5rem!important;clip:auto!important;clip-path:none!important;"
        "white-space:normal!important;"  # announced to screen readers only by default
        "font-size:var(--type-small);line-height:var(--type-small-line);color:light-dark(#a3260f,#ff9c86)}"
        "button[kind='tertiary'] p{text-align:left}"  # two lines next to its icon
        "button em{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
        "button[kind^='primary']:enabled :is(p,kbd,span){color:light-dark(#fff,#161614)!important;opacity:1}"
        "button[kind^='primary']:enabled:hover{background:light-dark(#00466e,#6fb9e6)!important}"
        ".st-key-looking-back{border-left:5px solid light-dark(#005a8e,#4aa3d8)!important}"
        "[data-testid='stLayoutWrapper']:has(>.st-key-news),"
        "[data-testid='stLayoutWrapper']:has(>div>[data-testid='stLayoutWrapper']>.st-key-news){position:absolute}"
        ".st-key-news{position:fixed;right:1.5rem;bottom:1.25rem;width:auto!important;z-index:900}"
        "[data-testid='stLayoutWrapper']:has(>.st-key-last-act){position:absolute;height:0}"
        ".st-key-last-act{position:fixed;bottom:1rem;left:50%;transform:translateX(-50%);width:auto!important;"
        "max-width:min(44rem,calc(100vw - 2rem));z-index:1100;border-radius:.5rem;padding:.25rem;"
        "background:light-dark(#fff,#22221f);box-shadow:0 4px 24px #0005}"
        ".st-key-last-act [data-testid='stHorizontalBlock']{flex-wrap:nowrap;gap:.25rem}"
        "[data-testid='stHorizontalBlock']>[data-testid='stElementContainer']:has([data-testid='stAlertContentError'])"
        "{order:1;flex:1 0 100%}"  # below the buttons of its row, not between them
        ".st-key-last-act:not(:has([data-testid='stAlert'])){display:none}"
        "[data-testid='stMainBlockContainer']:has(.st-key-last-act [data-testid='stAlert'])"
        "{padding-bottom:8rem!important}"
        "[data-testid='stLayoutWrapper']:has(>[class*='st-key-foot-']){position:sticky;bottom:0;z-index:50;"
        "background:light-dark(#fff,#161614);padding:.5rem 0;border-top:1px solid light-dark(#dcdcd6,#3a3a36)}"
        f"{_BESIDE}{{align-self:flex-start;position:sticky;top:4rem;max-height:calc(100vh - 5rem);overflow-y:auto}}"
        ".st-key-recall-sheet-open{display:none!important}"
        "@media(max-width:1100px){"
        "[data-testid='stHorizontalBlock']:has(>[data-testid='stColumn'] .st-key-recall-sheet){flex-wrap:wrap}"
        "[data-testid='stColumn']:has(+[data-testid='stColumn'] .st-key-recall-sheet){flex:1 1 100%}"
        f"{_BESIDE}{{flex:1 1 100%;top:auto;bottom:0;max-height:45vh;z-index:50;padding:.5rem 0;"
        "background:light-dark(#fff,#161614);border-top:1px solid light-dark(#dcdcd6,#3a3a36)}"
        ".st-key-recall-sheet-open{display:flex!important}"
        ".st-key-recall-sheet:not(:has(.st-key-recall-sheet-open input:checked)) "
        "[data-testid='stLayoutWrapper']:has(>.st-key-recall-controls){display:none}}"
        "@media(hover:none){"  # a table's tools are always visible there, and would cover what is above it
        "[data-testid='stElementContainer']:has(>[data-testid='stFullScreenFrame']>[data-testid='stDataFrame'])"
        "{margin-top:1.75rem}}"
        ".st-key-news button{border-radius:2rem;box-shadow:0 2px 10px #0005}"
        "@media(max-width:640px){[data-testid='stMainBlockContainer']{padding:4.5rem 1rem 3rem}"
        ".st-key-last-act{left:1rem;right:1rem;transform:none;max-width:none}"
        "button[data-variant='segmented_control']{padding-inline:.75rem!important}}"
        "</style>"
    )


def ink() -> str:
    """The colour of text on this page, for components that draw themselves."""
    return "#efeee8" if st.context.theme.type == "dark" else "#161513"


def heading(title: str, about: str, agent: AgentMemory | None = None) -> None:
    """A page's title, whose memory it is about, and what it is for, in a sentence."""
    st.title(plain(title), anchor=False)
    places.line()
    who = f"**{plain(agent.display_name)}** · " if agent is not None else ""
    st.caption(f"{who}{about}")


def verdict(candidate: Candidate) -> None:
    """Why a memory was recalled, or why not, with the sum that makes its score."""
    parts = " + ".join(f"{value:.2f} {name}" for name, value in candidate.score.parts.items() if value)
    words = f"{candidate.verdict.value}: {candidate.because} Score {candidate.score.total:.2f} = {parts}."
    (st.success if candidate.recalled else st.info)(plain(words[0].upper() + words[1:]))


def listed(notes: Iterable[str]) -> str:
    """Notes as markdown, one paragraph each; adjacent ones that begin alike, such as “Left out: ”, become a list."""
    paragraphs: list[str] = []
    for head, some in groupby(notes, lambda note: note.partition(": ")[0]):
        alike = list(some)
        if len(alike) == 1 or not all(note.startswith(f"{head}: ") for note in alike):
            paragraphs += map(plain, alike)
        else:
            paragraphs.append(f"{plain(head)}:\n\n" + "\n".join(f"* {plain(note[len(head) + 2 :])}" for note in alike))
    return "\n\n".join(paragraphs)


def plain(text: str) -> str:
    """Text as markdown that shows it as it is."""
    return tables.isolated(_MARKDOWN.sub(r"\\\1", _REPLACED.sub(_JOINER, tables.visible(text))))


def text(said: str) -> None:
    """Text from strangers on one line, literally and in its reading direction."""
    st.text(tables.reading(said))


def problem(error: MemorySystemError, text: str = "") -> None:
    """An error for people: what was wrong, where, and what to do; with the lines of ``text`` in question."""
    if isinstance(error, InvalidDocument):
        lines = "\n".join(f"- {plain(str(problem))}" for problem in error.problems[:20])
        st.error(f"This cannot be saved yet:\n{lines}", icon=":material/error:")
        numbered = list(enumerate(text.splitlines(), start=1))
        meant = {
            near for problem in error.problems[:5] if problem.line for near in range(problem.line - 1, problem.line + 2)
        }
        if excerpt := [f"{number:>4} | {tables.short(line, 200)}" for number, line in numbered if number in meant]:
            st.code("\n".join(excerpt), language=None)
    else:
        st.error(plain(error.sentence), icon=":material/error:")


def try_to(act: Callable[[], None]) -> None:
    """Do something and rerun the page, or say why not."""
    try:
        act()
    except MemorySystemError as error:
        problem(error)
        return
    st.rerun()


def closed(agent: AgentMemory) -> bool:
    """Whether nothing can be changed; if so, it says so where the controls would be."""
    if agent.read_only is not None:
        viewer = agent.read_only == VIEWING  # the sidebar says so, but is folded away on a phone
        why = f"{words.A_VIEWER}." if viewer else "The top of the page says why."
        st.caption(f":material/lock: Nothing can be changed here. {why}")
    return agent.read_only is not None


def box(label: str, key: str, *, expanded: bool = False) -> ExpanderContainer:
    """A box that can be unfolded, and stays so when the number in its label changes: Streamlit would fold it then.

    Args:
        label: its label.
        key: its key.
        expanded: whether it begins unfolded.
    """
    shown_label, begins, was_open = st.session_state.get(f"{key}-box", (label, expanded, expanded))
    if shown_label != label:
        begins = was_open
    made = st.expander(label, begins, key=key, on_change="rerun")
    st.session_state[f"{key}-box"] = label, begins, bool(made.open)
    return made


def keep_by(key: str, default: Retention | None = None) -> Retention:
    """A choice of how migration decides what is kept; without a default, the value under the key is chosen."""
    chosen = st.segmented_control(
        setting_names.KEEP_BY, [retention.value for retention in Retention],
        default=None if default is None else default.value,
        required=True, key=key, persist_state="session",
        help="“learned” keeps memories that are likely enough to be asked for, by weights fitted to labelled "
        "conversations; of the older half, the least likely leave first. “importance” keeps those that are rated "
        "important enough; the oldest leave first.",
    )  # fmt: skip
    return Retention(str(chosen))


def lead(sentence: str, view: str, agent: str, icon: str = "arrow_forward", **link: str) -> None:
    """A sentence that names what to do and links to the page for it, for this agent."""
    if st.button(plain(sentence), type="tertiary", icon=f":material/{icon}:", key=f"lead-{view}-{sentence}"):
        st.switch_page(f"views/{view}/{view}.py", query_params={"agent": agent, **link})


def empty(what: str, next_step: str, agent: AgentMemory | None = None, *, to: str = "") -> None:
    """An empty state with one next step; with ``agent``, a different one if nothing can be changed.

    ``to`` names the page where the next step is done: the sentence then links to it.
    """
    if agent is not None and agent.read_only is not None:
        next_step = "A curator can change that." if agent.read_only == VIEWING else "Choose another moment."
    with st.container(border=True):
        st.markdown(f"**{plain(what)}**")
        if agent is not None and session.moment() is not None:
            back = "Return to the present"
            st.button(
                back,
                type="tertiary",
                icon=":material/undo:",
                key=f"{back}-{what}",
                on_click=session.look_at,
                args=(None,),
            )
        elif to and agent is not None and agent.read_only is None:
            lead(next_step, to, agent.name)
        else:
            st.caption(plain(next_step))


def field_changes(changed: list[diffs.FieldChange]) -> None:
    """Fields before and after, one line each; of long ones, the words that differ are marked."""
    for field in changed:
        whole = min(len(field.before), len(field.after)) < _LONG
        ends = f"{diffs.marked('gone', field.before)} → {diffs.marked('new', field.after)}"
        told = ends if whole else "".join(diffs.marked(*part) for part in diffs.words(field.before, field.after))
        st.html(f"{diffs.STYLE}<div class='diff'>{diffs.escaped(field.field)}: {told}</div>")


def text_change(text: TextChange) -> None:
    """What changed in the settings, the personality, the saved cues or the judgments."""
    with st.container(border=True, gap="small"):
        st.markdown(f"**{plain(text.words[:1].upper() + text.words[1:])}**")
        named = diffs.of_text(text) or personality_diffs.of_personality(text)
        if named:
            field_changes(named)
        else:
            st.code(diffs.lines(text) or "Only its formatting changed.", language="diff", wrap_lines=True)


def table(rows: pd.DataFrame | Sequence[Mapping[str, object]], **more: Any) -> Any:
    """A table, which the browser can save as CSV; no text in it becomes a formula. Otherwise like ``st.dataframe``.

    A cell without a value is empty, unless ``placeholder`` says otherwise.
    """
    return st.dataframe(cells.as_cells(pd.DataFrame(rows)), **{"placeholder": "", **more})


def time_column(label: str, width: int | None = None, *, weekday: bool = False) -> Any:
    """The configuration of a column of times, in the zone that its label then names; at least as wide as the label."""
    named, shape = zone.named(label), f"{'ddd ' if weekday else ''}D MMM YYYY, HH:mm"
    wide = None if width is None else max(width, 7 * len(named) + 20)
    return st.column_config.DatetimeColumn(named, format=shape, timezone=zone.name(), width=wide)


def edited_table(frame: pd.DataFrame, **more: Any) -> pd.DataFrame:
    """Like ``table``, but editable; returns its present content, as typed."""
    edited: pd.DataFrame = st.data_editor(cells.as_cells(frame), **more)
    return cells.from_cells(edited)


def say_next(message: str) -> None:
    """Show a message at the top of the next run, after the page has been drawn again."""
    st.session_state["said"] = message


def said() -> None:
    """Show the message from the last run; its place always exists, so that nothing below it moves or closes."""
    place = st.empty()
    if message := st.session_state.pop("said", None):
        place.success(plain(message), icon=":material/check_circle:")


def heard(label: str, what: str) -> str:
    """A label for one of several buttons that look alike: a screen reader also says what it acts on; unseen."""
    return f"{label} *{plain(tables.short(what, _HEARD))}*"


def undo_button(agent: AgentMemory, revision: int, title: str, forget: str = "", key: str = "undo") -> None:
    """A button that takes an applied change set back; ``forget`` is the session key to drop then."""
    if st.button(
        heard("Undo", title), icon=":material/undo:", key=f"{key}-{revision}", disabled=agent.read_only is not None,
        help=plain(agent.read_only or "In Python: AgentMemory.undo"),
    ):  # fmt: skip
        try:
            with st.spinner(UNDOING):
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
