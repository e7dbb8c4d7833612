"""What differs in a rehearsal, with boxes to tick what is to be kept: by memory, or change by change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import streamlit as st

from memory_system import World
from memory_system.core import ago
from memory_system.world.branches import Apart, MemoryApart, Rehearsal, TextApart

from ...components import change_set, widgets
from ...data import change_rows, comparing, history_tables, setting_names, tables

_LINES = 12
_CHANGES = 500


@dataclass(frozen=True)
class Ticked:
    """What was ticked, as arguments of ``World.keep``; ``overwrite`` has those that clash."""

    ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    overwrite: tuple[str, ...] = ()
    revisions: tuple[int, ...] | None = None

    def __bool__(self) -> bool:
        """Whether anything was ticked."""
        return bool(self.ids or self.texts or self.revisions)


def by_memory(apart: Apart, whom: str) -> Ticked:
    """A line for each memory and text that differs, with a box."""
    rows = [_memory(memory) for memory in apart.memories] + [_text(text, whom) for text in apart.texts]
    ticked = change_set.listed(f"keep-{apart.rehearsal.name}", rows, label="Keep")
    for text in apart.texts:
        if text.name == "personality":
            with st.expander("Every changed line"):
                st.code(tables.line_diff(text.theirs or "", text.kept or ""), language="diff", wrap_lines=True)
    ids = tuple(memory.entry_id for memory in apart.memories if memory.entry_id in ticked)
    texts = tuple(text.name for text in apart.texts if f"the {text.name}" in ticked)
    clashing = {memory.entry_id for memory in apart.memories if memory.clash}
    clashing |= {text.name for text in apart.texts if text.clash}
    return Ticked(ids, texts, tuple(key for key in (*ids, *texts) if key in clashing))


def _memory(memory: MemoryApart) -> change_rows.Row:
    last = memory.steps[-1]
    row = change_rows.of_change(memory.change, word=comparing.VERBS[memory.change.verb], flag=memory.sentence)
    return row | {"why": tables.visible(f"Here: {last.title} ({last.author})")}


def _text(text: TextApart, whom: str) -> change_rows.Row:
    called = setting_names.called if text.name == "settings" else str
    lines = [comparing.line(called(what), *ends) for what, *ends in text.lines]
    more = f" · and {len(lines) - _LINES} more" if len(lines) > _LINES else ""
    both = ", ".join(map(called, text.clashes))
    flag = f"{whom} was changed there, too: {both}. Keeping it takes what the rehearsal has."
    return change_rows.line(
        f"the {text.name}", "update", comparing.called(text.name), " · ".join(lines[:_LINES]) + more,
        box=True, ticked=False, flag=tables.visible(flag) if text.clash else "",
    )  # fmt: skip


def by_change(world: World, mark: Rehearsal) -> Ticked:
    """The changes made in a rehearsal, the newest first, each with a box."""
    records, fits = world.changes_of(mark.name), world.fits(mark.name)
    shown, now = records[:_CHANGES], datetime.now(UTC)
    rows = [
        change_rows.line(
            str(record.revision), "update", history_tables.operation(record.change_set.operation),
            record.change_set.title,
            facts=[("", comparing.state(record, fits[record.revision]), "")], box=True, ticked=False,
            why=tables.visible(f"By {record.change_set.author}, {ago(record.applied_at, now)}"),
        )
        for record in shown
    ]  # fmt: skip
    revisions = change_set.listed(f"changes-{mark.name}", rows, label="Keep")
    if len(records) > len(shown):
        st.caption(f"The newest {_CHANGES} of {len(records)} changes; keep older ones by memory.")
    ticked = [record for record in shown if str(record.revision) in revisions]
    for record in ticked[:5]:
        with st.expander(widgets.plain(tables.short(record.change_set.title, 80))):
            change_set.show(world.agent(mark.name), record.change_set)
    return Ticked(revisions=tuple(record.revision for record in ticked))
