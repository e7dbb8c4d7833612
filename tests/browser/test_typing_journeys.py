"""Clicks that count at once, and typed text that stays: beside another field, a game that writes, and another page."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard import words
from tests.waiting import LAST_RESORT

from .conftest import Dashboard, settled
from .hands import choose, go_to, open_expander, open_tab, press, said, select, tick, write

pytestmark = pytest.mark.browser

_ROW = 35
COLUMNS = {"name": 90, "relation": 260}
"""Pixels at which a column of the relationships is clicked: the table is drawn on a canvas."""


def game_adds(dashboard: Dashboard, agent: str, text: str) -> None:
    """What a game tells the API."""
    body = {"events": [{"document": text, "rating": 4}]}
    httpx.post(
        f"{dashboard.api}/v1/agents/{agent}/events", json=body, timeout=LAST_RESORT, trust_env=False
    ).raise_for_status()


def type_cell(page: Page, row: int, column: str, text: str) -> None:
    """Open a cell of the relationships and write into it, without leaving it."""
    type_at(page, page.get_by_test_id("stDataFrame").nth(1), row, COLUMNS[column], text)


def type_at(page: Page, grid: Locator, row: int, x: int, text: str) -> None:
    """Open the cell that is so many pixels from the left of a table, and write into it, without leaving it."""
    grid.scroll_into_view_if_needed()
    field = page.locator("textarea.gdg-input")
    grid.dblclick(position={"x": x, "y": _ROW * (row + 1) + _ROW // 2})
    expect(field).to_be_visible()
    field.fill(text)


def write_cell(page: Page, row: int, column: str, text: str) -> None:
    """Open a cell of the relationships, write into it, and leave it."""
    type_cell(page, row, column, text)
    field = page.locator("textarea.gdg-input")
    field.press("Enter")
    expect(field).to_have_count(0)
    settled(page)


def as_json(page: Page) -> dict[str, Any]:
    """The personality as the page holds it, and back to the form."""
    choose(page, words.EDIT_AS, "JSON")
    text = page.get_by_role("textbox", name=words.PERSONALITY_JSON).input_value()
    choose(page, words.EDIT_AS, "Form")
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize(
    ("view", "names"),
    [
        (
            "interview",
            {
                words.MUTE_AND_ASK_AGAIN: "show=ablation",
                "Documents": "show=documents",
                "Talk": "",
                "Characters together": "show=duet",
            },
        ),
        (
            "installation",
            {
                "Prompts": "part=prompts",
                "Backup": "part=safety",
                "World": "part=known",
                "Language model": "",
            },
        ),
    ],
)
def test_every_click_on_a_tab_opens_it(view: str, names: dict[str, str], page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, view, agent="tobias")
    for name, link in names.items():
        tab = page.get_by_role("tab", name=name, exact=True)
        tab.click()
        expect(page).to_have_url(re.compile(f"{link}$" if link else r"agent=tobias$"))  # the page was drawn with it
        settled(page)
        expect(tab).to_have_attribute("aria-selected", "true")
    page.reload()
    settled(page)
    expect(page.get_by_role("tab", name=list(names)[-1], exact=True)).to_have_attribute("aria-selected", "true")


@pytest.mark.full
def test_what_is_written_into_a_table_stands_in_its_cell_after_another_field_was_changed(
    page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, "personality", agent="juno")
    before = as_json(page)["relationships"]
    write(page, "Profession", "boatbuilder and thief")
    write_cell(
        page, 0, "relation", "master, teacher, and the longest name that anybody gave to a friend in this village"
    )
    page.get_by_role("textbox", name="Age").fill("20")  # and is not left before the next cell is written into
    write_cell(page, 1, "relation", "half a mother")
    found = as_json(page)
    assert (found["identity"]["age"], found["identity"]["profession"]) == (20, "boatbuilder and thief")
    relations = [one.pop("relation") for one in found["relationships"]]
    assert relations[:2] == [
        "master, teacher, and the longest name that anybody gave to a friend in this village",
        "half a mother",
    ]
    assert found["relationships"] == [{name: one[name] for name in one if name != "relation"} for one in before]
    go_to(page, "Installation")
    go_to(page, "Personality")
    type_cell(page, 0, "name", "Old Ana")
    page.get_by_role("radiogroup", name=words.EDIT_AS).get_by_role("radio", name="JSON", exact=True).click()
    settled(page)  # the cell is left by the click that takes the table away
    text = json.loads(page.get_by_role("textbox", name=words.PERSONALITY_JSON).input_value())
    names = [one["name"] for one in text["relationships"]]
    assert names == ["Old Ana", *(one["name"] for one in before[1:])]


def test_an_edit_is_saved_to_its_memory_when_a_game_adds_an_event_meanwhile(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="ines")
    tick(page, 1)
    open_expander(page, words.EDIT_THIS_MEMORY)
    field = page.get_by_label("Text", exact=True)
    old = field.input_value()
    field.fill("The lamp of the lighthouse went out at three.")
    game_adds(dashboard, "ines", "A game saw a boat without a light.")
    press(page, words.SAVE_CHANGES)
    said(page, "Saved: 1 memory.")
    table = page.get_by_test_id("stDataFrame").first
    expect(table).to_contain_text("The lamp of the lighthouse went out at three.")
    expect(table).to_contain_text("A game saw a boat without a light.")
    expect(table).not_to_contain_text(old)


@pytest.mark.full
def test_an_event_that_is_not_remembered_yet_is_there_when_one_comes_back(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="oswin")
    write(page, words.WHAT_HAPPENED, "The bell rang without a hand on the rope.")
    go_to(page, "Installation")
    go_to(page, "Short-term")
    expect(page.get_by_label(words.WHAT_HAPPENED).first).to_have_value("The bell rang without a hand on the rope.")
    press(page, "Remember")
    said(page, re.compile("Remembered"))
    expect(page.get_by_label(words.WHAT_HAPPENED).first).to_have_value("")


# -- a message that is not sent ----------------------------------------------------------------------------------


@pytest.mark.full
def test_what_is_typed_on_short_term_and_into_a_memory_outlives_a_reload(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "short_term", agent="oswin")
    happened = page.get_by_label(words.WHAT_HAPPENED).first
    happened.fill("The first one is sent.")
    press(page, "Remember")
    said(page, re.compile("Remembered"))
    expect(happened).to_have_value("")
    happened.fill("The bell rang twice, and the field was not left.")
    page.reload()
    settled(page)
    expect(happened).to_have_value("The bell rang twice, and the field was not left.")
    press(page, "Remember")
    said(page, re.compile("Remembered"))
    expect(happened).to_have_value("")
    page.reload()
    settled(page)
    expect(happened).to_have_value("")

    dashboard.load(page, "memory", agent="oswin")
    page.get_by_role("option").nth(2).click()
    settled(page)
    open_expander(page, words.EDIT_THIS_MEMORY)
    text = page.get_by_role("textbox", name="Text", exact=True)
    before = text.input_value()
    text.fill(f"{before} And more.")
    text.press("Tab")
    settled(page)
    page.reload()
    settled(page)
    expect(text).to_have_value(f"{before} And more.")
    press(page, words.SAVE_CHANGES)
    expect(text).to_have_value(f"{before} And more.")
    assert kept(page) == []


def test_a_question_of_one_line_that_is_not_asked_yet_outlives_a_reload(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "recall", agent="oswin", cue="Who rang the bell?")
    cue = page.get_by_role("textbox", name="Cue", exact=True)
    cue.fill("Who rang the bell twice, and")
    page.reload()
    settled(page)
    expect(cue).to_have_value("Who rang the bell twice, and")
    assert "twice" not in page.url, "it is not asked by that"
    cue.press("Enter")
    settled(page)
    page.wait_for_url(re.compile("twice"))
    assert kept(page) == []
    dashboard.load(page, "recall", agent="oswin", cue="Who has the mill key?")
    expect(cue).to_have_value("Who has the mill key?")


@pytest.mark.full
@pytest.mark.parametrize(
    ("view", "link", "label"),
    [
        ("interview", {"show": "ablation"}, "Question"),
        ("interview", {"show": "duet"}, "How it begins"),
        ("who_knows", {}, words.A_FACT),
        ("", {}, words.ASK_ANYTHING),
    ],
)
def test_work_of_one_line_outlives_a_reload(
    view: str, link: dict[str, str], label: str, page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, view, agent="oswin", **link)
    field = page.get_by_role("textbox", name=label, exact=True)
    before = field.input_value()
    field.fill("The bell rang twice, and")
    page.reload()
    settled(page)
    expect(field).to_have_value("The bell rang twice, and")
    field.fill(before)
    assert kept(page) == []


def kept(page: Page) -> list[str]:
    """The names under which this tab keeps what is not sent."""
    names: list[str] = page.evaluate("() => Object.keys(sessionStorage).filter(name => name.startsWith('unsent-'))")
    return names


UNSENT = """Who has the <b onclick="alert(1)">mill & key</b>?\n\\"'&lt; ${key} \N{CJK UNIFIED IDEOGRAPH-6C34}"""


