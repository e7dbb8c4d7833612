"""The blind test on Recall: thumbs without telling whose answer it is, and who is ahead."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from dashboard import words
from memory_system import PRESETS
from tests.views.test_pages import mira, press, shown

OpenPage = Callable[..., AppTest]
CUE = "Who has the mill key?"


def test_two_presets_are_judged_without_telling_whose_answer_it_is(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)
    page.session_state["recall-tab"] = words.COMPARE_PRESETS
    page.session_state["compare-left"] = "classic"
    page.session_state["compare-right"] = "balanced"
    page.run()
    next(one for one in page.toggle if one.label == words.BLIND_TEST).set_value(True).run()
    assert not page.exception, page.exception
    query = mira().query(CUE)
    pooled = {hit.entry.id for name in ("classic", "balanced") for hit in mira().answer(query.by(PRESETS[name])).hits}
    for entry_id in pooled:
        mira().judge(CUE, entry_id, verdict=True)
    page.run()
    page = press(page, words.WHO_IS_AHEAD)
    found = mira().versus("classic", "balanced")
    assert f"neither on {found.equal}" in shown(page)
    assert f"about {found.needed} more" in shown(page)
    assert not any("First rank" in str(one.value) for one in page.dataframe)
