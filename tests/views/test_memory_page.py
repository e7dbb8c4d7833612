"""The Memory page: what its list is given, what the address keeps, and what the drawer does."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.data import tables
from dashboard.views.memory import listing, looking
from memory_system import PRESETS, AgentMemory, MemoryEntry, Tier
from memory_system.recall import Explanation, Lever

from . import lines

OpenPage = Callable[..., AppTest]
CUE = "Who has the mill key?"


def mira() -> AgentMemory:
    return session.world().agent("mira")


def asked(preset: str = "") -> Explanation:
    query = mira().retrieval.query(CUE)
    return mira().explanation(query.by(PRESETS[preset]) if preset else query)


def not_recalled() -> str:
    """The best long-term memory that the cue does not recall."""
    return next(one.entry.id for one in asked().candidates if not one.recalled and one.entry.tier is Tier.LTM)


def press(page: AppTest, key: str) -> AppTest:
    page.button(key=key).click().run()
    assert not page.exception, page.exception
    return page


def labels(page: AppTest) -> set[str]:
    return {button.label for button in page.button}


def everything(agent: AgentMemory) -> list[list[MemoryEntry]]:
    return [agent.entries(tier) for tier in Tier]


def test_the_parts_of_a_bar_are_the_score_and_fit_on_its_axis(open_page: OpenPage) -> None:
    open_page("memory")
    for preset in PRESETS:
        found = asked(preset)
        rows, recalled, more = listing.candidates(found, listing.Shown((), ()), 50)
        assert recalled == len(found)
        assert more == len(found.candidates) - 50
        for row in rows:
            assert sum(value for _, value in row["bar"]) == pytest.approx(row["score"])
            assert row["score"] <= tables.axis(found.query) + 1e-9
    assert {name for name, _ in rows[-1]["bar"]} >= {"meaning", "words", "names", "times"}


@pytest.mark.parametrize("view", ["memory", "recall"])
def test_where_nothing_is_recalled_the_page_says_what_came_nearest_and_why(open_page: OpenPage, view: str) -> None:
    page = open_page(view, cue="Which element has the atomic number 79?")
    told = [one.value.replace("\\", "") for one in page.caption]
    (near,) = [one for one in told if "came nearest" in one]
    assert re.search(r"“.+” came nearest: its confidence of .+ the threshold of 0\.40\. It hardly stands out", near)


def test_what_a_part_is_times_its_weight_is_what_it_adds(open_page: OpenPage) -> None:
    open_page("memory")
    for one in asked("balanced").candidates[:20]:
        lines = listing.breakdown(one.score)
        assert sum(line["adds"] for line in lines) == pytest.approx(one.score.total)
        assert all(line["is"] * line["weight"] == pytest.approx(line["adds"]) for line in lines)


def test_chips_and_quoted_words_narrow_what_is_listed_and_no_rank(open_page: OpenPage) -> None:
    open_page("memory")
    found = asked()
    ranks = {one["id"]: one["rank"] for one in listing.candidates(found, listing.Shown((), ()), 1000)[0]}
    wanted = looking.Looking(box=f'{CUE} "Tobias"', only=("long-term", "conversation", "observation"))
    assert wanted.cue == CUE
    rows, _, more = listing.candidates(found, listing.Shown(wanted.only, wanted.words), 1000)
    assert rows
    assert not more
    for row in rows:
        assert "tobias" in row["text"].casefold()
        assert row["tier"] == "long-term"
        assert row["rank"] == ranks[row["id"]]
    counts = {chip["name"]: chip["count"] for chip in listing.chips(listing.newest_first(mira()), 3)}
    assert (counts["short-term"], counts["forgotten"]) == (len(mira().entries(Tier.STM)), 3)


def test_without_a_cue_the_newest_come_first_and_only_so_many(open_page: OpenPage) -> None:
    open_page("memory")
    agent = mira()
    entries = listing.newest_first(agent)
    rows, more = listing.plain(entries, listing.Shown((), ()), 20, agent.now)
    times = [entry.timestamp for entry in entries if entry.timestamp]
    assert times == sorted(times, reverse=True)
    assert (len(rows), more) == (20, len(entries) - 20)
    assert "bar" not in rows[0]


def test_looking_changes_neither_memories_nor_access_times(open_page: OpenPage) -> None:
    open_page("memory")
    page = open_page("memory", cue=CUE, memory=not_recalled())
    agent = mira()
    before, stamp = everything(agent), agent.stamp
    page.run()
    lines.press(page, "ways", Lever.TOP_K.name, "try")
    press(page, "memory-close")
    open_page("memory", show="forgotten,long-term", cue=CUE)
    assert (everything(agent), agent.stamp) == (before, stamp)


def test_the_address_opens_a_cue_chips_and_a_memory_and_says_what_is_chosen(open_page: OpenPage) -> None:
    page = open_page("memory", cue=CUE, show="long-term", memory="mira-0302-02")
    assert any(mira().last_version("mira-0302-02").document in one.value for one in page.text)
    press(page, "memory-close")
    assert "memory" not in page.query_params
    assert page.query_params["cue"] in (CUE, [CUE])
    assert page.query_params["show"] in ("long-term", ["long-term"])
    assert not any(mira().last_version("mira-0302-02").document == one.value for one in page.text)


def test_an_address_that_names_what_is_not_there_says_so(open_page: OpenPage) -> None:
    page = open_page("memory", cue=CUE, show="nonsense", memory="no such")
    assert any("never existed" in one.value for one in page.markdown)


def test_what_a_browser_wants_is_taken_as_far_as_it_makes_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[str, object] = {}
    monkeypatch.setattr(looking.st, "session_state", held)
    looking.accept_request({"cue": "x" * 9000, "only": "static", "memory": None, "most": -4, "turn": "7"})
    assert held["memory-looking"] == looking.Looking("x" * looking.LONGEST, (), "", looking.STEP, 0)


def test_a_way_is_tried_without_a_change_and_kept_with_one_that_is_undone(open_page: OpenPage) -> None:
    open_page("memory")
    wrong, top_k = not_recalled(), mira().settings.top_k
    page = open_page("memory", cue=CUE, memory=wrong)
    assert any(one.value == f"**{words.NOT_RECALLED}**" for one in page.markdown)
    lines.press(page, "ways", Lever.TOP_K.name, "try")
    assert mira().settings.top_k == top_k
    assert any(one.value == f"**{words.RECALLED}**" for one in page.markdown)
    lines.press(page, "ways", Lever.TOP_K.name, "keep")
    assert mira().settings.top_k > top_k
    told = page.success[0].value
    assert session.shown_name("mira") in told
    assert f"Ask for {mira().settings.top_k} memories" in told
    undo = next(button for button in page.button if button.label == "Undo")
    undo.click().run()
    assert mira().settings.top_k == top_k


def test_where_no_single_change_helps_the_recall_bench_is_the_next_step(open_page: OpenPage) -> None:
    open_page("memory")
    own = mira().retrieval.query(CUE)
    missing = (one.entry.id for one in asked().candidates if not one.recalled and one.entry.tier is Tier.LTM)
    hopeless = next(one for one in missing if not mira().ways(own, one))
    page = open_page("memory", cue=CUE, memory=hopeless)
    assert words.TRY_SEVERAL in labels(page)


def test_a_cue_is_saved_with_what_it_must_and_must_not_recall(open_page: OpenPage) -> None:
    page = open_page("memory", cue=CUE, memory="mira-0302-02")
    press(page, "memory-bookmark_add")
    saved = next(one for one in mira().saved_cues if one.cue == CUE)
    assert "mira-0302-02" in saved.must
    press(page, "memory-bookmark_remove")
    saved = next(one for one in mira().saved_cues if one.cue == CUE)
    assert "mira-0302-02" not in saved.must
    assert "mira-0302-02" in saved.must_not


def test_forgetting_and_editing_end_with_an_undo_and_a_forgotten_one_comes_back(open_page: OpenPage) -> None:
    page = open_page("memory", cue=CUE, memory="mira-0302-02")
    press(page, "Forget-mira-0302-02")
    assert mira().find("mira-0302-02") is None
    assert {"Undo", "Restore"} <= labels(page)
    next(button for button in page.button if button.label == "Undo").click().run()
    assert mira().find("mira-0302-02") is not None


def test_many_memories_are_sent_a_hundred_at_a_time(open_page: OpenPage) -> None:
    open_page("memory")
    many = mira().entries(Tier.LTM)[:100] * 35
    rows, more = listing.plain(many, listing.Shown((), ()), looking.STEP, mira().now)
    assert (len(rows), more) == (looking.STEP, 3500 - looking.STEP)
