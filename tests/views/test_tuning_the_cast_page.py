"""Tuning the whole cast on the Operations page: previewed, looked at one by one, applied to all, undone together."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from dashboard import session, words
from memory_system import AgentSettings, Scoring, Weights
from memory_system.operations.tuning import MIN_CUES, MORE_NEEDED
from tests.views.test_pages import OpenPage, labelled, press, shown

NAMES = ("mira", "tobias")
GOODS = {
    "mira": ("herring", "flour", "rope", "pears", "linen", "honey", "salt", "wool", "tin", "glass"),
    "tobias": ("oats", "peat", "wax", "ink", "silk", "tea", "coal", "lamps", "nails", "cider"),
}
assert sum(map(len, GOODS.values())) == MIN_CUES


def judged() -> None:
    """Of two memories of each thing the important one was judged right, and relevancy prefers the other."""
    for name, goods in GOODS.items():
        agent = session.world().agent(name)
        said = [
            ({"document": f"Sold {one} at the market", "rating": 1},
             {"document": f"At noon at the market, sold {one}", "id": one, "rating": 10})
            for one in goods
        ]  # fmt: skip
        agent.add_short_term([event for both in said for event in both])
        agent.configure(top_k=1, threshold=0.0, scoring=Scoring(Weights(0, 0, 1)))
        for one in goods:
            agent.judge(f"Sold {one} at the market", one, verdict=True)


def weights() -> list[float]:
    return [session.world().agent(name).settings.scoring.weights.importance for name in NAMES]


def previewed(open_page: OpenPage) -> AppTest:
    page = open_page("operations", operation="tune-cast")
    judged()
    return press(page, "Preview")


def test_it_is_previewed_looked_at_applied_and_undone(open_page: OpenPage) -> None:
    page = previewed(open_page)
    assert "Tune the cast: +" in shown(page)
    assert "2 characters change" in shown(page)
    (table,) = page.dataframe
    assert list(table.value["changes"]) == [True, True]
    assert "10 cues with 10 right" in table.value["what was found"][0]
    assert weights() == [0, 0]
    labelled(page.selectbox, words.WHAT_CHANGES_FOR).set_value("tobias").run()
    assert "by the labels of 2 of 2 characters" in shown(page)
    assert "weights" in shown(page)
    press(page, words.APPLY_TO_ALL)
    assert "Applied to 2 characters: Tune the cast: +" in shown(page)
    assert min(weights()) > 0
    assert session.world().agent("tobias").history(1)[0].change_set.author == "dashboard page"
    press(page, "Undo")
    assert "Undone: Tune the cast" in shown(page)
    assert weights() == [0, 0]


def test_where_one_was_changed_meanwhile_that_is_said_and_nobody_is_changed(open_page: OpenPage) -> None:
    page = previewed(open_page)
    session.world().agent("tobias").configure(top_k=2)
    press(page, words.APPLY_TO_ALL)
    assert "tobias: " in shown(page)
    assert "Nobody was changed." in shown(page)
    assert weights() == [0, 0]


def test_with_too_few_labels_it_says_how_many_are_missing(open_page: OpenPage) -> None:
    page = open_page("operations", operation="tune-cast")
    for name in NAMES:
        session.world().agent(name).configure(**vars(AgentSettings()))
    press(page, "Preview")
    assert MORE_NEEDED in shown(page)
    assert words.APPLY_TO_ALL not in [button.label for button in page.button]


def test_settings_lead_to_both(open_page: OpenPage) -> None:
    page = open_page("settings")
    assert {words.TUNE_CHARACTER, words.TUNE_CAST} <= {button.label for button in page.button}
