"""The drawer of the Memory page: a whole memory, why it was or was not recalled, and what can be done about it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from memory_system import AgentMemory, Candidate, Query
from memory_system.core import LIVED
from memory_system.errors import EntryNotFound
from memory_system.recall import Explanation, Lever, Way

from ... import session, words
from ...components import bulk, card, edits, forms, lines, widgets
from ...data import tables
from . import listing, looking

_SETTINGS = {
    Lever.THRESHOLD: "threshold",
    Lever.STATIC_THRESHOLD: "static_threshold",
    Lever.TOP_K: "top_k",
    Lever.STATIC_SHARE: "static_share",
    Lever.RECENCY: "scoring",
    Lever.IMPORTANCE: "scoring",
    Lever.RELEVANCY: "scoring",
}
"""The character's setting that makes each lever permanent."""
_NAME = 70
_WAYS = "ways"


def show(agent: AgentMemory, at: looking.Looking, found: Explanation | None, own: Query | None) -> None:
    """The open memory, or uses of the answer; ``own`` is the question with the character's own settings."""
    if not at.memory:
        session.to_link(forms.EDITED, None)
        with st.container(key="memory-rest", gap="xsmall"):
            _unfinished(agent)
            _rest(agent, found)
        return
    with st.container(key="memory-drawer", gap="xsmall"):
        st.button("Close", icon=":material/close:", type="tertiary", key="memory-close", on_click=looking.change,
                  kwargs={"memory": ""})  # fmt: skip
        try:
            entry = agent.last_version(at.memory)
        except EntryNotFound:
            widgets.empty("This memory never existed.", "The link may belong to another character.")
            return
        candidate = found.candidates.of(at.memory) if found else None
        _unfinished(agent)
        card.about(agent, entry)
        with st.container(key="memory-acts", gap="xsmall"):
            forms.actions(agent, entry)
            if own is not None and candidate is not None:
                _saved_cue(agent, own.cue, candidate)
        if found is not None and own is not None and candidate is not None:
            _why(agent, found.query, candidate)
            _ways(agent, own, candidate)
        card.links(agent, entry, "drawer")


def _unfinished(agent: AgentMemory) -> None:
    """What was written about memories that somebody has forgotten meanwhile."""
    edits.unfinished(agent, lambda: {entry.id for tier in LIVED for entry in agent.entries(tier)})


def _rest(agent: AgentMemory, found: Explanation | None) -> None:
    """The drawer while no memory is open."""
    if found is None:
        st.markdown("**Ask one of these**")
        for number, cue in enumerate(session.example_cues(agent.name)):
            st.button(
                widgets.plain(cue), key=f"memory-example-{number}", icon=":material/search:", width="stretch",
                on_click=looking.change, kwargs={"box": cue},
            )  # fmt: skip
        st.caption("Words in quotes narrow the list and ask nothing. Looking changes nothing, not even access times.")
        return
    st.markdown("**What the agent's prompt is given**")
    st.code(found.context or "Nothing was recalled, so the text is empty.", language=None, wrap_lines=True)
    if near := tables.nearest(found):
        st.caption(widgets.plain(near))
    st.caption("Choose a memory to see why it is where it is, and what would change that.")


def _why(agent: AgentMemory, query: Query, candidate: Candidate) -> None:
    """The verdict, and the score by its parts: the value of each, its weight, and what it adds."""
    score = candidate.score
    st.markdown(f"**{words.RECALLED if candidate.recalled else words.NOT_RECALLED}**")
    st.caption(widgets.plain(candidate.because))
    if candidate.via:
        st.caption(widgets.plain(f"Found through: {agent.last_version(candidate.via).document}"))
    most = tables.axis(query)
    lines = "".join(
        f"<tr><td><i style='background:{tables.PAINT[part['name']]}'></i>{part['name']}</td>"
        f"<td>{part['is']:.2f}</td><td>× {part['weight']:g}</td>"
        f"<td><b style='width:{100 * part['adds'] / most:.1f}%;background:{tables.PAINT[part['name']]}'></b></td>"
        f"<td>{part['adds']:.2f}</td></tr>"
        for part in listing.breakdown(score)
        if part["is"] is not None
    )
    sure = "" if score.confidence is None else f" · confidence {score.confidence:.2f}"
    needed = query.threshold_of(candidate.entry.tier)
    st.html(
        f"{_TABLE}<table class='why'><tr><th>part</th><th>is</th><th>weight</th><td></td><th>adds</th></tr>{lines}"
        f"<tr class='sum'><td colspan='4'>score{sure} · needed: above {needed:.2f}</td>"
        f"<td>{score.total:.2f}</td></tr></table>"
    )


