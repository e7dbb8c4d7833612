"""What differs in a rehearsal, with boxes to tick what is to be kept: by memory, or change by change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import streamlit as st

from memory_system import World
from memory_system.world.branches import Apart, MemoryApart, Rehearsal, TextApart

from ...components import drafts, widgets
from ...data import comparing, tables

_CARDS = 30
_LINES = 12
_CHANGES = 500
_LOOKS: dict[str, tuple[str, Literal["green", "red", "blue", "orange"]]] = {
    "add": (":material/add:", "green"),
    "forget": (":material/remove:", "red"),
    "move": (":material/arrow_forward:", "blue"),
    "update": (":material/edit:", "orange"),
}


@dataclass(frozen=True)
class Ticked:
    """What was ticked, as ``World.keep`` takes it; ``overwrite`` are those of them that clash."""

    ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    overwrite: tuple[str, ...] = ()
    revisions: tuple[int, ...] | None = None

    def __bool__(self) -> bool:
        """Whether anything was."""
        return bool(self.ids or self.texts or self.revisions)


def by_memory(apart: Apart, whom: str) -> Ticked:
    """A card for each memory and text that differs, with a box; long lists go on as a table."""
    mark, shown, rest = apart.rehearsal, apart.memories[:_CARDS], apart.memories[_CARDS:]
    boxes: list[MemoryApart | TextApart] = [*shown, *apart.texts]
    every = [_key(mark, one) for one in boxes]
    fit = {_key(mark, one) for one in boxes if not one.clash}
    with st.container(horizontal=True):
        st.button(
            "Tick all without conflicts" if len(fit) < len(every) else "Tick all",
            on_click=_tick,
            args=(every, fit),
            type="tertiary",
            icon=":material/done_all:",
            key="tick-all",
        )
        st.button(
            "Tick none", on_click=_tick, args=(every, set()), type="tertiary", icon=":material/remove_done:", key="none"
        )
    texts = [one for one in apart.texts if _text(mark, one, whom)]
    memories = [one for one in shown if _memory(mark, one, whom)]
    ids = [one.entry_id for one in memories]
    clashing = {one.entry_id for one in apart.memories if one.clash}
    if rest:
        ids += _table(mark, rest)
    overwrite = [one for one in ids if one in clashing] + [one.name for one in texts if one.clash]
    return Ticked(tuple(ids), tuple(one.name for one in texts), tuple(overwrite))


def _key(mark: Rehearsal, one: MemoryApart | TextApart) -> str:
    return f"keep-{mark.name}-{one.entry_id if isinstance(one, MemoryApart) else f'the {one.name}'}"


def _tick(keys: Sequence[str], wanted: set[str]) -> None:
    for key in keys:
        st.session_state[key] = key in wanted


def _box(mark: Rehearsal, one: MemoryApart | TextApart) -> bool:
    return st.checkbox(
        "Keep it anyway" if one.clash else "Keep",
        key=_key(mark, one),
        help="In Python: World.keep",
        persist_state="session",
    )


def _memory(mark: Rehearsal, one: MemoryApart, whom: str) -> bool:
    change = one.change
    held = one.mine or one.theirs
    assert held is not None, "what is on neither side does not differ"
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            icon, colour = _LOOKS[change.verb]
            st.badge(comparing.VERBS[change.verb], icon=icon, color=colour)
            st.badge(held.kind.value, color="gray")
            st.badge(tables.TIERS[held.tier], color="gray")
            if one.clash:
                st.badge("clashes", icon=":material/call_split:", color="orange")
            ticked = _box(mark, one)
        if one.mine and one.theirs and one.mine.document != one.theirs.document:
            st.caption(widgets.plain(f"In {whom}"))
            st.text(tables.visible(one.theirs.document))
            st.caption("In the rehearsal")
        st.text(tables.visible(held.document))
        if one.mine and one.theirs:
            for line in comparing.fields(one.theirs, one.mine):
                st.caption(widgets.plain(line))
        last = one.steps[-1]
        st.caption(widgets.plain(f"Here: {last.title} ({last.author})"))
        if one.clash:
            st.warning(widgets.plain(one.sentence), icon=":material/call_split:")
    return ticked


def _text(mark: Rehearsal, one: TextApart, whom: str) -> bool:
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.badge(comparing.called(one.name), icon=":material/tune:", color="blue")
            if one.clash:
                st.badge("clashes", icon=":material/call_split:", color="orange")
            ticked = _box(mark, one)
        lines = one.lines
        for what, before, after in lines[:_LINES]:
            st.text(comparing.line(what, before, after))
        if len(lines) > _LINES:
            st.caption(f"and {len(lines) - _LINES} more.")
        if one.name == "personality":
            with st.expander("Every changed line"):
                st.code(tables.line_diff(one.theirs or "", one.kept or ""), language="diff", wrap_lines=True)
        if one.clash:
            words = f"{whom} was changed there, too: {', '.join(one.clashes)}. Keeping it takes what the rehearsal has."
            st.warning(widgets.plain(words), icon=":material/call_split:")
    return ticked


def _table(mark: Rehearsal, rest: Sequence[MemoryApart]) -> list[str]:
    """The memories that have no card of their own; answers the ids of those that were ticked."""
    st.caption(f"{tables.counted(len(rest), 'more memory', 'more memories')}, as a table:")
    frame = comparing.apart_table(rest)
    order = ["keep", "what", "memory", "by", "clash"]
    ticked = drafts.ticks(
        frame,
        "keep",
        f"keep-table-{mark.name}",
        hide_index=True,
        column_order=order,
        disabled=order[1:],
        column_config={
            "keep": st.column_config.CheckboxColumn("Keep", width=80),
            "what": st.column_config.TextColumn("What", width=90),
            "memory": st.column_config.TextColumn("Memory", width=420),
            "by": st.column_config.TextColumn("By", width=220),
            "clash": st.column_config.TextColumn("Clash", width=260),
        },
    )
    return [str(entry_id) for entry_id in frame["id"] if entry_id in ticked]


def by_change(world: World, mark: Rehearsal) -> Ticked:
    """The changes made in a rehearsal, the newest first, with a box each."""
    told, fits = world.changes_of(mark.name), world.fits(mark.name)
    shown = told[:_CHANGES]
    frame = comparing.changes_table(shown, fits, datetime.now(UTC))
    order = ["keep", "what", "state", "who", "applied"]
    frame["id"] = [str(one.revision) for one in shown]
    revisions = drafts.ticks(
        frame,
        "keep",
        f"changes-{mark.name}",
        hide_index=True,
        column_order=order,
        disabled=order[1:],
        column_config={
            "keep": st.column_config.CheckboxColumn("Keep", width=80),
            "what": st.column_config.TextColumn("What", width=380),
            "state": st.column_config.TextColumn("State", width=330),
            "who": st.column_config.TextColumn("Who", width=130),
            "applied": st.column_config.TextColumn("Applied", width=120),
        },
    )
    if len(told) > len(shown):
        st.caption(f"The newest {_CHANGES} of {len(told)} changes; keep older ones by memory.")
    ticked = [one for one in shown if str(one.revision) in revisions]
    for one in ticked[:5]:
        with st.expander(widgets.plain(tables.short(one.change_set.title, 80))):
            widgets.change_set(one.change_set)
    return Ticked(revisions=tuple(one.revision for one in ticked))
