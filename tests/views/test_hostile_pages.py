"""Whatever is typed, saved or linked on a page ends in no traceback; how a browser draws it: tests/browser."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from tests.hostile_texts import HIDDEN, LONG, MARKED_UP, SCRIPT

from .test_pages import as_json, editor, labelled, mira, open_tab, press, shown

OpenPage = Callable[..., AppTest]
CUE = "Whom have I seen going in and out of the tide mill after dark?"
BUTTONS = ("Recall", "Remember", "Save")


@pytest.fixture
def cast() -> Collection[str]:
    return ("mira",)


@pytest.mark.parametrize("text", [MARKED_UP, HIDDEN, LONG], ids=["marked up", "hidden", "long"])
@pytest.mark.parametrize("view", ["recall", "long_term", "personality", "short_term", "installation"])
def test_hostile_text_in_every_field_does_no_harm(open_page: OpenPage, view: str, text: str) -> None:
    page = open_page(view, cue="geese") if view == "recall" else open_page(view)
    fields = [field for field in (*page.text_input, *page.text_area) if not field.disabled]
    assert fields
    for field in fields:
        field.set_value(text)
    page.run()
    assert not page.exception, page.exception
    for button in [one for one in page.button if one.label in BUTTONS and not one.disabled]:
        button.click().run()
        assert not page.exception, page.exception


@pytest.mark.parametrize(
    "text", [MARKED_UP, HIDDEN, LONG, "[" * 20_000, '{"identity": {"name": 1e999}}', ""], ids=range(6)
)
def test_hostile_text_as_the_json_of_a_personality_cannot_be_saved(open_page: OpenPage, text: str) -> None:
    page, before = as_json(open_page("personality"))
    editor(page).set_value(text).run()
    assert not page.exception, page.exception
    assert labelled(page.button, "Save").disabled
    for view in ("Form", "Facts"):
        next(group for group in page.button_group if "JSON" in group.options).set_value(view).run()
        assert not page.exception, page.exception
    assert as_json(open_page("personality"))[1] == before


@pytest.mark.parametrize("lines", [[HIDDEN], [LONG], [SCRIPT, "[1, {]", "x"]], ids=["hidden", "long", "script"])
def test_hostile_lines_are_looked_at(open_page: OpenPage, lines: list[str]) -> None:
    page = open_page("short_term")
    page.session_state["add-mira"] = words.MANY_EVENTS
    page.run()
    labelled(page.text_area, words.PASTE_LINES).set_value("\n".join([*lines, "[1, {]", *lines])).run()
    assert not page.exception, page.exception
    assert "becomes" in next(one.value for one in page.dataframe if "becomes" in one.value)


@pytest.mark.parametrize(
    ("view", "link"),
    [
        ("recall", {"cue": "why " * 1250}),
        ("long_term", {"memory": "../../etc/passwd"}),
        ("long_term", {"memory": HIDDEN}),
        ("recall", {"cue": CUE, "memory": "no-such-memory"}),
        ("memory", {"cue": CUE, "memory": "\u202e"}),
        ("operations", {"operation": "zzz"}),
    ],
)
def test_a_hostile_link_shows_a_page(open_page: OpenPage, view: str, link: dict[str, str]) -> None:
    assert open_page(view, **link).title or open_page(view, **link).header


def test_a_link_to_no_character_s_name_shows_a_page(workbench: OpenPage) -> None:
    assert workbench(agent="../x").title


def test_a_cue_is_saved_by_a_name_that_can_be_read_or_refused_in_words(open_page: OpenPage) -> None:
    page = open_page("recall", cue=CUE)
    open_tab(page, words.SAVED_CUES)

    def saved(name: str) -> str:
        labelled(page.text_input, "Name").set_value(name).run()
        return shown(press(page, words.SAVE_THE_CUE))

    for name, told in (
        ("", "The saved cue needs a name."),
        ("   ", "The saved cue needs a name."),
        (HIDDEN[:80], "contains an invisible character."),
        ("\u202egnirts\u202c", "contains an invisible character."),
    ):
        now = saved(name)
        assert told in now
        assert words.NO_CUE_IS_SAVED_YET in now
    for count, name in enumerate(("x" * 80, "The Key"), 1):
        assert f"Saved cues that pass: {count} of {count}." in saved(name)
    assert "Saved cues that pass: 2 of 2." in saved("the  KEY")  # the last two are one
    assert {one.name for one in mira().saved_cues} == {"x" * 80, "the KEY"}
    for left in (1, 0):
        page = press(page, "Remove")
        assert len(mira().saved_cues) == left
    assert words.NO_CUE_IS_SAVED_YET in shown(page)


def test_a_conversation_that_is_none_is_refused_in_words(open_page: OpenPage) -> None:
    page = open_page("short_term")
    page.session_state["add-mira"] = words.A_CONVERSATION
    page.run()

    def previewed(text: str) -> str:
        labelled(page.text_area, words.THE_CONVERSATION).set_value(text).run()
        return shown(press(page, "Preview"))

    for text, told in (
        ("Nobody said this", "names no speaker"),
        (": Good morning", "names no speaker"),
        ("Mira:\nTobias:", "the text is empty"),
        (f"Mira: {HIDDEN}", "Turn 1 of 1: The memory: its text (document) contains a control character."),
    ):
        assert told in previewed(text), text
        assert words.REMEMBER_IT not in {one.label for one in page.button}
    previewed(f"{'x' * 60}: {LONG[:18_000]}")
    previewed("![p](https://evil.invalid/n.png): Hello")
    before = len(session.world().agent("mira").entries("stm"))
    assert "3 turns" in previewed("Mira: Yes.\nMira: Yes.\nMira: Yes.")
    page = press(page, words.REMEMBER_IT)
    assert len(session.world().agent("mira").entries("stm")) > before
    labelled(page.text_area, words.THE_CONVERSATION).set_value("\n" * 500).run()
    assert labelled(page.button, "Preview").disabled
