"""Two presets against each other: which cues count, how sure the lead is, and how many judgments are missing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory_system import AgentMemory, Scoring, Seats, Weights
from memory_system.errors import InvalidParameter
from memory_system.recall.cues import Judgment
from memory_system.recall.versus import Versus, deciding, versus

Remember = Callable[..., str]


@pytest.mark.parametrize(
    ("first", "second", "p_value"),
    [
        (0, 0, 1),
        (1, 1, 1),
        (5, 0, 0.0625),  # 2 / 2 ** 5
        (6, 0, 0.03125),  # 2 / 2 ** 6
        (1, 9, 0.021484375),  # 2 * (10 + 1) / 2 ** 10
        (3, 7, 0.34375),  # 2 * (120 + 45 + 10 + 1) / 2 ** 10
    ],
)
def test_how_sure_a_lead_is(first: int, second: int, p_value: float) -> None:
    assert Versus(first, second, 3, 4).p_value == pytest.approx(p_value)


def test_how_many_judgments_are_missing() -> None:
    assert Versus(6, 0).needed == 0
    # p = 6 / 7: ((0.98 + 0.84 * sqrt(6 / 49)) / (5 / 14)) ** 2 = 12.7, so 13, of which there are 5
    assert Versus(5, 0).needed == 8
    # p = 0.6: ((0.98 + 0.84 * sqrt(0.24)) / 0.1) ** 2 = 193.6
    assert Versus(0, 0).needed == 194
    assert Versus(50, 50).needed == 94
    assert Versus(150, 140).needed == 1


def test_a_cue_counts_once_all_that_only_one_recalls_is_judged() -> None:
    judgment = Judgment("key", ("a", "b"), ("c",))
    assert versus([(judgment, ["a", "x"], ["c", "x"])]) == Versus(first=1)  # what both recall need not be judged
    assert versus([(judgment, ["c"], ["b"])]) == Versus(second=1)
    assert versus([(judgment, ["a", "b"], ["b", "a"])]) == Versus(equal=1)
    assert versus([(judgment, ["a"], ["b"])]) == Versus(equal=1)
    assert versus([(judgment, [], ["c"])]) == Versus(first=1)  # a wrong memory is worse than none
    assert versus([(judgment, ["a", "y"], ["c"])]) == Versus(unjudged=1)


def test_what_only_one_recalls_decides() -> None:
    assert deciding(["a", "b"], ["b", "c"]) == {"a", "c"}
    assert deciding(["a", "b"], ["b", "a"]) == set()


def test_an_agent_counts_its_judged_cues(agent: AgentMemory, remember: Remember) -> None:
    agent.configure(scoring=Scoring(Weights(0, 1, 1), seats=Seats.RANKING), threshold=0.1)
    for thing in ("lantern", "kettle"):
        right = remember(f"The old {thing} was sold", rating=9)
        wrong = remember(f"What became of the {thing}", rating=1)
        agent.judge(f"What became of the {thing}?", right, verdict=True)
        agent.judge(f"What became of the {thing}?", wrong, verdict=False)
    before = agent.stamp
    assert agent.versus("settings", "classic", top_k=1) == Versus(first=2)
    assert agent.versus("classic", "settings", top_k=1) == Versus(second=2)
    assert agent.versus("classic", "classic") == Versus(equal=2)
    assert agent.stamp == before
    with pytest.raises(InvalidParameter, match="There is no preset"):
        agent.versus("settings", "best")


def test_only_some_cues_count_and_some_memories_are_not_there(agent: AgentMemory, remember: Remember) -> None:
    agent.configure(scoring=Scoring(Weights(0, 1, 1), seats=Seats.RANKING), threshold=0.1)
    right = {}
    for thing in ("lantern", "kettle"):
        cue = f"What became of the {thing}?"
        right[cue] = remember(f"The old {thing} was sold", rating=9)
        agent.judge(cue, right[cue], verdict=True)
        agent.judge(cue, remember(f"What became of the {thing}", rating=1), verdict=False)
    first = next(iter(right))
    assert agent.versus("settings", "classic", top_k=1, cues=[f" {first} "]) == Versus(first=1)
    assert agent.versus("settings", "classic", top_k=1, cues=[]) == Versus()
    assert agent.versus("settings", "classic", top_k=1, cues=["Who sold it?"]) == Versus()
    assert agent.versus("settings", "classic", top_k=1, without=[right[first]]) == Versus(first=1, unjudged=1)
    with pytest.raises(InvalidParameter, match="'cues' must be"):
        agent.versus("settings", "classic", cues=7)  # type: ignore[arg-type]
