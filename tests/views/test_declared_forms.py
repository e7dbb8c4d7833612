"""The Operations page offers every operation and every read, each with a form made of its declaration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.data import history_tables
from memory_system import AgentMemory, Tier
from memory_system.interfaces.operations import BESIDE, OF_CAST, OPERATIONS
from memory_system.interfaces.reads import READS

from . import change_sets
from .test_pages import mira, press, shown

OpenPage = Callable[..., AppTest]
ALL = (*OPERATIONS, *BESIDE)


def more(open_page: OpenPage, title: str) -> AppTest:
    """The page with one of the less usual operations or reads chosen."""
    page = open_page("operations", operation="More")
    chooser = page.selectbox[0]
    chooser.set_value(
        next(one for one in (*ALL, *READS) if title in (one.title, f"{words.LOOK_UP}: {one.title}"))
    ).run()
    assert not page.exception, page.exception
    return page


def test_every_operation_and_every_read_can_be_chosen(open_page: OpenPage) -> None:
    page = open_page("operations", operation="More")
    usual = {name.lower() for name in page.button_group[0].options}
    titles = {one.title for one in (*ALL, *OF_CAST) if one.name not in usual} | {
        f"{words.LOOK_UP}: {one.title}" for one in READS
    }
    assert set(page.selectbox[0].options) == titles
    assert {"migrate", "reflect", "summarise", "plan"} <= usual


def test_while_another_operation_is_chosen_none_of_the_usual_ones_looks_so(open_page: OpenPage) -> None:
    page = open_page("operations", operation="Plan")
    assert page.button_group[0].value == "Plan"
    page.toggle[0].set_value(True).run()
    assert page.button_group[0].value is None
    page.toggle[0].set_value(False).run()
    assert page.button_group[0].value == "Plan"
    page.toggle[0].set_value(True).run()
    page.button_group[0].set_value("Plan").run()
    assert not page.exception, page.exception
    assert (page.button_group[0].value, page.toggle[0].value) == ("Plan", False)


def test_every_form_is_drawn_with_a_widget_for_each_field(open_page: OpenPage) -> None:
    open_page("operations")

    def draw() -> None:
        from dashboard import session
        from dashboard.components import declared_form
        from memory_system.interfaces.operations import BESIDE, OPERATIONS
        from memory_system.interfaces.reads import READS

        for one in (*OPERATIONS, *BESIDE, *READS):
            without = getattr(one, "refuses", ())
            declared_form.entered(one.form, session.world().agent("mira"), f"{type(one).__name__}-{one.name}", without)

    page = AppTest.from_function(draw, default_timeout=60).run()
    assert not page.exception, page.exception
    asked = {
        f"{type(one).__name__}-{one.name}-{name}"
        for one in (*ALL, *READS)
        for name in one.form.model_fields
        if name not in {"now", "as_of", "cursor", *getattr(one, "refuses", ())}
    }
    written = (page.number_input, page.text_input, page.text_area, page.file_uploader)
    kinds = (page.selectbox, page.multiselect, page.checkbox, *written)
    assert {str(widget.key) for kind in kinds for widget in kind} == asked


def test_a_form_previews_applies_and_undoes_what_no_other_page_does(open_page: OpenPage) -> None:
    entry_id = mira_entry(open_page)
    page = more(open_page, "Forget")
    assert "Still needed: Ids." in shown(page)
    page.multiselect[0].set_value([entry_id]).run()
    before = mira().stamp[0]
    press(page, "Preview")
    assert mira().stamp[0] == before
    press(page, "Apply")
    assert mira().find(entry_id) is None
    press(page, "Undo")
    assert mira().find(entry_id) is not None


def mira_entry(open_page: OpenPage) -> str:
    open_page("operations")
    return mira().entries(Tier.STM)[0].id


def test_a_bound_of_the_declaration_is_a_bound_of_the_widget(open_page: OpenPage) -> None:
    page = open_page("operations", operation="Summarise")
    count = page.number_input[0]
    assert (count.min, count.max, count.value) == (2, 500, 10)
    count.set_value(3).run()
    press(page, "Preview")
    assert len(change_sets.rows(page)) == 4  # three leave, their summary comes


def test_a_read_is_answered_as_the_api_answers_it(open_page: OpenPage) -> None:
    page = more(open_page, f"{words.LOOK_UP}: Missing vectors")
    press(page, words.LOOK_UP)
    assert '"waiting"' in page.json[0].value


def test_what_is_wrong_with_a_field_is_said_in_plain_words(open_page: OpenPage) -> None:
    page = more(open_page, f"{words.LOOK_UP}: The plan now")
    page.text_input[0].set_value("noon").run()
    assert ": It must be a time; write it like 2026" in shown(page)


def test_the_history_labels_what_is_declared() -> None:
    for one in ALL:
        assert history_tables.operation(one.in_history) in {other.label or other.title for other in ALL}


def test_a_preview_that_is_cancelled_says_so(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    clicks: list[Callable[[], None]] = []
    drawn = st.button

    def button(label: str, **how: Any) -> bool:
        if label == "Cancel":
            clicks.append(lambda: how["on_click"](*how["args"]))
        return drawn(label, **how)

    def cancelled(*_: object, **__: object) -> None:
        clicks[0]()
        st.rerun()  # which a click does, too

    page = more(open_page, "Tune")
    before = mira().stamp
    monkeypatch.setattr(st, "button", button)
    monkeypatch.setattr(AgentMemory, "tune", cancelled)
    press(page, "Preview")
    assert "Cancelled: nothing was changed." in shown(page)
    assert mira().stamp == before
