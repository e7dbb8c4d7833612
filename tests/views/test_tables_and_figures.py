"""What the tables and figures show, without a page."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dashboard import words
from dashboard.components import bars, widgets
from dashboard.data import history_tables, tables
from memory_system import AgentMemory, ChangeSet, Tier
from memory_system.core import TextChange

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
    drawn = bars.drawn(frame, recalled.retrieval.query("Who has the key?"))["rows"]
    assert [sum(value for _, value in row["bar"]) for row in drawn] == pytest.approx(list(frame["score"]))
    assert [float(row["score"][:4]) for row in drawn] == pytest.approx(list(frame["score"]), abs=0.005)


def test_relevancy_is_drawn_by_its_shades_on_an_axis_that_stays_and_below_the_seats_what_was_left_out(
    recalled: AgentMemory,
) -> None:
    found = recalled.explain("Who has the key?", top_k=1)
    assert len(found) == 1
    frame = tables.candidates(found.candidates)
    drawn = bars.drawn(frame, found.query)
    shades = [sum(value for name, value in row["bar"] if name in tables.SHADES) for row in drawn["rows"]]
    assert {"meaning", "words"} <= set(drawn["parts"])
    assert shades == pytest.approx(list(frame["relevancy"]))
    assert drawn["axis"] == tables.axis(found.query)
    assert (drawn["seats"], drawn["seatsLabel"]) == (len(found), words.SEATS_END_HERE)
    assert [row["label"].split(" · ")[0] for row in drawn["rows"][:2]] == ["1", "2"]


def test_the_recalled_stand_first_and_by_score(recalled: AgentMemory) -> None:
    frame = tables.candidates(recalled.explain("Who has the key?").candidates)
    keys = [(not row["recalled"], -row["score"]) for row in frame.to_dict("records")]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\ntwo\t three", "one two three"),
        ("\u202eevil\u202c and \u2066hidden\u2069", "evil and hidden"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("\x1b[31mred", "[31mred"),
        ("日本語 🔥 naïve", "日本語 🔥 naïve"),
        ("pay\u200cpal, \u200dand 日\u200d\u200d本", "paypal, and 日本"),
        ("می\u200cخواهم 👨\u200d👩\u200d👧", "می\u200cخواهم 👨\u200d👩\u200d👧"),
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


def test_a_line_ends_where_a_sentence_does_if_one_has_room() -> None:
    told = "Remembered, but not rated. The model is gone. Rate it again when it is back."
    assert tables.sentences(told, 200) == told
    assert tables.sentences(told, 60) == "Remembered, but not rated. The model is gone."
    assert tables.sentences("Nothing ends here", 10) == "Nothing e…"


def test_the_short_term_table_says_what_the_next_migration_does(recalled: AgentMemory) -> None:
    def fates(size: int) -> dict[str, str]:
        recalled.configure(stm_size=size, migration_threshold=0.35)
        frame = tables.entries(recalled.entries(Tier.STM), NOW, recalled.migrate_stm2ltm(preview=True))
        assert frame.set_index("memory").loc["Swept the floor", "age"] == "2 hours ago"
        return dict(zip(frame["memory"], frame["fate"], strict=True))

    assert set(fates(3).values()) == {"Stays: all of them fit into short-term memory."}
    full = fates(1)
    assert full["Lent Tobias the brass key"].startswith("Move to long-term: ")
    assert full["Swept the floor"].startswith("Forget: ")
    assert full["Nobody has rated this"] == "Stays: it is among those that fit."


def test_empty_agents_make_empty_tables(agent: AgentMemory) -> None:
    assert tables.entries([], NOW, agent.migrate_stm2ltm(preview=True)).empty
    assert tables.timeline([]).empty
    assert len(history_tables.history(agent.history())) == 1


def test_what_a_change_set_did_to_texts_is_a_sentence() -> None:
    names = ("settings", "conversation:one", "conversation:two", "core:one", "card", "later")
    texts = tuple(TextChange(name, "{}", '{"next_number": 1}') for name in names)
    assert history_tables.did(ChangeSet("undo", "A title", (), NOW, 0, texts=texts)) == (
        "The settings change, the conversation's state changes, the core memory changes, the imported card changes "
        "and the decisions put off change."
    )
