"""Recall and what migration forgot: the page says what would have answered, and brings it back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from streamlit.testing.v1 import AppTest

from dashboard import session, words
from memory_system import AgentMemory
from tests.views.test_pages import press, shown

OpenPage = Callable[..., AppTest]
CUE = "Which colour has the ferryman's umbrella?"


def forgetful() -> AgentMemory:
    """A character whose migration has forgotten what the cue asks for."""
    agent = session.world().agent("mira")
    agent.add_short_term(
        {"document": "The ferryman's umbrella has the colour of mustard", "id": "umbrella", "rating": 1}
    )
    agent.configure(stm_size=1, retention="importance", migration_threshold=0.3)
    agent.migrate_stm2ltm(ids=[entry.id for entry in agent.entries("stm") if entry.id != "umbrella"])
    agent.add_short_term({"document": "Swept the mill", "rating": 9}, now=agent.now + timedelta(hours=1))
    done = agent.migrate_stm2ltm()
    assert "umbrella" in {change.entry_id for change in done.of("forget")}
    return agent


def test_recall_says_what_was_forgotten_and_would_have_answered_and_restores_it(open_page: OpenPage) -> None:
    open_page("overview")  # opens the world
    agent = forgetful()
    page = open_page("recall", cue=CUE)
    assert f"1 forgotten memory {words.WOULD_HAVE_BEEN_RECALLED}" in shown(page)
    assert "colour of mustard" in shown(page)
    page = press(page, words.RESTORE_THEM)
    assert words.WOULD_HAVE_BEEN_RECALLED not in shown(page)
    assert "umbrella" in [hit.entry.id for hit in agent.explain(CUE)]
    assert agent.history(limit=1)[0].change_set.operation == "restore"


def test_how_long_the_bin_is_kept_is_a_setting(open_page: OpenPage) -> None:
    page = open_page("settings")
    next(one for one in page.number_input if one.label == words.DAYS_IN_THE_BIN).set_value(30).run()
    press(page, "Save")
    assert session.world().agent("mira").settings.bin_days == 30


def test_without_a_cue_recall_offers_questions_and_shows_the_saved_cues(open_page: OpenPage) -> None:
    page = open_page("recall")
    agent = session.world().agent("mira")
    assert {one.label for one in page.button} >= set(session.example_cues("mira"))
    assert words.SAVED_CUES not in [one.value for one in page.header]
    agent.save_cue("The key", "Who has the mill key?", [agent.entries("ltm")[0].id])
    page = open_page("recall")
    assert words.SAVED_CUES in [one.value for one in page.header]
    assert "ask-The key" in {str(one.key) for one in page.button}
