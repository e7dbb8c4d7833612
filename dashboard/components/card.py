"""The card of one memory: its text, what it rests on, what rests on it, what is near, and when it is forgotten."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from memory_system import AgentMemory, MemoryEntry, MemorySystemError, Source, Tier
from memory_system.core import ago, known_to
from memory_system.errors import EntryNotFound
from memory_system.operations import Lineage

from .. import session, words
from ..data import family, figures, tables
from ..data.zone import stamp
from . import bulk, lines, mounting, recent, stale, tabs, widgets

_CHANGES = 5
"""The most changes of a memory that are listed below it, the last first."""


def show(agent: AgentMemory, entry: MemoryEntry) -> None:
    """One memory: its text, when it happened, how important it is and why, and what it rests on."""
    with st.container(border=True):
        about(agent, entry)
        links(agent, entry)


def about(agent: AgentMemory, entry: MemoryEntry) -> None:
    """The text and the state of a memory, with the way back if it is forgotten."""
    now, gone = agent.now, agent.find(entry.id) is None
    with st.container(horizontal=True, gap="small"):
        st.badge(entry.kind.value, color="blue")
        st.badge(widgets.plain(tables.tier(entry)), color="green" if known_to(entry) else "gray")
        if entry.pinned:
            st.badge("pinned", icon=":material/keep:", color="orange")
        if entry.protected:
            st.badge("protected", icon=":material/lock:", color="orange")
        if entry.authored:
            st.badge("by a person", icon=":material/person:", color="violet")
        if gone:
            st.badge("forgotten", icon=":material/delete:", color="gray")
    widgets.text(entry.document)
    facts = []
    if entry.timestamp:
        facts.append(f"happened {stamp(entry.timestamp)} ({ago(entry.timestamp, now)})")
    if entry.last_access:
        facts.append(f"last recalled {ago(entry.last_access, now)}")
    facts.append(
        "unrated" if entry.rating is None else f"importance {entry.importance:.2f} (rated {entry.rating:g} of 10)"
    )
    st.caption(widgets.plain(" · ".join(facts)))
    if entry.explanation:
        st.caption(widgets.plain(entry.explanation))
    if scene := tables.scene(entry):
        st.caption(widgets.plain(" · ".join(f"{name}: {value}" for name, value in scene.items())))
    if entry.tags:
        st.caption(widgets.plain("Tags: " + ", ".join(entry.tags)))
    if gone:
        _restore(agent, entry)
    else:
        stale.panel(agent, entry)


def _restore(agent: AgentMemory, entry: MemoryEntry) -> None:
    """The way back for a memory that is shown as it was before it was forgotten."""
    if (
        agent.read_only is None
        and entry.tier is not Tier.STATIC
        and st.button(
            "Restore",
            icon=":material/settings_backup_restore:",
            key=f"restore-{entry.id}",
            help="In Python: AgentMemory.restore",
        )
    ):
        bulk.do(agent, lambda: agent.restore(entry.id))


def links(agent: AgentMemory, entry: MemoryEntry, where: str = "card") -> None:
    """What a memory rests on, what was built on it, what is near to it in meaning, and its id."""
    sources, unknown = _sources(agent, entry)
    built = agent.built_on(entry.id)
    lineage = agent.lineage(entry.id)
    groups = {name: some for name, some in (("below", sources), ("above", built)) if some}
    labels = {"Lineage": "Lineage"} if len(lineage.kin) > 1 else {}
    labels |= {name: _counted(name, len(some)) for name, some in groups.items()}
    labels |= {name: name for name in ("Similar", "When forgotten")}
    if entry.source is Source.TOLD and entry.people:
        labels["trail"] = words.WHO_TOLD_WHOM
    shown = tabs.show(labels | {"Changes": "Changes"}, f"{where}-{entry.id}")
    if "Lineage" in shown and shown["Lineage"].open:
        with shown["Lineage"]:
            _lineage(agent, lineage)
    for name, linked in groups.items():
        with shown[name]:
            if shown[name].open:
                linked_to(agent, [(other, other.kind.value) for other in linked[:50]], f"{name}-{entry.id}")
            if linked is sources and unknown:
                st.caption(f"{tables.counted(unknown, 'more is', 'more are')} not known to this character.")
    with shown["Similar"]:
        if entry.tier is Tier.STATIC:
            st.caption("Facts of the personality are not compared.")
        elif agent.find(entry.id) is None:
            st.caption("Forgotten memories are not compared.")
        elif shown["Similar"].open:
            near = [(other, f"{cosine:.2f}") for other, cosine in agent.similar(entry.id, 5)]
            linked_to(agent, near, f"similar-{entry.id}")
    with shown["When forgotten"]:
        if agent.find(entry.id) is None:
            st.caption("It is forgotten.")
        elif shown["When forgotten"].open:
            _forgetting(agent, entry)
    if "trail" in shown and shown["trail"].open:
        with shown["trail"]:
            _trail(agent, entry)
    with shown["Changes"]:
        if shown["Changes"].open:
            recent.listed(agent, _CHANGES, f"changed-{entry.id}", entry.id)
        st.code(f"id: {entry.id}", language=None)


def _counted(group: str, count: int) -> str:
    """The label of the tab of the memories below one, or above it."""
    if group == "below":
        return f"Rests on {tables.counted(count, 'memory', 'memories')}"
    return f"{tables.counted(count, 'memory rests', 'memories rest')} on it"


def _trail(agent: AgentMemory, entry: MemoryEntry) -> None:
    """How it came to the character, back to who knew of it first."""
    try:
        hops = session.world().trail(agent.name, entry.id)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    for hop in hops:
        when = f" · {stamp(hop.entry.timestamp)}" if hop.entry.timestamp else ""
        how = f"was told by {hop.teller}" if hop.teller else "knew it first"
        if not hop.teller and hop is not hops[-1]:
            how = "drew it from what follows"
        st.caption(widgets.plain(f"{session.shown_name(hop.agent)} {how}{when}"))
        st.text(tables.short(hop.entry.document, 300))


def _lineage(agent: AgentMemory, found: Lineage) -> None:
    """The graph of what a memory rests on and what rests on it; a click opens another one."""
    opened = f"lineage-opened-{found.entry_id}"
    mounting.show("lineage", family.tree(found), mounting.keeping(opened), key=f"lineage-{found.entry_id}")
    if memory := mounting.text(mounting.taken(opened), "memory"):
        stale.open_memory(agent, memory)
    sentences = ["Above: memories based on this one. Below: its evidence. Click one to open it."]
    left_out = found.more + len(found.kin) - len(family.drawn(found))
    if left_out:
        sentences.append(f"{tables.counted(left_out, 'memory lies', 'memories lie')} further off.")
    if found.unknown:
        sentences.append(f"{tables.counted(found.unknown, 'is', 'are')} cited and not known to this character.")
    st.caption(" ".join(sentences))


def _forgetting(agent: AgentMemory, entry: MemoryEntry) -> None:
    """For each saved cue that recalls this memory, when it falls out of the answer as time passes."""
    saved = agent.saved_cues
    if not saved:
        widgets.lead("Save a cue to see here when this memory will drop out of its answer.", "recall", agent.name)
        return
    forecasts = agent.retrieval.forecast_of(entry.id, [saved_cue.cue for saved_cue in saved])
    if not forecasts:
        st.caption(f"None of {tables.counted(len(saved), 'saved cue', 'saved cues')} recalls it now.")
        return
    for query, forecast in forecasts:
        widgets.text(query.cue)
        st.caption(widgets.plain(tables.forgetting(forecast)))
    st.plotly_chart(
        figures.forecast(
            [forecast for _, forecast in forecasts],
            widgets.ink(),
            compared="confidence" if agent.settings.scoring.confident else "score",
        ),
        config={"displayModeBar": False},
        key=f"forgetting-{entry.id}",
        alt="The score of this memory for each saved cue as time passes, beside the threshold",
    )


def _sources(agent: AgentMemory, entry: MemoryEntry) -> tuple[list[MemoryEntry], int]:
    """The memories that one rests on, forgotten ones included, and how many ids lead nowhere."""
    found, unknown = [], 0
    for entry_id in entry.evidence[:50]:
        try:
            found.append(agent.last_version(entry_id))
        except EntryNotFound:
            unknown += 1
    return found, unknown


def linked_to(agent: AgentMemory, others: Sequence[tuple[MemoryEntry, str]], key: str) -> None:
    """Linked memories: each with its text, a remark, and a button that opens it.

    Args:
        agent: the agent that has them.
        others: the memories, and a remark on each.
        key: distinguishes this list from others on the page.
    """
    drawn = []
    for other, about_it in others:
        note = about_it if agent.find(other.id) is not None else f"{about_it} · forgotten"
        drawn.append(lines.Line(other.id, tables.visible(other.document), note, acts=(lines.Act("open", "Open"),)))
    lines.show(key, drawn)
    if taken := lines.taken(key):
        stale.open_memory(agent, taken[0])