_TABLE = (
    "<style>.why{width:100%;border-collapse:collapse;font-size:var(--type-text);line-height:1.5rem;"
    "font-variant-numeric:tabular-nums}.why th{font-weight:400;opacity:.75;text-align:right;padding:0 0 0 .5rem}"
    ".why td{text-align:right;white-space:nowrap;padding:0 0 0 .5rem}.why :is(th,td):first-child{text-align:left;"
    "padding:0}.why td:nth-child(4){width:40%}.why i{display:inline-block;width:.5rem;height:.5rem;border-radius:2px;"
    "margin-right:.5rem}.why b{display:block;height:.5rem;border-radius:2px}.why .sum td{text-align:left;"
    "white-space:normal;border-top:1px solid color-mix(in srgb,currentColor 25%,transparent)}"
    ".why .sum td:last-child{text-align:right;font-weight:600}</style>"
)


def _ways(agent: AgentMemory, own: Query, candidate: Candidate) -> None:
    """Each change that would recall it, with a button that tries it and one that keeps it, even during a trial."""
    entry_id, tried = candidate.entry.id, looking.tried(session.place(), own.cue)
    if candidate.recalled and tried is None:
        return
    ways = _ways_of(agent, own, entry_id)
    if candidate.recalled and not ways:
        return  # it is recalled even without the trial
    st.markdown(f"**{words.WHAT_WOULD_RECALL_IT}**")
    if not ways:
        st.caption("No single change would recall it; several together may.")
        widgets.lead(words.TRY_SEVERAL, "recall", agent.name, "tune", cue=own.cue)
        return
    lines.show(_WAYS, [_line(agent, way, tried) for way in ways], pressed=looking.acted)


def _line(agent: AgentMemory, way: Way, tried: Way | None) -> lines.Line:
    """A way, with its buttons."""
    acts = []
    if way.what_if is None:
        hint = "Asks again with this one change; nothing is saved."
        acts.append(lines.Act("try", "Try", hint, off=tried == way))
    if agent.read_only is None and (way.what_if is not None or way.lever in _SETTINGS):
        label = "Rate it so" if way.what_if is not None else "Keep for this character"
        acts.append(lines.Act("keep", label, _kept_by(way)))
    return lines.Line(way.lever.name, tables.visible(way.words), acts=tuple(acts))


def _ways_of(agent: AgentMemory, own: Query, entry_id: str) -> Sequence[Way]:
    return session.kept("ways", agent, lambda owner: owner.ways(own, entry_id), own.cue, entry_id)


def follow(agent: AgentMemory, at: looking.Looking) -> None:
    """Do what was pressed next to a way, before anything is asked."""
    taken = lines.taken(_WAYS)
    if taken is None or not (at.memory and at.cue):
        return
    lever, act = taken
    own = agent.retrieval.query(at.cue)
    way = next((way for way in _ways_of(agent, own, at.memory) if way.lever.name == lever), None)
    if way is None or act not in {act.name for act in _line(agent, way, None).acts}:
        return
    if act == "try":
        looking.try_out(session.place(), own.cue, way)
    else:
        _keep(agent, way, at.memory)


def _kept_by(way: Way) -> str:
    if way.what_if is not None:
        return "Changes this memory. In Python: AgentMemory.edit"
    return "Changes this character's setting, for every cue. In Python: AgentMemory.configure"


def _keep(agent: AgentMemory, way: Way, entry_id: str) -> None:
    """Make a way permanent: as a rating of the memory, or as a setting of the character."""
    looking.drop()
    if way.what_if is not None:
        bulk.do(agent, lambda: agent.edit(entry_id, rating=way.value, explanation="Rated by hand."))
        return
    name = _SETTINGS[way.lever]
    bulk.do(
        agent,
        lambda: agent.configure(**{name: getattr(way.query, name)}),
        sentence=f"Kept for {session.shown_name(agent.name)}: {way.words}",
    )


def _saved_cue(agent: AgentMemory, cue: str, candidate: Candidate) -> None:
    """Buttons that save the cue: this memory must, or must not, be in its answer."""
    if agent.read_only is not None:
        return
    entry_id = candidate.entry.id
    saved = next((saved_cue for saved_cue in agent.saved_cues if saved_cue.cue == cue), None)
    must, must_not = (saved.must, saved.must_not) if saved else ((), ())
    with st.container(horizontal=True, gap="small"):
        for label, icon, entry_ids in (
            ("Must recall", "bookmark_add", must),
            ("Must not recall", "bookmark_remove", must_not),
        ):
            is_must = entry_ids is must
            if st.button(
                label, icon=f":material/{icon}:", key=f"memory-{icon}", disabled=entry_id in entry_ids,
                help="A saved cue is checked after every edit. In Python: AgentMemory.save_cue",
            ):  # fmt: skip
                rest = [[other_id for other_id in ids if other_id != entry_id] for ids in (must, must_not)]
                rest[0 if is_must else 1].append(entry_id)
                name = saved.name if saved else _free_name(agent, cue)
                bulk.do(agent, lambda: agent.save_cue(name, cue, *rest))  # noqa: B023 - called at once


def _free_name(agent: AgentMemory, cue: str) -> str:
    """An unused name for a saved cue."""
    name, taken = tables.short(cue, _NAME), {cue.name.casefold() for cue in agent.saved_cues}
    return name if name.casefold() not in taken else f"{name} ({len(taken) + 1})"
