"""Drafts: what somebody has begun to write is kept while pages are redrawn, left and reopened, and others write.

Streamlit resets a field when its initial value changes, and forgets it when a page is drawn without it. A draft keeps
the fields of one thing under a key that contains neither a revision nor a value. The initial values stay the same while
somebody writes; when the thing itself changes meanwhile, each field is settled on its own:

* not written into: it shows the new value.
* written into, and not changed meanwhile: it stays.
* both, and they differ: it stays, both are shown, and a person chooses. Nothing is saved before that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import pandas as pd
import streamlit as st

from .. import words
from ..data import cells, merged
from . import widgets

_OPEN = "drafts-open"
_TABLES = "drafts-tables"
_MOST = 400
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Settled(Generic[Key]):
    """The state of a draft's fields after its subject may have changed.

    Args:
        base: what each field now began with.
        mine: the content of each field.
        clashes: the new values of the fields that were written into and also changed meanwhile.
    """

    base: dict[Key, Any]
    mine: dict[Key, Any]
    clashes: dict[Key, Any] = field(default_factory=dict)

    @property
    def written(self) -> dict[Key, Any]:
        """The fields that were written into, with their content."""
        return {name: value for name, value in self.mine.items() if value != self.base[name]}


def settle(base: Mapping[Key, Any], mine: Mapping[Key, Any], now: Mapping[Key, Any]) -> Settled[Key]:
    """Settle each field on its own, from what it began with, its content, and the new value."""
    began, stands, clashes = dict[Key, Any](), dict[Key, Any](), dict[Key, Any]()
    for name, there in now.items():
        start = base.get(name, there)
        wrote = mine.get(name, start)
        if wrote in (start, there):
            began[name], stands[name] = there, there
        else:
            began[name], stands[name] = start, wrote
            if there != start:
                clashes[name] = there
    return Settled(began, stands, clashes)


class Draft:
    """The fields of one thing, as they are in this browser session.

    Args:
        key: its subject, such as the id of a memory; different for each agent.
        now: the stored values, by the name of each field.
        labels: the names of fields on the page, if they differ.
        shown: turns the value of a field into words.
    """

    def __init__(
        self,
        key: str,
        now: Mapping[str, Any],
        labels: Mapping[str, str] | None = None,
        shown: Callable[[Any], str] = str,
    ) -> None:
        self.key = key
        self._labels, self._shown = labels or {}, shown
        base: dict[str, Any] = st.session_state.get(self._base_key, {})
        mine = {name: st.session_state[self.field(name)] for name in base if self.field(name) in st.session_state}
        self._settled = settle(base, mine, now)
        for name, value in self._settled.mine.items():
            at = self.field(name)
            if at not in st.session_state or st.session_state[at] != value:
                st.session_state[at] = value
        st.session_state[self._base_key] = self._settled.base
        opened: dict[str, None] = st.session_state.setdefault(_OPEN, {})
        opened[key] = None

    @property
    def _base_key(self) -> str:
        return _begun(self.key)

    def field(self, name: str) -> str:
        """The key of a field's widget, which must have ``persist_state="session"`` and no value of its own."""
        return f"draft-{self.key}-{name}"

    def written(self) -> dict[str, Any]:
        """The fields that were written into and differ from the stored values, with their content."""
        return _written(self.key)

    def settle_clashes(self) -> bool:
        """Show which fields changed meanwhile, with a choice; returns whether everything is settled."""
        for name, there in self._settled.clashes.items():
            with st.container(border=True, gap="small", key=f"clash-{self.key}-{name}"):
                called = self._labels.get(name, name)
                st.markdown(f":material/call_split: **{widgets.plain(called)} was changed meanwhile.**")
                current, yours = merged.apart(self._shown(there), self._shown(self._settled.mine[name]), _MOST)
                st.text(f"Current: {current}")
                st.text(f"Yours: {yours}")
                with st.container(horizontal=True):
                    for label, mine in (("Keep my version", True), ("Use the current version", False)):
                        st.button(
                            label,
                            key=f"clash-{self.key}-{name}-{mine}",
                            on_click=self._choose,
                            args=(name, there, mine),
                        )
        return not self._settled.clashes

    def _choose(self, name: str, there: Any, mine: bool) -> None:
        base = dict(st.session_state.get(self._base_key, {}))
        st.session_state[self._base_key] = base | {name: there}
        if not mine:
            st.session_state[self.field(name)] = there

    def unsaved(self) -> None:
        """Say that something is written and not saved, with the way back; nothing if there is nothing unsaved."""
        if names := [self._labels.get(name, name).lower() for name in self.written()]:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(widgets.plain(f"Not saved yet: {', '.join(names)}."))
                st.button(
                    "Discard my changes", key=f"discard-{self.key}", type="tertiary", icon=":material/undo:",
                    on_click=drop, args=(self.key,),
                )  # fmt: skip

    def done(self) -> None:
        """Call it once saved: the next run begins the fields with the values stored then."""
        drop(self.key)

    def let_go(self, *names: str) -> None:
        """Make the next run begin these fields with the values stored then; others keep what was written."""
        base: dict[str, Any] = st.session_state.get(self._base_key, {})
        st.session_state[self._base_key] = {name: start for name, start in base.items() if name not in names}


