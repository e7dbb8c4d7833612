"""Looking back: the control by which every page shows the character as it was, and the banner that says so."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

import streamlit as st

from memory_system import AgentMemory
from memory_system.core import real_clock

from ... import session, words
from ...data import tables, zone
from ...data.moments import FIRST_YEAR, LAST_YEAR, Moment
from ...data.zone import stamp
from .. import drafts, widgets

_WORLD, _DESK = "in the story", "at the desk"
_TITLE = 70


def control() -> None:
    """The control: a time in the story, or a real time, to view, and the way back."""
    looking = session.moment() is not None
    label = "Looking at the past" if looking else words.LOOK_AT_THE_PAST
    with (
        st.container(key="look-open", width="content"),
        st.popover(label, icon=":material/history_toggle_off:", key=drafts.turn("look")),
    ):
        st.caption("Every page then shows the character as it was; nothing can be changed while you look back.")
        way = st.segmented_control("Which time", [_WORLD, _DESK], default=_WORLD, required=True, key="look-way")
        start = _start(str(way))
        left, right = st.columns(2)
        left.date_input(
            "Day",
            start.date(),
            date(FIRST_YEAR, 1, 1),
            date(LAST_YEAR, 12, 31),
            key=f"look-day-{way}",
            persist_state="session",
        )
        right.time_input(zone.named("Time"), start.time(), key=f"look-time-{way}", persist_state="session")
        with st.container(horizontal=True):
            name = "world_time" if way == _WORLD else "at"
            st.button(
                "Look", type="primary", icon=":material/visibility:", on_click=_look, args=(str(way),), key="look",
                help=f"In Python: AgentMemory.as_of({name}=…)",
            )  # fmt: skip
            if looking:
                _back("look-back")
        name = session.present().name
        widgets.lead("Or select a change, and look at the character right before or after it.", "history", name)


def _start(way: str) -> datetime:
    """The minute that the fields begin with: the viewed one, or the present one."""
    then = session.moment()
    if way == _WORLD:
        at = session.agent().now
    else:
        at = then.as_of if then is not None and then.as_of is not None else real_clock()
    minute = zone.here(at).replace(second=0, microsecond=0)
    return min(max(minute, datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)), datetime(LAST_YEAR, 12, 31, tzinfo=UTC))


def _look(way: str) -> None:
    day, hour = st.session_state.get(f"look-day-{way}"), st.session_state.get(f"look-time-{way}")
    if isinstance(day, date) and isinstance(hour, time):
        at = zone.moment(day, hour)
        _go(Moment(world_time=at) if way == _WORLD else Moment(as_of=at))


def _go(moment: Moment | None) -> None:
    """Look at a moment; the control is closed then, since it lies over what the page says about it."""
    session.look_at(moment)
    drafts.next_turn("look")


def banner() -> None:
    """Say which moment is shown, by both clocks, and offer the way back; nothing in the present."""
    if problem := st.session_state.pop("moment-problem", None):
        st.warning(widgets.plain(f"{problem} The present is shown instead."), icon=":material/history_toggle_off:")
    if session.moment() is None:
        return
    view = session.agent()
    with st.container(border=True, key="looking-back", gap="small"):
        st.markdown(
            f":material/history_toggle_off: **{widgets.plain(view.display_name)} as of "
            f"{widgets.plain(stamp(view.now))}**, in the story. Nothing can be changed here."
        )
        st.caption(widgets.plain(_circumstances(view)))
        revision = view.stamp[0]
        newest = session.present().stamp[0]
        with st.container(horizontal=True):
            _back("back-to-now")
            _step("One change earlier", "arrow_back", revision - 1, disabled=revision == 0)
            _step(words.ONE_CHANGE_LATER, "arrow_forward", revision + 1, disabled=revision >= newest)


def _circumstances(view: AgentMemory) -> str:
    """Which change was the last one then, when in real time it was made, and how much has changed since."""
    records = view.history(1)
    since = session.present().stamp[0] - view.stamp[0]
    words = [
        f"Right after “{tables.short(records[0].change_set.title, _TITLE)}”" if records else "Before the first change"
    ]
    then = session.moment()
    if then is not None and then.as_of is not None:
        words.append(f"at the desk {stamp(then.as_of)}")
    elif records:
        words.append(f"made at the desk {stamp(records[0].applied_at)}")
    words.append(f"{tables.counted(since, 'change', 'changes')} since" if since else "no change since")
    if view.waiting_for_vectors:
        counted = tables.counted(view.waiting_for_vectors, "memory", "memories")
        words.append(f"{counted} from then without a vector of the embedding model in use, not found by meaning")
    return " · ".join(words)


def _back(key: str) -> None:
    st.button(
        words.BACK_TO_NOW, icon=":material/today:", key=key, on_click=_go, args=(None,),
        help="In Python: the AgentMemory that as_of was called on",
    )  # fmt: skip


def _step(label: str, icon: str, revision: int, *, disabled: bool) -> None:
    st.button(
        label, icon=f":material/{icon}:", key=f"step-{icon}", type="tertiary", disabled=disabled,
        on_click=session.look_at, args=(Moment(revision=max(0, revision)),),
        help=f"In Python: AgentMemory.as_of(revision={max(0, revision)})",
    )  # fmt: skip


def offer(revision: int) -> None:
    """Buttons that show the character right before and right after a change, on every page."""
    then = session.moment()
    with st.container(horizontal=True):
        for label, icon, number in (
            (words.MOMENT_BEFORE, "first_page", revision - 1),
            (words.MOMENT_AFTER, "last_page", revision),
        ):
            st.button(
                label, icon=f":material/{icon}:", key=f"{icon}-{revision}", type="tertiary",
                disabled=then == Moment(revision=number),
                on_click=session.look_at, args=(Moment(revision=number),),
                help=f"Every page then shows the character as it was. In Python: AgentMemory.as_of(revision={number})",
            )  # fmt: skip


def settings(view: AgentMemory, named: dict[str, tuple[str, Any, Any]]) -> None:
    """The settings from then next to the present ones; in the present, for viewers, the present ones only.

    Args:
        view: the character as it was.
        named: for each setting, by name: its label, and its value then and now.
    """
    if session.moment() is None:
        st.caption(widgets.plain(f"{view.display_name} remembers with these settings."))
        rows = [{"setting": label, "now": _shown(now)} for label, _, now in named.values()]
        widgets.table(rows, hide_index=True, height="content", column_config=_SETTINGS)
        return
    changed = sum(then != now for _, then, now in named.values())
    words = (
        f"{tables.counted(changed, 'setting has', 'settings have')} changed since." if changed else "As they are now."
    )
    st.caption(widgets.plain(f"{view.display_name} remembered with these settings then. {words}"))
    rows = [
        {"setting": label, "then": _shown(then), "now": _shown(now), "since": "changed" if then != now else ""}
        for label, then, now in named.values()
    ]
    widgets.table(rows, hide_index=True, height="content", column_config=_SETTINGS)


_SETTINGS = {
    "setting": st.column_config.TextColumn("Setting", width=210),
    "then": st.column_config.TextColumn("Then", width=75),
    "now": st.column_config.TextColumn("Now", width=75),
    "since": st.column_config.TextColumn("Since", width=85),
}


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
