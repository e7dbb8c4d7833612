"""A journal of garbage is told on every page, and no other character is worse off for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.views import PAGES, PageOf

Open = Callable[..., AppTest]
WORLDWIDE = {"new_character", "cast", "who_knows", "worlds", "memory_map"}
"""Pages that are about nobody in particular."""


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_it_is_told_on_every_page_and_harms_no_other_character(workbench: Open, page: PageOf) -> None:
    folder = session.world().folder / "tobias"
    for file in folder.glob("journal.sqlite3*"):
        file.unlink()
    (folder / "journal.sqlite3").write_bytes(b"this is no journal " * 500)
    app = workbench(page, agent="tobias")
    told = [one.value for kind in (app.error, app.warning, app.info) for one in kind]
    assert told or page.name in WORLDWIDE
    app = workbench(page, agent="mira")
    assert "Tobias Finch (read only)" in next(one for one in app.selectbox if one.label == words.CHARACTER).options
    assert not app.error


@pytest.mark.parametrize("page", PAGES[::5], ids=[page.name for page in PAGES[::5]])
def test_a_journal_of_a_newer_version_is_told_in_its_words_beside_the_other_characters(
    workbench: Open, page: PageOf
) -> None:
    with closing(sqlite3.connect(session.world().folder / "tobias" / "journal.sqlite3")) as journal, journal:
        journal.execute("INSERT INTO version (number) VALUES (999)")
    app = workbench(page, agent="tobias")
    assert not app.exception
    assert any("newer version" in one.value for one in app.error)
    assert any(one.label == words.CHARACTER for one in app.selectbox)
