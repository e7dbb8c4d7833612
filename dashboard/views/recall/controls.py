"""What is asked on the Recall page: the cue in the link, and the sliders kept for the session, one set per agent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import streamlit as st

from memory_system import (
    PRESETS,
    AgentMemory,
    AgentSettings,
    DecayForm,
    Facets,
    Kind,
    Measure,
    Passing,
    Preset,
    Query,
    Scoring,
    Seats,
    Weights,
)

from ... import session, words
from ...components import drafts, mounting
from ...data import tables, zone

OWN = "this character's"
LONGEST = 2000
"""The most characters of a cue in the field."""
_MOST = 3.0
_FIRST_DAY, _LAST_DAY = date(1000, 1, 1), date(2999, 12, 31)
"""The browser's calendar lists every year, and cannot return from the year 9999."""


@dataclass(frozen=True)
class Asked:
    """The query as it is on the page, and which candidates are to be shown."""

    query: Query
    shown: str


def cue(agent: AgentMemory) -> str:
    """The field of the cue, which is in the link; following a link fills it."""
    linked = session.from_link("cue")
    if linked and st.session_state.get("cue-linked") != linked:
        st.session_state["cue"] = linked
    left, right = st.columns([4, 1], vertical_alignment="bottom")  # no st.form: it forgets what was not submitted
    text = left.text_input(
        "Cue", key="cue", placeholder=session.example_cues(agent.name)[0], max_chars=LONGEST, persist_state="session"
    )
    right.button(
        "Recall", type="primary", icon=":material/search:", width="stretch", shortcut="Ctrl+Enter", key="recall"
    )
    mounting.keep_unsent("cue", "cue", text)
    session.to_link("cue", text)
    st.session_state["cue-linked"] = text
    return text


def own_preset(settings: AgentSettings) -> Preset:
    """A character's own way of scoring, in the form of a preset."""
    return Preset(settings.scoring, settings.threshold, settings.static_threshold, "As on the Settings page.")


def controls(agent: AgentMemory, text: str) -> Asked:
    """The sliders, from the character's settings until they are moved; on a small screen in a sheet that opens."""
    settings = agent.settings
    with st.container(key="recall-sheet"):
        st.toggle(words.CHANGE_THE_QUERY, key="recall-sheet-open")
        with st.container(key="recall-controls", gap="small"):
            threshold = _slider(agent, "thr", words.THRESHOLD, 0.0, _MOST, 0.01)
            weights = _weights(agent)
            top_k = st.number_input(
                words.TOP_K, 0, 100, min(settings.top_k, 100), key=f"top_k-{session.place()}",
                persist_state="session",
            )  # fmt: skip
            shown = st.segmented_control(
                "Show",
                ["All", "Recalled", words.NOT_RECALLED],
                default="All",
                required=True,
                key=f"shown-{session.place()}",
                persist_state="session",
            )
            with st.expander(words.DECAY_AND_TIME):
                scoring, static_threshold, static_share = _scoring(agent, weights)
                requery, now = _second_round_and_time(agent)
                instances, unexpanded = _instances(agent, text)
                addressed = st.toggle(
                    words.ADDRESSED, key=f"addressed-{session.place()}", persist_state="session",
                    help="As in a talk: “you” is then the character, and “I” is not.",
                )  # fmt: skip
            with st.expander(words.ONLY_MEMORIES_OF):
                facets = _facets(agent)
    more = requery, instances, unexpanded, addressed
    query = Query(text, now, int(top_k), threshold, static_threshold, static_share, scoring, facets, *more)
    return Asked(query, str(shown))


def take_over(agent: AgentMemory, query: Query, at: datetime | None) -> None:
    """Make the page ask like a query, for the viewed agent and moment; parts of days are left out.

    Args:
        agent: the agent as it is viewed.
        query: what was asked.
        at: the time to ask at; ``None`` = the world's time of the moment.
    """
    facets = query.facets
    people, places = session.scenes(agent)
    values = _values(Preset(query.scoring, query.threshold, query.static_threshold, "")) | {
        "top_k": min(query.top_k, 100),
        "ss": query.static_share,
        "requery": query.requery,
        "addressed": query.addressed,
        "expand": len(query.instances),
        "instances": (query.cue, len(query.instances), query.instances, ""),
        "kinds": [str(kind) for kind in facets.kinds],
        "tags": [tag for tag in facets.tags if tag in session.tags(agent)],
        "sources": list(facets.sources),
        "people": [person for person in facets.people if person in people],
        "places": [place for place in facets.places if place in places],
        "since": _day(facets.since),
        "until": _day(facets.until, days=-1),
        "range": (facets.min_importance or 0.0, 1.0 if facets.max_importance is None else facets.max_importance),
        "contains": facets.contains[:200],
    }
    for name, value in values.items():
        st.session_state[f"{name}-{session.place()}"] = value
    st.session_state[f"asked-at-{session.place()}"] = at or agent.now
    drafts.drop(f"ask/{session.place()}")


