"""The tests of the story on its page: results, and what a red test leaked, with its chain."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.world.knows import FILE, StoryTest, TestResult, chain_in_words

from ... import session, words
from ...components import bulk, places, widgets
from ...data import tables

_RESULTS = "who-knows-results"


def show(agent: AgentMemory) -> None:
    """The stored tests, a button to run them, and their results."""
    world = session.world()
    st.header("World tests", anchor=False)
    widgets.said()
    try:
        story_tests = world.story_tests()
    except MemorySystemError as error:
        widgets.problem(error)
        return
    if not story_tests:
        widgets.empty("No tests yet.", f"Open a cell above and keep it as a test. They are kept in {FILE}.")
        return
    if st.button(words.RUN_TESTS, icon=":material/play_arrow:", help="In Python: World.run_tests"):
        with st.spinner("Running"):
            st.session_state[_RESULTS] = world.run_tests()
    results: tuple[TestResult, ...] = st.session_state.get(_RESULTS, ())
    of = {result.test: result for result in results}
    for number, test in enumerate(story_tests):
        _line(agent, number, test, of.get(test))


def _line(agent: AgentMemory, number: int, test: StoryTest, result: TestResult | None) -> None:
    with st.container(border=True, gap="small", key=f"story-test-{number}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            if result is not None:
                st.badge(words.PASSED if result.passed else words.RED, color="green" if result.passed else "red")
            with st.container(width="stretch"):
                widgets.text(test.name)
            label, closed = widgets.heard("Remove", test.name), agent.read_only is not None
            if st.button(label, key=f"remove-test-{number}", type="tertiary", disabled=closed):
                _remove(test)
        if result is None or result.passed:
            return
        widgets.text(result.why)
        cell = result.cell
        if cell is None or not cell.memory:
            return
        widgets.text(f"“{cell.text}”")
        chain = f" · {chain_in_words(result.chain)}" if result.chain else ""
        st.caption(widgets.plain(f"revision {cell.revision} · {cell.author}{chain}"))
        with st.container(horizontal=True):
            if st.button(words.OPEN_MEMORY, icon=":material/open_in_new:", key=f"leak-{number}"):
                places.to_memory(cell.agent, memory=cell.memory)
            if cell.revision and st.button(
                words.UNDO_THIS, icon=":material/undo:", key=f"undo-leak-{number}",
                disabled=agent.read_only is not None, help="In Python: AgentMemory.undo",
            ):  # fmt: skip
                st.session_state.pop(_RESULTS, None)
                whose = session.world().agent(cell.agent).acting_as(agent.author)
                bulk.do(whose, lambda: whose.undo(cell.revision))


def _remove(test: StoryTest) -> None:
    left = [other for other in session.world().story_tests() if other.name != test.name]
    keep(left, f"The test is removed: {test.name}", f"The test is back: {test.name}")


def keep(tests: Sequence[StoryTest], sentence: str, undone: str) -> None:
    """Store these tests instead of the former ones; the next run says so, as ``sentence``, and offers an undo."""
    world = session.world()
    try:
        before = world.story_tests()
        world.keep_tests(tests)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    bulk.did(
        tables.visible(sentence), lambda: world.keep_tests(before), tables.visible(undone),
        holds=lambda: world.story_tests() == tuple(tests), where="World.keep_tests",
    )  # fmt: skip
    st.rerun()
