"""The Recall page: presets, facets, two answers side by side, saved cues, a second round, a narrative."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from datetime import UTC, date, datetime

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.views.recall.why import OPEN
from memory_system import PRESETS
from memory_system.llm.offline.model import OfflineModel
from memory_system.recall.why import WITHOUT_THE_WORDS

from .test_pages import labelled, mira, open_tab, press, shown

OpenPage = Callable[..., AppTest]
CUE = "Who has the mill key?"


@pytest.fixture
def cast() -> Collection[str]:
    return ("mira",)


def ranked(page: AppTest) -> pd.DataFrame:
    """The table of all candidates."""
    return next(one.value for one in page.dataframe if "verdict" in one.value)


def recalled(page: AppTest) -> int:
    """The number of memories that the summary line says were recalled."""
    (told,) = re.findall(r"(\d+) recalled of \d+ candidates", shown(page))
    assert ranked(page)["recalled"].sum() == int(told)
    return int(told)


def test_what_somebody_else_asks_means_by_i_somebody_else(open_page: OpenPage) -> None:
    page = open_page("recall", cue="What is my job?")
    assert ranked(page)["memory"].iloc[0] == "Mira Holloway works as: baker."
    assert "candidates" in shown(page)
    assert "asked by somebody else" not in shown(page)
    labelled(page.toggle, words.ADDRESSED).set_value(True).run()
    assert "asked by somebody else" in shown(page)
    assert ranked(page)["memory"].iloc[0] != "Mira Holloway works as: baker."


def test_the_sliders_follow_each_preset(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)
    own = labelled(page.slider, words.THRESHOLD).value
    for name, preset in PRESETS.items():
        labelled(page.button_group, "Preset").set_value(name).run()
        assert preset.source[:40] in shown(page)
        shown_now = {
            words.THRESHOLD: preset.threshold,
            words.WEIGHT_OF_RECENCY: preset.scoring.weights.recency,
            words.WEIGHT_OF_IMPORTANCE: preset.scoring.weights.importance,
            words.WEIGHT_OF_RELEVANCY: preset.scoring.weights.relevancy,
            words.RECENCY_KEPT: preset.scoring.decay,
            words.STATIC_THRESHOLD: preset.static_threshold,
        }
        assert {label: labelled(page.slider, label).value for label in shown_now} == pytest.approx(shown_now)
        assert labelled(page.button_group, "Relevancy by").value == preset.scoring.measure.value
        assert labelled(page.toggle, words.SCALE_EACH_PART).value == preset.scoring.normalise
    labelled(page.button_group, "Preset").set_value("classic").run()
    before = list(ranked(page)["score"])
    labelled(page.toggle, words.SCALE_EACH_PART).set_value(not PRESETS["classic"].scoring.normalise).run()
    assert list(ranked(page)["score"]) != before
    labelled(page.button_group, "Preset").set_value("this character's").run()
    assert labelled(page.slider, words.THRESHOLD).value == own


def test_two_presets_compared_count_what_their_table_shows(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)
    labelled(page.number_input, words.TOP_K).set_value(4).run()
    open_tab(page, words.COMPARE_PRESETS)
    for second in ("balanced", "paper"):
        labelled(page.selectbox, "Second").set_value(second).run()
        (told,) = [one.value for one in page.caption if one.value.startswith("From “as set above” to ")]
        counts = {verb: int(number) for number, verb in re.findall(r"(\d+) (enter|leave|move|stay)s?\b", told)}
        table = next(one.value for one in page.dataframe if "change" in one.value)
        assert Counter(verb.removesuffix("s") for verb in table["change"]) == counts, told
        assert table["first"].notna().sum() <= 4
        assert sorted(table["second"].dropna()) == [1, 2, 3, 4][: len(table)]
        assert counts.get("enter", 0) == table["first"].isna().sum()
    labelled(page.selectbox, "First").set_value("paper").run()
    assert set(next(one.value for one in page.dataframe if "change" in one.value)["change"]) == {"stays"}


def test_facets_narrow_the_answer(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)
    labelled(page.multiselect, "Kinds").set_value(["conversation"]).run()
    held = {entry.id: entry for tier in ("static", "stm", "ltm") for entry in mira().entries(tier)}
    found = ranked(page)
    assert {held[one].kind.value for one in found[found["recalled"]]["id"]} == {"conversation"}
    assert "The chosen facets exclude it." in set(found["why"])
    assert "filtered out" in set(found["verdict"])

    labelled(page.multiselect, "Kinds").set_value([])
    labelled(page.multiselect, "Tags").set_value(["key"])
    labelled(page.date_input, words.HAPPENED_FROM).set_value(date(2026, 3, 10))
    labelled(page.date_input, words.HAPPENED_UNTIL).set_value(date(2026, 3, 26))
    page.run()
    found = ranked(page)
    assert recalled(page)
    for one in found[found["recalled"]]["id"]:
        assert "key" in held[one].tags
        assert datetime(2026, 3, 10, tzinfo=UTC) <= held[one].timestamp < datetime(2026, 3, 27, tzinfo=UTC)


def test_days_that_contradict_are_told_and_the_last_is_left_out(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)

    def between(first: date, last: date) -> AppTest:
        labelled(page.date_input, words.HAPPENED_FROM).set_value(first)
        labelled(page.date_input, words.HAPPENED_UNTIL).set_value(last)
        page.run()
        assert not page.exception, page.exception
        return page

    labelled(page.date_input, words.HAPPENED_FROM).set_value(date(2026, 3, 20)).run()
    narrowed = recalled(page)
    assert recalled(between(date(2026, 3, 20), date(2026, 3, 10))) == narrowed
    assert "The last day is before the first; the last day is ignored." in [one.value for one in page.warning]
    assert recalled(between(date(2999, 12, 31), date(2999, 12, 31))) == 0
    assert set(ranked(page)["verdict"]) == {"filtered out"}
    between(date(1000, 1, 1), date(2999, 12, 31))
    assert not page.warning


def test_a_memory_that_is_filtered_out_says_so_and_how_it_comes_back(open_page: OpenPage) -> None:
    open_page("history")  # opens the world
    key = mira().explain(CUE).hits[0].entry.id
    page = open_page("recall", cue=CUE)
    page.session_state[OPEN] = key
    assert "Recalled: " in shown(page.run())
    labelled(page.text_input, "With these words").set_value("KEY").run()
    held = ranked(page)
    assert all("key" in text.casefold() for text in held[held["recalled"]]["memory"])
    labelled(page.text_input, "With these words").set_value("no memory holds these words").run()
    assert recalled(page) == 0
    labelled(page.button_group, "Show").set_value("Recalled").run()
    assert not page.error
    told = shown(page)
    assert "Filtered out: " in told
    assert f"• {WITHOUT_THE_WORDS}" in told
    assert "No matching memories." in told
    labelled(page.text_input, "With these words").set_value("").run()
    assert "Recalled: " in shown(page)


def test_one_cue_after_another_is_saved_from_the_one_form_on_the_page(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)
    open_tab(page, words.SAVED_CUES)
    names = [f"The key, asked {number} times" for number in range(1, 6)]
    for name in names:
        (field,) = [one for one in page.text_input if one.label == "Name"]
        assert field.value == ""
        field.set_value(name).run()
        assert f"**{name}**" in shown(press(page, words.SAVE_THE_CUE))
    assert [one.name for one in mira().saved_cues] == names


def test_a_saved_cue_is_not_replaced_by_one_of_its_name_unless_that_was_said(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)
    open_tab(page, words.SAVED_CUES)
    labelled(page.text_input, "Name").set_value("The key").run()
    theirs = mira().query_memory(CUE, touch=False).hits[1].entry.id
    mira().save_cue("the key", "Who has the key?", [theirs])
    press(page, words.SAVE_THE_CUE)
    assert "Not saved: there is a cue “the key” already." in page.warning[0].value.replace("\\", "")
    assert [one.must for one in mira().saved_cues] == [(theirs,)]
    assert labelled(page.text_input, "Name").value == "The key"
    assert "saving replaces it" in shown(page)
    press(page, words.SAVE_THE_CUE)
    assert [one.name for one in mira().saved_cues] == ["The key"]


def test_a_second_round_marks_what_it_found_with_its_path(open_page: OpenPage) -> None:
    cue = (
        "Tobias owned up that the mill key vanished from his coat on 5 March; he never once said sorry, "
        "and I could not say I forgave him."
    )
    page = open_page("recall", cue=cue)
    labelled(page.number_input, words.TOP_K).set_value(60)
    labelled(page.slider, words.THRESHOLD).set_value(0.45)
    before = recalled(page.run())
    labelled(page.number_input, "Hits for a second round").set_value(5).run()
    assert recalled(page) > before
    found = ranked(page)
    by_way = found[found["why"].str.startswith("Found by way of “")]
    assert len(by_way) == recalled(page) - before
    page.session_state[OPEN] = by_way.iloc[0]["id"]
    told = shown(page.run())
    assert "Recalled: Found by way of “" in told
    assert "Found through: " in told


def test_a_narrative_is_the_offline_model_s_and_each_sentence_says_what_it_rests_on(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)
    hits = recalled(page)
    open_tab(page, "Narrative")
    press(page, words.TELL_IT_AS_A_NARRATIVE)
    assert f"Told by: {OfflineModel.label}" in shown(page)
    captions = [one.value.replace("\\", "") for one in page.caption]
    rests = [one.removeprefix("rests on: ") for one in captions if one.startswith("rests on: ")]
    told = [one.value for one in page.text]
    assert len(rests) == hits
    for source in rests:
        begins = source.removesuffix("…").strip()[:40]
        assert any(begins in sentence for sentence in told)
    labelled(page.slider, words.THRESHOLD).set_value(0.5).run()
    assert "Told by: " not in shown(page)  # it was told of another answer
