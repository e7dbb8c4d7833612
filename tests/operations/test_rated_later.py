"""Events are stored at once and rated in the background, where the settings say so."""

from __future__ import annotations

from typing import Any

import pytest

from memory_system import AgentMemory, World
from memory_system.errors import InvalidParameter
from tests.command_line import CommandLine

EVENT = {"document": "The tide mill burned down.", "id": "fire"}


class Asked:
    """The offline rules under another name, which counts what it is asked."""

    name, label = "asked", "a model that counts"

    def __init__(self, rules: Any) -> None:
        self._rules, self.asked = rules, 0

    def complete(self, task: Any, deadline: float | None = None) -> Any:
        self.asked += 1
        return self._rules.complete(task, deadline)


@pytest.fixture
def model(agent: AgentMemory) -> Asked:
    """The agent's model."""
    asked = Asked(agent.model)
    agent.model = asked  # type: ignore[assignment]  # it has what is asked of it here
    return asked


@pytest.mark.parametrize(("by", "at_once"), [("rules", True), ("nobody", False)])
def test_an_event_waits_for_no_model_and_its_rating_is_a_change_of_its_own(
    agent: AgentMemory, model: Asked, by: str, at_once: bool
) -> None:
    agent.configure(rated_by=by)
    added = agent.add_short_term([EVENT, {"document": "Slept.", "id": "sleep", "rating": 1}])
    held = agent.find("fire")
    assert held is not None
    assert (model.asked, held.rating is not None) == (0, at_once)
    assert (added.unrated == ()) is at_once
    done = agent.rate_unrated(only_wanted=True)
    assert (done.rated, model.asked) == (("fire",), 1)
    assert agent.history(1)[0].change_set.operation == "rate"
    rated = agent.find("fire")
    assert rated is not None
    assert rated.rating is not None
    assert rated.explanation != held.explanation
    assert agent.rate_unrated(only_wanted=True).rated == (), "it is asked about once"


def test_an_add_may_ask_to_wait_and_not_to_be_rated_at_all(agent: AgentMemory, model: Asked) -> None:
    agent.configure(rated_by="nobody")
    assert agent.add_short_term(EVENT, wait=True).unrated == ()
    assert model.asked == 1
    agent.add_short_term({"document": "Fed the geese.", "id": "geese"}, rate=False)
    assert agent.rate_unrated(only_wanted=True).rated == ()


def test_on_the_command_line_too(world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    cli = CommandLine(world, monkeypatch)
    assert cli("configure", "mira", "--rated-by", "nobody").code == 0
    assert cli("add", "mira", "The mill burned.", "--json").value["outcomes"][0]["rating"] is None
    assert cli("add", "mira", "The mill burned again.", "--wait", "--json").value["outcomes"][0]["rating"]


def test_by_whom_is_one_of_three(agent: AgentMemory) -> None:
    with pytest.raises(InvalidParameter, match="rated_by"):
        agent.configure(rated_by="Tobias")
