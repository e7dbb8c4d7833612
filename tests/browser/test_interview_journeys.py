"""A designer interviews a character, mutes a memory, plants a thought, and takes it back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard import words
from memory_system.conversation.context import RECALLED_HEADING

from .conftest import Dashboard, settled
from .hands import choose, column, go_to, open_tab, press, press_until, said, select, write
from .test_accessibility import MAIN, PANEL, violations

pytestmark = pytest.mark.browser

QUESTION = "Who has the mill key?"
KEY = "Tobias owned up that the mill key vanished from his coat"
THOUGHT = "I dreamt that the mill key lies under the third flour sack"


def say(page: Page, text: str) -> None:
    """Write into the chat, and wait for the answer."""
    field = page.get_by_test_id("stChatInputTextArea").first
    field.fill(text)
    field.press("Enter")
    expect(page.locator("[class*='st-key-chat-']").get_by_text(text, exact=True).first).to_be_visible()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    settled(page)


def bubbles(page: Page) -> Locator:
    return page.get_by_test_id("stChatMessage")


def changes(page: Page, dashboard: Dashboard, agent: str) -> list[str]:
    dashboard.show(page, "history", agent=agent)
    return column(page, 1)


def test_an_interview_shows_what_came_to_mind_and_leaves_no_trace(page: Page, dashboard: Dashboard) -> None:
    before = changes(page, dashboard, "ines")
    dashboard.show(page, "interview", agent="ines")
    expect(page.get_by_text(f"{words.WITHOUT_A_TRACE}.")).to_be_visible()
    expect(page.get_by_text(words.NEEDS_A_LANGUAGE_MODEL)).to_be_visible()
    question = "Whom have I seen going in and out of the tide mill after dark?"
    press(page, question, exact=False)
    expect(bubbles(page).nth(1)).to_contain_text("(offline)")
    gauge = page.get_by_role("img", name=re.compile("How full the prompt is")).or_(
        page.locator(".st-key-talk-gauge .js-plotly-plot")
    )
    expect(gauge.first).to_be_visible()
    expect(page.get_by_text(re.compile(r"[\d,]+ of 8,000 tokens"))).to_be_visible()
    page.get_by_text(re.compile("came to mind$")).first.click()
    page.locator("[class*='st-key-source-'] button").first.click()
    settled(page)
    dialog = page.get_by_role("dialog", name="Memory")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_text(re.compile("importance|static")).first).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    page.keyboard.press("Escape")  # the list of what came to mind lies open beneath
    settled(page)
    open_tab(page, "Prompt")
    page.locator("summary").filter(has_text="Came to mind").first.click()
    expect(page.get_by_text(RECALLED_HEADING).first).to_be_visible()
    assert changes(page, dashboard, "ines") == before


def test_a_talk_is_remembered_its_name_corrected_and_the_last_turn_undone(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "interview", agent="juno", mode="play")
    write(page, words.YOUR_NAME, "John")
    press(page, "Begin")
    say(page, "My name is John. My mother Brenda baked me a chocolate lava cake.")
    expect(page.get_by_test_id("stChatInputTextArea")).to_be_focused()
    say(page, "Actually, my name is Mike.")
    expect(page.locator("summary").filter(has_text="core_memory_replace")).to_be_visible()
    say(page, "What did my mother bake, and what is my name?")
    answer = bubbles(page).last
    expect(answer).to_contain_text("Mike")
    expect(answer).to_contain_text("Brenda")
    link = page.url
    press_until(page, "Undo", page.get_by_test_id("stAlert").filter(has_text="Undone: Talk").first)
    page.goto(link)
    settled(page)
    expect(bubbles(page).last).not_to_contain_text("Brenda")
    page.set_viewport_size({"width": 1366, "height": 768})
    leave = page.get_by_role("button", name=words.LEAVE_AND_REMEMBER)
    leave.evaluate("button => button.scrollIntoView({ block: 'end' })")
    press(page, words.LEAVE_AND_REMEMBER, exact=False)
    remember = page.get_by_role("button", name=words.REMEMBER_IT, exact=True)
    expect(remember).to_be_in_viewport(ratio=1)  # what a click offers does not stay below the window
    remember.click()
    said(page, re.compile("Remembered: 1 memory"))


@pytest.mark.parametrize("mode", ["interview", "play"])
def test_on_a_small_screen_one_talks_without_scrolling(page: Page, dashboard: Dashboard, mode: str) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    dashboard.show(page, "interview", agent="edda", mode=mode)
    if mode == "play":
        if page.get_by_role("combobox", name="Talk").count():  # another test has talked with her
            select(page, "Talk", words.BEGIN_ANOTHER)
        press(page, "Begin")
    field = page.get_by_test_id("stChatInputTextArea").first
    expect(field).to_be_in_viewport(ratio=1)
    say(page, QUESTION)
    expect(field).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.querySelector(\"[data-testid='stMain']\").scrollTop") == 0


@pytest.mark.full
def test_a_muted_memory_changes_the_answer_and_the_prompt(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "interview", agent="mira", show="ablation")
    write(page, "Question", QUESTION)
    press(page, "Ask")
    box = page.get_by_test_id("stCheckbox").filter(has_text=KEY)
    box.locator("label").first.click()
    settled(page)
    press(page, words.ASK_AGAIN_WITHOUT_THEM)
    expect(page.get_by_text(words.WITH_EVERYTHING, exact=True)).to_be_visible()
    expect(page.get_by_text("Without 1 thing that you muted")).to_be_visible()
    assert "muted" in column(page, 1)
    assert "changed" in column(page, 2, table=1)
    page.locator("summary").filter(has_text="Came to mind, word by word").click()
    expect(page.locator("del").filter(has_text="Tobias").first).to_be_visible()


@pytest.mark.full
def test_a_whispered_thought_comes_to_mind_until_it_is_undone(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "interview", agent="mira", mode="whisper")
    write(page, words.THE_THOUGHT, THOUGHT)
    press(page, "Whisper")
    expect(page.get_by_text("Planted. The character believes it is its own.")).to_be_visible()
    press(page, "Ask about it")
    say(page, QUESTION)
    expect(bubbles(page).last).to_contain_text("third flour sack")
    choose(page, "Mode", "Whisper")
    press(page, "Undo")
    said(page, re.compile("Undone: Whisper"))
    choose(page, "Mode", "Interview")
    press(page, words.START_OVER)
    say(page, QUESTION)
    expect(bubbles(page).last).not_to_contain_text("third flour sack")


@pytest.mark.full
def test_two_characters_talk_and_neither_remembers_it_once_it_is_undone(page: Page, dashboard: Dashboard) -> None:
    before = changes(page, dashboard, "oswin")
    dashboard.show(page, "interview", agent="edda", show="duet")
    page.get_by_role("combobox", name=re.compile("talks with")).press("ArrowDown")
    page.get_by_role("option", name=re.compile("Oswin")).click()
    page.keyboard.press("Tab")  # the list stays open for more, over the button
    settled(page)
    press(page, words.LET_THEM_TALK)
    expect(page.get_by_role("button", name=words.UNDO_ALL)).to_be_visible()
    settled(page)
    expect(bubbles(page)).to_have_count(6)
    press(page, words.UNDO_ALL)
    said(page, "Undone: neither remembers that they talked.")
    after = changes(page, dashboard, "oswin")
    assert any(title.startswith("Begin the conversation") for title in after)
    assert not any(title.startswith("Begin the conversation") for title in before)
    dashboard.load(page, "interview", agent="oswin", mode="play")
    expect(page.get_by_text("Begin a talk with")).to_be_visible()


@pytest.mark.full
def test_the_page_has_no_violation_of_ours(page: Page, dashboard: Dashboard) -> None:
    for agent in ("tobias", "mira"):
        dashboard.show(page, "interview", agent=agent)
        assert violations(page) == []
        page.locator("[class*='st-key-ask-'] button").first.click()
        settled(page)
        expect(bubbles(page)).to_have_count(2)
    for tab in ("Prompt", words.CORE_MEMORY, "Functions"):
        open_tab(page, tab)
        assert violations(page, PANEL) == [], tab
    for mode in ("Play", "Whisper"):
        choose(page, "Mode", mode)
        assert violations(page, MAIN) == [], mode
    for tab, button in ((words.MUTE_AND_ASK_AGAIN, "Ask"), ("Strategies", "Compare"), ("Documents", "Load Hester")):
        open_tab(page, tab)
        press(page, button, exact=False)
        assert violations(page, PANEL) == [], tab


def test_back_leaves_the_page_however_many_of_its_tabs_were_opened(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "memory", agent="ines")
    go_to(page, "Interview")
    for tab, told in (("People", "show=people"), ("Strategies", "show=strategies")):
        open_tab(page, tab)
        expect(page).to_have_url(re.compile(told))
    page.go_back()
    expect(page).to_have_url(re.compile("/memory[?]"))
    page.go_forward()
    settled(page)
    expect(page.get_by_role("tab", name="Strategies", exact=True)).to_have_attribute("aria-selected", "true")
