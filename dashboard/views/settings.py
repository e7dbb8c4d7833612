"""Settings: of the character, each with its meaning and a reset; of the world, its clock; and what is in use."""

import time
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from dashboard import looking_back, safekeeping, session, widgets
from memory_system import PRESETS, AgentSettings, Measure, MemorySystemError, Scoring, Weights

agent = session.agent()
held, default = agent.settings, AgentSettings()
widgets.heading("Settings", "How this character remembers. Every change is in the history and can be undone.", agent)
widgets.said()
PARTS = ["Memory and world", "Backup and check"]
linked = PARTS[session.from_link("part") == safekeeping.LINK]
set_up, safe = st.tabs(PARTS, default=linked, key="settings-part", on_change="rerun")
session.to_link("part", safekeeping.LINK if safe.open else None)


def flat(settings: AgentSettings) -> dict[str, Any]:
    """The settings as one level of names."""
    weights = settings.scoring.weights
    return {
        "stm_size": settings.stm_size,
        "top_k": settings.top_k,
        "threshold": settings.threshold,
        "static_threshold": settings.static_threshold,
        "static_share": settings.static_share,
        "migration_threshold": settings.migration_threshold,
        "reflection_trigger": settings.reflection_trigger,
        "recency": weights.recency,
        "importance": weights.importance,
        "relevancy": weights.relevancy,
        "decay": settings.scoring.decay,
        "measure": settings.scoring.measure.value,
        "normalise": settings.scoring.normalise,
        "query_log": settings.query_log,
    }


def save(values: dict[str, Any], words: str) -> None:
    """Store the values, say so, and begin the page anew."""
    rest = dict(values)
    weights = Weights(*(rest.pop(name) for name in ("recency", "importance", "relevancy")))
    scoring = Scoring(weights, rest.pop("decay"), rest.pop("measure"), rest.pop("normalise"))
    try:
        agent.configure(**rest, scoring=scoring)
    except MemorySystemError as error:
        widgets.problem(error)
    else:
        widgets.say_next(words)
        st.rerun()


now, usual = flat(held), flat(default)
_NO_PART_OF_A_PRESET = ("stm_size", "top_k", "static_share", "migration_threshold", "reflection_trigger", "query_log")
FIELDS: dict[str, tuple[str, str, float, float, float]] = {
    "stm_size": ("Size of short-term memory", "Events it holds before migration takes the overflow.", 1, 100_000, 1),
    "migration_threshold": ("Migration threshold", "Importance that overflow must exceed to be kept.", 0.0, 1.0, 0.05),
    "top_k": ("Top-k", "Memories that a question brings back, at most.", 0, 100, 1),
    "threshold": ("Threshold", "Score that a short- or long-term memory must exceed.", 0.0, 30.0, 0.05),
    "static_threshold": ("Static threshold", "Relevancy that a fact of the personality must exceed.", 0.0, 1.0, 0.05),
    "static_share": ("Static share", "Share of the seats for the personality while others wait.", 0.0, 1.0, 0.1),
    "reflection_trigger": ("Reflection trigger", "Sum of recent ratings at which to reflect.", 1.0, 100_000.0, 10.0),
    "decay": ("Decay", "What is left of recency each hour, after the first hour.", 0.001, 0.9999, 0.001),
    "recency": ("Weight of recency", "How much it counts that it was recalled lately.", 0.0, 10.0, 0.05),
    "importance": ("Weight of importance", "How much it counts that it was important.", 0.0, 10.0, 0.05),
    "relevancy": ("Weight of relevancy", "How much it counts that it answers the question.", 0.0, 10.0, 0.05),
    "query_log": ("Queries kept to be re-lived", "0 keeps none. What is over is dropped for good.", 0, 100_000, 100),
}
if session.moment() is not None:
    labels = {name: label for name, (label, *_) in FIELDS.items()}
    labels |= {"measure": "Relevancy by", "normalise": "Scale each part by its min and max"}
    present = flat(session.present().settings)
    with set_up:
        looking_back.settings(agent, {name: (label, now[name], present[name]) for name, label in labels.items()})
        widgets.closed(agent)
    with safe:
        widgets.closed(agent)
    st.stop()
