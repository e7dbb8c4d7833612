"""The settings of a character: each with its meaning and its default, saved together, or taken from a preset."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_system import (
    PRESETS,
    AgentMemory,
    AgentSettings,
    DecayForm,
    Measure,
    MemorySystemError,
    Passing,
    RatedBy,
    Replan,
    Scoring,
    Seats,
    Weights,
)

from ... import session, words
from ...components import bulk, drafts, widgets
from ...components.frame import looking_back
from ...data import setting_names, tables

_NO_PART_OF_A_PRESET = (
    "stm_size",
    "top_k",
    "static_share",
    "retention",
    "retention_threshold",
    "migration_threshold",
    "reflection_trigger",
    "bin_days",
    "query_log",
    "history_changes",
    "history_days",
    "auto_migrate",
    "ltm_size",
    "person_trigger",
    "rated_by",
    "replan",
    "hourly_calls",
    "hourly_tokens",
    "hourly_cost",
)
_FIELDS: dict[str, tuple[str, float, float, float]] = {
    "stm_size": ("Events it holds before migration takes the overflow.", 1, 100_000, 1),
    "retention_threshold": (
        "The chance of being asked for that overflow must exceed, by learned retention.",
        0.0,
        1.0,
        0.01,
    ),
    "migration_threshold": ("The importance that overflow must exceed, by retention by importance.", 0.0, 1.0, 0.05),
    "top_k": ("The most memories that a query recalls.", 0, 100, 1),
    "threshold": ("What a short- or long-term memory must exceed.", 0.0, 30.0, 0.05),
    "static_threshold": ("What a fact of the personality must exceed.", 0.0, 1.0, 0.05),
    "static_share": ("Share of the seats for the personality while others wait.", 0.0, 1.0, 0.1),
    "reflection_trigger": ("Sum of recent ratings at which to reflect.", 1.0, 100_000.0, 10.0),
    "decay": ("The share of recency that remains each hour, after the first hour.", 0.001, 0.9999, 0.001),
    "recency": ("The weight of how recently a memory was recalled.", 0.0, 10.0, 0.05),
    "importance": ("The weight of how important a memory is.", 0.0, 10.0, 0.05),
    "relevancy": ("The weight of how well a memory answers the query.", 0.0, 10.0, 0.05),
    "bin_days": ("After this many days a migration purges forgotten memories; 0 means never.", 0, 36_500, 1),
    "ltm_size": (
        "As time passes, a summary replaces the memories beyond this number; 0 means never.",
        0,
        10_000_000,
        100,
    ),
    "person_trigger": (
        "Sum of ratings about one person at which to reflect on them as time passes; 0 means never.",
        0.0,
        100_000.0,
        10.0,
    ),
    "hourly_calls": ("Beyond this, what the character does by itself waits; 0 means no limit.", 0, 1_000_000, 1),
    "hourly_tokens": ("The same in tokens; 0 means no limit.", 0, 10**12, 1000),
    "hourly_cost": ("The same in the currency of the prices; 0 means no limit.", 0.0, 1e9, 0.01),
    "query_log": ("0 keeps none. Older ones are deleted permanently.", 0, 100_000, 100),
    "history_changes": (
        "This many of the newest are kept, at least 1,000; 0 keeps all. Older ones are deleted; no memory is.",
        0,
        10**9,
        1000,
    ),
    "history_days": (
        "Changes are kept for this many days of real time; 0 means for ever. Older ones are deleted; no memory is.",
        0,
        36_500,
        1,
    ),
}

_AT_NOUGHT = {
    "bin_days": "never",
    "ltm_size": "no limit",
    "person_trigger": "never",
    "hourly_calls": "no limit",
    "hourly_tokens": "no limit",
    "hourly_cost": "no limit",
    "query_log": "none",
    "history_changes": "all",
    "history_days": "for ever",
}
"""The meaning of 0 where it is special."""
_STYLE = (
    "<style>.st-key-out-of-range{display:none}"
    "[data-testid='stMain']:has(input[aria-invalid='true']) .st-key-out-of-range{display:flex}</style>"
)
"""Shows a message if a field is out of range: only the browser knows, since it does not send such a value."""


def show(agent: AgentMemory) -> None:
    """The fields, and the button that saves them."""
    now, usual = _flat(agent.settings), _flat(AgentSettings())
    with st.container(border=True):
        st.header("Memory and score", anchor=False)
        st.caption("Every change is in the history and can be undone. The question marks say what each setting means.")
        draft = drafts.Draft(f"settings/{agent.name}", now, setting_names.LABELS)
        values = _numbers(agent, now, usual, draft)
        _history(agent, values)
        _measures(values, draft)
        _presets(agent, now, draft)
        settled = draft.settle_clashes()
        draft.unsaved()
        st.html(_STYLE)
        with st.container(key="out-of-range"):
            st.caption(":material/error: A field in red is out of its range: it is not saved.")
        with st.container(horizontal=True):
            if st.button("Save", type="primary", icon=":material/save:", disabled=not settled or values == now):
                _save(agent, values, "Saved.", draft, tuple(values))
            if st.button("Reset all", icon=":material/restart_alt:", disabled=now == usual):
                _save(agent, usual, "All settings are back at their defaults.", draft, tuple(usual))
    with st.container(border=True):
        st.header("Fitted to what was judged", anchor=False)
        widgets.lead(words.TUNE_CHARACTER, "operations", agent.name, "tune", operation="tune")
        widgets.lead(words.TUNE_CAST, "operations", agent.name, "groups", operation="tune-cast")


def then(agent: AgentMemory, present: AgentSettings) -> None:
    """The settings for those who cannot change them: as they were at the viewed moment, and as they are now."""
    was, became = _flat(agent.settings), _flat(present)
    looking_back.settings(
        agent, {name: (label, was[name], became[name]) for name, label in setting_names.LABELS.items() if name in was}
    )


def _numbers(agent: AgentMemory, now: dict[str, Any], usual: dict[str, Any], draft: drafts.Draft) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for number, (name, (meaning, low, high, step)) in enumerate(_FIELDS.items()):
        label = setting_names.LABELS[name]
        if number % 2 == 0:
            columns = st.columns(2)
        with columns[number % 2]:
            shape = "%.4f" if name == "decay" else None
            stands = st.session_state[draft.field(name)]
            values[name] = st.number_input(
                label,
                min(low, now[name], stands),
                max(high, now[name], stands),
                step=step,
                format=shape,
                key=draft.field(name),
                help=meaning,
                persist_state="session",
            )
            with st.container(horizontal=True, vertical_alignment="center"):
                back = st.button(
                    f"Default {usual[name]:g}", key=f"reset-{name}", type="tertiary", disabled=now[name] == usual[name],
                    help=f"{label}: back to its default.",
                )  # fmt: skip
                if name in _AT_NOUGHT:
                    st.caption(f"0: {_AT_NOUGHT[name]}", width="content")
            if back:
                _save(agent, {**now, name: usual[name]}, f"{label} is back at its default.", draft, (name,))
    return values


def _history(agent: AgentMemory, values: dict[str, Any]) -> None:
    """How much space the history uses, and what saving would drop."""
    changes, days = values["history_changes"], values["history_days"]
    try:
        kept = session.history_kept(changes, days)
    except MemorySystemError as error:  # such as for a history that is too short; saving reports it, too
        widgets.problem(error)
        return
    since = f" since {tables.exact(kept.since)}" if kept.since else ""
    counted = tables.counted(kept.changes, "change", "changes")
    st.caption(widgets.plain(f"The history holds {counted}{since}: about {tables.megabytes(kept.bytes)}."))
    now = agent.settings
    if kept.leaving and (changes, days) != (now.history_changes, now.history_days):
        st.warning(
            f"Saving deletes {kept.leaving:,} older changes permanently: they can no longer be looked at or undone. "
            "Their effects stay.",
            icon=":material/history_toggle_off:",
        )


def _measures(values: dict[str, Any], draft: drafts.Draft) -> None:
    left, middle, right = st.columns(3)
    with middle:
        values["seats"] = st.segmented_control(
            words.SEATS_BY, [Seat.value for Seat in Seats], required=True, key=draft.field("seats"),
            persist_state="session", help=words.SEATS_HELP,
        )  # fmt: skip
        values["passing"] = st.segmented_control(
            words.THRESHOLD_IS_OF, [passing.value for passing in Passing], required=True, key=draft.field("passing"),
            persist_state="session", help=words.THRESHOLD_HELP,
        )  # fmt: skip
    with left:
        values["measure"] = st.segmented_control(
            "Relevancy by", [measure.value for measure in Measure], required=True, key=draft.field("measure"),
            persist_state="session", help=words.RELEVANCY_HELP,
        )  # fmt: skip
    with right:
        values["normalise"] = st.toggle(
            words.SCALE_EACH_PART, key=draft.field("normalise"), persist_state="session",
            help="As in the paper on generative agents; scores then compare within one answer only.",
        )  # fmt: skip
    left, right = st.columns(2)
    with left:
        values["decay_form"] = st.segmented_control(
            words.DECAY_BY, [form.value for form in DecayForm], required=True, key=draft.field("decay_form"),
            persist_state="session", help=words.DECAY_HELP,
        )  # fmt: skip
    with right:
        values["retention"] = widgets.keep_by(draft.field("retention")).value
        values["rated_by"] = st.segmented_control(
            "Events rated by", [rated_by.value for rated_by in RatedBy], required=True, key=draft.field("rated_by"),
            persist_state="session",
            help="On arrival. Events rated by the rules or by nobody are rated by the model in the background, as is "
                 "everything that comes over the HTTP API.",
        )  # fmt: skip
        values["replan"] = st.segmented_control(
            "Important events and the plan of the day", [replan.value for replan in Replan], required=True,
            key=draft.field("replan"), persist_state="session",
            help="Whether an event rated 8 or more causes the rest of the day to be planned again as time passes.",
        )  # fmt: skip
        values["auto_migrate"] = st.toggle(
            words.MIGRATE_BY_ITSELF, key=draft.field("auto_migrate"), persist_state="session",
            help="As soon as something is added; each migration is a change of its own, which can be undone.",
        )  # fmt: skip


def _presets(agent: AgentMemory, now: dict[str, Any], draft: drafts.Draft) -> None:
    st.caption("Or use a preset, including its thresholds:")
    for name, preset in PRESETS.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            taken = {
                **now,
                **_flat(AgentSettings(scoring=preset.scoring)),
                "threshold": preset.threshold,
                "static_threshold": preset.static_threshold,
            } | {kept: now[kept] for kept in _NO_PART_OF_A_PRESET}
            if st.button(name.capitalize(), key=f"preset-set-{name}", disabled=taken == now):
                changed = tuple(key for key in taken if key not in _NO_PART_OF_A_PRESET)
                _save(agent, taken, f"The character now recalls by the preset {name}.", draft, changed)
            st.caption(widgets.plain(preset.source))


def _flat(settings: AgentSettings) -> dict[str, Any]:
    """The settings as one level of names."""
    weights = settings.scoring.weights
    return {
        "stm_size": settings.stm_size,
        "top_k": settings.top_k,
        "threshold": settings.threshold,
        "static_threshold": settings.static_threshold,
        "static_share": settings.static_share,
        "retention": settings.retention.value,
        "retention_threshold": settings.retention_threshold,
        "migration_threshold": settings.migration_threshold,
        "reflection_trigger": settings.reflection_trigger,
        "recency": weights.recency,
        "importance": weights.importance,
        "relevancy": weights.relevancy,
        "decay": settings.scoring.decay,
        "measure": settings.scoring.measure.value,
        "normalise": settings.scoring.normalise,
        "seats": settings.scoring.seats.value,
        "decay_form": settings.scoring.decay_form.value,
        "bin_days": settings.bin_days,
        "passing": settings.scoring.passing.value,
        "query_log": settings.query_log,
        "history_changes": settings.history_changes,
        "history_days": settings.history_days,
        "auto_migrate": settings.auto_migrate,
        "ltm_size": settings.ltm_size,
        "person_trigger": settings.person_trigger,
        "rated_by": settings.rated_by.value,
        "replan": settings.replan.value,
        "hourly_calls": settings.hourly_calls,
        "hourly_tokens": settings.hourly_tokens,
        "hourly_cost": settings.hourly_cost,
    }


def _save(
    agent: AgentMemory, values: dict[str, Any], words: str, draft: drafts.Draft, settled: tuple[str, ...]
) -> None:
    """Store the values, say so, and rerun the page; what is written into other fields stays."""
    rest = dict(values)
    weights = Weights(*(rest.pop(name) for name in ("recency", "importance", "relevancy")))
    named = {name: rest.pop(name) for name in ("decay", "measure", "normalise", "seats", "decay_form", "passing")}
    scoring = Scoring(weights, **named)
    try:
        done = agent.configure(**rest, scoring=scoring)
    except MemorySystemError as error:
        widgets.problem(error)
    else:
        draft.let_go(*settled)
        bulk.done(agent, done, words)
        st.rerun()
