"""Components of our own, as they are mounted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.components import mounting


def test_what_is_heard_of_a_page_that_was_left_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a game changes a memory while somebody goes from one page to another."""
    calls: dict[str, Any] = {}
    v2 = SimpleNamespace(component=lambda _name, **_more: calls.update)
    state: dict[str, Any] = {}
    monkeypatch.setattr(mounting, "st", SimpleNamespace(session_state=state, components=SimpleNamespace(v2=v2)))
    heard: list[Any] = []
    mounting.show("listener", {}, heard.append, kept=heard.append)
    calls["on_act_change"]()
    calls["on_kept_change"]()
    assert heard == []
    state["listener"] = {"act": 7, "kept": 8}
    calls["on_act_change"]()
    calls["on_kept_change"]()
    assert heard == [7, 8]


def test_no_key_of_a_component_has_two_underscores_side_by_side() -> None:
    assert "__" not in mounting.allowed("turned-a___b__c")
    assert mounting.allowed("a_b") == "a_b"
