"""The forms for events: writing one or many, and changing one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

import streamlit as st

from memory_system import AgentMemory, ChangeSet, Kind, MemoryEntry, MemorySystemError, Tier
from memory_system.core import known_to
from memory_system.operations.importing import NOW, Form, Order, Reading, Row, decoded, guess, read_text

from .. import session, words
from ..data import tables, zone
from . import bulk, drafts, edits, mounting, needs_model, widgets, working

_KINDS = [Kind.OBSERVATION.value, Kind.CONVERSATION.value, Kind.FACT.value, Kind.PROCEDURE.value]
_MARKS = list(tables.MARKS)
_MARKS_HELP = (
    "Pinned: never forgotten, never moved to long-term memory. Protected: nothing may"
    " change it until it is unprotected. By a person: keeps its words; operations do "
    "not summarise, rewrite or forget it. A text edited by hand is marked "
    "automatically."
)
_BY_MODEL = "rated by the model"
_READINGS = "readings"
_MOST_READINGS = 2
"""One with the dates as guessed, and one as chosen."""
_EXAMPLE = "Saw smoke over the north field at dawn"
EDITED = "edited"
"""The name in a link for the memory whose form is open."""


def one_event(agent: AgentMemory) -> None:
    """Write one event; it is rated on arrival unless it is rated by hand. The fields are emptied once it is stored."""
    now = zone.here(agent.now)
    form = f"event/{agent.name}"
    number = drafts.turn(form)  # no st.form: it would lose what is not submitted yet when the page is left
    with st.container():
        text = st.text_area(
            words.WHAT_HAPPENED, key=f"text-{number}", placeholder=_EXAMPLE, height=90, persist_state="session"
        )
        mounting.keep_unsent(f"text-{number}", form)
        columns = st.columns(3, vertical_alignment="bottom")
        kind = columns[0].selectbox("Kind", _KINDS, key=f"kind-{form}", persist_state="session")
        by_hand = columns[1].selectbox(
            "Importance", [_BY_MODEL, *range(1, 11)], help="1 mundane, 10 extremely poignant.",
            key=f"importance-{form}", persist_state="session",
        )  # fmt: skip
        tags = columns[2].text_input(
            "Tags, separated by commas", key=f"tags-{number}", placeholder="key, promise", persist_state="session"
        )
        source, people, place = _scene(lambda name: f"{name}-{number}")
        day, hour = _when(f"day-{number}", f"time-{number}", f"now, {now:%H:%M}")
        marks = _pick_marks(f"marks-{number}", _MARKS)
        sent = st.button(
            "Remember", type="primary", icon=":material/add:", help="In Python: AgentMemory.add_short_term",
            key=f"remember-{form}",
        )  # fmt: skip
    if not sent:
        return
    if not text.strip():
        st.error(words.WRITE_IT_FIRST, icon=":material/error:")
        return
    rating = by_hand if isinstance(by_hand, int) else None
    event: dict[str, Any] = {
        "document": text,
        "kind": kind,
        "tags": _words(tags),
        "rating": rating,
        "explanation": "Rated by hand." if rating else "",
        "timestamp": _moment(day, hour, now),
        "source": source,
        "people": people,
        "place": place,
        **dict.fromkeys(marks, True),
    }
    try:
        with st.spinner("Rating …"):
            added = agent.add_short_term(event)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    outcome = added.outcomes[0]
    if outcome.rated:
        done = f"Remembered, rated {outcome.entry.rating:g} of 10. {outcome.entry.explanation}"
    else:
        again = "" if needs_model.offline(agent) else " Rate it again below when the model is back."
        done = f"Remembered, but not rated: {outcome.why}{again}"
    drafts.next_turn(form)
    bulk.done(agent, added.change_set, done)
    st.rerun()


def _pick_marks(key: str, among: list[str], label: str = words.MARK_IT_AS) -> list[str]:
    """Fields for the marks of a memory."""
    picked = st.pills(
        label,
        among,
        selection_mode="multi",
        format_func=lambda flag: tables.MARKS[flag].capitalize(),
        key=key,
        persist_state="session",
        help=_MARKS_HELP,
    )
    return [flag for flag in among if flag in picked]


def _when(day_key: str, time_key: str, unset: str) -> tuple[date | None, time | None]:
    """A day and a time of day, by the keys of their fields."""
    left, right = st.columns(2)
    day = left.date_input("Day", None, key=day_key, help=f"Not set: {unset}.", persist_state="session")
    hour = right.time_input(zone.named("Time"), None, key=time_key, persist_state="session")
    return day, hour


def _moment(day: date | None, hour: time | None, now: datetime) -> datetime:
    """The moment that a day and a time of day mean; missing parts are those of now."""
    if day is None and hour is None:
        return now
    return zone.moment(day or zone.here(now).date(), hour or time(12))


def many_events(agent: AgentMemory) -> None:
    """Paste or upload many events, see what each line becomes, and remember those that can be accepted."""
    batch = f"events/{agent.name}"
    number = drafts.turn(batch)
    pasted = st.text_area(
        words.PASTE_LINES, key=f"pasted-{number}", height=130, placeholder=f"{_EXAMPLE}\n…",
        persist_state="session",
    )  # fmt: skip
    mounting.keep_unsent(f"pasted-{number}", batch)
    upload = st.file_uploader(
        "Or upload a file",
        type=["txt", "json", "jsonl", "csv", "tsv"],
        help="UTF-8 or UTF-16, at most 50 MB.",
        key=f"upload-{number}",
    )
    try:
        text = decoded(upload.getvalue(), upload.name) if upload else pasted
        if not text.strip():
            st.caption(
                "A line may begin with its date. CSV needs a header line with a column 'document'; the others may be "
                "'timestamp', 'importance', 'tags' or any of your own. Nothing is stored before you have reviewed it."
            )
            return
        forms = list(Form)
        guessed = guess(text, upload.name if upload else "")
        form = st.selectbox("Form", forms, index=forms.index(guessed), format_func=_form_words)
        reading = _read(text, form, agent.now, number)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    rows = reading.rows
    if reading.notes:
        st.caption(widgets.plain(" ".join(reading.notes)))
    taken = [row.entry for row in rows if row.entry is not None]
    refused = len(rows) - len(taken)
    widgets.table(
        _row_table(rows),
        hide_index=True,
        column_config={"line": st.column_config.NumberColumn(width="small"), "rating": st.column_config.NumberColumn()},
    )
    st.caption(f"{tables.counted(len(taken), 'event', 'events')} to remember, {refused} refused.")
    rate = st.checkbox("Rate those without a rating", value=True)
    marks = _pick_marks(f"many-marks-{number}", _MARKS, "Mark each of them as")
    if not st.button(words.REMEMBER_THESE, type="primary", icon=":material/add:", disabled=not taken):
        return
    marked = [entry.evolve(**dict.fromkeys(marks, True)) for entry in taken]
    try:
        with working.beside(working.PERHAPS_STORED) as show_progress:
            added = agent.add_short_term(marked, rate=rate, progress=show_progress)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    finally:
        st.session_state.pop(_READINGS, None)  # so that the same text gets new ids if it is sent again
    counts = [f"{tables.counted(len(added.change_set.changes), 'event', 'events')} remembered"]
    counts += [f"{len(added.unrated)} unrated"] if added.unrated else []
    counts += [f"{refused} refused"] if refused else []
    drafts.next_turn(batch)
    bulk.done(agent, added.change_set, ", ".join(counts))
    st.rerun()


def _reading(text: str, form: Form, now: datetime, number: str, order: Order | None = None) -> Reading:
    """What the text becomes, read once and cached: a page is redrawn at each click, and 50,000 lines take seconds.

    It is read again when the minute has changed, if any of its events happens now.
    """
    readings: dict[object, tuple[datetime, Reading]] = st.session_state.setdefault(_READINGS, {})
    key = (number, form, text, order)
    minute = now.replace(second=0, microsecond=0)
    if key in readings:
        at, reading = readings[key]
        if at == minute or not any(row.time_from == NOW for row in reading.rows):
            return reading
        del readings[key]
    reading = read_text(text, form, now, order=order)
    while len(readings) >= _MOST_READINGS:
        del readings[next(iter(readings))]
    readings[key] = (minute, reading)
    return reading


def _read(text: str, form: Form, now: datetime, number: str) -> Reading:
    """What the text becomes; an ambiguous date is read as chosen."""
    reading = _reading(text, form, now, number)
    if reading.order is None:
        return reading
    said = {Order.DAY_FIRST: "the day first", Order.MONTH_FIRST: "the month first"}
    order = st.segmented_control(
        words.DATES_HAVE,
        list(said),
        default=reading.order,
        format_func=said.__getitem__,
        required=True,
        key=f"order-{number}-{reading.order}",
    )
    return reading if order == reading.order else _reading(text, form, now, number, Order(str(order)))


def _scene(key: Callable[[str], str]) -> tuple[str | None, tuple[str, ...], str]:
    """How it became known, who is in it, and where it happened."""
    columns = st.columns(3, vertical_alignment="bottom")
    source = columns[0].selectbox(
        "How it became known", ["", *tables.SOURCES], key=key("source"),
        format_func=lambda option: tables.SOURCES.get(option, "not said"), persist_state="session",
    )  # fmt: skip
    people = columns[1].text_input(
        "People, separated by commas", key=key("people"), persist_state="session",
        help="Whom it is about; if the character was told of it, the teller comes first.",
    )  # fmt: skip
    place = columns[2].text_input("Place", key=key("place"), max_chars=200, persist_state="session")
    return source or None, tuple(_words(people)), place


def edit_event(agent: AgentMemory, entry: MemoryEntry) -> None:
    """Change the text, kind, time, importance, tags or marks of a memory; a new text counts as written by a person."""
    if widgets.closed(agent):
        return
    if entry.protected:
        st.caption(":material/lock: It is protected. Unprotect it to change it.")
        return
    kinds = _KINDS if entry.kind.value in _KINDS else [entry.kind.value]
    draft = edits.draft_of(agent, entry)
    text = st.text_area("Text", key=draft.field("document"), height=90, persist_state="session")
    mounting.keep_unsent(draft.field("document"), draft.key, entry.document)
    columns = st.columns(3, vertical_alignment="bottom")
    columns[0].selectbox("Kind ", kinds, key=draft.field("kind"), persist_state="session")
    rating = columns[1].selectbox(
        "Importance ", range(11), key=draft.field("rating"), format_func=_rating_words, persist_state="session"
    )
    columns[2].text_input("Tags", key=draft.field("tags"), persist_state="session")
    source, people, place = _scene(draft.field)
    day, hour = _when(draft.field("day"), draft.field("hour"), "as it is")
    marks = _pick_marks(draft.field("marks"), _MARKS)
    settled = draft.settle_clashes()
    draft.unsaved()
    if not st.button(
        words.SAVE_CHANGES, icon=":material/save:", help="In Python: AgentMemory.edit", key=f"save-{draft.key}"
    ):
        return
    if not settled:
        st.error("Choose above what to do with the parts that were changed meanwhile.", icon=":material/error:")
        return
    if not text.strip():
        st.error("A memory cannot be empty. Write what it says, or forget it.", icon=":material/error:")
        return
    written = draft.written()  # only these, so that what others changed meanwhile stays
    fields: dict[str, Any] = {name: written[name] for name in ("document", "kind") if name in written}
    if "tags" in written:
        fields["tags"] = tuple(_words(written["tags"]))
    fields |= {
        name: value for name, value in (("source", source), ("people", people), ("place", place)) if name in written
    }
    if "day" in written or "hour" in written:
        fields["timestamp"] = _moment(day, hour, entry.timestamp or agent.now)
    if "marks" in written:
        fields |= {flag: flag in marks for flag in _MARKS if (flag in marks) != getattr(entry, flag)}
    if text != entry.document and not entry.authored:
        fields["authored"] = True
    if "rating" in written:
        fields |= {"rating": rating or None, "explanation": "Rated by hand." if rating else ""}

    def save() -> ChangeSet:
        saved = agent.edit(entry.id, **fields)
        draft.done()
        return saved

    bulk.do(agent, save, "Saved")


def actions(agent: AgentMemory, entry: MemoryEntry) -> None:
    """What can be done with one memory: pin, protect, rate again, forget, restore what it summarises, edit."""
    if known_to(entry):
        widgets.lead("This is a fact of the world; change it there.", "installation", agent.name, part="known")
        return
    if entry.tier is Tier.STATIC:
        widgets.lead("This is a fact of the personality; change it there.", "personality", agent.name)
        return
    if agent.find(entry.id) is None or widgets.closed(agent):
        return
    forgotten = [entry_id for entry_id in entry.evidence if agent.find(entry_id) is None]
    acts: dict[str, tuple[str, Callable[[], ChangeSet]]] = {
        "Unpin" if entry.pinned else "Pin": ("keep", lambda: agent.edit(entry.id, pinned=not entry.pinned)),
        "Protect": ("lock", lambda: agent.edit(entry.id, protected=True)),
        words.RATE_AGAIN: ("star", lambda: agent.rate_again(entry.id)),
        "Forget": ("delete", lambda: agent.forget(entry.id)),
    }
    if entry.protected:
        acts = {"Unprotect": ("lock_open", lambda: agent.edit(entry.id, protected=False))}
    if entry.kind is Kind.SUMMARY and forgotten:
        acts["Restore originals"] = ("settings_backup_restore", lambda: agent.restore(forgotten))
    with st.container(horizontal=True):
        for label, (icon, act) in acts.items():
            if st.button(label, key=f"{label}-{entry.id}", icon=f":material/{icon}:"):
                bulk.do(agent, act)
    box = st.expander(
        words.EDIT_THIS_MEMORY, session.from_link(EDITED) == entry.id, key=edit_box(entry.id), on_change="rerun"
    )
    session.to_link(EDITED, entry.id if box.open else None)  # so that what was typed is visible after a reload, too
    if box.open or drafts.unsaved(f"edit/{agent.name}/{entry.id}"):  # an invisible form takes half the time of a click
        with box:
            edit_event(agent, entry)


def edit_box(entry_id: str) -> str:
    """The key of the box with the form to edit a memory."""
    return f"edit-box-{entry_id}"


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _rating_words(rating: int) -> str:
    return str(rating) if rating else "unrated"


def _form_words(form: Form) -> str:
    return {"lines": "One event per line", "json": "JSON", "jsonl": "JSON lines", "csv": "CSV"}[form.value]


def _row_table(rows: list[Row]) -> list[dict[str, object]]:
    return [
        {
            "line": row.line,
            "becomes": tables.visible(row.entry.document) if row.entry else "refused",
            "problem": tables.visible(row.problem or ""),
            zone.named("when"): (
                f"{zone.here(row.entry.timestamp):%Y-%m-%d %H:%M}" if row.entry and row.entry.timestamp else ""
            ),
            "date from": row.time_from or ("its own" if row.entry else ""),
            "rating": row.entry.rating if row.entry else None,
            "text": tables.short(row.text, 120),
        }
        for row in rows
    ]
