"""Nothing that is typed, uploaded or linked provokes a traceback, runs a script, or asks for anything outside."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system import Settings, Tier, World
from memory_system.embedding.embedder import CachedEmbedder
from tests import sample_world
from tests.hostile_texts import HIDDEN, LINKS, MARKDOWN, MARKED_UP, REFUSED, SCRIPT, TEXTS

from .conftest import Dashboard, served, settled
from .hands import choose, press, said

pytestmark = [pytest.mark.browser, pytest.mark.full]

NAME = "![p](https://evil.invalid/n.png) <b>X</b> $a$ :red[N]"
VIEWS: dict[str, dict[str, str]] = {
    "": {},
    "memory": {"cue": "geese", "show": "short-term"},
    "recall": {"cue": "geese"},
    "long_term": {},
    "history": {"change": "4"},
    "relive": {"query": "1"},
    "personality": {},
    "short_term": {},
    "operations": {},
    "tidy": {},
    "rehearsal": {},
    "settings": {},
    "installation": {},
}


@pytest.fixture(scope="module")
def rough(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Dashboard]:
    """A dashboard on a world with a garbage journal, a hostile personality, and settings far out of range."""
    folder = tmp_path_factory.mktemp("rough")
    places = sample_world.copy(
        sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder), folder / "world"
    )
    settings = Settings(
        database=Path(places["MEMORY_DATABASE"]), personalities=Path(places["MEMORY_PERSONALITIES"]), llm="offline"
    )
    personality = {
        "identity": {"name": NAME, "description": SCRIPT + MARKDOWN},
        "traits": [MARKDOWN],
        "facts": [SCRIPT],
    }
    with World(settings, embedder=embedder) as world:
        hostile = world.create_agent("hostile", json.dumps(personality))
        hostile.add_short_term(
            [
                {"document": text.translate(REFUSED), "tags": [text.translate(REFUSED)[:60]], "rating": 9}
                for text in TEXTS.values()
            ]
        )
        ids = [entry.id for entry in hostile.entries(Tier.STM)][-2:]
        hostile.migrate_stm2ltm(ids=ids)
        hostile.query_memory(LINKS)
        every = [entry for tier in Tier for entry in hostile.entries(tier)]
        hostile.edit(next(entry.id for entry in every if entry.document == LINKS), rating=8)
        world.agent("juno").configure(top_k=5000, threshold=25.0)
    journal = settings.database / "mem_test" / "tobias" / "journal.sqlite3"
    for file in journal.parent.glob("journal.sqlite3*"):
        file.unlink()
    journal.write_bytes(b"this is no journal " * 500)
    with served(places, folder / "serve.log") as running:
        yield running


@pytest.fixture
def page(kept_page: Page) -> Page:
    """Each test goes on where the one before was: what is hostile may harm whatever comes after it."""
    return kept_page


def unharmed(page: Page) -> None:
    """No traceback, no script that ran, no picture from elsewhere; each still has its title or a sentence."""
    settled(page)
    words = page.locator("body").inner_text()
    assert "Traceback" not in words
    assert "This app has encountered an error" not in words
    assert page.title() != "owned"
    main = page.get_by_test_id("stMain")
    assert main.locator("img:not([src^='data:']):not([src^='blob:'])").count() == 0
    assert main.locator("[href^='javascript'], [href*='evil'], [aria-label='home icon']").count() == 0


@pytest.mark.parametrize("view", VIEWS)
def test_a_hostile_character_is_shown_on_every_page(page: Page, rough: Dashboard, view: str) -> None:
    rough.show(page, view, agent="hostile", **VIEWS[view])
    unharmed(page)
    shown = page.get_by_test_id("stMain")
    expect(shown.locator(".katex, b:text('X')")).to_have_count(0)
    expect(page.get_by_role("combobox", name=words.CHARACTER)).to_have_value(NAME)


@pytest.mark.parametrize("view", ["recall", "long_term", "personality", "short_term"])
def test_hostile_text_in_every_field_does_no_harm(page: Page, rough: Dashboard, view: str) -> None:
    texts = "input[type=text]:visible:not([disabled]):not([readonly]), textarea:visible"
    rough.show(page, view, agent="edda", **VIEWS[view])
    fields = page.get_by_test_id("stMain").locator(texts)
    for number in range(fields.count()):
        field = fields.nth(number)
        if field.get_attribute("role") == "combobox" or field.get_attribute("aria-haspopup"):
            continue
        field.fill(MARKED_UP)
        field.press("Tab")
    unharmed(page)
    for button in ("Recall", "Remember", "Save"):
        found = page.get_by_role("button", name=re.compile(f"^{button}"))
        if found.count() and found.first.is_enabled():
            found.first.click()
            unharmed(page)


def test_hostile_text_in_the_json_the_name_and_the_paste_field_does_no_harm(page: Page, rough: Dashboard) -> None:
    rough.show(page, "personality", agent="ines")
    for text, view in ((MARKED_UP, "Form"), (HIDDEN, "Facts")):  # both tell what is wrong by the same words
        choose(page, words.EDIT_AS, "JSON")
        field = page.get_by_role("textbox", name=words.PERSONALITY_JSON)
        field.fill(text)
        field.press("Tab")
        unharmed(page)
        choose(page, words.EDIT_AS, view)
        unharmed(page)
    page.get_by_role("button", name=words.CHARACTERS).click()
    page.get_by_placeholder("ana", exact=True).fill(MARKED_UP)
    page.get_by_placeholder("ana", exact=True).press("Tab")
    settled(page)
    press(page, "New")
    unharmed(page)
    rough.show(page, "short_term", agent="ines")
    page.get_by_role("tab", name=words.MANY_EVENTS).click()
    page.get_by_label(words.PASTE_LINES).fill(f"{SCRIPT}\n{MARKDOWN}\n{LINKS}\n[1, {{]")
    page.get_by_label(words.PASTE_LINES).press("Tab")
    unharmed(page)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("columns.csv", b"when,who\nnow,me\n", "document"),
        ("picture.csv", bytes(range(256)) * 40, "UTF-8"),
        ("deep.json", b"[" * 100_000, ""),
        ("formula.csv", b"document\n\"=cmd|'/C calc'!A0\"\n<b>x</b>\n", "2 events"),
        ("empty.jsonl", b"", ""),
        ("huge.txt", None, "50"),
    ],
)
def test_a_hostile_file_is_refused_in_words(
    page: Page, rough: Dashboard, tmp_path: Path, name: str, content: bytes | None, told: str
) -> None:
    file = tmp_path / name
    file.write_bytes(b"a line\n" * (51 * 1024 * 1024 // 7 + 1) if content is None else content)
    if not re.search("/short_term.*agent=mira", page.url):  # else one file takes the place of the one before
        rough.show(page, "short_term", agent="mira")
        page.get_by_role("tab", name=words.MANY_EVENTS).click()
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_test_id("stFileChip").filter(has_text=name)).to_be_visible()
    unharmed(page)
    expect(page.get_by_test_id("stMain")).to_contain_text(told)


@pytest.mark.parametrize(
    ("view", "link"),
    [
        ("", {"agent": SCRIPT}),
        ("recall", {"agent": "mira", "cue": SCRIPT + MARKDOWN + HIDDEN}),
        ("long_term", {"agent": "mira", "memory": "<script>document.title='owned'</script>"}),
        ("operations", {"agent": "", "operation": SCRIPT}),
        ("no_such_page", {"agent": "mira"}),
    ],
)
def test_a_hostile_link_shows_a_page(page: Page, rough: Dashboard, view: str, link: dict[str, str]) -> None:
    rough.load(page, view, **link)
    unharmed(page)
    if view == "recall":  # whose address the page writes anew
        page.reload()
        unharmed(page)


@pytest.mark.parametrize("view", ["", "recall"])  # all pages: tests/views/test_garbage_journal.py
def test_a_garbage_journal_is_told_and_harms_no_other_character(page: Page, rough: Dashboard, view: str) -> None:
    rough.show(page, view, agent="tobias", **VIEWS[view])
    unharmed(page)
    expect(page.get_by_test_id("stMain").get_by_test_id("stAlert").first).to_be_visible()
    page.get_by_role("combobox", name=words.CHARACTER).click()
    expect(page.get_by_role("option", name="Tobias Finch (read only)")).to_be_visible()
    page.get_by_role("option", name="Mira Holloway").click()
    unharmed(page)
    expect(page.get_by_role("combobox", name=words.CHARACTER)).to_have_value("Mira Holloway")


@pytest.mark.parametrize("view", ["recall", "settings"])
def test_settings_far_out_of_range_are_shown(page: Page, rough: Dashboard, view: str) -> None:
    rough.show(page, view, agent="juno", **VIEWS[view])
    unharmed(page)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


def test_a_new_journal_is_begun_from_the_banner(page: Page, rough: Dashboard) -> None:
    rough.show(page, "short_term", agent="tobias")
    expect(page.get_by_text("Tobias Finch can only be read.")).to_be_visible()
    page.get_by_role("button", name="Begin a new journal").click()
    press(page, "Begin it with these memories")
    said(page, "tobias has a new journal, and can be changed again.")
    expect(page.get_by_text("can only be read")).to_have_count(0)
    page.get_by_label(words.WHAT_HAPPENED).fill("The ledger was begun anew")
    press(page, "Remember")
    expect(page.get_by_text("21 of 20 remembered")).to_be_visible()