def _begun(key: str) -> str:
    """The key for what a draft's fields began with: never the same as that of a field of another draft."""
    return f"begun-{key}"


def _written(key: str) -> dict[str, Any]:
    base: dict[str, Any] = st.session_state.get(_begun(key), {})
    stands = {name: st.session_state.get(f"draft-{key}-{name}", start) for name, start in base.items()}
    return {name: value for name, value in stands.items() if value != base[name]}


def drop(key: str) -> None:
    """Forget a draft, with what was written into it."""
    st.session_state.pop(_begun(key), None)  # its fields begin again at the next run
    opened: dict[str, None] = st.session_state.setdefault(_OPEN, {})
    opened.pop(key, None)


def erase(key: str) -> None:
    """Forget a draft whose fields are not drawn, and everything that was written into them."""
    for name in st.session_state.get(_begun(key), {}):
        st.session_state.pop(f"draft-{key}-{name}", None)
    drop(key)


def unsaved(prefix: str) -> dict[str, dict[str, Any]]:
    """What was written into the drafts whose keys begin like this, by the rest of their keys."""
    opened: dict[str, None] = st.session_state.get(_OPEN, {})
    found = {key.removeprefix(prefix): _written(key) for key in opened if key.startswith(prefix)}
    return {rest: written for rest, written in found.items() if written}


def turn(key: str) -> str:
    """The key of a field that is emptied once its content is stored: see ``next_turn``."""
    return f"{key}-{st.session_state.setdefault(f'turn-{key}', 0)}"


def next_turn(key: str) -> None:
    """Empty the fields of ``turn``: their content has been stored."""
    st.session_state[f"turn-{key}"] = st.session_state.get(f"turn-{key}", 0) + 1


# -- tables -------------------------------------------------------------------------------------------------


def table(frame: pd.DataFrame, key: str, **more: Any) -> pd.DataFrame:
    """An editable table, like ``widgets.edited_table``; returns its content.

    It begins with ``frame`` once, and from then on with what was written: what is passed in later is ignored until
    ``forget_table``, since the browser identifies a cell that is being written into only by its position.
    """
    at = f"table-{key}"
    turn, begun, stands = st.session_state.get(at, (st.session_state.get(f"turn-{key}", 0), frame, frame))
    gone = f"{key}-{turn}" not in st.session_state or st.session_state.pop(f"gone-{key}", False)
    if at in st.session_state and gone:  # the page was drawn without it
        turn, begun = turn + 1, stands.reset_index(drop=True).astype(frame.dtypes.to_dict())
    edited = widgets.edited_table(begun, key=f"{key}-{turn}", **more)
    st.session_state[at] = turn, begun, edited
    opened: dict[str, None] = st.session_state.setdefault(_TABLES, {})
    opened[key] = None
    return edited


def taken_away(prefix: str) -> None:
    """Note that the tables whose keys begin like this were drawn and removed again in the same run.

    The browser has then forgotten their cells, while Streamlit keeps them for one more run.
    """
    for key in st.session_state.get(_TABLES, {}):
        if key.startswith(prefix):
            st.session_state[f"gone-{key}"] = True


