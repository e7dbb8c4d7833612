"""The places of the world, nested, with who is there at a time of the story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from memory_system import AgentMemory
from memory_system.world import Located
from memory_system.world.cast import Whereabouts

from ... import session, words
from ...components import widgets
from ...components.places import to_memory
from ...data import tables
from ...data.zone import stamp
from ..who_knows import moment

_ROW, _DEEPEST, _DOING = 3, 4, 90


def show(agent: AgentMemory) -> None:
    """All places, those with somebody in them first."""
    world = session.world()
    at = moment.slider("places-at")
    located, found = world.places(), world.whereabouts(at=at)
    if not located:
        widgets.empty("No places yet.", "Write places into its personality.", agent, to="personality")
        return
    within = {location.place: _known_place(location.within, located) for location in located}
    inside: dict[str, list[str]] = {}
    for place, outer in within.items():
        inside.setdefault(outer, []).append(place)
    there: dict[str, list[Whereabouts]] = {}
    for whereabouts in found:
        there.setdefault(_known_place(whereabouts.place, located), []).append(whereabouts)
    roots = sorted(inside.get("", []), key=lambda place: (-_people(place, inside, there), place.casefold()))
    busy = [place for place in roots if _people(place, inside, there)]
    for place in busy:
        _place(place, inside, there)
    if lost := there.get("", []):
        st.caption(
            widgets.plain(
                f"Whereabouts not known: {', '.join(session.shown_name(whereabouts.agent) for whereabouts in lost)}."
            )
        )
    if empty := [place for place in roots if place not in busy]:
        st.caption(widgets.plain(f"Nobody is at: {', '.join(map(tables.visible, empty))}."))


def _known_place(place: str, located: Sequence[Located]) -> str:
    """A place by its name in the world; empty if the world has none of this name."""
    return (
        next((location.place for location in located if location.place.casefold() == place.casefold()), "")
        if place
        else ""
    )


def _people(
    place: str, inside: Mapping[str, Sequence[str]], there: Mapping[str, Sequence[Whereabouts]], deep: int = 0
) -> int:
    """How many are at a place, or at one within it."""
    own = len(there.get(place, ()))
    return own + sum(_people(inner, inside, there, deep + 1) for inner in inside.get(place, ()) if deep < _DEEPEST)


def _place(
    place: str, inside: Mapping[str, Sequence[str]], there: Mapping[str, Sequence[Whereabouts]], deep: int = 0
) -> None:
    with st.container(border=True, gap="small", key=f"place-of-{deep}-{place}"):
        st.markdown(f"**{widgets.plain(place)}**")
        for whereabouts in there.get(place, ()):
            _somebody(whereabouts)
        busy = [inner for inner in inside.get(place, ()) if deep < _DEEPEST and _people(inner, inside, there, deep + 1)]
        empty = [tables.visible(inner) for inner in inside.get(place, ()) if inner not in busy]
        for first in range(0, len(busy), _ROW):
            row = busy[first : first + _ROW]
            rooms = st.columns(_ROW) if deep == 0 else [st.container() for _ in row]
            for inner, room in zip(row, rooms, strict=False):
                with room:
                    _place(inner, inside, there, deep + 1)
        if empty:
            st.caption(widgets.plain(", ".join(empty)))


def _somebody(whereabouts: Whereabouts) -> None:
    doing = f": {tables.short(whereabouts.doing, _DOING)}" if whereabouts.doing else ""
    when = f", {stamp(whereabouts.since)}" if whereabouts.since else ""
    if st.button(
        widgets.plain(session.shown_name(whereabouts.agent)), icon=":material/person:",
        key=f"is-at-{whereabouts.agent}", type="tertiary",
        help=words.OPEN_MEMORY if whereabouts.memory else words.OPEN_CHARACTER,
    ):  # fmt: skip
        if whereabouts.memory:
            to_memory(whereabouts.agent, memory=whereabouts.memory)
        st.switch_page("views/personality/personality.py", query_params={"agent": whereabouts.agent})
    st.caption(widgets.plain(f"By its {whereabouts.by}{when}{doing}"))
