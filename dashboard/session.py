"""What one browser session works on: the world (shared by all), the agent, the moment, and what the link says."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from memory_system import AgentMemory, MemorySystemError, Settings, Tier, World
from memory_system.agent_parts import CueResult
from memory_system.core import LIVED, shipped
from memory_system.errors import Conflict, NotAllowed, NotSignedIn
from memory_system.maintenance import InUse, fill_world
from memory_system.store.journal import Applied, HistoryKept
from memory_system.world import VIEWING, Inbox, Role, for_role

from . import words
from .data import comparing, moments, portraits, tables, zone
from .server.visitors import COOKIE, visitors

_T = TypeVar("_T")
SAMPLES = shipped.samples()
WORKBENCH = "Memory"
"""The title of the page that opens memories in place, so that nothing leads away from it."""
_SHOWN, _CAME = "world-shown", "world-came"
_MOST_KEPT = 100
"""What is kept of a world's agents at once; what was made longest ago goes first."""
_KEEPING = threading.Lock()
drawn = threading.Event()
"""Set once a page has been drawn: what can wait for that waits."""


@st.cache_resource(show_spinner="Opening the world. The first time takes up to a minute …")
def in_use(
    _say: Callable[[str], None] = lambda _line: None, _settings: Settings | None = None, *, _sample: bool = True
) -> InUse:
    """The holder of the world that this process serves, opened with the first caller's settings or the environment's.

    It is filled with the sample agents if it is new and they are requested.
    """
    made = World(_settings or Settings(), author="dashboard")
    if _sample:
        fill_world(made, SAMPLES, _say)
    return InUse(lambda: made)


def opened() -> World:
    """The world that this process serves now."""
    return in_use().world


def switchable() -> InUse:
    """The object that switches worlds and lists the others, for anybody who may change something.

    Raises:
        NotAllowed: a viewer asks.
    """
    if role() is not Role.CURATOR:
        raise NotAllowed(VIEWING)
    return in_use()


def elsewhere() -> str:
    """The name of the world that is served now, where this browser still shows another; empty if it shows that one.

    A browser shows the world that was served when it came, until ``follow`` takes it to another.
    """
    current = opened()
    if get_script_run_ctx(suppress_warning=True) is None:
        return ""  # work in the background shows nothing
    return "" if st.session_state.setdefault(_SHOWN, str(current.folder)) == str(current.folder) else current.name


def follow() -> None:
    """If another world is served than this browser shows, begin the page again in that one, and say so."""
    if elsewhere():
        former = Path(st.session_state[_SHOWN]).name
        take_up(f"{words.ANOTHER_WORLD} {former}. {words.NOT_SAVED_THERE}")
        st.rerun()


def take_up(message: str = "") -> None:
    """Let this browser show the world that is served now, and forget what it knew of another; the next run says so."""
    link, shown = st.query_params.get("agent"), str(opened().folder)
    st.session_state.clear()
    st.query_params.clear()
    if link in opened().agents():
        st.query_params["agent"] = str(link)
    st.session_state[_SHOWN] = shown
    st.session_state[_CAME] = message


def came() -> str:
    """The message about the world that this browser has just been taken to."""
    return str(st.session_state.pop(_CAME, ""))


def role() -> Role:
    """What the user of this page may do, checked again each time.

    Raises:
        NotSignedIn: they have not signed in, or no longer are.
    """
    guests = visitors()
    found = guests.role(st.context.cookies.get(COOKIE) if guests.door.locked else None)
    if found is None:
        raise NotSignedIn("You are signed out. Sign in again; nothing that was saved is lost.")
    return found


def viewing() -> bool:
    """Whether the user is a viewer, so that nothing that changes something must be offered."""
    return role() is Role.VIEWER


def world() -> World:
    """The world for the user of this page: for a viewer it refuses every change, as its agents do.

    Raises:
        Conflict: another world is served by now than this browser shows; nothing meant for one may reach the other.
    """
    if name := elsewhere():
        st.rerun()  # which a callback cannot do
        raise Conflict(f"{words.ANOTHER_WORLD} {name}. {words.NOT_SAVED_THERE}")
    zone.use(opened().clock())
    return for_role(opened(), role())


def example_cues(name: str) -> list[str]:
    """Three cues to try with an agent: the samples' own in their world, or such as fit anybody."""
    written: dict[str, list[str]] = _sample("cues") if _is_sample() else {}
    return written.get(name, ["Whom do I trust?", "What did I promise?", "What worries me most?"])


def _is_sample() -> bool:
    """Whether the world is that of the samples, or a copy of it: what it is, or is called, stands there unchanged."""
    about, sample = opened().about, _sample("world")
    return about.title == str(sample["title"]) or about.about == str(sample["about"])


@cache
def _sample(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SAMPLES / f"{file}.json").read_text(encoding="utf-8"))
    return found


@st.cache_resource(show_spinner=False)
def _kept(folder: str) -> dict[tuple[Hashable, ...], tuple[Any, Any]]:  # noqa: ARG001 - the world's is the cache's key
    return {}


