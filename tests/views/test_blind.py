"""The blind test on Recall: thumbs without telling whose answer it is, and who is ahead."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.views.recall import compare
from memory_system import PRESETS, AgentMemory
from memory_system.conversation import Conversation, TalkSettings
from memory_system.recall import deciding
from tests.views.conftest import FOLDER
from tests.views.test_pages import mira, press, shown
from tests.waiting import LAST_RESORT

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


def test_what_is_set_above_is_tested_blind_against_a_preset(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)
    page.session_state["recall-tab"] = words.COMPARE_PRESETS
    page.session_state["compare-left"] = compare.NOW
    page.session_state["compare-right"] = "classic"
    page.run()
    next(one for one in page.toggle if one.label == words.BLIND_TEST).set_value(True).run()
    assert not page.exception, page.exception
    assert words.CHOOSE_TWO not in shown(page)
    answers = [mira().answer(query).hits for query in (mira().query(CUE), mira().query(CUE).by(PRESETS["classic"]))]
    own, classic = ({hit.entry.id for hit in hits} for hits in answers)
    assert own - classic
    for entry_id in own | classic:
        mira().judge(CUE, entry_id, verdict=entry_id in own)
    page = press(page.run(), words.WHO_IS_AHEAD)
    assert f"“{compare.NOW}” is better on 1, “classic” on 0" in shown(page)


PAIR = ("classic", "balanced")
LINES = ("Who has the mill key?", "When did you last see Tobias?", "What are you afraid of?")


@pytest.fixture
def talk(open_page: OpenPage) -> Conversation:
    """A talk of three lines with Mira."""
    open_page("history")  # makes the world
    begun = Conversation.begin(mira(), human="John", settings=TalkSettings(remember="synopsis"))
    for line in LINES:
        begun.step(line)
    return begun


def over(open_page: OpenPage, talk: str, **link: str) -> AppTest:
    return open_page("recall", talk=talk, **{"first": "classic", "second": "balanced"} | link)


def alone(talk: Conversation, cue: str) -> set[str]:
    """What only one of the two presets recalls for a line."""
    lines = talk.lines()
    query = mira().query(cue, lines.top_k, facets=lines.facets)
    answers = (mira().answer(query.by(PRESETS[name])).hits for name in ("classic", "balanced"))
    return deciding(*([hit.entry.id for hit in hits] for hits in answers))


def use(name: str) -> None:
    """Let Mira recall by a preset."""
    preset = PRESETS[name]
    mira().configure(scoring=preset.scoring, threshold=preset.threshold, static_threshold=preset.static_threshold)


def thumbs(page: AppTest) -> list[str]:
    """The ids of the memories that have a thumb."""
    keys = [str(one.key) for one in page.feedback if str(one.key).startswith("thumb-blind-")]
    return [key.removeprefix("thumb-blind-mira-") for key in keys]


def test_each_line_of_a_talk_is_judged_and_what_is_missing_is_told(open_page: OpenPage, talk: Conversation) -> None:
    before = mira().stamp
    page = over(open_page, talk.id)
    missing = {cue: len(alone(talk, cue)) for cue in LINES}
    assert all(missing.values()), "the two differ on every line"
    assert "Line 1 of 3" in shown(page)
    assert LINES[0] in shown(page)
    assert f"{missing[LINES[0]]} thumbs missing here · 0 of 3 lines done" in shown(page)
    assert f"3 lines on which the two differ, {words.TOO_FEW_LINES}" in shown(page)
    assert "About" not in shown(page)
    assert len(thumbs(page)) == missing[LINES[0]]
    assert not page.dataframe
    assert not any("score" in str(one.value) or "better on" in str(one.value) for one in (*page.text, *page.caption))
    assert mira().stamp == before
    page = press(page, words.NEXT_LINE)
    assert "Line 2 of 3" in shown(page)
    page = press(page, words.PREVIOUS_LINE)
    for entry_id in alone(talk, LINES[0]):
        mira().judge(LINES[0], entry_id, verdict=True)
    page.run()
    assert "nothing missing here · 1 of 3 lines done" in shown(page).lower()
    page = press(page, words.NEXT_WITHOUT_THUMBS)
    assert "Line 2 of 3" in shown(page)
    assert "better on" not in shown(page)
    page = press(page, words.WHO_IS_AHEAD)
    found = talk.versus("classic", "balanced")
    assert found.first + found.second + found.equal == 1
    assert "thumbs are missing: 2 lines" in shown(page)
    assert f"“classic” is better on {found.first}, “balanced” on {found.second}" in shown(page)
    assert shown(page).count(words.TOO_FEW_LINES) == 2
    assert f"{found.needed} more" not in shown(page)


def test_a_thumb_is_kept_taken_back_by_undo_and_asks_nothing_again(
    open_page: OpenPage, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = over(open_page, talk.id)
    here = len(alone(talk, LINES[0]))
    asked = list[object]()
    answer = AgentMemory.answer
    monkeypatch.setattr(AgentMemory, "answer", lambda agent, *given: asked.append(given) or answer(agent, *given))
    thumb = next(one for one in page.feedback if str(one.key).startswith("thumb-blind-"))
    thumb.set_value(1).run()
    assert not page.exception, page.exception
    assert f"{here - 1} thumb" in shown(page)
    assert not asked
    assert mira().judgments[-1].cue == LINES[0]
    mira().undo(mira().revision)
    page.run()
    assert f"{here} thumbs missing here" in shown(page)
    assert len(asked) == 2 * len(LINES)


def test_a_line_of_which_both_recall_the_same_lacks_nothing(open_page: OpenPage, talk: Conversation) -> None:
    use("balanced")
    page = over(open_page, talk.id, first="settings")
    assert "3 of 3 lines done" in shown(page)
    assert words.BOTH_RECALL_THE_SAME in shown(page)
    assert not thumbs(page)


def test_a_link_to_no_talk_shows_the_last_and_equal_presets_are_refused(
    open_page: OpenPage, talk: Conversation
) -> None:
    page = over(open_page, "gone")
    assert page.warning[0].value == words.TALK_IS_GONE
    assert page.query_params["talk"] in (talk.id, [talk.id])
    assert words.CHOOSE_TWO in shown(over(open_page, "last", second="classic"))


def test_without_a_talk_the_page_says_what_to_do_and_takes_lines_of_ones_own(open_page: OpenPage) -> None:
    page = open_page("recall", talk="last", first="classic", second="balanced")
    assert words.NO_TALK_YET in shown(page)
    next(one for one in page.text_area if one.label == words.LINES_OF_YOUR_OWN).set_value(
        f" {CUE}\n\nWho is Tobias?\n{CUE}"
    ).run()
    assert not page.exception, page.exception
    assert "Line 1 of 2" in shown(page)
    assert words.NO_TALK_YET not in shown(page)


def test_enough_lines_say_which_preset_is_better(open_page: OpenPage) -> None:
    cues = [f"{CUE[:-1]}, said for the {number}. time?" for number in range(7)]
    page = open_page("recall", talk="pasted", first="classic", second="balanced")
    answers = [
        [{hit.entry.id for hit in mira().answer(mira().query(cue).by(PRESETS[name])).hits} for name in PAIR]
        for cue in cues
    ]
    assert all(first - second for first, second in answers)
    page.text_area[0].set_value("\n".join(cues)).run()
    assert "until it can be said which, fewer if one leads clearly. This talk has 7 to go" in shown(page)
    for cue, (first, second) in zip(cues, answers, strict=True):
        for entry_id in deciding(first, second):
            mira().judge(cue, entry_id, verdict=entry_id in first)
    page.run()
    assert "7 of 7 lines done" in shown(page)
    assert words.ENOUGH_IS_JUDGED in shown(page)
    assert "unlikely to be chance" in shown(press(page, words.WHO_IS_AHEAD))


def test_recall_without_a_cue_and_the_talk_itself_lead_there(open_page: OpenPage, talk: Conversation) -> None:
    assert words.OVER_A_TALK in [one.label for one in open_page("recall").button]
    page = open_page("interview", mode="play", talk=talk.id)
    assert words.OVER_THIS_TALK in [one.label for one in page.button]
    assert words.ONE_CUE in [one.label for one in over(open_page, talk.id).button]


def test_the_interview_of_this_session_is_a_talk_too(open_page: OpenPage) -> None:
    page = open_page("interview")
    page.chat_input[0].set_value(LINES[0]).run()
    assert words.OVER_THIS_TALK in [one.label for one in page.button]
    over_it = AppTest.from_file(str(FOLDER / "recall" / "recall.py"), default_timeout=LAST_RESORT)
    for name in ("agent", "talk-interview-mira"):
        over_it.session_state[name] = page.session_state[name]
    for name, value in {"talk": "interview", "first": "classic", "second": "balanced"}.items():
        over_it.query_params[name] = value
    over_it.run()
    assert not over_it.exception, over_it.exception
    assert "Line 1 of 1" in shown(over_it)
    assert LINES[0] in shown(over_it)