def _day(moment: datetime | None, days: int = 0) -> date | None:
    """The day that begins at a moment; ``None`` if it is not midnight, or beyond the calendar."""
    at = None if moment is None else zone.here(moment)
    if at is None or at.time() != time() or not _FIRST_DAY < at.date() < _LAST_DAY:
        return None
    return at.date() + timedelta(days=days)


def _values(preset: Preset) -> dict[str, Any]:
    """What the controls show for a preset."""
    weights = preset.scoring.weights
    return {
        "thr": min(preset.threshold, _MOST),
        "recency": min(weights.recency, _MOST),
        "importance": min(weights.importance, _MOST),
        "relevancy": min(weights.relevancy, _MOST),
        "decay": max(0.5, min(preset.scoring.decay, 0.999)),
        "st": preset.static_threshold,
        "measure": preset.scoring.measure.value,
        "normalise": preset.scoring.normalise,
        "seats": preset.scoring.seats.value,
        "decay_form": preset.scoring.decay_form.value,
        "passing": preset.scoring.passing.value,
    }


def _slider(
    agent: AgentMemory, name: str, label: str, low: float, high: float, step: float, shape: str = "%.2f"
) -> float:
    start = _values(own_preset(agent.settings))[name]
    key = f"{name}-{session.place()}"
    return float(st.slider(label, low, high, start, step, shape, key=key, persist_state="session"))


def show_all() -> None:
    """Make the page list what is recalled and what is not."""
    st.session_state[f"shown-{session.place()}"] = "All"


def _weights(agent: AgentMemory) -> Weights:
    """A preset, which sets the sliders here and below, and the weight of each part."""
    own = own_preset(agent.settings)

    def take_preset() -> None:
        chosen = PRESETS.get(st.session_state[f"preset-{session.place()}"], own)
        for name, value in _values(chosen).items():
            st.session_state[f"{name}-{session.place()}"] = value

    chosen = st.segmented_control(
        "Preset", [OWN, *PRESETS], default=OWN, required=True, key=f"preset-{session.place()}", on_change=take_preset,
        help="Sets the sliders, the thresholds included.", persist_state="session",
    )  # fmt: skip
    st.caption(PRESETS.get(str(chosen), own).source)
    return Weights(
        *(
            _slider(agent, name, f"Weight of {name}", 0.0, _MOST, 0.01)
            for name in ("recency", "importance", "relevancy")
        )
    )


def _scoring(agent: AgentMemory, weights: Weights) -> tuple[Scoring, float, float]:
    """Decay, measure, and static memory's own settings."""
    own = own_preset(agent.settings)
    decay = _slider(agent, "decay", words.RECENCY_KEPT, 0.5, 0.999, 0.001, "%.3f")
    static_threshold = _slider(agent, "st", words.STATIC_THRESHOLD, 0.0, 1.0, 0.01)
    static_share = st.slider(
        "Share of seats for static memory", 0.0, 1.0, agent.settings.static_share, 0.1, key=f"ss-{session.place()}",
        persist_state="session",
    )  # fmt: skip
    decay_form = st.segmented_control(
        words.DECAY_BY, [form.value for form in DecayForm], default=own.scoring.decay_form.value, required=True,
        key=f"decay_form-{session.place()}", persist_state="session", help=words.DECAY_HELP,
    )  # fmt: skip
    passing = st.segmented_control(
        words.THRESHOLD_IS_OF, [passing.value for passing in Passing], default=own.scoring.passing.value, required=True,
        key=f"passing-{session.place()}", persist_state="session", help=words.THRESHOLD_HELP,
    )  # fmt: skip
    seats = st.segmented_control(
        words.SEATS_BY, [Seat.value for Seat in Seats], default=own.scoring.seats.value, required=True,
        key=f"seats-{session.place()}", persist_state="session", help=words.SEATS_HELP,
    )  # fmt: skip
    measure = st.segmented_control(
        "Relevancy by", [measure.value for measure in Measure], default=own.scoring.measure.value, required=True,
        key=f"measure-{session.place()}", persist_state="session",
        help=words.RELEVANCY_HELP,
    )  # fmt: skip
    normalise = st.toggle(
        words.SCALE_EACH_PART, own.scoring.normalise, key=f"normalise-{session.place()}",
        help="As in the paper on generative agents.", persist_state="session",
    )  # fmt: skip
    rules = Seats(str(seats)), DecayForm(str(decay_form)), Passing(str(passing))
    scoring = Scoring(weights, decay, Measure(str(measure)), normalise, *rules)
    return scoring, static_threshold, static_share