def kept(what: str, agent: AgentMemory, make: Callable[[AgentMemory], _T], *more: Hashable) -> _T:
    """A value computed from an agent, cached for all users until anything in the agent changes; do not change it.

    Args:
        what: its name, which distinguishes it from other values of the same agent.
        agent: the agent.
        make: computes it.
        more: what else it depends on.
    """
    then, stamp, values = moment(), agent.stamp, _kept(str(world().folder))
    key = (what, agent.name, () if then is None else tuple(then.link().values()), *more)
    at, made = values.get(key, (None, None))
    if at != stamp:
        made = make(agent)
        with _KEEPING:
            values.pop(key, None)
            values[key] = stamp, made
            while len(values) > _MOST_KEPT:
                del values[next(iter(values))]
    value: _T = made
    return value


def stamps(names: Iterable[str]) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Keys by which ``kept`` sees whether one of these characters changed; ``None`` for one that cannot be opened."""
    for name in names:
        stamp = None
        with suppress(MemorySystemError):
            stamp = world().agent(name).stamp
        yield name, stamp


def timeline(agent: AgentMemory) -> pd.DataFrame:
    """The long-term memories of an agent as a table."""
    return kept("timeline", agent, lambda owner: tables.timeline(owner.entries(Tier.LTM)))


def checked_cues(agent: AgentMemory) -> list[CueResult]:
    """The results of an agent's saved cues."""
    now = agent.now
    return kept("cues", agent, lambda owner: owner.check_cues(now), now)


def waiting(agent: AgentMemory) -> Inbox:
    """What needs a decision about an agent at present, read again in each minute of its world.

    Memories are not compared with each other for it; ``compared.waiting`` adds what that found.
    """
    minute = agent.now.replace(second=0, microsecond=0)
    return kept("inbox", agent, lambda owner: world().inbox(owner.name), minute)


def history(agent: AgentMemory, most: int, before: int | None = None, **filters: Any) -> list[Applied]:
    """Change sets of an agent, as ``AgentMemory.history``.

    Args:
        agent: the agent.
        most: how many at most.
        before: the revision before which they are.
        filters: the filters, as for ``AgentMemory.history``.
    """
    which = (most, before, *sorted(filters.items()))
    return kept("history", agent, lambda owner: owner.history(most, before, **filters), *which)


def history_kept(changes: int | None = None, days: int | None = None) -> HistoryKept:
    """How far the present agent's history reaches back, as ``AgentMemory.history_kept``."""
    agent = present()  # what is let go of in the background changes no memory, but where the history begins
    begins = agent.timeline.begins_after
    return kept("history-kept", agent, lambda owner: owner.history_kept(changes, days), changes, days, begins)


def tags(agent: AgentMemory) -> tuple[str, ...]:
    """Every tag of an agent, the most frequent first."""

    def made(owner: AgentMemory) -> tuple[str, ...]:
        counts = Counter(tag for tier in LIVED for entry in owner.entries(tier) for tag in entry.tags)
        return tuple(tag for tag, _ in counts.most_common())

    return kept("tags", agent, made)


def scenes(agent: AgentMemory) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Everybody in an agent's memories and every place of them, the most frequent first."""

    def made(agent: AgentMemory) -> tuple[tuple[str, ...], tuple[str, ...]]:
        entries = [entry for tier in LIVED for entry in agent.entries(tier)]
        people = Counter(person for entry in entries for person in entry.people)
        places = Counter(entry.place for entry in entries if entry.place)
        return tuple(person for person, _ in people.most_common()), tuple(place for place, _ in places.most_common())

    return kept("scenes", agent, made)


def forget() -> None:
    """Drop everything cached about the agents, after others have taken their names."""
    _kept.clear()


def choose_next(name: str | None) -> None:
    """Let the next run begin with this agent, or with any."""
    st.session_state["agent-next"] = name or ""


NEW = "+"
"""In the place of a name in the picker: a new character. No name may be this."""


def pick_agent() -> bool:
    """Decide which agent is shown: the choice is in the link, and following a link is a choice.

    Returns:
        Whether the link names one that does not exist, so that another one is shown.
    """
    names = in_turn()
    if not names:
        return False
    asked = st.query_params.get("agent", "")
    followed = asked if asked and asked != st.session_state.get("agent-linked") else ""
    choice = st.session_state.pop("agent-next", None) or followed or st.session_state.get("agent", "")
    first = world().about.first
    chosen = next(name for name in (choice, first, names[0]) if name in names)
    st.session_state["agent"] = st.session_state["agent-before"] = chosen
    st.query_params["agent"] = st.session_state["agent-linked"] = chosen
    _pick_moment(chosen)
    return bool(followed) and followed not in names


def picked() -> None:
    """Use what was picked: "New character" is not a character, and is opened by ``wants_new``."""
    if st.session_state["agent"] == NEW:
        st.session_state["agent"] = st.session_state["agent-before"]
        st.session_state["new-wanted"] = True


def wants_new() -> bool:
    """Whether "New character" has just been picked."""
    return bool(st.session_state.pop("new-wanted", False))


