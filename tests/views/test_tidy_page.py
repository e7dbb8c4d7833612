"""The Tidy page, and many memories changed together on the pages that list them."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.views.tidy.suspects import marked
from memory_system import AgentMemory, Tier
from memory_system.operations.duplicates.suspicions import ALMOST_THE_SAME
from tests.fake_server import FakeServer, says

from .comparing import compared

OpenPage = Callable[..., AppTest]


def mira() -> AgentMemory:
    return session.world().agent("mira")


def shown(page: AppTest) -> str:
    kinds = (page.caption, page.text, page.markdown, page.success, page.error, page.info)
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")


def press(page: AppTest, begins: str) -> AppTest:
    return compared(next(button for button in page.button if button.label.startswith(begins)).click().run())


def remember(*texts: str) -> list[str]:
    added = mira().add_short_term([{"document": text, "rating": 5} for text in texts], rate=False)
    return [one.id for one in added.outcomes]


KEY = "Lent Tobias the brass key of the tide mill for a week"
KEY_AGAIN = "For a week I lent the brass key of the tide mill to Tobias"


def test_a_duplicate_is_merged_and_undone(open_page: OpenPage) -> None:
    ids = set(remember(KEY, KEY_AGAIN))
    page = compared(open_page("tidy"))
    assert ALMOST_THE_SAME in shown(page)
    press(page, words.KEEP_THIS_ONE)
    assert len([one for one in ids if mira().find(one)]) == 1
    assert "Merge 2 memories" in shown(page)
    assert ALMOST_THE_SAME not in shown(page)
    press(page, "Undo")
    assert all(mira().find(one) for one in ids)
    assert ALMOST_THE_SAME in shown(page)


def test_of_a_contradiction_the_right_one_stays_or_both_do(open_page: OpenPage) -> None:
    ids = set(remember("The ferry leaves the east pier at 18:00", "The ferry leaves the east pier at 19:30"))
    page = compared(open_page("tidy"))
    assert "One says “18:00”, the other “19:30”." in shown(page)
    press(page, words.BOTH_ARE_RIGHT)
    assert "One says “18:00”" not in shown(page)
    assert "1 suspicion is dismissed." in shown(page)
    press(page, "Show them again")
    assert "One says “18:00”, the other “19:30”." in shown(page)
    press(page, "This one is right")
    assert len([one for one in ids if mira().find(one)]) == 1


def test_the_same_words_many_times_become_one_memory(open_page: OpenPage) -> None:
    ids = remember(*["The oven of the bakery is idle"] * 4)
    page = compared(open_page("tidy"))
    press(page, "Merge 4 into it")
    assert len([one for one in ids if mira().find(one)]) == 1


def test_without_a_language_model_the_page_says_what_it_misses(open_page: OpenPage) -> None:
    assert words.NEEDS_A_LANGUAGE_MODEL in shown(compared(open_page("tidy")))


def test_a_language_model_is_asked_when_somebody_wants_it(open_page: OpenPage, server: FakeServer) -> None:
    remember("Tobias keeps the mill key in his coat", "The key of the mill is kept in the chest of Tobias")
    mira().model = server.model()
    server.on("compare", says({"verdicts": [{"pair": 1, "relation": "same", "why": "*So* it is."}]}))
    page = compared(open_page("tidy"))
    assert words.NEEDS_A_LANGUAGE_MODEL not in shown(page)
    assert server.requests == []
    press(page, "Ask fake")
    assert "fake: *So* it is." in shown(page)
    asked = len(server.requests)
    page.run()
    assert len(server.requests) == asked, "looking again asks nobody"


def test_looking_at_the_page_changes_nothing(open_page: OpenPage) -> None:
    before = mira().stamp
    compared(open_page("tidy"))
    assert mira().stamp == before


def test_words_that_differ_stand_out_and_none_is_markup() -> None:
    assert marked("He came at 18:00, alone", "He came at 19:30, alone") == r"He came at **18\:00,** alone"
    assert marked("![x](http://a) b c", "b c") == "**\\!\\[x\\]\\(http\\:\u2060//a\\)** b c", (
        "no address becomes a link"
    )
    assert marked("Baked bread", "Saw smoke at dawn") == "Baked bread", "where nothing is shared nothing stands out"
    assert marked("a* " * 500, "x") == r"a\* " * 499 + r"a\*", "long ones are not compared"


def test_all_that_is_shown_is_changed_at_once_and_undone(open_page: OpenPage) -> None:
    page = open_page("short_term")
    before = mira().entries(Tier.STM)
    box = next(box for box in page.checkbox if box.label.startswith(words.SELECT_ALL))
    box.check().run()
    next(one for one in page.selectbox if one.label == words.SET_IMPORTANCE).select(9).run()
    press(page, "Change ")
    assert {entry.rating for entry in mira().entries(Tier.STM)} == {9}
    press(page, "Undo")
    assert mira().entries(Tier.STM) == before


def test_a_search_narrows_what_is_changed(open_page: OpenPage) -> None:
    remember(KEY, KEY_AGAIN)
    page = open_page("short_term")
    next(one for one in page.text_input if one.label == "Contains").input("brass key of the tide").run()
    next(box for box in page.checkbox if box.label == "Select all 2 shown").check().run()
    revision = mira().stamp[0]
    press(page, "Pin")
    assert mira().stamp[0] == revision + 1
    pinned = [entry.document for entry in mira().entries(Tier.STM) if entry.pinned]
    assert set(pinned) >= {KEY, KEY_AGAIN}


def test_long_term_memories_are_changed_by_facets(open_page: OpenPage) -> None:
    page = open_page("long_term")
    kinds = next(group for group in page.button_group if "reflection" in str(group.options))
    kinds.set_value(["reflection"]).run()
    reflections = [entry.id for entry in mira().entries(Tier.LTM) if entry.kind.value == "reflection"]
    expander = next(one for one in page.expander if one.label.startswith("Change these"))
    assert expander.label == f"Change these {len(reflections)} together"


def test_what_is_unfolded_stays_so_while_a_search_narrows_what_it_changes(open_page: OpenPage) -> None:
    page = open_page("long_term")
    page.session_state["together-mira"] = True
    page.run()
    for wanted in ("key", "mill"):
        next(one for one in page.text_input if one.label == "Contains").input(wanted).run()
        many = sum(wanted in entry.document.casefold() for entry in mira().entries(Tier.LTM))
        assert f"Forget {many} memories" in [one.label for one in page.button]
    page.session_state["together-mira"] = False
    page.run()
    next(one for one in page.text_input if one.label == "Contains").input("").run()
    assert not [one for one in page.button if one.label.startswith("Forget ")]
