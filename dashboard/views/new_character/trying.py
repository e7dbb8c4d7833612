"""The third step: a cue asked of the character in a throw-away world, and the making of the character."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from memory_system import AgentMemory, MemoryEntry, Tier, World
from memory_system.core import checked_name
from memory_system.errors import AlreadyExists, InvalidAgentName
from memory_system.world import create_from_file

from ... import session, words
from ...components import bars, cast, places, widgets, working
from ...data import tables
from .brought import Brought
from .life import Life

KEPT = ("cue",)
"""The fields of this step that outlive a reload."""
_BARS = 6
_LONGEST = 300
_TRIED = "tried"


def cue(life: Life) -> str:
    """The field for the cue; returns its content."""
    st.text_input(
        words.TRY_A_CUE, key=life.key("cue"), max_chars=_LONGEST, persist_state="session",
        placeholder="Whom do I trust?",
    )  # fmt: skip
    return str(life.get("cue") or "").strip()


def answer(life: Life, document: dict[str, Any], events: Sequence[MemoryEntry], asked: str) -> None:
    """What the character would recall; only the ratings of the events are kept.

    Raises:
        InvalidPersonality: the personality cannot be kept.
    """
    with _throw_away() as world:
        bar = st.empty()
        agent = world.create_with_events(
            "tried", json.dumps(document, ensure_ascii=False), rated(life, events),
            progress=working.shown_in(bar),
        )  # fmt: skip
        bar.empty()
        life.put(_TRIED, {entry.document: entry for entry in agent.entries(Tier.STM)})
        _bars(agent, asked)


def rated(life: Life, events: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    """The events with the ratings that they got in the trial."""
    tried: dict[str, MemoryEntry] = life.get(_TRIED) or {}
    return [
        event.evolve(rating=known.rating, explanation=known.explanation)
        if event.rating is None and (known := tried.get(event.document)) is not None
        else event
        for event in events
    ]


def _throw_away() -> World:
    real_world = session.world()
    nowhere = {"store": "memory", "personalities": Path(real_world.folder) / "none", "durability": "normal"}
    world = World(real_world.settings.model_copy(update=nowhere), embedder=real_world.embedder, model=real_world.model)
    world.stand_at(real_world.clock())
    return world


def _bars(agent: AgentMemory, asked: str) -> None:
    query = agent.retrieval.query(asked)
    found = agent.explanation(query)
    if not len(found):
        nearest = f" The nearest: “{tables.short(found.nearest.entry.document, 120)}”" if found.nearest else ""
        st.caption(widgets.plain(f"Nothing would be recalled.{nearest}"))
    else:
        st.caption(f"{tables.counted(len(found), 'memory', 'memories')} of {found.considered} would be recalled.")
    if found.considered:
        bars.show(tables.candidates(found.candidates[:_BARS]), query, key="new-bars")


def create(
    life: Life, document: dict[str, Any], events: Sequence[MemoryEntry], asked: str, came: Brought | None = None
) -> None:
    """Make the character, in one change set, and lead to its memories with the cue asked.

    Raises:
        MemorySystemError: nothing was made.
    """
    whole = [*(came.lived if came else ()), *events]
    name, text = free_name(str(document["identity"]["name"])), json.dumps(document, ensure_ascii=False)
    made = create_from_file(
        session.world(), name, text, rated(life, whole),
        came.kept if came else (), came.card if came else None,
        came.portrait if came else None,
        author=f"{st.session_state.get('page', 'dashboard')} page",
        progress=working.shown_in(st.empty()),
    )  # fmt: skip
    first = made.history(1)[0].change_set
    session.own_changes().add(first.id)
    if many := len(whole) + len(came.kept if came else ()):
        counted = tables.counted(many, "memory", "memories")
    else:  # a character without a life still knows who it is
        counted = tables.counted(len(made.entries(Tier.STATIC)), "fact", "facts")
    cast.made(made, f"{made.display_name} was created with {counted}")
    life.end()
    session.look_at(None)
    places.to_memory(made.name, cue=asked)


def free_name(called: str) -> str:
    """A name for the files of a character, made from what people call it, that is not in use yet."""
    plain = "".join(letter if letter.isalnum() or letter in " -'." else " " for letter in called.casefold())
    parts = plain.split()
    wished = [*parts[:1], " ".join(parts), "character"]
    for stem in wished:
        for number in ("", *range(2, 1000)) if stem == wished[-1] or stem == " ".join(parts) else ("",):
            try:
                return session.world().free_name(checked_name(f"{stem} {number}".strip()))
            except AlreadyExists:
                continue
            except InvalidAgentName:
                break
    raise AlreadyExists(f"There are too many characters called {called[:40]!r}.")
