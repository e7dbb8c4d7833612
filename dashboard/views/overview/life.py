"""The life of the world: its clock with play, pause and speed, what happened by itself, and what comes next."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

import streamlit as st

from memory_system import MemorySystemError
from memory_system.core import BY_ITSELF
from memory_system.interfaces.operations import history_labels
from memory_system.store.journal import Applied
from memory_system.world import Advanced, Step

from ... import session, words
from ...components import lines, unrated, widgets, working
from ...components.frame import news
from ...data import tables
from ...data.zone import stamp

SPEEDS = {1.0: "real pace", 60.0: "1 min a second", 3600.0: "1 h a second"}
"""Labels for world seconds per real second."""
_BY_HAND = {what: what.capitalize() for what in ("migrate", "reflect", "summarise", "plan")} | {
    "rate": unrated.OPERATION
}
"""What is waiting and can be done by hand meanwhile, by its name on the Operations page."""
_OPENS = {"history": "On the History page, where it can be undone.", "operations": "On the Operations page, by hand."}
AHEAD = timedelta(days=1)
_SECONDS = 5.0
_MOST = 4
_LOOKED = 50
"""How many of each character's last changes are counted."""
_WORK = "advance"
_SPEED = "life-speed"
_LABELS = history_labels() | {"synopsis": "Remember a talk", "heartbeat": "Speak unprompted"}


def show() -> None:
    """All of it; nothing at a moment of the past."""
    if session.moment() is not None:
        return
    with st.container(border=True, key="life"):
        work = working.of(_WORK)
        if work is not None and work.running:
            st.text(session.clock_words())
            working.bar(_WORK)
            return
        if work is not None:
            _ended(work)
        _living() if session.world().speed > 1 or session.world().lives else _still()


@st.fragment(run_every=_SECONDS)
def _living() -> None:
    _still()


def _still() -> None:
    world = session.world()
    st.markdown(f"**{widgets.plain(session.clock_words())}**")
    if not session.viewing():
        _controls(world.speed)
    changed = tuple(session.stamps(session.world().characters()))
    left, right = st.columns(2)
    with left:
        _happened(changed)
    with right:
        _next(changed)


def _controls(speed: float) -> None:
    world = session.world()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if speed:
            if st.button(words.PAUSE_THE_CLOCK, icon=":material/pause:", help="In Python: World.pause"):
                world.pause()
                st.rerun()
        elif st.button(
            words.PLAY_THE_CLOCK, icon=":material/play_arrow:", type="primary", help="In Python: World.play"
        ):
            world.play(st.session_state.get(_SPEED) or 1.0)
            st.rerun()
        st.segmented_control(
            "Speed", list(SPEEDS), format_func=SPEEDS.__getitem__, default=speed if speed in SPEEDS else 1.0,
            key=_SPEED, label_visibility="collapsed", required=True, on_change=_set_speed,
        )  # fmt: skip
        if not speed and st.button(
            words.ADVANCE_A_DAY, icon=":material/fast_forward:", help="In Python: World.advance"
        ):
            to = world.clock() + AHEAD
            working.begin(_WORK, lambda progress, stop: world.advance(to, progress=progress, cancelled=stop))
            news.expect_time_to_pass(working.of(_WORK))
            st.rerun()
        lives = world.lives
        if (
            st.toggle(
                "Lives by itself", lives, help="A server does what is due as the clock runs. In Python: World.live"
            )
            != lives
        ):
            world.live(on=not lives)
            st.rerun()


def _set_speed() -> None:
    """Make a running clock continue at the speed chosen here."""
    if session.world().speed and (speed := st.session_state.get(_SPEED)):
        session.world().play(speed)
        news.know_clock()


def _ended(work: working.Work) -> None:
    if work.problem is not None:
        widgets.problem(work.problem)
    elif isinstance(work.result, Advanced):
        done = work.result
        sentence = f"{tables.counted(len(done.steps), 'step was', 'steps were')} done; it is {stamp(done.now)}."
        waits = f" {tables.counted(len(done.waiting), 'waits', 'wait')}." if done.waiting else ""
        st.success(widgets.plain(sentence + waits), icon=":material/check_circle:")
    working.put_away(_WORK)


