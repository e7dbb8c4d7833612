"""What a designer's hands do: press, choose, slide, tick a row, click a point."""

from __future__ import annotations

import re
from contextlib import suppress

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from dashboard import words
from dashboard.views import HISTORY, PAGES, place_of

from .conftest import Dashboard, settled

TRIES, _OPENS = 9, 5_000
"""How often to try something that a page may lose, and after how many milliseconds to reopen a list."""
_ROW = 35
"""The height of a row, and of the header, in Streamlit's tables, which are drawn on a canvas."""


def way_to(page: Page, title: str) -> Locator:
    """Go towards a page until one click is left, and return the link to click.

    A page is reached from its place, by the line under the title, and one that belongs to no place from everywhere.
    """
    wanted = next(one for one in PAGES if one.title == title)
    place = place_of(wanted)
    sidebar = page.get_by_test_id("stSidebar")
    if wanted is HISTORY:
        sidebar.get_by_role("button", name=title, exact=True).click()
        return page.get_by_role("dialog").get_by_role("link")
    link = sidebar.get_by_role("link", name=place.title if place else title, exact=True)
    if place is None or wanted is place.first:
        return link
    link.click()
    settled(page)
    return page.locator(".st-key-line").get_by_role("link", name=wanted.label or title, exact=True)


def go_to(page: Page, title: str) -> None:
    """Go to a page by its links, as a person does."""
    wanted = next(one for one in PAGES if one.title == title)
    way_to(page, title).click()
    expect(page).to_have_url(re.compile(f"/{'' if wanted is PAGES[0] else wanted.name}([?]|$)"))
    settled(page)


def press(page: Page, name: str, *, exact: bool = True) -> None:
    page.get_by_role("button", name=name, exact=exact).first.click()
    settled(page)


def press_until(page: Page, name: str, shown: Locator) -> None:
    """Press a button until its effect is shown; a press on a page that is being redrawn is lost."""
    settled(page)
    for _ in range(TRIES):
        press(page, name, exact=False)
        if shown.is_visible():
            return
    expect(shown).to_be_visible()


def choose(page: Page, group: str, option: str) -> None:
    """Choose one segment of a segmented control."""
    page.get_by_role("radiogroup", name=group).get_by_role("radio", name=option, exact=True).click()
    settled(page)


def write(page: Page, label: str, text: str) -> None:
    """Fill a field and leave it, as with Tab."""
    field = page.get_by_label(label, exact=True).first
    field.fill(text)
    field.press("Tab")
    settled(page)


def slide(page: Page, label: str, key: str, times: int = 1) -> None:
    """Move a slider with the keyboard."""
    thumb = page.get_by_role("slider", name=re.compile(f"^{re.escape(label)}")).first
    thumb.focus()
    for _ in range(times):
        thumb.press(key)
    settled(page)


