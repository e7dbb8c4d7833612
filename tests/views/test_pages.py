"""Each page, run as Streamlit runs it: what it shows, and what its buttons do."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import forms
from dashboard.views import HISTORY, INSTALLATION, PAGES
from dashboard.views.installation import prompt_settings, safekeeping
from memory_system import AgentMemory, DecayForm, Tier
from memory_system.interfaces.operations import BESIDE, OPERATIONS
from memory_system.llm.offline.model import OfflineModel
from memory_system.store.clock import About

from . import change_sets

OpenPage = Callable[..., AppTest]


def mira() -> AgentMemory:
    return session.world().agent("mira")


def labelled(elements: Any, label: str) -> Any:
    """The one that has this label."""
    return next(one for one in elements if one.label == label)


def shown(page: AppTest) -> str:
    """All words on the page."""
    kinds = (page.title, page.header, page.caption, page.text, page.markdown, page.success, page.error, page.info)
    said = "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")
    return f"{said}\n{change_sets.text(page)}".strip()


def open_tab(page: AppTest, label: str) -> None:
    """Open a tab of the Recall page, of which nothing is drawn until then."""
    page.session_state["recall-tab"] = label
    page.run()


def open_form(page: AppTest, entry_id: str) -> AppTest:
    """Open what holds the form to edit a memory, which is drawn from then on."""
    page.session_state[forms.edit_box(entry_id)] = True
    return page.run()


def press(page: AppTest, label: str) -> AppTest:
    next(button for button in page.button if button.label == label).click().run()
    assert not page.exception, page.exception
    return page


def editor(page: AppTest) -> Any:
    return next(area for area in page.text_area if area.label == words.PERSONALITY_JSON)


def as_json(page: AppTest) -> tuple[AppTest, str]:
    """The personality page with its JSON editor open, and the text in it."""
    next(group for group in page.button_group if "JSON" in group.options).set_value("JSON").run()
    assert not page.exception, page.exception
    return page, str(editor(page).value)


PROSE = 150
"""Words of sentences that a page may say."""


@pytest.mark.parametrize("view", [page.name for page in PAGES])
def test_every_page_opens_without_an_exception(open_page: OpenPage, view: str) -> None:
    page = open_page(view)
    assert page.title[0].value
    sentences = [one.value for one in (*page.caption, *page.info) if one.value.endswith(".")]
    assert sum(len(one.split()) for one in sentences) <= PROSE, sentences


def test_what_a_field_suggests_to_ask_is_of_no_other_world(open_page: OpenPage) -> None:
    open_page("overview")
    session.world().create_agent("ana", {"identity": {"name": "Ana"}})
    for view in ("recall", "who_knows"):
        suggested = [one.placeholder for one in open_page(view, "ana").text_input]
        assert any(suggested)
        assert not [one for one in suggested if "mill" in one or "Juno" in one]


def test_a_character_called_like_a_sample_one_is_asked_nothing_of_its_story(open_page: OpenPage) -> None:
    open_page("overview")
    world = session.world()
    assert any("mill" in cue for cue in session.example_cues("mira"))
    world.describe(About(title="Another story", about="A monastery in winter."))
    assert not any("mill" in one.label for one in open_page("recall", "mira").button)


def test_overview_shows_counts_and_what_is_in_use(open_page: OpenPage) -> None:
    page = open_page("overview")
    assert f"20 of 20 short-term · {mira().get_stats()['ltm']} long-term" in shown(page)
    assert OfflineModel.label in shown(page)
    assert "all-MiniLM-L6-v2" in shown(page)
    mira().add_short_term({"document": "Lost a glove", "rating": 5}, rate=False)
    assert "21 of 20 short-term, 1 more than fits · " in shown(open_page("overview"))


def test_the_overview_says_what_is_being_done_today_and_what_was_missed(open_page: OpenPage) -> None:
    at = mira().now
    routine = mira().plan_now()
    assert f"Next: {routine.following}" in shown(open_page("overview"))
    mira().plan_from_memory(at.replace(hour=4, minute=0))
    planned = mira().plan_now()
    page = shown(open_page("overview"))
    assert planned.missed
    assert all(f"Missed: {one}" in page for one in planned.missed)


def test_the_overview_of_somebody_who_remembers_nothing_says_what_to_do(open_page: OpenPage) -> None:
    session.opened().create_agent("ana")
    page = open_page("overview", agent="ana")
    assert any("No memories yet" in one.value for one in page.markdown)
    assert any("or let a game send some" in button.label for button in page.button), "the sentence goes there"


def test_recall_shows_the_number_recalled_and_the_context_text(open_page: OpenPage) -> None:
    page = open_page("recall", cue="Who has the mill key?")
    assert f"{len(mira().explain('Who has the mill key?'))} recalled of" in shown(page)
    context = mira().explain("Who has the mill key?").context
    assert set(page.dataframe[0].value["verdict"]) >= {"recalled", "below threshold"}
    open_tab(page, words.CONTEXT_TEXT)
    assert any(block.value == context for block in page.code)


def test_looking_at_recall_touches_nothing(open_page: OpenPage) -> None:
    before = mira().stamp
    open_page("recall", cue="Who has the mill key?")
    assert mira().stamp == before


def test_recall_obeys_its_sliders(open_page: OpenPage) -> None:
    page = open_page("recall", cue="Who has the mill key?")
    page.slider[0].set_value(1.5).run()
    recalled = page.dataframe[0].value.query("recalled")
    assert set(recalled["tier"]) <= {"static"}  # which has a threshold of its own
    assert f"{len(recalled)} recalled of" in shown(page)
    page.number_input[0].set_value(0).run()
    assert "0 recalled of" in shown(page)


def test_recall_and_settings_say_by_which_rules_a_memory_passes_and_has_a_seat(open_page: OpenPage) -> None:
    recall = open_page("recall", cue="Who has the key?")
    chosen = next(one for one in recall.button_group if one.label == words.SEATS_BY)
    assert chosen.value == mira().settings.scoring.seats.value
    passing = next(one for one in recall.button_group if one.label == words.THRESHOLD_IS_OF)
    assert passing.value == mira().settings.scoring.passing.value
    settings = open_page("settings")
    assert {words.SEATS_BY, words.THRESHOLD_IS_OF} <= {one.label for one in settings.button_group}
    assert {words.RELEVANCY_HELP, words.SEATS_HELP, words.THRESHOLD_HELP} <= {one.help for one in settings.button_group}


def test_the_form_of_decay_is_chosen_on_settings_and_tried_on_recall(open_page: OpenPage) -> None:
    settings = open_page("settings")
    assert words.DECAY_HELP in [one.help for one in settings.button_group]
    next(one for one in settings.button_group if one.label == words.DECAY_BY).set_value("spaced").run()
    press(settings, "Save")
    assert mira().settings.scoring.decay_form is DecayForm.SPACED
    recall = open_page("recall", cue="Who has the mill key?")
    chosen = next(one for one in recall.button_group if one.label == words.DECAY_BY)
    assert chosen.value == "spaced"
    chosen.set_value("power").run()
    open_tab(recall, words.AS_CODE)
    assert any('"decay_form": "power"' in block.value for block in recall.code)


def test_overflow_migrates_by_itself_where_a_switch_says_so(open_page: OpenPage) -> None:
    settings = open_page("settings")
    next(one for one in settings.toggle if one.label == words.MIGRATE_BY_ITSELF).set_value(True).run()
    press(settings, "Save")
    assert mira().settings.auto_migrate is True


def test_tuning_is_previewed_on_operations_and_says_what_it_needs(open_page: OpenPage) -> None:
    page = open_page("operations", operation="More")
    page.selectbox[0].set_value(next(one for one in BESIDE + OPERATIONS if one.name == "tune")).run()
    press(page, "Preview")
    assert mira().tune(preview=True).title in [one.value.replace("\\", "") for one in page.header]
    assert "Apply" not in [button.label for button in page.button], "there is nothing to apply"


def test_an_event_is_remembered_and_rated(open_page: OpenPage) -> None:
    page = open_page("short_term")
    page.text_area[0].input("Juno confessed at dawn that she stole the brass key")
    press(page, "Remember")
    assert "Remembered, rated" in shown(page)
    stored = [entry for entry in mira().entries(Tier.STM) if "Juno confessed" in entry.document]
    assert len(stored) == 1
    assert stored[0].rating is not None
    assert not stored[0].authored, "what happened is not marked by having been written down"
    assert mira().history(1)[0].change_set.author == "dashboard page"


def test_an_empty_event_is_refused_in_words(open_page: OpenPage) -> None:
    page = open_page("short_term")
    press(page, "Remember")
    assert words.WRITE_IT_FIRST in shown(page)
    assert len(mira().entries(Tier.STM)) == 20


def test_a_migration_is_previewed_applied_and_undone(open_page: OpenPage) -> None:
    page = open_page("operations", operation="Migrate")
    mira().configure(stm_size=5)
    before = {entry.id for entry in mira().entries(Tier.STM)}
    page.run()
    press(page, "Preview")
    assert {entry.id for entry in mira().entries(Tier.STM)} == before
    press(page, "Apply")
    assert len(mira().entries(Tier.STM)) == 5
    press(page, "Undo")
    assert {entry.id for entry in mira().entries(Tier.STM)} == before


@pytest.mark.parametrize(("operation", "kind"), [("Reflect", "reflection"), ("Summarise", "summary"), ("Plan", "plan")])
def test_every_operation_previews_and_applies(open_page: OpenPage, operation: str, kind: str) -> None:
    page = open_page("operations", operation=operation)
    revision = mira().stamp[0]
    press(page, "Preview")
    assert mira().stamp[0] == revision
    assert f"{kind} · long-term · importance" in shown(page) or kind == "plan"
    press(page, "Apply")
    assert mira().stamp[0] == revision + 1
    press(page, "Undo")
    assert mira().stamp[0] == revision + 2


def test_a_broken_personality_cannot_be_saved_and_its_line_is_named(open_page: OpenPage) -> None:
    page, text = as_json(open_page("personality"))
    editor(page).input(text.replace('"trust": 0.5', '"trust": 5')).run()
    assert "trust" in shown(page)
    assert "line " in shown(page)
    assert next(button for button in page.button if button.label == "Save").disabled


def test_a_changed_personality_is_previewed_and_saved(open_page: OpenPage) -> None:
    page, text = as_json(open_page("personality"))
    editor(page).input(text.replace('"age": 34', '"age": 35')).run()
    assert "Mira Holloway is 35 years old." in shown(page)
    press(page, "Save")
    assert "Mira Holloway is 35 years old." in {entry.document for entry in mira().entries(Tier.STATIC)}


def test_a_personality_that_somebody_else_changed_is_not_overwritten(open_page: OpenPage) -> None:
    page, text = as_json(open_page("personality"))
    mira().save_personality(text.replace('"age": 34', '"age": 40'))
    editor(page).input(text.replace('"age": 34', '"age": 35')).run()
    assert page.warning
    assert next(button for button in page.button if button.label == "Save").disabled
    assert '"age": 40' in str(mira().personality_text)


def test_the_long_term_page_opens_the_memory_in_the_link(open_page: OpenPage) -> None:
    chosen = next(entry for entry in mira().entries(Tier.LTM) if len(entry.evidence) > 1)
    page = open_page("long_term", memory=chosen.id)
    assert " ".join(chosen.document.split()) in shown(page)
    assert f"Rests on {len(chosen.evidence)} memories" in [tab.label for tab in page.tabs]


def test_history_lists_every_change(open_page: OpenPage) -> None:
    page = open_page("history")
    assert len(page.dataframe[0].value) == len(mira().history())


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script><img src=x onerror=alert(1)>",
        "![pixel](http://example.invalid/a.png) [link](http://example.invalid) **bold** :red[red] $x^2$",
        "\u202egnitirw desrever\u202c \u200bhidden",
    ],
)
def test_text_from_strangers_is_never_markdown(open_page: OpenPage, text: str) -> None:
    mira().add_short_term({"document": text, "rating": 9, "tags": ["[x](http://example.invalid)"]}, rate=False)
    for view in ("overview", "short_term", "history"):
        page = open_page(view)
        raw = [str(element.value) for kind in (page.markdown, page.caption, page.success) for element in kind]
        assert not any("](http" in value for value in raw)


@pytest.mark.parametrize("view", ["short_term", "worlds"])
def test_a_table_sorts_by_time_and_not_by_the_words_of_it(open_page: OpenPage, view: str) -> None:
    page = open_page(view)
    columns = json.loads(page.dataframe[0].proto.columns)
    (when,) = {"when", "changed"} & set(columns)
    assert columns[when]["type_config"]["type"] == "datetime"
    assert page.dataframe[0].value[when].dtype.kind == "M"


def test_a_world_without_characters_says_so_and_has_its_installation(workbench: Callable[..., AppTest]) -> None:
    world = session.opened()
    for name in world.agents():
        world.delete_agent(name)
    empty = workbench(HISTORY)
    assert [one.value for one in empty.title] == [HISTORY.title]
    assert "No characters yet." in shown(empty)
    assert "Deleted:" in shown(empty)
    assert not [one.label for one in empty.text_input], "there is nobody to copy or to rename"
    settings = workbench(INSTALLATION)
    assert any(one.label == words.TEST_THE_LANGUAGE_MODEL for one in settings.button)
    assert not settings.error
    assert any(one.label == words.MAKE_A_BACKUP for one in workbench(INSTALLATION, part=safekeeping.LINK).button)
    assert "Create one first." in shown(workbench(INSTALLATION, part=prompt_settings.LINK))
