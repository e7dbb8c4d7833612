"""What the settings of a character are called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.data import setting_names
from memory_system import AgentSettings


def names(held: Mapping[str, Any]) -> Iterator[str]:
    """The names of all settings, those of the score and of its weights among them."""
    for name, value in held.items():
        yield from names(value) if isinstance(value, Mapping) else [name]


def test_every_setting_has_a_name_for_people() -> None:
    assert set(names(json.loads(AgentSettings().to_json()))) == set(setting_names.LABELS)


def test_a_setting_is_called_the_same_however_its_name_is_told() -> None:
    told = {setting_names.called(name) for name in ("top_k", "top k")}
    assert told == {"Top-k"}
    assert setting_names.called("scoring, weights, recency") == setting_names.called("recency")
    assert setting_names.called("of_later") == "of later"