def chat(page: Page) -> Locator:
    """The field of the chat."""
    return page.get_by_test_id("stChatInputTextArea")


def test_a_message_that_is_not_sent_is_there_when_one_comes_back_until_it_is_sent(
    page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, "interview", agent="edda")
    chat(page).fill(UNSENT)
    go_to(page, "Installation")
    go_to(page, "Interview")
    expect(chat(page)).to_have_value(UNSENT)
    open_tab(page, "Documents")
    open_tab(page, "Talk")
    expect(chat(page)).to_have_value(UNSENT)
    page.reload()
    settled(page)
    expect(chat(page)).to_have_value(UNSENT)
    chat(page).press("Enter")
    expect(page.get_by_test_id("stChatMessage").first).to_contain_text("<b onclick")
    settled(page)
    go_to(page, "Installation")
    go_to(page, "Interview")
    expect(page.get_by_test_id("stChatMessage")).to_have_count(2)
    expect(chat(page)).to_have_value("")
    assert kept(page) == []


@pytest.mark.full
def test_each_character_and_each_conversation_has_its_own_message_that_is_not_sent(
    page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, "interview", agent="ines")
    chat(page).fill("In the interview")
    choose(page, "Mode", "Play")
    for name in ("In the first", "In the second"):
        page.get_by_role("textbox", name="Title").fill(name)
        press(page, "Begin")
        expect(chat(page)).to_have_value("")
        chat(page).fill(name)
        select(page, "Talk", words.BEGIN_ANOTHER)
    for name in ("In the first", "In the second"):
        select(page, "Talk", name)
        expect(chat(page)).to_have_value(name)
    chat(page).press("Enter")
    expect(page.get_by_test_id("stChatMessage").first).to_contain_text("In the second")
    settled(page)
    expect(chat(page)).to_have_value("")
    select(page, "Talk", "In the first")
    expect(chat(page)).to_have_value("In the first")
    choose(page, "Mode", "Interview")
    expect(chat(page)).to_have_value("In the interview")
    select(page, words.CHARACTER, "Edda Marsh")
    expect(chat(page)).to_have_value("")
    select(page, words.CHARACTER, "Ines Calder")
    expect(chat(page)).to_have_value("In the interview")