def tick(page: Page, row: int, table: int = 0) -> None:
    """Tick a row of a table, the first being 0."""
    grid = page.get_by_test_id("stDataFrame").nth(table)
    grid.scroll_into_view_if_needed()
    settled(page)
    grid.click(position={"x": 16, "y": _ROW * (row + 1) + _ROW // 2})
    settled(page)


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).first.click()
    settled(page)


def open_expander(page: Page, begins: str) -> None:
    page.locator("summary").filter(has_text=re.compile(f"^.*{re.escape(begins)}")).first.click()
    settled(page)


def take(page: Page, label: str, option: str) -> None:
    """Choose one more in a field for several, by the beginning of its text."""
    field = page.get_by_role("combobox", name=re.compile(f"{re.escape(label)}$")).first
    offered = page.get_by_role("option").filter(has_text=option).first
    for _ in range(TRIES):  # a list that is open is closed when the page moves or is redrawn
        settled(page)
        field.fill("")
        field.fill(option)
        with suppress(PlaywrightTimeoutError):
            offered.click(timeout=_OPENS)
            break
    else:
        offered.click()
    field.press("Tab")
    settled(page)


def slider_value(page: Page, label: str) -> float:
    return float(page.get_by_role("slider", name=re.compile(f"^{re.escape(label)}")).first.input_value())


def slide_to(page: Page, label: str, value: float, step: float) -> None:
    """Move a slider to a value: close to it at once, and the last step by a key, which sends the value."""
    thumb = page.get_by_role("slider", name=re.compile(f"^{re.escape(label)}")).first
    thumb.fill(f"{value - step:g}")
    slide(page, label, "ArrowRight")
    assert slider_value(page, label) == value


def pick_day(page: Page, label: str, day: str) -> None:
    """Type a day, as "2026-03-22", into a field for days."""
    page.get_by_role("spinbutton", name=f"year, {label}").click()
    page.keyboard.type(day.replace("-", ""))
    page.get_by_role("heading", level=1).click()  # the day counts once the field is left
    settled(page)


def select(page: Page, label: str, option: str) -> None:
    """Choose from a field for one."""
    wanted = page.get_by_role("option", name=option, exact=True)
    for _ in range(TRIES):  # a list that is open is closed when the page moves or is redrawn
        settled(page)
        page.get_by_role("combobox", name=label).press("ArrowDown")
        with suppress(PlaywrightTimeoutError):
            wanted.click(timeout=_OPENS)
            break
        page.keyboard.press("Escape")
    else:
        wanted.click()
    settled(page)


def lines(page: Page) -> Locator:
    """The lines of the change set that is shown."""
    return page.get_by_role("listbox", name="Changes").get_by_role("option")


def column(page: Page, number: int, table: int = 0) -> list[str]:
    """The content of a column of a table, the first being 1, in the visible rows."""
    grid = page.get_by_test_id("stDataFrame").nth(table)
    grid.scroll_into_view_if_needed()
    settled(page)
    cells = grid.locator(f"[role='row'] [role='gridcell'][aria-colindex='{number}']")
    return [text.strip() for text in cells.all_text_contents()]


def said(page: Page, words: str | re.Pattern[str]) -> None:
    """Expect a message with these words on the page."""
    expect(page.get_by_test_id("stAlert").filter(has_text=words).first).to_be_visible()


def context_text(page: Page, dashboard: Dashboard, agent: str, cue: str) -> str:
    """What the agent would put into its prompt."""
    dashboard.show(page, "recall", agent=agent, cue=cue)
    page.get_by_role("tab", name=words.CONTEXT_TEXT).click()
    shown = page.get_by_role("tabpanel").filter(visible=True).get_by_test_id("stCode")
    expect(shown).to_contain_text(re.compile(r"\w"))
    return shown.inner_text()


def paste(page: Page, dashboard: Dashboard, agent: str, text: str) -> None:
    """Write several events into the field for many, and leave it."""
    dashboard.show(page, "short_term", agent=agent)
    page.get_by_role("tab", name=words.MANY_EVENTS).click()
    write(page, words.PASTE_LINES, text)


def recalled(page: Page) -> int:
    """The number of memories that the summary line of the Recall page says were recalled."""
    return int(_summary(page)[0])


def milliseconds(page: Page) -> float:
    """How long that recall took, by the same line."""
    return float(_summary(page)[1])


def _summary(page: Page) -> tuple[str, str]:
    line = page.get_by_text(re.compile(r"\d+ recalled of \d+ candidates")).inner_text()
    found = re.search(r"(\d+) recalled of \d+ candidates · ([\d.]+) ms", line)
    assert found, line
    return found[1], found[2]


def first_bar(page: Page) -> Locator:
    """The first of the memories that the Recall page draws with their scores."""
    return page.get_by_role("list", name=words.BY_THEIR_SCORES).get_by_role("button").first


def field(page: Page) -> Locator:
    """The timeline of a life, with what is drawn of it."""
    drawn = page.get_by_role("group", name=re.compile("^Timeline, "))
    expect(drawn.locator(".item").first).to_be_visible()
    drawn.scroll_into_view_if_needed()
    return drawn


def box(page: Page) -> None:
    """Draw a box around much of what a timeline shows."""
    drawn = field(page)
    page.get_by_role("button", name="Select", exact=True).click()
    corner = drawn.bounding_box()
    assert corner
    page.mouse.move(corner["x"] + 80, corner["y"] + 120)
    page.mouse.down()
    page.mouse.move(corner["x"] + 500, corner["y"] + 330, steps=8)
    page.mouse.up()
    settled(page)
