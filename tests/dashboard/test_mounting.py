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
    state["listener"] = {"act": {"memory": "m1"}, "kept": {"turned": ["m2"]}}
    calls["on_act_change"]()
    calls["on_kept_change"]()
    assert heard == [{"memory": "m1"}, {"turned": ["m2"]}]
    senseless: tuple[Any, ...] = (True, 7, 1.5, "memory", ["memory"], [["a", 1]], {})
    for nonsense in senseless:
        state["listener"] = {"act": nonsense, "kept": nonsense}
        calls["on_act_change"]()
        calls["on_kept_change"]()
    assert len(heard) == 2, "a browser may say anything"
    state["listener"] = {"act": {"cue": "half \ud83d", "only": ["\udc00", 3]}}
    calls["on_act_change"]()
    assert heard[2] == {"cue": "half ?", "only": ["?", 3]}, "which a link could not hold"


def test_what_a_component_says_is_of_its_kind_or_nothing() -> None:
    assert mounting.text({"memory": "m1"}, "memory") == "m1"
    for nonsense in (None, 3, ["m1"], {"memory": "m1"}):
        assert mounting.text({"memory": nonsense}, "memory") == ""
        assert mounting.whole_numbers({"rows": nonsense}, "rows") == []
    assert mounting.whole_numbers({"rows": [2, "3", None, 1.5, [4], 5]}, "rows") == [2, 5]


def test_no_key_of_a_component_has_two_underscores_side_by_side() -> None:
    assert "__" not in mounting.allowed("turned-a___b__c")
    assert mounting.allowed("a_b") == "a_b"