# -- what is still open when the click comes that leaves it --------------------------------------------------------


def test_a_field_that_is_open_when_another_page_is_clicked_keeps_what_is_typed(
    page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, "personality", agent="tobias")
    before = as_json(page)["relationships"]
    typed = {"Profession": "a mender of nets", "Age": "71"}
    for name, text in typed.items():
        page.get_by_role("textbox", name=name).fill(text)
        go_to(page, "Installation")
        go_to(page, "Personality")
    type_cell(page, 0, "relation", "an old friend, and a debtor")
    go_to(page, "Short-term")
    page.get_by_label(words.WHAT_HAPPENED).first.fill("The ferry came in empty.")
    go_to(page, "Personality")
    type_cell(page, 1, "name", "Old Ana")
    go_to(page, "Short-term")
    expect(page.get_by_label(words.WHAT_HAPPENED).first).to_have_value("The ferry came in empty.")
    go_to(page, "Personality")
    found = as_json(page)
    assert (found["identity"]["profession"], found["identity"]["age"]) == ("a mender of nets", 71)
    changed = [before[0] | {"relation": "an old friend, and a debtor"}, before[1] | {"name": "Old Ana"}, *before[2:]]
    assert found["relationships"] == changed


@pytest.mark.full
def test_a_field_that_is_open_when_another_tab_is_clicked_keeps_what_is_typed(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "interview", agent="tobias", show="ablation")
    page.get_by_role("textbox", name="Question").fill("Who paid for the oak?")
    open_tab(page, "Talk")
    open_tab(page, words.MUTE_AND_ASK_AGAIN)
    expect(page.get_by_role("textbox", name="Question")).to_have_value("Who paid for the oak?")
    dashboard.show(page, "installation", agent="tobias", part="prompts")
    field = page.get_by_role("textbox", name="Text", exact=True)
    text = f"{field.input_value()}\nBe brief."
    field.fill(text)
    open_tab(page, "Backup")
    open_tab(page, "Prompts")
    expect(field).to_have_value(text)


