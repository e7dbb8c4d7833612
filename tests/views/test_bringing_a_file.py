"""A file of another program on the Short-term page: what each line becomes is seen before anything is stored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pandas as pd
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.views import PAGES
from memory_system import Tier
from memory_system.operations.importing import Order
from memory_system.operations.importing.taking_in import MERGEABLE
from tests import materials

from .test_entering_events import entering
from .test_pages import mira, press, shown

OpenPage = Callable[..., AppTest]


def bring(page: AppTest, name: str, raw: bytes | str) -> None:
    """Choose a file, in the tab that is drawn when it is opened."""
    entering(page, words.A_FILE)
    uploader = next(one for one in page.file_uploader if one.label == words.BRING_A_FILE)
    content = raw.encode() if isinstance(raw, str) else raw
    uploader.set_value((name, content, "application/octet-stream")).run()
    assert not page.exception, page.exception


def table(page: AppTest) -> pd.DataFrame:
    return next(one.value for one in page.dataframe if "becomes" in one.value and "where" in one.value)


def test_a_chat_is_looked_at_line_by_line_taken_in_and_undone(open_page: OpenPage) -> None:
    page = open_page("short_term")
    before = mira().revision
    bring(page, "talk.jsonl", materials.SILLYTAVERN)
    told = table(page)
    assert list(told["becomes"]) == ["left out", "left out", "a memory", "a memory"]
    assert datetime(2026, 3, 2, 21, 10, tzinfo=UTC) in set(told["when"])
    assert told["importance"].dtype.kind != "O" or set(told["importance"]) == {None}
    assert told["why"].str.endswith("to be rated").sum() == 2
    assert "This is a SillyTavern chat." in shown(page)
    assert mira().revision == before
    press(page, words.PREVIEW_THE_IMPORT)
    assert mira().revision == before
    press(page, words.TAKE_IT_IN)
    assert "Tobias: Edda has had it since Wednesday." in {one.document for one in mira().entries(Tier.STM)}
    assert mira().history(1)[0].change_set.operation == "import"
    mira().undo(mira().revision)


def test_a_file_that_is_refused_says_so_and_stores_nothing(open_page: OpenPage) -> None:
    page = open_page("short_term")
    before = mira().revision
    bring(page, "bomb.png", materials.png(width=60_000, height=60_000))
    assert any("60,000 by 60,000 pixels" in one.value for one in page.error)
    assert not any(one.label == words.TAKE_IT_IN for one in page.button)
    assert mira().revision == before


def test_a_column_that_was_guessed_wrong_is_corrected_and_bad_lines_can_be_downloaded(open_page: OpenPage) -> None:
    page = open_page("short_term")
    bring(page, "notes.csv", "text;note\nBread;Sold out by nine\nFlour;\n")
    assert "Bread" in set(table(page)["text"])
    next(one for one in page.text_input if one.label == "Text").set_value("note").run()
    told = table(page)
    assert list(told["becomes"]) == ["a memory", "left out"] or list(told["becomes"]) == ["left out", "a memory"]
    assert "Sold out by nine" in set(told["text"])
    assert any(one.proto.label == words.DOWNLOAD_LEFT_OUT for one in page.get("link_button"))


def test_the_same_words_at_another_time_are_offered_for_merging(open_page: OpenPage) -> None:
    mira().import_material('[{"text": "The bell rang.", "time": "2026-03-01T09:00:00Z"}]', rate=False)
    page = open_page("short_term")
    bring(page, "again.json", '[{"text": "The bell rang.", "time": "2026-03-02T09:00:00Z"}]')
    assert MERGEABLE in shown(page)
    mira().undo(mira().revision)


def test_a_language_model_is_offered_for_prose_only_where_there_is_one(open_page: OpenPage) -> None:
    page = open_page("short_term")
    bring(page, "chapter.txt", materials.PROSE)
    assert words.PROSE_WITHOUT_MODEL in shown(page)
    assert not any(one.label == words.READ_BY_MODEL for one in page.checkbox)


def test_the_open_tab_and_its_file_are_there_again_when_the_page_is_come_back_to(workbench: OpenPage) -> None:
    page = workbench(next(one for one in PAGES if one.name == "short_term"))
    bring(page, "talk.jsonl", materials.SILLYTAVERN)
    page.selectbox(key="material-dates-material/mira-0").select(Order.DAY_FIRST).run()
    page.switch_page("views/history/history.py").run()
    page.switch_page("views/short_term/short_term.py").run()
    assert f"{words.STILL_BROUGHT}: talk.jsonl" in shown(page)
    assert "a memory" in set(table(page)["becomes"])
    assert page.selectbox(key="material-dates-material/mira-0").value is Order.DAY_FIRST
    assert page.selectbox(key="material-form-material/mira-0").value == "", "nothing chosen is what it is"
    press(page, words.LEAVE_OUT_FILE)
    assert "talk.jsonl" not in shown(page)


def test_what_is_left_out_of_a_card_is_a_list_by_reason(open_page: OpenPage) -> None:
    page = open_page("short_term")
    bring(page, "card.png", materials.card_png(materials.CARD))
    press(page, words.PREVIEW_THE_IMPORT)
    for told in (*page.caption, *page.info):
        if "Left out" in told.value:
            assert told.value.count("\n* ") > 1, told.value
            assert told.value.count("Left out") == 1
    assert sum("Left out" in told.value for told in (*page.caption, *page.info)) == 2
