"""A language model is chosen by name, and another package can bring one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_system import Settings, World
from memory_system.conversation import Conversation
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidParameter
from memory_system.llm.switchable import MODELS
from tests.joining import install

COUNTER = """
from memory_system.core.change_set import ModelCall
from memory_system.llm import Completion
from memory_system.llm.base import Reply

class Counter:
    \"\"\"Rates a text by how many words it has.\"\"\"

    name = "counter-1"
    label = "a counter of words"

    def complete(self, task, deadline=None):
        words = min(10, max(1, len(str(task.data["memory"]).split())))
        answer = task.form(explanation=f"It has {words} words.", rating=words)
        return Completion(answer, ModelCall(task.name, self.name, task.told(), repr(answer), 0.0))

    def chat(self, messages, tools=(), *, deadline=None, heard=None):
        return Reply("One, two.", (), None, ModelCall("talk", self.name, repr(messages), "One, two.", 0.0))

class Broken(Counter):
    \"\"\"Fails in a way of its own, or answers with nothing.\"\"\"

    name = "broken-1"

    def complete(self, task, deadline=None):
        raise KeyError("no such station")

    def chat(self, messages, tools=(), *, deadline=None, heard=None):
        heard("One")

def counter(settings):
    return Counter()

def broken(settings):
    return Broken()

class Mute(Exception):
    def __str__(self):
        raise ValueError

class Vague(Counter):
    \"\"\"Gives an answer that is none.\"\"\"

    name = "vague-1"

    def complete(self, task, deadline=None):
        answer = {
            "none": None, "words": {"rating": "high"}, "unchecked": task.form.model_construct(rating=99), "right": None
        }.get(task.data["memory"])
        if task.data["memory"] == "right":
            answer = {"rating": 4, "explanation": "A bird."}
        if task.data["memory"] == "mute":
            raise Mute
        if task.data["memory"] == "ends":
            raise SystemExit(3)
        return Completion(answer, ModelCall(task.name, self.name, task.told(), repr(answer), 0.0))

    def chat(self, messages, tools=(), *, deadline=None, heard=None):
        return super().chat(messages).call

def vague(settings):
    return Vague()

def ends(settings):
    raise SystemExit(3)

def nothing(settings):
    return object()
"""


@pytest.fixture(autouse=True)
def joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "joined"
    folder.mkdir()
    points = "counter = counter_package:counter\nnothing = counter_package:nothing\nbroken = counter_package:broken"
    points += "\nvague = counter_package:vague\nends = counter_package:ends"
    install(folder, "counter_package", COUNTER, {MODELS.group: points})
    monkeypatch.syspath_prepend(folder)


def test_the_model_of_another_package_rates_what_comes_in(settings: Settings, embedder: CachedEmbedder) -> None:
    with World(settings.model_copy(update={"llm": "counter"}), embedder=embedder) as world:
        assert world.model.label == "a counter of words"
        assert world.models.decided.startswith("The environment decides: MEMORY_LLM is 'counter'")
        agent = world.create_agent("ana")
        agent.add_short_term({"document": "Saw smoke over the north field", "id": "smoke"})
        smoke = agent.find("smoke")
        assert smoke is not None
        assert (smoke.rating, smoke.explanation) == (6, "It has 6 words.")


def test_a_model_of_another_package_that_fails_in_a_way_of_its_own_costs_no_memory(
    settings: Settings, embedder: CachedEmbedder
) -> None:
    def hang_up(_piece: str) -> None:
        raise ZeroDivisionError("the listener's own")

    with World(settings.model_copy(update={"llm": "broken"}), embedder=embedder) as world:
        agent = world.create_agent("ana")
        added = agent.add_short_term({"document": "Saw smoke over the north field"})
        assert "The language model 'broken-1' failed: KeyError: 'no such station'" in added.outcomes[0].why
        assert [entry.document for entry in agent.unrated()] == ["Saw smoke over the north field"]
        talk = Conversation.begin(agent, human="Jo")
        step = talk.step("Hello", heard=lambda _piece: None)
        assert "'broken-1' failed: AttributeError: 'NoneType'" in step.problem
        with pytest.raises(ZeroDivisionError):
            talk.step("Hello", heard=hang_up)


@pytest.mark.parametrize(("name", "told"), [("broken", "KeyError: 'no such station'"), ("counter", "")])
def test_a_trial_of_a_model_of_another_package_says_how_it_failed(
    settings: Settings, embedder: CachedEmbedder, name: str, told: str
) -> None:
    with World(settings.model_copy(update={"llm": name}), embedder=embedder) as world:
        trial = world.models.try_in_use()
    assert trial.problem.partition(" failed: ")[2] == (f"{told}." if told else "")
    assert bool(trial.answered) is not bool(told)


def test_an_answer_of_another_form_than_the_tasks_costs_no_memory(settings: Settings, embedder: CachedEmbedder) -> None:
    with World(settings.model_copy(update={"llm": "vague"}), embedder=embedder) as world:
        agent = world.create_agent("ana")
        for how, told in (
            ("none", "The language model 'vague-1' gave no answer of the form Rating to the task 'rate': "),
            ("words", "'vague-1' gave no answer of the form Rating"),
            ("unchecked", "'vague-1' gave no answer of the form Rating"),
            ("mute", "The language model 'vague-1' failed: Mute."),
            ("ends", "The language model 'vague-1' failed: SystemExit: 3."),
        ):
            assert told in agent.add_short_term({"document": how}).outcomes[0].why
        assert [entry.document for entry in agent.unrated()] == ["none", "words", "unchecked", "mute", "ends"]
        right = agent.find(agent.add_short_term({"document": "right"}).outcomes[0].id)
        assert right is not None
        assert right.rating == 4
        assert "'vague-1' failed" in Conversation.begin(agent, human="Jo").step("Hello").problem


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "parrot",
            "There is no language model 'parrot'; there are: auto, openai, offline, broken, counter, ends, ",
        ),
        ("nothing", "what 'nothing' makes is not a language model, since it lacks complete, chat, name, label"),
        ("ends", "SystemExit: 3."),
    ],
)
def test_what_is_no_model_is_told_when_a_world_is_opened(
    settings: Settings, embedder: CachedEmbedder, name: str, told: str
) -> None:
    with pytest.raises(InvalidParameter, match=f"The setting MEMORY_LLM is wrong: {told}"):
        World(settings.model_copy(update={"llm": name}), embedder=embedder)