def relationships(page: Page, name: str) -> list[str]:
    """What stands in this column of the relationships."""
    return [str(one.get(name, "")) for one in as_json(page)["relationships"]]


@pytest.mark.full
def test_cells_stay_written_after_a_look_at_the_facts(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "personality", agent="oswin")
    before = as_json(page)["relationships"]
    write_cell(page, 0, "name", "Old Ana")
    choose(page, words.EDIT_AS, "Facts")
    choose(page, words.EDIT_AS, "Form")
    write_cell(page, 1, "relation", "half a mother")
    changed = [before[0] | {"name": "Old Ana"}, before[1] | {"relation": "half a mother"}, *before[2:]]
    assert as_json(page)["relationships"] == changed


@pytest.mark.full
def test_an_open_cell_is_taken_up_by_the_click_that_leaves_it(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "personality", agent="edda")
    names = relationships(page, "name")
    type_cell(page, 0, "name", "Old Ana")
    choose(page, words.EDIT_AS, "Facts")
    choose(page, words.EDIT_AS, "Form")
    assert relationships(page, "name") == ["Old Ana", *names[1:]]
    type_cell(page, 1, "name", "Young Ana")
    press(page, "Save")
    said(page, "Saved.")
    page.reload()
    settled(page)
    assert relationships(page, "name") == ["Old Ana", "Young Ana", *names[2:]]


@pytest.mark.full
def test_an_open_cell_is_taken_up_when_the_palette_opens_and_leads_away(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "personality", agent="ines")
    names = relationships(page, "name")
    type_cell(page, 0, "name", "Old Ana")
    page.keyboard.press("Control+k")
    page.keyboard.type("world")
    expect(page.get_by_role("combobox", name=words.SEARCH_OR_DO)).to_have_value("world")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Ines Calder", level=1)).to_be_visible()
    settled(page)
    go_to(page, "Personality")
    assert relationships(page, "name") == ["Old Ana", *names[1:]]


@pytest.mark.full
@pytest.mark.parametrize("what", ["a cell", "a field"])
def test_what_is_open_when_back_is_pressed_is_there_when_one_comes_back(
    what: str, page: Page, dashboard: Dashboard
) -> None:
    dashboard.show(page, "history", agent="mira")
    go_to(page, "Personality")
    if what == "a cell":
        type_cell(page, 0, "name", "")
    else:
        page.get_by_role("textbox", name="Profession").fill("")
    page.keyboard.type("Old Ana")  # by keys: a browser lets a page hold back only somebody who has used it
    while "/personality" in page.url:  # Streamlit may leave an entry of it without the agent between the two
        entry = page.url
        page.go_back()
        expect(page).not_to_have_url(entry)  # which waits for the edit: a second press would not
        settled(page)
    expect(page.get_by_role("heading", name="History", level=1)).to_be_visible()
    go_to(page, "Personality")
    found = as_json(page)
    assert "Old Ana" in (found["relationships"][0]["name"], found["identity"]["profession"])


def test_a_number_out_of_its_range_is_not_left_out_of_what_is_stored(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "installation", agent="mira", part="known")
    write(page, words.WHAT_IS_KNOWN, "The well has run dry.")
    number = page.get_by_role("spinbutton", name="How important, 1 to 10")
    number.fill("99")
    number.press("Tab")
    settled(page)
    press(page, words.LET_THEM_KNOW)
    expect(number).to_be_focused()
    expect(page.get_by_text("Not saved yet", exact=False)).to_be_visible()
    number.fill("9")
    number.press("Tab")
    settled(page)
    press(page, words.LET_THEM_KNOW)
    said(page, "It is known.")
    press(page, "Undo")


def test_a_text_that_does_not_fit_into_a_field_is_left_out_and_a_note_says_so(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "rehearsal", agent="mira")
    field = page.get_by_role("textbox", name=words.WHAT_TO_TRY)
    note = page.get_by_role("alert").filter(has_text="no room for that much text")
    expect(page.locator("body > [role='alert']")).to_be_attached()  # the script is there
    field.click()
    page.keyboard.insert_text("a smaller memory " * 20)
    expect(note).to_be_visible()
    expect(field).to_have_value("")
    page.keyboard.insert_text("a smaller memory")
    expect(note).to_have_count(0)
    expect(field).to_have_value("a smaller memory")
