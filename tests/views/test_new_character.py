"""A new character, from a paragraph and pasted lines to a life: nothing is made before, and all of it at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.views import NEW
from dashboard.views.new_character import trying
from memory_system import Tier
from tests import materials
from tests.dashboard.test_portraits import file
from tests.views.test_looking_back import app, picker, press, shown

OpenPage = Callable[..., AppTest]
CUE = "Who quarrelled about the mill?"
WHO = "Rosa Quill, 34, baker in Harrow Quay. She is stubborn. She wants to buy back the mill."
DAYS = "2026-03-01 09:00 Bought flour from Edda\nMon 9:00 - Quarrelled with Tomas about the mill\n31 February: Sold out"


def area(page: AppTest, label: str, text: str) -> AppTest:
    next(one for one in page.text_area if one.label == label).set_value(text).run()
    assert not page.exception, page.exception
    return page


def field(page: AppTest, label: str, text: str) -> AppTest:
    next(one for one in page.text_input if one.label.startswith(label)).set_value(text).run()
    assert not page.exception, page.exception
    return page


def filled(open_page: OpenPage) -> AppTest:
    page = area(open_page("new_character"), words.IN_A_PARAGRAPH, WHO)
    return area(page, words.PASTE_A_LIFE, DAYS)


def test_a_paragraph_and_lines_become_a_character_in_one_change_set(open_page: OpenPage) -> None:
    open_page("overview")
    page = picker(app(agent="mira")).select(session.NEW).run()
    assert page.title[0].value == words.NEW_CHARACTER
    assert page.session_state["agent"] == "mira"
    page = area(area(page, words.IN_A_PARAGRAPH, WHO), words.PASTE_A_LIFE, DAYS)
    assert "Rosa Quill · 34 · baker · Harrow Quay · 1 trait · 1 goal" in shown(page)
    lines = next(one.value for one in page.dataframe if "when" in one.value)
    assert lines["when"].tolist()[:2] == [datetime(2026, 3, day, 9, tzinfo=UTC) for day in (1, 2)]
    assert lines["when"].isna().tolist() == [False, False, True]
    assert "'31 February' is not a date" in lines["problem"].tolist()[2]
    field(page, f"{words.MEND_LINE} 3", "28 February: Sold out")
    assert "3 events to remember, all still to be rated." in shown(page)
    field(page, words.TRY_A_CUE, CUE)
    assert [one for one in page.get("bidi_component") if one.proto.component_name == "bars"]
    assert "rosa" not in session.world().agents()
    press(page, words.CREATE_IT)
    rosa = session.world().agent("rosa")
    assert rosa.revision == 1
    assert rosa.history(1)[0].change_set.title == "Create Rosa Quill with 3 memories"
    assert all(entry.rating for entry in rosa.entries(Tier.STM))
    assert page.title[0].value == session.WORKBENCH
    assert page.query_params["cue"] in (CUE, [CUE])
    assert "Rosa Quill was created with 3 memories." in shown(page)
    press(page, "Undo")
    assert "rosa" not in session.world().agents()
    assert "rosa was taken back." in shown(page)
    assert [one.name for one in session.world().deleted_agents()] == ["rosa"]


def test_what_is_written_is_there_after_a_reload_and_gone_once_it_is_thrown_away(open_page: OpenPage) -> None:
    first = filled(open_page)
    token = first.session_state["new-life"]
    page = open_page("new_character", draft=token)
    assert [one.value for one in page.text_area if one.label in (words.IN_A_PARAGRAPH, words.PASTE_A_LIFE)] == [
        WHO,
        DAYS,
    ]
    assert "Rosa Quill · 34" in shown(page)
    press(page, "Discard it")
    assert "Rosa Quill" not in shown(page)
    assert "is no longer kept" in shown(open_page("new_character", draft=token))


def test_a_form_that_was_changed_by_hand_is_not_overwritten_by_the_paragraph(open_page: OpenPage) -> None:
    page = field(filled(open_page), "Age", "35")
    area(page, words.IN_A_PARAGRAPH, WHO.replace("baker", "miller"))
    assert "Rosa Quill · 35 · baker" in shown(page)
    press(page, "Read the paragraph again")
    assert "Rosa Quill · 34 · miller" in shown(page)


def test_a_name_that_another_character_has_is_told(open_page: OpenPage) -> None:
    told = "there is a character of this name already"
    page = filled(open_page)
    assert told not in shown(page)
    assert f"Mira Holloway · 22 · cook · {told}" in shown(area(page, words.IN_A_PARAGRAPH, "Mira Holloway, 22, cook."))


def test_the_columns_of_a_table_are_guessed_and_can_be_corrected(open_page: OpenPage) -> None:
    page = area(
        open_page("new_character"), words.PASTE_A_LIFE, "date;text;note;importance\n2026-03-01;wrong;Sold out;7\n"
    )
    assert [one.value for one in page.selectbox if one.label.endswith(": column")] == [
        "text",
        "date",
        "importance",
        "—",
    ]
    next(one for one in page.selectbox if one.label == "Text: column").select("note").run()
    lines = next(one.value for one in page.dataframe if "when" in one.value)
    assert (lines["text"].tolist(), lines["importance"].tolist()) == (["Sold out"], [7])


def test_lines_that_a_file_takes_the_place_of_can_be_put_back(open_page: OpenPage) -> None:
    page = filled(open_page)
    chooser = next(one for one in page.file_uploader if one.label.startswith(words.OR_A_FILE))
    chooser.set_value(("days.txt", b"2026-03-01 09:00 Sold out", "text/plain")).run()
    lines = next(one for one in page.text_area if one.label == words.PASTE_A_LIFE)
    assert lines.value == "2026-03-01 09:00 Sold out"
    assert "The file's text took the place of what was in the field: 3 lines." in shown(page)
    press(page, words.RESTORE_MY_TEXT)
    assert next(one.value for one in page.text_area if one.label == words.PASTE_A_LIFE) == DAYS


def test_a_file_is_refused_from_the_length_that_its_field_names(open_page: OpenPage) -> None:
    page = open_page("new_character")
    chooser = next(one for one in page.file_uploader if one.label.startswith(words.OR_A_FILE))
    most = int(re.sub(r"\D", "", chooser.label))
    chooser.set_value(("days.txt", b"x" * (most + 1), "text/plain")).run()
    assert f"at most {most:,} are allowed here" in page.error[0].value


def test_what_cannot_be_kept_is_told_and_makes_nothing(open_page: OpenPage) -> None:
    page = field(filled(open_page), "Age", "old")
    press(page, words.CREATE_IT)
    assert "identity.age" in shown(page).replace("\\", "")
    assert "rosa" not in session.world().agents()


def test_the_head_shows_a_portrait_that_is_set_and_undone_on_the_personality_page(open_page: OpenPage) -> None:
    open_page("overview")
    page = app(agent="mira")
    assert any("data:image/svg+xml" in one.value for one in page.get("html"))
    page = open_page("personality")
    upload = next(one for one in page.get("file_uploader") if "PNG" in one.label)
    upload.set_value([("face.png", file("PNG"), "image/png")]).run()
    assert not page.exception, page.exception
    assert session.picture("mira").startswith("data:image/webp")
    assert any("data:image/webp" in one.value for one in app(agent="mira").get("html"))
    press(page, "Undo")
    assert session.picture("mira").startswith("data:image/svg+xml")


def test_names_of_files_are_free_and_can_be_used(open_page: OpenPage) -> None:
    open_page("overview")
    assert trying.free_name("Mira Quill") == "mira quill"
    assert trying.free_name("Mira") == "mira 2"
    assert trying.free_name("../..") == "character"
    assert trying.free_name("Con") == "character"


def test_whoever_has_lived_nothing_is_created_with_what_it_knows(open_page: OpenPage) -> None:
    open_page("overview")
    page = picker(app(agent="mira")).select(session.NEW).run()
    area(page, words.IN_A_PARAGRAPH, WHO)
    press(page, words.CREATE_IT)
    facts = len(session.world().agent("rosa").entries(Tier.STATIC))
    assert facts
    assert f"Rosa Quill was created with {facts} facts." in shown(page)


def test_the_first_character_of_an_empty_world_is_created(open_page: OpenPage, workbench: OpenPage) -> None:
    open_page("overview")
    for name in list(session.world().agents()):
        session.world().delete_agent(name)
    page = workbench(NEW)
    area(page, words.IN_A_PARAGRAPH, WHO)
    press(page, words.CREATE_IT)
    assert page.title[0].value == session.WORKBENCH
    assert list(session.world().agents()) == ["rosa"]
    assert "Rosa Quill was created with" in shown(page)


def test_a_card_fills_the_form_and_what_it_holds_goes_with_the_character(open_page: OpenPage) -> None:
    open_page("overview")
    page = picker(app(agent="mira")).select(session.NEW).run()
    bring(page, "quill.png", materials.card_png(materials.CARD))
    assert "Rosa Quill · 3 traits · 4 facts" in shown(page)
    assert "Read from quill.png." in shown(page)
    area(page, words.PASTE_A_LIFE, "2026-03-01 09:00 Bought flour from Edda")
    assert "rosa" not in session.world().agents()
    press(page, words.CREATE_IT)
    rosa = session.world().agent("rosa")
    assert rosa.revision == 1
    assert rosa.personality is not None
    assert "stubborn" in rosa.personality.traits
    assert rosa.text("card")
    assert len(rosa.entries(Tier.STM)) == 1


def bring(page: AppTest, name: str, card: bytes) -> AppTest:
    chooser = next(one for one in page.file_uploader if one.label.startswith("A character card"))
    chooser.set_value((name, card, "image/png")).run()
    assert not page.exception, page.exception
    return page


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_card_that_is_left_out_again_gives_back_what_was_in_the_form(by_hand: bool, open_page: OpenPage) -> None:
    page = open_page("new_character")
    before = "Lotte Vermeer · 29 · clockmaker · Delft"
    area(page, words.IN_A_PARAGRAPH, "Lotte Vermeer, 29, is a clockmaker in Delft.")
    if by_hand:
        field(page, "Age", "30")
        before = before.replace("29", "30")
    assert before in shown(page)
    assert "Rosa Quill" in shown(bring(page, "quill.png", materials.card_png(materials.CARD)))
    press(page, words.LEAVE_THE_FILE_OUT)
    assert before in shown(page)
    assert "Rosa Quill" not in shown(page)


def test_a_form_that_was_changed_after_the_card_stays_when_the_card_is_left_out(open_page: OpenPage) -> None:
    page = bring(open_page("new_character"), "quill.png", materials.card_png(materials.CARD))
    field(page, "Name", "Rosa Harrow")
    press(page, words.LEAVE_THE_FILE_OUT)
    assert "Rosa Harrow" in shown(page)
