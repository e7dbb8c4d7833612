"""The light, the check, backups and the re-embedding, as the pages show them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import working
from memory_system import AgentMemory, Tier
from memory_system.errors import OtherEmbedder
from memory_system.store import ledger
from memory_system.store.policy import ReadOnly
from memory_system.world import swap
from tests.waiting import LAST_RESORT, until

from .test_pages import OpenPage, mira, press, shown

LONGEST = 120.0


def ended(page: AppTest, name: str) -> AppTest:
    """The page when a piece of work has ended; quick work may have been put away by then."""
    work = working.of(name)
    until(lambda: work is None or not work.running)
    page.run()
    assert not page.exception, page.exception
    return page


def test_the_check_finds_what_is_wrong_the_light_tells_it_and_it_is_repaired(open_page: OpenPage) -> None:
    assert "Something is wrong" not in shown(open_page("overview"))
    before = {entry.id for entry in mira().entries(Tier.LTM)}
    page = open_page("installation", part="safety")
    assert words.ALL_IS_WELL in shown(page)
    press(page, words.CHECK_EVERYTHING)
    ended(page, "check")
    assert words.NOTHING_IS_WRONG in shown(page)
    mira().close()
    (session.world().folder / "mira" / "journal.sqlite3").write_bytes(b"no journal " * 999)
    assert "Something is wrong" in shown(open_page("overview", agent="tobias"))
    page = open_page("installation", agent="tobias", part="safety")
    press(page, words.CHECK_EVERYTHING)
    ended(page, "check")
    table = page.dataframe[0].value
    assert table["state"].iloc[0] == "✗ wrong"
    assert (table["whose"].iloc[0], table["what"].iloc[0]) == ("mira", "journal")
    press(page, words.REPAIR_WHAT_IS_WRONG)
    ended(page, "check")
    assert "⟳ repaired" in set(page.dataframe[0].value["state"])
    assert {entry.id for entry in mira().entries(Tier.LTM)} == before
    assert mira().read_only is None
    assert "Something is wrong" not in shown(open_page("overview"))


def test_no_repair_is_offered_where_none_can_help(open_page: OpenPage) -> None:
    open_page("overview")
    mira().close()
    with closing(sqlite3.connect(session.world().folder / "mira" / "journal.sqlite3")) as journal, journal:
        journal.execute("INSERT INTO version (number) VALUES (999)")
    page = open_page("installation", agent="tobias", part="safety")
    press(page, words.CHECK_EVERYTHING)
    ended(page, "check")
    assert "newer version" in page.dataframe[0].value["finding"].iloc[0]
    assert not [button for button in page.button if button.label == words.REPAIR_WHAT_IS_WRONG]


def test_a_backup_is_made_restored_and_the_former_world_put_back(open_page: OpenPage) -> None:
    page = open_page("installation", part="safety")
    assert "No backups yet." in shown(page)
    session.world().branch("mira")
    press(page, words.MAKE_A_BACKUP)
    ended(page, "backup")
    assert "Made and read back: 2 characters and 1 rehearsal with" in shown(page)
    assert "with 2 characters and 1 rehearsal, is set aside" in shown(page)
    assert "Mira Holloway (rehearsal)" in set(page.dataframe[-1].value["character"])
    assert "Harrow Quay" in shown(page), "what it holds is told before it is restored"
    mira().add_short_term({"document": "After the backup", "rating": 5, "id": "late"})
    press(page, words.RESTORE_IT)
    ended(page, "restore")
    assert words.RESTORED_WORLD_OF in shown(page)
    assert mira().find("late") is None
    assert len(swap.of_world(session.world().folder)) == 1
    press(page, words.PUT_BACK)
    assert words.WORLD_AS_IT_WAS in shown(page)
    assert mira().find("late") is not None


def test_a_file_that_is_no_backup_is_told_and_not_kept(open_page: OpenPage) -> None:
    page = open_page("installation", part="safety")
    page.file_uploader[0].upload("notes.zip", b"Dear designer, this is no zip", "application/zip").run()
    assert not page.exception, page.exception
    assert "cannot be restored" in shown(page)
    folder = session.world().settings.backup_folder
    assert list(folder.iterdir()) == []


class Other:
    """Vectors that mean nothing, of another model's name."""

    identity = "another-model"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.random.default_rng(len(texts)).standard_normal((len(texts), 32)).astype(np.float32)


BANNER = (
    "from dashboard import session\nfrom dashboard.components.frame import standing\nstanding.banner(session.agent())\n"
)


@pytest.mark.parametrize("damaged", [True, False])
def test_a_new_journal_is_offered_where_the_journal_is_damaged_and_not_where_the_disk_is_read_only(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    page = AppTest.from_string(BANNER, default_timeout=LAST_RESORT)
    page.session_state["agent"] = "mira"
    monkeypatch.setattr(mira().contents.context, "policy", ReadOnly("It is as it is.", "mira", damaged=damaged))
    page.run()
    assert not page.exception, page.exception
    assert "It is as it is" in page.warning[0].value
    assert [button.key for button in page.button] == ["begin-again"] * damaged


def test_a_character_of_another_embedding_model_is_offered_to_be_embedded_anew(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = AppTest.from_string(BANNER, default_timeout=LAST_RESORT)
    page.session_state["agent"] = "ana"
    _made_with_another_model("ana", 90)
    monkeypatch.setattr(ledger, "EMBEDDED_AT_ONCE", 10)
    page.run()
    assert not page.exception, page.exception
    assert "91 of 91 memories were made with another embedding model" in page.warning[0].value.replace("\\", "")
    press(page, "Re-embed")
    ended(page, "reembed-ana")
    assert "91 memories have their vectors now." in shown(page)
    assert session.world().agent("ana").waiting_for_vectors == 0
    page.run()
    assert shown(page) == ""


def test_it_is_said_that_a_character_of_another_embedding_model_is_neither_asked_nor_changed_before(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = AppTest.from_string(BANNER, default_timeout=LAST_RESORT)
    page.session_state["agent"] = "ana"
    _made_with_another_model("ana", 3)
    there = session.world().settings
    for embedder in (session.world().embedder, Other()):
        AgentMemory("ana", database=there.database, personalities=there.personalities, embedder=embedder).close()
    monkeypatch.setattr(session.world(), "take_over", False)
    assert session.world().agent("ana").waiting_for_vectors == 0, "the journal keeps the vectors of both"
    page.run()
    assert not page.exception, page.exception
    assert "nothing can be recalled or changed until they are re-embedded" in page.warning[0].value.replace("\\", "")
    with pytest.raises(OtherEmbedder):
        session.world().agent("ana").query_memory("event")
    press(page, "Re-embed")
    ended(page, "reembed-ana")
    assert session.world().agent("ana").query_memory("event 1", static_threshold=1).hits
    page.run()
    assert shown(page) == ""


def _made_with_another_model(name: str, count: int) -> None:
    settings = session.world().settings
    (Path(settings.personalities) / f"{name}.json").write_text(json.dumps({"identity": {"name": name.title()}}))
    with AgentMemory(name, database=settings.database, personalities=settings.personalities, embedder=Other()) as agent:
        agent.add_short_term([{"document": f"event {n}", "rating": 5} for n in range(count)])