def _pick_moment(name: str) -> None:
    """The moment that is viewed: the one in a link that was followed, or else the one chosen before."""
    linked = {key: str(st.query_params[key]) for key in moments.LINK if key in st.query_params}
    then = moment()
    try:
        if linked and linked != st.session_state.get("moment-linked"):
            then = moments.from_link(linked)
        elif then is not None and then.revision is not None and st.session_state.get("moment-of") != name:
            then = moments.Moment(world_time=st.session_state["moment-now"])  # each has revisions of its own
        look_at(then)
        if then is not None:
            st.session_state["moment-now"] = agent().now
    except MemorySystemError as error:
        look_at(None)
        st.session_state["moment-problem"] = error.sentence


def look_at(past: moments.Moment | None) -> None:
    """Let every page show the agent as it was at a moment, or as it is (``None``); the link says so."""
    st.session_state["moment"], st.session_state["moment-of"] = past, st.session_state.get("agent")
    link = {} if past is None else past.link()
    for name in moments.LINK:
        to_link(name, link.get(name))
    st.session_state["moment-linked"] = link


def moment() -> moments.Moment | None:
    """The moment of the past that is looked at; ``None`` = the present."""
    then: moments.Moment | None = st.session_state.get("moment")
    return then


def in_turn() -> list[str]:
    """The names of all agents: the characters, each followed by its rehearsals."""
    played = {mark.name: mark.of for mark in world().rehearsals()}
    return sorted(world().agents(), key=lambda name: (played.get(name, name), name in played, name))


def labels(names: list[str]) -> dict[str, str]:
    """The unique name of each agent in the picker."""
    shown_names = told_apart({name: shown_name(name) for name in names})
    return {**shown_names, NEW: f"+ {words.NEW_CHARACTER}"}


def told_apart(shown: Mapping[str, str]) -> dict[str, str]:
    """What each agent is called, by its file's name: of those who are called alike, with that name too."""
    twins = Counter(shown.values())
    return {name: label if twins[label] == 1 else f"{label} ({name})" for name, label in shown.items()}


def shown_name(name: str) -> str:
    """An agent's name for people; one that cannot be opened keeps its file's name, and the others work."""
    try:
        found = world().agent(name)
        label = comparing.label(tables.visible(found.display_name), _tried(name))
        return f"{label}{' (read only)' if found.read_only and not viewing() else ''}"
    except MemorySystemError:
        return f"{name} (cannot be opened)"


def picture(name: str) -> str:
    """The picture of an agent as an address that contains it: its portrait, or else its pattern."""
    try:
        return world().agent(name).portrait or portraits.address(name)
    except MemorySystemError:
        return portraits.address(name)


def _tried(name: str) -> str | None:
    """What a rehearsal is for; ``None`` for a character, and if that is unknown, which the banner says."""
    try:
        mark = world().rehearsal(name)
    except MemorySystemError:
        return None
    return mark.purpose if mark else None


def clock_words() -> str:
    """The world's time in words, and whether it is stopped."""
    state = clock_goes()
    return f"{zone.stamp(world().clock())}{f' (the clock {state})' if state else ''}"


def clock_goes() -> str:
    """How the world's clock runs, after "the clock"; empty if it follows the real time."""
    speed = world().speed
    return {0.0: "is stopped", 1.0: ""}.get(speed, f"runs {speed:g} times as fast")


def on_page(title: str) -> None:
    """Say which page is shown, for the history; and which one was before, for what a page keeps when it is left."""
    st.session_state["page-before"], st.session_state["page"] = st.session_state.get("page"), title


def present() -> AgentMemory:
    """The current agent as it is now, with this page as the author of its changes; every page has one."""
    return character(st.session_state["agent"])


def character(name: str) -> AgentMemory:
    """An agent as it is now, with this page as the author of its changes, which are known as this session's own."""
    made = own_changes()
    author = f"{st.session_state.get('page', 'dashboard')} page"
    return world().agent(name).acting_as(author, lambda change_set: made.add(change_set.id))


def own_changes() -> set[str]:
    """The ids of the change sets that this session makes, on its pages and in work that they began.

    It is one set throughout a session, to which threads may add.
    """
    made: set[str] = st.session_state.setdefault("changes-made", set())
    return made


def agent() -> AgentMemory:
    """The current agent, as it was at the moment that is viewed, or as it is.

    In the past it answers everything that an agent can be asked, has a sentence in ``read_only``, and refuses every
    change.
    """
    then = moment()
    return present() if then is None else present().as_of(**then.arguments())


def place() -> str:
    """The part of widgets' keys that distinguishes one agent, and one moment of its past, from another."""
    name = str(st.session_state["agent"])
    then = moment()
    return name if then is None else f"{name}@{'-'.join(then.link().values())}"


def from_link(name: str, default: str = "") -> str:
    """What the link says under this name."""
    return str(st.query_params.get(name, default))


def to_link(name: str, value: str | None) -> None:
    """Let the link say this, so that it survives a reload and can be sent to somebody."""
    if value:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]
