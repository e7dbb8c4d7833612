"""What the tables and figures show, without a page."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dashboard.components import widgets
from dashboard.data import figures, history_tables, tables
from memory_system import AgentMemory, Tier

from ..conftest import NOW


@pytest.fixture
def recalled(agent: AgentMemory, remember: Callable[..., str]) -> AgentMemory:
    remember("Lent Tobias the brass key", rating=6, hours_ago=30)
    remember("Swept the floor", rating=1, hours_ago=2)
    remember("Nobody has rated this", rating=None, hours_ago=1)
    return agent


def test_the_stacked_parts_add_up_to_the_printed_score(recalled: AgentMemory) -> None:
    frame = tables.candidates(recalled.explain("Who has the key?").candidates)
    assert len(frame) > 3
    for row in frame.to_dict("records"):
        assert row["recency"] + row["importance"] + row["relevancy"] == row["score"]
    figure = figures.breakdown(frame, 0.35, 0.4)
    ends = [sum(bar.x[row] for bar in figure.data if bar.type == "bar") for row in range(len(frame))]
    assert ends == pytest.approx(list(frame["score"]))


def test_relevancy_is_drawn_by_its_shades_on_an_axis_that_stays_and_below_the_seats_what_was_left_out(
    recalled: AgentMemory,
) -> None:
    frame = tables.candidates(recalled.explain("Who has the key?", top_k=1).candidates)
    figure = figures.breakdown(frame, 0.35, 0.4, most=1.1)
    drawn = {bar.name: bar.x for bar in figure.data if bar.type == "bar"}
    shades = [drawn[name] for name in tables.SHADES if name in drawn]
    assert len(shades) > 1
    assert [sum(parts) for parts in zip(*shades, strict=True)] == pytest.approx(list(frame["relevancy"]))
    assert tuple(figure.layout.xaxis.range) == (0, 1.1)
    assert "seats end here" in [one.text for one in figure.layout.annotations]


def test_the_recalled_stand_first_and_by_score(recalled: AgentMemory) -> None:
    frame = tables.candidates(recalled.explain("Who has the key?").candidates)
    keys = [(not row["recalled"], -row["score"]) for row in frame.to_dict("records")]
    assert keys == sorted(keys)


def test_a_rejected_memory_is_drawn_pale(recalled: AgentMemory) -> None:
    frame = tables.candidates(recalled.explain("Who has the key?", top_k=1).candidates)
    opacity = figures.breakdown(frame, 0.35, 0.4).data[0].marker.opacity
    assert [value == 1.0 for value in opacity] == list(frame["recalled"])


def test_markup_in_a_memory_is_shown_as_text_in_figures(agent: AgentMemory, remember: Callable[..., str]) -> None:
    remember("<b>bold</b> <a href='http://example.invalid'>link</a>")
    frame = tables.candidates(agent.explain("link").candidates)
    figure = figures.breakdown(frame, 0.35, 0.4)
    written = [str(text) for trace in figure.data if trace.type == "scatter" for text in trace.text]
    words = written + [str(text) for text in figure.data[0].hovertext]
    assert len(written) == 2 * len(frame)
    assert any("&lt;b&gt;bold" in word for word in words)
    assert not any("<b>" in word or "<a" in word for word in words)
    timeline = figures.timeline(tables.timeline(agent.entries(Tier.STM)))
    assert "&lt;b&gt;" in timeline.data[0].hovertext[0]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\ntwo\t three", "one two three"),
        ("\u202eevil\u202c and \u2066hidden\u2069", "evil and hidden"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("\x1b[31mred", "[31mred"),
        ("日本語 🔥 naïve", "日本語 🔥 naïve"),
    ],
)
def test_characters_that_hide_or_turn_text_are_left_out(text: str, shown: str) -> None:
    assert tables.visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "http://x.org",
        "www.x.org",
        "me@x.org",
        ":material/home:",
        ":streamlit:",
        "a -> b",
        "a <-> b",
        "a -- b",
        "a >= b",
    ],
)
def test_what_streamlit_would_replace_is_held_apart_by_what_has_no_width(text: str) -> None:
    held = widgets.plain(text).replace("\\", "")
    assert "\u2060" in held
    assert held.replace("\u2060", "") == text
    assert "\u2060" not in widgets.plain("She said: a well--known mill/bakery, 3 > 2, at 18:00 - or so.")


def test_the_short_term_table_says_what_the_next_migration_does(recalled: AgentMemory) -> None:
    def fates(size: int) -> dict[str, str]:
        recalled.configure(stm_size=size, migration_threshold=0.35)
        frame = tables.entries(recalled.entries(Tier.STM), NOW, recalled.migrate_stm2ltm(preview=True))
        assert frame.set_index("memory").loc["Swept the floor", "age"] == "2 hours ago"
        return dict(zip(frame["memory"], frame["fate"], strict=True))

    assert set(fates(3).values()) == {"Stays: short-term memory has room."}
    full = fates(1)
    assert full["Lent Tobias the brass key"].startswith("Move to long-term: ")
    assert full["Swept the floor"].startswith("Forget: ")
    assert full["Nobody has rated this"] == "Stays: short-term memory has room."


def test_empty_agents_make_empty_tables(agent: AgentMemory) -> None:
    assert tables.entries([], NOW, agent.migrate_stm2ltm(preview=True)).empty
    assert tables.timeline([]).empty
    assert len(history_tables.history(agent.history())) == 1