def _second_round_and_time(agent: AgentMemory) -> tuple[int, datetime]:
    """How many hits lead on, and the time of the query: the world's, or another to see what has decayed by then."""
    world_now = zone.here(st.session_state.get(f"asked-at-{session.place()}", agent.now))
    minute = world_now.replace(second=0, microsecond=0)
    draft = drafts.Draft(f"ask/{session.place()}", {"day": minute.date(), "hour": minute.time()})
    day = st.date_input(
        "Ask on this day", None, key=draft.field("day"), help="The world's time; later, recency has decayed.",
        persist_state="session",
    ) or minute.date()  # fmt: skip
    hour = st.time_input(zone.named("At this time"), None, key=draft.field("hour"), persist_state="session")
    requery = st.number_input(
        "Hits for a second round", 0, 20, 0, key=f"requery-{session.place()}", persist_state="session",
        help="The best hits become cues for a second round, which fills the remaining seats.",
    )  # fmt: skip
    asked_at = zone.moment(day, hour or minute.time())
    return int(requery), world_now if asked_at == minute else asked_at


def _instances(agent: AgentMemory, text: str) -> tuple[tuple[str, ...], str]:
    """The instances of the cue to ask, too, or why there are none; the language model is asked once per cue."""
    most = st.number_input(
        words.INSTANCES, 0, 20, 0, key=f"expand-{session.place()}", persist_state="session",
        help="How many things that the cue may mean, such as kayaking for hobbies, a language model names; what they "
             "find competes for the seats. 0 asks the cue alone.",
    )  # fmt: skip
    if not most:
        return (), ""
    key = f"instances-{session.place()}"
    expansion = st.session_state.get(key)
    if expansion is None or expansion[:2] != (text, most):
        with st.spinner("Asking the language model…"):
            asked = agent.query(text, expand=int(most))
        expansion = st.session_state[key] = text, most, asked.instances, asked.unexpanded
    return expansion[2:]


def _facets(agent: AgentMemory) -> Facets:
    """Which memories may be found; all until something is chosen."""
    kinds = st.multiselect(
        "Kinds",
        [kind.value for kind in Kind],
        key=f"kinds-{session.place()}",
        placeholder="Any kind",
        persist_state="session",
    )
    tags = st.multiselect(
        "Tags", session.tags(agent), key=f"tags-{session.place()}", placeholder="Any tag",
        persist_state="session",
    )  # fmt: skip
    scene = _scene(agent)
    since = st.date_input(
        words.HAPPENED_FROM,
        None,
        _FIRST_DAY,
        _LAST_DAY,
        key=f"since-{session.place()}",
        help=f"The whole day, in {zone.name()}.",
        persist_state="session",
    )
    until = st.date_input(
        words.HAPPENED_UNTIL,
        None,
        _FIRST_DAY,
        _LAST_DAY,
        key=f"until-{session.place()}",
        help=f"The whole day, in {zone.name()}.",
        persist_state="session",
    )
    low, high = st.slider(
        "Importance", 0.0, 1.0, (0.0, 1.0), 0.1, key=f"range-{session.place()}", persist_state="session"
    )
    contains = st.text_input(
        "With these words", key=f"contains-{session.place()}", max_chars=200, persist_state="session"
    )
    if since and until and until < since:
        st.warning("The last day is before the first; the last day is ignored.")
        until = None
    return Facets(
        tuple(Kind(kind) for kind in kinds),
        tuple(tags),
        _midnight(since),
        _midnight(until, days=1),
        low or None,
        high if high < 1 else None,
        contains,
        **scene,
    )


def _scene(agent: AgentMemory) -> dict[str, Any]:
    """The facets of how it became known, who is in it and where; shown only if memories have such data."""
    people, places = session.scenes(agent)
    if not people and not places:
        return {}
    place, found = session.place(), dict[str, Any]()
    for name, label, options, missing in (
        ("sources", "How it became known", list(tables.SOURCES), "In any way"),
        ("people", "People", list(people), "Anybody"),
        ("places", "Places", list(places), "Anywhere"),
    ):
        found[name] = tuple(
            st.multiselect(
                label,
                options,
                key=f"{name}-{place}",
                placeholder=missing,
                format_func=lambda option: tables.SOURCES.get(option, option),
                persist_state="session",
            )
        )
    return found


def _midnight(day: date | None, days: int = 0) -> datetime | None:
    if day is None:
        return None
    try:
        return zone.moment(day + timedelta(days=days), time())
    except OverflowError:
        return None
