"""Two worlds compared: who is only in one, and how the others differ. Comparing touches neither."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from memory_system import MemorySystemError
from memory_system.core import WORLD_AGENT
from memory_system.maintenance import Worlds, WorldsCompared

from ... import session, words
from ...components import widgets
from ...data import saved, tables

_NONE = "–"


def show(worlds: Worlds, names: list[str]) -> None:
    """Choose another world, and see how it differs from the one that is chosen above."""
    if len(names) < 2:
        return
    st.header("Compare", anchor=False)
    name = str(st.session_state["worlds-chosen"])
    others = [_NONE, *(world_name for world_name in names if world_name != name)]
    other = st.selectbox(words.COMPARE_WITH, others, key=f"worlds-other-{name}", help="In Python: Worlds.compare")
    if other == _NONE:
        st.caption(widgets.plain(f"Choose which world “{name}” is compared with."))
        return
    try:
        with st.spinner("Comparing"):
            found = worlds.compare(name, str(other))
    except MemorySystemError as error:
        widgets.problem(error)
        return
    if not found:
        st.success(
            "Nothing differs: both have the same characters, and each remembers the same.",
            icon=":material/check_circle:",
        )
        return
    called = _called(found)
    for side, only in ((found.left, found.only_left), (found.right, found.only_right)):
        if only:
            st.markdown(widgets.plain(f"Only in “{side}”: {', '.join(map(called, only))}."))
    for character in found.characters:
        left = f"{tables.counted(character.left_changes, 'change', 'changes')} in “{found.left}”"
        st.caption(
            widgets.plain(
                f"{called(character.name)}: since both were the same, {left} and {character.right_changes} in "
                f"“{found.right}”."
            )
        )
    if found.same:
        st.caption(widgets.plain(f"The same in both: {', '.join(map(called, found.same))}."))
    columns = {"character": "Character", "what": "What", "left": found.left, "right": found.right}
    if len(frame := saved.differing(found, called)):
        widgets.table(frame, hide_index=True, column_config=dict(columns))


def _called(found: WorldsCompared) -> Callable[[str], str]:
    """What people call an agent of either world, by its title if the open world knows it, else by name."""
    world = session.world()
    known = world.stored() if world.name in (found.left, found.right) else ()
    called = {**session.labels(list(known)), WORLD_AGENT: words.WORLD_KNOWS}
    return lambda name: called.get(name, name)
