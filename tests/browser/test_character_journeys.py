"""A designer changes who a character is: by form, as JSON, beside a colleague; and makes and unmakes characters."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system.operations.importing.forms import read_material

from .conftest import Dashboard, settled
from .hands import choose, context_text, go_to, press, said, write

pytestmark = pytest.mark.browser


def test_a_form_changes_age_and_traits(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "personality", agent="edda")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    write(page, "Age", "71")
    traits = page.get_by_label("Traits", exact=True).input_value()
    write(page, "Traits", f"{traits}\nhums when she lies")
    expect(page.get_by_role("heading", name="Saving would change")).to_be_visible()
    expect(page.get_by_test_id("stMain")).to_contain_text("hums when she lies")
    press(page, "Save")
    said(page, "Saved.")
    assert "hums when she lies" in context_text(page, dashboard, "edda", "Does Edda hum when she lies?")
    dashboard.show(page, "personality", agent="edda")
    expect(page.get_by_label("Age", exact=True)).to_have_value("71")
    choose(page, words.EDIT_AS, "Facts")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()


@pytest.mark.full
def test_an_edited_personality_changes_what_is_recalled(page: Page, dashboard: Dashboard) -> None:
    cue = "What is Ines afraid of?"
    fact = "Ines is secretly terrified of geese."
    assert fact not in context_text(page, dashboard, "ines", cue)
    dashboard.show(page, "personality", agent="ines")
    choose(page, words.EDIT_AS, "JSON")
    text = page.get_by_role("textbox", name=words.PERSONALITY_JSON).input_value()
    write(page, words.PERSONALITY_JSON, text.replace('"facts": [', '"facts": [oops', 1))
    expect(page.get_by_text(re.compile(r"line \d+"))).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    write(page, words.PERSONALITY_JSON, text.replace('"facts": [', f'"facts": [\n    "{fact}",', 1))
    press(page, "Save")
    said(page, "Saved.")
    assert fact in context_text(page, dashboard, "ines", cue)


@pytest.mark.full
def test_of_two_who_edit_at_once_the_second_is_told_and_nothing_is_overwritten(
    page: Page, other_page: Page, dashboard: Dashboard
) -> None:
    for one in (page, other_page):
        dashboard.show(one, "personality", agent="oswin")
    write(page, "Profession", "priest and bell-founder")
    press(page, "Save")
    said(page, "Saved.")
    write(other_page, "Profession", "priest and smuggler")
    if (save := other_page.get_by_role("button", name="Save")).is_enabled():
        save.click()
        settled(other_page)
    said(other_page, re.compile("chang", re.IGNORECASE))
    expect(other_page.get_by_text("Saved.", exact=False)).to_have_count(0)
    expect(other_page.get_by_role("textbox", name="Profession")).to_have_value(
        "priest and smuggler"
    )  # what was written is not lost
    press(other_page, words.LOAD_AGAIN)
    expect(other_page.get_by_role("textbox", name="Profession")).to_have_value("priest and bell-founder")


@pytest.mark.full
def test_a_draft_survives_leaving_the_page(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "personality", agent="tobias")
    write(page, "Age", "55")
    for name in ("History", "Personality"):
        go_to(page, name)
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    expect(page.get_by_label("Age", exact=True)).to_have_value("55")
    expect(page.get_by_role("button", name="Save")).to_be_enabled()
    choose(page, words.EDIT_AS, "JSON")
    assert '"age": 55' in page.get_by_role("textbox", name=words.PERSONALITY_JSON).input_value()


@pytest.mark.full
def test_a_character_is_made_copied_renamed_deleted_and_restored(page: Page, dashboard: Dashboard) -> None:
    def manage(name: str, button: str, *, exact: bool = True) -> None:
        field = page.get_by_placeholder("ana", exact=True)
        if not field.is_visible():  # it stays open after it was used
            page.get_by_role("button", name=words.CHARACTERS).click()
        if name:
            field.fill(name)
            field.press("Tab")
            settled(page)
        press(page, button, exact=exact)

    dashboard.show(page, "personality", agent="juno")
    manage("wren", "New")
    said(page, "wren was created.")
    expect(page).to_have_url(re.compile("agent=wren"))
    expect(page.get_by_label("Name", exact=True).first).to_have_value("wren")
    manage("wren two", "Copy to this name")
    said(page, "The copy was made.")
    manage("gull", "Rename to this")
    said(page, "It was renamed.")
    expect(page).to_have_url(re.compile("agent=gull"))
    manage("", "Delete gull")
    said(page, "gull was deleted.")
    expect(page).not_to_have_url(re.compile("agent=gull"))
    manage("", "Restore gull", exact=False)
    said(page, "gull is back.")
    expect(page).to_have_url(re.compile("agent=gull"))


def test_a_card_is_taken_away_from_the_page_and_is_the_character(page: Page, dashboard: Dashboard) -> None:
    dashboard.show(page, "personality", agent="juno")
    press(page, words.EXPORT)
    for form in ("Card, as a picture", "Folder"):
        with page.expect_download() as coming:
            page.get_by_role("link", name=form).click()
        came = coming.value
        raw = Path(came.path()).read_bytes()
        material = read_material(raw, datetime.now(UTC), file_name=came.suggested_filename)
        assert material.name == "Juno Pell"
        assert len(material.pieces) > 100
    expect(page.get_by_role("link", name="Dossier")).to_be_visible()
