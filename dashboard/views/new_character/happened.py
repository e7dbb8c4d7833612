"""The second step: what happened before, pasted or from a file, and what each line becomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import streamlit as st

from memory_system import MemoryEntry, MemorySystemError
from memory_system.operations.importing import NOW, Form, Order, Reading, Row, columns_of, decoded, guess, read_text

from ... import words
from ...components import mounting, widgets
from ...data import tables
from .life import Life

_FIELDS = {"document": "Text", "timestamp": "When", "rating": "Importance", "kind": "Kind"}
_FORMS = {Form.LINES: "Lines", Form.CSV: "A table with columns", Form.JSON: "JSON", Form.JSONL: "JSON lines"}
_ASIDE = "pasted-aside"
KEPT = (
    "pasted", _ASIDE, "day-one", "day-one-guessed", *(f"column-{name}" for name in _FIELDS),
    *(f"form-{form.value}" for form in _FORMS), *(f"order-{order.value}" for order in Order),
)  # fmt: skip
"""The fields of this step that outlive a reload."""
_MOST = 200_000
_MENDED = 8
"""How many lines can be corrected at once, each in its own field."""
_EXAMPLE = "2026-03-01 09:00 Bought flour from Edda\n1 March, 14:00: Quarrelled with Tomas\nMon 9:00 - Sold every loaf"
_NONE = "—"
_LINE_END = re.compile(r"\r\n|\r|\n")
_SAID = {Order.DAY_FIRST: "the day first", Order.MONTH_FIRST: "the month first"}


def show(life: Life, now: datetime) -> list[MemoryEntry] | None:
    """Draw it; returns the events that can be accepted, or ``None`` if the text as a whole cannot be read."""
    with st.container(gap="small"):
        st.text_area(
            words.PASTE_A_LIFE, key=life.key("pasted"), height=160, max_chars=_MOST, placeholder=_EXAMPLE,
            persist_state="session",
        )  # fmt: skip
        mounting.keep_unsent(life.key("pasted"))
    st.file_uploader(
        f"{words.OR_A_FILE} {_MOST:,} characters", type=["txt", "csv", "tsv", "json", "jsonl"],
        key=life.key("upload"), on_change=_upload, args=(life,), help="Its text is put into the field above.",
        max_upload_size=1,
    )  # fmt: skip
    if problem := life.get("upload-problem"):
        st.error(widgets.plain(problem), icon=":material/error:")
    _set_aside(life)
    text = str(life.get("pasted") or "")
    if not text.strip():
        st.caption(
            "Each line is an event. It may begin with its date, such as 2026-03-01 09:00, 1 March, Mon 9:00 or Day 2, "
            "14:00. A spreadsheet's table works too."
        )
        return []
    try:
        reading = _reading(life, text, now)
    except MemorySystemError as error:
        widgets.problem(error)
        return None
    if reading.notes:
        st.caption(widgets.plain(" ".join(reading.notes)))
    taken = [row.entry for row in reading.rows if row.entry is not None]
    refused = [row for row in reading.rows if row.entry is None]
    _table(reading.rows)
    _mend(life, refused, text)
    counted = tables.counted(len(taken), "event", "events")
    left = f" {tables.counted(len(refused), 'line', 'lines')} cannot be read and will be left out." if refused else ""
    unrated = sum(entry.rating is None for entry in taken)
    rated = f", {'all' if unrated == len(taken) else unrated} still to be rated" if unrated else ""
    st.caption(f"{counted} to remember{rated}.{left}")
    return taken


def _reading(life: Life, text: str, now: datetime) -> Reading:
    """What the text becomes as chosen, with the choices that it leaves open."""
    guessed = guess(text)
    form = st.segmented_control(
        "Read it as", list(_FORMS), default=guessed, format_func=_FORMS.__getitem__, required=True,
        key=life.key(f"form-{guessed.value}"), persist_state="session",
    )  # fmt: skip
    form = Form(str(form or guessed))
    columns = _columns(life, text) if form is Form.CSV else {}
    chosen: dict[str, Any] = {"columns": columns, "partial": True}
    reading = _read(life, text, form, now, chosen)
    if reading.order is not None:
        order = st.segmented_control(
            words.DATES_HAVE, list(_SAID), default=reading.order, format_func=_SAID.__getitem__, required=True,
            key=life.key(f"order-{reading.order.value}"), persist_state="session",
        )  # fmt: skip
        chosen["order"] = Order(str(order)) if order else None
    if reading.day_one is not None:
        if life.get("day-one") in (None, life.get("day-one-guessed")):
            life.put("day-one", reading.day_one)
        life.put("day-one-guessed", reading.day_one)
        chosen["day_one"] = st.date_input("Day 1 is", key=life.key("day-one"), persist_state="session")
    return _read(life, text, form, now, chosen)


def _read(life: Life, text: str, form: Form, now: datetime, chosen: dict[str, Any]) -> Reading:
    """The reading of a text, cached while nothing changes; it is read again after a minute if an event happens now."""
    key = (text, form, now.date(), tuple((name, str(value)) for name, value in chosen.items()))
    readings: dict[Any, tuple[datetime, Reading]] = life.get("readings") or {}
    at, reading = readings.get(key, (now, None))
    if reading is None or (at.minute != now.minute and any(row.time_from == NOW for row in reading.rows)):
        at, reading = now, read_text(text, form, now, **chosen)
    life.put("readings", {**dict(list(readings.items())[-1:]), key: (at, reading)})
    return reading


def _columns(life: Life, text: str) -> dict[str, str]:
    """Which column is what, guessed and then corrected."""
    heading = columns_of(text)
    names = [name for name in dict.fromkeys(heading.names) if name]
    found: dict[str, str] = {}
    with st.container(horizontal=True, gap="small", key=life.key("columns")):
        for field, label in _FIELDS.items():
            options = [_NONE, *names]
            guessed = heading.takes.get(field, _NONE)
            key = life.key(f"column-{field}")
            if life.get(f"column-{field}") not in options:
                st.session_state.pop(key, None)
            chosen = st.selectbox(
                f"{label}: column", options, index=options.index(guessed), key=key, width=180, persist_state="session"
            )
            if chosen != guessed:
                found[field] = "" if chosen == _NONE else str(chosen)
    return found


def _table(rows: Sequence[Row]) -> None:
    frame = [
        {
            "line": row.line,
            "when": row.entry.timestamp if row.entry else None,
            "date": "" if row.entry is None else row.time_from or "its own",
            "text": tables.short(row.entry.document if row.entry else row.text, 200),
            "importance": row.entry.rating if row.entry else None,
            "kind": row.entry.kind.value if row.entry else "",
            "problem": tables.visible(row.problem or ""),
        }
        for row in rows
    ]
    wrong = any(row.problem for row in rows)
    widgets.table(
        frame, hide_index=True, key="new-lines", height=min(420, 38 + 35 * len(frame)),
        column_order=["line", "when", "text", *["problem"] * wrong, "importance", "kind", "date"],
        column_config={
            "line": st.column_config.NumberColumn("Line", width=50),
            "problem": st.column_config.TextColumn("What is wrong", width=230),
            "when": widgets.time_column("When", 190, weekday=True),
            "text": st.column_config.TextColumn("Text", width=300 if wrong else 400),
            "importance": st.column_config.NumberColumn("Importance", width=90),
            "kind": st.column_config.TextColumn("Kind", width=100),
            "date": st.column_config.TextColumn("Date from", width=110),
        },
    )  # fmt: skip


def _mend(life: Life, refused: Sequence[Row], text: str) -> None:
    """Fields for the lines that cannot be read; what is written there goes into the text."""
    lines = _LINE_END.split(text)
    for row in refused[:_MENDED]:
        line = lines[row.line - 1]
        key = life.key(f"line-{row.line}")
        if st.session_state.get(key) != line:  # the text above can be edited, too
            st.session_state[key] = line
        st.text_input(
            f"{words.MEND_LINE} {row.line}: {widgets.plain(tables.short(row.problem or '', 200))}", key=key,
            persist_state="session", on_change=_put_line, args=(life, row.line, key),
        )  # fmt: skip


def _put_line(life: Life, number: int, key: str) -> None:
    text = str(life.get("pasted") or "")
    lines = _LINE_END.split(text)
    if number <= len(lines):
        lines[number - 1] = str(st.session_state.get(key) or "")
        life.put("pasted", "\n".join(lines))


def _upload(life: Life) -> None:
    """Put the text of a file into the field."""
    file = life.get("upload")
    life.put("upload-problem", "")
    if file is None:
        return
    try:
        text = decoded(file.getvalue(), file.name)
    except MemorySystemError as error:
        life.put("upload-problem", error.sentence)
        return
    if len(text) > _MOST:
        sentence = f"{file.name} has {len(text):,} characters; at most {_MOST:,} are allowed here."
        life.put("upload-problem", f"{sentence} Larger files can be added on the Short-term page.")
    else:
        _put(life, text)


def _put(life: Life, text: str) -> None:
    """Put a text into the field; another one that was in it is set aside."""
    was = str(life.get("pasted") or "")
    life.put(_ASIDE, was if was.strip() and was != text else "")
    life.put("pasted", text)


def _set_aside(life: Life) -> None:
    """Offer the lines that the text of a file has replaced."""
    aside = str(life.get(_ASIDE) or "")
    if aside:
        with st.container(horizontal=True, vertical_alignment="center", key=life.key("aside")):
            counted = tables.counted(sum(bool(line.strip()) for line in _LINE_END.split(aside)), "line", "lines")
            st.caption(f"The file's text took the place of what was in the field: {counted}.")
            st.button(
                words.RESTORE_MY_TEXT, icon=":material/undo:", type="tertiary", key=life.key("aside-back"),
                on_click=_put, args=(life, aside), help="The file's text is set aside.",
            )  # fmt: skip