def keep_tables() -> None:
    """Store cells that arrive with the very click that leaves their page, which does not redraw them.

    Call it before a page is drawn.
    """
    opened: dict[str, None] = st.session_state.get(_TABLES, {})
    for key in opened:
        turn, begun, _ = st.session_state.get(f"table-{key}", (0, None, None))
        edits = st.session_state.get(f"{key}-{turn}")
        if begun is not None and edits is not None:
            st.session_state[f"table-{key}"] = turn, begun, with_edits(begun, edits)


def with_edits(begun: pd.DataFrame, edits: Mapping[str, Any]) -> pd.DataFrame:
    """A table with its edits.

    Args:
        begun: the table as it was drawn.
        edits: what the browser reports: cells by position and column, the positions of removed rows, and added rows.
    """
    frame = begun.reset_index(drop=True)
    for row, written in edits["edited_rows"].items():
        for column, value in written.items():
            frame.loc[int(row), column] = value
    added = pd.DataFrame(edits["added_rows"], columns=frame.columns).astype(begun.dtypes.to_dict())
    kept = frame.drop(index=[int(row) for row in edits["deleted_rows"]])
    return cells.from_cells(pd.concat([kept, added], ignore_index=True) if len(added) else kept)


def table_written(key: str) -> bool:
    """Whether anything was written into a table since it began."""
    _, begun, stands = st.session_state.get(f"table-{key}", (0, None, None))
    return begun is not None and not begun.reset_index(drop=True).equals(stands.reset_index(drop=True))


def forget_table(key: str) -> None:
    """Make a table begin again at the next run, with the rows passed in then."""
    turn, _, _ = st.session_state.pop(f"table-{key}", (0, None, None))
    st.session_state[f"turn-{key}"] = turn + 1


def chosen(frame: pd.DataFrame, key: str, ids: str = "id", *, since: object = None, **more: Any) -> list[str]:
    """A table whose rows are chosen, with a box for all of them; returns the ids of the chosen ones, in table order.

    Ids are chosen, not positions: they stay chosen when a game adds or removes others meanwhile, and a click in a
    table that was drawn before that counts for the memory that was clicked.

    Args:
        frame: the rows.
        key: distinguishes this table from others.
        ids: the name of the column of ids.
        since: a new value clears the choice.
        more: as for ``widgets.table``.
    """
    at, now = f"chosen-{key}", [str(row_id) for row_id in frame[ids]]
    choice = _Chosen.of(at)
    turn, drawn = choice.turn, choice.drawn
    clicked = st.session_state.get(f"{key}-{turn}")
    if clicked is not None and not choice.forced:
        choice.ids = [drawn[row] for row in clicked["selection"]["rows"] if row < len(drawn)]
    if since != choice.since:
        choice.ids, choice.since, choice.forced = [], since, True
    picked = [row_id for row_id in now if row_id in set(choice.ids)]
    if now != drawn or choice.forced or clicked is None:
        choice.turn += 1
    choice.ids, choice.drawn, choice.forced = picked, now, False
    every = len(picked) == len(now)
    box = f"{key}-all"
    if st.session_state.get(box) is not every:
        st.session_state[box] = every
    st.checkbox(f"{words.SELECT_ALL} {len(now):,} shown", key=box, on_change=_choose_all, args=(at, box))
    rows = [place for place, row_id in enumerate(now) if row_id in set(picked)]
    widgets.table(
        frame,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": rows}},
        key=f"{key}-{choice.turn}",
        **more,
    )
    st.session_state[at] = choice
    return picked


@dataclass
class _Chosen:
    """Which rows are chosen, and the ids of the rows that were drawn last, in order."""

    turn: int = 0
    drawn: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    since: object = None
    forced: bool = False

    @classmethod
    def of(cls, at: str) -> _Chosen:
        found: _Chosen = st.session_state.get(at) or cls()
        return found


def _choose_all(at: str, box: str) -> None:
    """Choose all rows that were drawn, since those are the visible ones, or none."""
    choice = _Chosen.of(at)
    choice.ids, choice.forced = (list(choice.drawn) if st.session_state[box] else []), True
    st.session_state[at] = choice