_Stamps = tuple[tuple[str, tuple[int, int] | None], ...]
"""The form of ``session.stamps``."""


def _happened(changed: _Stamps) -> None:
    """What the characters did by themselves, the last first, until it is marked as seen."""
    world = session.world()
    seen = world.seen
    found = session.kept("happened", session.agent(), lambda _: _by_itself(seen), seen, *changed)
    st.markdown("**Happened by itself**")
    if not found:
        st.caption("Nothing." if seen is None else "Nothing since you last looked.")
        return
    shown = []
    for _, name, record in found[:_MOST]:
        change_set = record.change_set
        link = ("history", {"agent": name, "change": str(change_set.revision)})
        shown.append(
            _Shown(
                name,
                change_set.planned_at,
                change_set.title,
                "Undone." if record.undone_by else change_set.reason,
                link,
            )
        )
    _show("happened", shown)
    if (over := len(found) - _MOST) > 0:
        st.caption(f"And {over:,} more, on the History page of each character.")
    if not session.viewing() and st.button(
        "Mark as seen", key="life-seen-button", type="tertiary", icon=":material/done_all:",
        help="In Python: World.mark_seen",
    ):  # fmt: skip
        world.mark_seen(found[0][0])
        st.rerun()


def _by_itself(seen: datetime | None) -> list[tuple[datetime, str, Applied]]:
    """What the characters did by themselves since a moment, each with its character and time, the last first."""
    world = session.world()
    found: list[tuple[datetime, str, Applied]] = []
    for name in world.characters():
        with suppress(MemorySystemError):  # one that cannot be opened is listed as waiting
            done = world.agent(name).history(_LOOKED, author=BY_ITSELF, since=seen)
            found += [(record.applied_at, name, record) for record in done if seen is None or record.applied_at > seen]
    return sorted(found, key=lambda event: event[0], reverse=True)


def _next(changed: _Stamps) -> None:
    """What is due, what waits for what, and what comes within a day; recalculated each minute of the world's time."""
    world = session.world()
    st.markdown("**Comes next**")
    now = world.clock()
    depends = (now.replace(second=0, microsecond=0), session.agent().model.name, world.life.state.waiting, *changed)
    try:
        advanced = session.kept("due", session.agent(), lambda _: world.due(now + AHEAD), *depends)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    waiting = advanced.waiting
    shown = [_step(step, step.waits, waits=True) for step in waiting[:_MOST]]
    shown += [_step(step, step.why) for step in advanced.steps[: max(0, _MOST - len(waiting))]]
    if shown:
        _show("next", shown)
    if (over := len(advanced.steps) + len(waiting) - _MOST) > 0:
        st.caption(f"And {over} more within a day.")
    if not advanced.steps and not waiting:
        st.caption("Nothing within a day.")


class _Shown(NamedTuple):
    """What is shown about something that happened or is due, and the page and link it leads to."""

    name: str
    at: datetime
    title: str
    told: str
    link: tuple[str, dict[str, str]] | None


def _step(step: Step, note: str, *, waits: bool = False) -> _Shown:
    label = _LABELS.get(step.what, step.what) or "Everything"
    by_hand = _BY_HAND.get(step.what) if waits and not session.viewing() else None
    link = ("operations", {"agent": step.agent, "operation": by_hand}) if by_hand else None
    return _Shown(step.agent, step.at, f"{label}, waiting" if waits else label, note, link)


def _show(key: str, shown: list[_Shown]) -> None:
    by_key: dict[str, _Shown] = {f"{item.link or (item.name, item.title, item.at)}": item for item in shown}
    drawn = []
    for place, item in by_key.items():
        note = f"{session.shown_name(item.name)}, {stamp(item.at)}. {tables.short(item.told, 200)}"
        acts = (lines.Act("open", "Open", _OPENS[item.link[0]]),) if item.link else ()
        drawn.append(lines.Line(place, tables.visible(item.title), note, acts=acts))
    lines.show(key, drawn)
    taken = lines.taken(key)
    choice = by_key.get(taken[0]) if taken else None
    if choice is not None and choice.link is not None:
        st.switch_page(f"views/{choice.link[0]}/{choice.link[0]}.py", query_params=choice.link[1])
