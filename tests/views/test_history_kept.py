"""How much history is kept: Settings tell what it takes and what saving would let go of, History where it begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from memory_system.core import settings
from memory_system.store.journal.horizon import REACHES_BACK_TO, Limits

from .test_pages import mira, press, shown

OpenPage = Callable[..., AppTest]


def _field(page: AppTest) -> Any:
    return next(one for one in page.number_input if one.label == "Changes in the history")


def _let_go(changes: int) -> None:
    held = mira()._context.held
    held.settle()
    while held.journal.horizon.let_go(Limits(changes=changes)):
        pass


def test_settings_tell_what_the_history_takes_and_what_saving_lets_go_of(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = mira().history_kept()
    page = open_page("settings")
    assert f"The history holds {held.changes} changes since " in shown(page)
    assert not page.warning
    _field(page).set_value(500).run()
    assert "must be 0 (all) or at least 1,000, not 500" in shown(page)
    monkeypatch.setattr(settings, "LEAST_HISTORY", 1)
    _field(page).set_value(held.changes - 2).run()
    (warned,) = page.warning
    assert "Saving deletes 2 older changes permanently" in warned.value
    press(page, "Save")
    assert not page.warning, "it is saved"
    assert mira().settings.history_changes == held.changes - 2


def test_history_tells_where_it_begins(open_page: OpenPage) -> None:
    assert "went for good" not in shown(open_page("history"))
    _let_go(3)
    gone = mira().history_kept().let_go
    assert gone > 1
    page = open_page("history")
    assert f"{gone} older changes, up to " in shown(page)
    assert "were deleted, because Settings limit the history." in shown(page)
    page.query_params["change"] = "1"
    page.run()
    assert not page.exception
    assert REACHES_BACK_TO in shown(page)
