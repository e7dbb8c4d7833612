"""The grid: one row per fact, one cell per character, and what a cell rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import chain, count

import streamlit as st

from memory_system import AgentMemory, MemorySystemError, World
from memory_system.core import WORLD_AGENT
from memory_system.world.knows import PERSON, Cell, Sort, StoryTest, Verdict

from ... import session, words
from ...components import bulk, places, widgets
from ...data import tables
from ...data.zone import stamp
from . import tests

_FACTS, _OPEN, _HELD = "who-knows-facts", "who-knows-open", "who-knows-held"
_LINK, TYPED = "fact", "who-knows-fact"
_ASKED = "who-knows-asked"
MOST_LETTERS = 1000
"""The most letters of a fact."""
_MOST = 12
"""The most facts shown at once."""
MOST_CELLS = 24
"""The most characters whose cells are shown for a fact: those who know something of it come first."""
_ORDER = (Verdict.WRONG, Verdict.KNOWS, Verdict.HALF, Verdict.UNAWARE)
"""The order of verdicts: of the cells of a larger cast, and of their counts."""
_ICONS = {
    Verdict.KNOWS: ":material/check_circle:",
    Verdict.HALF: ":material/contrast:",
    Verdict.WRONG: ":material/error:",
    Verdict.UNAWARE: ":material/circle:",
}
_NAME = 80


def ask() -> None:
    """Ask about the typed fact, too; it comes first, and all facts are in the link."""
    bare = " ".join(str(st.session_state.get(TYPED) or "").split())
    if not bare:
        return
    st.session_state[TYPED] = ""
    st.session_state[_FACTS] = [bare, *(fact for fact in _typed() if fact != bare)][:_MOST]
    st.query_params[_LINK] = st.session_state[_FACTS]
    st.session_state[_ASKED] = 2  # for this run, and for that of the click that left the field


def nothing_to_ask(pressed: bool) -> bool:
    """Whether the button was pressed with nothing to ask; to leave the field asks, so a press then finds it empty."""
    left = int(st.session_state.get(_ASKED, 0))
    st.session_state[_ASKED] = max(0, left - 1)
    return pressed and not left


def _typed() -> list[str]:
    linked = [fact for fact in st.query_params.get_all(_LINK) if fact.strip() and len(fact) <= MOST_LETTERS]
    return list(dict.fromkeys([*linked, *st.session_state.get(_FACTS, ())]))


def facts(world: World) -> list[str]:
    """The facts to ask about: those typed here, and those corrected or tested in this story before."""
    try:
        tested = [test.fact for test in world.story_tests() if test.sort in (Sort.KNOWS, Sort.MUST_NOT)]
    except MemorySystemError:  # the tests below show what is wrong with their file
        tested = []
    before = [label.fact for label in world.labels()]
    return list(dict.fromkeys([*_typed(), *before, *tested]))[:_MOST]


def cells(fact: str, at: datetime | None) -> tuple[Cell, ...]:
    """Whether each character knows a fact, asked again only when something has changed."""
    world = session.world()
    names = world.characters()
    stamps = tuple(session.stamps(names))
    asked = (at, world.standing if at is None else None, world.labels(), world.facts(), stamps)
    answers = st.session_state.setdefault(_HELD, {})
    if fact not in answers or answers[fact][0] != asked:
        answers[fact] = asked, world.who_knows(fact, names, at=at, ask_model=False)
        while len(answers) > _MOST:
            answers.pop(next(iter(answers)))
    found: tuple[Cell, ...] = answers[fact][1]
    return found


def row(agent: AgentMemory, number: int, fact: str, at: datetime | None) -> None:
    """A fact, and whether each character knows it; a click on one shows what that rests on."""
    world = session.world()
    found = cells(fact, at)
    called = session.labels([cell.agent for cell in found])
    with st.container(border=True, gap="small", key=f"fact-{number}"):
        widgets.text(fact)
        with st.container(horizontal=True, gap="small"):
            for cell in _shown(found):
                st.button(
                    widgets.plain(f"{called[cell.agent]}: {cell.verdict}"),
                    icon=_ICONS[cell.verdict],
                    key=f"cell-{number}-{cell.agent}",
                    width=250,
                    type="secondary" if cell.verdict is not Verdict.UNAWARE else "tertiary",
                    on_click=_open,
                    args=(fact, cell.agent),
                )
        if len(found) > MOST_CELLS:
            st.caption(_counted(found))
        chosen = st.session_state.get(_OPEN)
        if chosen is not None and chosen[0] == fact:
            for opened in (cell for cell in found if cell.agent == chosen[1]):
                _evidence(agent, number, world.with_author(opened), at, called[opened.agent])


def _shown(found: Sequence[Cell]) -> Sequence[Cell]:
    """All of a small cast, in its order; in a larger one, those come first who have something to show."""
    if len(found) <= MOST_CELLS:
        return found
    return sorted(found, key=lambda cell: _ORDER.index(cell.verdict))[:MOST_CELLS]


def _counted(found: Sequence[Cell]) -> str:
    counts = Counter(cell.verdict for cell in found)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _ORDER if counts[verdict])
    return f"{MOST_CELLS} of {len(found)} characters are shown: {verdicts}."


def _open(fact: str, name: str) -> None:
    open_cell = st.session_state.get(_OPEN)
    st.session_state[_OPEN] = None if open_cell == (fact, name) else (fact, name)


def _evidence(agent: AgentMemory, number: int, cell: Cell, at: datetime | None, called: str) -> None:
    st.divider()
    widgets.text(f"{called} {cell.verdict}. {cell.why}")
    if cell.memory:
        widgets.text(f"“{cell.text}”")
        since = stamp(cell.since) if cell.since is not None else "always"
        how = f"{cell.how} by {cell.told_by}" if cell.told_by else cell.how
        brought = f" · revision {cell.revision}, {cell.author}" if cell.revision else ""
        st.caption(
            widgets.plain(f"Since {since} · {how} · {cell.sure:.0%} of the fact · judged by {cell.judge}{brought}")
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if cell.memory and st.button(words.OPEN_MEMORY, icon=":material/open_in_new:", key=f"memory-{number}"):
            places.to_memory(cell.agent, memory=cell.memory)
        verdict = st.selectbox(
            "Correction: the character",
            [str(verdict) for verdict in Verdict],
            index=list(Verdict).index(cell.verdict),
            key=f"is-{number}-{cell.agent}",
        )
        closed = agent.read_only is not None
        if st.button(
            words.SAY_SO, icon=":material/edit:", key=f"say-{number}", disabled=closed, help="In Python: World.correct"
        ):
            _correct(agent, cell, Verdict(str(verdict)))
        if cell.judge == PERSON and st.button("Take it back", key=f"back-{number}", disabled=closed):
            _correct(agent, cell, None)
        if st.button(
            words.KEEP_AS_TEST,
            icon=":material/verified:",
            key=f"keep-{number}",
            disabled=closed or cell.verdict in _UNCLEAR,
        ):
            _keep(cell, at, called)


_UNCLEAR = (Verdict.HALF, Verdict.WRONG)


def _correct(agent: AgentMemory, cell: Cell, verdict: Verdict | None) -> None:
    world = session.world()
    try:
        made = world.correct(cell.agent, cell.fact, verdict, cell.memory if verdict else "", author=agent.author)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    said = "It is kept, and takes precedence over any judge." if verdict else "It is taken back; it is judged again."
    bulk.done(world.agent(WORLD_AGENT), made, said)
    st.rerun()


def _keep(cell: Cell, at: datetime | None, called: str) -> None:
    sort = Sort.KNOWS if cell else Sort.MUST_NOT
    sentence = tables.visible(f"{called} {'knows' if cell else 'must not know'}: {cell.fact}")
    named = tables.short("".join(filter(str.isprintable, sentence)), _NAME)
    about, held = (sort, cell.fact, cell.agent), session.world().story_tests()
    taken = {other.name for other in held if (other.sort, other.fact, other.agent) != about}
    names = chain([named], (f"{named} ({number})" for number in count(2)))  # two facts may begin alike
    name = next(name for name in names if name not in taken)
    test = StoryTest(name, sort, cell.fact, cell.agent, by=at)
    others = (other for other in held if other.name != name)
    tests.keep([*others, test], "The test is kept with the world", "The tests are as before.")
