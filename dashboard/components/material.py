"""A file from another program: uploaded, previewed line by line, and imported as a change set."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemorySystemError
from memory_system.operations.importing import Becomes, Order, Preview, Take, as_cell
from memory_system.operations.importing.forms import TITLES, Origin

from .. import words
from ..data import tables
from ..server import downloads
from . import bulk, change_set, drafts, needs_model, widgets, working

_MOST_SHOWN = 2000
_TAKES = {Take.PERSONALITY: "Who it is", Take.FACTS: "Facts", Take.MEMORIES: "Memories"}
_DATES = {"": "as the other dates show", Order.DAY_FIRST: "the day first", Order.MONTH_FIRST: "the month first"}
_FIELDS = {"document": "Text", "timestamp": "When", "rating": "Importance", "people": "People", "tags": "Tags"}
_BECOMES = {"personality": "who it is", "fact": "a fact", "memory": "a memory", "dropped": "left out"}
_READINGS = "material-readings"
TYPES = ["png", "json", "charx", "jsonl", "csv", "tsv", "txt", "md", "zip", "log"]
"""The accepted file endings; the form of a file is recognised by its content."""


def show(agent: AgentMemory) -> None:
    """Choose a file, see what each line becomes, and import it; nothing is stored before that."""
    batch = f"material/{agent.name}"
    number = drafts.turn(batch)
    upload = _brought(number)
    if upload is None:
        st.caption(
            "Character cards, chats, tables, personas, knowledge graphs, prose. The kind of file is recognised "
            "from its contents; what it says about the character fills in only what is still empty."
        )
        return
    raw, name = upload.raw, upload.name
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        form = st.selectbox(
            "Read it as", ["", *Origin], format_func=lambda origin: TITLES[Origin(origin)] if origin else "what it is",
            key=f"material-form-{number}", persist_state="session",
        )  # fmt: skip
        dates = st.selectbox(
            words.DATES_HAVE, list(_DATES), format_func=_DATES.__getitem__, key=f"material-dates-{number}",
            persist_state="session",
        )  # fmt: skip
    take = st.pills(
        "Take", list(_TAKES), selection_mode="multi", default=list(_TAKES), format_func=_TAKES.__getitem__,
        key=f"material-take-{number}", persist_state="session",
    )  # fmt: skip
    how: dict[str, Any] = {"file_name": name, "form": form or None, "dates": dates or None, "take": list(take)}
    if not take:
        st.caption("Choose what to take from it.")
        return
    how["columns"] = _columns(number)
    plan_key = f"material-plan-{agent.name}"
    try:
        looked = _looked(agent, raw, how, number)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    rows(looked, f"material-{number}")
    rate = st.checkbox(
        "Rate those without a rating", value=True, key=f"material-rate-{number}", persist_state="session"
    )
    ask = looked.form == Origin.PROSE and _asks_model(agent, number)
    asked = (upload.id, str(how), rate, ask, agent.stamp[0])
    if st.button(words.PREVIEW_THE_IMPORT, icon=":material/visibility:", key=f"material-preview-{number}"):
        try:
            with working.beside() as show_progress:
                plan = agent.import_material(raw, **how, rate=rate, ask_model=ask, preview=True, progress=show_progress)
        except MemorySystemError as error:
            st.session_state.pop(plan_key, None)
            widgets.problem(error)
        else:
            st.session_state[plan_key] = asked, plan
    was, plan = st.session_state.get(plan_key, (None, None))
    if plan is None or was != asked:
        return
    st.markdown(f"**{widgets.plain(plan.title)}**")
    if ask:
        st.caption(widgets.plain(" ".join(plan.notes)))

    def taken() -> None:
        st.session_state.pop(f"material-{number}-kept", None)
        drafts.next_turn(batch)

    def take_in(accepted: ChangeSet) -> None:
        try:
            with working.beside(working.PERHAPS_STORED) as show_progress:
                agent.embed_ahead(accepted, progress=show_progress)
        except MemorySystemError as error:
            widgets.problem(error)
            return
        bulk.apply(agent, plan_key, accepted, "", taken)

    change_set.offer(agent, plan, take_in, label=words.TAKE_IT_IN, several=not plan.texts)


@dataclass(frozen=True)
class _File:
    """A file that was chosen."""

    id: str
    name: str
    raw: bytes


def _brought(number: str) -> _File | None:
    """The chosen file; it is kept when the page is left, unlike by Streamlit."""
    key = f"material-{number}"
    file_key = f"{key}-kept"

    def chosen() -> None:
        upload = st.session_state[key]
        st.session_state[file_key] = _File(upload.file_id, upload.name, upload.getvalue()) if upload else None

    upload = st.file_uploader(
        words.BRING_A_FILE, type=TYPES, key=key, max_upload_size=50, help=known(), on_change=chosen
    )
    kept: _File | None = st.session_state.get(file_key)
    if kept is not None and upload is None:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(widgets.plain(f"{words.STILL_BROUGHT}: {kept.name}"), width="content")
            st.button(
                words.LEAVE_OUT_FILE, key=f"{key}-away", icon=":material/close:", type="tertiary",
                on_click=st.session_state.pop, args=(file_key,),
            )  # fmt: skip
    return kept


def _asks_model(agent: AgentMemory, number: str) -> bool:
    """Whether a language model is to read the prose, if there is one."""
    if needs_model.offline(agent):
        st.caption(words.PROSE_WITHOUT_MODEL)
        return False
    return st.checkbox(
        words.READ_BY_MODEL, key=f"material-model-{number}", persist_state="session",
        help=widgets.plain(f"{agent.model.label} turns it into memories; where it fails, each sentence is one."),
    )  # fmt: skip


def known() -> str:
    """The known forms, for a help text."""
    return widgets.plain(f"At most 50 MB. Known forms: {'; '.join(TITLES.values())}.")


def _columns(number: str) -> dict[str, str]:
    """Which name is used for which field, where a person corrects the guess."""
    with st.expander("Columns, if they are guessed wrong", icon=":material/view_column:"):
        cells = st.columns(len(_FIELDS))
        typed = {
            field: cell.text_input(
                label,
                key=f"material-column-{field}-{number}",
                placeholder="guessed",
                max_chars=100,
                persist_state="session",
            ).strip()
            for cell, (field, label) in zip(cells, _FIELDS.items(), strict=True)
        }
    return {field: name for field, name in typed.items() if name}


def _looked(agent: AgentMemory, raw: bytes, how: dict[str, Any], number: str) -> Preview:
    """What would become of it, cached while nothing changes: a page is redrawn at each click."""
    key = (number, agent.name, agent.stamp[0], len(raw), hash(raw), str(how))
    reading: tuple[Any, Preview] | None = st.session_state.get(_READINGS)
    if reading is None or reading[0] != key:
        with st.spinner("Reading it …"):
            reading = key, agent.read_material(raw, **how)
        st.session_state[_READINGS] = reading
    return reading[1]


def rows(looked: Preview, key: str) -> None:
    """What was recognised, what becomes of each line, and a file of what is left out."""
    counts = Counter(row.becomes for row in looked.rows)
    parts = [f"{counts[outcome]:,} {called}" for outcome, called in _COUNTED.items() if counts[outcome]]
    st.caption(widgets.plain(f"This is {looked.title}. {' · '.join(parts)}."))
    if looked.notes:
        st.caption(widgets.listed(looked.notes))
    choice = st.segmented_control(
        "Show", ["all", *(outcome for outcome in _BECOMES if counts[outcome])], default="all", required=True,
        format_func=lambda outcome: _BECOMES.get(outcome, outcome), key=f"{key}-show",
    )  # fmt: skip
    shown = [row for row in looked.rows if choice in (None, "all", row.becomes)]
    widgets.table(
        [_line(row) for row in shown[:_MOST_SHOWN]], hide_index=True, key=f"{key}-rows",
        height=min(420, 38 + 35 * max(1, min(len(shown), _MOST_SHOWN))),
        column_config={
            "where": st.column_config.TextColumn("Where", width=110),
            "becomes": st.column_config.TextColumn("Becomes", width=90),
            "text": st.column_config.TextColumn("What it says", width=300),
            "why": st.column_config.TextColumn("As what, or why not", width=270),
            "when": widgets.time_column("When", 190, weekday=True),
            "people": st.column_config.TextColumn("People", width=140),
            "importance": st.column_config.NumberColumn("Importance", width=90),
        },
    )  # fmt: skip
    if len(shown) > _MOST_SHOWN:
        st.caption(f"The first {_MOST_SHOWN:,} of {len(shown):,} are shown.")
    if looked.dropped:
        st.link_button(
            words.DOWNLOAD_LEFT_OUT, downloads.offered(left_out(looked.dropped), "left-out.csv"),
            icon=":material/download:",
        )  # fmt: skip


_COUNTED = {"personality": "parts of who it is", "fact": "facts", "memory": "memories", "dropped": "left out"}


def left_out(dropped: Sequence[Becomes]) -> str:
    """What is left out as a table: where it is, why, and what it says."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["where", "why", "text"])
    writer.writerows([as_cell(cell) for cell in (row.place, row.why, row.text)] for row in dropped)
    return file.getvalue()


def _line(row: Becomes) -> dict[str, object]:
    why = [row.why.replace("_", " ")]
    if row.becomes == "memory":
        why += ["of now"] * (row.when is None) + ["to be rated"] * (row.rating is None)
    return {
        "where": tables.visible(row.place),
        "becomes": _BECOMES[row.becomes],
        "text": tables.short(row.text, 200),
        "why": tables.visible(", ".join(filter(None, why))),
        "when": row.when,
        "people": tables.visible(", ".join(row.people)),
        "importance": row.rating,
    }
