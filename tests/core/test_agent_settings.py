"""An agent's settings and a world's clock: what is refused is refused before it is kept, and what is kept is read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from memory_system import AgentMemory, AgentSettings, Measure, Scoring, Seats, Settings, Weights, World
from memory_system.embedding.registry import EMBEDDERS
from memory_system.errors import InvalidInput, InvalidParameter
from tests.conftest import NOW


def test_settings_are_kept_and_read_back(agent: AgentMemory, world: World) -> None:
    wanted = {"stm_size": 7, "threshold": 0.5, "scoring": Scoring(Weights(1, 2, 3), 0.5)}
    agent.configure(**wanted)
    world.close()
    assert world.agent("mira").settings == AgentSettings(**wanted)


SAVED = (
    '{"cost_budget": 0.0, "migration_threshold": 0.35, "query_log": 1000, "reflection_trigger": 150.0, '
    '"scoring": {"decay": 0.999, "measure": "hybrid", "normalise": false, '
    '"weights": {"importance": 0.05, "recency": 0.02, "relevancy": 1.0}}, '
    '"static_share": 0.4, "static_threshold": 0.35, "stm_size": 20, "threshold": 0.45, "token_budget": 0, "top_k": 5}'
)
"""What was kept before there was a rule of seats to choose."""


def test_settings_that_were_saved_without_a_rule_of_seats_keep_the_cascade() -> None:
    saved = AgentSettings.from_json(SAVED)
    assert (saved.scoring.seats, saved.scoring.measure, saved.threshold) == (Seats.CASCADE, Measure.HYBRID, 0.45)
    assert AgentSettings.from_json(saved.to_json()) == saved
    assert AgentSettings().scoring.seats is Seats.RANKING


def test_numbers_of_numpy_are_kept_as_plain_ones(agent: AgentMemory) -> None:
    agent.configure(stm_size=np.int64(7), threshold=np.float32(0.5))
    assert agent.settings == AgentSettings(stm_size=7, threshold=0.5)
    assert type(agent.settings.stm_size) is int


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"stm_size": 0}, "stm_size must be a whole number from 1 to 100,000"),
        ({"stm_size": 2.5}, "stm_size must be a whole number"),
        ({"top_k": -1}, "top_k must be a whole number from 0 to 10,000"),
        ({"threshold": 31}, "The threshold is 31; it must be from 0 to 30"),
        ({"static_threshold": 1.1}, "The static threshold"),
        ({"static_share": -0.1}, "The static share"),
        ({"migration_threshold": float("nan")}, "The migration threshold is nan"),
        ({"reflection_trigger": 0}, "The reflection trigger"),
        ({"scoring": 7}, "'scoring' must be a Scoring"),
        ({"scoring": None}, "'scoring' must be a Scoring"),
        (
            {"colour": 1},
            "There is no setting 'colour'; there are auto_migrate, bin_days, cost_budget, history_changes, ",
        ),
    ],
    ids=str,
)
def test_a_setting_out_of_range_is_refused_and_the_old_ones_stay(
    agent: AgentMemory, wanted: dict[str, Any], message: str
) -> None:
    before = agent.stamp
    with pytest.raises(InvalidParameter, match=message):
        agent.configure(**wanted)
    assert (agent.settings, agent.stamp) == (AgentSettings(), before)


@pytest.mark.parametrize("at", [datetime(2026, 3, 27), "noon", True, [2026]], ids=str)
def test_a_clock_is_not_set_to_what_is_no_time(world: World, at: Any) -> None:
    with pytest.raises(InvalidParameter, match="The world's time "):
        world.stand_at(at)
    assert world.standing == NOW


def test_a_clock_stands_or_follows_the_real_time(world: World) -> None:
    world.stand_at(NOW.replace(hour=3))
    assert world.clock() == world.standing == NOW.replace(hour=3)
    world.stand_at(None)
    assert world.standing is None
    assert abs((world.clock() - datetime.now(NOW.tzinfo)).total_seconds()) < 5


_ADDRESS = "It must begin with http:// or https:// and name a server, like http://127.0.0.1:11434/v1"


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("MEMORY_DURABILITY", "x", "It must be 'full' or 'normal'"),
        ("MEMORY_ROLE", "king", "It must be 'curator' or 'viewer'"),
        ("MEMORY_LLM_DEADLINE", "nan", "It must be a number"),
        ("MEMORY_API_PORT", "70000", "It must be 65,535 or less"),
        ("MEMORY_API_PORT", "9" * 5_000, "It has thousands of digits"),
        ("MEMORY_HOST", "", "It is empty"),
        ("MEMORY_HOME", "", "It is empty"),
        ("MEMORY_BACKUPS", "", "It is empty"),
        ("OPENAI_BASE_URL", "foo", _ADDRESS),
        ("OPENAI_BASE_URL", "localhost:11434/v1", _ADDRESS),
        ("OPENAI_BASE_URL", "http://", _ADDRESS),
    ],
)
def test_a_setting_that_cannot_be_is_refused_in_plain_words(
    monkeypatch: pytest.MonkeyPatch, setting: str, value: str, told: str
) -> None:
    monkeypatch.setenv("MEMORY_LLM", "auto")
    monkeypatch.setenv(setting, value)
    with pytest.raises(InvalidParameter) as refused:
        Settings()
    assert refused.value.sentence == f"The setting {setting} is wrong: {told}."


def test_a_setting_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"There is no setting 'wrold'\. Did you mean 'world'\?"):
        Settings(wrold="game")  # type: ignore[call-arg]


_OUT_OF_RANGE = (0, -1, 10**400, float("nan"), [], {}, object(), b"x", "\ud800", "a\0b", "x" * 5_000, "", True, None)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_whatever_a_setting_is_given_an_error_of_the_tree_says_so(name: str) -> None:
    for value in _OUT_OF_RANGE:
        try:
            Settings(**{name: value})
        except InvalidParameter as error:
            told = error.sentence
            assert told.startswith(f"The setting {name} is wrong: "), value
            assert told.count("The setting") == 1, "what follows from it is not told"
            assert "pydantic" not in told


def test_a_name_that_is_nearly_right_is_told_with_what_may_be_meant(agent: AgentMemory) -> None:
    wrong: dict[str, Callable[[], object]] = {
        "threshold": lambda: agent.query_memory("smoke", thresold=0.4),  # type: ignore[call-arg]
        "stm_size": lambda: agent.configure(stm_sze=4),
        "classic": lambda: agent.versus("classsic", "paper", cues=["smoke"]),
        "minilm": lambda: EMBEDDERS.get("minilmm"),
        "rating": lambda: agent.add_short_term({"document": "Smoke.", "raitng": 3}),
        "tags": lambda: agent.edit_many([], tgas=["a"]),
        "hybrid": lambda: Scoring(measure="hybrd"),  # type: ignore[arg-type]
        "learned": lambda: agent.configure(retention="learnt"),
        "awake_mb": lambda: Settings(AWAKE_MBS=4),  # type: ignore[call-arg]
    }
    for name, call in wrong.items():
        with pytest.raises(InvalidInput) as refused:
            call()
        assert f" Did you mean {name!r}?" in refused.value.sentence
    with pytest.raises(InvalidParameter) as strange:
        agent.configure(xyz=4)
    assert "Did you mean" not in strange.value.sentence