with set_up, st.container(border=True):
    st.header("Memory and score", anchor=False)
    values: dict[str, Any] = {}
    for number, (name, (label, meaning, low, high, step)) in enumerate(FIELDS.items()):
        if number % 2 == 0:
            columns = st.columns(2)
        with columns[number % 2]:
            shape = "%.4f" if name == "decay" else None
            values[name] = st.number_input(
                label,
                min(low, now[name]),
                max(high, now[name]),
                now[name],
                step,
                shape,
                key=f"{name}-{agent.name}-{now[name]}",
            )
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(meaning)
                back = st.button(
                    f"Default {usual[name]:g}", key=f"reset-{name}", type="tertiary", disabled=now[name] == usual[name],
                    help=f"{label}: back to its default.",
                )  # fmt: skip
                if back:
                    save({**now, name: usual[name]}, f"{label} is back at its default.")
    left, right = st.columns(2)
    with left:
        values["measure"] = st.segmented_control(
            "Relevancy by", [one.value for one in Measure], default=now["measure"], required=True,
            key=f"measure-set-{agent.name}-{now['measure']}",
        )  # fmt: skip
        st.caption("Similarity compares meanings as wholes; hybrid also words, names, times and neighbours.")
    with right:
        values["normalise"] = st.toggle(
            "Scale each part by its min and max", now["normalise"], key=f"normalise-set-{agent.name}-{now['normalise']}"
        )
        st.caption("As in the paper on generative agents; scores then compare within one answer only.")
    st.caption("Or take all of it, thresholds included, from a preset:")
    for name, preset in PRESETS.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            taken = {
                **now,
                **flat(AgentSettings(scoring=preset.scoring)),
                "threshold": preset.threshold,
                "static_threshold": preset.static_threshold,
            } | {kept: now[kept] for kept in _NO_PART_OF_A_PRESET}
            if st.button(name.capitalize(), key=f"preset-set-{name}", disabled=taken == now):
                save(taken, f"The character recalls by the preset {name} now.")
            st.caption(widgets.plain(preset.source))
    with st.container(horizontal=True):
        if st.button("Save", type="primary", icon=":material/save:", disabled=values == now):
            save(values, "Saved. The History page can undo it.")
        if st.button("Reset all", icon=":material/restart_alt:", disabled=now == usual):
            save(usual, "All settings are back at their defaults.")

with set_up, st.container(border=True):
    st.header("World time", anchor=False)
    world = session.world()
    st.caption(widgets.plain(f"Now: {session.clock_words()}. All characters of this world share it."))
    modes = ["follows the real time", "stands"]
    mode = st.segmented_control("The clock", modes, default=modes[bool(world.standing)], required=True)
    at = (world.standing or world.clock()).astimezone(UTC)
    wanted: datetime | None = None
    if mode == modes[1]:
        left, right = st.columns(2)
        day = left.date_input("Day", at.date())
        wanted = datetime.combine(day, right.time_input("Time (UTC)", at.time()), UTC)
    if st.button("Set the clock", icon=":material/schedule:", disabled=wanted == world.standing):
        world.stand_at(wanted)
        widgets.say_next("The clock is set.")
        st.rerun()

with set_up, st.container(border=True):
    st.header("In use", anchor=False)
    st.text(f"Language model: {agent.model.label}")
    st.text(f"Embedding model: {world.embedder.identity}")
    st.caption(
        "Another language model is chosen by the environment when the program starts; the README lists the names."
    )
    if st.button("Test the language model", icon=":material/network_check:"):
        started = time.perf_counter()
        try:
            rating = agent.rate("Tobias lent me his last dry coat in the storm")
        except MemorySystemError as error:
            widgets.problem(error)
        else:
            took = (time.perf_counter() - started) * 1000
            st.success(widgets.plain(f"It answered in {took:.0f} ms: {rating.rating} of 10. {rating.explanation}"))

with safe:
    if safe.open:
        safekeeping.check()
        safekeeping.backup()
        safekeeping.restore()
